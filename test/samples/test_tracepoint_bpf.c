/* SPDX-License-Identifier: MIT */
#include "live.h"
#include "live_bpf.h"
#include "live_bpffs.h"
#include "tool_run.h"

static void hit(tool_run_t *run) {
  live_syscall(10);
}

static void tracepoint_bpf_attaches_until_ctrl_c(void **state) {
  live_bpffs_t bpffs;
  tool_run_t run = {.args = {SAMPLE_PATH, LIVE_SYSCALL, bpffs.path},
                    .interrupt_at = "attached",
                    .work = hit};
  live_bpf_counter_t counter;
  char line[32];

  support_need_tracepoint(__func__, LIVE_SYSCALL);
  live_bpf_counter_open(__func__, &counter, BPF_PROG_TYPE_TRACEPOINT,
                        LIVE_PGID);
  if (!live_bpffs_mount(&bpffs)) {
    live_bpf_counter_close(&counter);
    support_skip(__func__, "mount(2), of a bpffs");
  }
  assert_int_equal(live_bpffs_pin(&bpffs, counter.fd), 0);
  tool_run(&run);
  live_syscall(10); /* after it is detached */
  live_bpffs_umount(&bpffs);
  tool_run_expect_status(&run, 0);
  snprintf(line, sizeof(line), "program %u\n", live_bpf_id(counter.fd));
  tool_run_expect_text(run.out, line);
  assert_int_equal(live_bpf_counter_runs(&counter, -1), 10);
  live_bpf_counter_close(&counter);
}

static void tracepoint_bpf_without_a_program_says_why(void **state) {
  tool_run_t run = {.args = {SAMPLE_PATH, LIVE_SYSCALL, "/nothing"}};

  tool_run_ends(&run, 1, "/nothing: ");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tracepoint_bpf_attaches_until_ctrl_c),
      cmocka_unit_test(tracepoint_bpf_without_a_program_says_why),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
