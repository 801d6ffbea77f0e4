/* SPDX-License-Identifier: MIT */
/* What the handles of a row run on: a made-up host, a scripted kernel and a
 * loop. scripted_row.h has the words. */
#ifndef UVPERF_TEST_SCRIPTED_KERNEL_H
#define UVPERF_TEST_SCRIPTED_KERNEL_H

#include "fake_kernel.h"
#include "fake_map.h"
#include "scripted_row.h"

#define KERNEL_EVENTS 500

/* The scripted events, numbered as they are opened. */
extern fake_event_t *kernel_events[KERNEL_EVENTS];
extern uv_loop_t kernel_loop;
extern uint64_t kernel_now; /* of "clock" */
extern int kernel_map_fd;   /* of "map" */
extern int kernel_program;  /* the fd of the last one that was linked */

extern const scripted_verb_t kernel_verbs[];

void kernel_begin(void);

/* Runs the loop until it is empty, and closes it. Then the rest. */
void kernel_end_loop(void);
void kernel_end(void);

/* Calls are printed, or not. */
void kernel_show(void);
void kernel_hide(void);

enum fake_call kernel_call(const char *name);
fake_event_t *kernel_event(const char *name);
size_t kernel_nr(const fake_event_t *fake);
size_t kernel_nr_opened(void);

/* KERNEL_EVENTS if no event is open with this fd. */
size_t kernel_nr_of_fd(int fd);

/* Samples of an event in the ring of another, as of PERF_SAMPLE_TID. 0: as many
 * as fit. */
void kernel_write_samples(fake_event_t *owner, size_t event, size_t nr);

/* For options.open: prints "program", and opens the event. "opener" lets it
 * return something else. */
int kernel_opener(const struct perf_event_attr *attr, int32_t pid, int32_t cpu,
                  int group_fd, unsigned long flags, void *arg);

#endif
