/* SPDX-License-Identifier: MIT */
/* Shared by the scripted tests of the event handle: a callback that writes what
 * it receives into one line of text, and a scripted event to feed it. */
#ifndef UVPERF_TEST_SCRIPTED_EVENT_H
#define UVPERF_TEST_SCRIPTED_EVENT_H

#include "live.h"

#include "fake_kernel.h"

/* What the callback received, in order: "COMM EPROTO+raw EOF". */
extern char delivered[512];

/* How often it was called. */
extern uint64_t deliveries;

/* A record callback that writes to `delivered`. */
void scripted_event_on_record(uvperf_handle_t *handle, int status,
                              const uvperf_record_t *record);

/* An attr that samples and has COMM records. */
void scripted_event_attr(struct perf_event_attr *attr);

/* Adds a scripted event with id 7, opens and starts it. */
fake_event_t *scripted_event_open(uv_loop_t *loop, live_collector_t *collector);

/* Writes a sound record of a type into the ring. */
void scripted_event_append(fake_event_t *fake, uint32_t type);

/* Runs nr turns of the loop without waiting. */
void scripted_event_turns(uv_loop_t *loop, int nr);

#endif
