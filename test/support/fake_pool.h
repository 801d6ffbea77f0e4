/* SPDX-License-Identifier: MIT */
/* libuv's thread pool. Every test program is linked with --wrap for
 * uv_queue_work and loop/threads.h. With a scripted kernel a request is either
 * refused, so that the library does the work at once, or waits until the test
 * runs it. */
#ifndef UVPERF_TEST_FAKE_POOL_H
#define UVPERF_TEST_FAKE_POOL_H

/* From now on requests wait; at most one does, as the library promises. */
void fake_pool_hold(void);

/* From now on libuv's pool runs requests, although the kernel is scripted. */
void fake_pool_pass(void);

/* From now on it is not known whether the pool can be made, until a call of
 * uvperf__threads_wait, which returns `code`. */
void fake_pool_make(int code);

/* Now it is known. */
void fake_pool_made(void);

/* Whether a request waits. */
int fake_pool_waits(void);

/* Runs the waiting request here: the work, then the part that follows on the
 * loop. After fake_pool_work, which does only the work, the second part is
 * left. */
void fake_pool_run(void);
void fake_pool_work(void);

/* Runs requests until none waits. A job that takes longer than a millisecond,
 * as on a loaded machine, makes more than one. */
void fake_pool_finish(void);

/* Called by the work: it hangs. Another thread takes the next request, which
 * the work can run here. The work that hangs ends when it returns. */
void fake_pool_hang(void);

/* Called by fake_script.c in a reset: requests are refused again. */
void fake_pool_reset(void);

#endif
