/* SPDX-License-Identifier: MIT */
/* Shared by the tests of event names. */
#ifndef UVPERF_TEST_CHECK_PARSE_H
#define UVPERF_TEST_CHECK_PARSE_H

#include "support.h"

#include <linux/perf_event.h>

#include "uvperf/attr.h"
#include "uvperf/error.h"
#include "uvperf/name.h"

#define CHECK_PARSE_PMUS "/sys/bus/event_source/devices"

/* Setup for cmocka, with make_host_teardown: a host (make_host.h) with the PMUs
 * of a hybrid machine and of its memory controllers. */
int check_parse_pmus_setup(void **state);

/* What a name must parse to; fields that are not set must be 0. */
typedef struct name_good_s {
  const char *name;
  struct perf_event_attr attr; /* its size is not compared */
} name_good_t;

/* Parses each, and compares every byte of the attr. */
void check_parse_good(const name_good_t *good, size_t nr);

/* Why a name must be refused. */
typedef struct name_bad_s {
  const char *name;
  int code;
  int cause;
  uint32_t column;
  const char *text; /* part of the reason */
} name_bad_t;

/* Parses each: the error must match, and the attr be unchanged. */
void check_parse_bad(const name_bad_t *bad, size_t nr);

/* Parses a list, which must be valid. The caller frees it. */
uvperf_event_list_t *check_parse_list(const char *names);

#endif
