/* SPDX-License-Identifier: MIT */
/* The events of a map on a scripted machine: what is opened, what is refused,
 * and that nothing is left after a failure. */
#include "fake_host.h"
#include "support.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <time.h>

#include "attr/attr.h"
#include "scripted_outputs.h"
#include "sys/sys.h"
#include "uvperf.h"

#define scripted scripted_outputs

static uvperf__cpu_ring_t *ring_of(int cpu) {
  return uvperf__cpu_rings_find(uvperf__bpf_outputs_rings(scripted.outputs),
                                cpu);
}

/* -- opening -------------------------------------------------------------- */

static void new_opens_an_event_and_a_ring_for_each_cpu(void **state) {
  static const int ids[] = {0, 2, 3, 4, 5};
  fake_event_t *event;
  size_t i;

  scripted_outputs_cpus("0,2-5\n", "0-7\n");
  scripted_outputs_open();
  for (i = 0; i < 5; i++) {
    event = scripted.events[2 * i];
    assert_int_equal(event->cpu, ids[i]);
    assert_int_equal(event->pid, -1);
    assert_int_equal(event->group_fd, -1);
    assert_int_equal(event->flags, PERF_FLAG_FD_CLOEXEC);
    assert_int_equal(event->enabled, 0);
    assert_int_equal(scripted.events[2 * i + 1]->cpu, ids[i]);
    assert_int_equal(ring_of(ids[i])->fd, scripted.events[2 * i + 1]->fd);
    assert_int_equal(ring_of(ids[i])->nr_events, 1);
    assert_int_equal(uvperf__bpf_outputs_cpu_status(scripted.outputs, ids[i]),
                     0);
  }
  assert_null(ring_of(1));
  assert_int_equal(uvperf__bpf_outputs_cpu_status(scripted.outputs, 1),
                   -ENODEV);
  assert_int_equal(uvperf__bpf_outputs_cpu_status(scripted.outputs, 8),
                   -ENOENT);
  assert_int_equal(uvperf__bpf_outputs_cpu_status(scripted.outputs, -1),
                   -ENOENT);
  assert_int_equal(
      uvperf__cpu_rings_nr(uvperf__bpf_outputs_rings(scripted.outputs)), 5);
  assert_int_equal(fake_count(FAKE_BPF_UPDATE), 0);
  assert_false(uvperf__bpf_outputs_are_put(scripted.outputs));
}

static void put_goes_by_the_ids_of_the_cpus(void **state) {
  scripted_outputs_cpus("0,2-5\n", "0-7\n");
  scripted_outputs_open();
  assert_int_equal(uvperf__bpf_outputs_put(scripted.outputs, NULL), 0);
  assert_string_equal(scripted_outputs_keys(), "0 2 3 4 5");
  assert_int_equal(uvperf__bpf_outputs_take(scripted.outputs, NULL), 0);
  assert_string_equal(scripted_outputs_keys(), "");
}

/* -- refusals ------------------------------------------------------------- */

static void options_that_cannot_be_are_einval(void **state) {
  const uvperf__bpf_outputs_options_t good = scripted.options;
  struct perf_event_attr attr;

  scripted.options.wakeup_events = 1;
  scripted.options.wakeup_bytes = 1;
  scripted_outputs_refused(-EINVAL, UVPERF_CAUSE_ARGUMENT, "can use only one");
  scripted.options = good;
  scripted.options.wakeup_bytes = (uint32_t)good.ring_bytes / 2 + 1;
  scripted_outputs_refused(-EINVAL, UVPERF_CAUSE_ARGUMENT, "half of the ring");
  scripted.options = good;
  scripted.options.ring_bytes = SIZE_MAX;
  scripted_outputs_refused(-EINVAL, UVPERF_CAUSE_ARGUMENT,
                           "options.ring_bytes");
  scripted.options = good;
  uvperf_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT);
  scripted.options.attr = &attr;
  attr.size = 63;
  scripted_outputs_refused(-EINVAL, UVPERF_CAUSE_ARGUMENT, "attr.size is 63");
  attr.size = 1 << 20;
  scripted_outputs_refused(-E2BIG, UVPERF_CAUSE_ARGUMENT, "attr.size");
  assert_int_equal(fake_count(FAKE_OPEN), 0);
}

static void cpus_that_are_no_list_are_einval(void **state) {
  static const char *const lists[] = {"",   "x",    "1-",   "3-1",
                                      "-1", "0,,1", "99999"};
  char longest[300];
  size_t i;

  for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
    scripted.options.cpus = lists[i];
    scripted_outputs_refused(-EINVAL, UVPERF_CAUSE_ARGUMENT, "options.cpus");
  }
  memset(longest, 'x', sizeof(longest));
  longest[sizeof(longest) - 1] = '\0';
  scripted.options.cpus = longest;
  scripted_outputs_refused(-EINVAL, UVPERF_CAUSE_ARGUMENT,
                           "not a list of CPUs");
}

static void cpu_without_an_entry_is_einval_in_a_list(void **state) {
  scripted.map->info.max_entries = 2;
  scripted.options.cpus = "1,2";
  scripted_outputs_refused(-EINVAL, UVPERF_CAUSE_ARGUMENT,
                           "CPU 2, but the map has 2 entries");
  scripted.options.cpus = "1";
  scripted_outputs_open();
  assert_int_equal(uvperf__bpf_outputs_cpu_status(scripted.outputs, 1), 0);
  assert_int_equal(uvperf__bpf_outputs_cpu_status(scripted.outputs, 0),
                   -ENOENT);
  assert_int_equal(uvperf__bpf_outputs_cpu_status(scripted.outputs, 2),
                   -ENOENT);
}

static void map_with_fewer_entries_leaves_cpus_out(void **state) {
  scripted.map->info.max_entries = 1;
  scripted_outputs_open();
  assert_int_equal(
      uvperf__cpu_rings_nr(uvperf__bpf_outputs_rings(scripted.outputs)), 1);
  assert_int_equal(uvperf__bpf_outputs_put(scripted.outputs, NULL), 0);
  assert_string_equal(scripted_outputs_keys(), "0");
  assert_int_equal(uvperf__bpf_outputs_cpu_status(scripted.outputs, 1), -E2BIG);
  assert_int_equal(uvperf__bpf_outputs_cpu_status(scripted.outputs, 3), -E2BIG);
  assert_int_equal(uvperf__bpf_outputs_cpu_status(scripted.outputs, 4),
                   -ENOENT);
}

static void cpus_without_any_entry_or_online_are_enodev(void **state) {
  scripted_outputs_cpus("2-3\n", "0-3\n");
  scripted.map->info.max_entries = 2;
  scripted_outputs_refused(-ENODEV, UVPERF_CAUSE_NO_CPU,
                           "the online CPUs are 2-3");
  scripted.options.cpus = "0-1";
  scripted_outputs_refused(-ENODEV, UVPERF_CAUSE_NO_CPU, "\"0-1\"");
  assert_int_equal(fake_count(FAKE_OPEN), 0);
}

static void sysfs_that_cannot_be_read_is_no_cpu(void **state) {
  fake_host_empty(state);
  scripted_outputs_refused(-ENOENT, UVPERF_CAUSE_NO_CPU, "mount sysfs");
  /* A list of the user's is tried. */
  scripted.options.cpus = "0-1";
  scripted_outputs_open();
  assert_int_equal(uvperf__bpf_outputs_cpu_status(scripted.outputs, 1), 0);
}

static void cpu_of_a_list_that_is_offline_waits(void **state) {
  scripted_outputs_cpus("0,3\n", "0-3\n");
  scripted.options.cpus = "0-1,3,9";
  scripted_outputs_open();
  assert_int_equal(uvperf__bpf_outputs_cpu_status(scripted.outputs, 0), 0);
  assert_int_equal(uvperf__bpf_outputs_cpu_status(scripted.outputs, 1),
                   -ENODEV);
  assert_int_equal(uvperf__bpf_outputs_cpu_status(scripted.outputs, 2),
                   -ENOENT);
  assert_int_equal(uvperf__bpf_outputs_cpu_status(scripted.outputs, 3), 0);
  assert_int_equal(uvperf__bpf_outputs_cpu_status(scripted.outputs, 9),
                   -ENOENT);
  assert_int_equal(fake_count(FAKE_OPEN), 4);
}

static void invalid_map_is_refused_before_anything_opens(void **state) {
  scripted.map->info.type = 1;
  scripted_outputs_refused(-EINVAL, UVPERF_CAUSE_ARGUMENT,
                           "BPF_MAP_TYPE_PERF_EVENT_ARRAY (4)");
  assert_int_equal(fake_count(FAKE_OPEN), 0);
}

/* -- failures ------------------------------------------------------------- */

/* Of any CPU's event, except ENODEV. */
static void open_that_fails_is_reported_and_undone(void **state) {
  const struct {
    int code;
    int cause;
  } cases[] = {
      {-EACCES, UVPERF_CAUSE_PERMISSION},
      {-EPERM, UVPERF_CAUSE_PERMISSION},
      {-ENOSYS, UVPERF_CAUSE_NO_PERF},
      {-ENOENT, UVPERF_CAUSE_NO_EVENT},
      {-ENOMEM, UVPERF_CAUSE_MEMORY},
      {-ENFILE, UVPERF_CAUSE_FILES},
      {-E2BIG, UVPERF_CAUSE_OLD_KERNEL},
      {-EBUSY, UVPERF_CAUSE_BUSY},
      {-EOPNOTSUPP, UVPERF_CAUSE_NOT_SUPPORTED},
  };
  size_t i;
  unsigned nth;

  for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
    for (nth = 1; nth <= 8; nth += 3) {
      fake_fail(FAKE_OPEN, nth, cases[i].code);
      scripted_outputs_refused(cases[i].code, cases[i].cause, "");
      scripted_outputs_again();
    }
}

/* The attr that the handle returns is as requested. */
static void open_that_is_e2big_leaves_the_size(void **state) {
  uint32_t size;

  fake_fail(FAKE_OPEN, 1, -E2BIG);
  scripted_outputs_refused(-E2BIG, UVPERF_CAUSE_OLD_KERNEL, "attr.size");
  scripted_outputs_open();
  size = uvperf__bpf_outputs_attr(scripted.outputs)->size;
  assert_int_equal(size, sizeof(struct perf_event_attr));
  scripted_outputs_cpus("0-4\n", "0-4\n");
  fake_fail(FAKE_OPEN, 1, -E2BIG);
  assert_int_equal(uvperf__bpf_outputs_cpu_come(scripted.outputs, 4, NULL),
                   -E2BIG);
  assert_int_equal(uvperf__bpf_outputs_attr(scripted.outputs)->size, size);
}

static void cpu_that_goes_while_it_is_opened_waits(void **state) {
  fake_fail(FAKE_OPEN, 3, -ENODEV);
  scripted_outputs_open();
  assert_int_equal(uvperf__bpf_outputs_cpu_status(scripted.outputs, 0), 0);
  assert_int_equal(uvperf__bpf_outputs_cpu_status(scripted.outputs, 1),
                   -ENODEV);
  assert_int_equal(uvperf__bpf_outputs_cpu_status(scripted.outputs, 2), 0);
  assert_null(ring_of(1));
  assert_int_equal(uvperf__bpf_outputs_put(scripted.outputs, NULL), 0);
  assert_string_equal(scripted_outputs_keys(), "0 2 3");
}

static void cpus_that_all_go_while_they_are_opened_are_enodev(void **state) {
  fake_fail_from(FAKE_OPEN, 1, -ENODEV);
  scripted_outputs_refused(-ENODEV, UVPERF_CAUSE_NO_EVENT, "");
  assert_int_equal(fake_count(FAKE_OPEN), 4);
}

static void number_of_fds_needed_is_reported(void **state) {
  uvperf_error_t error;
  unsigned nth;

  for (nth = 1; nth <= 8; nth++) {
    fake_fail(FAKE_OPEN, nth, -EMFILE);
    assert_int_equal(
        uvperf__bpf_outputs_new(&scripted.outputs, &scripted.options, &error),
        -EMFILE);
    explain_check(&error, -EMFILE, UVPERF_CAUSE_FILES, "4 CPUs");
    assert_true(error.limit > 0);
    /* Lower numbers are open. */
    assert_true(error.needed >= 9 + 3);
    assert_int_equal(
        uvperf__bpf_outputs_new(&scripted.outputs, &scripted.options, NULL), 0);
    scripted_outputs_again();
  }
}

/* perf_event_mlock_kb is enough for all when they are smaller. */
static void rings_shrink_together(void **state) {
  scripted.options.ring_bytes = 0;
  fake_fail(FAKE_MMAP, 4, -EPERM);
  fake_fail(FAKE_MMAP, 5, -EPERM);
  fake_fail(FAKE_MMAP, 6, -EPERM);
  fake_fail(FAKE_MMAP, 7, -EPERM);
  fake_fail(FAKE_MMAP, 8, -EPERM);
  fake_fail(FAKE_MMAP, 9, -EPERM);
  fake_fail(FAKE_MMAP, 10, -EPERM);
  fake_fail(FAKE_MMAP, 11, -EPERM);
  scripted_outputs_open();
  assert_int_equal(ring_of(0)->ring.size, UVPERF__RING_DEFAULT_BYTES / 2);
  assert_int_equal(ring_of(3)->ring.size, UVPERF__RING_DEFAULT_BYTES / 2);
  assert_int_equal(ring_of(3)->nr_events, 1);
}

/* The owner of the second ring is opened, whose mapping fails. */
static int take_cpus_away(struct perf_event_attr *attr) {
  (void)attr;
  if (fake_count(FAKE_OPEN) == 4)
    scripted_outputs_cpus("3\n", "0-3\n");
  return 0;
}

/* The error is not the one of the larger rings. */
static void cpus_that_go_before_rings_shrink_are_no_cpu(void **state) {
  uvperf_error_t error;

  scripted.options.ring_bytes = 0;
  scripted.options.cpus = "0-1";
  fake_fail_from(FAKE_MMAP, 2, -EPERM);
  fake_on_open(take_cpus_away);
  assert_int_equal(
      uvperf__bpf_outputs_new(&scripted.outputs, &scripted.options, &error),
      -ENODEV);
  explain_check(&error, -ENODEV, UVPERF_CAUSE_NO_CPU, "0-1");
}

/* Each function failing in turn, from new to free. */
static void each_call_may_fail_once(void **state) {
  static const enum fake_call calls[] = {
      FAKE_OPEN,     FAKE_IOCTL,         FAKE_MMAP,       FAKE_CALLOC,
      FAKE_BPF_INFO, FAKE_BPF_MAP_BY_ID, FAKE_BPF_UPDATE, FAKE_BPF_DELETE,
      FAKE_CLOSE,    FAKE_ACCESS,
  };
  unsigned nth, failures;
  uvperf_error_t error;
  size_t i;
  int rc;

  for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
    for (nth = 1, failures = 1; failures > 0; nth++) {
      fake_fail(calls[i], nth, -EIO);
      memset(&error, 0, sizeof(error));
      rc =
          uvperf__bpf_outputs_new(&scripted.outputs, &scripted.options, &error);
      if (rc == 0)
        rc = uvperf__bpf_outputs_enable(scripted.outputs, &error);
      if (rc == 0)
        rc = uvperf__bpf_outputs_put(scripted.outputs, &error);
      if (rc == 0) {
        assert_string_equal(scripted_outputs_keys(), "0 1 2 3");
        rc = uvperf__bpf_outputs_take(scripted.outputs, &error);
      }
      if (rc != 0) {
        assert_int_equal(error.code, rc);
        assert_true(error.reason[0] != '\0');
      }
      uvperf__bpf_outputs_free(scripted.outputs);
      scripted.outputs = NULL;
      assert_string_equal(scripted_outputs_keys(), "");
      failures = fake_failures();
      scripted_outputs_again();
    }
    assert_true(nth > 2);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      scripted_outputs_test(new_opens_an_event_and_a_ring_for_each_cpu),
      scripted_outputs_test(put_goes_by_the_ids_of_the_cpus),
      scripted_outputs_test(options_that_cannot_be_are_einval),
      scripted_outputs_test(cpus_that_are_no_list_are_einval),
      scripted_outputs_test(cpu_without_an_entry_is_einval_in_a_list),
      scripted_outputs_test(map_with_fewer_entries_leaves_cpus_out),
      scripted_outputs_test(cpus_without_any_entry_or_online_are_enodev),
      scripted_outputs_test(sysfs_that_cannot_be_read_is_no_cpu),
      scripted_outputs_test(cpu_of_a_list_that_is_offline_waits),
      scripted_outputs_test(invalid_map_is_refused_before_anything_opens),
      scripted_outputs_test(open_that_fails_is_reported_and_undone),
      scripted_outputs_test(open_that_is_e2big_leaves_the_size),
      scripted_outputs_test(cpu_that_goes_while_it_is_opened_waits),
      scripted_outputs_test(cpus_that_all_go_while_they_are_opened_are_enodev),
      scripted_outputs_test(number_of_fds_needed_is_reported),
      scripted_outputs_test(rings_shrink_together),
      scripted_outputs_test(cpus_that_go_before_rings_shrink_are_no_cpu),
      scripted_outputs_test(each_call_may_fail_once),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
