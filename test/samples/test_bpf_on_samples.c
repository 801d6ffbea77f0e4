/* SPDX-License-Identifier: MIT */
/* The program of the sample's first comment, as clang would make it. */
#include "live_bpf.h"
#include "live_bpffs.h"
#include "tool_run.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

static int new_map(void) {
  union bpf_attr attr;

  memset(&attr, 0, sizeof(attr));
  attr.map_type = BPF_MAP_TYPE_LRU_HASH;
  attr.key_size = sizeof(uint32_t);
  attr.value_size = sizeof(uint64_t);
  attr.max_entries = 10240;
  return live_bpf_call(BPF_MAP_CREATE, &attr);
}

static int load_program(int map) {
  const struct bpf_insn program[] = {
      /* uint32_t key = bpf_get_current_pid_tgid() >> 32; at r10 - 4 */
      {BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_get_current_pid_tgid},
      {BPF_ALU64 | BPF_RSH | BPF_K, BPF_REG_0, 0, 0, 32},
      {BPF_STX | BPF_MEM | BPF_W, BPF_REG_10, BPF_REG_0, -4, 0},
      /* uint64_t *count = bpf_map_lookup_elem(map, &key); */
      {BPF_LD | BPF_IMM | BPF_DW, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, map},
      {0, 0, 0, 0, 0},
      {BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_2, BPF_REG_10, 0, 0},
      {BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_2, 0, 0, -4},
      {BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_map_lookup_elem},
      /* if (count != NULL) { __sync_fetch_and_add(count, 1); return 0; } */
      {BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 4, 0},
      {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_1, 0, 0, 1},
      {BPF_STX | BPF_XADD | BPF_DW, BPF_REG_0, BPF_REG_1, 0, 0},
      {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0},
      {BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
      /* uint64_t first = 1; bpf_map_update_elem(map, &key, &first, BPF_ANY); */
      {BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0, -16, 1},
      {BPF_LD | BPF_IMM | BPF_DW, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, map},
      {0, 0, 0, 0, 0},
      {BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_2, BPF_REG_10, 0, 0},
      {BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_2, 0, 0, -4},
      {BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_3, BPF_REG_10, 0, 0},
      {BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_3, 0, 0, -16},
      {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_4, 0, 0, BPF_ANY},
      {BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_map_update_elem},
      /* return 0; which drops the sample */
      {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0},
      {BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
  };
  live_bpf_t loaded;

  live_bpf_load(&loaded, BPF_PROG_TYPE_PERF_EVENT, "count", program,
                sizeof(program) / sizeof(program[0]));
  return loaded.fd;
}

static int spin(void *arg) {
  volatile unsigned long sum = 0;

  prctl(PR_SET_PDEATHSIG, SIGKILL);
  while (getppid() != 1)
    sum++;
  return 0;
}

static void bpf_on_samples_prints_the_count_of_a_process(void **state) {
  live_bpffs_t program = {.path = ""}, counts;
  tool_run_t run = {.args = {SAMPLE_PATH, program.path, counts.path}};
  unsigned long long nr = 0;
  char part[64], *line;
  int map, fd;
  pid_t child;

  live_bpf_need(__func__, BPF_PROG_TYPE_PERF_EVENT);
  support_need_cpu_wide(__func__);
  if (!live_bpffs_mount(&program))
    support_skip(__func__, "mount(2), of a bpffs");
  counts = program;
  snprintf(counts.path, sizeof(counts.path), "%s/counts", counts.directory);
  map = new_map();
  assert_true(map >= 0);
  fd = load_program(map);
  assert_int_equal(live_bpffs_pin(&program, fd), 0);
  assert_int_equal(live_bpffs_pin(&counts, map), 0);
  close(fd);
  close(map);
  child = support_fork(spin, NULL);
  assert_true(child > 0);
  snprintf(part, sizeof(part), " samples of %d\n", (int)child);
  run.interrupt_at = part;
  tool_run(&run);
  kill(child, SIGKILL);
  support_wait(child);
  live_bpffs_umount(&program);
  tool_run_expect_status(&run, 0);
  line = strstr(run.out, part);
  assert_non_null(line);
  while (line > run.out && line[-1] != '\n')
    line--;
  assert_int_equal(sscanf(line, "%llu", &nr), 1);
  assert_in_range(nr, 1, 1100); /* of 999 in that second */
}

static void bpf_on_samples_without_a_program_says_why(void **state) {
  tool_run_t run = {.args = {SAMPLE_PATH, "/nothing", "/nothing"}};

  tool_run_ends(&run, 1, "/nothing: ");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bpf_on_samples_prints_the_count_of_a_process),
      cmocka_unit_test(bpf_on_samples_without_a_program_says_why),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
