/* SPDX-License-Identifier: MIT */
/* What the handles ask of an attr. No fds, no rings, no uv.h. */
#ifndef UVPERF_LIB_ATTR_ATTR_H
#define UVPERF_LIB_ATTR_ATTR_H

#include <stdint.h>

#include "uvperf/attr.h"
#include "uvperf/error.h"

/* attr->size, 0 counting as PERF_ATTR_SIZE_VER0 as in the kernel's
 * perf_copy_attr. */
uint32_t uvperf__attr_size(const struct perf_event_attr *attr);

/* Copies attr->size bytes into memory of uvperf__calloc that has at least
 * sizeof(struct perf_event_attr) bytes and is 0 behind the copy; the copy's
 * size is uvperf__attr_size(attr). 0; -EINVAL for a size below 64; -E2BIG for
 * one above a page, as in the kernel; -ENOMEM. */
int uvperf__attr_dup(struct perf_event_attr **copy,
                     const struct perf_event_attr *attr);

/* The same, explained: 0, or a code and the error. */
int uvperf__attr_copy(struct perf_event_attr **copy,
                      const struct perf_event_attr *attr,
                      uvperf_error_t *error);

/* The value of a field, 0 where the attr has none. */
uint64_t uvperf__attr_value(const struct perf_event_attr *attr,
                            enum uvperf_attr_field field);

/* What the header calls a field; "?" for a number that names none. */
const char *uvperf__attr_field_name(unsigned int field);

/* Where a field ends, in bytes from the start of the struct; 0 for a number
 * that names none. */
uint32_t uvperf__attr_end(enum uvperf_attr_field field);

/* The flag bits behind those that have names, the first of them as the bit of
 * its place: defer_output is 39, so these start at 40. */
uint64_t uvperf__attr_unknown_flags(const struct perf_event_attr *attr);

/* The bytes that must be exceeded for a wakeup, 0 where samples are counted
 * instead. A ring of that many bytes never wakes anybody: __perf_output_begin()
 * in kernel/events/ring_buffer.c. 0 too with write_backward: nobody waits for a
 * ring that is overwritable, and the largest is what interrupts least. */
uint32_t uvperf__attr_watermark(const struct perf_event_attr *attr);

/* The most bytes of the stack that a sample has, 0 for none. */
uint32_t uvperf__attr_stack(const struct perf_event_attr *attr);

/* The clock that times are told by, -1 for the kernel's own. */
int uvperf__attr_clock(const struct perf_event_attr *attr);

/* Gives it a clock, -1 for none. There is room for one (uvperf__attr_dup makes
 * it): the first versions have none, and each kernel that has clocks knows the
 * size that is set. */
void uvperf__attr_set_clock(struct perf_event_attr *attr, int clock);

/* The unit of the event's counts: "ns" of the two clocks, else "". */
const char *uvperf__attr_unit(const struct perf_event_attr *attr);

/* Whether the event writes records: it samples, or has a side-band bit (mmap,
 * mmap_data, mmap2, comm, task, context_switch, namespaces, ksymbol, bpf_event,
 * cgroup, text_poke, aux_output), or is PERF_COUNT_SW_BPF_OUTPUT. */
int uvperf__attr_writes_records(const struct perf_event_attr *attr);

/* Whether the event writes samples. A dummy writes none, even with a period. */
int uvperf__attr_writes_samples(const struct perf_event_attr *attr);

/* Whether the kernel may need some 40 ms to close the event: a tracepoint waits
 * until no CPU is in it (tracepoint_synchronize_unregister), and so do probes,
 * whose PMUs have types of their own. */
int uvperf__attr_closes_slowly(const struct perf_event_attr *attr);

/* What of an attr spoils the ring that its samples are written into, though the
 * kernel opens the event: static, as in "attr has …"; NULL for nothing. */
const char *uvperf__attr_fault(const struct perf_event_attr *attr);

/* Whether each record wakes the reader: watermark 1 with wakeup_watermark 1, or
 * wakeup_events 1 without any side-band bit and without inherit_stat (those
 * wake nobody then). */
int uvperf__attr_wakes_each(const struct perf_event_attr *attr);

#endif
