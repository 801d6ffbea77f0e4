/* SPDX-License-Identifier: MIT */
/* The names of the events that the kernel itself defines for every machine, as
 * perf(1) spells them: hardware, software and cache events. */
#ifndef UVPERF_LIB_ATTR_GENERIC_NAME_H
#define UVPERF_LIB_ATTR_GENERIC_NAME_H

#include <stddef.h>
#include <stdint.h>

/* Enough bytes for each of these names, including the NUL. */
#define UVPERF__GENERIC_NAME_BYTES 32

/* Finds an event by any of its spellings, in upper or lower case. `name` has
 * `length` bytes. Returns 0 and writes the results, or returns a code and
 * writes nothing. -ENOENT means that there is no such name. -EINVAL means a
 * cache event with an operation that this cache does not have ("iTLB-stores").
 * A name that is also a cache event, such as "branches", means the hardware
 * event. */
int uvperf__generic_find(const char *name, size_t length, uint32_t *type,
                         uint64_t *config);

/* Writes the first spelling of an event of PERF_TYPE_HARDWARE, _SOFTWARE or
 * _HW_CACHE, cut to `size`. Returns 0, or -ENOENT if the event has no name.
 * Events of other types have none. */
int uvperf__generic_name(uint32_t type, uint64_t config, char *name,
                         size_t size);

/* Called with each name, which is valid during the call. If it returns a value
 * other than 0, the walk ends and returns that value. */
typedef int (*uvperf__generic_each_fn)(const char *name, void *data);

/* Calls `each` with the first spelling of each event of PERF_TYPE_HARDWARE,
 * _SOFTWARE or _HW_CACHE, in the order of their configs. */
int uvperf__generic_each(uint32_t type, uvperf__generic_each_fn each,
                         void *data);

/* Returns the second spelling of an event of PERF_TYPE_HARDWARE or _SOFTWARE,
 * as a static text. Returns NULL if the event has no second spelling or is of
 * another type. */
const char *uvperf__generic_alias(uint32_t type, uint64_t config);

/* Calls `each` with all spellings of a type's events except the first ones.
 * Cache events have none. */
int uvperf__generic_each_alias(uint32_t type, uvperf__generic_each_fn each,
                               void *data);

#endif
