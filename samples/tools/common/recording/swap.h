/* SPDX-License-Identifier: MIT */
/* Converts data of a machine of the other byte order, in place. */
#ifndef RECORDING_SWAP_H
#define RECORDING_SWAP_H

#include <stddef.h>
#include <stdint.h>

#include <linux/perf_event.h>

/* Converts an attr of `size` bytes. */
void recording_swap_attr(unsigned char *bytes, size_t size);

/* Returns the id of the event that wrote a record, which is not converted yet;
 * or 0. Its place is counted from the start of a sample, and from the end of
 * other records. */
uint64_t recording_swap_id(const struct perf_event_attr *attr,
                           const struct perf_event_header *header);

/* Converts a record of the kernel, except its header, which is already
 * converted. It has header->size bytes, aligned to 8. Fields that do not fit
 * stay as they are. */
void recording_swap_record(struct perf_event_header *header,
                           const struct perf_event_attr *attr);

#endif
