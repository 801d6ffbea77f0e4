/* SPDX-License-Identifier: MIT */
/* libuv decides the order of close callbacks (last in, first out within one
 * iteration), so they are counted. */
#include "loop/teardown.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

/* UV_HANDLE_CLOSED in libuv's src/uv-common.h. It is the same in every release
 * of libuv 1. No function of libuv says whether a closing handle is closed. */
#define HANDLE_CLOSED 2

void uvperf__teardown_init(
    uvperf__teardown_t *teardown, uv_loop_t *loop, void (*closed)(void *owner),
    void (*release)(void *owner),
    void (*give_up)(void *owner, uvperf__leftovers_t *leftovers), void *owner) {
  memset(teardown, 0, sizeof(*teardown));
  teardown->loop = loop;
  teardown->closed = closed;
  teardown->release = release;
  teardown->give_up = give_up;
  teardown->owner = owner;
  teardown->uses = 1;
}

void uvperf__teardown_hold(uvperf__teardown_t *teardown) {
  teardown->uses += 1;
}

void uvperf__teardown_let_go(uvperf__teardown_t *teardown) {
  assert(teardown->uses > 0);
  teardown->uses -= 1;
  if (teardown->uses == 0)
    teardown->release(teardown->owner);
}

void uvperf__teardown_close(uvperf__teardown_t *teardown, void *handle,
                            uv_close_cb cb) {
  if (!uv_is_closing(handle)) {
    uvperf__teardown_expect(teardown);
    uv_close(handle, cb);
  } else if (!(((const uv_handle_t *)handle)->flags & HANDLE_CLOSED)) {
    teardown->foreign = 1;
  }
}

void uvperf__teardown_expect(uvperf__teardown_t *teardown) {
  teardown->pending += 1;
}

static void teardown_finish(uvperf__teardown_t *teardown) {
  if (teardown->hub != NULL)
    teardown->left(teardown);
  teardown->closed(teardown->owner);
}

/* Close callbacks run last in, first out within one iteration, so the closer's
 * callback can run before the callbacks of handles that others have closed. The
 * closer's second callback runs in the next iteration, after all of them. */
static void on_closer_closed(uv_handle_t *handle) {
  uvperf__teardown_t *teardown = handle->data;

  teardown->rounds += 1;
  if (teardown->rounds == 2) {
    uvperf__teardown_closed(teardown);
    return;
  }
  uv_idle_init(teardown->loop, &teardown->closer);
  uv_close((uv_handle_t *)&teardown->closer, on_closer_closed);
}

void uvperf__teardown_end(uvperf__teardown_t *teardown) {
  if (teardown->hub != NULL)
    teardown->leave(teardown);
  if (teardown->foreign) {
    uvperf__teardown_expect(teardown);
    uv_idle_init(teardown->loop, &teardown->closer);
    teardown->closer.data = teardown;
    uv_close((uv_handle_t *)&teardown->closer, on_closer_closed);
  } else if (teardown->pending == 0) {
    teardown_finish(teardown);
  }
}

/* -- leftovers ------------------------------------------------------------- */

static uvperf__teardown_t *teardown_of(uvperf__job_t *job) {
  return (uvperf__teardown_t *)((char *)job -
                                offsetof(uvperf__teardown_t, job));
}

static void choose_kind(uvperf__teardown_t *teardown) {
  teardown->job.kind = uvperf__leftovers_are_on(&teardown->leftovers)
                           ? UVPERF__JOB_SOON
                           : UVPERF__JOB_CLOSE;
}

static int close_one(uvperf__job_t *job) {
  uvperf__teardown_t *teardown = teardown_of(job);
  int more = uvperf__leftovers_close_one(&teardown->leftovers);

  choose_kind(teardown);
  return more;
}

static void on_all_closed(uvperf__job_t *job) {
  uvperf__teardown_t *teardown = teardown_of(job);

  uvperf__leftovers_end(&teardown->leftovers);
  teardown_finish(teardown);
}

/* A call that has a hold may still use the fds and mappings. */
static void close_rest(uvperf__teardown_t *teardown) {
  uvperf__job_t *job = &teardown->job;

  if (teardown->give_up != NULL && teardown->uses == 1)
    teardown->give_up(teardown->owner, &teardown->leftovers);
  choose_kind(teardown);
  job->closes = 1;
  job->step = close_one;
  job->done = on_all_closed;
  if (teardown->leftovers.nr == 0 || teardown->jobs == NULL ||
      uvperf__job_begin(teardown->jobs, teardown->loop, job) != 0)
    on_all_closed(job);
}

void uvperf__teardown_closed(uvperf__teardown_t *teardown) {
  teardown->pending -= 1;
  if (teardown->pending == 0 && !teardown->begins)
    close_rest(teardown);
}
