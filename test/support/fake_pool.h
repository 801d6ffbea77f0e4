/* SPDX-License-Identifier: MIT */
/* libuv's thread pool: every test program is linked with --wrap for
 * uv_queue_work. Where the kernel is scripted a request is refused, so that the
 * library does the work at once, or waits until the test has it run. */
#ifndef UVPERF_TEST_FAKE_POOL_H
#define UVPERF_TEST_FAKE_POOL_H

/* From now on requests wait; at most one does, as the library promises. */
void fake_pool_hold(void);

/* Whether a request waits. */
int fake_pool_waits(void);

/* Has the request that waits run here: the work, then what follows on the
 * loop. */
void fake_pool_run(void);

/* fake_script.c's part in a reset: requests are refused. */
void fake_pool_reset(void);

#endif
