/* SPDX-License-Identifier: MIT */
/* The struct that the parts of record_file_t share. */
#ifndef RECORD_STATE_H
#define RECORD_STATE_H

#include <stddef.h>
#include <stdint.h>

#include "common/output.h"
#include "record/build_ids.h"
#include "record/events.h"
#include "record/file.h"

/* The bytes that are buffered until a system call is worth it. */
#define RECORD_BUFFER_BYTES ((size_t)256 << 10)

struct record_file_s {
  int fd;
  int is_pipe;
  common_output_t output; /* of a pipe, with bytes that it has not taken yet */
  int is_hurried;         /* does not wait for a pipe's reader */
  int error;              /* -errno of the first write that failed, or 0 */
  record_events_t events;
  record_build_ids_t *build_ids;
  /* Records of a file that are not written yet. */
  unsigned char *buffer;
  size_t used;
  uint64_t end; /* of the file's data; for a pipe, all bytes so far */
  /* The attrs and ids are some distance after the data. The data grow towards
   * them: see file.c. */
  uint64_t attrs_offset;
  uint64_t attrs_bytes; /* of the attrs, without ids */
  uint64_t attrs_end;   /* with ids */
  uint64_t attr_size;
  int attrs_changed; /* since they were written */
  int has_begun;     /* the first records of a pipe are written */
  /* Of samples. */
  int has_time; /* the time is at the same offset in all */
  size_t time_offset;
  uint64_t first_time, last_time; /* UINT64_MAX and 0: none yet */
  char **argv;
};

/* Writes bytes to a pipe. Bytes that the reader does not take stay in memory.
 * If there are many such bytes, waits a moment for the reader. Returns 0, or
 * -errno. */
int record_pipe_write(record_file_t *file, const void *bytes, size_t size);

/* Writes as much as the reader takes at once. Returns 0, or -errno. */
int record_pipe_push(record_file_t *file);

/* Writes the rest. Returns 0, or -errno. It is -EAGAIN if the reader does not
 * read. */
int record_pipe_drain(record_file_t *file);

/* Writes the beginning of a pipe, with the events so far. Returns 0, or
 * -errno. */
int record_pipe_begin(record_file_t *file);

/* Writes an id that was added after the beginning. */
int record_pipe_add_id(record_file_t *file, size_t event, uint64_t id);

/* Writes the features that are known only at the end. */
int record_pipe_end(record_file_t *file);

#endif
