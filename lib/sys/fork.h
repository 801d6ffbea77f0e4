/* SPDX-License-Identifier: MIT */
/* Finds out which process is calling, so that a forked child is recognised, and
 * which thread is calling. */
#ifndef UVPERF_LIB_SYS_FORK_H
#define UVPERF_LIB_SYS_FORK_H

#include <pthread.h>
#include <stdint.h>

/* Returns the number of the calling process, which is never 0. A forked child
 * has another number than its parent and all earlier parents. This is true for
 * each way to fork, and even if the child has the same pid in another pid
 * namespace. The exception is a child that shares the memory, as after
 * vfork(2): it counts as the same process.
 *
 * The function takes one load. If the kernel cannot mark a process (see
 * uvperf__process_is_marked), the number is the result of getpid(2), and a
 * child with the same pid is not noticed. */
uint32_t uvperf__process(void);

/* Returns where the number is kept, for code that has no time for a call. It is
 * 0 in a child that has not called uvperf__process yet, and always 0 if the
 * kernel cannot mark a process. */
const _Atomic uint32_t *uvperf__process_number(void);

/* Whether uvperf__process works without a system call. Returns 0 before Linux
 * 4.14, and if there was no memory for the mark at the first call. */
int uvperf__process_is_marked(void);

/* Identifies a thread without a system call, by both uvperf__sys_thread and
 * pthread_self(). One of them alone can be reused after the thread has
 * ended. */
typedef struct uvperf__thread_s {
  int number; /* 0: no thread */
  pthread_t self;
} uvperf__thread_t;

/* Fills `thread` for the calling thread. */
void uvperf__thread_init(uvperf__thread_t *thread);

/* Whether `thread` is the calling thread. Also true in the child of a bare
 * clone(2), which has a copy of the memory. */
int uvperf__thread_is_mine(const uvperf__thread_t *thread);

/* Whether the process was made by clone(2) without the C library, so that the
 * handlers of pthread_atfork(3) did not run. If nothing has asked for the
 * number of the process before (or if it cannot be marked), only the first
 * thread of such a child is recognised: the C library still has the id of the
 * parent's thread. Makes a system call. */
int uvperf__process_is_cloned(void);

#endif
