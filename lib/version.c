/* SPDX-License-Identifier: MIT */
/* What is fixed for a release: the version and the sizes that are ABI. */
#include "uvperf.h"

#define TEXT_(x) #x
#define TEXT(x)  TEXT_(x)

/* A caller allocates the handles, so their sizes may never change: four
 * pointers of our own and four reserved. */
_Static_assert(sizeof(uvperf_event_t) == 8 * sizeof(void *),
               "uvperf_event_t is ABI");
_Static_assert(sizeof(uvperf_set_t) == 8 * sizeof(void *),
               "uvperf_set_t is ABI");
_Static_assert(sizeof(uvperf_bpf_reader_t) == 8 * sizeof(void *),
               "uvperf_bpf_reader_t is ABI");

unsigned int uvperf_version(void) {
  return UVPERF_VERSION_HEX;
}

const char *uvperf_version_string(void) {
  return TEXT(UVPERF_VERSION_MAJOR) "." TEXT(UVPERF_VERSION_MINOR) "." TEXT(
      UVPERF_VERSION_PATCH);
}
