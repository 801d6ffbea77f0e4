/* SPDX-License-Identifier: MIT */
#include "live.h"
#include "live_bpf_array.h"
#include "live_bpffs.h"
#include "tool_run.h"

#include <unistd.h>

#define NUMBERS 1500 /* more than are taken at once */

/* Sends the numbers from CPU 0 as soon as there is a reader. */
static int send_numbers(void *arg) {
  return live_bpf_output_numbers(arg, 0, NUMBERS);
}

/* The map has an entry only for CPU 0. */
static void
pull_bpf_prints_all_and_names_cpus_that_are_not_heard(void **state) {
  live_bpffs_t bpffs;
  tool_run_t run = {.args = {SAMPLE_PATH, bpffs.path},
                    .interrupt_at = "CPU 0: 1499\n"};
  char line[32], *place = run.out;
  live_bpf_output_t output;
  size_t nr_cpus = 0, i;
  pid_t child;
  int array;

  array = live_bpffs_pin_array(&bpffs, __func__, 1);
  live_bpf_output_open(&output, array);
  child = support_fork(send_numbers, &output);
  tool_run(&run);
  assert_int_equal(support_wait(child), 0);
  live_bpffs_umount(&bpffs);
  live_bpf_output_close(&output);
  close(array);
  tool_run_expect_status(&run, 0);
  for (i = 0; i < NUMBERS; i++) {
    snprintf(line, sizeof(line), "CPU 0: %zu\n", i);
    assert_int_equal(strncmp(place, line, strlen(line)), 0);
    place += strlen(line);
  }
  assert_string_equal(place, "1500 records, 0 lost\n");
  uvperf_cpus(UVPERF_CPUS_ONLINE, NULL, &nr_cpus);
  if (nr_cpus > 1)
    tool_run_expect_text(run.err, "CPU 1 ");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pull_bpf_prints_all_and_names_cpus_that_are_not_heard),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
