/* SPDX-License-Identifier: MIT */
/* The order of close callbacks is libuv's (last in, first out within a turn),
 * so they are counted. */
#include "teardown.h"

#include <string.h>

void uvperf__teardown_begin(uvperf__teardown_t *teardown, uv_loop_t *loop,
                            void (*done)(void *owner), void *owner) {
  memset(teardown, 0, sizeof(*teardown));
  teardown->loop = loop;
  teardown->done = done;
  teardown->owner = owner;
}

void uvperf__teardown_note(uvperf__teardown_t *teardown, int is_ours) {
  if (is_ours)
    teardown->pending += 1;
  else
    teardown->foreign = 1;
}

void uvperf__teardown_close(uvperf__teardown_t *teardown, void *handle,
                            uv_close_cb cb) {
  int is_ours = !uv_is_closing(handle);

  uvperf__teardown_note(teardown, is_ours);
  if (is_ours)
    uv_close(handle, cb);
}

/* Close callbacks run last in, first out within a turn, so the closer's runs
 * before libuv is done with the handles that somebody else closed. Its second
 * one runs in a later turn, when it is. */
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
  if (!teardown->foreign)
    return;
  teardown->pending += 1;
  uv_idle_init(teardown->loop, &teardown->closer);
  teardown->closer.data = teardown;
  uv_close((uv_handle_t *)&teardown->closer, on_closer_closed);
}

void uvperf__teardown_closed(uvperf__teardown_t *teardown) {
  teardown->pending -= 1;
  if (teardown->pending == 0)
    teardown->done(teardown->owner);
}
