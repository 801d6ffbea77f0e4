/* SPDX-License-Identifier: MIT */
/* One synthesized record after another, put together in place. */
#ifndef RECORD_SYNTH_BUILD_H
#define RECORD_SYNTH_BUILD_H

#include <stddef.h>
#include <stdint.h>

#include "record/synth.h"

/* The longest path that a record of the kernel has, with its NUL: perf_event_
 * mmap_event of kernel/events/core.c. */
#define RECORD_SYNTH_PATH_BYTES 4088

typedef struct record_synth_build_s {
  uint64_t words[8192];
  size_t size;
} record_synth_build_t;

void record_synth_begin(record_synth_build_t *build, uint32_t type,
                        uint16_t misc);
void record_synth_put(record_synth_build_t *build, const void *bytes,
                      size_t size);
void record_synth_put_u32(record_synth_build_t *build, uint32_t value);
void record_synth_put_u64(record_synth_build_t *build, uint64_t value);

/* Padded to 8 bytes. */
void record_synth_put_text(record_synth_build_t *build, const char *text);

/* A path, or "//toolong" as the kernel has it. */
void record_synth_put_path(record_synth_build_t *build, const char *path);

/* Gives the record to write: with a trailer of zeros, whose id 0 perf(1) takes
 * for that of a synthesized record, unless it is of a type of perf's own. */
int record_synth_end(const record_synth_t *synth, record_synth_build_t *build);

#endif
