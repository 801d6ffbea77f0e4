/* SPDX-License-Identifier: MIT */
/* The yardsticks of sample_reader.h: a ring that is read by hand, on libuv's
 * loop and on a loop of its own. Each drains when the ring is reported
 * readable. */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "bench.h"
#include "sample_reader.h"

/* -- what both do --------------------------------------------------------- */

static int ring_open(sample_reader_t *reader) {
  const sample_subject_t *subject = reader->subject;
  int rc =
      bare_ring_open(&reader->ring, &subject->attr, subject->child.pid,
                     subject->ring_bytes, subject->on_sample, subject->arg);

  return rc == 0 ? 0 : bench_fail("perf_event_open", strerror(-rc));
}

static int ring_count(sample_reader_t *reader, bare_count_t *count) {
  int rc = bare_ring_count(&reader->ring, count);

  return rc == 0 ? 0 : bench_fail("read", strerror(-rc));
}

static void drain(sample_reader_t *reader) {
  reader->wakeups += 1;
  bare_ring_drain(&reader->ring);
}

/* -- uv_poll -------------------------------------------------------------- */

static void on_readable(uv_poll_t *poll, int status, int events) {
  (void)status;
  (void)events;
  drain(poll->data);
}

static int uv_poll_way_open(sample_reader_t *reader) {
  int rc;

  if (ring_open(reader) != 0)
    return 1;
  if (sample_loop_open(reader) != 0) {
    bare_ring_close(&reader->ring);
    return 1;
  }
  reader->poll.data = reader;
  rc = uv_poll_init(&reader->loop, &reader->poll, reader->ring.fd);
  if (rc == 0) {
    uv_poll_start(&reader->poll, UV_READABLE, on_readable);
    /* Registers the fd with epoll, which takes any wakeup that came before. */
    uv_run(&reader->loop, UV_RUN_NOWAIT);
    return 0;
  }
  sample_loop_close(reader);
  bare_ring_close(&reader->ring);
  return bench_fail("uv_poll_init", uv_strerror(rc));
}

static int uv_poll_way_wait(sample_reader_t *reader) {
  uv_run(&reader->loop, UV_RUN_DEFAULT);
  bare_ring_drain(&reader->ring);
  return 0;
}

static void uv_poll_way_close(sample_reader_t *reader) {
  uv_close((uv_handle_t *)&reader->poll, NULL);
  sample_loop_close(reader);
  bare_ring_close(&reader->ring);
}

const sample_way_t sample_by_uv_poll = {uv_poll_way_open, uv_poll_way_wait,
                                        ring_count, uv_poll_way_close};

/* -- epoll ---------------------------------------------------------------- */

static void epoll_way_close(sample_reader_t *reader) {
  close(reader->epoll);
  bare_ring_close(&reader->ring);
}

/* The ring's readiness is an edge, because perf's poll clears it. With EPOLLET,
 * epoll need not poll it again before it sleeps. */
static int epoll_way_open(sample_reader_t *reader) {
  struct epoll_event ring = {.events = EPOLLIN | EPOLLET};
  struct epoll_event done = {.events = EPOLLIN};

  if (ring_open(reader) != 0)
    return 1;
  ring.data.fd = reader->ring.fd;
  done.data.fd = reader->subject->child.fd;
  reader->epoll = epoll_create1(EPOLL_CLOEXEC);
  if (reader->epoll < 0) {
    bare_ring_close(&reader->ring);
    return bench_fail("epoll_create1", strerror(errno));
  }
  if (epoll_ctl(reader->epoll, EPOLL_CTL_ADD, ring.data.fd, &ring) == 0 &&
      epoll_ctl(reader->epoll, EPOLL_CTL_ADD, done.data.fd, &done) == 0)
    return 0;
  bench_fail("epoll_ctl", strerror(errno));
  epoll_way_close(reader);
  return 1;
}

static int epoll_way_wait(sample_reader_t *reader) {
  struct epoll_event events[2];
  int nr, i;

  while (reader->over == 0) {
    nr = epoll_wait(reader->epoll, events, 2, -1);
    if (nr < 0 && errno != EINTR)
      return bench_fail("epoll_wait", strerror(errno));
    for (i = 0; i < nr; i++) {
      if (events[i].data.fd == reader->ring.fd)
        drain(reader);
      else
        reader->over = traced_child_is_done(&reader->subject->child);
    }
  }
  bare_ring_drain(&reader->ring);
  return 0;
}

const sample_way_t sample_by_epoll = {epoll_way_open, epoll_way_wait,
                                      ring_count, epoll_way_close};
