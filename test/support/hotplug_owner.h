/* SPDX-License-Identifier: MIT */
/* What the tests of hotplug share: an owner that notes what it is told. */
#ifndef UVPERF_TEST_HOTPLUG_OWNER_H
#define UVPERF_TEST_HOTPLUG_OWNER_H

#include <sys/resource.h>

#include "support.h"

#include "loop/hotplug.h"

/* Longer than any test: nothing is looked at by itself. */
#define HOTPLUG_NEVER UINT64_C(1000000000)

typedef struct hotplug_owner_s hotplug_owner_t;
struct hotplug_owner_s {
  uvperf__hotplug_t *hotplug;
  uv_loop_t *loop;
  uvperf__teardown_t teardown;
  char seen[256]; /* as in "gone 1, come 1" */
  uint64_t nr;    /* how often */
  int closes;     /* by hotplug_close_owner */
  int closed;
  /* Called each time that it is told anything; may be NULL. */
  void (*hook)(hotplug_owner_t *owner);
};

/* A scripted kernel with three CPUs in a tree, and scripted uevents; *state is
 * a loop. */
int hotplug_setup(void **state);
int hotplug_teardown(void **state);

/* Makes a hotplug on the tree, or on the sysfs of this root. */
void hotplug_make(uv_loop_t *loop, hotplug_owner_t *owner);
void hotplug_make_on(uv_loop_t *loop, hotplug_owner_t *owner, const char *root);

/* The timer fires: a look that no uevent has asked for. */
void hotplug_look(uv_loop_t *loop);

/* Starts it; the first look is over then. */
void hotplug_start(uv_loop_t *loop, hotplug_owner_t *owner);
/* Makes and starts it. */
void hotplug_begin(uv_loop_t *loop, hotplug_owner_t *owner);

/* Enough turns of the loop for what is there. */
void hotplug_run(uv_loop_t *loop);

/* What is told, by a uevent that was sent; or by a look. */
void hotplug_expect(uv_loop_t *loop, hotplug_owner_t *owner, const char *seen);
void hotplug_expect_by_look(uv_loop_t *loop, hotplug_owner_t *owner,
                            const char *seen);

/* Begins to close it; closes it to the end. */
void hotplug_close(hotplug_owner_t *owner);
void hotplug_end(uv_loop_t *loop, hotplug_owner_t *owner);

/* Has no fd left, and then again as many as before. */
void hotplug_no_fds(struct rlimit *old);
void hotplug_give_fds(const struct rlimit *old);

#endif
