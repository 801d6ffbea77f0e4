/* SPDX-License-Identifier: MIT */
/* The names that flight-recorder uses for threads. They come from records and
 * from a scan of the existing threads. */
#include "support.h"

#include "flight-recorder/names.h"
#include "record_builder.h"

static void name_record(flight_names_t *names, uint32_t type, uint64_t time,
                        uint32_t tid, uint32_t ptid, const char *comm) {
  uvperf_record_t record;
  char *text = comm != NULL ? record_text(comm) : NULL;

  memset(&record, 0, sizeof(record));
  record.type = type;
  record.time = time;
  if (type == PERF_RECORD_COMM) {
    record.comm.tid = tid;
    record.comm.comm = text;
    record.comm.comm_size = strlen(comm);
  } else if (type == PERF_RECORD_LOST) {
    record.lost.lost = 1;
  } else {
    record.task.tid = tid;
    record.task.ptid = ptid;
  }
  flight_names_record(names, &record);
  free(text);
}

static void add_comm(flight_names_t *names, uint64_t time, uint32_t tid,
                     const char *comm) {
  name_record(names, PERF_RECORD_COMM, time, tid, 0, comm);
}

static void add_fork(flight_names_t *names, uint64_t time, uint32_t tid,
                     uint32_t ptid) {
  name_record(names, PERF_RECORD_FORK, time, tid, ptid, NULL);
}

static void add_exit(flight_names_t *names, uint64_t time, uint32_t tid) {
  name_record(names, PERF_RECORD_EXIT, time, tid, 0, NULL);
}

static void expect_name(const flight_names_t *names, uint32_t tid,
                        uint64_t time, const char *comm) {
  assert_string_equal(flight_names_at(names, tid, time), comm);
}

static void name_is_that_of_the_time_that_is_asked_for(void **state) {
  flight_names_t names;

  (void)state;
  flight_names_init(&names, 100);
  flight_names_scan_begin(&names);
  flight_names_scan_found(&names, 5, "sh", 0);
  flight_names_scan_end(&names, 0);
  add_fork(&names, 10, 6, 5);
  add_comm(&names, 20, 6, "ls");
  add_comm(&names, 30, 6, "ls-two");
  add_exit(&names, 40, 6);
  expect_name(&names, 5, 0, "sh");
  expect_name(&names, 5, 100, "sh");
  expect_name(&names, 6, 9, "");
  expect_name(&names, 6, 10, "sh");
  expect_name(&names, 6, 19, "sh");
  expect_name(&names, 6, 20, "ls");
  expect_name(&names, 6, 30, "ls-two");
  expect_name(&names, 6, 50, "ls-two");
  expect_name(&names, 7, 50, "");
  flight_names_free(&names);
}

static void
thread_with_the_id_of_one_that_ended_has_its_own_name(void **state) {
  flight_names_t names;

  (void)state;
  flight_names_init(&names, 100);
  add_comm(&names, 1, 5, "old");
  add_comm(&names, 1, 9, "maker");
  add_exit(&names, 10, 5);
  add_fork(&names, 20, 5, 9);
  add_fork(&names, 30, 5, 8); /* its creator is not known */
  expect_name(&names, 5, 19, "old");
  expect_name(&names, 5, 20, "maker");
  expect_name(&names, 5, 30, "");
  flight_names_free(&names);
}

static void fork_takes_the_name_that_its_maker_had_then(void **state) {
  flight_names_t names;

  (void)state;
  flight_names_init(&names, 100);
  add_comm(&names, 1, 5, "one");
  add_comm(&names, 9, 5, "two");
  add_fork(&names, 8, 6, 5); /* the record comes late */
  expect_name(&names, 6, 8, "one");
  flight_names_free(&names);
}

static void late_record_does_not_change_what_is_newer(void **state) {
  flight_names_t names;

  (void)state;
  flight_names_init(&names, 100);
  add_comm(&names, 20, 5, "new");
  add_comm(&names, 10, 5, "old");
  expect_name(&names, 5, 20, "new");
  flight_names_free(&names);
}

static void
idle_task_is_the_swapper_and_ids_of_others_are_nobody(void **state) {
  flight_names_t names;

  (void)state;
  flight_names_init(&names, 100);
  names.has_outsiders = 0;
  add_comm(&names, 1, 0, "evil");
  add_comm(&names, 1, UINT32_MAX, "evil");
  add_fork(&names, 1, UINT32_MAX, 0);
  expect_name(&names, 0, 5, "swapper");
  expect_name(&names, UINT32_MAX, 5, "");
  names.has_outsiders = 1;
  expect_name(&names, 0, 5, "");
  flight_names_free(&names);
}

/* Returns how many names of a thread are kept. */
static size_t count_names(const flight_names_t *names, uint32_t tid) {
  const flight_thread_t *thread = names->buckets[tid % FLIGHT_NAME_BUCKETS];

  while (thread != NULL && thread->tid != tid)
    thread = thread->next;
  return thread != NULL ? thread->nr : 0;
}

static void names_that_are_over_are_bounded_and_the_oldest_go(void **state) {
  flight_names_t names;
  char comm[16];
  uint32_t i;

  (void)state;
  flight_names_init(&names, 10);
  add_comm(&names, 1, 1, "stays");
  for (i = 2; i < 1000; i++) {
    add_fork(&names, 10 * i, i, 1);
    add_exit(&names, 10 * i + 5, i);
  }
  assert_int_equal(count_names(&names, 989), 0);
  for (i = 990; i < 1000; i++)
    expect_name(&names, i, 10 * i, "stays");
  for (i = 0; i < 60; i++) {
    snprintf(comm, sizeof(comm), "name-%u", i);
    add_comm(&names, 20000 + i, 1, comm);
  }
  assert_int_equal(count_names(&names, 999), 0);
  assert_int_equal(count_names(&names, 1), 11);
  expect_name(&names, 1, 20000 + 48, ""); /* no later name is used instead */
  expect_name(&names, 1, 20000 + 49, "name-49");
  expect_name(&names, 1, 20000 + 59, "name-59");
  flight_names_free(&names);
}

/* A thread that renames itself all the time keeps few names, and the other
 * threads keep theirs. */
static void names_of_one_thread_do_not_cost_others_theirs(void **state) {
  flight_names_t names;
  uint64_t i;

  (void)state;
  flight_names_init(&names, 100);
  add_comm(&names, 1, 5, "old");
  add_comm(&names, 2, 5, "new");
  for (i = 0; i < 1000; i++)
    add_comm(&names, 10 + i, 6, i % 2 == 0 ? "even" : "odd");
  expect_name(&names, 5, 1, "old");
  assert_int_equal(count_names(&names, 6), FLIGHT_NAMES_OF_ONE);
  assert_int_equal(names.past_nr, FLIGHT_NAMES_OF_ONE);
  expect_name(&names, 6, 10 + 999, "odd");
  expect_name(&names, 6, 10 + 1000 - FLIGHT_NAMES_OF_ONE, "even");
  expect_name(&names, 6, 10 + 999 - FLIGHT_NAMES_OF_ONE, "");
  add_exit(&names, 2000, 6);
  for (i = 0; i < 200; i++) {
    add_comm(&names, 3000 + i, 10 + (uint32_t)i, "x");
    add_exit(&names, 3000 + i, 10 + (uint32_t)i);
  }
  assert_int_equal(count_names(&names, 6), 0);
  flight_names_free(&names);
}

/* The same ids occur again and again, in any order. AddressSanitizer checks the
 * accesses. */
static void names_are_kept_and_forgotten_in_any_order(void **state) {
  uint64_t random = 88172645463325252u, time;
  flight_names_t names;
  uint32_t tid;
  size_t sum = 0;

  (void)state;
  flight_names_init(&names, 7);
  for (time = 1; time < 200000; time++) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    tid = 1 + (uint32_t)(random >> 8) % 9;
    if (random % 1000 == 0) {
      flight_names_scan_begin(&names);
      flight_names_scan_found(&names, tid, "found", time);
      flight_names_scan_end(&names, time);
    } else if (random % 4 == 0) {
      add_exit(&names, time, tid);
    } else if (random % 4 == 1) {
      add_fork(&names, time, tid, 1 + (uint32_t)(random >> 16) % 9);
    } else {
      add_comm(&names, time - random % 3, tid, random % 8 < 4 ? "a" : "b");
    }
  }
  for (tid = 1; tid < 10; tid++)
    sum += count_names(&names, tid);
  assert_true(sum <= 9 + 7);
  flight_names_free(&names);
}

static void scan_mends_what_lost_records_would_have_reported(void **state) {
  flight_names_t names;

  (void)state;
  flight_names_init(&names, 100);
  add_comm(&names, 1, 5, "same");
  add_comm(&names, 1, 6, "before");
  add_comm(&names, 1, 7, "gone");
  add_comm(&names, 60, 8, "younger");
  name_record(&names, PERF_RECORD_LOST, 40, 0, 0, NULL);
  assert_int_equal(names.lost, 1);
  flight_names_scan_begin(&names);
  flight_names_scan_found(&names, 5, "same", 50);
  flight_names_scan_found(&names, 6, "after", 50);
  flight_names_scan_found(&names, 9, "new", 50);
  flight_names_scan_end(&names, 50);
  assert_int_equal(names.lost, 0);
  assert_int_equal(count_names(&names, 5), 1);
  expect_name(&names, 6, 49, "before");
  expect_name(&names, 6, 50, "after");
  expect_name(&names, 7, 50, "gone"); /* the name is kept for a while */
  expect_name(&names, 9, 50, "new");
  /* Two names have ended: the first name of 6 and the name of 7. 8 is younger
   * than the scan. */
  assert_int_equal(names.past_nr, 2);
  flight_names_free(&names);
}

/* The name of a kworker in /proc changes with each piece of work. */
static void kworker_is_called_what_it_always_is(void **state) {
  flight_names_t names;

  (void)state;
  flight_names_init(&names, 100);
  flight_names_scan_begin(&names);
  flight_names_scan_found(&names, 5, "kworker/0:1H-kblockd", 0);
  flight_names_scan_found(&names, 6, "kworker/u8:0+events_unbound", 0);
  flight_names_scan_found(&names, 7, "kworker/R-rcu_gp", 0);
  flight_names_scan_found(&names, 8, "my-kworker/0:1-x", 0);
  flight_names_scan_end(&names, 0);
  flight_names_scan_begin(&names);
  flight_names_scan_found(&names, 5, "kworker/0:1H+xfs-log", 50);
  flight_names_scan_found(&names, 6, "kworker/u8:0", 50);
  flight_names_scan_end(&names, 50);
  expect_name(&names, 5, 100, "kworker/0:1H");
  expect_name(&names, 6, 100, "kworker/u8:0");
  expect_name(&names, 7, 10, "kworker/R-rcu_gp");
  expect_name(&names, 8, 10, "my-kworker/0:1-x");
  assert_int_equal(count_names(&names, 5), 1);
  assert_int_equal(count_names(&names, 6), 1);
  flight_names_free(&names);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(name_is_that_of_the_time_that_is_asked_for),
      cmocka_unit_test(thread_with_the_id_of_one_that_ended_has_its_own_name),
      cmocka_unit_test(fork_takes_the_name_that_its_maker_had_then),
      cmocka_unit_test(late_record_does_not_change_what_is_newer),
      cmocka_unit_test(idle_task_is_the_swapper_and_ids_of_others_are_nobody),
      cmocka_unit_test(names_that_are_over_are_bounded_and_the_oldest_go),
      cmocka_unit_test(names_of_one_thread_do_not_cost_others_theirs),
      cmocka_unit_test(names_are_kept_and_forgotten_in_any_order),
      cmocka_unit_test(scan_mends_what_lost_records_would_have_reported),
      cmocka_unit_test(kworker_is_called_what_it_always_is),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
