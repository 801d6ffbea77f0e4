/* SPDX-License-Identifier: MIT */
/* The yardstick of sample_reader.h: a ring that is read by hand, on libuv's
 * loop, when it is reported readable. */
#include <string.h>

#include "bench.h"
#include "sample_reader.h"

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

static void on_readable(uv_poll_t *poll, int status, int events) {
  sample_reader_t *reader = poll->data;

  reader->wakeups += 1;
  bare_ring_drain(&reader->ring);
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
