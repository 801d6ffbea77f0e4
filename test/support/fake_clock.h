/* SPDX-License-Identifier: MIT */
/* A scripted clock: every test program is linked with --wrap for uv_hrtime, by
 * which the library knows when a tick is due. The loop's own clock, inside
 * libuv, is the real one: a test that has set the time lets a timer fire by
 * itself instead of running the loop. */
#ifndef UVPERF_TEST_FAKE_CLOCK_H
#define UVPERF_TEST_FAKE_CLOCK_H

#include <stdint.h>

#include <uv.h>

/* What uv_hrtime gives from now on; 0 is the real time again. */
void fake_clock_set(uint64_t ns);

/* The same for the time by which counters know when events were closed, and how
 * long they have read. Then, if asked for, each look at it finds so much more
 * time gone. */
void fake_clock_set_counters(uint64_t ns);
void fake_clock_step_counters(uint64_t ns);

/* How often the library, or a test, has called uv_hrtime. */
uint64_t fake_clock_looks(void);

/* The only active timer of a loop; fails the test if there is none, or
 * another. */
uv_timer_t *fake_clock_timer(uv_loop_t *loop);

/* Lets it fire, as libuv does: it is stopped before it is called. */
void fake_clock_fire(uv_timer_t *timer);

#endif
