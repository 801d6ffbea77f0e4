/* SPDX-License-Identifier: MIT */
/* What the scripted tests of the event handle share: a callback that writes
 * down what it gets, as one line of text, and a scripted event to feed it. */
#ifndef UVPERF_TEST_SCRIPTED_EVENT_H
#define UVPERF_TEST_SCRIPTED_EVENT_H

#include "live.h"

#include "fake_kernel.h"

/* What the callback got, in order: "COMM EPROTO+raw EOF". */
extern char delivered[512];

/* How often it was called. */
extern uint64_t deliveries;

/* A record callback that tells the story. */
void scripted_event_on_record(uvperf_event_t *event, int status,
                              const uvperf_record_t *record);

/* The same; the end of a slice is "slice". */
void scripted_event_on_slice(uvperf_event_t *event, int status,
                             const uvperf_record_t *record);

/* An attr that samples and has COMM records. */
void scripted_event_attr(struct perf_event_attr *attr);

/* Begins a story: a scripted event with id 7, open and started. */
fake_event_t *scripted_event_open(uv_loop_t *loop, live_collector_t *collector);

/* Writes a sound record of a type into the ring. */
void scripted_event_append(fake_event_t *fake, uint32_t type);

/* Writes so many bytes that begin with a header of that type and size. */
void scripted_event_append_header(fake_event_t *fake, uint32_t type,
                                  uint16_t size, size_t bytes);

/* Runs so many turns of the loop without waiting. */
void scripted_event_turns(uv_loop_t *loop, int nr);

#endif
