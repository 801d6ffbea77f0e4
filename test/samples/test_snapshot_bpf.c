/* SPDX-License-Identifier: MIT */
#include "live_bpf_array.h"
#include "live_bpffs.h"
#include "tool_run.h"

#include <signal.h>
#include <unistd.h>

#define NUMBERS 5000 /* of 24 bytes: more than a ring of 65536 has room for */

static void send_numbers(tool_run_t *run) {
  unsigned int number;

  for (number = 0; number < NUMBERS; number++)
    assert_int_equal(live_bpf_output_on(run->data, 0, &number, sizeof(number)),
                     0);
}

static void interrupt(tool_run_t *run) {
  kill(run->pid, SIGINT);
}

static void snapshot_bpf_prints_the_newest_at_sigusr1(void **state) {
  live_bpffs_t bpffs;
  tool_run_t run = {.args = {SAMPLE_PATH, bpffs.path},
                    .interrupt_at = "ready",
                    .interrupt_with = SIGUSR1,
                    .work = send_numbers,
                    .check_at = "end of",
                    .check = interrupt};
  unsigned int number = 0, first;
  live_bpf_output_t output;
  const char *line;
  int array;

  array = live_bpffs_pin_array(&bpffs, __func__, 0);
  live_bpf_output_open(&output, array);
  run.data = &output;
  tool_run(&run);
  live_bpffs_umount(&bpffs);
  live_bpf_output_close(&output);
  close(array);
  tool_run_expect_status(&run, 0);
  assert_int_equal(sscanf(run.out, "CPU 0: %u", &first), 1);
  assert_in_range(first, 1, NUMBERS - 1000); /* the first are overwritten */
  number = first;
  for (line = run.out; *line != '\0'; line = strchr(line, '\n') + 1, number++) {
    assert_int_equal(sscanf(line, "CPU 0: %u", &first), 1);
    assert_int_equal(first, number);
  }
  assert_int_equal(number, NUMBERS);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(snapshot_bpf_prints_the_newest_at_sigusr1),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
