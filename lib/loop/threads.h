/* SPDX-License-Identifier: MIT */
/* Checks whether the process can make the threads of libuv's pool, and makes
 * them. libuv makes them at the first request of a process, on the thread that
 * calls, and calls abort(3) if it cannot. This takes 0.1 to 40 ms, so another
 * thread does it here. */
#ifndef UVPERF_LIB_LOOP_THREADS_H
#define UVPERF_LIB_LOOP_THREADS_H

/* Begins to check and make the threads, unless this process has done so.
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
