/* SPDX-License-Identifier: MIT */
/* Fills a uvperf_error_t. Each function returns the code, so that a caller can
 * end with `return uvperf__error_…`. `error` may be NULL everywhere. */
#ifndef UVPERF_LIB_UTIL_ERROR_H
#define UVPERF_LIB_UTIL_ERROR_H

#include <errno.h>

#include "uvperf/error.h"

/* Reports a plain failure whose cause is known. The text is cut, never
 * overrun. */
int uvperf__error_set(uvperf_error_t *error, int code, int cause,
                      const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Reports an argument or option that is wrong on any machine: -EINVAL. */
#define uvperf__error_argument(error, ...)                                     \
  uvperf__error_set(error, -EINVAL, UVPERF_CAUSE_ARGUMENT, __VA_ARGS__)

/* Adds the limit that was exceeded, and the value that was needed; 0: unknown.
 * Call it after the reason. */
int uvperf__error_limit(uvperf_error_t *error, int code, uint64_t limit,
                        uint64_t needed);

/* Adds to the reason, if there is room for all of the text. */
void uvperf__error_add(uvperf_error_t *error, const char *text);

/* Reports that fds or memory ran out (uvperf__is_shortage). `what` names the
 * action that failed: "files cannot be read". */
int uvperf__error_shortage(uvperf_error_t *error, int code, const char *what);

/* Whether an error is a shortage of fds or memory. After a shortage we know
 * nothing about the thing that was tried: with more fds or memory it might
 * exist. (ENOMEM has other causes as well.) */
int uvperf__error_is_shortage(const uvperf_error_t *error);

/* Reports unknown bits in an option such as "options.flags". Returns
 * -EINVAL. */
int uvperf__error_bits(uvperf_error_t *error, const char *name, uint32_t bits);

/* Report why a handle such as "event" cannot be used. The process is a forked
 * child (-EPERM), the handle is not open yet (-EBUSY), opening it has failed,
 * or it was closed meanwhile (-ECANCELED). */
int uvperf__error_forked(uvperf_error_t *error, const char *handle);
int uvperf__error_opening(uvperf_error_t *error, const char *handle);
int uvperf__error_not_opened(uvperf_error_t *error, int code,
                             const char *handle);
int uvperf__error_cancelled(uvperf_error_t *error, const char *handle);
int uvperf__error_closed(uvperf_error_t *error, const char *handle);

/* Reports that the online CPUs cannot be listed. `remedy` follows "mount sysfs
 * on /sys, or". */
int uvperf__error_online(uvperf_error_t *error, int code, const char *remedy);

/* Reports why uvperf__options_copy refused an option struct of this name. */
int uvperf__error_options(uvperf_error_t *error, int code, const char *name);

#endif
