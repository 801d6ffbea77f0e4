/* SPDX-License-Identifier: MIT */
/* The events of a map on a scripted machine: that all or none are put and taken
 * out, whose entries go, and what a forked child does not touch. */
#include "support.h"

#include <errno.h>

#include "scripted_outputs.h"
#include "uvperf.h"

#define world outputs_world

/* -- put and take --------------------------------------------------------- */

static void put_that_fails_puts_none(void **state) {
  uvperf_error_t error;
  unsigned nth;

  (void)state;
  outputs_world_open();
  for (nth = 1; nth <= 4; nth++) {
    fake_fail(FAKE_BPF_UPDATE, nth, -ENOMEM);
    assert_int_equal(uvperf__bpf_outputs_put(world.outputs, &error), -ENOMEM);
    explain_check(&error, -ENOMEM, UVPERF_CAUSE_MEMORY, "cannot be set");
    assert_string_equal(outputs_world_keys(), "");
    assert_false(uvperf__bpf_outputs_are_put(world.outputs));
  }
  assert_int_equal(uvperf__bpf_outputs_put(world.outputs, &error), 0);
  assert_string_equal(outputs_world_keys(), "0 1 2 3");
}

static void take_that_fails_takes_none(void **state) {
  uvperf_error_t error;
  unsigned nth;

  (void)state;
  outputs_world_open();
  assert_int_equal(uvperf__bpf_outputs_put(world.outputs, NULL), 0);
  for (nth = 1; nth <= 4; nth++) {
    fake_fail(FAKE_BPF_DELETE, nth, -EPERM);
    assert_int_equal(uvperf__bpf_outputs_take(world.outputs, &error), -EPERM);
    explain_check(&error, -EPERM, UVPERF_CAUSE_PERMISSION, "be deleted");
    assert_string_equal(outputs_world_keys(), "0 1 2 3");
    assert_true(uvperf__bpf_outputs_are_put(world.outputs));
  }
  assert_int_equal(uvperf__bpf_outputs_take(world.outputs, &error), 0);
  assert_string_equal(outputs_world_keys(), "");
}

static void entry_that_is_gone_is_no_failure(void **state) {
  (void)state;
  outputs_world_open();
  assert_int_equal(uvperf__bpf_outputs_put(world.outputs, NULL), 0);
  fake_map_clear(world.map, 0);
  fake_map_clear(world.map, 3);
  assert_int_equal(uvperf__bpf_outputs_take(world.outputs, NULL), 0);
  assert_string_equal(outputs_world_keys(), "");
}

static void map_that_is_frozen_lets_nothing_be_put(void **state) {
  uvperf_error_t error;

  (void)state;
  outputs_world_open();
  world.map->is_frozen = 1;
  assert_int_equal(uvperf__bpf_outputs_put(world.outputs, &error), -EPERM);
  assert_int_equal(error.cause, UVPERF_CAUSE_PERMISSION);
  world.map->is_frozen = 0;
  assert_int_equal(uvperf__bpf_outputs_put(world.outputs, &error), 0);
  world.map->is_frozen = 1;
  assert_int_equal(uvperf__bpf_outputs_take(world.outputs, &error), -EPERM);
  assert_string_equal(outputs_world_keys(), "0 1 2 3");
  /* What closing the file does needs no leave. */
  uvperf__bpf_outputs_leave_map(world.outputs);
  assert_string_equal(outputs_world_keys(), "");
}

/* The events cannot be put back either then. */
static void take_that_failed_in_a_frozen_map_takes_all_later(void **state) {
  (void)state;
  outputs_world_open();
  assert_int_equal(uvperf__bpf_outputs_put(world.outputs, NULL), 0);
  world.map->is_frozen = 1;
  assert_int_equal(uvperf__bpf_outputs_take(world.outputs, NULL), -EPERM);
  world.map->is_frozen = 0;
  assert_int_equal(uvperf__bpf_outputs_take(world.outputs, NULL), 0);
  assert_string_equal(outputs_world_keys(), "");
}

static void leaving_the_map_spares_the_entries_of_others(void **state) {
  (void)state;
  outputs_world_open();
  fake_map_put_foreign(world.map, 7);
  assert_int_equal(uvperf__bpf_outputs_put(world.outputs, NULL), 0);
  fake_map_put_foreign(world.map, 2);
  uvperf__bpf_outputs_leave_map(world.outputs);
  assert_string_equal(outputs_world_keys(), "2! 7!");
  assert_int_equal(fake_count(FAKE_BPF_DELETE), 0);
  assert_false(uvperf__bpf_outputs_are_put(world.outputs));
  uvperf__bpf_outputs_leave_map(world.outputs);
  assert_string_equal(outputs_world_keys(), "2! 7!");
}

/* Of a file that is shared, or a map that preserves, what was put goes by
 * hand. */
static void leaving_a_shared_map_takes_out_what_was_put(void **state) {
  (void)state;
  fake_fail(FAKE_BPF_MAP_BY_ID, 1, -EPERM);
  outputs_world_open();
  fake_map_put_foreign(world.map, 7);
  assert_int_equal(uvperf__bpf_outputs_put(world.outputs, NULL), 0);
  uvperf__bpf_outputs_leave_map(world.outputs);
  assert_string_equal(outputs_world_keys(), "7!");
  assert_int_equal(world.map->files, 1);
}

static void leaving_a_map_that_preserves_takes_out_what_was_put(void **state) {
  (void)state;
  world.map->info.map_flags = 0x800;
  outputs_world_open();
  fake_map_put_foreign(world.map, 7);
  assert_int_equal(uvperf__bpf_outputs_put(world.outputs, NULL), 0);
  uvperf__bpf_outputs_leave_map(world.outputs);
  assert_string_equal(outputs_world_keys(), "7!");
}

static void path_is_where_the_map_is_pinned(void **state) {
  (void)state;
  world.map->path = "/bpf/events";
  fake_map_close(world.map_fd);
  world.map_fd = -1;
  world.options.map_fd = -1;
  world.options.path = "/bpf/events";
  outputs_world_open();
  assert_int_equal(uvperf__bpf_outputs_put(world.outputs, NULL), 0);
  assert_string_equal(outputs_world_keys(), "0 1 2 3");
  assert_int_equal(world.map->files, 1);
  uvperf__bpf_outputs_free(world.outputs);
  world.outputs = NULL;
  assert_string_equal(outputs_world_keys(), "");
}

/* -- enabling ------------------------------------------------------------- */

static void enable_tries_all_and_tells_the_first_failure(void **state) {
  uvperf_error_t error;
  int cpu;

  (void)state;
  outputs_world_open();
  fake_fail(FAKE_IOCTL, 2, -EPERM);
  fake_fail(FAKE_IOCTL, 3, -ENODEV);
  assert_int_equal(uvperf__bpf_outputs_enable(world.outputs, &error), -EPERM);
  explain_check(&error, -EPERM, UVPERF_CAUSE_PERMISSION, "ENABLE");
  for (cpu = 0; cpu < 4; cpu++)
    assert_int_equal(outputs_world_event(cpu)->enabled, cpu == 0 || cpu == 3);
  assert_int_equal(uvperf__bpf_outputs_enable(world.outputs, &error), 0);
  uvperf__bpf_outputs_disable(world.outputs);
  for (cpu = 0; cpu < 4; cpu++)
    assert_int_equal(outputs_world_event(cpu)->enabled, 0);
}

/* -- fork ----------------------------------------------------------------- */

static void forked_child_leaves_all_to_the_parent(void **state) {
  uvperf_error_t error;
  int is_shared;

  (void)state;
  for (is_shared = 0; is_shared < 2; is_shared++) {
    if (is_shared)
      fake_fail(FAKE_BPF_MAP_BY_ID, 1, -EPERM);
    outputs_world_open();
    assert_int_equal(uvperf__bpf_outputs_enable(world.outputs, NULL), 0);
    assert_int_equal(uvperf__bpf_outputs_put(world.outputs, NULL), 0);
    fake_process(4711);
    fake_log_clear();
    assert_int_equal(uvperf__bpf_outputs_put(world.outputs, &error), -EPERM);
    explain_check(&error, -EPERM, UVPERF_CAUSE_ARGUMENT, "parent");
    assert_int_equal(uvperf__bpf_outputs_take(world.outputs, &error), -EPERM);
    assert_int_equal(uvperf__bpf_outputs_enable(world.outputs, &error), -EPERM);
    assert_int_equal(uvperf__bpf_outputs_cpu_come(world.outputs, 0, &error),
                     -EPERM);
    uvperf__bpf_outputs_cpu_gone(world.outputs, 0);
    uvperf__bpf_outputs_disable(world.outputs);
    assert_string_equal(fake_log(), "");
    uvperf__bpf_outputs_free(world.outputs);
    world.outputs = NULL;
    assert_string_equal(fake_log(), "close, close, close, close, close, close, "
                                    "close, close, close");
    assert_string_equal(outputs_world_keys(), "0 1 2 3");
    fake_map_close(world.map_fd);
    /* The parent's rings are left. */
    fake_kernel_reset();
    assert_int_equal(cpu_tree_end(), 0);
    assert_int_equal(outputs_world_setup(NULL), 0);
  }
}

#define world_test(f)                                                          \
  cmocka_unit_test_setup_teardown(f, outputs_world_setup,                      \
                                  outputs_world_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      world_test(put_that_fails_puts_none),
      world_test(take_that_fails_takes_none),
      world_test(entry_that_is_gone_is_no_failure),
      world_test(map_that_is_frozen_lets_nothing_be_put),
      world_test(take_that_failed_in_a_frozen_map_takes_all_later),
      world_test(leaving_the_map_spares_the_entries_of_others),
      world_test(leaving_a_shared_map_takes_out_what_was_put),
      world_test(leaving_a_map_that_preserves_takes_out_what_was_put),
      world_test(path_is_where_the_map_is_pinned),
      world_test(enable_tries_all_and_tells_the_first_failure),
      world_test(forked_child_leaves_all_to_the_parent),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
