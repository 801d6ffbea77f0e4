/* SPDX-License-Identifier: MIT */
/* Layer 0: which process has opened something, by which a forked child is told
 * from it. */
#ifndef UVPERF_LIB_OPENER_H
#define UVPERF_LIB_OPENER_H

#include <pthread.h>
#include <sys/types.h>

/* A thread, told from others without a system call. By two things, as another
 * can have either when it has ended: its number, and pthread_self(). */
typedef struct uvperf__thread_s {
  int number; /* uvperf__sys_thread; 0: of none */
  pthread_t self;
} uvperf__thread_t;

/* The calling thread. */
void uvperf__thread_init(uvperf__thread_t *thread);

/* Whether that is the calling thread. Also in the child of a bare clone(2),
 * which has its memory. */
int uvperf__thread_is_mine(const uvperf__thread_t *thread);

typedef struct uvperf__opener_s {
  pid_t pid;
  uvperf__thread_t thread;
} uvperf__opener_t;

/* The calling thread, and its process. */
void uvperf__opener_init(uvperf__opener_t *opener);

/* Whether this process is a child of that one, however it was made. A system
 * call. */
int uvperf__opener_is_forked(const uvperf__opener_t *opener);

/* The same for what only reads, and does no harm where it is wrong: in the
 * thread that has opened it this takes no system call, as reading an event
 * takes but one; and a child of that thread by a bare clone(2) is taken for
 * it. */
int uvperf__opener_seems_forked(const uvperf__opener_t *opener);

#endif
