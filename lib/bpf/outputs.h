/* SPDX-License-Identifier: MIT */
/* The events by which BPF programs write into rings: one for each CPU,
 * which writes into the ring of that CPU (ring/cpu_rings.h) and is put into a
 * BPF_MAP_TYPE_PERF_EVENT_ARRAY under the CPU's id. No loop, no uv.h.
 *
 * The ring outlives its event: that of a CPU that comes back online is opened
 * anew, as the kernel has turned the old one off for good. */
#ifndef UVPERF_LIB_BPF_OUTPUTS_H
#define UVPERF_LIB_BPF_OUTPUTS_H

#include <stddef.h>
#include <stdint.h>

#include <linux/perf_event.h>

#include "uvperf/error.h"
#include "uvperf/record.h"

#include "ring/cpu_rings.h"
#include "ring/leftovers.h"
#include "sys/opener.h"

typedef struct uvperf__bpf_outputs_s uvperf__bpf_outputs_t;

/* As of uvperf_bpf_reader_options_t, which says what each means. */
typedef struct uvperf__bpf_outputs_options_s {
  const char *root; /* of /proc and /sys; "" is the real one; must last */
  int map_fd;       /* -1 with path */
  const char *path; /* NULL with map_fd */
  const struct perf_event_attr *attr; /* NULL: BPF_OUTPUT with RAW */
  const char *cpus;                   /* NULL: those that are online */
  size_t ring_bytes;
  uint32_t wakeup_events;
  uint32_t wakeup_bytes;
  int overwrite;
  int perf_clock; /* where attr has no use_clockid */
  int is_fixed;   /* no CPU comes later */
  uvperf__opener_t opener;
} uvperf__bpf_outputs_options_t;

/* Checks, opens the map, the rings and the events, disabled; the map is not
 * touched. 0, or a code and the error, with nothing left open: what
 * uvperf_bpf_reader_init says. */
int uvperf__bpf_outputs_new(uvperf__bpf_outputs_t **outputs,
                            const uvperf__bpf_outputs_options_t *options,
                            uvperf_error_t *error);

/* The same in steps. Begins: checks, and opens the map. Then opens one event
 * after the other, on any thread: 1 if there are more; nobody else may use the
 * outputs meanwhile. Ends: 0; or a code and the error, with
 * nothing left open, and *outputs NULL. Once it is cancelled that is -ECANCELED
 * without an error. */
int uvperf__bpf_outputs_begin(uvperf__bpf_outputs_t **outputs,
                              const uvperf__bpf_outputs_options_t *options,
                              uvperf_error_t *error);
int uvperf__bpf_outputs_open_next(uvperf__bpf_outputs_t *outputs,
                                  int is_cancelled);
int uvperf__bpf_outputs_end(uvperf__bpf_outputs_t **outputs,
                            uvperf_error_t *error);

/* Closes and frees all, after uvperf__bpf_outputs_leave_map. In a forked child
 * it leaves the parent's events, rings and entries alone. NULL is allowed. */
void uvperf__bpf_outputs_free(uvperf__bpf_outputs_t *outputs);

/* Gives up every event and ring, if closing them takes long, after
 * uvperf__bpf_outputs_leave_map and _disable. The outputs can only be freed
 * then. */
void uvperf__bpf_outputs_give_up(uvperf__bpf_outputs_t *outputs,
                                 uvperf__leftovers_t *leftovers);

/* Enables the events / disables them. 0, or the first failure's code and its
 * error (all are tried). A CPU that is offline is no failure. */
int uvperf__bpf_outputs_enable(uvperf__bpf_outputs_t *outputs,
                               uvperf_error_t *error);
void uvperf__bpf_outputs_disable(uvperf__bpf_outputs_t *outputs);

/* Puts all events into the map / takes them out, all or none: what was done
 * before a failure is undone. 0, also when it is so already; or a code and the
 * error. An entry that somebody else has taken out is no failure. */
int uvperf__bpf_outputs_put(uvperf__bpf_outputs_t *outputs,
                            uvperf_error_t *error);
int uvperf__bpf_outputs_take(uvperf__bpf_outputs_t *outputs,
                             uvperf_error_t *error);
int uvperf__bpf_outputs_are_put(const uvperf__bpf_outputs_t *outputs);

/* Takes them out for good, and lets go of the map: for a close. It cannot fail.
 * Where the map is held by a file of one's own (ring/bpf_map.h) what somebody
 * else has put in place of them stays; uvperf__bpf_outputs_take takes that out
 * as well, as the kernel does not tell whose an entry is. */
void uvperf__bpf_outputs_leave_map(uvperf__bpf_outputs_t *outputs);

/* A CPU has gone: its event is dead, and closed and taken out of the map. What
 * is in its ring stays. */
void uvperf__bpf_outputs_cpu_gone(uvperf__bpf_outputs_t *outputs, int cpu);
/* A CPU has come: opens its event anew, if it is to have one; enabled and in
 * the map if the others are. Its ring may be a new one, the last of cpu_rings.
 * 0, or a code and the error. */
int uvperf__bpf_outputs_cpu_come(uvperf__bpf_outputs_t *outputs, int cpu,
                                 uvperf_error_t *error);
/* As uvperf_bpf_reader_cpu_status. */
int uvperf__bpf_outputs_cpu_status(const uvperf__bpf_outputs_t *outputs,
                                   int cpu);

/* Adds the samples that the kernel has lost to the `lost` of each ring, by one
 * read(2) for each CPU, which interrupts that CPU. Does nothing before Linux
 * 6.0, or if the attr has PERF_SAMPLE_READ or PERF_FORMAT_GROUP. Not for a
 * forked child. */
void uvperf__bpf_outputs_count_lost(uvperf__bpf_outputs_t *outputs);

uvperf__cpu_rings_t *
uvperf__bpf_outputs_rings(const uvperf__bpf_outputs_t *outputs);
/* One for the records of all rings; its source is the attr, and of no CPU. */
uvperf_decoder_t *
uvperf__bpf_outputs_decoder(const uvperf__bpf_outputs_t *outputs);
const struct perf_event_attr *
uvperf__bpf_outputs_attr(const uvperf__bpf_outputs_t *outputs);

#endif
