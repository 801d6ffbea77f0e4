/* SPDX-License-Identifier: MIT */
/* Compares the reader with libbpf's perf_buffer. */
#include "bpf_pair.h"

#include <errno.h>
#include <signal.h>
#include <sys/time.h>

#include "live.h"

/* With sanitizers a record takes about ten times as long. */
#ifdef __SANITIZE_ADDRESS__
#define SHARE 5
#else
#define SHARE 1
#endif

/* -- producers ------------------------------------------------------------ */

/* A thread that sends payloads on one CPU. */
typedef struct producer_s {
  uv_thread_t thread;
  bpf_pair_t *pair;
  int cpu;
  uint32_t nr;
  uint32_t batch;
  uint32_t window; /* most unread payloads of a reader; 0: any number */
  int code;
  atomic_int is_done;
} producer_t;

static int has_room(const producer_t *producer, uint32_t sent) {
  const bpf_pair_t *pair = producer->pair;
  int side;

  for (side = 0; side < BPF_PAIR_SIDES; side++)
    if (sent + producer->batch -
            atomic_load(&pair->ears[side][producer->cpu].read) >
        producer->window)
      return 0;
  return 1;
}

static void produce(void *arg) {
  producer_t *producer = arg;
  uint32_t sent;
  cpu_set_t old;

  live_pin(producer->cpu, &old);
  for (sent = 0; sent < producer->nr; sent += producer->batch) {
    while (producer->window != 0 && !has_room(producer, sent))
      uv_sleep(0);
    producer->code =
        bpf_numbered_send(&producer->pair->numbered, producer->batch);
    if (producer->code != 0)
      break;
  }
  atomic_store(&producer->is_done, 1);
}

static void publish_read(bpf_pair_t *pair) {
  int side, cpu;

  for (side = 0; side < BPF_PAIR_SIDES; side++)
    for (cpu = 0; cpu < BPF_PAIR_CPUS; cpu++)
      atomic_store(&pair->ears[side][cpu].read, pair->ears[side][cpu].payloads);
}

/* Starts a thread on each CPU that sends nr payloads. Runs the loop until all
 * payloads are sent and read. */
static void run_producers(uv_loop_t *loop, bpf_pair_t *pair,
                          const producer_t *plan) {
  producer_t producers[BPF_PAIR_CPUS];
  int cpus[BPF_PAIR_CPUS];
  size_t nr = live_cpus(cpus, BPF_PAIR_CPUS);
  size_t i;

  for (i = 0; i < nr; i++) {
    producers[i] = *plan;
    producers[i].pair = pair;
    producers[i].cpu = cpus[i];
    assert_int_equal(
        uv_thread_create(&producers[i].thread, produce, &producers[i]), 0);
  }
  for (i = 0; i < nr; i++) {
    while (!atomic_load(&producers[i].is_done)) {
      uv_run(loop, UV_RUN_ONCE);
      publish_read(pair);
    }
    uv_thread_join(&producers[i].thread);
    assert_int_equal(producers[i].code, 0);
  }
  assert_true(bpf_pair_read(loop, pair, cpus, nr));
}

static atomic_uint signals;

static void on_signal(int number) {
  (void)number;
  atomic_fetch_add(&signals, 1);
}

/* -- tests ---------------------------------------------------------------- */

/* Nothing is lost, because no more is written than the rings hold. */
static void records_that_fit_equal_libbpfs(void **state) {
  static const struct {
    bpf_pair_plan_t plan;
    producer_t producer;
  } cases[] = {
      {{16, 256, 64, 0, 0}, {.nr = 60000, .batch = 50, .window = 900}},
      {{16, 256, 64, 64 * 2048, 0}, {.nr = 60000, .batch = 50, .window = 900}},
      {{16, 256, 64, 8192, 0}, {.nr = 60000, .batch = 7, .window = 900}},
      {{64, 64, 16, 0, 0}, {.nr = 60000, .batch = 1, .window = 700}},
      {{1000, 60000, 128, 0, 0}, {.nr = 3000, .batch = 2, .window = 8}},
      {{1000, 60000, 128, 65536, 0}, {.nr = 3000, .batch = 4, .window = 8}},
  };
  int cpus[BPF_PAIR_CPUS];
  size_t nr, i, cpu;
  producer_t producer;
  bpf_pair_t *pair;

  for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    pair = bpf_pair_open(__func__, *state, &cases[i].plan);
    producer = cases[i].producer;
    producer.nr = producer.nr / SHARE / producer.batch * producer.batch;
    run_producers(*state, pair, &producer);
    nr = live_cpus(cpus, BPF_PAIR_CPUS);
    for (cpu = 0; cpu < nr; cpu++) {
      assert_int_equal(pair->numbered.states[cpus[cpu]].next, producer.nr);
      assert_int_equal(pair->ears[BPF_PAIR_OURS][cpus[cpu]].lost, 0);
      bpf_pair_assert_complete(pair, BPF_PAIR_OURS, cpus[cpu]);
      bpf_pair_assert_same(pair, cpus[cpu]);
    }
    bpf_pair_close(*state, pair);
  }
}

/* More is written than the rings hold, and nothing is read meanwhile. So both
 * readers lose the same payloads. */
static void losses_of_full_rings_equal_libbpfs(void **state) {
  static const bpf_pair_plan_t plans[] = {
      {16, 256, 1, 0, 0},
      {16, 1024, 2, 4096, 0},
      {100, 60000, 32, 0, 0},
  };
  static const uint32_t most[] = {200, 60, 12};
  int cpus[BPF_PAIR_CPUS];
  size_t nr = live_cpus(cpus, BPF_PAIR_CPUS);
  size_t i, cpu;
  bpf_pair_t *pair;
  int round;

  for (i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
    pair = bpf_pair_open(__func__, *state, &plans[i]);
    for (round = 0; round < 400 / SHARE; round++) {
      for (cpu = 0; cpu < nr; cpu++)
        bpf_pair_send(pair, cpus[cpu], 1 + (uint32_t)rand() % most[i]);
      assert_true(bpf_pair_read(*state, pair, cpus, nr));
    }
    for (cpu = 0; cpu < nr; cpu++) {
      bpf_pair_send(pair, cpus[cpu], 1); /* reports the last loss */
      assert_true(bpf_pair_read(*state, pair, cpus, nr));
      assert_true(pair->ears[BPF_PAIR_OURS][cpus[cpu]].lost > 0);
      bpf_pair_assert_complete(pair, BPF_PAIR_OURS, cpus[cpu]);
      bpf_pair_assert_complete(pair, BPF_PAIR_THEIRS, cpus[cpu]);
      bpf_pair_assert_same(pair, cpus[cpu]);
    }
    bpf_pair_close(*state, pair);
  }
}

/* Each reader has its own losses, and reports them. */
static void both_report_all_losses(void **state) {
  static const bpf_pair_plan_t plans[] = {
      {16, 256, 1, 0, 0},
      {16, 256, 2, 4096, 0},
      {100, 60000, 32, 0, 0},
  };
  static const producer_t producers[] = {
      {.nr = 400000, .batch = 500},
      {.nr = 400000, .batch = 500},
      {.nr = 20000, .batch = 100},
  };
  int cpus[BPF_PAIR_CPUS];
  size_t nr = live_cpus(cpus, BPF_PAIR_CPUS);
  size_t i, cpu;
  bpf_pair_t *pair;

  for (i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
    pair = bpf_pair_open(__func__, *state, &plans[i]);
    run_producers(*state, pair, &producers[i]);
    for (cpu = 0; cpu < nr; cpu++) {
      bpf_pair_send(pair, cpus[cpu], 1);
      assert_true(bpf_pair_read(*state, pair, cpus, nr));
      bpf_pair_assert_complete(pair, BPF_PAIR_OURS, cpus[cpu]);
      bpf_pair_assert_complete(pair, BPF_PAIR_THEIRS, cpus[cpu]);
      assert_true(pair->ears[BPF_PAIR_OURS][cpus[cpu]].lost > 0);
    }
    bpf_pair_close(*state, pair);
  }
}

static void map_of_one_entry_is_read_as_by_libbpf(void **state) {
  static const bpf_pair_plan_t plan = {16, 256, 8, 0, 1};
  int cpus[BPF_PAIR_CPUS];
  size_t nr = live_cpus(cpus, BPF_PAIR_CPUS);
  const bpf_numbered_state_t *of;
  bpf_pair_t *pair;
  size_t i;
  int side;

  if (cpus[0] != 0)
    support_skip(__func__, "to run on CPU 0");
  pair = bpf_pair_open(__func__, *state, &plan);
  assert_int_equal(perf_buffer__buffer_cnt(pair->theirs), 1);
  assert_int_equal(uvperf_nr_rings(&pair->ours.handle), 1);
  for (i = 0; i < nr; i++)
    bpf_pair_send(pair, cpus[i], 20);
  assert_true(bpf_pair_read(*state, pair, cpus, nr));
  bpf_pair_assert_same(pair, 0);
  bpf_pair_assert_complete(pair, BPF_PAIR_OURS, 0);
  for (i = 1; i < nr; i++)
    for (side = 0; side < BPF_PAIR_SIDES; side++) {
      of = &pair->numbered.states[cpus[i]];
      assert_int_equal(of->to[side].refused, 20);
      assert_int_equal(of->to[side].code, -E2BIG);
      assert_int_equal(pair->ears[side][cpus[i]].nr, 0);
      assert_int_equal(uvperf_bpf_reader_cpu_status(&pair->ours, cpus[i]),
                       UV_E2BIG);
    }
  bpf_pair_close(*state, pair);
}

static void send_one(bpf_pair_t *pair, int cpu, uint32_t size) {
  pair->numbered.states[cpu].least = size;
  pair->numbered.states[cpu].span = 1;
  bpf_pair_send(pair, cpu, 1);
}

/* perf_prepare_header() in kernel/events/core.c cuts the size of a record to 16
 * bits: here to 4480. libbpf delivers 70004 bytes without checking them, so the
 * test checks nothing more about libbpf. */
static void payload_of_more_than_a_record_is_corrupt(void **state) {
  static const bpf_pair_plan_t plan = {100, 100, 64, 0, 0};
  int cpus[BPF_PAIR_CPUS];
  const bpf_pair_ear_t *ours;
  uint64_t turn;
  bpf_pair_t *pair;
  int cpu;

  pair = bpf_pair_open(__func__, *state, &plan);
  uv_timer_stop(&pair->look);
  live_cpus(cpus, 1);
  cpu = cpus[0];
  ours = &pair->ears[BPF_PAIR_OURS][cpu];
  send_one(pair, cpu, 65516);
  send_one(pair, cpu, 70000);
  send_one(pair, cpu, 100);
  for (turn = 0; turn < 1000 && ours->payloads < 2; turn++)
    live_run_ms(*state, 1);
  assert_int_equal(ours->nr, 2);
  assert_int_equal(ours->heard[0].number, 0);
  assert_int_equal(ours->heard[0].size, 65516);
  assert_int_equal(ours->heard[1].number, 2);
  assert_int_equal(pair->corrupt, 1);
  pair->corrupt = 0;
  bpf_pair_close(*state, pair);
}

/* The tests above rely on the number of payloads that they sent. */
static void send_hands_all_out_though_signals_come(void **state) {
  const struct itimerval often = {{0, 1000}, {0, 1000}};
  const struct itimerval never = {{0, 0}, {0, 0}};
  struct sigaction action = {.sa_handler = on_signal};
  bpf_numbered_t numbered;
  cpu_set_t old;
  uint64_t sent = 0;
  int cpu;

  (void)state;
  support_need_cpu_wide(__func__);
  live_bpf_need(__func__, BPF_PROG_TYPE_SCHED_CLS);
  assert_int_equal(bpf_numbered_open(&numbered, 1, 0, 16, 256), 0);
  live_cpus(&cpu, 1);
  live_pin(cpu, &old);
  sigaction(SIGALRM, &action, NULL);
  atomic_store(&signals, 0);
  setitimer(ITIMER_REAL, &often, NULL);
  for (; atomic_load(&signals) < 50; sent += 20000) {
    assert_int_equal(bpf_numbered_send(&numbered, 20000), 0);
    assert_int_equal(numbered.states[cpu].next, sent + 20000);
  }
  setitimer(ITIMER_REAL, &never, NULL);
  live_unpin(&old);
  bpf_numbered_close(&numbered);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(records_that_fit_equal_libbpfs),
      support_loop_test(losses_of_full_rings_equal_libbpfs),
      support_loop_test(both_report_all_losses),
      support_loop_test(map_of_one_entry_is_read_as_by_libbpf),
      support_loop_test(payload_of_more_than_a_record_is_corrupt),
      cmocka_unit_test(send_hands_all_out_though_signals_come),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
