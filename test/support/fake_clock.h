/* SPDX-License-Identifier: MIT */
/* A scripted clock. Every test program is linked with --wrap for uv_hrtime,
 * which the library uses to decide when a tick has come. The loop's own clock,
 * inside libuv, is the real one, so a test that has set the time calls
 * fake_clock_fire instead of running the loop. */
#ifndef UVPERF_TEST_FAKE_CLOCK_H
#define UVPERF_TEST_FAKE_CLOCK_H

#include <stdint.h>

#include <uv.h>

/* Sets what uv_hrtime returns from now on; 0 restores the real time. */
void fake_clock_set(uint64_t ns);

/* The same for the clock with which counters note when events were closed and
 * how long a read took. If asked for, each read of that clock advances it by a
 * fixed time. */
void fake_clock_set_counters(uint64_t ns);
void fake_clock_step_counters(uint64_t ns);

/* How often the library or a test has called uv_hrtime. */
uint64_t fake_clock_looks(void);

/* The only active timer of a loop. Fails the test if there is none or more than
 * one. */
uv_timer_t *fake_clock_timer(uv_loop_t *loop);

/* Fires it as libuv does: stops it, then calls it. */
void fake_clock_fire(uv_timer_t *timer);

#endif
