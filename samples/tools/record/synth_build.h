/* SPDX-License-Identifier: MIT */
/* A buffer in which synthesized records are built, one at a time. */
#ifndef RECORD_SYNTH_BUILD_H
#define RECORD_SYNTH_BUILD_H

#include <stddef.h>
#include <stdint.h>

#include "record/synth.h"

/* The longest path in a record of the kernel, with its NUL:
 * perf_event_mmap_event of kernel/events/core.c. */
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

/* Appends a text, padded to 8 bytes. */
void record_synth_put_text(record_synth_build_t *build, const char *text);

/* Appends a path, or "//toolong" as the kernel does. */
void record_synth_put_path(record_synth_build_t *build, const char *path);

/* Completes the record and passes it to synth->write. Records of the kernel's
 * types get a trailer of zeros: id 0 means a synthesized record for perf(1).
 * Returns the value of synth->write. */
int record_synth_end(const record_synth_t *synth, record_synth_build_t *build);

#endif
