/* SPDX-License-Identifier: MIT */
/* Live: the end of each handle in the hardest cases: closed inside a flush or
 * snapshot whose callback then runs the loop, and closed after other parts of
 * the program have closed its inner handles. Handles and loops are allocated
 * and freed as soon as that is allowed, so that any later use is found. */
#include "live_bpf.h"
#include "live_bpf_reader.h"
#include "live_stream.h"

#include <stdlib.h>
#include <sys/mman.h>

#include <linux/bpf.h>

#include "fake_kernel.h"

/* How a handle delivers outside of a run of the loop. */
enum {
  EVENT_FLUSH,
  EVENT_SNAPSHOT,
  SET_FLUSH,
  SET_FLUSH_BY_TIME,
  SET_SNAPSHOT,
  SET_SNAPSHOT_BY_TIME,
  READER_FLUSH,
  READER_SNAPSHOT,
  NR_WAYS
};

typedef struct subject_s subject_t;
struct subject_s {
  int way;
  uv_loop_t *loop;
  /* One of these, on the heap; NULL once it is freed. */
  uvperf_event_t *event;
  uvperf_set_t *set;
  uvperf_bpf_reader_t *reader;
  live_bpf_reader_t source; /* the reader's map, and who writes into it */
  int callbacks;
  int closed;
  void (*in_callback)(subject_t *subject);
  subject_t *other;
};

/* -- the three handles ---------------------------------------------------- */

static void called(subject_t *subject) {
  subject->callbacks += 1;
  if (subject->in_callback != NULL)
    subject->in_callback(subject);
}

static void on_event(uvperf_handle_t *handle, int status,
                     const uvperf_record_t *record) {
  (void)status;
  (void)record;
  called(handle->data);
}

static void on_set(uvperf_handle_t *handle, int status,
                   const uvperf_record_t *record) {
  (void)status;
  (void)record;
  called(handle->data);
}

static void on_reader(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *sample) {
  (void)status;
  (void)sample;
  called(handle->data);
}

static void event_closed(uvperf_handle_t *handle) {
  uvperf_event_t *event = uvperf_handle_event(handle);

  subject_t *subject = handle->data;

  subject->closed += 1;
  subject->event = NULL;
  free(event);
}

static void set_closed(uvperf_handle_t *handle) {
  uvperf_set_t *set = uvperf_handle_set(handle);

  subject_t *subject = handle->data;

  subject->closed += 1;
  subject->set = NULL;
  free(set);
}

static void reader_closed(uvperf_handle_t *handle) {
  uvperf_bpf_reader_t *reader = uvperf_handle_bpf_reader(handle);

  subject_t *subject = handle->data;

  subject->closed += 1;
  subject->reader = NULL;
  free(reader);
}

static void init_event(subject_t *subject) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr;

  live_comm_attr(&attr);
  if (subject->way == EVENT_SNAPSHOT) {
    attr.watermark = 0;
    attr.wakeup_watermark = 0;
    attr.write_backward = 1;
  }
  options.ring_bytes = 64 * 1024;
  subject->event = malloc(sizeof(*subject->event));
  assert_non_null(subject->event);
  subject->event->handle.data = subject;
  assert_int_equal(
      uvperf_event_init(subject->loop, subject->event, &attr, &options, NULL),
      0);
}

static void init_set(subject_t *subject) {
  live_plan_t plan;

  live_stream_plan_own(&plan);
  plan.options.ring_bytes = 64 * 1024;
  if (subject->way == SET_FLUSH_BY_TIME || subject->way == SET_SNAPSHOT_BY_TIME)
    live_stream_plan_mode(&plan, 1);
  if (subject->way == SET_SNAPSHOT || subject->way == SET_SNAPSHOT_BY_TIME) {
    plan.options.flags |= UVPERF_SET_OVERWRITE;
    plan.options.wakeup_bytes = 0;
  }
  subject->set = malloc(sizeof(*subject->set));
  assert_non_null(subject->set);
  subject->set->handle.data = subject;
  assert_int_equal(
      uvperf_set_init(subject->loop, subject->set, &plan.options, NULL), 0);
}

static void init_reader(const char *test, subject_t *subject) {
  uvperf_bpf_reader_options_t options = live_bpf_reader_options();

  if (subject->way == READER_SNAPSHOT)
    options.flags = UVPERF_BPF_READER_OVERWRITE;
  live_bpf_reader_make(test, &subject->source, 0);
  subject->reader = malloc(sizeof(*subject->reader));
  assert_non_null(subject->reader);
  subject->reader->handle.data = subject;
  assert_int_equal(uvperf_bpf_reader_init(subject->loop, subject->reader,
                                          subject->source.array, &options,
                                          NULL),
                   0);
}

static void init(const char *test, subject_t *subject, uv_loop_t *loop,
                 int way) {
  memset(subject, 0, sizeof(*subject));
  subject->way = way;
  subject->loop = loop;
  subject->source.array = -1;
  if (way <= EVENT_SNAPSHOT)
    init_event(subject);
  else if (way <= SET_SNAPSHOT_BY_TIME)
    init_set(subject);
  else
    init_reader(test, subject);
}

/* Starts it, and has some records written. */
static void start(subject_t *subject) {
  uint64_t next = 0;
  int rc;

  if (subject->event != NULL)
    rc = uvperf_start(&subject->event->handle, NULL, on_event, NULL);
  else if (subject->set != NULL)
    rc = uvperf_start(&subject->set->handle, NULL, on_set, NULL);
  else
    rc = uvperf_start(&subject->reader->handle, NULL, on_reader, NULL);
  assert_int_equal(rc, 0);
  if (subject->reader != NULL)
    live_bpf_reader_send_all(&subject->source, 0, 5);
  else
    live_comm(&next, 5);
}

static int deliver(subject_t *subject) {
  switch (subject->way) {
    case EVENT_FLUSH:
      return uvperf_flush(&subject->event->handle);
    case EVENT_SNAPSHOT:
      return uvperf_snapshot(&subject->event->handle, 0, NULL, NULL);
    case SET_FLUSH:
    case SET_FLUSH_BY_TIME:
      return uvperf_flush(&subject->set->handle);
    case SET_SNAPSHOT:
    case SET_SNAPSHOT_BY_TIME:
      return uvperf_snapshot(&subject->set->handle, 0, NULL, NULL);
    case READER_FLUSH:
      return uvperf_flush(&subject->reader->handle);
    default:
      return uvperf_snapshot(&subject->reader->handle, 0, NULL, NULL);
  }
}

static void close_subject(subject_t *subject) {
  if (subject->event != NULL)
    uvperf_close(&subject->event->handle, event_closed);
  else if (subject->set != NULL)
    uvperf_close(&subject->set->handle, set_closed);
  else
    uvperf_close(&subject->reader->handle, reader_closed);
}

/* -- the loop ------------------------------------------------------------- */

/* In pages that are unmapped with it, because a sanitizer does not see what
 * libuv itself reads. */
static uv_loop_t *make_loop(void) {
  uv_loop_t *loop = mmap(NULL, sizeof(*loop), PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  assert_ptr_not_equal(loop, MAP_FAILED);
  assert_int_equal(uv_loop_init(loop), 0);
  return loop;
}

static void free_loop(uv_loop_t *loop) {
  assert_int_equal(uv_run(loop, UV_RUN_DEFAULT), 0);
  assert_int_equal(uv_loop_close(loop), 0);
  munmap(loop, sizeof(*loop));
}

/* libuv keeps fds of its own from the first loop on. */
static int make_first_loop(void **state) {
  (void)state;
  free_loop(make_loop());
  return 0;
}

typedef struct before_s {
  size_t fds;
  size_t rings;
} before_t;

static void look(const char *test, before_t *before) {
  size_t bytes;

  support_need_own_events(test);
  live_bpf_need(test, BPF_PROG_TYPE_SCHED_CLS);
  before->fds = support_count_fds();
  before->rings = support_count_rings(&bytes);
}

/* Nothing is left of the handle but the reader's map. */
static void finish(subject_t *subject, const before_t *before) {
  before_t now;
  size_t bytes;

  live_bpf_reader_unmake(&subject->source);
  now.fds = support_count_fds();
  now.rings = support_count_rings(&bytes);
  if (subject->closed != 1 || now.fds != before->fds ||
      now.rings != before->rings)
    fail_msg("way %d: closed %d times, %zu fds and %zu rings more",
             subject->way, subject->closed, now.fds - before->fds,
             now.rings - before->rings);
}

static void uv_close_all(uv_handle_t *handle, void *arg) {
  (void)arg;
  if (!uv_is_closing(handle))
    uv_close(handle, NULL);
}

static void walk_close_all(uv_handle_t *handle, void *arg) {
  if (!uvperf_walk_close(handle))
    uv_close_all(handle, arg);
}

/* -- closed inside a delivery, which then runs the loop -------------------- */

static void close_and_run(subject_t *subject) {
  close_subject(subject);
  free_loop(subject->loop);
  assert_int_equal(subject->closed, 1);
}

static void handle_closed_in_its_delivery_which_runs_the_loop(void **state) {
  subject_t subject;
  before_t before;
  int way;

  (void)state;
  for (way = 0; way < NR_WAYS; way++) {
    look(__func__, &before);
    init(__func__, &subject, make_loop(), way);
    start(&subject);
    subject.in_callback = close_and_run;
    assert_int_equal(deliver(&subject), 0);
    assert_int_equal(subject.callbacks, 1);
    finish(&subject, &before);
  }
  fake_assert_clean();
}

static void walk_and_run(subject_t *subject) {
  uv_walk(subject->loop, walk_close_all, NULL);
  free_loop(subject->loop);
  assert_int_equal(subject->closed, 0);
  close_subject(subject);
  assert_int_equal(subject->closed, 1);
}

static void
handle_walk_closed_in_its_delivery_which_runs_the_loop(void **state) {
  subject_t subject;
  before_t before;
  int way;

  (void)state;
  for (way = 0; way < NR_WAYS; way++) {
    look(__func__, &before);
    init(__func__, &subject, make_loop(), way);
    start(&subject);
    subject.in_callback = walk_and_run;
    assert_int_equal(deliver(&subject), 0);
    assert_int_equal(subject.callbacks, 1);
    finish(&subject, &before);
  }
  fake_assert_clean();
}

static void deliver_other(subject_t *subject) {
  assert_int_equal(deliver(subject->other), 0);
}

static void close_both_and_run(subject_t *subject) {
  close_subject(subject->other);
  close_and_run(subject);
  assert_int_equal(subject->other->closed, 1);
}

static void deliver_inside(const char *test, int outer_way, int inner_way) {
  subject_t outer, inner;
  before_t before;

  look(test, &before);
  init(test, &outer, make_loop(), outer_way);
  init(test, &inner, outer.loop, inner_way);
  outer.other = &inner;
  inner.other = &outer;
  outer.in_callback = deliver_other;
  inner.in_callback = close_both_and_run;
  start(&outer);
  start(&inner);
  assert_int_equal(deliver(&outer), 0);
  assert_int_equal(outer.callbacks, 1);
  assert_int_equal(inner.callbacks, 1);
  live_bpf_reader_unmake(&outer.source);
  finish(&inner, &before);
}

static void handles_closed_in_a_delivery_inside_a_delivery_which_runs_the_loop(
    void **state) {
  int way;

  (void)state;
  for (way = 0; way < NR_WAYS; way++) {
    deliver_inside(__func__, way, way);
    deliver_inside(__func__, way, (way + 3) % NR_WAYS);
  }
  fake_assert_clean();
}

static void close_at_tick(uvperf_set_t *set, int status,
                          const uvperf_reading_t *reading,
                          const uvperf_reading_t *delta) {
  (void)status;
  (void)reading;
  (void)delta;
  close_subject(set->handle.data);
}

static void read_and_run(subject_t *subject) {
  assert_int_equal(uvperf_set_read_start(subject->set, 1, close_at_tick, NULL),
                   0);
  free_loop(subject->loop);
  assert_int_equal(subject->closed, 1);
}

static void set_closed_by_a_tick_inside_its_flush(void **state) {
  subject_t subject;
  before_t before;
  int way;

  (void)state;
  for (way = SET_FLUSH; way <= SET_SNAPSHOT_BY_TIME; way++) {
    look(__func__, &before);
    init(__func__, &subject, make_loop(), way);
    start(&subject);
    subject.in_callback = read_and_run;
    assert_int_equal(deliver(&subject), 0);
    assert_int_equal(subject.callbacks, 1);
    finish(&subject, &before);
  }
  fake_assert_clean();
}

/* -- inner handles closed by others ---------------------------------------- */

static void ask_for_statistics(const subject_t *subject) {
  uvperf_ring_info_t ring;
  uvperf_stats_t stats;

  if (subject->event != NULL)
    uvperf_stats(&subject->event->handle, &stats);
  if (subject->set != NULL) {
    uvperf_stats(&subject->set->handle, &stats);
    assert_int_equal(uvperf_ring(&subject->set->handle, 0, &ring), 0);
  }
  if (subject->reader != NULL) {
    uvperf_stats(&subject->reader->handle, &stats);
    assert_int_equal(uvperf_ring(&subject->reader->handle, 0, &ring), 0);
  }
}

/* With and without a start. The counts can still be read. */
static void
handle_closed_after_the_loop_is_closed_calls_back_at_once(void **state) {
  subject_t subject;
  before_t before;
  int way;

  (void)state;
  for (way = 0; way < 2 * NR_WAYS; way++) {
    look(__func__, &before);
    init(__func__, &subject, make_loop(), way / 2);
    if (way % 2 == 1)
      start(&subject);
    uv_walk(subject.loop, uv_close_all, NULL);
    free_loop(subject.loop);
    assert_int_equal(subject.closed, 0);
    ask_for_statistics(&subject);
    close_subject(&subject);
    finish(&subject, &before);
  }
  fake_assert_clean();
}

static void close_at_once(subject_t *subject) {
  close_subject(subject);
  assert_int_equal(subject->closed, 1);
}

static void
handle_closed_in_its_delivery_after_the_loop_is_closed(void **state) {
  subject_t subject;
  before_t before;
  int way;

  (void)state;
  for (way = 0; way < NR_WAYS; way++) {
    look(__func__, &before);
    init(__func__, &subject, make_loop(), way);
    start(&subject);
    uv_walk(subject.loop, uv_close_all, NULL);
    free_loop(subject.loop);
    subject.in_callback = close_at_once;
    assert_int_equal(deliver(&subject), 0);
    assert_int_equal(subject.callbacks, 1);
    finish(&subject, &before);
  }
  fake_assert_clean();
}

static void uv_close_nth(uv_handle_t *handle, void *arg) {
  int *left = arg;

  if (uv_is_closing(handle))
    return;
  if (*left == 0)
    uv_close(handle, NULL);
  *left -= 1;
}

/* The n-th, if n is not -1, is closed by others in a run of the loop before the
 * rest is, by us or by others. Whether there is an n-th. */
static int close_nth_first(const char *test, int way, int n, int others_too) {
  subject_t subject;
  before_t before;
  int left = n;

  look(test, &before);
  init(test, &subject, make_loop(), way);
  start(&subject);
  uv_walk(subject.loop, uv_close_nth, &left);
  uv_run(subject.loop, UV_RUN_NOWAIT);
  if (others_too)
    uv_walk(subject.loop, uv_close_all, NULL);
  close_subject(&subject);
  assert_int_equal(subject.closed, 0);
  free_loop(subject.loop);
  finish(&subject, &before);
  return left < 0;
}

static void handle_that_libuv_still_has_is_closed_on_the_loop(void **state) {
  int way, n;

  (void)state;
  for (way = 0; way < NR_WAYS; way++)
    for (n = -1; close_nth_first(__func__, way, n, 0); n++)
      assert_int_equal(close_nth_first(__func__, way, n, 1), 1);
  fake_assert_clean();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(handle_closed_in_its_delivery_which_runs_the_loop),
      cmocka_unit_test(handle_walk_closed_in_its_delivery_which_runs_the_loop),
      cmocka_unit_test(
          handles_closed_in_a_delivery_inside_a_delivery_which_runs_the_loop),
      cmocka_unit_test(set_closed_by_a_tick_inside_its_flush),
      cmocka_unit_test(
          handle_closed_after_the_loop_is_closed_calls_back_at_once),
      cmocka_unit_test(handle_closed_in_its_delivery_after_the_loop_is_closed),
      cmocka_unit_test(handle_that_libuv_still_has_is_closed_on_the_loop),
  };

  return cmocka_run_group_tests(tests, make_first_loop, NULL);
}
