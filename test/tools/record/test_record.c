/* SPDX-License-Identifier: MIT */
/* record writes every requested hit, in time order, and reports what it
 * wrote. */
#include <fcntl.h>
#include <unistd.h>

#include "call_server.h"
#include "make_elf.h"
#include "record_run.h"
#include "uvperf.h"

static tool_run_t run;           /* the last one that was kept, */
static record_run_count_t count; /* and what was recorded last */

static void record_exits(const char *words, int status) {
  memset(&run, 0, sizeof(run));
  record_run_run(&run, RECORD_PATH, words);
  tool_run_expect_status(&run, status);
}

static void record_counted(const char *words) {
  record_run_well(words);
  record_run_count(&count);
}

static void expect_reported(unsigned long expected) {
  unsigned long samples, lost;

  if (!record_run_reported(&run, &samples, &lost))
    print_error("%s\n", run.err);
  assert_true(record_run_reported(&run, &samples, &lost));
  assert_int_equal(samples, expected);
  assert_int_equal(lost, 0);
}

/* -- targets --------------------------------------------------------------- */

static void command_is_recorded_with_its_children_and_threads(void **state) {
  support_need_tracepoint(__func__, CALL_SERVER_EVENT);
  record_exits("-e " CALL_SERVER_EVENT " " STAT_TARGET " children 3 1234", 0);
  expect_reported(3702);
  record_run_count(&count);
  assert_int_equal(count.nr_of_event[0], 3702);
  assert_int_equal(count.nr_other_pids, 2 * 1234);
  assert_true(count.nr_of_type[PERF_RECORD_FORK] >= 3);
  assert_true(count.nr_of_type[PERF_RECORD_EXIT] >= 3);
  record_counted("-e " CALL_SERVER_EVENT " " STAT_TARGET " threads 4 500");
  assert_int_equal(count.nr_of_event[0], 2000);
  assert_int_equal(count.nr_other_pids, 0);
}

static void note_own_map(void *arg, const perf_data_record_t *record) {
  size_t *nr = arg;

  if (record->record != NULL && record->type == PERF_RECORD_MMAP2 &&
      strcmp(record->record->mmap.filename, RECORD_PATH) == 0)
    ++*nr;
}

/* After the fork, the command is still record's own program until its
 * execve(2). */
static void
command_has_nothing_mapped_of_the_program_that_forked_it(void **state) {
  perf_data_t data;
  size_t nr = 0;

  support_need_own_events(__func__);
  record_run_well("-e cpu-clock:u /bin/true");
  perf_data_open(&data, record_run_path());
  assert_true(perf_data_walk(&data, note_own_map, &nr) > 0);
  perf_data_close(&data);
  assert_int_equal(nr, 0);
}

static void command_without_inherit_is_recorded_alone(void **state) {
  support_need_tracepoint(__func__, CALL_SERVER_EVENT);
  record_counted("-i -e " CALL_SERVER_EVENT " " STAT_TARGET " children 3 1234");
  assert_int_equal(count.nr_of_event[0], 0);
}

static void call_and_end(tool_run_t *it) {
  call_server_calls(it->data, 777);
  call_server_end(it->data);
}

/* Records a process that makes 777 calls and ends once `at` was printed. The
 * recording ends with it. */
static void record_served(const char *at, const char *options) {
  call_server_t serve;
  char words[128];

  call_server_start(&serve, STAT_TARGET);
  memset(&run, 0, sizeof(run));
  tool_run_calls(&run, at, call_and_end, &serve);
  snprintf(words, sizeof(words), "-e %s %s%s", CALL_SERVER_EVENT, options,
           serve.id);
  record_run_run(&run, RECORD_PATH, words);
  tool_run_expect_status(&run, 0);
  record_run_count(&count);
  assert_int_equal(count.nr_of_event[0], 777);
  assert_int_equal(count.first_pid, serve.pid);
}

static void process_is_recorded_until_it_is_gone(void **state) {
  support_need_tracepoint(__func__, CALL_SERVER_EVENT);
  record_served("recording", "-v -p ");
  expect_reported(777);
}

static void thread_is_recorded_until_it_is_gone(void **state) {
  support_need_tracepoint(__func__, CALL_SERVER_EVENT);
  record_served("recording", "-v -t ");
}

/* The others are still recorded. */
static void missing_process_is_reported(void **state) {
  support_need_tracepoint(__func__, CALL_SERVER_EVENT);
  record_served("2147483647", "-p 2147483647,");
}

static void machine_is_recorded_while_a_command_runs(void **state) {
  support_need_cpu_wide(__func__);
  support_need_tracepoint(__func__, CALL_SERVER_EVENT);
  record_counted("-a -e " CALL_SERVER_EVENT " " STAT_TARGET " children 2 100");
  assert_int_equal(count.nr_of_event[0], 200);
  /* Tasks that already ran have records, too. */
  assert_true(count.nr_of_type[PERF_RECORD_COMM] > 3);
  record_counted("-C 0 -e cpu-clock -c 1000000 " STAT_TARGET
                 " children 9 9999");
  assert_true(count.nr_of_cpu[0] > 0);
  assert_int_equal(count.nr_of_cpu[1], 0);
}

enum {
  MAX_PID = 1 << 22
};

typedef struct beginning_s {
  size_t nr_before;     /* samples before the reading of /proc has ended */
  size_t nr_samples;    /* until now */
  size_t nr_of_unknown; /* samples of processes without a name */
  unsigned char is_known[MAX_PID];
} beginning_t;

/* Records that are made from /proc have no time. */
static void note_beginning(void *arg, const perf_data_record_t *record) {
  const uvperf_record_t *it = record->record;
  beginning_t *seen = arg;

  if (it == NULL)
    return;
  if (record->type == PERF_RECORD_MMAP2 && it->time == 0)
    seen->nr_before = seen->nr_samples;
  if (record->type == PERF_RECORD_COMM)
    seen->is_known[it->comm.pid % MAX_PID] = 1;
  if (record->type == PERF_RECORD_FORK)
    seen->is_known[it->task.pid % MAX_PID] = 1;
  if (record->type != PERF_RECORD_SAMPLE)
    return;
  seen->nr_samples++;
  if (it->pid != 0 && it->pid != UINT32_MAX)
    seen->nr_of_unknown += !seen->is_known[it->pid % MAX_PID];
}

/* record reads /proc first: otherwise most samples of a short recording would
 * be of record itself. No task is missed meanwhile. */
static void samples_begin_after_the_running_tasks(void **state) {
  static beginning_t seen;
  perf_data_t data;

  support_need_cpu_wide(__func__);
  memset(&seen, 0, sizeof(seen));
  record_run_shell("(while :; do /bin/true; done) & loop=$!; " RECORD_PATH
                   " -q -a -e cpu-clock -c 1000000 -o @ sleep 0.1; "
                   "status=$?; kill $loop; exit $status");
  perf_data_open(&data, record_run_path());
  perf_data_walk(&data, note_beginning, &seen);
  perf_data_close(&data);
  assert_true(seen.nr_samples > 10);
  assert_int_equal(seen.nr_before, 0);
  assert_int_equal(seen.nr_of_unknown, 0);
}

/* -- events ---------------------------------------------------------------- */

static void several_events_are_distinguished(void **state) {
  support_need_tracepoint(__func__, CALL_SERVER_EVENT);
  record_counted("-e " CALL_SERVER_EVENT
                 " -e page-faults/period=1/ " STAT_TARGET " calls 321");
  assert_int_equal(count.nr_of_event[0], 321);
  assert_true(count.nr_of_event[1] > 20);
  assert_int_equal(count.nr_inversions, 0);
}

static void group_that_is_read_has_the_counts_of_all(void **state) {
  support_need_tracepoint(__func__, CALL_SERVER_EVENT);
  record_counted("-e '{" CALL_SERVER_EVENT ",page-faults,cs}:S' " STAT_TARGET
                 " calls 50");
  assert_int_equal(count.nr_of_event[0], 50);
  assert_int_equal(count.nr_of_event[1], 0);
  assert_int_equal(count.nr_values, 150);
}

static void filter_passes_matching_hits(void **state) {
  support_need_tracepoint(__func__, CALL_SERVER_EVENT);
  record_counted("-e page-faults -e " CALL_SERVER_EVENT
                 " --filter 'policy == 1' " STAT_TARGET " calls 99");
  assert_int_equal(count.nr_of_event[1], 0);
  record_counted("-e page-faults -e " CALL_SERVER_EVENT
                 " --filter 'policy == 0' " STAT_TARGET " calls 99");
  assert_int_equal(count.nr_of_event[1], 99);
}

/* The average call chain is longer than this number, context markers included.
 * The kernel of s390x recorded only the marker of user space. Arm's kernel
 * finds no callers of Thumb code. */
#if defined(__s390x__)
#define SHORT_CHAIN 0
#elif defined(__arm__)
#define SHORT_CHAIN 1
#else
#define SHORT_CHAIN 3
#endif

static void stacks_are_frames_or_registers_and_bytes(void **state) {
  size_t nr;

  support_need_kernel_side(__func__);
  record_counted("-g -e page-faults -c 1 " STAT_TARGET " touch 10");
  assert_true(count.nr_frames > SHORT_CHAIN * count.nr_of_event[0]);
  assert_int_equal(count.nr_regs, 0);
  record_counted("--call-graph dwarf,1024 -e page-faults -c 1 " STAT_TARGET
                 " touch 10");
  nr = count.nr_of_event[0];
  assert_true(nr > 10);
  assert_true(count.nr_regs > 8 * nr);
  assert_true(count.nr_stack_bytes > 0 && count.nr_stack_bytes <= 1024 * nr);
}

static void switches_are_recorded_when_asked_for(void **state) {
  support_need_own_events(__func__);
  record_counted("-e page-faults " STAT_TARGET " children 2 1");
  assert_int_equal(count.nr_of_type[PERF_RECORD_SWITCH], 0);
  record_counted("--switch-events -e page-faults " STAT_TARGET " children 2 1");
  assert_true(count.nr_of_type[PERF_RECORD_SWITCH] > 2);
}

typedef struct own_s {
  uint32_t pid;
  size_t nr;
} own_t;

static void count_own(void *arg, const perf_data_record_t *record) {
  own_t *own = arg;

  own->nr += record->type == PERF_RECORD_SAMPLE && record->record != NULL &&
             record->record->pid == own->pid;
}

/* Returns how many samples of record itself there are. record waits for records
 * in epoll_wait(2), so it makes system calls. */
static size_t samples_of_record(const char *words) {
  perf_data_t data;
  own_t own = {0, 0};

  record_exits(words, 0);
  own.pid = (uint32_t)run.pid;
  perf_data_open(&data, record_run_path());
  assert_true(perf_data_walk(&data, count_own, &own) > 0);
  perf_data_close(&data);
  return own.nr;
}

static void record_itself_is_left_out_when_asked_for(void **state) {
  support_need_cpu_wide(__func__);
  support_need_tracepoint(__func__, "raw_syscalls:sys_enter");
  assert_true(
      samples_of_record("-a -m 4M -e raw_syscalls:sys_enter sleep 0.3") > 0);
  assert_int_equal(samples_of_record("-a -m 4M --exclude-perf "
                                     "-e raw_syscalls:sys_enter sleep 0.3"),
                   0);
}

static void only_the_requested_side_is_recorded(void **state) {
  support_need_kernel_side(__func__);
  record_counted("--all-user -e cpu-clock -c 100000 " TARGET_PATH " 40");
  assert_true(count.nr_user > 0 && count.nr_kernel == 0);
  record_counted("--all-kernel -e page-faults:u -c 1 " STAT_TARGET " touch 10");
  assert_int_equal(count.nr_user, 0);
}

/* -- losses ---------------------------------------------------------------- */

/* Each hit is in the file, or in the kernel's count of lost hits. */
static void lost_hits_are_counted(void **state) {
  unsigned long samples, lost;

  support_need_tracepoint(__func__, CALL_SERVER_EVENT);
  if (uvperf_kernel_knows(UVPERF_ATTR_READ_FORMAT, 1 << 4) != 1)
    support_skip(__func__, "Linux 6.0, for PERF_FORMAT_LOST");
  record_exits("-m 1 -e " CALL_SERVER_EVENT " " STAT_TARGET " threads 2 100000",
               0);
  assert_true(record_run_reported(&run, &samples, &lost));
  print_message("%lu samples, %lu lost\n", samples, lost);
  assert_true(lost > 0);
  record_run_count(&count);
  assert_int_equal(count.nr_of_event[0], samples);
  /* Other records were lost too, for example FORK. */
  assert_true(samples + count.lost >= 200000);
  assert_int_equal(count.lost, lost);
  assert_true(count.nr_of_type[PERF_RECORD_LOST] > 0);
  tool_run_expect_text(run.err, " -m");
}

/* -- messages -------------------------------------------------------------- */

static void command_keeps_its_streams_and_its_status(void **state) {
  support_need_own_events(__func__);
  record_exits("-q -e page-faults -- sh -c 'cat; echo err >&2; exit 7' "
               "<<END\nwords\nEND",
               7);
  assert_string_equal(run.out, "words\n");
  assert_string_equal(run.err, "err\n");
  record_exits("-e page-faults sh -c 'kill -9 $$'", 128 + 9);
  tool_run_expect_text(run.err, " signal 9");
}

static void missing_cycles_become_a_clock(void **state) {
  perf_data_t data;

  support_need_kernel_side(__func__);
  record_exits(STAT_TARGET " calls 1", 0);
  if (strstr(run.err, "cycles:P: ") == NULL)
    support_skip(__func__, "a machine without a hardware PMU");
  perf_data_open(&data, record_run_path());
  assert_string_equal(data.names[0], "task-clock");
  perf_data_close(&data);
  record_exits("-e cycles:u " STAT_TARGET " calls 1", 0);
  perf_data_open(&data, record_run_path());
  assert_string_equal(data.names[0], "task-clock:u");
  perf_data_close(&data);
}

/* Counts the samples in a function of the target, from the function's place in
 * the file and the recorded mapping. */
typedef struct hot_s {
  uint64_t begin, end; /* in the file; another function begins at the end */
  uint64_t shift;      /* from the file to memory */
  size_t nr, nr_inside;
} hot_t;

static int note_end(const char *name, void *arg) {
  hot_t *hot = arg;
  uint64_t place;

  if (elf_path_symbol(TARGET_PATH, name, &place) == 0 && place > hot->begin &&
      place < hot->end)
    hot->end = place;
  return 0;
}

static void note_hot(void *arg, const perf_data_record_t *each) {
  const uvperf_record_t *record = each->record;
  hot_t *hot = arg;

  if (record == NULL)
    return;
  if (record->type == PERF_RECORD_MMAP2 &&
      strcmp(record->mmap.filename, TARGET_PATH) == 0)
    hot->shift = record->mmap.addr - record->mmap.pgoff;
  if (record->type != PERF_RECORD_SAMPLE)
    return;
  hot->nr++;
  hot->nr_inside +=
      record->ip - hot->shift - hot->begin < hot->end - hot->begin;
}

static void cycles_of_a_pmu_are_in_the_hot_function(void **state) {
  perf_data_t data;
  hot_t hot = {.end = UINT64_MAX};

  support_need_hardware(__func__, PERF_COUNT_HW_CPU_CYCLES, 500000);
  assert_int_equal(elf_path_symbol(TARGET_PATH, "record_inner", &hot.begin), 0);
  assert_int_equal(elf_path_each(TARGET_PATH, note_end, &hot), 0);
  record_exits("-e cycles:u -c 500000 " TARGET_PATH " 2", 0);
  perf_data_open(&data, record_run_path());
  assert_string_equal(data.names[0], "cycles:u");
  perf_data_walk(&data, note_hot, &hot);
  perf_data_close(&data);
  expect_reported(hot.nr);
  assert_true(hot.nr >= 8);
  assert_in_range(hot.nr_inside, hot.nr * 9 / 10, hot.nr);
}

/* Runs no shell, because a shell may not reach the program in a directory of
 * root. */
static void unprivileged_user_records_the_user_side(void **state) {
  static tool_run_t user = {.args = {RECORD_PATH, "-o", NULL, "-g", "-e",
                                     "page-faults", "-c", "1", "ls", "/"},
                            .as_nobody = 1};

  if (tool_run_paranoid() != 2)
    support_skip(__func__, "kernel.perf_event_paranoid 2");
  user.args[2] = record_run_path();
  tool_run_exits(&user, 0);
  tool_run_expect_text(user.err, "page-faults:u");
  record_run_count(&count);
  assert_true(count.nr_user > 10);
  assert_int_equal(count.nr_kernel, 0);
  assert_true(count.nr_of_type[PERF_RECORD_MMAP2] > 3);
}

static void progress_is_printed_on_a_terminal(void **state) {
  support_need_own_events(__func__);
  tool_run_need_terminal(__func__);
  memset(&run, 0, sizeof(run));
  run.err_is_terminal = 1;
  record_run_run(&run, RECORD_PATH,
                 "--duration 1.5 -e cpu-clock:u -F 100 " STAT_TARGET " spin");
  tool_run_expect_status(&run, 0);
  tool_run_expect_text(run.err, "\r0.");
  tool_run_expect_text(run.err, " records, ");
  tool_run_expect_text(run.err, " 0 lost, 0/s");
  tool_run_expect_text(run.err, "\n[ uvperf-record: wrote ");
}

static void progress_is_not_printed_elsewhere(void **state) {
  support_need_own_events(__func__);
  record_exits("--duration 1.5 -e cpu-clock:u -F 100 " STAT_TARGET " spin", 0);
  assert_null(strchr(run.err, '\r'));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      record_run_test(command_is_recorded_with_its_children_and_threads),
      record_run_test(command_has_nothing_mapped_of_the_program_that_forked_it),
      record_run_test(command_without_inherit_is_recorded_alone),
      record_run_test(process_is_recorded_until_it_is_gone),
      record_run_test(missing_process_is_reported),
      record_run_test(thread_is_recorded_until_it_is_gone),
      record_run_test(machine_is_recorded_while_a_command_runs),
      record_run_test(samples_begin_after_the_running_tasks),
      record_run_test(several_events_are_distinguished),
      record_run_test(group_that_is_read_has_the_counts_of_all),
      record_run_test(filter_passes_matching_hits),
      record_run_test(stacks_are_frames_or_registers_and_bytes),
      record_run_test(switches_are_recorded_when_asked_for),
      record_run_test(record_itself_is_left_out_when_asked_for),
      record_run_test(only_the_requested_side_is_recorded),
      record_run_test(lost_hits_are_counted),
      record_run_test(command_keeps_its_streams_and_its_status),
      record_run_test(missing_cycles_become_a_clock),
      record_run_test(cycles_of_a_pmu_are_in_the_hot_function),
      record_run_test(unprivileged_user_records_the_user_side),
      record_run_test(progress_is_printed_on_a_terminal),
      record_run_test(progress_is_not_printed_elsewhere),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
