/* SPDX-License-Identifier: MIT */
/* Converts data in place. The data come from a machine of the other byte
 * order. */
#ifndef RECORDING_SWAP_H
#define RECORDING_SWAP_H

#include <stddef.h>
#include <stdint.h>

#include <linux/perf_event.h>

/* Converts an attr of `size` bytes. */
void recording_swap_attr(unsigned char *bytes, size_t size);

/* Returns the id of the event that wrote a record, or 0. The record is not
 * converted yet. In a sample, the place of the id is counted from the start. In
 * other records, the place is counted from the end. */
uint64_t recording_swap_id(const struct perf_event_attr *attr,
                           const struct perf_event_header *header);

/* Converts a record of the kernel, except its header, which is already
 * converted. It has header->size bytes, aligned to 8. Fields that do not fit
 * stay as they are. */
void recording_swap_record(struct perf_event_header *header,
                           const struct perf_event_attr *attr);

#endif
