/* SPDX-License-Identifier: MIT */
/* The events through which BPF programs write into rings. Each CPU has one
 * event. The event writes into the ring of its CPU (ring/cpu_rings.h) and is
 * put into a BPF_MAP_TYPE_PERF_EVENT_ARRAY under the CPU's id. There is no loop
 * here.
 *
 * The ring outlives its event. When a CPU comes back online its event is opened
 * again, because the kernel has disabled the old one for good. */
#ifndef UVPERF_LIB_BPF_OUTPUTS_H
#define UVPERF_LIB_BPF_OUTPUTS_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf/bpf.h"

#include "ring/cpu_rings.h"
#include "ring/leftovers.h"
#include "sys/opener.h"

typedef struct uvperf__bpf_outputs_s uvperf__bpf_outputs_t;

/* Checks the options. Opens the map, the rings and the events. The events stay
 * disabled. The map's entries do not change. Returns 0. On failure returns a
 * code and the error, as uvperf_bpf_reader_init does, and nothing stays
 * open. */
int uvperf__bpf_outputs_new(uvperf__bpf_outputs_t **outputs, int map_fd,
                            const uvperf_bpf_reader_options_t *options,
                            uvperf_error_t *error);

/* Do the same as uvperf__bpf_outputs_new in steps.
 * - begin checks the options and opens the map.
 * - open_next opens one event on any thread, and returns 1 while there are
 *   more. No other thread may use the outputs meanwhile.
 * - end returns 0. On failure it returns a code and the error, nothing stays
 *   open, and *outputs is NULL. After is_cancelled it returns -ECANCELED
 *   without an error. */
int uvperf__bpf_outputs_begin(uvperf__bpf_outputs_t **outputs, int map_fd,
                              const uvperf_bpf_reader_options_t *options,
                              uvperf_error_t *error);
int uvperf__bpf_outputs_open_next(uvperf__bpf_outputs_t *outputs,
                                  int is_cancelled);
int uvperf__bpf_outputs_end(uvperf__bpf_outputs_t **outputs,
                            uvperf_error_t *error);

/* Leaves the map (uvperf__bpf_outputs_leave_map), then closes and frees all. In
 * a forked child it leaves the parent's events, rings and entries alone. NULL
 * is allowed. */
void uvperf__bpf_outputs_free(uvperf__bpf_outputs_t *outputs);

/* Moves all events and rings to the leftovers, if closing them takes long.
 * Before this, call uvperf__bpf_outputs_leave_map and _disable. Afterwards the
 * outputs can only be freed. */
void uvperf__bpf_outputs_give_up(uvperf__bpf_outputs_t *outputs,
                                 uvperf__leftovers_t *leftovers);

/* Enable or disable the events. If one event fails, the functions go on with
 * the other events. They return 0, or the code and error of the first failure.
 * An offline CPU is not a failure. */
int uvperf__bpf_outputs_enable(uvperf__bpf_outputs_t *outputs,
                               uvperf_error_t *error);
void uvperf__bpf_outputs_disable(uvperf__bpf_outputs_t *outputs);

/* Put all events into the map, or take them out. If an event fails, they undo
 * what they did to the events before it. They return 0 (also if there is
 * nothing to do), or a code and the error. It is not a failure if another
 * process has taken an entry out. */
int uvperf__bpf_outputs_put(uvperf__bpf_outputs_t *outputs,
                            uvperf_error_t *error);
int uvperf__bpf_outputs_take(uvperf__bpf_outputs_t *outputs,
                             uvperf_error_t *error);
int uvperf__bpf_outputs_are_put(const uvperf__bpf_outputs_t *outputs);

/* Called at close. Takes the events out of the map for good and closes the map.
 * It cannot fail. If the map is open as our own file (ring/bpf_map.h), entries
 * that another process has put in place of ours stay. uvperf__bpf_outputs_take
 * deletes such entries too, because the kernel does not report who made an
 * entry. */
void uvperf__bpf_outputs_leave_map(uvperf__bpf_outputs_t *outputs);

/* Called when a CPU has gone offline. Its event is dead, so the function closes
 * the event and takes it out of the map. Records in the CPU's ring stay. */
void uvperf__bpf_outputs_cpu_gone(uvperf__bpf_outputs_t *outputs, int cpu);
/* Called when a CPU has come online. Opens the CPU's event again, if the CPU
 * should have one. Enables the event if the other events are enabled, and puts
 * it into the map if they are in the map. The function may make a new ring,
 * which becomes the last of cpu_rings. Returns 0, or a code and the error. */
int uvperf__bpf_outputs_cpu_come(uvperf__bpf_outputs_t *outputs, int cpu,
                                 uvperf_error_t *error);
/* Does the same as uvperf_bpf_reader_cpu_status. */
int uvperf__bpf_outputs_cpu_status(const uvperf__bpf_outputs_t *outputs,
                                   int cpu);

/* Adds to the `lost` of each ring how many samples the kernel has lost. This
 * takes one read(2) for each ring that was half full. Returns 0 if the events
 * lack PERF_FORMAT_LOST. Must not be called in a forked child. */
int uvperf__bpf_outputs_count_lost(uvperf__bpf_outputs_t *outputs);

/* Returns the calls of options.open. */
uvperf__calls_t *uvperf__bpf_outputs_calls(uvperf__bpf_outputs_t *outputs);
uvperf__cpu_rings_t *
uvperf__bpf_outputs_rings(const uvperf__bpf_outputs_t *outputs);
/* Returns the decoder for the records of all rings. The source of the decoder
 * has the attr and no CPU. */
uvperf_decoder_t *
uvperf__bpf_outputs_decoder(const uvperf__bpf_outputs_t *outputs);
const struct perf_event_attr *
uvperf__bpf_outputs_attr(const uvperf__bpf_outputs_t *outputs);

#endif
