/* SPDX-License-Identifier: MIT */
/* Live: COMM, FORK, EXIT and LOST of this kernel, checked against what the test
 * did. Other records are in test_event_sideband_*.c. */
#include "live_sideband.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* -- COMM ----------------------------------------------------------------- */

static void check_comm(live_collector_t *collector,
                       const uvperf_record_t *record) {
  static const char name[] = "abcdefghijklmno";
  uint64_t length = collector->records + 1;

  assert_int_equal(record->type, PERF_RECORD_COMM);
  assert_int_equal(record->comm.comm_size, length);
  assert_int_equal(strlen(record->comm.comm), length);
  assert_memory_equal(record->comm.comm, name, (size_t)length);
  assert_int_equal(record->comm.pid, getpid());
  assert_int_equal(record->comm.tid, live_tid());
  assert_int_equal(uvperf_record_is_exec(record), 0);
  live_assert_trailer(collector, record, collector->hook_data);
}

/* To get each length of padding between the name and the trailer. */
static void rename_to_each_length(uv_loop_t *loop, int has_trailer) {
  live_collector_t collector;
  struct perf_event_attr attr;
  live_truth_t truth;
  char name[16] = "";
  cpu_set_t old;
  size_t length;

  live_truth_pin(&truth, &old);
  live_sideband_attr(&attr, has_trailer);
  attr.comm = 1;
  live_begin(loop, &collector, &attr, NULL, check_comm, &truth);
  for (length = 1; length <= 15; length++) {
    name[length - 1] = (char)('a' + (int)length - 1);
    assert_int_equal(prctl(PR_SET_NAME, name), 0);
  }
  live_end(&collector, 15);
  live_unpin(&old);
}

static void sideband_comm_of_each_length_has_name_and_trailer(void **state) {
  support_need_own_events(__func__);
  rename_to_each_length(*state, 1);
}

static void sideband_comm_without_trailer_has_only_its_body(void **state) {
  support_need_own_events(__func__);
  rename_to_each_length(*state, 0);
}

static void rename_and_exec(void *arg) {
  prctl(PR_SET_NAME, "before");
  execl("/bin/true", "true", (char *)NULL);
  _exit(1);
}

/* An event of comm, mmap or mmap_data gets FORK and EXIT too, and the EXIT of
 * its own task though it is bound to that: perf_event_task_match() and
 * perf_event_exit_task() in kernel/events/core.c. */
static void assert_own_exit(const uvperf_record_t *record, pid_t pid) {
  assert_int_equal(record->type, PERF_RECORD_EXIT);
  assert_int_equal(record->task.pid, pid);
  assert_int_equal(record->task.tid, pid);
  assert_int_equal(record->task.ppid, getpid());
}

static void check_exec(live_collector_t *collector,
                       const uvperf_record_t *record) {
  const live_truth_t *truth = collector->hook_data;
  int is_exec = collector->records == 1;

  live_assert_trailer(collector, record, truth);
  if (collector->records == 2) {
    assert_own_exit(record, truth->pid);
    return;
  }
  assert_int_equal(record->type, PERF_RECORD_COMM);
  assert_string_equal(record->comm.comm, is_exec ? "true" : "before");
  assert_int_equal(uvperf_record_is_exec(record), is_exec);
  assert_int_equal((record->misc & PERF_RECORD_MISC_COMM_EXEC) != 0, is_exec);
  assert_int_equal(record->comm.pid, truth->pid);
  assert_int_equal(record->comm.tid, truth->pid);
}

static void sideband_comm_of_an_exec_differs_from_a_rename(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  live_collector_t collector;
  struct perf_event_attr attr;
  live_truth_t truth;
  live_worker_t worker;
  cpu_set_t old;

  support_need_own_events(__func__);
  live_truth_pin(&truth, &old);
  live_worker_fork(&worker, rename_and_exec, NULL);
  truth.pid = worker.pid;
  truth.tid = worker.pid;
  live_sideband_attr(&attr, 1);
  attr.comm = 1;
  attr.comm_exec = 1;
  options.pid = worker.pid;
  live_begin(*state, &collector, &attr, &options, check_exec, &truth);
  live_worker_do(&worker);
  live_worker_end(&worker);
  live_end(&collector, 3);
  live_unpin(&old);
}

/* -- FORK, EXIT ----------------------------------------------------------- */

/* EXIT has the real parent, which the threads of a process share:
 * perf_event_task_output(). */
static void assert_parent(const uvperf_record_t *record) {
  if (record->type == PERF_RECORD_EXIT &&
      record->task.pid == (uint32_t)getpid()) {
    assert_int_equal(record->task.ppid, getppid());
    return;
  }
  assert_int_equal(record->task.ppid, getpid());
  assert_int_equal(record->task.ptid, live_tid());
}

/* Records of one child or thread: its FORK, then its EXIT. */
static void check_task(live_collector_t *collector,
                       const uvperf_record_t *record, uint32_t pid,
                       uint32_t tid) {
  const live_truth_t *truth = collector->hook_data;
  uint64_t type = collector->records == 0 ? PERF_RECORD_FORK : PERF_RECORD_EXIT;

  assert_int_equal(record->type, type);
  assert_int_equal(record->task.pid, pid);
  assert_int_equal(record->task.tid, tid);
  assert_parent(record);
  assert_true(record->task.time <= live_now());
  /* Stamped after the trailer, perf_event_task_output(). */
  assert_true(record->time <= record->task.time);
  assert_true(record->time >= truth->before);
  assert_int_equal(record->cpu, truth->cpu);
  assert_int_equal(uvperf_record_is_fork_exec(record), 0);
  if (type == PERF_RECORD_FORK) {
    assert_int_equal(record->pid, getpid());
    assert_int_equal(record->tid, live_tid());
  } else {
    assert_int_equal(record->pid, pid);
    assert_int_equal(record->tid, tid);
  }
}

static void check_child(live_collector_t *collector,
                        const uvperf_record_t *record) {
  const live_truth_t *truth = collector->hook_data;

  check_task(collector, record, (uint32_t)truth->tid, (uint32_t)truth->tid);
}

static void check_thread(live_collector_t *collector,
                         const uvperf_record_t *record) {
  const live_truth_t *truth = collector->hook_data;

  check_task(collector, record, (uint32_t)getpid(), (uint32_t)truth->tid);
}

static int exit_at_once(void *arg) {
  return 0;
}

static void
begin_tasks(uv_loop_t *loop, live_collector_t *collector, live_truth_t *truth,
            void (*check)(live_collector_t *, const uvperf_record_t *)) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr;

  live_sideband_attr(&attr, 1);
  attr.task = 1;
  attr.inherit = 1;
  options.cpu = truth->cpu;
  options.flags |= UVPERF_EVENT_CPU;
  live_begin(loop, collector, &attr, &options, check, truth);
}

static void sideband_fork_and_exit_name_child_and_parent(void **state) {
  live_collector_t collector;
  live_truth_t truth;
  cpu_set_t old;

  support_need_own_events(__func__);
  live_truth_pin(&truth, &old);
  begin_tasks(*state, &collector, &truth, check_child);
  truth.tid = support_fork(exit_at_once, NULL);
  assert_int_equal(support_wait(truth.tid), 0);
  live_end(&collector, 2);
  live_unpin(&old);
}

static void note_tid(void *arg) {
  live_truth_t *truth = arg;

  truth->tid = (pid_t)live_tid();
}

static void sideband_fork_and_exit_of_a_thread_have_its_tid(void **state) {
  live_collector_t collector;
  live_truth_t truth;
  uv_thread_t thread;
  cpu_set_t old;

  support_need_own_events(__func__);
  live_truth_pin(&truth, &old);
  begin_tasks(*state, &collector, &truth, check_thread);
  assert_int_equal(uv_thread_create(&thread, note_tid, &truth), 0);
  assert_int_equal(uv_thread_join(&thread), 0);
  assert_true(live_run_until(*state, &collector.records, 2));
  live_end(&collector, 2);
  live_unpin(&old);
}

/* -- LOST ----------------------------------------------------------------- */

typedef struct losses_s {
  uint64_t id;
  uint64_t writes; /* SAMPLE records */
  uint64_t lost;   /* by LOST records */
  uint64_t losses; /* LOST records */
} losses_t;

static void check_lost(live_collector_t *collector,
                       const uvperf_record_t *record) {
  losses_t *losses = collector->hook_data;

  if (record->type == PERF_RECORD_SAMPLE) {
    losses->writes += 1;
    return;
  }
  assert_int_equal(record->type, PERF_RECORD_LOST);
  assert_true(record->lost.id == losses->id);
  assert_true(record->present == PERF_SAMPLE_IDENTIFIER);
  assert_true(record->id == losses->id);
  losses->lost += record->lost.lost;
  losses->losses += 1;
}

/* LOST is written with the first record that fits again. */
static void
sideband_lost_and_delivered_are_all_that_was_produced(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  live_collector_t collector;
  struct perf_event_attr attr;
  losses_t losses = {0, 0, 0, 0};
  uvperf_stats_t stats;
  uint64_t round;

  support_need_breakpoints(__func__);
  live_write_attr(&attr, PERF_SAMPLE_IP | PERF_SAMPLE_IDENTIFIER);
  attr.sample_id_all = 1;
  options.ring_bytes = 1;
  live_begin(*state, &collector, &attr, &options, check_lost, &losses);
  assert_int_equal(uvperf_event_id(&collector.event, &losses.id), 0);
  for (round = 1; round <= 3; round++) {
    live_write(1000);
    assert_int_equal(uvperf_flush(&collector.event.handle), 0);
    live_write(1);
    assert_int_equal(uvperf_flush(&collector.event.handle), 0);
    assert_int_equal(losses.losses, round);
    assert_in_range(losses.lost, round * 500, round * 1000 - 1);
    assert_int_equal(losses.writes + losses.lost, round * 1001);
    uvperf_stats(&collector.event.handle, &stats);
    assert_int_equal(stats.lost_records, losses.lost);
    assert_int_equal(stats.records, losses.writes + losses.losses);
    assert_in_range(stats.high_water_bytes, 4096 - 64,
                    support_ring_bytes(&collector.event.handle));
  }
  live_close(&collector);
}

/* Losses at the end of a stream are seen only by reading the count. */
static void sideband_losses_at_the_end_are_in_the_count(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  live_collector_t collector;
  struct perf_event_attr attr;
  losses_t losses = {0, 0, 0, 0};
  uvperf_stats_t stats;
  uvperf_count_t count;
  uvperf_event_t probe;

  support_need_breakpoints(__func__);
  live_write_attr(&attr, PERF_SAMPLE_IP | PERF_SAMPLE_IDENTIFIER);
  attr.read_format = UVPERF_FORMAT_LOST;
  if (uvperf_event_init(*state, &probe, &attr, NULL, NULL) == UV_EINVAL)
    support_skip(__func__, "PERF_FORMAT_LOST, Linux 6.0");
  uvperf_close(&probe.handle, NULL);
  options.ring_bytes = 1;
  live_begin(*state, &collector, &attr, &options, check_lost, &losses);
  live_write(1000);
  assert_int_equal(uvperf_flush(&collector.event.handle), 0);
  assert_int_equal(uvperf_event_read(&collector.event, &count, NULL), 0);
  assert_int_equal(count.value, 1000);
  assert_int_equal(losses.losses, 0);
  assert_int_equal(count.lost, 1000 - losses.writes);
  assert_int_not_equal(count.lost, 0);
  uvperf_stats(&collector.event.handle, &stats);
  assert_int_equal(stats.lost_records, count.lost);
  assert_int_equal(stats.lost_is_read, 1);
  live_close(&collector);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(sideband_comm_of_each_length_has_name_and_trailer),
      support_loop_test(sideband_comm_without_trailer_has_only_its_body),
      support_loop_test(sideband_comm_of_an_exec_differs_from_a_rename),
      support_loop_test(sideband_fork_and_exit_name_child_and_parent),
      support_loop_test(sideband_fork_and_exit_of_a_thread_have_its_tid),
      support_loop_test(sideband_lost_and_delivered_are_all_that_was_produced),
      support_loop_test(sideband_losses_at_the_end_are_in_the_count),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
