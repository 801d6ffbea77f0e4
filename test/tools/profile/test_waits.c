/* SPDX-License-Identifier: MIT */
/* The waits in made-up records, even if some records are missing. */
#include "support.h"

#include <unistd.h>

#include "profile/waits.h"

#define PID    7u
#define CGROUP 55u

typedef struct fixture_s {
  profile_account_t account;
  profile_waits_t waits;
} fixture_t;

static void begin(fixture_t *fixture) {
  profile_account_init(&fixture->account, STACKS_BY_THREAD, NULL);
  profile_waits_init(&fixture->waits, &fixture->account, "/dev/null");
  fixture->waits.started_ns = 1000;
}

static void end(fixture_t *fixture) {
  profile_account_free(&fixture->account);
}

static void put(fixture_t *fixture, uint32_t type, uint16_t misc, uint32_t tid,
                uint64_t time) {
  uvperf_record_t record;

  memset(&record, 0, sizeof(record));
  record.type = type;
  record.misc = misc;
  record.pid = PID;
  record.tid = tid;
  record.time = time;
  if (type == PERF_RECORD_FORK || type == PERF_RECORD_EXIT) {
    record.task.pid = record.task.ppid = PID;
    record.task.tid = tid;
    record.task.ptid = PID;
    record.task.time = time;
  }
  profile_waits_record(&fixture->waits, &record);
}

/* Adds the sample of a switch out, with this address in the kernel. */
static void put_sample(fixture_t *fixture, uint32_t tid, uint64_t time,
                       uint64_t address, int is_of_user) {
  const uint64_t ips[] = {(uint64_t)PERF_CONTEXT_KERNEL, address,
                          (uint64_t)PERF_CONTEXT_USER, 0x1234};
  uvperf_record_t record;

  memset(&record, 0, sizeof(record));
  record.type = PERF_RECORD_SAMPLE;
  record.misc = PERF_RECORD_MISC_KERNEL;
  record.pid = PID;
  record.tid = tid;
  record.time = time;
  record.sample.callchain.ips = ips;
  record.sample.callchain.nr = is_of_user ? 4 : 2;
  record.sample.cgroup = CGROUP;
  profile_waits_record(&fixture->waits, &record);
}

static void put_out(fixture_t *fixture, uint32_t tid, uint64_t time) {
  put(fixture, PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT, tid, time);
}

static void put_in(fixture_t *fixture, uint32_t tid, uint64_t time) {
  put(fixture, PERF_RECORD_SWITCH, 0, tid, time);
}

/* Expects how long and how often threads waited with this innermost frame. */
static void expect(const fixture_t *fixture, uint32_t object, uint64_t offset,
                   uint64_t waits, uint64_t ns) {
  const stacks_tally_t *tally = &fixture->account.stacks;
  const profile_frame_t *frame;
  uint64_t nr = 0, sum = 0;
  size_t i;

  for (i = 0; i < tally->nr_places; i++) {
    if (tally->entries[i] == NULL)
      continue;
    frame = tally->entries[i]->items;
    if (frame->object != object || frame->offset != offset)
      continue;
    nr += tally->entries[i]->samples;
    sum += tally->entries[i]->weight;
  }
  assert_int_equal(nr, waits);
  assert_int_equal(sum, ns);
}

static void expect_kernel(const fixture_t *fixture, uint64_t offset,
                          uint64_t waits, uint64_t ns) {
  expect(fixture, PROFILE_OBJECT_KERNEL, offset, waits, ns);
}

static void wait_is_the_time_between_the_switches(void **state) {
  fixture_t fixture;

  (void)state;
  begin(&fixture);
  put_sample(&fixture, 8, 2000, 0x10, 1);
  put_sample(&fixture, 9, 2001, 0x20, 1);
  put_out(&fixture, 8, 2010);
  put_out(&fixture, 9, 2011);
  put_in(&fixture, 8, 2110);
  put_sample(&fixture, 8, 2200, 0x10, 1);
  put_out(&fixture, 8, 2210);
  put_in(&fixture, 8, 2215);
  put_in(&fixture, 9, 3011);
  profile_waits_end(&fixture.waits, 5000, 0);
  expect_kernel(&fixture, 0x10, 2, 105);
  expect_kernel(&fixture, 0x20, 1, 1000);
  assert_int_equal(fixture.account.samples, 3);
  assert_int_equal(fixture.account.weight, 1105);
  assert_int_equal(fixture.waits.nr_unknown, 0);
  end(&fixture);
}

static void preempted_thread_is_ready_to_run(void **state) {
  fixture_t fixture;

  (void)state;
  begin(&fixture);
  put_sample(&fixture, 8, 2000, 0x10, 1);
  put(&fixture, PERF_RECORD_SWITCH_CPU_WIDE,
      PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, 8,
      2010);
  put(&fixture, PERF_RECORD_SWITCH_CPU_WIDE, 0, 8, 2040);
  expect_kernel(&fixture, 0x10, 0, 0);
  expect(&fixture, PROFILE_OBJECT_READY, 0, 1, 30);
  end(&fixture);
}

static void wait_at_the_end_is_counted_up_to_it(void **state) {
  fixture_t fixture;

  (void)state;
  begin(&fixture);
  put_sample(&fixture, 8, 2000, 0x10, 1);
  put_out(&fixture, 8, 2010);
  profile_waits_end(&fixture.waits, 5010, 0);
  expect_kernel(&fixture, 0x10, 1, 3000);
  end(&fixture);
}

/* The wait is counted once a stack shows that the thread is not a kernel
 * thread. */
static void wait_from_before_the_start_has_no_stack(void **state) {
  fixture_t fixture;

  (void)state;
  begin(&fixture);
  put_in(&fixture, 8, 1500);
  put_in(&fixture, 9, 1600);
  put_sample(&fixture, 8, 2000, 0x10, 1);
  put_out(&fixture, 8, 2010);
  put_sample(&fixture, 9, 2000, 0x10, 0);
  put_out(&fixture, 9, 2010);
  put_in(&fixture, 8, 2020);
  expect(&fixture, PROFILE_OBJECT_BEFORE, 0, 1, 500);
  expect_kernel(&fixture, 0x10, 1, 10);
  end(&fixture);
}

/* A SWITCH record has no cgroup, but the next sample has it. */
static void wait_from_before_the_start_is_of_the_threads_cgroup(void **state) {
  fixture_t fixture;
  size_t i;

  (void)state;
  profile_account_init(&fixture.account, STACKS_BY_CGROUP, NULL);
  profile_waits_init(&fixture.waits, &fixture.account, "/dev/null");
  put_in(&fixture, 8, 1500);
  put_sample(&fixture, 8, 2000, 0x10, 1);
  expect(&fixture, PROFILE_OBJECT_BEFORE, 0, 1, 1500);
  for (i = 0; i < fixture.account.stacks.nr_places; i++) {
    const stacks_entry_t *entry = fixture.account.stacks.entries[i];

    if (entry != NULL && entry->samples > 0)
      assert_int_equal(fixture.account.whos[entry->number].cgroup, CGROUP);
  }
  end(&fixture);
}

static void thread_that_is_born_did_not_wait_before(void **state) {
  fixture_t fixture;

  (void)state;
  begin(&fixture);
  put(&fixture, PERF_RECORD_FORK, 0, 8, 1400);
  put_in(&fixture, 8, 1500);
  put_sample(&fixture, 8, 2000, 0x10, 1);
  assert_int_equal(fixture.account.samples, 0);
  assert_int_equal(fixture.waits.nr_unknown, 0);
  end(&fixture);
}

/* A dead thread is switched out for ever. Its id is reused. */
static void thread_that_ended_does_not_wait(void **state) {
  fixture_t fixture;

  (void)state;
  begin(&fixture);
  put(&fixture, PERF_RECORD_FORK, 0, 8, 1400);
  put_in(&fixture, 8, 1500);
  put(&fixture, PERF_RECORD_EXIT, 0, 8, 1600);
  put_sample(&fixture, 8, 1610, 0x10, 1);
  put_out(&fixture, 8, 1620);
  profile_waits_end(&fixture.waits, 5000, 0);
  assert_int_equal(fixture.account.samples, 0);
  put(&fixture, PERF_RECORD_FORK, 0, 8, 6000);
  put_in(&fixture, 8, 6001);
  put_sample(&fixture, 8, 6002, 0x20, 1);
  put_out(&fixture, 8, 6003);
  put_in(&fixture, 8, 6013);
  expect_kernel(&fixture, 0x20, 1, 10);
  assert_int_equal(fixture.account.samples, 1);
  end(&fixture);
}

static void kernel_threads_and_tasks_without_id_are_left_out(void **state) {
  fixture_t fixture;

  (void)state;
  begin(&fixture);
  put_sample(&fixture, 8, 2000, 0x10, 0);
  put_out(&fixture, 8, 2010);
  put_in(&fixture, 8, 2020);
  put_sample(&fixture, 0, 2000, 0x10, 1);
  put_out(&fixture, 0, 2010);
  put_in(&fixture, 0, 2020);
  profile_waits_end(&fixture.waits, 5000, 0);
  assert_int_equal(fixture.account.samples, 0);
  end(&fixture);
}

static void waits_whose_records_are_lost_are_not_guessed(void **state) {
  fixture_t fixture;

  (void)state;
  begin(&fixture);
  /* No switch in was recorded, so the length of the wait is unknown. */
  put_sample(&fixture, 8, 2000, 0x10, 1);
  put_out(&fixture, 8, 2010);
  put_sample(&fixture, 8, 3000, 0x20, 1);
  put_out(&fixture, 8, 3010);
  put_in(&fixture, 8, 3020);
  assert_int_equal(fixture.waits.nr_unknown, 1);
  expect_kernel(&fixture, 0x10, 0, 0);
  expect_kernel(&fixture, 0x20, 1, 10);
  /* No switch out was recorded, so the length is unknown, too. */
  put_in(&fixture, 8, 3100);
  assert_int_equal(fixture.waits.nr_unknown, 2);
  /* No sample was recorded, so the stack is unknown, but not the length. */
  put_out(&fixture, 8, 3200);
  put_in(&fixture, 8, 3207);
  expect(&fixture, PROFILE_OBJECT_UNKNOWN, 0, 1, 7);
  /* Records were lost after the switch out, so the thread may run at the
   * end. */
  put_sample(&fixture, 8, 3300, 0x30, 1);
  put_out(&fixture, 8, 3310);
  put(&fixture, PERF_RECORD_LOST, 0, 9, 3400);
  profile_waits_end(&fixture.waits, 5000, 0);
  expect_kernel(&fixture, 0x30, 0, 0);
  assert_int_equal(fixture.waits.nr_unknown, 3);
  end(&fixture);
}

static void functions_of_the_scheduler_are_not_shown(void **state) {
  char path[] = "/tmp/uvperf-kallsyms-XXXXXX";
  static const char symbols[] = "0000000000001000 T __sched_text_start\n"
                                "0000000000001000 t __schedule\n"
                                "0000000000002000 T __sched_text_end\n";
  int fd = mkstemp(path);
  fixture_t fixture;

  (void)state;
  assert_true(fd >= 0);
  assert_int_equal(write(fd, symbols, sizeof(symbols) - 1),
                   sizeof(symbols) - 1);
  close(fd);
  profile_account_init(&fixture.account, STACKS_BY_THREAD, NULL);
  profile_waits_init(&fixture.waits, &fixture.account, path);
  unlink(path);
  put_sample(&fixture, 8, 2000, 0x1004, 1);
  put_out(&fixture, 8, 2010);
  put_in(&fixture, 8, 2020);
  put_sample(&fixture, 8, 3000, 0x2000, 1);
  put_out(&fixture, 8, 3010);
  put_in(&fixture, 8, 3020);
  expect_kernel(&fixture, 0x1004, 0, 0);
  expect(&fixture, PROFILE_OBJECT_UNKNOWN, 0, 1, 10);
  expect_kernel(&fixture, 0x2000, 1, 10);
  end(&fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wait_is_the_time_between_the_switches),
      cmocka_unit_test(preempted_thread_is_ready_to_run),
      cmocka_unit_test(wait_at_the_end_is_counted_up_to_it),
      cmocka_unit_test(wait_from_before_the_start_has_no_stack),
      cmocka_unit_test(wait_from_before_the_start_is_of_the_threads_cgroup),
      cmocka_unit_test(thread_that_is_born_did_not_wait_before),
      cmocka_unit_test(thread_that_ended_does_not_wait),
      cmocka_unit_test(kernel_threads_and_tasks_without_id_are_left_out),
      cmocka_unit_test(waits_whose_records_are_lost_are_not_guessed),
      cmocka_unit_test(functions_of_the_scheduler_are_not_shown),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
