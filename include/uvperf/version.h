/* SPDX-License-Identifier: MIT */
/* The version of these headers and of the library that runs, and where its
 * memory comes from. Needs no libuv. */
#ifndef UVPERF_VERSION_H
#define UVPERF_VERSION_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Marks the functions that the shared library exports. It is empty while the
 * static library is compiled: a plugin that links it does not export these
 * functions, and never calls another copy of them in the same process. */
#ifndef UVPERF_EXTERN
#define UVPERF_EXTERN __attribute__((visibility("default")))
#endif

/* The version of the headers: before 1.0 a minor version may break programs. */
#define UVPERF_VERSION_MAJOR 0
/* What was added, or before 1.0 changed, since the major version. */
#define UVPERF_VERSION_MINOR 2
/* What was mended since the minor version. */
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
 *  @return "0.2.0"; static, never NULL. */
UVPERF_EXTERN const char *uvperf_version_string(void);

/* -- memory --------------------------------------------------------------- */

/* The types are those of uv_replace_allocator, so that the same four functions
 * fit both. */

/* As malloc(3).
 * @param size  Bytes. */
typedef void *(*uvperf_malloc_func)(size_t size);
/* As realloc(3).
 * @param ptr   From one of these functions, or NULL.
 * @param size  Bytes. */
typedef void *(*uvperf_realloc_func)(void *ptr, size_t size);
/* As calloc(3).
 * @param count  How many.
 * @param size   Bytes of each. */
typedef void *(*uvperf_calloc_func)(size_t count, size_t size);
/* As free(3).
 * @param ptr  From one of these functions, or NULL. */
typedef void (*uvperf_free_func)(void *ptr);

/** Makes the library take all of its memory from these functions instead of the
 *  C library's. Call it before any other function of the library, as with
 *  uv_replace_allocator. Later it is right only while the library holds no
 *  memory: each handle has had its close callback, after a failed init the loop
 *  has run once more, and each decoder is freed. What the functions before gave
 *  would else be freed by these. It is the one call that concerns all threads:
 *  no other may be in the library meanwhile. libuv's own memory, that of its
 *  loops and its thread pool, is uv_replace_allocator's affair.
 *
 *  The library calls them on the threads that call it, inside of the call or
 *  of uv_run, and on threads of libuv's pool, for asynchronous functions. So
 *  they must be thread-safe, as for libuv. It never calls them from a signal
 *  handler. It uses calloc_func, with a product of count and size that does not
 *  overflow, and free_func, never with NULL; the other two belong to the set,
 *  and later versions may use them. No memory is taken while records are
 *  delivered.
 *  @param malloc_func   Like malloc(3).
 *  @param realloc_func  Like realloc(3).
 *  @param calloc_func   Like calloc(3): zeroed, aligned for any type, or NULL,
 *    which makes the caller return UV_ENOMEM.
 *  @param free_func     Like free(3); must leave errno alone.
 *  @return 0, or
 *    UV_EINVAL  one of them is NULL; nothing has changed.
 *  Source: uv_replace_allocator in libuv's src/uv-common.c. */
UVPERF_EXTERN int uvperf_replace_allocator(uvperf_malloc_func malloc_func,
                                           uvperf_realloc_func realloc_func,
                                           uvperf_calloc_func calloc_func,
                                           uvperf_free_func free_func);

#ifdef __cplusplus
}
#endif

#endif
