/* SPDX-License-Identifier: MIT */
/* The build ids of mapped programs and libraries. They show which version of a
 * file was measured. */
#ifndef RECORD_BUILD_IDS_H
#define RECORD_BUILD_IDS_H

#include <stddef.h>

#include "record/bytes.h"

typedef struct record_build_ids_s record_build_ids_t;

record_build_ids_t *record_build_ids_new(void);
void record_build_ids_free(record_build_ids_t *ids);

/* Processes an MMAP or MMAP2 record, which has at least a header. Reads the
 * mapped file if its name is new. */
void record_build_ids_map(record_build_ids_t *ids, const void *record,
                          size_t size);

/* Appends the feature HEADER_BUILD_ID. Returns 1, or 0 without build ids. */
int record_build_ids_put(const record_build_ids_t *ids, common_buffer_t *bytes);

#endif
