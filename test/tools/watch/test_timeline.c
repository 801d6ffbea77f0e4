/* SPDX-License-Identifier: MIT */
/* The timeline with made-up records, without a kernel. */
#include "make_record.h"
#include "support.h"

#include "watch/timeline.h"

/* A timeline, and the attr and source for its records. */
typedef struct scenario_s {
  struct perf_event_attr attr;
  uvperf_source_t source;
  watch_timeline_t timeline;
  common_buffer_t buffer;
} scenario_t;

static int alive; /* the result of is_alive */
static int known; /* the status to report; -1: none yet */

static int is_alive(watch_process_t *process) {
  return alive;
}

static void scenario_init(scenario_t *scenario) {
  memset(scenario, 0, sizeof(*scenario));
  uvperf_attr_software(&scenario->attr, PERF_COUNT_SW_DUMMY);
  scenario->attr.sample_type =
      PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
  scenario->attr.sample_id_all = 1;
  scenario->source.size = sizeof(scenario->source);
  scenario->source.attr = &scenario->attr;
  scenario->timeline.tasks.show_all = 1;
  scenario->timeline.is_alive = is_alive;
  scenario->timeline.kinds =
      ~(WATCH_BIT(WATCH_THREAD) | WATCH_BIT(WATCH_THREAD_EXIT));
  scenario->timeline.buffer = &scenario->buffer;
  alive = 1;
}

static void scenario_free(scenario_t *scenario) {
  watch_timeline_free(&scenario->timeline);
  common_buffer_free(&scenario->buffer);
}

/* Passes the record to the timeline as a handle would. */
static void add(scenario_t *scenario, record_builder_t *builder, uint64_t time,
                uint32_t cpu) {
  const uvperf_source_t *source = &scenario->source;
  const uvperf_record_t *record;
  uvperf_decoder_t *decoder;
  record_values_t values;

  memset(&values, 0, sizeof(values));
  values.time = time;
  values.cpu = cpu;
  record_put_trailer(builder, &scenario->attr, &values);
  record_end(builder);
  assert_int_equal(uvperf_decoder_new(&decoder, &source, 1), 0);
  assert_int_equal(
      uvperf_decode(decoder, builder->words, builder->size, &record), 0);
  watch_timeline_record(&scenario->timeline, record);
  uvperf_decoder_free(decoder);
}

static void add_task(scenario_t *scenario, uint32_t type, uint64_t time,
                     uint32_t pid, uint32_t tid, uint32_t ppid) {
  static record_builder_t builder;

  record_begin(&builder, type, 0);
  record_put_u32(&builder, pid);
  record_put_u32(&builder, ppid);
  record_put_u32(&builder, tid);
  record_put_u32(&builder, ppid);
  record_put_u64(&builder, time);
  add(scenario, &builder, time, 0);
}

static void add_comm(scenario_t *scenario, uint64_t time, uint32_t pid,
                     int is_exec, const char name[8]) {
  static record_builder_t builder;

  record_begin(&builder, PERF_RECORD_COMM,
               is_exec ? PERF_RECORD_MISC_COMM_EXEC : 0);
  record_put_u32(&builder, pid);
  record_put_u32(&builder, pid);
  record_put(&builder, name, 8);
  add(scenario, &builder, time, 1);
}

static void add_map(scenario_t *scenario, uint64_t time, uint32_t pid,
                    const char name[8]) {
  static record_builder_t builder;
  size_t i;

  record_begin(&builder, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER);
  record_put_u32(&builder, pid);
  record_put_u32(&builder, pid);
  record_put_u64(&builder, 0x1000);
  record_put_u64(&builder, 0x2000);
  for (i = 0; i < 5; i++)
    record_put_u64(&builder, 0);
  record_put(&builder, name, 8);
  add(scenario, &builder, time, 1);
}

static void add_lost(scenario_t *scenario, uint64_t time, uint32_t cpu,
                     uint64_t lost) {
  static record_builder_t builder;

  record_begin(&builder, PERF_RECORD_LOST, 0);
  record_put_u64(&builder, 0);
  record_put_u64(&builder, lost);
  add(scenario, &builder, time, cpu);
}

static void expect_lines(scenario_t *scenario, uint64_t until,
                         const char *expected) {
  watch_timeline_until(&scenario->timeline, until);
  common_buffer_add(&scenario->buffer, "", 1);
  assert_string_equal(scenario->buffer.text, expected);
  scenario->buffer.used = 0;
}

static int add_status(void *arg, watch_event_t *event) {
  assert_ptr_equal(arg, &known);
  assert_int_equal(event->tid, 8);
  if (known < 0)
    return 0;
  event->has_status = 1;
  event->status = (uint32_t)known;
  return 1;
}

/* Runs steps like "f1000:6,7,8": what, time : numbers or a name.
 * f: FORK by a process, of a process and thread   e: COMM of an exec
 * x: EXIT of a process and thread                 c: COMM of a rename
 * l: records lost on a CPU, and their number      m: MMAP2
 * k: this is the status of ended processes from now on; -1: it is not known yet
 * d: processes are dead, for is_alive()
 * s: looks for dead processes, after which so many are left */
static void run_steps(scenario_t *scenario, const char *steps) {
  watch_timeline_t *timeline = &scenario->timeline;
  unsigned first, third, second;
  char what, name[8];
  long time;
  int size;

  for (; *steps != '\0'; steps += size) {
    memset(name, 0, sizeof(name));
    first = third = 0;
    size = 0;
    sscanf(steps, " %c%ld%n:%u%n,%7[^, ]%n,%u%n", &what, &time, &size, &first,
           &size, name, &size, &third, &size);
    assert_true(size > 0);
    second = (unsigned)strtoul(name, NULL, 10);
    if (what == 'f') {
      add_task(scenario, PERF_RECORD_FORK, (uint64_t)time, second, third,
               first);
    } else if (what == 'x') {
      add_task(scenario, PERF_RECORD_EXIT, (uint64_t)time, first, second, 6);
    } else if (what == 'e' || what == 'c') {
      add_comm(scenario, (uint64_t)time, first, what == 'e', name);
    } else if (what == 'm') {
      add_map(scenario, (uint64_t)time, first, name);
    } else if (what == 'l') {
      add_lost(scenario, (uint64_t)time, first, second);
    } else if (what == 'k') {
      timeline->add_status = add_status;
      timeline->arg = &known;
      known = (int)time;
    } else if (what == 'd') {
      alive = 0;
    } else {
      assert_int_equal(what, 's');
      watch_timeline_sweep(timeline);
      assert_int_equal(timeline->tasks.nr_shown, time);
    }
  }
}

/* Steps, and the lines up to a time after them. */
typedef struct part_s {
  const char *steps;
  uint64_t until;
  const char *lines;
} part_t;

typedef struct row_s {
  const char *name;
  part_t parts[6];
  unsigned kinds; /* 0: all but threads */
  uint64_t late, lost, hidden;
} row_t;

#define END UINT64_MAX

static const row_t rows[] = {
    {"late_record_is_printed_and_counted",
     {{"f5000:6,7,7", 6000, "0.000005 fork   6 -> 7 ?\n"},
      {"f4000:6,8,8", 6000, "0.000004 fork   6 -> 8 ?\n"}},
     .late = 1},
    {"process_exits_with_its_last_thread",
     {{"f1000:6,7,7 f2000:7,7,8 x3000:7,7", 3500, "0.000001 fork   6 -> 7 ?\n"},
      {"x4000:7,8", END, "0.000004 exit   7 ?\n"}},
     .late = 0},
    /* A thread that calls execve(2) takes the id of the first thread
     * (fs/exec.c, de_thread). */
    {"exec_leaves_one_thread",
     {{"f1000:6,7,7 f2000:7,7,8 x3000:7,7 e4000:7,ls x5000:7,7", END,
       "0.000001 fork   6 -> 7 ?\n"
       "0.000002 thread 7 -> 7/8 ?\n"
       "0.000003 thread_exit 7 ?\n"
       "0.000004 exec   7 ls\n"
       "0.000005 exit   7 ls\n"}},
     .kinds = ~0u},
    /* Later events are not written before the exec. */
    {"exec_waits_for_its_executable_but_not_forever",
     {{"e1000:7,ls f2000:6,9,9", 900000000, ""},
      {"", 1100000000, "0.000001 exec   7 ls\n0.000002 fork   6 -> 9 ?\n"}},
     .late = 0},
    /* The mapping after the gap need not be the first one. */
    {"executable_is_not_guessed_after_a_loss",
     {{"e1000:7,ls l3001:1,5 m3000:7,/lib/ld", END,
       "0.000001 exec   7 ls\n"
       "0.000001 lost   5 records on CPU 1\n"
       "0.000003 mmap   7 /lib/ld 0x1000+0x2000\n"}},
     .lost = 5},
    /* The exec is still there, behind an exit that waits for its status. */
    {"executable_is_not_guessed_while_an_exit_waits",
     {{"k-1 x900:8,8 e1000:7,ls l3001:1,5 m3000:7,/lib/ld", 4000, ""},
      {"k0", END,
       "0.000000 exit   8 ? status 0\n"
       "0.000001 exec   7 ls\n"
       "0.000001 lost   5 records on CPU 1\n"
       "0.000003 mmap   7 /lib/ld 0x1000+0x2000\n"}},
     .lost = 5},
    /* The mapping may be one of the lost records. */
    {"exec_does_not_wait_after_a_loss",
     {{"e1000:7,ls l2000:0,5", 3000,
       "0.000001 exec   7 ls\n0.000001 lost   5 records on CPU 0\n"}},
     .lost = 5},
    /* Newer events of other CPUs were already written. */
    {"loss_on_a_quiet_cpu_is_not_late",
     {{"c1000:7,ls f5000:7,8,8", 6000,
       "0.000001 comm   7 ls\n0.000005 fork   7 -> 8 ls\n"},
      {"l7001:1,2 c7000:7,cp", 8000,
       "0.000005 lost   2 records on CPU 1\n0.000007 comm   7 cp\n"}},
     .lost = 2},
    /* Mappings are not printed, but one is the executable of an exec. */
    {"unwanted_kinds_are_left_out",
     {{"f1000:6,7,7 e2000:7,ls m3000:7,/bin/ls c4000:7,cp l5000:0,2 x6000:7,7",
       END,
       "0.000002 exec   7 ls /bin/ls\n0.000004 lost   2 records on CPU 0\n"}},
     .kinds = WATCH_BIT(WATCH_EXEC) | WATCH_BIT(WATCH_LOST),
     .lost = 2},
    /* The sanitizers would report if the process still pointed to the exec. */
    {"exec_that_is_not_wanted_delays_nothing",
     {{"e7000:8,ls x8000:9,9", 9000, "0.000008 exit   9 ?\n"},
      {"m9000:8,/bin/ls x10000:8,8", 11000, "0.000010 exit   8 ls\n"}},
     .kinds = WATCH_BIT(WATCH_EXIT)},
    /* The status of a process is that of its last thread. It comes later than
     * the record. */
    {"exit_waits_for_its_status_but_not_forever",
     {{"k-1 f1000:6,7,7 f2000:7,7,8 x3000:7,7 x4000:7,8 f5000:6,9,9", 100000000,
       "0.000001 fork   6 -> 7 ?\n"},
      {"k768", 100000001,
       "0.000004 exit   7 ? status 3\n0.000005 fork   6 -> 9 ?\n"},
      {"k-1 x100000000:8,8", 200000000, ""},
      {"", 300000000, "0.100000 exit   8 ?\n"},
      {"x300000000:8,8", END, "0.300000 exit   8 ?\n"}},
     .late = 0},
    {"exit_without_a_fork_is_printed_once",
     {{"x1000:7,7 x2000:9,10", END, "0.000001 exit   7 ?\n"}},
     .late = 0},
    /* The exit of thread 10 was lost. The exit of the process is printed when
     * the process is found to have ended. It is not printed again at the exits
     * of the other threads. */
    {"lost_exit_of_a_thread_does_not_hide_the_exit",
     {{"f1000:6,7,7 f2000:7,7,8 f3000:7,7,9 f3500:7,7,10", 4000,
       "0.000001 fork   6 -> 7 ?\n"},
      {"d0 l5000:1,1 x6000:7,9 x6500:7,8 x7000:7,7", END,
       "0.000003 lost   1 record on CPU 1\n0.000006 exit   7 ?\n"},
      {"s0 s0", END, ""}},
     .lost = 1},
    /* Everything is known about processes that were forked or did exec after
     * the loss, so is_alive() is not called. */
    {"process_created_after_the_loss_is_trusted",
     {{"d0 f500:6,5,5 l1000:1,1 f2000:6,7,7 f3000:7,7,8 x4000:7,7 e5000:5,ls "
       "f6000:5,5,9 x7000:5,5",
       END,
       "0.000000 fork   6 -> 5 ?\n"
       "0.000000 lost   1 record on CPU 1\n"
       "0.000002 fork   6 -> 7 ?\n"
       "0.000005 exec   5 ls\n"}},
     .lost = 1},
    /* Without its removal a tree would never end. */
    {"process_whose_exit_was_lost_is_removed",
     {{"f1000:6,7,7 l2000:1,1", 3000,
       "0.000001 fork   6 -> 7 ?\n0.000001 lost   1 record on CPU 1\n"},
      {"s1 d0 s1 s0", END, ""}},
     .lost = 1},
    {"tasks_of_other_pid_namespaces_are_counted",
     {{"f1000:0,0,0 x2000:0,0", END, ""}},
     .hidden = 1},
};

static void run_row(void **state) {
  const row_t *row = *state;
  const watch_counts_t *counts;
  scenario_t scenario;
  size_t i;

  scenario_init(&scenario);
  if (row->kinds != 0)
    scenario.timeline.kinds = row->kinds;
  for (i = 0; row->parts[i].steps != NULL; i++) {
    run_steps(&scenario, row->parts[i].steps);
    expect_lines(&scenario, row->parts[i].until, row->parts[i].lines);
  }
  counts = &scenario.timeline.counts;
  assert_int_equal(counts->late, row->late);
  assert_int_equal(counts->lost, row->lost);
  assert_int_equal(counts->hidden, row->hidden);
  scenario_free(&scenario);
}

int main(void) {
  return SUPPORT_RUN_ROWS(rows, run_row);
}
