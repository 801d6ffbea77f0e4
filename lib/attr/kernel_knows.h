/* SPDX-License-Identifier: MIT */
/* Which bits and fields of struct perf_event_attr this
 * kernel knows, found by asking it. */
#ifndef UVPERF_LIB_ATTR_KERNEL_KNOWS_H
#define UVPERF_LIB_ATTR_KERNEL_KNOWS_H

#include <stdatomic.h>
#include <stdint.h>

#include "uvperf/attr.h"

/* The words that bits are of. */
enum uvperf__word {
  UVPERF__WORD_FLAGS, /* by enum uvperf_attr_field, as the kernel's bitfield */
  UVPERF__WORD_SAMPLE_TYPE,
  UVPERF__WORD_READ_FORMAT,
  UVPERF__WORD_BRANCH_SAMPLE_TYPE,
  UVPERF__WORD_AUX_ACTION,
  UVPERF__WORD_FIELDS, /* by enum uvperf_attr_field - UVPERF_ATTR_TYPE */
  UVPERF__WORDS
};

/* The bits of a word that the kernel knows and that it does not; what is in
 * neither was never asked for, or got no answer. */
typedef struct uvperf__known_s {
  _Atomic uint64_t yes;
  _Atomic uint64_t no;
} uvperf__known_t;

/* What this process has found out. It is the one thing beside the allocator
 * that all handles share: a fact of the kernel and no state, as it is the same
 * for all of them and never changes while the process lives. Two threads that
 * ask at once both find the same, so none waits for the other. Visible for
 * tests, which play other kernels. */
extern uvperf__known_t uvperf__known[UVPERF__WORDS];

/* Finds which of the bits the kernel does not know: 0 and *unknown, or -errno
 * where it gives no answer for one of them. */
int uvperf__kernel_unknown(enum uvperf__word word, uint64_t bits,
                           uint64_t *unknown);

#endif
