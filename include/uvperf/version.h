/* SPDX-License-Identifier: MIT */
/* The version of these headers and of the library that runs. */
#ifndef UVPERF_VERSION_H
#define UVPERF_VERSION_H

#ifdef __cplusplus
extern "C" {
#endif

/* Marks the functions that the shared library exports. It is empty while the
 * static library is compiled: a plugin that links it does not export these
 * functions, and never calls another copy of them in the same process. */
#ifndef UVPERF_EXTERN
#define UVPERF_EXTERN __attribute__((visibility("default")))
#endif

#define UVPERF_VERSION_MAJOR 0
#define UVPERF_VERSION_MINOR 1
#define UVPERF_VERSION_PATCH 0

/* The version of the headers as 0xMMmmpp, comparable with <. */
#define UVPERF_VERSION_HEX                                                     \
  ((UVPERF_VERSION_MAJOR << 16) | (UVPERF_VERSION_MINOR << 8) |                \
   UVPERF_VERSION_PATCH)

/** Tells the version of the library that is linked, which may differ from the
 *  UVPERF_VERSION_HEX that the program was compiled with.
 *  @return 0xMMmmpp. */
UVPERF_EXTERN unsigned int uvperf_version(void);

/** Tells the version of the library that is linked, as text.
 *  @return "0.1.0"; static, never NULL. */
UVPERF_EXTERN const char *uvperf_version_string(void);

#ifdef __cplusplus
}
#endif

#endif
