/* SPDX-License-Identifier: MIT */
#include "live_rings.h"

#include <linux/perf_event.h>

#include "sys/sys.h"

const uvperf__watch_options_t live_rings_plain = {4096, 1 << 20, 1000000000, 0,
                                                  0,    0,       0};

/* An event with the comm bit writes EXIT records too: perf_event_task_match()
 * in kernel/events/core.c. */
static void count(live_rings_t *watched, size_t index, const void *bytes) {
  struct perf_event_header header;

  memcpy(&header, bytes, sizeof(header));
  if (header.type != PERF_RECORD_COMM)
    return;
  watched->records[index] += 1;
  watched->total += 1;
  if (watched->nr_order < 64)
    watched->order[watched->nr_order++] = index;
  if (watched->hook != NULL)
    watched->hook(watched);
}

static int drain(void *owner, size_t index, uvperf__slice_t *slice) {
  live_rings_t *watched = owner;
  uvperf__ring_t *ring = &watched->rings[index];
  const void *bytes;
  size_t size;
  int rc;

  watched->drains[index] += 1;
  if (watched->codes[index] != 0)
    return watched->codes[index];
  rc = uvperf__ring_begin(ring);
  while (rc == 0 &&
         (rc = uvperf__ring_next(ring, watched->scratch, &bytes, &size)) > 0) {
    count(watched, index, bytes);
    uvperf__ring_consume(ring, size);
    rc = uvperf__slice_take(slice, size);
  }
  uvperf__ring_end(ring);
  return rc;
}

static int drain_all(void *owner, uvperf__slice_t *slice) {
  live_rings_t *watched = owner;
  size_t i;
  int rc;

  watched->drains_all += 1;
  if (watched->leaves)
    return UVPERF__DRAINED;
  for (i = 0; i < watched->nr; i++) {
    if (uvperf__watch_has_ended(watched->watch, i))
      continue;
    rc = drain(watched, i, slice);
    if (rc < 0)
      rc = uvperf__watch_ring_failed(watched->watch, i, rc, slice);
    if (rc != UVPERF__DRAINED)
      return rc;
  }
  return UVPERF__DRAINED;
}

static void slice_end(void *owner) {
  live_rings_t *watched = owner;

  watched->slice_ends += 1;
}

static void iteration_end(void *owner) {
  live_rings_t *watched = owner;

  watched->iterations += 1;
  if (watched->iteration_hook != NULL)
    watched->iteration_hook(watched);
}

static void ring_end(void *owner, size_t index, int status) {
  live_rings_t *watched = owner;

  watched->ring_ends += 1;
  watched->ended_ring = index;
  watched->end_status = status;
}

static void ring_skipped(void *owner, size_t index) {
  live_rings_t *watched = owner;

  watched->skips[index] += 1;
}

static void end(void *owner, size_t index, int status) {
  live_rings_t *watched = owner;

  watched->ends += 1;
  watched->ended_ring = index;
  watched->end_status = status;
}

static void close_by_walk(void *owner) {
  live_rings_t *watched = owner;

  live_rings_close(watched);
}

static void closed(void *owner) {
  live_rings_t *watched = owner;

  watched->closed += 1;
  uvperf__teardown_let_go(&watched->teardown);
}

static void release(void *owner) {
  live_rings_t *watched = owner;

  uvperf__watch_free(watched->watch);
}

void live_rings_close(live_rings_t *watched) {
  uvperf__watch_close(watched->watch);
  uvperf__teardown_end(&watched->teardown);
}

static const uvperf__watch_ops_t by_ring = {
    .drain = drain,
    .slice_end = slice_end,
    .iteration_end = iteration_end,
    .ring_skipped = ring_skipped,
    .ring_end = ring_end,
    .end = end,
    .close = close_by_walk,
};

static const uvperf__watch_ops_t together = {
    .drain_all = drain_all,
    .slice_end = slice_end,
    .iteration_end = iteration_end,
    .ring_skipped = ring_skipped,
    .ring_end = ring_end,
    .end = end,
    .close = close_by_walk,
};

static live_rings_t *make(uv_loop_t *loop, const uvperf__watch_ops_t *ops) {
  live_rings_t *watched = calloc(1, sizeof(*watched));

  assert_non_null(watched);
  watched->loop = loop;
  uvperf__teardown_init(&watched->teardown, loop, closed, release, NULL,
                        watched);
  assert_int_equal(
      uvperf__watch_new(&watched->watch, &watched->teardown, ops, watched), 0);
  return watched;
}

live_rings_t *live_rings_make(uv_loop_t *loop) {
  return make(loop, &by_ring);
}

live_rings_t *live_rings_make_together(uv_loop_t *loop) {
  return make(loop, &together);
}

void live_rings_unmake(live_rings_t *watched) {
  size_t i;

  live_rings_close(watched);
  for (i = 0; i < 100 && !watched->closed; i++)
    uv_run(watched->loop, UV_RUN_NOWAIT);
  assert_int_equal(watched->closed, 1);
  for (i = 0; i < watched->nr; i++) {
    uvperf__ring_unmap(&watched->rings[i]);
    uvperf__sys_close(watched->fds[i]);
  }
  free(watched);
}

void live_rings_start(live_rings_t *watched) {
  assert_int_equal(uvperf__watch_start(watched->watch, &live_rings_plain), 0);
}

int live_rings_open(pid_t pid, int cpu) {
  struct perf_event_attr attr;
  int fd;

  live_comm_attr(&attr);
  fd = uvperf__sys_open(&attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
  if (fd < 0)
    fail_msg("perf_event_open: %d", fd);
  return fd;
}

void live_rings_add(live_rings_t *watched, int fd, const int *fds,
                    size_t nr_fds) {
  size_t index = watched->nr++;

  watched->fds[index] = fd;
  assert_int_equal(
      uvperf__ring_map(&watched->rings[index], fd, uvperf__ring_round(1), 0),
      0);
  assert_int_equal(
      uvperf__watch_add(watched->watch, &watched->rings[index], fds, nr_fds),
      0);
}

void live_rings_add_own(live_rings_t *watched, size_t nr) {
  size_t i;

  for (i = 0; i < nr; i++)
    live_rings_add(watched, live_rings_open(0, -1), &watched->fds[watched->nr],
                   1);
}

void live_rings_start_registered(live_rings_t *watched) {
  live_rings_start(watched);
  live_run_ms(watched->loop, 20);
  watched->iterations = watched->drains_all = 0;
}

void live_rings_add_unwoken(live_rings_t *watched) {
  struct perf_event_attr attr;
  int fd;

  live_comm_attr(&attr);
  uvperf_attr_set_wakeup_bytes(&attr, 2048);
  fd = uvperf__sys_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  live_rings_add(watched, fd, &fd, 1);
}

void live_rings_comm(live_rings_t *watched, uint64_t nr) {
  live_comm(&watched->next, nr);
}

void live_rings_run_row(void **state) {
  uv_loop_t *loop = state[0];
  const live_rings_row_t *row = state[1];
  live_rings_t *watched;

  support_need_own_events(row->name);
  if (row->how & LIVE_RINGS_TOGETHER)
    watched = live_rings_make_together(loop);
  else
    watched = live_rings_make(loop);
  live_rings_add_own(watched, row->nr);
  if (row->how & LIVE_RINGS_REGISTERED)
    live_rings_start_registered(watched);
  else if (row->how & LIVE_RINGS_STARTED)
    live_rings_start(watched);
  row->run(watched);
  live_rings_unmake(watched);
}

uint64_t live_rings_wakeups(const live_rings_t *watched) {
  uint64_t sum = 0;
  size_t i;

  for (i = 0; i < uvperf__watch_nr_rings(watched->watch); i++)
    sum += uvperf__watch_ring_wakeups(watched->watch, i);
  return sum;
}
