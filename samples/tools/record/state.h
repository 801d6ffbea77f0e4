/* SPDX-License-Identifier: MIT */
/* What the parts of record_file_t share. */
#ifndef RECORD_STATE_H
#define RECORD_STATE_H

#include <stddef.h>
#include <stdint.h>

#include "common/output.h"
#include "record/build_ids.h"
#include "record/events.h"
#include "record/file.h"

/* What is kept back until it is worth a system call. */
#define RECORD_BUFFER_BYTES ((size_t)256 << 10)

struct record_file_s {
  int fd;
  int is_pipe;
  common_output_t output; /* of a pipe, with what it has not taken yet */
  int is_hurried;         /* does not wait for a pipe's reader */
  int error;              /* -errno of the first write that failed, or 0 */
  record_events_t events;
  record_build_ids_t *build_ids;
  /* Records that are not written yet, of a file. */
  unsigned char *buffer;
  size_t used;
  uint64_t end; /* where the file's data end, or bytes for the pipe */
  /* Attrs and ids lie somewhere behind the data, which grow towards them: see
   * file.c. */
  uint64_t attrs_offset;
  uint64_t attrs_bytes; /* of the attrs, without ids */
  uint64_t attrs_end;   /* with ids */
  uint64_t attr_size;
  int attrs_changed; /* since they were written */
  int has_begun;     /* the format of pipes */
  /* Of samples. */
  int has_time; /* it is in all at the same place */
  size_t time_offset;
  uint64_t first_time, last_time; /* UINT64_MAX and 0: none yet */
  char **argv;
};

/* Bytes for a pipe: 0, or -errno. What its reader does not take stays in
 * memory; when that is much, it waits for the reader, for a moment. */
int record_pipe_write(record_file_t *file, const void *bytes, size_t size);

/* Writes what the reader takes at once: 0, or -errno. */
int record_pipe_push(record_file_t *file);

/* Writes the rest: 0, or -errno, -EAGAIN if nobody reads. */
int record_pipe_drain(record_file_t *file);

/* Begins the format of pipes, with the events that there are. 0, or -errno. */
int record_pipe_begin(record_file_t *file);

/* An id that came after that. */
int record_pipe_add_id(record_file_t *file, size_t event, uint64_t id);

/* What is known only at the end. */
int record_pipe_end(record_file_t *file);

#endif
