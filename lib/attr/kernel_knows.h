/* SPDX-License-Identifier: MIT */
/* Finds which bits and fields of struct perf_event_attr this kernel knows, by
 * asking the kernel. */
#ifndef UVPERF_LIB_ATTR_KERNEL_KNOWS_H
#define UVPERF_LIB_ATTR_KERNEL_KNOWS_H

#include <stdatomic.h>
#include <stdint.h>

#include "uvperf/attr.h"

/* The words to which the bits belong. */
enum uvperf__word {
  UVPERF__WORD_FLAGS, /* by enum uvperf_attr_field, as the kernel's bitfield */
  UVPERF__WORD_SAMPLE_TYPE,
  UVPERF__WORD_READ_FORMAT,
  UVPERF__WORD_BRANCH_SAMPLE_TYPE,
  UVPERF__WORD_AUX_ACTION,
  UVPERF__WORD_FIELDS, /* by enum uvperf_attr_field - UVPERF_ATTR_TYPE */
  UVPERF__WORDS
};

/* The field that is a word, for the words between FLAGS and FIELDS. */
extern const enum uvperf_attr_field uvperf__word_fields[UVPERF__WORD_FIELDS];

/* The bits of a word that the kernel knows, and the bits that it does not know.
 * If a bit is in neither `yes` nor `no`, the kernel was not asked for it or did
 * not answer. */
typedef struct uvperf__known_s {
  _Atomic uint64_t yes;
  _Atomic uint64_t no;
} uvperf__known_t;

/* The answers so far. All handles of the process share them, because the
 * answers are facts about the kernel and never change while the process lives.
 * Two threads that ask at once get the same answer, so neither waits for the
 * other. The array is not static, so that tests can simulate other kernels. */
extern uvperf__known_t uvperf__known[UVPERF__WORDS];

/* Finds which of the bits the kernel does not know. Returns 0 and *unknown, or
 * -errno if the kernel does not answer for one of the bits. */
int uvperf__kernel_unknown(enum uvperf__word word, uint64_t bits,
                           uint64_t *unknown);

#endif
