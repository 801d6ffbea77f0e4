/* SPDX-License-Identifier: MIT */
/* Live: counts of one event and of groups, by uvperf_event_read, for a known
 * amount of work. Targets (a task, a CPU, a cgroup) are in
 * test_event_read_target.c. */
#include "live.h"

#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

static void count_touches(struct perf_event_attr *attr) {
  live_touch_attr(attr, 0);
  uvperf_attr_set_period(attr, 0);
}

static void count_writes(struct perf_event_attr *attr) {
  live_write_attr(attr, 0);
  uvperf_attr_set_period(attr, 0);
}

static void count_calls(struct perf_event_attr *attr) {
  live_called_attr(attr, 0);
  uvperf_attr_set_period(attr, 0);
}

static uint64_t read_value(live_collector_t *collector) {
  uvperf_count_t count;

  assert_int_equal(uvperf_event_read(&collector->event, &count, NULL), 0);
  return count.value;
}

/* -- one event ------------------------------------------------------------ */

static void count_of_page_faults_is_the_pages_touched(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;
  char *region;

  support_need_own_events(__func__);
  region = live_region();
  count_touches(&attr);
  live_begin(*state, &collector, &attr, NULL, NULL, NULL);
  /* Nothing else is touched: code may be on a new page. */
  live_touch(region);
  assert_int_equal(uvperf_disable(&collector.event.handle, 0, NULL), 0);
  assert_int_equal(read_value(&collector), LIVE_PAGES);
  assert_int_equal(support_ring_bytes(&collector.event.handle), 0);
  live_close(&collector);
  live_region_free(region);
}

static void count_goes_on_only_while_enabled(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;

  support_need_breakpoints(__func__);
  count_writes(&attr);
  live_init(*state, &collector, &attr, NULL);
  live_write(3);
  assert_int_equal(read_value(&collector), 0);
  assert_int_equal(uvperf_enable(&collector.event.handle, 0, NULL), 0);
  live_write(5);
  assert_int_equal(read_value(&collector), 5);
  assert_int_equal(uvperf_disable(&collector.event.handle, 0, NULL), 0);
  live_write(7);
  assert_int_equal(read_value(&collector), 5);
  live_start(&collector, NULL); /* does not enable it again */
  live_write(11);
  assert_int_equal(read_value(&collector), 5);
  assert_int_equal(uvperf_enable(&collector.event.handle, 0, NULL), 0);
  assert_int_equal(uvperf_stop(&collector.event.handle), 0);
  live_write(13);
  assert_int_equal(read_value(&collector), 18);
  live_close(&collector);
}

static void count_reset_sets_the_value_to_0_and_keeps_the_times(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;
  uvperf_count_t before;
  uvperf_count_t after;

  support_need_breakpoints(__func__);
  count_writes(&attr);
  attr.read_format =
      PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  live_begin(*state, &collector, &attr, NULL, NULL, NULL);
  live_write(5);
  assert_int_equal(uvperf_event_read(&collector.event, &before, NULL), 0);
  assert_int_equal(before.value, 5);
  assert_int_equal(uvperf_reset(&collector.event.handle, 0, NULL), 0);
  assert_int_equal(read_value(&collector), 0);
  live_write(2);
  assert_int_equal(uvperf_event_read(&collector.event, &after, NULL), 0);
  assert_int_equal(after.value, 2);
  assert_true(after.time_enabled > before.time_enabled);
  assert_true(after.time_running > before.time_running);
  live_close(&collector);
}

/* The task's clock and the wall clock agree. */
static void count_of_task_clock_is_the_time_it_ran(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;
  uint64_t before;
  uint64_t wall;
  uint64_t value;

  support_need_own_events(__func__);
  uvperf_attr_software(&attr, PERF_COUNT_SW_TASK_CLOCK);
  attr.exclude_kernel = 1;
  attr.exclude_hv = 1;
  before = live_now();
  live_begin(*state, &collector, &attr, NULL, NULL, NULL);
  live_write(100000);
  value = read_value(&collector);
  wall = live_now() - before;
  assert_in_range(value, 1000, wall);
  assert_int_equal(uvperf_disable(&collector.event.handle, 0, NULL), 0);
  value = read_value(&collector);
  live_write(100000);
  assert_int_equal(read_value(&collector), value);
  live_close(&collector);
}

static void count_with_a_period_but_no_ring_counts(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  live_collector_t collector;
  struct perf_event_attr attr;

  support_need_breakpoints(__func__);
  live_write_attr(&attr, PERF_SAMPLE_IP);
  options.flags = UVPERF_EVENT_NO_RING;
  live_init(*state, &collector, &attr, &options);
  assert_int_equal(support_ring_bytes(&collector.event.handle), 0);
  assert_int_equal(uvperf_start(&collector.event.handle, NULL, NULL, NULL), 0);
  live_write(6);
  assert_int_equal(read_value(&collector), 6);
  assert_int_equal(uvperf_is_active(&collector.event.handle), 0);
  live_close(&collector);
}

/* -- read_format ---------------------------------------------------------- */

static void assert_count(const uvperf_count_t *count, uint64_t format,
                         uint64_t id, uint64_t value) {
  int has_enabled = (format & PERF_FORMAT_TOTAL_TIME_ENABLED) != 0;
  int has_running = (format & PERF_FORMAT_TOTAL_TIME_RUNNING) != 0;

  if (format & PERF_FORMAT_GROUP)
    format |= PERF_FORMAT_ID;
  assert_int_equal(count->state, UVPERF_COUNT_COUNTING);
  assert_int_equal(count->flags,
                   has_enabled && has_running ? 0 : UVPERF_COUNT_UNSCALED);
  assert_int_equal(count->value, value);
  assert_int_equal(count->scaled, value);
  assert_int_equal(count->time_enabled != 0, has_enabled);
  assert_int_equal(count->time_running != 0, has_running);
  assert_true(!has_enabled || !has_running ||
              count->time_enabled == count->time_running);
  assert_true(count->id == (format & PERF_FORMAT_ID ? id : 0));
  assert_int_equal(count->lost, 0);
}

/* PERF_FORMAT_LOST came with Linux 6.0. Without it there are 16 formats. */
static uint64_t formats(uv_loop_t *loop) {
  struct perf_event_attr attr;
  uvperf_event_t event;
  int rc;

  count_writes(&attr);
  attr.read_format = UVPERF_FORMAT_LOST;
  rc = uvperf_event_init(loop, &event, &attr, NULL, NULL);
  if (rc == UV_EINVAL)
    return 16;
  assert_int_equal(rc, 0);
  uvperf_close(&event.handle, NULL);
  uv_run(loop, UV_RUN_DEFAULT);
  return 32;
}

static void count_of_each_read_format_has_what_was_asked(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;
  uvperf_count_t count;
  uint64_t format;
  uint64_t nr;
  uint64_t id;

  support_need_breakpoints(__func__);
  nr = formats(*state);
  for (format = 0; format < nr; format++) {
    count_writes(&attr);
    attr.read_format = format;
    live_begin(*state, &collector, &attr, NULL, NULL, NULL);
    live_write(format + 1);
    assert_int_equal(uvperf_event_id(&collector.event, &id), 0);
    memset(&count, 0xa5, sizeof(count));
    assert_int_equal(uvperf_event_read(&collector.event, &count, NULL), 0);
    assert_count(&count, format, id, format + 1);
    live_close(&collector);
  }
}

/* -- groups --------------------------------------------------------------- */

typedef struct group_s {
  live_collector_t calls; /* the leader */
  live_collector_t writes;
  live_collector_t touches;
} group_t;

static void open_sibling(group_t *group, live_collector_t *sibling,
                         struct perf_event_attr *attr, uint64_t format) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;

  attr->read_format = format;
  options.leader = &group->calls.event;
  live_init(group->calls.event.handle.loop, sibling, attr, &options);
  assert_int_equal(uvperf_enable(&sibling->event.handle, 0, NULL), 0);
}

static void open_group(uv_loop_t *loop, group_t *group, uint64_t format) {
  struct perf_event_attr attr;

  count_calls(&attr);
  attr.read_format = format;
  live_init(loop, &group->calls, &attr, NULL);
  count_writes(&attr);
  open_sibling(group, &group->writes, &attr, format);
  count_touches(&attr);
  open_sibling(group, &group->touches, &attr, format);
  assert_int_equal(uvperf_disable(&group->calls.event.handle, 0, NULL), 0);
  assert_int_equal(uvperf_enable(&group->calls.event.handle, 0, NULL), 0);
}

static void work_for_group(void) {
  char *region;

  region = live_region();
  live_called(1);
  live_called(2);
  live_write(5);
  live_touch(region);
  live_region_free(region);
}

static void assert_member(live_collector_t *member, uint64_t format,
                          uint64_t value) {
  uvperf_count_t count;
  uint64_t id;

  assert_int_equal(uvperf_event_id(&member->event, &id), 0);
  assert_int_equal(uvperf_event_read(&member->event, &count, NULL), 0);
  assert_count(&count, format, id, value);
}

/* live_region also touches the pages of a scratch region, and any other new
 * page, so the page faults have only a lower bound. */
static void count_of_a_group_finds_each_value_by_id(void **state) {
  uint64_t format;
  uint64_t nr;
  group_t group;

  support_need_breakpoints(__func__);
  nr = formats(*state);
  for (format = 0; format < nr; format++) {
    open_group(*state, &group, format);
    work_for_group();
    assert_member(&group.calls, format, 2);
    assert_member(&group.writes, format, 5);
    assert_in_range(read_value(&group.touches), 2 * LIVE_PAGES, 10000);
    live_close(&group.writes);
    /* The group that is read is smaller now. */
    assert_member(&group.calls, format, 2);
    live_close(&group.calls);
    live_close(&group.touches);
  }
}

static void count_of_all_of_a_group_is_read_at_once(void **state) {
  const uint64_t format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
  uvperf_count_t counts[3];
  uvperf_event_t *events[3];
  uint64_t ids[3];
  group_t group;
  size_t i;

  support_need_breakpoints(__func__);
  open_group(*state, &group, format);
  work_for_group();
  /* Not in the order of opening. */
  events[0] = &group.touches.event;
  events[1] = &group.calls.event;
  events[2] = &group.writes.event;
  for (i = 0; i < 3; i++)
    assert_int_equal(uvperf_event_id(events[i], &ids[i]), 0);
  assert_int_equal(uvperf_event_read_group(events, 3, counts, NULL), 0);
  assert_int_equal(counts[0].id, ids[0]);
  assert_in_range(counts[0].value, 2 * LIVE_PAGES, 10000);
  assert_count(&counts[1], format, ids[1], 2);
  assert_count(&counts[2], format, ids[2], 5);
  assert_int_equal(uvperf_event_read_group(events + 1, 1, counts, NULL), 0);
  assert_count(&counts[0], format, ids[1], 2);
  live_close(&group.touches);
  assert_int_equal(uvperf_event_read_group(events + 1, 2, counts, NULL), 0);
  assert_count(&counts[1], format, ids[2], 5);
  live_close(&group.calls);
  live_close(&group.writes);
}

static void count_of_a_sibling_outlives_its_leader(void **state) {
  uint64_t format = PERF_FORMAT_GROUP;
  group_t group;

  support_need_breakpoints(__func__);
  open_group(*state, &group, format);
  live_write(3);
  live_close(&group.calls);
  assert_member(&group.writes, format, 3);
  live_close(&group.writes);
  live_close(&group.touches);
}

/* RESET without PERF_IOC_FLAG_GROUP is of one event only. */
static void count_reset_of_a_leader_leaves_its_siblings(void **state) {
  group_t group;

  support_need_breakpoints(__func__);
  open_group(*state, &group, PERF_FORMAT_GROUP);
  live_write(3);
  live_called(0);
  assert_int_equal(uvperf_reset(&group.calls.event.handle, 0, NULL), 0);
  assert_int_equal(read_value(&group.calls), 0);
  assert_int_equal(read_value(&group.writes), 3);
  live_close(&group.writes);
  live_close(&group.touches);
  live_close(&group.calls);
}

/* -- another thread -------------------------------------------------------- */

typedef struct onlooker_s {
  int fd;
  atomic_int must_stop;
  atomic_int nr_reads;
  uint64_t value; /* the last */
  int is_wrong;   /* a read failed, or a value was less than the one before */
} onlooker_t;

/* Reads once more after the request to stop. */
static void look_on(void *arg) {
  onlooker_t *onlooker = arg;
  uint64_t value = 0;
  int must_stop;

  do {
    must_stop = atomic_load(&onlooker->must_stop);
    if (read(onlooker->fd, &value, sizeof(value)) != sizeof(value) ||
        value < onlooker->value)
      onlooker->is_wrong = 1;
    onlooker->value = value;
    atomic_fetch_add(&onlooker->nr_reads, 1);
  } while (!must_stop);
}

/* go-perf's ReadCount during ReadRecord. The thread may start late. */
static void count_is_read_by_a_thread_while_records_come(void **state) {
  onlooker_t onlooker = {.nr_reads = 0};
  live_collector_t collector;
  struct perf_event_attr attr;
  uv_thread_t thread;
  uint64_t i;

  support_need_breakpoints(__func__);
  live_write_attr(&attr, PERF_SAMPLE_IP);
  live_begin(*state, &collector, &attr, NULL, NULL, NULL);
  onlooker.fd = uvperf_event_fd(&collector.event);
  assert_int_equal(uv_thread_create(&thread, look_on, &onlooker), 0);
  for (i = 0; i < 200 || atomic_load(&onlooker.nr_reads) < 2; i++) {
    live_write(1);
    assert_int_equal(live_run_until(*state, &collector.records, i + 1), 1);
  }
  atomic_store(&onlooker.must_stop, 1);
  uv_thread_join(&thread);
  live_end(&collector, i);
  assert_int_equal(onlooker.value, i);
  assert_int_equal(onlooker.is_wrong, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(count_of_page_faults_is_the_pages_touched),
      support_loop_test(count_goes_on_only_while_enabled),
      support_loop_test(count_reset_sets_the_value_to_0_and_keeps_the_times),
      support_loop_test(count_of_task_clock_is_the_time_it_ran),
      support_loop_test(count_with_a_period_but_no_ring_counts),
      support_loop_test(count_of_each_read_format_has_what_was_asked),
      support_loop_test(count_of_a_group_finds_each_value_by_id),
      support_loop_test(count_of_all_of_a_group_is_read_at_once),
      support_loop_test(count_of_a_sibling_outlives_its_leader),
      support_loop_test(count_reset_of_a_leader_leaves_its_siblings),
      support_loop_test(count_is_read_by_a_thread_while_records_come),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
