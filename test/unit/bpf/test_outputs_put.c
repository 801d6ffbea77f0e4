/* SPDX-License-Identifier: MIT */
/* The events of a map on a scripted machine: all or none are put and removed,
 * whose entries are removed, and what a forked child does not touch. */
#include "support.h"

#include <errno.h>

#include "scripted_outputs.h"
#include "uvperf.h"

#define scripted scripted_outputs

/* -- put and take --------------------------------------------------------- */

static void put_that_fails_puts_none(void **state) {
  uvperf_error_t error;
  unsigned nth;

  scripted_outputs_open();
  for (nth = 1; nth <= 4; nth++) {
    fake_fail(FAKE_BPF_UPDATE, nth, -ENOMEM);
    assert_int_equal(uvperf__bpf_outputs_put(scripted.outputs, &error),
                     -ENOMEM);
    explain_check(&error, -ENOMEM, UVPERF_CAUSE_MEMORY, "entry");
    assert_string_equal(scripted_outputs_keys(), "");
    assert_false(uvperf__bpf_outputs_are_put(scripted.outputs));
  }
  assert_int_equal(uvperf__bpf_outputs_put(scripted.outputs, &error), 0);
  assert_string_equal(scripted_outputs_keys(), "0 1 2 3");
}

static void take_that_fails_takes_none(void **state) {
  uvperf_error_t error;
  unsigned nth;

  scripted_outputs_open();
  assert_int_equal(uvperf__bpf_outputs_put(scripted.outputs, NULL), 0);
  for (nth = 1; nth <= 4; nth++) {
    fake_fail(FAKE_BPF_DELETE, nth, -EPERM);
    assert_int_equal(uvperf__bpf_outputs_take(scripted.outputs, &error),
                     -EPERM);
    explain_check(&error, -EPERM, UVPERF_CAUSE_PERMISSION, "entry");
    assert_string_equal(scripted_outputs_keys(), "0 1 2 3");
    assert_true(uvperf__bpf_outputs_are_put(scripted.outputs));
  }
  assert_int_equal(uvperf__bpf_outputs_take(scripted.outputs, &error), 0);
  assert_string_equal(scripted_outputs_keys(), "");
}

static void entry_that_is_gone_is_no_failure(void **state) {
  scripted_outputs_open();
  assert_int_equal(uvperf__bpf_outputs_put(scripted.outputs, NULL), 0);
  fake_map_clear(scripted.map, 0);
  fake_map_clear(scripted.map, 3);
  assert_int_equal(uvperf__bpf_outputs_take(scripted.outputs, NULL), 0);
  assert_string_equal(scripted_outputs_keys(), "");
}

static void map_that_is_frozen_lets_nothing_be_put(void **state) {
  uvperf_error_t error;

  scripted_outputs_open();
  scripted.map->is_frozen = 1;
  assert_int_equal(uvperf__bpf_outputs_put(scripted.outputs, &error), -EPERM);
  assert_int_equal(error.cause, UVPERF_CAUSE_PERMISSION);
  scripted.map->is_frozen = 0;
  assert_int_equal(uvperf__bpf_outputs_put(scripted.outputs, &error), 0);
  scripted.map->is_frozen = 1;
  assert_int_equal(uvperf__bpf_outputs_take(scripted.outputs, &error), -EPERM);
  assert_string_equal(scripted_outputs_keys(), "0 1 2 3");
  /* What the kernel does when the file closes needs no permission. */
  uvperf__bpf_outputs_leave_map(scripted.outputs);
  assert_string_equal(scripted_outputs_keys(), "");
}

/* The events cannot be put back either then. */
static void take_that_failed_in_a_frozen_map_takes_all_later(void **state) {
  scripted_outputs_open();
  assert_int_equal(uvperf__bpf_outputs_put(scripted.outputs, NULL), 0);
  scripted.map->is_frozen = 1;
  assert_int_equal(uvperf__bpf_outputs_take(scripted.outputs, NULL), -EPERM);
  scripted.map->is_frozen = 0;
  assert_int_equal(uvperf__bpf_outputs_take(scripted.outputs, NULL), 0);
  assert_string_equal(scripted_outputs_keys(), "");
}

static void leaving_the_map_spares_the_entries_of_others(void **state) {
  scripted_outputs_open();
  fake_map_put_foreign(scripted.map, 7);
  assert_int_equal(uvperf__bpf_outputs_put(scripted.outputs, NULL), 0);
  fake_map_put_foreign(scripted.map, 2);
  uvperf__bpf_outputs_leave_map(scripted.outputs);
  assert_string_equal(scripted_outputs_keys(), "2! 7!");
  assert_int_equal(fake_count(FAKE_BPF_DELETE), 0);
  assert_false(uvperf__bpf_outputs_are_put(scripted.outputs));
  uvperf__bpf_outputs_leave_map(scripted.outputs);
  assert_string_equal(scripted_outputs_keys(), "2! 7!");
}

/* Events of a shared file, or in a map that preserves, are removed one by
 * one. */
static void leaving_a_shared_map_removes_its_events(void **state) {
  fake_fail(FAKE_BPF_MAP_BY_ID, 1, -EPERM);
  scripted_outputs_open();
  fake_map_put_foreign(scripted.map, 7);
  assert_int_equal(uvperf__bpf_outputs_put(scripted.outputs, NULL), 0);
  uvperf__bpf_outputs_leave_map(scripted.outputs);
  assert_string_equal(scripted_outputs_keys(), "7!");
  assert_int_equal(scripted.map->files, 1);
}

static void leaving_a_map_that_preserves_removes_its_events(void **state) {
  scripted.map->info.map_flags = 0x800;
  scripted_outputs_open();
  fake_map_put_foreign(scripted.map, 7);
  assert_int_equal(uvperf__bpf_outputs_put(scripted.outputs, NULL), 0);
  uvperf__bpf_outputs_leave_map(scripted.outputs);
  assert_string_equal(scripted_outputs_keys(), "7!");
}

static void path_is_where_the_map_is_pinned(void **state) {
  scripted.map->path = "/bpf/events";
  fake_map_close(scripted.map_fd);
  scripted.map_fd = -1;
  scripted.options.map_fd = -1;
  scripted.options.path = "/bpf/events";
  scripted_outputs_open();
  assert_int_equal(uvperf__bpf_outputs_put(scripted.outputs, NULL), 0);
  assert_string_equal(scripted_outputs_keys(), "0 1 2 3");
  assert_int_equal(scripted.map->files, 1);
  uvperf__bpf_outputs_free(scripted.outputs);
  scripted.outputs = NULL;
  assert_string_equal(scripted_outputs_keys(), "");
}

/* -- enabling ------------------------------------------------------------- */

static void enable_tries_all_and_reports_the_first_failure(void **state) {
  uvperf_error_t error;
  int cpu;

  scripted_outputs_open();
  fake_fail(FAKE_IOCTL, 2, -EPERM);
  fake_fail(FAKE_IOCTL, 3, -ENODEV);
  assert_int_equal(uvperf__bpf_outputs_enable(scripted.outputs, &error),
                   -EPERM);
  explain_check(&error, -EPERM, UVPERF_CAUSE_PERMISSION, "");
  for (cpu = 0; cpu < 4; cpu++)
    assert_int_equal(scripted_outputs_event(cpu)->enabled,
                     cpu == 0 || cpu == 3);
  assert_int_equal(uvperf__bpf_outputs_enable(scripted.outputs, &error), 0);
  uvperf__bpf_outputs_disable(scripted.outputs);
  for (cpu = 0; cpu < 4; cpu++)
    assert_int_equal(scripted_outputs_event(cpu)->enabled, 0);
}

/* -- fork ----------------------------------------------------------------- */

static void forked_child_leaves_all_to_the_parent(void **state) {
  uvperf_error_t error;
  int is_shared;

  for (is_shared = 0; is_shared < 2; is_shared++) {
    if (is_shared)
      fake_fail(FAKE_BPF_MAP_BY_ID, 1, -EPERM);
    scripted_outputs_open();
    assert_int_equal(uvperf__bpf_outputs_enable(scripted.outputs, NULL), 0);
    assert_int_equal(uvperf__bpf_outputs_put(scripted.outputs, NULL), 0);
    fake_process(4711);
    fake_log_clear();
    assert_int_equal(uvperf__bpf_outputs_put(scripted.outputs, &error), -EPERM);
    explain_check(&error, -EPERM, UVPERF_CAUSE_ARGUMENT, "parent");
    assert_int_equal(uvperf__bpf_outputs_take(scripted.outputs, &error),
                     -EPERM);
    assert_int_equal(uvperf__bpf_outputs_enable(scripted.outputs, &error),
                     -EPERM);
    assert_int_equal(uvperf__bpf_outputs_cpu_come(scripted.outputs, 0, &error),
                     -EPERM);
    uvperf__bpf_outputs_cpu_gone(scripted.outputs, 0);
    uvperf__bpf_outputs_disable(scripted.outputs);
    assert_string_equal(fake_log(), "");
    uvperf__bpf_outputs_free(scripted.outputs);
    scripted.outputs = NULL;
    assert_string_equal(fake_log(), "close, close, close, close, close, close, "
                                    "close, close, close");
    assert_string_equal(scripted_outputs_keys(), "0 1 2 3");
    fake_map_close(scripted.map_fd);
    /* The parent's rings are left. */
    fake_kernel_reset();
    assert_int_equal(make_cpus_end(), 0);
    assert_int_equal(scripted_outputs_setup(NULL), 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      scripted_outputs_test(put_that_fails_puts_none),
      scripted_outputs_test(take_that_fails_takes_none),
      scripted_outputs_test(entry_that_is_gone_is_no_failure),
      scripted_outputs_test(map_that_is_frozen_lets_nothing_be_put),
      scripted_outputs_test(take_that_failed_in_a_frozen_map_takes_all_later),
      scripted_outputs_test(leaving_the_map_spares_the_entries_of_others),
      scripted_outputs_test(leaving_a_shared_map_removes_its_events),
      scripted_outputs_test(leaving_a_map_that_preserves_removes_its_events),
      scripted_outputs_test(path_is_where_the_map_is_pinned),
      scripted_outputs_test(enable_tries_all_and_reports_the_first_failure),
      scripted_outputs_test(forked_child_leaves_all_to_the_parent),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
