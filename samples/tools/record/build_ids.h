/* SPDX-License-Identifier: MIT */
/* Which program and which library it was that had a name when it was measured:
 * the build ids of what is mapped. */
#ifndef RECORD_BUILD_IDS_H
#define RECORD_BUILD_IDS_H

#include <stddef.h>
#include <stdint.h>

#include "record/bytes.h"

typedef struct record_build_ids_s record_build_ids_t;

record_build_ids_t *record_build_ids_new(void);
void record_build_ids_free(record_build_ids_t *ids);

/* Takes a MMAP or MMAP2 record, of at least its header's size; reads the file
 * if its name is new. */
void record_build_ids_map(record_build_ids_t *ids, const void *record,
                          size_t size);

/* Appends the feature HEADER_BUILD_ID: 1, or 0 if there are none. */
int record_build_ids_put(const record_build_ids_t *ids, record_bytes_t *bytes);

#endif
