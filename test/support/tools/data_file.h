/* SPDX-License-Identifier: MIT */
/* A perf.data file, taken apart as its description says and as perf(1) does it,
 * with each offset and size checked. Source:
 * tools/perf/Documentation/perf.data-file-format.txt. */
#ifndef UVPERF_TEST_DATA_FILE_H
#define UVPERF_TEST_DATA_FILE_H

#include <stddef.h>
#include <stdint.h>

#include <linux/perf_event.h>

typedef struct data_section_s {
  uint64_t offset;
  uint64_t size;
} data_section_t;

/* "PERFILE2" where the lowest byte of a number comes first. */
#define DATA_FILE_MAGIC UINT64_C(0x32454c4946524550)

typedef struct data_header_s {
  uint64_t magic;
  uint64_t size;
  uint64_t attr_size;
  data_section_t attrs;
  data_section_t data;
  data_section_t event_types;
  uint64_t features[4];
} data_header_t;

typedef struct data_file_s {
  unsigned char *bytes;
  size_t size;
  data_header_t header;
} data_file_t;

/* Reads a file, and fails the test if it is not sound: each attr, its ids, each
 * record up to the end of the data, each feature. */
void data_file_read(data_file_t *file, const char *path);
void data_file_free(data_file_t *file);

/* The same of a file that is open; 0 as long as it has no header yet. */
int data_file_read_fd(data_file_t *file, int fd);

size_t data_file_nr_attrs(const data_file_t *file);
/* attr->size bytes of it are copied, the rest is 0. */
void data_file_attr(const data_file_t *file, size_t index,
                    struct perf_event_attr *attr);
/* As it lies in the file: attr->size bytes, which may be more than the struct
 * here has. */
const struct perf_event_attr *data_file_attr_at(const data_file_t *file,
                                                size_t index);
/* Attrs and ids are 8-byte aligned in the file. */
const uint64_t *data_file_ids(const data_file_t *file, size_t index,
                              size_t *nr);

/* The record behind one, the first with NULL; NULL at the end. */
const struct perf_event_header *
data_file_next(const data_file_t *file, const struct perf_event_header *record);

/* A feature's bytes, or NULL. */
const unsigned char *data_file_feature(const data_file_t *file, unsigned bit,
                                       size_t *size);

/* The perf_header_string there, and in *next where the next field is. */
const char *data_file_string(const unsigned char *bytes,
                             const unsigned char **next);

#endif
