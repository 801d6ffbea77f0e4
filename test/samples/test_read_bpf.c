/* SPDX-License-Identifier: MIT */
#include "live_bpf_array.h"
#include "live_bpffs.h"
#include "tool_run.h"

#include <unistd.h>

/* Sends three numbers from CPU 0 as soon as there is a reader. */
static int send_numbers(void *arg) {
  return live_bpf_output_numbers(arg, 1001, 3);
}

static void read_bpf_prints_the_output_of_a_program(void **state) {
  live_bpffs_t bpffs;
  tool_run_t run = {.args = {SAMPLE_PATH, bpffs.path},
                    .interrupt_at = "CPU 0: 1003\n"};
  live_bpf_output_t output;
  pid_t child;
  int array;

  array = live_bpffs_pin_array(&bpffs, __func__, 0);
  live_bpf_output_open(&output, array);
  child = support_fork(send_numbers, &output);
  tool_run(&run);
  assert_int_equal(support_wait(child), 0);
  live_bpffs_umount(&bpffs);
  live_bpf_output_close(&output);
  close(array);
  tool_run_expect_status(&run, 0);
  assert_string_equal(run.out, "CPU 0: 1001\nCPU 0: 1002\nCPU 0: 1003\n"
                               "3 records, 0 lost\n");
}

static void read_bpf_of_no_map_says_why(void **state) {
  tool_run_t run = {.args = {SAMPLE_PATH, "/nothing"}};

  support_need_root(__func__);
  tool_run_ends(&run, 1, "/nothing");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(read_bpf_prints_the_output_of_a_program),
      cmocka_unit_test(read_bpf_of_no_map_says_why),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
