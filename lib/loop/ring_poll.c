/* SPDX-License-Identifier: MIT */
/* Polling a perf fd is not like polling a socket. perf_poll() in
 * kernel/events/core.c reads and clears the readiness of the ring (atomic_xchg
 * of rb->poll). Each wakeup is reported once, to the first poller, so two
 * pollers of one ring steal from each other. A hang-up belongs to the event,
 * not to the ring. Once the event's task is gone, poll reports POLLHUP for
 * ever, whether records are left or not. */
#include "loop/ring_poll.h"

#include <poll.h>

#include "sys/sys.h"

static void on_poll(uv_poll_t *poll, int status, int events);

static void ring_poll_elect(uvperf__ring_poll_t *ring_poll, int status);

/* -- 1. the fd is polled, and wakes ---------------------------------------- */

/* uvperf__ring_poll_of recognises the handle by its callback, so the callback
 * is set before the handle is ever started. */
static int init_handle(uvperf__ring_poll_t *ring_poll, uv_loop_t *loop) {
  int rc;

  rc = uv_poll_init(loop, &ring_poll->poll, ring_poll->fd);
  if (rc != 0)
    return rc;
  ring_poll->poll.data = ring_poll;
  ring_poll->poll.poll_cb = on_poll;
  if (ring_poll->unref)
    uv_unref((uv_handle_t *)&ring_poll->poll);
  return 0;
}

int uvperf__ring_poll_init(uvperf__ring_poll_t *ring_poll, uv_loop_t *loop,
                           const int *fds, size_t nr_fds,
                           const uvperf__ring_poll_ops_t *ops, void *owner) {
  ring_poll->fds = fds;
  ring_poll->nr_fds = nr_fds;
  ring_poll->fd = fds[0];
  ring_poll->ops = ops;
  ring_poll->owner = owner;
  return init_handle(ring_poll, loop);
}

/* Whether the handle may be started and stopped. libuv aborts if others have
 * closed the handle. */
static int ring_poll_is_usable(const uvperf__ring_poll_t *ring_poll) {
  return !uv_is_closing((const uv_handle_t *)&ring_poll->poll);
}

static int start_handle(uvperf__ring_poll_t *ring_poll) {
  if (!ring_poll_is_usable(ring_poll))
    return UV_EINVAL;
  /* Never UV_PRIORITIZED: it makes libuv hide POLLERR. */
  return uv_poll_start(&ring_poll->poll, UV_READABLE, on_poll);
}

int uvperf__ring_poll_start(uvperf__ring_poll_t *ring_poll) {
  int rc = 0;

  /* A handle that is being replaced starts when the replacement is done. */
  if (ring_poll->gone == 0 && !ring_poll->replacing)
    rc = start_handle(ring_poll);
  ring_poll->started = rc == 0;
  return rc;
}

void uvperf__ring_poll_stop(uvperf__ring_poll_t *ring_poll) {
  ring_poll->started = 0;
  if (ring_poll_is_usable(ring_poll))
    uv_poll_stop(&ring_poll->poll);
}

/* The event bits are only a hint: the ring is always checked for records. libuv
 * reports EPOLLERR (a pinned event in error state) as a status, and has then
 * stopped the handle. */
static void on_poll(uv_poll_t *poll, int status, int events) {
  uvperf__ring_poll_t *ring_poll = poll->data;

  (void)events;
  if (status < 0)
    ring_poll_elect(ring_poll, status);
  ring_poll->ops->wakeup(ring_poll->owner);
}

/* -- 2. the event has hung up: another takes its place --------------------- */

/* Returns 0, or the code that says why the event will cause no more wakeups.
 * libuv reports POLLHUP as the events that were requested, so the poll callback
 * cannot distinguish a hang-up from a wakeup. */
static int hangup_status(int fd) {
  int revents;

  revents = uvperf__sys_poll(fd, POLLIN);
  if (revents < 0)
    return revents;
  if (revents & POLLERR)
    return UV_EBADF; /* perf_poll(): a pinned event in error state */
  return revents & (POLLHUP | POLLNVAL) ? UV_EOF : 0;
}

void uvperf__ring_poll_probe(uvperf__ring_poll_t *ring_poll) {
  int status = hangup_status(ring_poll->fd);

  if (status != 0)
    ring_poll_elect(ring_poll, status);
}

/* Finds a live event other than the polled event. Returns 1 and its fd, or
 * 0. */
static int find_live(const uvperf__ring_poll_t *ring_poll, int *fd) {
  size_t i;

  for (i = 0; i < ring_poll->nr_fds; i++) {
    *fd = ring_poll->fds[i];
    if (*fd != ring_poll->fd && hangup_status(*fd) == 0)
      return 1;
  }
  return 0;
}

/* The elected fd takes the place of the fd whose handle is closed now. */
static void on_replaced(uv_handle_t *handle) {
  uvperf__ring_poll_t *ring_poll = handle->data;
  int rc;

  ring_poll->replacing = 0;
  if (ring_poll->teardown != NULL) {
    uvperf__teardown_closed(ring_poll->teardown);
    return;
  }
  if (!ring_poll->ops->is_wanted(ring_poll->owner))
    return;
  rc = init_handle(ring_poll, handle->loop);
  if (rc == 0 && ring_poll->started)
    rc = start_handle(ring_poll);
  if (rc != 0)
    ring_poll->gone = rc;
  ring_poll->ops->replaced(ring_poll->owner);
}

static void ring_poll_replace(uvperf__ring_poll_t *ring_poll, int fd) {
  ring_poll->fd = fd;
  if (ring_poll->replacing)
    return;
  ring_poll->replacing = 1;
  uv_close((uv_handle_t *)&ring_poll->poll, on_replaced);
}

/* The polled event has hung up: polls another event, or a spare. */
static void ring_poll_elect(uvperf__ring_poll_t *ring_poll, int status) {
  int fd;

  if (ring_poll->replacing || !ring_poll_is_usable(ring_poll))
    return;
  if (!find_live(ring_poll, &fd))
    fd = ring_poll->ops->spare(ring_poll->owner, status);
  if (fd >= 0) {
    ring_poll_replace(ring_poll, fd);
    return;
  }
  ring_poll->gone = fd;
  uv_poll_stop(&ring_poll->poll);
}

/* -- other events write into the ring -------------------------------------- */

static int polls_one_of_fds(const uvperf__ring_poll_t *ring_poll) {
  size_t i;

  for (i = 0; i < ring_poll->nr_fds; i++)
    if (ring_poll->fds[i] == ring_poll->fd)
      return 1;
  return 0;
}

void uvperf__ring_poll_set_fds(uvperf__ring_poll_t *ring_poll, const int *fds,
                               size_t nr_fds) {
  int status = ring_poll->gone;

  ring_poll->fds = fds;
  ring_poll->nr_fds = nr_fds;
  if (ring_poll->teardown != NULL ||
      (!ring_poll->replacing && !ring_poll_is_usable(ring_poll)))
    return;
  if (!polls_one_of_fds(ring_poll)) {
    /* If this event has hung up, its fd wakes the loop at once, and another
     * event is elected as usual. */
    ring_poll_replace(ring_poll, fds[0]);
  } else if (status != 0) {
    ring_poll->gone = 0;
    ring_poll_elect(ring_poll, status);
  }
}

/* -- close ----------------------------------------------------------------- */

static void on_closed(uv_handle_t *handle) {
  uvperf__ring_poll_t *ring_poll = handle->data;

  uvperf__teardown_closed(ring_poll->teardown);
}

void uvperf__ring_poll_close(uvperf__ring_poll_t *ring_poll,
                             uvperf__teardown_t *teardown) {
  ring_poll->teardown = teardown;
  if (ring_poll->replacing)
    uvperf__teardown_expect(teardown); /* libuv will still call on_replaced */
  else
    uvperf__teardown_close(teardown, &ring_poll->poll, on_closed);
}

uvperf__ring_poll_t *uvperf__ring_poll_of(uv_handle_t *handle) {
  if (handle->type != UV_POLL || ((uv_poll_t *)handle)->poll_cb != on_poll)
    return NULL;
  return handle->data;
}

void uvperf__ring_poll_set_ref(uvperf__ring_poll_t *ring_poll, int ref) {
  ring_poll->unref = !ref;
  if (ring_poll->replacing)
    return;
  if (ref)
    uv_ref((uv_handle_t *)&ring_poll->poll);
  else
    uv_unref((uv_handle_t *)&ring_poll->poll);
}
