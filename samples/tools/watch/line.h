/* SPDX-License-Identifier: MIT */
/* What happened to a process, as one line of text or of JSON. */
#ifndef WATCH_LINE_H
#define WATCH_LINE_H

#include <stdint.h>

#include "common/buffer.h"
#include "watch/tasks.h"

typedef enum watch_kind_e {
  WATCH_FORK,
  WATCH_EXEC,
  WATCH_EXIT,
  WATCH_MMAP,
  WATCH_COMM,
  WATCH_THREAD,
  WATCH_THREAD_EXIT,
  WATCH_LOST
} watch_kind_t;

/* Sets of kinds. */
#define WATCH_BIT(kind) (1u << (kind))

/* What a kind does not have is 0. */
typedef struct watch_event_s {
  watch_kind_t kind;
  uint64_t time;     /* ns of CLOCK_MONOTONIC */
  uint32_t pid, tid; /* EXIT: the last thread */
  uint32_t ppid;     /* 0 if it is not known */
  char comm[WATCH_COMM_BYTES];
  char *path; /* MMAP: the file; EXEC: the executable, or NULL; to be freed */
  char *args; /* EXEC: each with a NUL, or NULL if not known; to be freed */
  size_t args_size;
  int args_cut;              /* there are more */
  int has_status;            /* EXIT */
  uint32_t status;           /* as wait(2) has it */
  uint64_t addr, len, pgoff; /* bytes */
  uint64_t lost; /* LOST: records; EXEC: how many had been lost by then */
  uint32_t cpu;
  int is_waiting; /* EXEC: for the path */
  struct watch_event_s *next;
} watch_event_t;

/* A new event. */
watch_event_t *watch_event_new(watch_kind_t kind, uint64_t time, uint32_t pid,
                               uint32_t tid);

void watch_event_free(watch_event_t *event);

/* These copy. Of arguments at most so many bytes are kept. */
void watch_event_name(watch_event_t *event, const char *comm);
void watch_event_path(watch_event_t *event, const char *path);
void watch_event_args(watch_event_t *event, const char *args, size_t size,
                      size_t max);

/* Adds the line, with its end, to a buffer. */
void watch_line(common_buffer_t *buffer, const watch_event_t *event, int json);

#endif
