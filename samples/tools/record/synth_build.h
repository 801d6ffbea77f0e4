/* SPDX-License-Identifier: MIT */
/* Synthesized records, which are built in a buffer, one at a time. */
#ifndef RECORD_SYNTH_BUILD_H
#define RECORD_SYNTH_BUILD_H

#include "record/bytes.h"
#include "record/synth.h"

/* The longest path in a record of the kernel, with its NUL:
 * perf_event_mmap_event of kernel/events/core.c. */
#define RECORD_SYNTH_PATH_BYTES 4088

/* Begins a record; the one before it is dropped. Returns synth->build. */
common_buffer_t *record_synth_begin(record_synth_t *synth, uint32_t type,
                                    uint16_t misc);

/* Appends a path, or "//toolong" as the kernel does. */
void record_synth_put_path(common_buffer_t *build, const char *path);

/* Completes the record and passes it to synth->write. Records of the kernel's
 * types get a trailer of zeros: id 0 means a synthesized record for perf(1).
 * Returns the value of synth->write. */
int record_synth_end(record_synth_t *synth);

#endif
