/* SPDX-License-Identifier: MIT */
/* Formats an event of a process as one line of text or of JSON. */
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

/* The bit of a kind, for sets of kinds. */
#define WATCH_BIT(kind) (1u << (kind))

/* Members that do not apply to the event's kind are 0. */
typedef struct watch_event_s {
  watch_kind_t kind;
  uint64_t time;     /* ns of CLOCK_MONOTONIC */
  uint32_t pid, tid; /* EXIT: the last thread */
  uint32_t ppid;     /* 0 if it is not known */
  char comm[WATCH_COMM_BYTES];
  char *path; /* MMAP: the file; EXEC: the executable, or NULL; owned */
  char *args; /* EXEC: each with a NUL, or NULL if not known; owned */
  size_t args_size;
  int args_cut;              /* there are more */
  int has_status;            /* EXIT */
  uint32_t status;           /* as from wait(2) */
  uint64_t addr, len, pgoff; /* bytes */
  uint64_t lost; /* LOST: records; EXEC: all records lost before it */
  uint32_t cpu;
  int is_waiting; /* EXEC: the path is not known yet */
  struct watch_event_s *next;
} watch_event_t;

/* Returns a new event. */
watch_event_t *watch_event_new(watch_kind_t kind, uint64_t time, uint32_t pid,
                               uint32_t tid);

void watch_event_free(watch_event_t *event);

/* Copies the arguments of the event, cut to `max` bytes. */
void watch_event_args(watch_event_t *event, const char *args, size_t size,
                      size_t max);

/* Adds the line, with its end, to a buffer. */
void watch_line(common_buffer_t *buffer, const watch_event_t *event, int json);

#endif
