/* SPDX-License-Identifier: MIT */
/* Scripted: the calls of an event handle, and what it does if the kernel
 * refuses them. How a perf fd wakes a loop is not tested here. */
#include "fake_pool.h"
#include "scripted_event.h"
#include "scripted_handles.h"

static const scripted_row_t rows[] = {
    {"event_close_disables_then_unmaps_then_closes",
     "attr comm; init; start h0; turn 3\n"
     "close h0 -> DISABLE e0\n"
     "turn -> h0 closed, munmap e0, close e0\n"},
    {"event_init_opens_disabled_and_cloexec",
     "attr comm; init -> open e0@self, mmap e0\n"
     "events disabled -> e0 1\n"
     "own_id h0 -> 100\n"},
    /* An event that only counts has no samples. */
    {"event_init_of_samples_that_spoil_the_ring_is_einval",
     "attr cpu_clock sample_type=0x2001 sample_period=1000\n"
     "init -> EINVAL argument\n"
     "says 'attr has sample_stack_user 0 with PERF_SAMPLE_STACK_USER'\n"
     "attr cpu_clock sample_type=0x2001; init -> open e0@self\n"},
    {"event_start_with_a_callback_of_an_event_that_only_counts_is_einval",
     "attr cpu_clock; init; start h0 callback -> EINVAL argument\n"
     "says 'only counts, so its callback would never be called'\n"},
    {"event_init_passes_target_group_and_cgroup",
     "attr task_clock; options cpu=1 cgroup=33 cpu cgroup\n"
     "init -> open e0@33:1 flags 0xc\n"
     "options cpu=1 pid=44 cpu leader=h0; init -> open e1@44:1<e0\n"},
    /* -1 without a flag is what 0 is: any CPU, no cgroup. */
    {"event_init_of_ids_of_minus_one_is_the_default",
     "attr task_clock; options cpu=-1 cgroup=-1; init -> open e0@self\n"},
    {"event_init_whose_open_fails_leaves_nothing",
     "attr comm; fail open 1 EBUSY; init -> open @self EBUSY, EBUSY busy\n"},
    {"event_init_whose_mmap_fails_leaves_nothing",
     "attr comm; fail mmap 1 ENOMEM\n"
     "init -> open e0@self, mmap e0 ENOMEM, close e0, ENOMEM memory\n"},
    /* 512 KiB halved down to one page. */
    {"event_init_whose_mmaps_are_denied_leaves_nothing",
     "attr comm; fail mmap 1+ EPERM\n"
     "init -> open e0@self, mmap e0 EPERM, mmap e0 EPERM, mmap e0 EPERM, "
     "mmap e0 EPERM, mmap e0 EPERM, mmap e0 EPERM, mmap e0 EPERM, "
     "mmap e0 EPERM, close e0, EPERM locked_memory\n"},
    {"event_init_without_an_id_leaves_nothing",
     "attr comm; fail ioctl_ptr 1 ENOTTY\n"
     "init -> open e0@self, mmap e0, ID e0 ENOTTY, munmap e0, close e0, "
     "ENOTTY old_kernel\n"},
    {"event_init_whose_id_is_denied_leaves_nothing",
     "attr comm; fail ioctl_ptr 1 EPERM\n"
     "init -> open e0@self, mmap e0, ID e0 EPERM, munmap e0, close e0, "
     "EPERM permission\n"},
    {"event_default_ring_halved_is_reported",
     "attr comm; fail mmap 1-2 EPERM; init; ring h0 -> 131072\n"},
    {"event_asked_ring_is_not_made_smaller",
     "attr comm; options ring_bytes=0x10000; fail mmap 1 EPERM\n"
     "init -> open e0@self, mmap e0 EPERM, close e0, EPERM locked_memory\n"},
    {"event_enable_on_exec_is_not_enabled_by_start",
     "attr comm enable_on_exec=1; init; start h0 ->\n"
     "running ->\n"
     "stop h0 ->\n"
     "close h0 -> DISABLE e0\n"},
    /* P9: the pinned event is no count of 0. */
    {"event_read_of_nothing_is_ebadf",
     "attr cycles pinned=1; init; read h0 -> read e0, EBADF busy\n"
     "says attr.pinned\n"},
    {"event_read_takes_every_field",
     "attr cycles read_format=0x17; init; words e0 11 66 33 44 55\n"
     "read h0 -> read e0, 11@66/33=22+55 lost, id 44\n"
     "size e0 32; read h0 -> read e0, EPROTO unknown\n"},
    /* By id, never by position: closing a sibling shrinks nr. */
    {"event_read_of_group_finds_its_own_by_id",
     "attr cycles read_format=8; init; events read_format -> e0 12\n"
     "words e0 3 900 5 200 100 300 9; read h0 -> read e0, 200@0, id 100\n"
     "words e0 1 900 5; read h0 -> read e0, ENOENT argument\n"
     "fail read 1 EIO; read h0 -> read e0 EIO, EIO unknown\n"},
    {"event_read_group_matches_by_id_with_one_read",
     "attr cycles read_format=8; init; init\n"
     "words e0 3 900 5 200 100 300 101\n"
     "group h0 h1 -> read e0, 200@0, id 100, 300@0, id 101\n"
     /* The other has left the group, and another is in its place. */
     "words e0 2 200 100 900 5; group h0 h1 -> read e0, ENOENT argument\n"
     "size e0 32; group h0 h1 -> read e0, EPROTO unknown\n"
     "size e0 0; group h0 h1 -> read e0, EBADF busy\n"
     "fail read 1 EIO; group h0 h1 -> read e0 EIO, EIO unknown\n"},
    {"event_read_group_of_what_is_none_is_einval",
     "attr cycles read_format=4; init; group h0 -> EINVAL argument\n"
     "group -> EINVAL argument\n"},
    {"event_read_in_forked_child_is_eperm",
     "attr cycles read_format=8; init; fork\n"
     "read h0 -> EPERM argument\n"
     "group h0 -> EPERM argument\n"
     "unfork\n"},
};

static struct perf_event_attr attr;

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
  uvperf_event_t event;
  uvperf_error_t error;
  size_t i;

  uvperf_attr_software(&attr, PERF_COUNT_SW_TASK_CLOCK);
  for (i = 0; i < COUNT_OF(cases); i++) {
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

static void count_close(uvperf_handle_t *handle) {
  *(int *)handle->data += 1;
}

/* A tracepoint is closed by libuv's pool, which does not exist yet. The last
 * handle of the loop closes what they share. */
static void event_closed_meanwhile_does_not_hold_up_a_slow_one(void **state) {
  uvperf_event_t slow, last;
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

typedef struct other_s {
  uv_loop_t *loop;
  uv_poll_t poll;
} other_t;

static void on_other(uv_poll_t *poll, int status, int events) {
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

static void open_counter(uv_loop_t *loop, live_collector_t *collector,
                         uint64_t read_format) {
  uvperf_attr_hardware(&attr, PERF_COUNT_HW_CPU_CYCLES);
  attr.read_format = read_format;
  attr.pinned = 1;
  live_init(loop, collector, &attr, NULL);
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

static void event_read_group_of_null_is_einval(void **state) {
  live_collector_t collector;
  uvperf_event_t *events[] = {&collector.event};
  uvperf_count_t count;

  fake_event_add(7);
  open_counter(*state, &collector, PERF_FORMAT_GROUP);
  fake_log_clear();
  assert_int_equal(uvperf_event_read_group(NULL, 1, &count, NULL), UV_EINVAL);
  assert_int_equal(uvperf_event_read_group(events, 1, NULL, NULL), UV_EINVAL);
  assert_string_equal(fake_log(), "");
  live_close(&collector);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      fake_kernel_test(event_closed_meanwhile_does_not_hold_up_a_slow_one),
      fake_kernel_test(event_init_of_an_id_without_its_flag_is_refused),
      fake_kernel_test(event_init_loop_refuses_fd_leaves_nothing),
      fake_kernel_test(event_read_of_a_group_of_200_takes_memory_for_it),
      fake_kernel_test(event_read_group_of_null_is_einval),
  };

  return SCRIPTED_ROWS_AND_TESTS(&scripted_handles, rows, tests);
}
