/* SPDX-License-Identifier: MIT */
/* Shared by the tests of counters: options that are quickly made, counters that
 * must open or fail, and what reading a scripted event returns. */
#ifndef UVPERF_TEST_COUNTERS_MAKE_H
#define UVPERF_TEST_COUNTERS_MAKE_H

#include "fake_kernel.h"
#include "support.h"

#include "evlist/evlist.h"
#include "uvperf.h"

#define COUNTERS_MOST 16

/* Options and everything they point to. */
typedef struct evlist_make_s {
  struct perf_event_attr attrs[COUNTERS_MOST];
  const struct perf_event_attr *pointers[COUNTERS_MOST];
  size_t leaders[COUNTERS_MOST]; /* for evlist_try */
  uvperf_target_t targets[COUNTERS_MOST];
  uvperf_set_options_t options;
} evlist_make_t;

/* Setup for cmocka: an empty scripted kernel that knows PERF_FORMAT_LOST, so
 * that no event is opened to find out. */
int evlist_make_setup(void **state);

/* Fills in nr_attrs different software events, without groups and targets. */
void evlist_make(evlist_make_t *make, size_t nr_attrs);

/* Makes a group of nr attrs, beginning with the first-th. */
void evlist_group(evlist_make_t *make, size_t first, size_t nr);

/* Adds a target and returns it, to be filled in. */
uvperf_target_t *evlist_add(evlist_make_t *make, uint32_t type);
/* Adds the CPUs of this list, or a thread. */
void evlist_add_cpus(evlist_make_t *make, const char *cpus);
void evlist_add_thread(evlist_make_t *make, int32_t pid);

/* Opens them, with the groups. Returns the code. */
int evlist_try(const evlist_make_t *make, uvperf__evlist_t **evlist,
               uvperf_error_t *error);

/* Opens them, which must succeed. */
uvperf__evlist_t *evlist_open(const evlist_make_t *make);

/* Opens a target in counters of its own, as libuv's pool does, and has it join.
 * Returns 0, or a code and the error. */
int evlist_add_elsewhere(uvperf__evlist_t *evlist,
                         const uvperf_target_t *target, uvperf_error_t *error);

/* Opens them, which must fail with this code and cause and leave nothing
 * open. */
void evlist_refused(const evlist_make_t *make, uvperf_error_t *error, int code,
                    int cause);

/* Adds nr scripted events with the ids 100, 101…, and stores them in events[0],
 * events[1]…. */
void counters_script(fake_event_t **events, size_t nr);

/* Sets what reading a scripted event returns: one value, or the nr values of a
 * group with these ids. Valid until the next setup. */
void counters_give(fake_event_t *fake, uint64_t value, uint64_t enabled,
                   uint64_t running);
void counters_give_group(fake_event_t *fake, uint64_t enabled, uint64_t running,
                         const uint64_t *ids, const uint64_t *values,
                         size_t nr);

/* Reads, and returns the sum of an attr, or its count at the nth place. */
uvperf_count_t evlist_total(uvperf__evlist_t *evlist, size_t attr);
uvperf_count_t evlist_at(uvperf__evlist_t *evlist, size_t attr, size_t place);
size_t evlist_nr_places(uvperf__evlist_t *evlist);

/* Returns the nth failure, which must exist. */
const uvperf_set_failure_t *evlist_failure(const uvperf__evlist_t *evlist,
                                           size_t nth);
size_t evlist_nr_failures(const uvperf__evlist_t *evlist);

/* -- records -- */

/* Fills in nr_attrs attrs that sample, with rings of the smallest size. */
void evlist_make_records(evlist_make_t *make, size_t nr_attrs);

/* The index-th ring; the source with this id, or NULL. */
uvperf__cpu_ring_t *evlist_ring(const uvperf__evlist_t *evlist, size_t index);
const uvperf_source_t *evlist_source(const uvperf__evlist_t *evlist,
                                     uint64_t id);

/* Called with each record of evlist_drain; status as for uvperf_decode. */
typedef void (*evlist_record_cb)(void *data, int status,
                                 const uvperf_record_t *record);

/* Reads all rings, one after another, to their current end. Returns the number
 * of records. */
size_t evlist_drain(uvperf__evlist_t *evlist, evlist_record_cb cb, void *data);

#endif
