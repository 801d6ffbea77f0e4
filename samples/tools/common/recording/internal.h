/* SPDX-License-Identifier: MIT */
/* Shared by recording.c, header.c and records.c. */
#ifndef RECORDING_INTERNAL_H
#define RECORDING_INTERNAL_H

#include "common/recording/events.h"
#include "common/recording/features.h"
#include "common/recording/formats.h"
#include "common/recording/input.h"
#include "common/recording/order.h"
#include "common/recording/recording.h"
#include "common/recording/unpack.h"

/* Larger features are not read. */
#define FEATURE_BYTES ((uint64_t)16 << 20)

/* A record has at most 65535 bytes. */
#define RECORD_WORDS   8192
#define UNPACKED_BYTES ((size_t)1 << 18)

struct recording_s {
  char *path;
  int fd;
  uint64_t file_bytes; /* 0: a pipe */
  int is_pipe_format;
  int is_foreign;
  int has_header; /* it was read */
  int has_ended;
  recording_input_t input;
  recording_events_t events;
  recording_features_t features;
  recording_formats_t formats;
  recording_order_t order;
  uint64_t damaged;
  int is_error; /* of the message; 0: it is a remark */
  char message[512];
  uint64_t words[RECORD_WORDS]; /* the record that was read last */
  uint64_t offset;              /* its place in the file */
  /* For a pipe: the formats that follow their record, as far as they have been
   * read. */
  unsigned char *tracing;
  size_t tracing_bytes, tracing_used;
  /* Compressed records. */
  recording_unpack_t *unpack;
  uint64_t piece[RECORD_WORDS];
  unsigned char *unpacked;
  size_t unpacked_start, unpacked_used;
};

/* Sets the message to the path and the text. If the message is already an
 * error, does not change it. Returns -1. */
int recording_fail(recording_t *recording, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Sets the message if it is empty. */
void recording_remark(recording_t *recording, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Reads the header. From a file also reads events and features. Returns 0, -1
 * with a message, or RECORDING_WAIT. */
int recording_header_read(recording_t *recording);

/* Processes a feature of the header or of a record. */
void recording_header_feature(recording_t *recording, uint64_t feature,
                              recording_bytes_t *bytes);

/* Reads the next record. Returns 1 if the record need not wait for other
 * records, 0 if it is processed or queued, -1 at the end or after a failure, or
 * RECORDING_WAIT. */
int recording_records_read(recording_t *recording,
                           const uvperf_record_t **record);

#endif
