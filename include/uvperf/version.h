/* SPDX-License-Identifier: MIT */
/* The version of the headers and of the library, and the library's memory
 * functions. Needs no libuv. */
#ifndef UVPERF_VERSION_H
#define UVPERF_VERSION_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef UVPERF_EXTERN
/* Marks the functions that the shared library exports. The macro is empty while
 * the static library is compiled. So a plugin that links the static library
 * does not export these functions, and never calls another copy of them in the
 * same process. */
#define UVPERF_EXTERN __attribute__((visibility("default")))
#endif

/* The version of the headers. Before 1.0 a new minor version can break
 * programs. */
#define UVPERF_VERSION_MAJOR 0
/* Counts the additions since the major version. Before 1.0 it also counts
 * changes that break programs. */
#define UVPERF_VERSION_MINOR 2
/* Counts corrections since the minor version. */
#define UVPERF_VERSION_PATCH 0

/* The version of the headers as 0xMMmmpp, comparable with <. */
#define UVPERF_VERSION_HEX                                                     \
  ((UVPERF_VERSION_MAJOR << 16) | (UVPERF_VERSION_MINOR << 8) |                \
   UVPERF_VERSION_PATCH)

/** Returns the version of the linked library. This version can differ from
 *  UVPERF_VERSION_HEX, the version of the headers with which the program was
 *  compiled.
 *  @return 0xMMmmpp. */
UVPERF_EXTERN unsigned int uvperf_version(void);

/** Returns the version of the linked library as text.
 *  @return "0.2.0"; a static string, never NULL. */
UVPERF_EXTERN const char *uvperf_version_string(void);

/* -- memory --------------------------------------------------------------- */

/* Like malloc(3). These four types are the same as for uv_replace_allocator, so
 * the same functions can be used for both.
 * @param size  Bytes. */
typedef void *(*uvperf_malloc_func)(size_t size);
/* Like realloc(3).
 * @param ptr   From one of these functions, or NULL.
 * @param size  Bytes. */
typedef void *(*uvperf_realloc_func)(void *ptr, size_t size);
/* Like calloc(3).
 * @param count  Number of elements.
 * @param size   Bytes of each. */
typedef void *(*uvperf_calloc_func)(size_t count, size_t size);
/* Like free(3).
 * @param ptr  From one of these functions, or NULL. */
typedef void (*uvperf_free_func)(void *ptr);

/** Sets the functions that allocate the library's memory. Call it before any
 *  other function of the library. Later calls are allowed only while the
 *  library holds no memory. This means that all handles have had their close
 *  callback, the loop has run once after a failed init, and all decoders are
 *  freed. Otherwise the new functions would free memory that the old functions
 *  allocated. No other thread may be in the library during the call. For
 *  libuv's own memory call uv_replace_allocator.
 *
 *  The library calls these functions inside its own functions and in uv_run.
 *  Asynchronous functions call them on threads of libuv's pool, so they must be
 *  thread-safe. The library never calls them in a signal handler, and allocates
 *  nothing while it delivers records. This version calls only calloc_func and
 *  free_func; later versions may call the other two. The product of
 *  calloc_func's arguments never overflows, and free_func never receives NULL.
 *  @param malloc_func   Like malloc(3).
 *  @param realloc_func  Like realloc(3).
 *  @param calloc_func   Like calloc(3): returns zeroed memory, aligned for any
 *    type. If calloc_func returns NULL, the library's function returns
 *    UV_ENOMEM.
 *  @param free_func     Like free(3); must not change errno.
 *  @return 0, or
 *    UV_EINVAL  one of the functions is NULL; nothing has changed.
 *  Source: uv_replace_allocator in libuv's src/uv-common.c. */
UVPERF_EXTERN int uvperf_replace_allocator(uvperf_malloc_func malloc_func,
                                           uvperf_realloc_func realloc_func,
                                           uvperf_calloc_func calloc_func,
                                           uvperf_free_func free_func);

#ifdef __cplusplus
}
#endif

#endif
