/* SPDX-License-Identifier: MIT */
#include "live.h"
#include "live_bpf_array.h"
#include "live_bpffs.h"
#include "tool_run.h"

#include <unistd.h>

/* The entry that the test removes was in the map. */
static void take_first(tool_run_t *run) {
  const int *array = run->data;

  assert_int_equal(live_bpf_array_take(*array, 0), 0);
  usleep(10000); /* counts */
}

static void fill_map_has_an_event_for_each_cpu_until_ctrl_c(void **state) {
  live_bpffs_t bpffs;
  tool_run_t run = {.args = {SAMPLE_PATH, bpffs.path, "cs"},
                    .interrupt_at = " filled",
                    .work = take_first};
  unsigned long long switches;
  int array;

  array = live_bpffs_pin_array(&bpffs, __func__, 0);
  run.data = &array;
  tool_run(&run);
  live_bpffs_umount(&bpffs);
  assert_int_equal(live_bpf_array_take(array, 1), -ENOENT);
  close(array);
  tool_run_expect_status(&run, 0);
  assert_int_equal(sscanf(run.out, "%llu cs\n", &switches), 1);
  assert_true(switches > 0);
}

static void fill_map_of_no_map_says_why(void **state) {
  tool_run_t run = {.args = {SAMPLE_PATH, "/nothing", "cs"}};

  tool_run_ends(&run, 1, "/nothing: ");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fill_map_has_an_event_for_each_cpu_until_ctrl_c),
      cmocka_unit_test(fill_map_of_no_map_says_why),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
