/* SPDX-License-Identifier: MIT */
/* Live: SWITCH of the own task, checked against getrusage(2), and
 * SWITCH_CPU_WIDE, whose records must form a chain. */
#include "live_sideband.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

/* -- SWITCH --------------------------------------------------------------- */

typedef struct switches_s {
  live_truth_t truth;
  uint64_t outs, ins;
  uint64_t preempted; /* of the outs */
} switches_t;

/* The task runs when it enables its event, and when it disables it: out comes
 * first, in comes last. */
static void check_switch(live_collector_t *collector,
                         const uvperf_record_t *record) {
  switches_t *switches = collector->hook_data;
  int is_out = uvperf_record_is_switch_out(record);

  assert_int_equal(record->type, PERF_RECORD_SWITCH);
  assert_int_equal(is_out, collector->records % 2 == 0);
  assert_int_equal((record->misc & PERF_RECORD_MISC_SWITCH_OUT) != 0, is_out);
  live_assert_trailer(collector, record, &switches->truth);
  if (is_out) {
    switches->outs += 1;
    switches->preempted += (uint64_t)uvperf_record_is_preempted(record);
  } else {
    assert_int_equal(uvperf_record_is_preempted(record), 0);
    switches->ins += 1;
  }
}

static struct rusage usage_now(void) {
  struct rusage usage;

  assert_int_equal(getrusage(RUSAGE_THREAD, &usage), 0);
  return usage;
}

/* Few wakeups: with PREEMPT_RT each is a switch to a kernel thread, which
 * is recorded and wakes. */
static void switch_attr(struct perf_event_attr *attr, int has_trailer) {
  live_sideband_attr(attr, has_trailer);
  attr->context_switch = 1;
  uvperf_attr_set_wakeup_bytes(attr, 65536);
}

static void disable_and_drain(live_collector_t *collector) {
  uvperf_stats_t stats;

  assert_int_equal(uvperf_disable(&collector->event.handle, 0, NULL), 0);
  assert_int_equal(uvperf_flush(&collector->event.handle), 0);
  uvperf_stats(&collector->event.handle, &stats);
  assert_int_equal(stats.lost_records, 0);
  assert_int_equal(stats.corrupt, 0);
}

/* Returns the switches during some work of the calling task. getrusage counts
 * the same, except around enabling and disabling. */
static switches_t switches_in(uv_loop_t *loop, int has_trailer,
                              void (*work)(void *), void *arg) {
  struct rusage before, first, last, after;
  live_collector_t collector;
  struct perf_event_attr attr;
  switches_t switches;
  cpu_set_t old;

  memset(&switches, 0, sizeof(switches));
  live_truth_pin(&switches.truth, &old);
  switch_attr(&attr, has_trailer);
  before = usage_now();
  live_begin(loop, &collector, &attr, NULL, check_switch, &switches);
  first = usage_now();
  work(arg);
  last = usage_now();
  assert_int_equal(uvperf_disable(&collector.event.handle, 0, NULL), 0);
  after = usage_now();
  disable_and_drain(&collector);
  live_close(&collector);
  live_unpin(&old);
  assert_int_equal(switches.outs, switches.ins);
  assert_in_range(switches.preempted, last.ru_nivcsw - first.ru_nivcsw,
                  after.ru_nivcsw - before.ru_nivcsw);
  assert_in_range(switches.outs - switches.preempted,
                  last.ru_nvcsw - first.ru_nvcsw,
                  after.ru_nvcsw - before.ru_nvcsw);
  return switches;
}

#define TURNS 20

static void nothing(void *arg) {
}

/* Both are on one CPU: one must leave it for the other to work. */
static void wait_for_worker(void *arg) {
  live_worker_t *worker = arg;
  int turn;

  for (turn = 0; turn < TURNS; turn++)
    live_worker_do(worker);
}

static void wait_in_turns(uv_loop_t *loop, int has_trailer) {
  switches_t switches;
  live_worker_t worker;
  cpu_set_t old;

  live_pin(live_last_cpu(), &old);
  live_worker_fork(&worker, nothing, NULL);
  switches = switches_in(loop, has_trailer, wait_for_worker, &worker);
  live_worker_end(&worker);
  live_unpin(&old);
  assert_true(switches.outs >= TURNS);
}

static void sideband_switch_of_waiting_is_out_and_in(void **state) {
  support_need_own_events(__func__);
  wait_in_turns(*state, 1);
}

static void sideband_switch_without_trailer_is_only_its_misc(void **state) {
  support_need_own_events(__func__);
  wait_in_turns(*state, 0);
}

/* Until it is killed, or its parent is gone. */
static int spin(void *arg) {
  const pid_t *parent = arg;

  while (getppid() == *parent)
    continue;
  return 0;
}

/* Works until it was preempted three times. */
static void outlast(void *arg) {
  long before = usage_now().ru_nivcsw;

  while (usage_now().ru_nivcsw < before + 3)
    continue;
}

static void sideband_switch_of_a_busy_task_is_preempted(void **state) {
  pid_t parent = getpid();
  switches_t switches;
  cpu_set_t old;
  pid_t spinner;

  support_need_own_events(__func__);
  live_pin(live_last_cpu(), &old);
  spinner = support_fork(spin, &parent);
  switches = switches_in(*state, 1, outlast, NULL);
  assert_int_equal(kill(spinner, SIGKILL), 0);
  assert_int_equal(support_wait(spinner), 128 + SIGKILL);
  live_unpin(&old);
  assert_true(switches.preempted >= 3);
}

/* -- SWITCH_CPU_WIDE ------------------------------------------------------ */

typedef struct task_s {
  uint32_t pid, tid;
} task_t;

/* Every switch of a CPU is two records: the one that goes names the next, then
 * the one that comes names the last. */
typedef struct chain_s {
  live_truth_t truth;
  uint64_t records;
  uint64_t time;
  int has_running; /* which task runs is known */
  int is_switching;
  task_t running;
  task_t next;
  task_t players[2];
  uint64_t passes[2]; /* from one player right to the other */
} chain_t;

/* A task that was reaped meanwhile has no ids any more: perf_event_pid_type()
 * returns -1. */
static void assert_task(task_t task, task_t expected) {
  const uint32_t none = UINT32_MAX;

  if (task.tid == none || expected.tid == none)
    return;
  assert_int_equal(task.tid, expected.tid);
  assert_int_equal(task.pid, expected.pid);
}

static int is_player(const chain_t *chain, task_t task, int player) {
  return task.pid == chain->players[player].pid &&
         task.tid == chain->players[player].tid;
}

static void check_out(chain_t *chain, task_t next) {
  assert_int_equal(chain->is_switching, 0);
  chain->is_switching = 1;
  chain->next = next;
  if (!chain->has_running)
    return;
  chain->passes[0] +=
      is_player(chain, chain->running, 0) && is_player(chain, next, 1);
  chain->passes[1] +=
      is_player(chain, chain->running, 1) && is_player(chain, next, 0);
}

static int is_same(task_t one, task_t other) {
  return one.pid == other.pid && one.tid == other.tid;
}

/* The task that was named as the next may have come and gone without a word:
 * Linux 6.18 now and then leaves a task's two records out. It must not be one
 * of the players. */
static void check_in(chain_t *chain, task_t last) {
  assert_int_equal(chain->is_switching, 1);
  chain->is_switching = 0;
  if (is_same(last, chain->next)) {
    assert_int_equal(is_player(chain, last, 0) || is_player(chain, last, 1), 0);
    chain->has_running = 0;
    return;
  }
  if (chain->has_running)
    assert_task(last, chain->running);
  chain->running = chain->next;
  chain->has_running = 1;
}

static void check_cpu_wide(live_collector_t *collector,
                           const uvperf_record_t *record) {
  task_t other = {record->switch_cpu_wide.next_prev_pid,
                  record->switch_cpu_wide.next_prev_tid};
  task_t self = {record->pid, record->tid};
  chain_t *chain = collector->hook_data;
  live_truth_t truth = chain->truth;
  int is_out = uvperf_record_is_switch_out(record);

  assert_int_equal(record->type, PERF_RECORD_SWITCH_CPU_WIDE);
  truth.pid = (pid_t)record->pid;
  truth.tid = (pid_t)record->tid;
  live_assert_trailer(collector, record, &truth);
  assert_true(record->time >= chain->time);
  chain->time = record->time;
  if (is_out && record->present != 0 && chain->has_running)
    assert_task(self, chain->running);
  if (is_out)
    check_out(chain, other);
  else
    check_in(chain, other);
  if (!is_out && record->present != 0 && chain->has_running)
    assert_task(self, chain->running);
  if (!is_out)
    assert_int_equal(uvperf_record_is_preempted(record), 0);
  chain->records += 1;
}

typedef struct player_s {
  uv_sem_t *mine;
  uv_sem_t *other;
  task_t *task;
} player_t;

static void take_turns(void *arg) {
  player_t *player = arg;
  int turn;

  player->task->pid = (uint32_t)getpid();
  player->task->tid = live_tid();
  for (turn = 0; turn < TURNS; turn++) {
    uv_sem_wait(player->mine);
    uv_sem_post(player->other);
  }
}

/* Two threads on one CPU, each of which waits for the other. */
static void ping_pong(chain_t *chain) {
  player_t players[2];
  uv_thread_t threads[2];
  uv_sem_t turns[2];
  int i;

  for (i = 0; i < 2; i++)
    assert_int_equal(uv_sem_init(&turns[i], 0), 0);
  for (i = 0; i < 2; i++) {
    players[i].mine = &turns[i];
    players[i].other = &turns[1 - i];
    players[i].task = &chain->players[i];
    assert_int_equal(uv_thread_create(&threads[i], take_turns, &players[i]), 0);
  }
  uv_sem_post(&turns[0]);
  for (i = 0; i < 2; i++)
    assert_int_equal(uv_thread_join(&threads[i]), 0);
  for (i = 0; i < 2; i++)
    uv_sem_destroy(&turns[i]);
}

/* Others may run in between: it is repeated until each player once came right
 * after the other. */
static void watch_ping_pong(uv_loop_t *loop, int has_trailer) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  live_collector_t collector;
  struct perf_event_attr attr;
  chain_t chain;
  cpu_set_t old;
  int game;

  memset(&chain, 0, sizeof(chain));
  live_truth_pin(&chain.truth, &old);
  switch_attr(&attr, has_trailer);
  options.pid = -1;
  options.cpu = chain.truth.cpu;
  options.flags |= UVPERF_EVENT_CPU;
  live_begin(loop, &collector, &attr, &options, check_cpu_wide, &chain);
  for (game = 0; game < 200; game++) {
    ping_pong(&chain);
    assert_int_equal(uvperf_flush(&collector.event.handle), 0);
    if (chain.passes[0] > 0 && chain.passes[1] > 0)
      break;
  }
  ping_pong(&chain);
  disable_and_drain(&collector);
  live_close(&collector);
  live_unpin(&old);
  assert_true(chain.passes[0] > 0 && chain.passes[1] > 0);
}

static void
sideband_switches_of_a_cpu_name_who_was_and_who_comes(void **state) {
  support_need_cpu_wide(__func__);
  watch_ping_pong(*state, 1);
}

static void sideband_switches_of_a_cpu_without_trailer_chain_up(void **state) {
  support_need_cpu_wide(__func__);
  watch_ping_pong(*state, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(sideband_switch_of_waiting_is_out_and_in),
      support_loop_test(sideband_switch_without_trailer_is_only_its_misc),
      support_loop_test(sideband_switch_of_a_busy_task_is_preempted),
      support_loop_test(sideband_switches_of_a_cpu_name_who_was_and_who_comes),
      support_loop_test(sideband_switches_of_a_cpu_without_trailer_chain_up),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
