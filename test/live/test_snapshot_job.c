/* SPDX-License-Identifier: MIT */
/* Live: snapshots of each handle on libuv's thread pool, which has one thread
 * here, while the loop continues, and the handle is closed or forked. */
#include "busy_pool.h"
#include "live_bpf.h"
#include "live_bpf_reader.h"
#include "live_stream.h"

#include <stdlib.h>
#include <unistd.h>

#include <linux/bpf.h>

#define RING_BYTES ((size_t)64 * 1024) /* a snapshot of it waits for writers */
#define RECORDS    5
#define CLOSES     24

enum {
  EVENT,
  SET,
  SET_BY_TIME,
  READER,
  NR_WAYS
};

/* One of the handles. */
typedef struct subject_s {
  int way;
  live_collector_t event;
  live_stream_t set;
  live_bpf_reader_t reader;
  uint64_t next;
} subject_t;

/* For the last snapshot that was begun. */
static uint64_t nr_done;
static int last_status;
static int closed;

/* -- the handles ----------------------------------------------------------- */

static void note_done(int status) {
  assert_int_equal(closed, 0);
  nr_done += 1;
  last_status = status;
}

static void event_done(uvperf_handle_t *handle, int status) {
  (void)handle;
  note_done(status);
}

static void set_done(uvperf_handle_t *handle, int status) {
  (void)handle;
  note_done(status);
}

static void reader_done(uvperf_handle_t *handle, int status) {
  (void)handle;
  note_done(status);
}

static void event_closed(uvperf_handle_t *handle) {
  (void)handle;
  closed += 1;
}

static void set_closed(uvperf_handle_t *handle) {
  (void)handle;
  closed += 1;
}

static void reader_closed(uvperf_handle_t *handle) {
  (void)handle;
  closed += 1;
}

static void begin_event(uv_loop_t *loop, live_collector_t *event) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr;

  live_comm_attr(&attr);
  uvperf_attr_set_wakeup_events(&attr, 0);
  attr.write_backward = 1;
  options.ring_bytes = RING_BYTES;
  live_init(loop, event, &attr, &options);
  live_start(event, NULL);
}

static void begin_set(uv_loop_t *loop, live_stream_t *set, int is_by_time) {
  live_plan_t plan;

  live_stream_plan_own(&plan);
  live_stream_plan_mode(&plan, (size_t)is_by_time);
  plan.options.ring_bytes = RING_BYTES;
  plan.options.flags |= UVPERF_SET_OVERWRITE;
  plan.options.wakeup_bytes = 0;
  live_stream_begin(loop, set, &plan);
}

static void begin_reader(const char *test, uv_loop_t *loop,
                         live_bpf_reader_t *reader) {
  uvperf_bpf_reader_options_t options = live_bpf_reader_options();

  options.flags = UVPERF_BPF_READER_OVERWRITE;
  live_bpf_reader_make(test, reader, 0);
  live_bpf_reader_open(loop, reader, &options);
  live_bpf_reader_start(reader, NULL);
}

static void need_all(const char *test) {
  support_need_own_events(test);
  live_bpf_need(test, BPF_PROG_TYPE_SCHED_CLS);
}

static void begin(const char *test, uv_loop_t *loop, subject_t *subject,
                  int way) {
  memset(subject, 0, sizeof(*subject));
  subject->way = way;
  nr_done = 0;
  closed = 0;
  if (way == EVENT)
    begin_event(loop, &subject->event);
  else if (way == READER)
    begin_reader(test, loop, &subject->reader);
  else
    begin_set(loop, &subject->set, way == SET_BY_TIME);
}

static void write_records(subject_t *subject) {
  if (subject->way == READER)
    live_bpf_reader_send_all(&subject->reader, 0, RECORDS);
  else
    live_comm(&subject->next, RECORDS);
}

static uint64_t records_of(const subject_t *subject) {
  if (subject->way == EVENT)
    return subject->event.comms;
  if (subject->way == READER)
    return subject->reader.samples;
  return subject->set.comms;
}

static int snap(subject_t *subject) {
  const uint32_t flags = UVPERF_SNAPSHOT_OLDEST_FIRST;

  if (subject->way == EVENT)
    return uvperf_snapshot(&subject->event.event.handle, flags, event_done,
                           NULL);
  if (subject->way == READER)
    return uvperf_snapshot(&subject->reader.reader.handle, flags, reader_done,
                           NULL);
  return uvperf_snapshot(&subject->set.live.set.handle, flags, set_done, NULL);
}

static int stop(subject_t *subject) {
  if (subject->way == EVENT)
    return uvperf_stop(&subject->event.event.handle);
  if (subject->way == READER)
    return uvperf_stop(&subject->reader.reader.handle);
  return uvperf_stop(&subject->set.live.set.handle);
}

static void close_it(subject_t *subject) {
  if (subject->way == EVENT)
    uvperf_close(&subject->event.event.handle, event_closed);
  else if (subject->way == READER)
    uvperf_close(&subject->reader.reader.handle, reader_closed);
  else
    uvperf_close(&subject->set.live.set.handle, set_closed);
}

static void run_until_closed(uv_loop_t *loop, subject_t *subject) {
  while (uv_run(loop, UV_RUN_DEFAULT) != 0)
    continue;
  assert_int_equal(closed, 1);
  if (subject->way == READER)
    live_bpf_reader_unmake(&subject->reader);
}

static void end(uv_loop_t *loop, subject_t *subject) {
  close_it(subject);
  run_until_closed(loop, subject);
}

/* -- a pool that is busy --------------------------------------------------- */

static busy_pool_t busy;

static void hold_pool(uv_loop_t *loop) {
  busy_pool_begin(&busy, loop);
}

/* -- the tests ------------------------------------------------------------- */

static void snapshot_started_has_what_is_new(void **state) {
  uint64_t before;
  subject_t subject;
  int way, i;

  need_all(__func__);
  for (way = 0; way < NR_WAYS; way++) {
    begin(__func__, *state, &subject, way);
    for (i = 1; i <= 3; i++) {
      write_records(&subject);
      before = records_of(&subject);
      assert_int_equal(snap(&subject), 0);
      assert_int_equal(records_of(&subject), before);
      assert_true(live_run_until(*state, &nr_done, (uint64_t)i));
      assert_int_equal(last_status, 0);
      assert_int_equal(records_of(&subject), before + RECORDS);
    }
    assert_int_equal(subject.event.out_of_order + subject.set.out_of_order +
                         subject.reader.strange,
                     0);
    end(*state, &subject);
  }
}

static void loop_goes_on_while_a_snapshot_waits_for_the_pool(void **state) {
  subject_t subject;
  int way;

  need_all(__func__);
  for (way = 0; way < NR_WAYS; way++) {
    begin(__func__, *state, &subject, way);
    hold_pool(*state);
    assert_int_equal(snap(&subject), 0);
    write_records(&subject); /* which are in it too */
    live_run_ms(*state, 5);
    assert_int_equal(nr_done, 0);
    assert_int_equal(snap(&subject), UV_EBUSY);
    busy_pool_end(&busy);
    assert_true(live_run_until(*state, &nr_done, 1));
    assert_int_equal(records_of(&subject), RECORDS);
    /* A stopped snapshot delivers nothing, and loses nothing. */
    hold_pool(*state);
    write_records(&subject);
    assert_int_equal(snap(&subject), 0);
    assert_int_equal(stop(&subject), 0);
    busy_pool_end(&busy);
    assert_true(live_run_until(*state, &nr_done, 2));
    assert_int_equal(last_status, UV_ECANCELED);
    assert_int_equal(records_of(&subject), RECORDS);
    assert_int_equal(snap(&subject), 0);
    assert_true(live_run_until(*state, &nr_done, 3));
    assert_int_equal(last_status, 0);
    assert_int_equal(records_of(&subject), 2 * RECORDS);
    end(*state, &subject);
  }
}

/* It takes the pool some milliseconds: closed before, while and after. */
static void handle_closed_at_any_moment_of_its_snapshot_is_clean(void **state) {
  size_t fds = support_count_fds();
  subject_t subject;
  size_t bytes;
  int way, i, turns;

  need_all(__func__);
  for (way = 0; way < NR_WAYS; way++)
    for (i = 0; i < CLOSES; i++) {
      begin(__func__, *state, &subject, way);
      write_records(&subject);
      assert_int_equal(snap(&subject), 0);
      usleep((useconds_t)(i / 2 * 1500));
      for (turns = i % 2; turns > 0; turns--)
        uv_run(*state, UV_RUN_NOWAIT);
      close_it(&subject);
      run_until_closed(*state, &subject);
      assert_int_equal(nr_done, 1);
      assert_true(last_status == 0 || last_status == UV_ECANCELED);
      assert_int_equal(records_of(&subject), last_status == 0 ? RECORDS : 0);
    }
  assert_int_equal(support_count_fds(), fds);
  assert_int_equal(support_count_rings(&bytes), 0);
}

static void walk_close(uv_handle_t *handle, void *arg) {
  (void)arg;
  if (!uvperf_walk_close(handle) && !uv_is_closing(handle))
    uv_close(handle, NULL);
}

static void uv_close_all(uv_handle_t *handle, void *arg) {
  (void)arg;
  if (!uv_is_closing(handle))
    uv_close(handle, NULL);
}

static void handles_closed_by_a_walk_wait_for_the_pool(void **state) {
  uv_walk_cb const walks[] = {walk_close, uv_close_all};
  subject_t subject;
  size_t bytes;
  int way, walk;

  need_all(__func__);
  for (way = 0; way < NR_WAYS; way++)
    for (walk = 0; walk < 2; walk++) {
      begin(__func__, *state, &subject, way);
      hold_pool(*state);
      assert_int_equal(snap(&subject), 0);
      uv_walk(*state, walks[walk], NULL);
      live_run_ms(*state, 2);
      close_it(&subject);
      live_run_ms(*state, 2);
      assert_int_equal(closed + (int)nr_done, 0);
      assert_true(support_count_rings(&bytes) > 0);
      busy_pool_end(&busy);
      run_until_closed(*state, &subject);
      assert_int_equal(nr_done, 1);
      assert_int_equal(last_status, UV_ECANCELED);
      assert_int_equal(support_count_rings(&bytes), 0);
    }
}

/* The parent's request never ends in it. */
static int close_in_child(void *arg) {
  subject_t *subject = arg;
  uv_loop_t *loop = busy.work.loop;
  int i;

  if (uv_loop_fork(loop) != 0 || snap(subject) != UV_EPERM)
    return 1;
  close_it(subject);
  for (i = 0; i < 3; i++)
    uv_run(loop, UV_RUN_NOWAIT);
  if (closed != 1 || nr_done != 1 || last_status != UV_ECANCELED)
    return 2;
  return uv_loop_close(loop) == UV_EBUSY ? 0 : 3;
}

static void child_forked_while_a_snapshot_is_taken_closes(void **state) {
  subject_t subject;
  int way;

  need_all(__func__);
  for (way = 0; way < NR_WAYS; way++) {
    begin(__func__, *state, &subject, way);
    hold_pool(*state);
    write_records(&subject);
    assert_int_equal(snap(&subject), 0);
    assert_int_equal(support_wait(support_fork(close_in_child, &subject)), 0);
    busy_pool_end(&busy);
    assert_true(live_run_until(*state, &nr_done, 1));
    assert_int_equal(last_status, 0);
    assert_int_equal(records_of(&subject), RECORDS);
    end(*state, &subject);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(snapshot_started_has_what_is_new),
      support_loop_test(loop_goes_on_while_a_snapshot_waits_for_the_pool),
      support_loop_test(handle_closed_at_any_moment_of_its_snapshot_is_clean),
      support_loop_test(handles_closed_by_a_walk_wait_for_the_pool),
      support_loop_test(child_forked_while_a_snapshot_is_taken_closes),
  };

  setenv("UV_THREADPOOL_SIZE", "1", 1);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
