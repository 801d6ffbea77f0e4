/* SPDX-License-Identifier: MIT */
/* A profile: stacks of functions, the tasks that ran them, and how often and
 * how long each stack was seen. It does not depend on its source (a live set, a
 * recorded file, switches). Each output (table, page, pprof) is written from
 * the profile alone. */
#ifndef STACKS_STACKS_H
#define STACKS_STACKS_H

#include <stddef.h>
#include <stdint.h>

/* The index of "[other]": the first task, object and function of each profile.
 * It stands for all tasks, objects and functions past the limit. */
#define STACKS_OTHER 0u

/* A mapped object: a file, the kernel, memory of a JIT compiler. */
typedef struct stacks_object_s {
  const char *name; /* for display: "libc.so.6", "[kernel]", "[vdso]" */
  const char *path; /* "" if it is no file */
  unsigned char build_id[20];
  size_t build_id_bytes; /* 0: not known */
} stacks_object_t;

typedef struct stacks_function_s {
  const char *name;        /* demangled; or "libc.so.6+0x2a0b0" */
  const char *linked_name; /* as in the file; equal to name if not mangled */
  const char *file;        /* of its source; "" if not known */
  uint32_t object;
} stacks_function_t;

/* A thread, or several threads that are counted together because all fields are
 * equal. */
typedef struct stacks_task_s {
  uint32_t pid, tid;   /* 0: of several, or not known */
  const char *thread;  /* the thread's name */
  const char *process; /* the name of its process */
  const char *cgroup;  /* its path; "" if not known */
} stacks_task_t;

typedef struct stacks_frame_s {
  uint64_t address; /* in the object, as its symbol table counts; 0: unknown */
  uint32_t function;
  uint32_t line : 31;      /* of the source; 0: not known */
  uint32_t is_inlined : 1; /* into the next frame, at the same address */
} stacks_frame_t;

typedef struct stacks_stack_s {
  const stacks_frame_t *frames; /* the innermost first */
  size_t nr_frames;
  uint32_t task;
  uint64_t samples;
  uint64_t weight; /* in units of stacks->unit */
} stacks_stack_t;

typedef struct stacks_s {
  /* The owner sets these fields, and keeps the strings. */
  const char *event;              /* "cpu-clock", "cycles", "off-cpu" */
  const char *unit;               /* of weights: "ns", "cycles", "events" */
  uint64_t period;                /* between samples; 0: not known */
  uint64_t duration_ns;           /* of the measurement; 0: not known */
  uint64_t start_ns;              /* since 1970; 0: not known */
  uint64_t samples, weight;       /* sums over all stacks */
  struct stacks_tables_s *tables; /* private */
} stacks_t;

void stacks_init(stacks_t *stacks);
void stacks_free(stacks_t *stacks);

/* Each function returns the index of an object, task or function, and adds it
 * if it is new. Strings are copied, made safe to print, and cut at 1,000 bytes.
 * Functions are equal if their name, linked name and object are equal. */
uint32_t stacks_object(stacks_t *stacks, const stacks_object_t *object);
uint32_t stacks_function(stacks_t *stacks, const stacks_function_t *function);
uint32_t stacks_task(stacks_t *stacks, const stacks_task_t *task);

/* Adds to the stack with the same task and frames. Creates this stack if it is
 * new. Frames are copied. When all stacks have 128 MiB, new stacks are added to
 * a stack whose only frame is [other]. A stack without frames counts for its
 * task only. */
void stacks_add(stacks_t *stacks, uint32_t task, const stacks_frame_t *frames,
                size_t nr_frames, uint64_t samples, uint64_t weight);

/* These return the contents. Pointers are valid until the next call that adds
 * something. */
size_t stacks_nr_objects(const stacks_t *stacks);
const stacks_object_t *stacks_get_object(const stacks_t *stacks, uint32_t i);
size_t stacks_nr_functions(const stacks_t *stacks);
const stacks_function_t *stacks_get_function(const stacks_t *stacks,
                                             uint32_t i);
size_t stacks_nr_tasks(const stacks_t *stacks);
const stacks_task_t *stacks_get_task(const stacks_t *stacks, uint32_t i);

/* Returns all stacks, the heaviest first, in an array of *nr stacks. Free the
 * array with free(). Stacks of equal weight have the same order in each run. */
stacks_stack_t *stacks_sorted(const stacks_t *stacks, size_t *nr);

#endif
