/* SPDX-License-Identifier: MIT */
/* Checks whether the process can make the threads of libuv's pool. libuv calls
 * abort(3) if it cannot make them. */
#ifndef UVPERF_LIB_LOOP_THREADS_H
#define UVPERF_LIB_LOOP_THREADS_H

/* Tries to make threads, once in a process. Returns 0, UV_EAGAIN (RLIMIT_NPROC,
 * pids.max), UV_EPERM (a seccomp filter), UV_ENOTSUP (a child of a bare
 * clone(2)), or another code. */
int uvperf__threads_check(void);

#endif
