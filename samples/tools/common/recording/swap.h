/* SPDX-License-Identifier: MIT */
/* Turns what a machine of the other byte order wrote into what this one would
 * have written, in place. */
#ifndef RECORDING_SWAP_H
#define RECORDING_SWAP_H

#include <stddef.h>
#include <stdint.h>

#include <linux/perf_event.h>

/* An attr of so many bytes. */
void recording_swap_attr(unsigned char *bytes, size_t size);

/* Where the id of an event is in its records, for those that are still of the
 * other byte order: from the front of a sample, from the end of any other. 0 if
 * there is none. */
uint64_t recording_swap_id(const struct perf_event_attr *attr,
                           const struct perf_event_header *header);

/* A record of the kernel, whose header is done: header->size bytes, aligned to
 * 8. What does not fit into it is left as it is. */
void recording_swap_record(struct perf_event_header *header,
                           const struct perf_event_attr *attr);

#endif
