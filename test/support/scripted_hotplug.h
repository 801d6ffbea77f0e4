/* SPDX-License-Identifier: MIT */
/* Shared by the tests of hotplug: an owner that notes its callbacks. */
#ifndef UVPERF_TEST_SCRIPTED_HOTPLUG_H
#define UVPERF_TEST_SCRIPTED_HOTPLUG_H

#include <sys/resource.h>

#include "support.h"

#include "loop/hotplug.h"
#include "loop/hub.h"

/* Longer than any test: nothing is checked by the timer. */
#define HOTPLUG_NEVER UINT64_C(1000000000)

typedef struct hotplug_owner_s hotplug_owner_t;
struct hotplug_owner_s {
  uvperf__hotplug_t *hotplug;
  uv_loop_t *loop;
  uvperf__teardown_t teardown;
  char seen[256]; /* as in "gone 1, come 1" */
  uint64_t nr;    /* number of callbacks */
  int closed;
  /* Called after each callback; may be NULL. */
  void (*hook)(hotplug_owner_t *owner);
};

/* A scripted kernel with three CPUs in a tree, and scripted uevents; *state is
 * a loop. */
int hotplug_setup(void **state);
int hotplug_teardown(void **state);

/* Makes a hotplug. */
void hotplug_make(uv_loop_t *loop, hotplug_owner_t *owner);

/* With a uevent. `online` is the list of those that are online then. */
void hotplug_take_down(int cpu, const char *online);
void hotplug_bring_up(int cpu, const char *online);

/* Checks the CPUs without a uevent. */
void hotplug_look(uv_loop_t *loop, uvperf__hub_t *hub);

/* Starts it, and returns the code. */
int hotplug_try(hotplug_owner_t *owner);
/* Starts it; the first check is done when it returns. */
void hotplug_start(uv_loop_t *loop, hotplug_owner_t *owner);
/* Makes and starts it. */
void hotplug_begin(uv_loop_t *loop, hotplug_owner_t *owner);

/* Runs enough turns of the loop for all pending events. */
void hotplug_run(uv_loop_t *loop);

/* Runs the loop after a uevent, or checks the CPUs, and expects these
 * callbacks. */
void hotplug_expect(uv_loop_t *loop, hotplug_owner_t *owner, const char *seen);
void hotplug_expect_by_look(uv_loop_t *loop, hotplug_owner_t *owner,
                            const char *seen);

/* Begins to close it; closes it and waits for the end. */
void hotplug_close(hotplug_owner_t *owner);
void hotplug_end(uv_loop_t *loop, hotplug_owner_t *owner);

/* Uses up all fds; makes them available again. */
void hotplug_no_fds(struct rlimit *old);
void hotplug_give_fds(const struct rlimit *old);

#endif
