/* SPDX-License-Identifier: MIT */
/* Scripted: the calls of an event handle, and what it does if the kernel
 * refuses them. How a perf fd wakes a loop is not tested here. */
#include "fake_pool.h"
#include "scripted_event.h"

#include <errno.h>

#include "host/system.h"

/* -- close ---------------------------------------------------------------- */

static void event_close_disables_then_unmaps_then_closes(void **state) {
  live_collector_t collector;

  scripted_event_open(*state, &collector);
  scripted_event_turns(*state, 3);
  fake_log_clear();
  live_close(&collector);
  assert_string_equal(fake_log(), "ioctl DISABLE, munmap, close");
}

static void count_close(uvperf_handle_t *handle) {
  *(int *)handle->data += 1;
}

/* A tracepoint is closed by libuv's pool, which does not exist yet. The last
 * handle of the loop closes what they share. */
static void event_closed_meanwhile_does_not_hold_up_a_slow_one(void **state) {
  uvperf_event_t slow, last;
  struct perf_event_attr attr;
  int closed = 0;

  fake_event_add(7);
  fake_event_add(8);
  uvperf_attr_tracepoint(&attr, 1);
  assert_int_equal(uvperf_event_init(*state, &slow, &attr, NULL, NULL), 0);
  uvperf_attr_software(&attr, PERF_COUNT_SW_PAGE_FAULTS);
  assert_int_equal(uvperf_event_init(*state, &last, &attr, NULL, NULL), 0);
  slow.handle.data = last.handle.data = &closed;
  fake_pool_hold();
  fake_pool_make(0);
  uvperf_close(&slow.handle, count_close);
  scripted_event_turns(*state, 3);
  assert_int_equal(closed, 0);
  assert_false(fake_pool_waits());
  uvperf_close(&last.handle, count_close);
  while (closed < 2) {
    assert_true(fake_pool_waits() || uv_loop_alive(*state));
    fake_pool_finish();
    uv_run(*state, UV_RUN_NOWAIT);
  }
}

/* -- init ----------------------------------------------------------------- */

static void event_init_opens_disabled_and_cloexec(void **state) {
  live_collector_t collector;
  fake_event_t *fake = fake_event_add(7);
  struct perf_event_attr attr;
  uint64_t id;

  scripted_event_attr(&attr);
  live_init(*state, &collector, &attr, NULL);
  assert_string_equal(fake_log(), "open, mmap, ioctl ID");
  assert_int_equal(fake->attr.disabled, 1);
  assert_int_equal(fake->flags, PERF_FLAG_FD_CLOEXEC);
  assert_int_equal(fake->pid, 0);
  assert_int_equal(fake->cpu, -1);
  assert_int_equal(fake->group_fd, -1);
  assert_int_equal(uvperf_event_id(&collector.event, &id), 0);
  assert_int_equal(id, 7);
  live_close(&collector);
}

/* An event that only counts has no samples. */
static void event_init_of_samples_that_spoil_the_ring_is_einval(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;
  uvperf_error_t error;

  fake_event_add(7);
  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_STACK_USER;
  uvperf_attr_set_period(&attr, 1000);
  assert_int_equal(
      uvperf_event_init(*state, &collector.event, &attr, NULL, &error),
      UV_EINVAL);
  assert_int_equal(error.cause, UVPERF_CAUSE_ARGUMENT);
  assert_non_null(strstr(error.reason, "attr has sample_stack_user 0 with "
                                       "PERF_SAMPLE_STACK_USER"));
  assert_string_equal(fake_log(), "");
  attr.sample_period = 0;
  live_init(*state, &collector, &attr, NULL);
  assert_int_equal(uvperf_start(&collector.event.handle, NULL,
                                scripted_event_on_record, &error),
                   UV_EINVAL);
  assert_non_null(strstr(error.reason, "only counts, so its callback would "
                                       "never be called; set a period"));
  live_close(&collector);
}

static void event_init_passes_target_group_and_cgroup(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  fake_event_t *leader_fake = fake_event_add(7);
  fake_event_t *fake = fake_event_add(8);
  live_collector_t leader;
  live_collector_t sibling;
  struct perf_event_attr attr;

  uvperf_attr_software(&attr, PERF_COUNT_SW_TASK_CLOCK);
  options.cgroup = 33;
  options.cpu = 1;
  options.flags = UVPERF_EVENT_CPU | UVPERF_EVENT_CGROUP;
  live_init(*state, &leader, &attr, &options);
  assert_int_equal(leader_fake->pid, 33);
  assert_int_equal(leader_fake->cpu, 1);
  assert_int_equal(leader_fake->flags,
                   PERF_FLAG_FD_CLOEXEC | PERF_FLAG_PID_CGROUP);
  options.flags &= ~UVPERF_EVENT_CGROUP;
  options.cgroup = 0;
  options.pid = 44;
  options.leader = &leader.event;
  live_init(*state, &sibling, &attr, &options);
  assert_int_equal(fake->pid, 44);
  assert_int_equal(fake->group_fd, leader_fake->fd);
  live_close(&sibling);
  live_close(&leader);
}

/* Each is refused before the kernel is asked, by a reason that names the flag:
 * 0 is the default of each field, and an id too. */
static void event_init_of_an_id_without_its_flag_is_refused(void **state) {
  const uint32_t cpu = UVPERF_EVENT_CPU;
  const uint32_t cgroup = UVPERF_EVENT_CGROUP;
  const struct {
    uvperf_event_options_t options;
    const char *reason;
  } cases[] = {
      {{.cpu = 1},
       "options.cpu is 1, but options.flags lacks UVPERF_EVENT_CPU; set it, or "
       "leave cpu 0"},
      {{.cpu = -2},
       "options.cpu is -2, but options.flags lacks UVPERF_EVENT_CPU"},
      {{.flags = cpu, .cpu = -1},
       "options.cpu is -1, but options.flags has UVPERF_EVENT_CPU"},
      {{.cgroup = 3},
       "options.cgroup is 3, but options.flags lacks UVPERF_EVENT_CGROUP"},
      {{.flags = cpu | cgroup, .cgroup = -1},
       "options.cgroup is -1, but options.flags has UVPERF_EVENT_CGROUP"},
      {{.flags = cgroup, .cgroup = 3},
       "one CPU and no task; set options.cpu and UVPERF_EV"},
      {{.flags = cpu | cgroup, .cgroup = 3, .pid = 44}, "leave options.pid 0"},
      {{.pid = -1}, "set options.cpu, and UVPERF_EVENT_CPU"},
      {{.pid = -1, .flags = UVPERF_EVENT_PIDFD}, "set the pidfd"},
  };
  uvperf_event_options_t options;
  struct perf_event_attr attr;
  uvperf_event_t event;
  uvperf_error_t error;
  size_t i;

  uvperf_attr_software(&attr, PERF_COUNT_SW_TASK_CLOCK);
  for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    options = cases[i].options;
    options.size = sizeof(options);
    assert_int_equal(uvperf_event_init(*state, &event, &attr, &options, &error),
                     UV_EINVAL);
    assert_int_equal(error.cause, UVPERF_CAUSE_ARGUMENT);
    if (strstr(error.reason, cases[i].reason) == NULL)
      fail_msg("%zu: %s", i, error.reason);
  }
  assert_string_equal(fake_log(), "");
}

/* -1 without a flag is what 0 is: any CPU, no cgroup. */
static void event_init_of_ids_of_minus_one_is_the_default(void **state) {
  uvperf_event_options_t options = {
      .size = sizeof(options), .cpu = -1, .cgroup = -1};
  fake_event_t *fake = fake_event_add(7);
  live_collector_t collector;
  struct perf_event_attr attr;

  uvperf_attr_software(&attr, PERF_COUNT_SW_TASK_CLOCK);
  live_init(*state, &collector, &attr, &options);
  assert_int_equal(fake->pid, 0);
  assert_int_equal(fake->cpu, -1);
  assert_int_equal(fake->flags, PERF_FLAG_FD_CLOEXEC);
  live_close(&collector);
}

/* The reason for EPERM of mmap depends on who runs this: above the limits there
 * is another reason. */
static int cause_of_denied_ring(void) {
  int64_t level = 0;

  uvperf__system_number(UVPERF__PARANOID, &level);
  return level < 0 || uvperf__system_has_capability(UVPERF__CAP_IPC_LOCK) == 1
             ? UVPERF_CAUSE_PERMISSION
             : UVPERF_CAUSE_LOCKED_MEMORY;
}

static void assert_init_fails(uv_loop_t *loop, int code, int cause) {
  struct perf_event_attr attr;
  uvperf_event_t event;
  uvperf_error_t error;

  memset(&error, 0, sizeof(error));
  scripted_event_attr(&attr);
  assert_int_equal(uvperf_event_init(loop, &event, &attr, NULL, &error), code);
  assert_int_equal(error.code, code);
  assert_int_equal(error.cause, cause);
  assert_true(strlen(error.reason) > 10);
  scripted_event_turns(loop, 2);
  fake_assert_clean();
}

static void event_init_each_system_call_fails_leaves_nothing(void **state) {
  fake_event_add(7);
  fake_fail(FAKE_OPEN, 1, -EBUSY);
  assert_init_fails(*state, UV_EBUSY, UVPERF_CAUSE_BUSY);
  fake_kernel_reset();
  fake_event_add(7);
  fake_fail(FAKE_MMAP, 1, -ENOMEM);
  assert_init_fails(*state, UV_ENOMEM, UVPERF_CAUSE_MEMORY);
  fake_kernel_reset();
  fake_event_add(7);
  fake_fail_from(FAKE_MMAP, 1, -EPERM);
  assert_init_fails(*state, UV_EPERM, cause_of_denied_ring());
  /* 512 KiB halved down to one page. */
  assert_int_equal(fake_count(FAKE_MMAP), 8);
  fake_kernel_reset();
  fake_event_add(7);
  fake_fail(FAKE_IOCTL_PTR, 1, -ENOTTY);
  assert_init_fails(*state, UV_ENOTTY, UVPERF_CAUSE_OLD_KERNEL);
  fake_kernel_reset();
  fake_event_add(7);
  fake_fail(FAKE_IOCTL_PTR, 1, -EPERM);
  assert_init_fails(*state, UV_EPERM, UVPERF_CAUSE_PERMISSION);
}

typedef struct other_s {
  uv_loop_t *loop;
  uv_poll_t poll;
} other_t;

static void on_other(uv_poll_t *poll, int status, int events) {
  (void)poll;
  (void)status;
  (void)events;
}

static void poll_first(fake_event_t *fake) {
  other_t *other = fake->data;

  assert_int_equal(uv_poll_init(other->loop, &other->poll, fake->fd), 0);
  assert_int_equal(uv_poll_start(&other->poll, UV_READABLE, on_other), 0);
}

/* Other code polls the fd on this loop: uv_poll_init returns EEXIST when the
 * loop already knows the idle, check and timer handles. */
static void event_init_loop_refuses_fd_leaves_nothing(void **state) {
  uvperf_event_t *event = malloc(sizeof(*event));
  fake_event_t *fake = fake_event_add(7);
  struct perf_event_attr attr;
  uvperf_error_t error;
  other_t other;

  other.loop = *state;
  fake->data = &other;
  fake->on_map = poll_first;
  scripted_event_attr(&attr);
  assert_int_equal(uvperf_event_init(*state, event, &attr, NULL, &error),
                   UV_EEXIST);
  assert_int_equal(error.cause, UVPERF_CAUSE_LOOP);
  free(event);
  uv_close((uv_handle_t *)&other.poll, NULL);
  scripted_event_turns(*state, 3);
}

static void event_default_ring_halved_is_reported(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;

  fake_event_add(7);
  fake_fail(FAKE_MMAP, 1, -EPERM);
  fake_fail(FAKE_MMAP, 2, -EPERM);
  scripted_event_attr(&attr);
  live_init(*state, &collector, &attr, NULL);
  assert_int_equal(support_ring_bytes(&collector.event.handle), 128 * 1024);
  live_close(&collector);
}

static void event_asked_ring_is_not_made_smaller(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr;
  uvperf_event_t event;
  uvperf_error_t error;

  fake_event_add(7);
  fake_fail(FAKE_MMAP, 1, -EPERM);
  scripted_event_attr(&attr);
  options.ring_bytes = 64 * 1024;
  assert_int_equal(uvperf_event_init(*state, &event, &attr, &options, &error),
                   UV_EPERM);
  assert_int_equal(error.cause, cause_of_denied_ring());
  assert_int_equal(fake_count(FAKE_MMAP), 1);
}

static void event_enable_on_exec_is_not_enabled_by_start(void **state) {
  fake_event_t *fake = fake_event_add(7);
  live_collector_t collector;
  struct perf_event_attr attr;

  scripted_event_attr(&attr);
  attr.enable_on_exec = 1;
  live_init(*state, &collector, &attr, NULL);
  live_start(&collector, NULL);
  assert_int_equal(fake->enabled, 0);
  assert_int_equal(uvperf_stop(&collector.event.handle), 0);
  live_close(&collector);
  /* The one DISABLE is from close. */
  assert_string_equal(fake_log(), "open, mmap, ioctl ID, ioctl DISABLE, "
                                  "munmap, close");
}

/* -- counts --------------------------------------------------------------- */

static void open_counter(uv_loop_t *loop, live_collector_t *collector,
                         uint64_t read_format) {
  struct perf_event_attr attr;

  uvperf_attr_hardware(&attr, PERF_COUNT_HW_CPU_CYCLES);
  attr.read_format = read_format;
  attr.pinned = 1;
  live_init(loop, collector, &attr, NULL);
}

/* P9: the pinned event is no count of 0. */
static void event_read_of_nothing_is_ebadf(void **state) {
  live_collector_t collector;
  uvperf_count_t count;
  uvperf_error_t error;

  fake_event_add(7);
  open_counter(*state, &collector, 0);
  assert_int_equal(uvperf_event_read(&collector.event, &count, &error),
                   UV_EBADF);
  assert_int_equal(error.code, UV_EBADF);
  assert_int_equal(error.cause, UVPERF_CAUSE_BUSY);
  assert_non_null(strstr(error.reason, "attr.pinned"));
  live_close(&collector);
}

static void event_read_takes_every_field(void **state) {
  const uint64_t words[] = {11, 66, 33, 44, 55};
  fake_event_t *fake = fake_event_add(7);
  live_collector_t collector;
  uvperf_count_t count;

  open_counter(*state, &collector,
               PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
                   PERF_FORMAT_ID | UVPERF_FORMAT_LOST);
  fake->read_data = words;
  fake->read_size = sizeof(words);
  assert_int_equal(uvperf_event_read(&collector.event, &count, NULL), 0);
  assert_int_equal(count.state, UVPERF_COUNT_COUNTING);
  assert_int_equal(count.value, 11);
  assert_int_equal(count.scaled, 22);
  assert_int_equal(count.flags, 0);
  assert_int_equal(count.time_enabled, 66);
  assert_int_equal(count.time_running, 33);
  assert_int_equal(count.id, 44);
  assert_int_equal(count.lost, 55);
  fake->read_size -= 8;
  assert_int_equal(uvperf_event_read(&collector.event, &count, NULL),
                   UV_EPROTO);
  live_close(&collector);
}

static void expect_group_failure(uvperf_event_t *const *events, int code) {
  uvperf_count_t counts[2];
  uvperf_error_t error;

  assert_int_equal(uvperf_event_read_group(events, 2, counts, &error), code);
  assert_int_equal(error.code, code);
  assert_int_not_equal(error.cause, UVPERF_CAUSE_NONE);
  assert_int_not_equal(error.reason[0], '\0');
}

/* By id, never by position: closing a sibling shrinks nr. */
static void event_read_of_group_finds_its_own_by_id(void **state) {
  const uint64_t words[] = {3, 100, 5, 200, 7, 300, 9};
  const uint64_t others[] = {1, 100, 5};
  fake_event_t *fake = fake_event_add(7);
  live_collector_t collector;
  uvperf_count_t count;

  open_counter(*state, &collector, PERF_FORMAT_GROUP);
  assert_int_equal(fake->attr.read_format, PERF_FORMAT_GROUP | PERF_FORMAT_ID);
  fake->read_data = words;
  fake->read_size = sizeof(words);
  assert_int_equal(uvperf_event_read(&collector.event, &count, NULL), 0);
  assert_int_equal(count.value, 200);
  assert_int_equal(count.id, 7);
  fake->read_data = others;
  fake->read_size = sizeof(others);
  assert_int_equal(uvperf_event_read(&collector.event, &count, NULL),
                   UV_ENOENT);
  fake_fail(FAKE_READ, 1, -EIO);
  assert_int_equal(uvperf_event_read(&collector.event, &count, NULL), UV_EIO);
  live_close(&collector);
}

static void event_read_group_matches_by_id_with_one_read(void **state) {
  const uint64_t words[] = {3, 100, 5, 200, 7, 300, 9};
  fake_event_t *fakes[] = {fake_event_add(7), fake_event_add(9)};
  live_collector_t one, other;
  uvperf_event_t *events[] = {&one.event, &other.event};
  uvperf_count_t counts[2];

  open_counter(*state, &one, PERF_FORMAT_GROUP);
  open_counter(*state, &other, PERF_FORMAT_GROUP);
  fakes[0]->read_data = words;
  fakes[0]->read_size = sizeof(words);
  fake_log_clear();
  assert_int_equal(uvperf_event_read_group(events, 2, counts, NULL), 0);
  assert_string_equal(fake_log(), "read");
  assert_int_equal(counts[0].value, 200);
  assert_int_equal(counts[0].id, 7);
  assert_int_equal(counts[1].value, 300);
  assert_int_equal(counts[1].id, 9);
  /* The other has left the group, and another is in its place. */
  fakes[0]->read_size = 5 * sizeof(words[0]);
  fakes[0]->read_data = (const uint64_t[]){2, 200, 7, 100, 5};
  expect_group_failure(events, UV_ENOENT);
  fakes[0]->read_size -= 8;
  expect_group_failure(events, UV_EPROTO);
  fakes[0]->read_size = 0;
  expect_group_failure(events, UV_EBADF);
  fake_fail(FAKE_READ, 1, -EIO);
  expect_group_failure(events, UV_EIO);
  live_close(&other);
  live_close(&one);
}

/* Their number; then the value and id of each. */
static void event_read_of_a_group_of_200_takes_memory_for_it(void **state) {
  uint64_t words[1 + 2 * 200] = {200};
  fake_event_t *fake = fake_event_add(7);
  live_collector_t collector;
  uvperf_count_t count;

  words[399] = 1000;
  words[400] = 7;
  open_counter(*state, &collector, PERF_FORMAT_GROUP);
  fake->read_data = words;
  fake->read_size = sizeof(words);
  fake_log_clear();
  assert_int_equal(uvperf_event_read(&collector.event, &count, NULL), 0);
  assert_string_equal(fake_log(), "read failed, read");
  assert_int_equal(count.value, 1000);
  assert_int_equal(count.id, 7);
  fake_fail(FAKE_CALLOC, 1, -ENOMEM);
  assert_int_equal(uvperf_event_read(&collector.event, &count, NULL),
                   UV_ENOMEM);
  live_close(&collector);
}

static void event_read_group_of_what_is_none_is_einval(void **state) {
  live_collector_t collector;
  uvperf_event_t *events[] = {&collector.event};
  uvperf_count_t count;

  fake_event_add(7);
  open_counter(*state, &collector, PERF_FORMAT_ID);
  fake_log_clear();
  assert_int_equal(uvperf_event_read_group(events, 1, &count, NULL), UV_EINVAL);
  assert_int_equal(uvperf_event_read_group(NULL, 1, &count, NULL), UV_EINVAL);
  assert_int_equal(uvperf_event_read_group(events, 0, &count, NULL), UV_EINVAL);
  assert_int_equal(uvperf_event_read_group(events, 1, NULL, NULL), UV_EINVAL);
  assert_string_equal(fake_log(), "");
  live_close(&collector);
}

static void event_read_in_forked_child_is_eperm(void **state) {
  const uint64_t formats[] = {0, PERF_FORMAT_GROUP};
  live_collector_t collector;
  uvperf_event_t *events[] = {&collector.event};
  uvperf_count_t count;
  size_t i;

  for (i = 0; i < 2; i++) {
    fake_event_add(7);
    open_counter(*state, &collector, formats[i]);
    fake_process(4711);
    fake_log_clear();
    assert_int_equal(uvperf_event_read(events[0], &count, NULL), UV_EPERM);
    if (formats[i] != 0)
      assert_int_equal(uvperf_event_read_group(events, 1, &count, NULL),
                       UV_EPERM);
    assert_string_equal(fake_log(), "");
    fake_process(0);
    live_close(&collector);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      fake_kernel_test(event_close_disables_then_unmaps_then_closes),
      fake_kernel_test(event_closed_meanwhile_does_not_hold_up_a_slow_one),
      fake_kernel_test(event_init_opens_disabled_and_cloexec),
      fake_kernel_test(event_init_of_samples_that_spoil_the_ring_is_einval),
      fake_kernel_test(event_init_passes_target_group_and_cgroup),
      fake_kernel_test(event_init_of_an_id_without_its_flag_is_refused),
      fake_kernel_test(event_init_of_ids_of_minus_one_is_the_default),
      fake_kernel_test(event_init_each_system_call_fails_leaves_nothing),
      fake_kernel_test(event_init_loop_refuses_fd_leaves_nothing),
      fake_kernel_test(event_default_ring_halved_is_reported),
      fake_kernel_test(event_asked_ring_is_not_made_smaller),
      fake_kernel_test(event_enable_on_exec_is_not_enabled_by_start),
      fake_kernel_test(event_read_of_nothing_is_ebadf),
      fake_kernel_test(event_read_takes_every_field),
      fake_kernel_test(event_read_of_group_finds_its_own_by_id),
      fake_kernel_test(event_read_group_matches_by_id_with_one_read),
      fake_kernel_test(event_read_of_a_group_of_200_takes_memory_for_it),
      fake_kernel_test(event_read_group_of_what_is_none_is_einval),
      fake_kernel_test(event_read_in_forked_child_is_eperm),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
