/* SPDX-License-Identifier: MIT */
/* The names of the events that the kernel itself defines for every
 * machine, as perf(1) spells them: hardware, software and cache events. */
#ifndef UVPERF_LIB_ATTR_GENERIC_NAME_H
#define UVPERF_LIB_ATTR_GENERIC_NAME_H

#include <stddef.h>
#include <stdint.h>

/* Room for any of these names, its end included. */
#define UVPERF__GENERIC_NAME_BYTES 32

/* Finds an event by any of its spellings, in upper or lower case; `name` has
 * `length` bytes. 0; -ENOENT: no such name; -EINVAL: a cache event whose
 * operation this cache does not have ("iTLB-stores"). Nothing is written then.
 * A name that is both, such as "branches", is the hardware event. */
int uvperf__generic_find(const char *name, size_t length, uint32_t *type,
                         uint64_t *config);

/* The first spelling of an event of PERF_TYPE_HARDWARE, _SOFTWARE or _HW_CACHE,
 * cut to `size`. 0; -ENOENT: it has no name, as with any other type. */
int uvperf__generic_name(uint32_t type, uint64_t config, char *name,
                         size_t size);

/* Called with each name, which is valid during the call; what it returns other
 * than 0 ends the walk and is returned. */
typedef int (*uvperf__generic_each_fn)(const char *name, void *data);

/* Each event of PERF_TYPE_HARDWARE, _SOFTWARE or _HW_CACHE in the order of
 * their configs, each by its first spelling. */
int uvperf__generic_each(uint32_t type, uvperf__generic_each_fn each,
                         void *data);

/* The other spelling of an event of PERF_TYPE_HARDWARE or _SOFTWARE, static;
 * NULL where there is none, as for any other type. */
const char *uvperf__generic_alias(uint32_t type, uint64_t config);

/* The other spellings of these; none of cache events. */
int uvperf__generic_each_alias(uint32_t type, uvperf__generic_each_fn each,
                               void *data);

#endif
