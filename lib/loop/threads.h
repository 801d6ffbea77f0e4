/* SPDX-License-Identifier: MIT */
/* Checks whether the process can make the threads of libuv's pool. libuv makes
 * them at the first request of a process, and calls abort(3) if it cannot. The
 * check makes threads too, which can take 90 ms, so another thread does it. */
#ifndef UVPERF_LIB_LOOP_THREADS_H
#define UVPERF_LIB_LOOP_THREADS_H

/* Begins the check, unless this process has made it.
 * Returns 0 if the pool can be used, UV_EBUSY if this is not known yet, or the
 * code that says why it cannot be: UV_EAGAIN or UV_EPERM if no thread can be
 * made, UV_ENOTSUP in a child of a bare clone(2), where libuv may take the
 * threads of the parent for its own. */
int uvperf__threads_begin(void);

/* Call it after UV_EBUSY, from time to time. Returns the same. UV_EAGAIN also
 * if the thread could not make as many as libuv will. */
int uvperf__threads_check(void);

/* The same, but waits until it is known. */
int uvperf__threads_wait(void);

#endif
