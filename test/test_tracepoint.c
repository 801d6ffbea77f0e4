/* SPDX-License-Identifier: MIT */
/* Tracepoints by their ids, under a scripted root and under the real one. */
#include "support.h"
#include "temp_tree.h"

#include <errno.h>

#include "tracepoint.h"

#define EVENTS "/sys/kernel/tracing/events"
#define OLD    "/sys/kernel/debug/tracing/events"

static void expect(const char *root, uint64_t id, int rc, const char *name) {
  char text[32] = "left";

  assert_int_equal(uvperf__tracepoint_name(root, id, text, sizeof(text)), rc);
  assert_string_equal(text, name);
}

static void tracepoint_name_is_found_by_id(void **state) {
  const temp_tree_t *tree = *state;

  temp_tree_write(tree, EVENTS "/enable", "0\n");
  temp_tree_write(tree, EVENTS "/sched/enable", "0\n");
  temp_tree_write(tree, EVENTS "/sched/sched_switch/id", "316\n");
  temp_tree_write(tree, EVENTS "/sched/sched_switch/format", "ID: 317\n");
  temp_tree_write(tree, EVENTS "/irq/irq_handler_entry/id", "32\n");
  expect(tree->root, 316, 0, "sched:sched_switch");
  expect(tree->root, 32, 0, "irq:irq_handler_entry");
  expect(tree->root, 317, -ENOENT, "");
  expect(tree->root, UINT64_C(1) << 32 | 316, -ENOENT, "");
}

static void tracepoint_name_is_cut(void **state) {
  const temp_tree_t *tree = *state;
  char text[8];

  temp_tree_write(tree, EVENTS "/sched/sched_switch/id", "316\n");
  assert_int_equal(uvperf__tracepoint_name(tree->root, 316, text, 8), 0);
  assert_string_equal(text, "sched:s");
}

static void tracepoint_name_without_tracefs_is_enodev(void **state) {
  const temp_tree_t *tree = *state;

  expect(tree->root, 316, -ENODEV, "");
}

static void tracepoint_name_is_found_in_debugfs_too(void **state) {
  const temp_tree_t *tree = *state;

  temp_tree_write(tree, OLD "/sched/sched_switch/id", "316\n");
  expect(tree->root, 316, 0, "sched:sched_switch");
  expect(tree->root, 1, -ENOENT, "");
}

static void tracepoint_name_of_the_real_root_is_the_kernels(void **state) {
  uint64_t id = support_need_tracepoint(__func__, "syscalls:sys_enter_getpgid");

  (void)state;
  expect("", id, 0, "syscalls:sys_enter_getpgid");
  expect("", 65000000, -ENOENT, "");
}

#define WITH_TREE(test)                                                        \
  cmocka_unit_test_setup_teardown(test, temp_tree_setup, temp_tree_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      WITH_TREE(tracepoint_name_is_found_by_id),
      WITH_TREE(tracepoint_name_is_cut),
      WITH_TREE(tracepoint_name_without_tracefs_is_enodev),
      WITH_TREE(tracepoint_name_is_found_in_debugfs_too),
      cmocka_unit_test(tracepoint_name_of_the_real_root_is_the_kernels),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
