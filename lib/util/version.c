/* SPDX-License-Identifier: MIT */
/* The version of the library that a program actually runs with. */
#include "uvperf/version.h"

#define TEXT_(x) #x
#define TEXT(x)  TEXT_(x)

unsigned int uvperf_version(void) {
  return UVPERF_VERSION_HEX;
}

const char *uvperf_version_string(void) {
  return TEXT(UVPERF_VERSION_MAJOR) "." TEXT(UVPERF_VERSION_MINOR) "." TEXT(
      UVPERF_VERSION_PATCH);
}
