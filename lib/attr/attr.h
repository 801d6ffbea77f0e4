/* SPDX-License-Identifier: MIT */
/* What the handles need to know about an attr. No fds, no rings, no uv.h. */
#ifndef UVPERF_LIB_ATTR_ATTR_H
#define UVPERF_LIB_ATTR_ATTR_H

#include <stdint.h>

#include "uvperf/attr.h"
#include "uvperf/error.h"

/* Returns attr->size. 0 counts as PERF_ATTR_SIZE_VER0, as in the kernel's
 * perf_copy_attr. */
uint32_t uvperf__attr_size(const struct perf_event_attr *attr);

/* Copies attr->size bytes into memory of uvperf__calloc, which has at least
 * sizeof(struct perf_event_attr) bytes and is 0 after the copied bytes. The
 * copy's size is uvperf__attr_size(attr). Returns 0, or fills the error and
 * returns -ENOMEM or, as the kernel does, -EINVAL for a size below 64 and
 * -E2BIG for a size above a page. */
int uvperf__attr_copy(struct perf_event_attr **copy,
                      const struct perf_event_attr *attr,
                      uvperf_error_t *error);

/* Returns the value of a field, or 0 if the attr is too short to have the
 * field. */
uint64_t uvperf__attr_value(const struct perf_event_attr *attr,
                            enum uvperf_attr_field field);

/* Returns the name of a field in the header, or "?" if the number is not a
 * field. */
const char *uvperf__attr_field_name(unsigned int field);

/* config, config1, …, config4. */
#define UVPERF__ATTR_CONFIGS 5
extern const enum uvperf_attr_field uvperf__attr_configs[UVPERF__ATTR_CONFIGS];

/* Returns the end of a field, in bytes from the start of the struct, or 0 if
 * the number is not a field. */
uint32_t uvperf__attr_end(enum uvperf_attr_field field);

/* Returns the flags that are not 0. The flag at position n is bit n of the
 * result. The flags from bit 40 on have no name. */
#define UVPERF__ATTR_NAMED_FLAGS ((UINT64_C(1) << 40) - 1)
uint64_t uvperf__attr_flags(const struct perf_event_attr *attr);

/* Returns the watermark: the ring wakes its reader when it has more than this
 * number of bytes. Returns 0 if samples are counted instead. A ring whose size
 * is exactly the watermark never wakes its reader: see __perf_output_begin() in
 * kernel/events/ring_buffer.c. Also returns 0 with write_backward: no reader
 * waits for an overwritable ring, and the largest watermark causes the fewest
 * interrupts. */
uint32_t uvperf__attr_watermark(const struct perf_event_attr *attr);

/* Returns the maximum size of the stack in a sample, in bytes, or 0 without a
 * stack. */
uint32_t uvperf__attr_stack(const struct perf_event_attr *attr);

/* Returns the id of the clock for the times in records. -1 means the kernel's
 * own clock. */
int uvperf__attr_clock(const struct perf_event_attr *attr);

/* Sets the clock. Does nothing for -1. The memory must have room for the field,
 * as after uvperf__attr_copy. The first versions of the struct end before this
 * field, so attr->size is raised if it is too small. Each kernel that has
 * clocks knows the new size. */
void uvperf__attr_set_clock(struct perf_event_attr *attr, int clock);

/* Returns the unit of the event's counts: "ns" for the two clocks, else "". */
const char *uvperf__attr_unit(const struct perf_event_attr *attr);

/* Whether the event writes records: it samples, or has a side-band bit (mmap,
 * mmap_data, mmap2, comm, task, context_switch, namespaces, ksymbol, bpf_event,
 * cgroup, text_poke, aux_output), or is PERF_COUNT_SW_BPF_OUTPUT. */
int uvperf__attr_writes_records(const struct perf_event_attr *attr);

/* Whether the event writes samples. A dummy event writes no samples, even with
 * a period. */
int uvperf__attr_writes_samples(const struct perf_event_attr *attr);

/* Whether the kernel may need some 40 ms to close the event. Closing a
 * tracepoint waits until no CPU executes it
 * (tracepoint_synchronize_unregister). Closing a probe waits in the same way.
 * The PMU of probes has its own type. */
int uvperf__attr_closes_slowly(const struct perf_event_attr *attr);

/* Finds out whether the kernel would open this attr although its samples damage
 * their ring. If so, returns a static text that names the fault and completes
 * "attr has …". Otherwise returns NULL. */
const char *uvperf__attr_fault(const struct perf_event_attr *attr);

/* Whether each record wakes the reader. This is true if watermark and
 * wakeup_watermark are 1. It is also true if wakeup_events is 1 and there are
 * no side-band bits and no inherit_stat, because the records of these would not
 * wake the reader. */
int uvperf__attr_wakes_each(const struct perf_event_attr *attr);

#endif
