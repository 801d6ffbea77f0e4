/* SPDX-License-Identifier: MIT */
/* BPF programs that run while the whole machine is profiled. */
#include <time.h>

#include "account_rows.h"
#include "live_bpf.h"
#include "profile/naming.h"
#include "profile/programs.h"
#include "tool_run.h"

#define LENGTH 4000

/* What runs under the profiler. */
typedef struct programs_s {
  live_bpf_t early;
  uint8_t late_tag[BPF_TAG_SIZE];
} programs_t;

/* The program is a long row of additions, so that it is sampled, and not the
 * kernel around it. `first` makes its tag differ. */
static void load(live_bpf_t *program, const char *name, int32_t first) {
  static struct bpf_insn insns[LENGTH + 2];
  size_t i;

  insns[0] = (struct bpf_insn){BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, first};
  for (i = 1; i <= LENGTH; i++)
    insns[i] = (struct bpf_insn){BPF_ALU64 | BPF_ADD | BPF_K, 0, 0, 0, 1};
  insns[LENGTH + 1] = (struct bpf_insn){BPF_JMP | BPF_EXIT, 0, 0, 0, 0};
  live_bpf_load(program, BPF_PROG_TYPE_SOCKET_FILTER, name, insns, LENGTH + 2);
}

static int64_t cpu_ns(void) {
  struct timespec used;

  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

static void run_for(const live_bpf_t *program, int64_t ns) {
  int64_t until = cpu_ns() + ns;
  unsigned char packet[64] = {0};
  union bpf_attr attr;

  while (cpu_ns() < until) {
    memset(&attr, 0, sizeof(attr));
    attr.test.prog_fd = (uint32_t)program->fd;
    attr.test.data_in = (uintptr_t)packet;
    attr.test.data_size_in = sizeof(packet);
    attr.test.repeat = 1000;
    if (live_bpf_call(BPF_PROG_TEST_RUN, &attr) != 0 && errno != EINTR)
      fail_msg("BPF_PROG_TEST_RUN: %s", strerror(errno));
  }
}

/* Both programs run in turns, so that both are in the last table: samples fade
 * each second. The late one is unloaded before names are looked up for the last
 * time. */
static void work(tool_run_t *run) {
  programs_t *programs = run->data;
  live_bpf_t late;
  size_t i;

  load(&late, "late", 2);
  for (i = 0; i < 20; i++) {
    run_for(&programs->early, 50000000);
    run_for(&late, 50000000);
  }
  memcpy(programs->late_tag, late.tag, sizeof(late.tag));
  live_bpf_close(&late);
}

static void expect_name(const tool_run_t *run, const uint8_t *tag,
                        const char *name) {
  char text[64] = "bpf_prog_";
  size_t i;

  for (i = 0; i < BPF_TAG_SIZE; i++)
    snprintf(text + strlen(text), 3, "%02x", tag[i]);
  snprintf(text + strlen(text), sizeof(text) - strlen(text), "_%s", name);
  tool_run_expect_text(run->out, text);
}

static void live_program_is_named_while_it_is_loaded(void **state) {
  programs_t programs;
  tool_run_t run = {
      .args = {PROFILE_PATH, "--top", "-a", "-F", "997", "--rows", "200"},
      .interrupt_at = " samples/s",
      .work = work,
      .data = &programs,
      .keeps_end = 1};

  support_need_cpu_wide(__func__);
  support_need_kernel_side(__func__);
  live_bpf_need(__func__, BPF_PROG_TYPE_SOCKET_FILTER);
  load(&programs.early, "early", 1);
  if (programs.early.nr_functions == 0) {
    live_bpf_close(&programs.early);
    support_skip(__func__, "a JIT for BPF, and addresses of the kernel");
  }
  tool_run(&run);
  live_bpf_close(&programs.early);
  tool_run_expect_status(&run, 0);
  expect_name(&run, programs.early.tag, "early");
  expect_name(&run, programs.late_tag, "late");
  assert_null(strstr(run.out, "_einittext"));
}

static void sample_at(profile_account_t *account, const live_bpf_t *program,
                      uint64_t period) {
  account_rows_sample_kernel(account, program->addr[0] + program->len[0] - 1,
                             period);
}

/* Returns the names of the three rows, the heaviest one first. */
static void name_rows(const profile_account_t *account, char names[3][256]) {
  stacks_row_t *rows;
  stacks_t stacks;
  size_t i, nr;

  stacks_init(&stacks);
  profile_naming_build(account, &stacks);
  rows = stacks_rank(&stacks, STACKS_BY_FUNCTION, &nr);
  assert_int_equal(nr, 3);
  for (i = 0; i < nr; i++)
    snprintf(names[i], 256, "%s", rows[i].name);
  free(rows);
  stacks_free(&stacks);
}

/* A function that was reported while it was sampled. */
#define LATE       UINT64_C(0xffffffffc1000000)
#define LATE_BYTES 16

/* A task's events do not report that another task unloads a program. */
static void live_program_of_a_task_profile_is_named_if_it_stays(void **state) {
  symbols_options_t options = {.kallsyms = ""};
  live_bpf_t late = {.addr = {LATE}, .len = {LATE_BYTES}};
  const uvperf_ksymbol_t function = {
      .addr = LATE, .len = LATE_BYTES, .name = "later", .name_size = 5};
  char before[3][256], after[3][256], address[64];
  size_t nr_before, nr_after;
  profile_gap_t gap;
  profile_account_t account;
  live_bpf_t stays, goes;
  symbols_t *symbols;
  uv_loop_t loop;

  live_bpf_need(__func__, BPF_PROG_TYPE_SOCKET_FILTER);
  load(&stays, "stays", 3);
  load(&goes, "goes", 4);
  if (goes.nr_functions == 0) {
    live_bpf_close(&stays);
    live_bpf_close(&goes);
    support_skip(__func__, "a JIT for BPF, and addresses of the kernel");
  }
  assert_int_equal(uv_loop_init(&loop), 0);
  symbols = symbols_new(&loop, &options);
  profile_account_init(&account, STACKS_BY_FUNCTION, symbols);
  profile_programs_read(&account);
  profile_account_function(&account, &function, 0);
  sample_at(&account, &stays, 3);
  sample_at(&account, &late, 2);
  sample_at(&account, &goes, 1);
  profile_programs_check(&account);
  name_rows(&account, before);
  nr_before = profile_naming_gaps(&account, &gap, 1);
  snprintf(address, sizeof(address), "[kernel]+0x%llx",
           (unsigned long long)goes.addr[0] + goes.len[0] - 1);
  live_bpf_close(&goes);
  profile_programs_check(&account);
  name_rows(&account, after);
  nr_after = profile_naming_gaps(&account, &gap, 1);
  live_bpf_close(&stays);
  symbols_close(symbols, NULL, NULL);
  uv_run(&loop, UV_RUN_DEFAULT);
  profile_account_free(&account);
  symbols_free(symbols);
  assert_int_equal(uv_loop_close(&loop), 0);
  assert_non_null(strstr(before[0], "_stays"));
  assert_string_equal(before[1], "later");
  assert_non_null(strstr(before[2], "_goes"));
  assert_string_equal(after[0], before[0]);
  assert_string_equal(after[1], before[1]);
  assert_string_equal(after[2], address);
  assert_int_equal(nr_before, 0);
  assert_int_equal(nr_after, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(live_program_is_named_while_it_is_loaded),
      cmocka_unit_test(live_program_of_a_task_profile_is_named_if_it_stays),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
