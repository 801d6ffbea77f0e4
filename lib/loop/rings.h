/* SPDX-License-Identifier: MIT */
/* The rings of a handle: an event's own ring, or the rings of CPUs of a set or
 * a BPF reader. Records are delivered ring by ring. New rings of CPUs are
 * watched, and CPUs that come online and go offline are followed. */
#ifndef UVPERF_LIB_LOOP_RINGS_H
#define UVPERF_LIB_LOOP_RINGS_H

#include "loop/handle.h"

/* Watches the rings that are not watched yet, if there is a watch and the rings
 * are not overwritable: only snapshots read overwritable rings. The watch has
 * the same rings in the same order. Returns 0, or the first code of
 * uvperf__watch_add or of kind->rings_watched. */
int uvperf__rings_watch(uvperf__handle_t *self);

/* Begins to watch the rings of a BPF reader. Overwritable rings are not
 * watched: snapshots have these options. Returns 0 or an explained error. */
int uvperf__rings_start(uvperf__handle_t *self,
                        const uvperf__watch_options_t *options,
                        uvperf_error_t *error);

/* Counts a record of a ring in this slice, and passes it to the user's
 * callback. The callback may close the handle; self and ring still exist
 * afterwards. `remaining` bytes of the ring follow the record. `time` is NULL,
 * or replaces an impossible time. */
void uvperf__rings_deliver(uvperf__handle_t *self, uvperf__cpu_ring_t *ring,
                           const void *bytes, size_t size, uint64_t remaining,
                           const uint64_t *time, const uvperf__slice_t *slice);

/* Operations of the watch: see uvperf__watch_ops_t. `end` stops the handle. */
int uvperf__rings_drain(void *owner, size_t ring_index, uvperf__slice_t *slice);
int uvperf__rings_spare(void *owner, size_t ring_index);
void uvperf__rings_skipped(void *owner, size_t ring_index);
void uvperf__rings_ring_end(void *owner, size_t ring_index, int status);
void uvperf__rings_end(void *owner, size_t ring_index, int status);

/* Operation `deliver` of the kind: delivers a snapshot ring by ring. */
int uvperf__rings_deliver_snapshot(void *owner, uvperf__snapshot_job_t *job,
                                   uvperf__slice_t *slice);

/* -- CPU hotplug ----------------------------------------------------------- */

/* Makes the hotplug, for a handle that follows CPUs. Returns 0 or
 * UV_ENOMEM. */
int uvperf__rings_make_hotplug(uvperf__handle_t *self);

/* Follows CPUs from now on, if there is a hotplug. `remedy` is what the user
 * can do besides mounting sysfs. Returns 0, or a code and the error. */
int uvperf__rings_follow_cpus(uvperf__handle_t *self, const char *remedy,
                              uvperf_error_t *error);

/* Calls the CPU callback, if there is one. */
void uvperf__rings_report_cpu(uvperf__handle_t *self, int cpu, int status,
                              const uvperf_error_t *error);

#endif
