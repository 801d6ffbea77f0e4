/* SPDX-License-Identifier: MIT */
/* Live: a BPF program reads the counts of a set from the map that the set
 * fills. */
#include "live_bpf.h"
#include "live_bpf_array.h"
#include "live_set.h"

#include <sys/mman.h>
#include <unistd.h>

/* bpf_perf_event_read_value() on the current CPU: returns the lower half of the
 * count, or the helper's error. */
static int load_reader(const char *test, int array) {
  const struct bpf_insn insns[] = {
      {BPF_LD | BPF_IMM | BPF_DW, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, array},
      {0, 0, 0, 0, 0},
      {BPF_ALU | BPF_MOV | BPF_K, BPF_REG_2, 0, 0, -1}, /* BPF_F_CURRENT_CPU */
      {BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_3, BPF_REG_10, 0, 0},
      {BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_3, 0, 0, -24},
      {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_4, 0, 0, 24},
      {BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_perf_event_read_value},
      {BPF_JMP | BPF_JNE | BPF_K, BPF_REG_0, 0, 1, 0},
      {BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_0, BPF_REG_10, -24, 0},
      {BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
  };
  live_bpf_t program;

  live_bpf_need(test, BPF_PROG_TYPE_RAW_TRACEPOINT);
  live_bpf_load(&program, BPF_PROG_TYPE_RAW_TRACEPOINT, "", insns,
                COUNT_OF(insns));
  return program.fd;
}

/* Skips the test before Linux 5.10. */
static int64_t read_on(const char *test, int program, int cpu) {
  union bpf_attr attr;

  memset(&attr, 0, sizeof(attr));
  attr.test.prog_fd = (uint32_t)program;
  attr.test.flags = BPF_F_TEST_RUN_ON_CPU;
  attr.test.cpu = (uint32_t)cpu;
  if (live_bpf_call(BPF_PROG_TEST_RUN, &attr) != 0) {
    if (errno != EINVAL && errno != ENOTSUP)
      fail_msg("BPF_PROG_TEST_RUN: %s", strerror(errno));
    support_skip(test, "BPF_PROG_TEST_RUN of raw tracepoints (Linux 5.10)");
  }
  return (int32_t)attr.test.retval;
}

/* Causes nr page faults on a CPU. */
static void fault_on(int cpu, size_t nr) {
  size_t page = support_page_bytes();
  cpu_set_t old;
  char *memory;
  size_t i;

  live_pin(cpu, &old);
  memory = mmap(NULL, nr * page, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_ptr_not_equal(memory, MAP_FAILED);
  assert_int_equal(madvise(memory, nr * page, MADV_NOHUGEPAGE), 0);
  for (i = 0; i < nr; i++)
    *(volatile char *)(memory + i * page) = 1;
  munmap(memory, nr * page);
  live_unpin(&old);
}

/* The second attr, to distinguish it from the first; on all CPUs. */
static void plan_faults(live_plan_t *plan) {
  live_plan_begin(plan);
  live_plan_software(plan, PERF_COUNT_SW_CPU_MIGRATIONS);
  live_plan_software(plan, PERF_COUNT_SW_PAGE_FAULTS);
  live_plan_target(plan, UVPERF_TARGET_CPUS);
}

static void fill_map(live_set_t *live, int array) {
  uvperf_error_t error;

  error.reason[0] = '\0';
  if (uvperf_set_fill_map(&live->set, 1, array, &error) != 0)
    fail_msg("%s", error.reason);
}

/* Disabled, so that both reads find the same. */
static void program_reads_the_count_of_each_cpu_as_the_set_does(void **state) {
  int array = live_bpf_array_make(__func__, 0);
  int program = load_reader(__func__, array);
  const uvperf_place_t *place;
  uvperf_count_t count;
  live_plan_t plan;
  live_set_t live;
  size_t nr, i;
  int cpu;

  cpu = live_last_cpu();
  assert_int_equal(read_on(__func__, program, cpu), -ENOENT);
  plan_faults(&plan);
  live_set_open(*state, &live, &plan.options);
  fill_map(&live, array);
  close(array);
  assert_int_equal(read_on(__func__, program, cpu), 0);
  assert_int_equal(uvperf_enable(&live.set.handle, UVPERF_ALL, NULL), 0);
  assert_int_equal(uvperf_set_read(&live.set, live.reading, NULL), 0);
  nr = uvperf_reading_info(live.reading)->nr_places;
  for (i = 0; i < nr; i++)
    fault_on(uvperf_reading_place(live.reading, i)->cpu, 100 * (i + 1));
  assert_int_equal(uvperf_disable(&live.set.handle, UVPERF_ALL, NULL), 0);
  assert_int_equal(uvperf_set_read(&live.set, live.reading, NULL), 0);
  for (i = 0; i < nr; i++) {
    place = uvperf_reading_place(live.reading, i);
    assert_int_equal(uvperf_reading_get(live.reading, 1, UVPERF_ALL, i, &count),
                     0);
    assert_true(count.value >= 100 * (i + 1));
    assert_int_equal(read_on(__func__, program, place->cpu), count.value);
  }
  uvperf_close(&live.set.handle, live_set_on_close);
  assert_int_equal(read_on(__func__, program, cpu), -ENOENT);
  live_set_wait_closed(&live);
  close(program);
}

/* An event that continues to count is read where it counts. */
static void map_follows_the_targets_of_a_set_that_counts(void **state) {
  int array = live_bpf_array_make(__func__, 0);
  int program = load_reader(__func__, array);
  uvperf_target_t target = UVPERF_TARGET_INIT;
  int cpu = live_last_cpu();
  live_plan_t plan;
  live_set_t live;
  int64_t before;
  uint32_t index;
  char cpus[16];

  snprintf(cpus, sizeof(cpus), "%d", cpu);
  plan_faults(&plan);
  plan.options.nr_targets = 0;
  live_set_open(*state, &live, &plan.options);
  fill_map(&live, array);
  assert_int_equal(uvperf_enable(&live.set.handle, UVPERF_ALL, NULL), 0);
  assert_int_equal(read_on(__func__, program, cpu), -ENOENT);
  target.type = UVPERF_TARGET_CPUS;
  target.cpus = cpus;
  assert_int_equal(uvperf_set_add(&live.set, &target, NULL, &index, NULL), 0);
  before = read_on(__func__, program, cpu);
  assert_true(before >= 0);
  fault_on(cpu, 50);
  assert_true(read_on(__func__, program, cpu) >= before + 50);
  assert_int_equal(uvperf_set_remove(&live.set, index, NULL, NULL), 0);
  assert_int_equal(read_on(__func__, program, cpu), -ENOENT);
  live_set_close(&live);
  close(array);
  close(program);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(program_reads_the_count_of_each_cpu_as_the_set_does),
      support_loop_test(map_follows_the_targets_of_a_set_that_counts),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
