/* SPDX-License-Identifier: MIT */
/* What the parts of record_file_t share. */
#ifndef RECORD_STATE_H
#define RECORD_STATE_H

#include <stddef.h>
#include <stdint.h>

#include "record_build_ids.h"
#include "record_events.h"
#include "record_file.h"

/* What is kept back until it is worth a system call. */
#define RECORD_BUFFER_BYTES ((size_t)256 << 10)

struct record_file_s {
  int fd;
  int is_pipe;
  int error; /* -errno of the first write that failed, or 0 */
  record_events_t events;
  record_build_ids_t *build_ids;
  /* Records that are not written yet. */
  unsigned char *buffer;
  size_t used;
  uint64_t end; /* where the file's data end, or bytes of the pipe */
  /* Attrs and ids lie somewhere behind the data, which grow towards them: see
   * record_file.c. */
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

/* Begins the format of pipes, with the events that there are. 0, or -errno. */
int record_pipe_begin(record_file_t *file);

/* An id that came after that. */
int record_pipe_add_id(record_file_t *file, size_t event, uint64_t id);

/* What is known only at the end. */
int record_pipe_end(record_file_t *file);

#endif
