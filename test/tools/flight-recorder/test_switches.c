/* SPDX-License-Identifier: MIT */
/* The parts of flight-recorder that need no kernel: switches from records, and
 * the lines for them. */
#include "support.h"

#include "flight-recorder/line.h"
#include "flight-recorder/names.h"
#include "flight-recorder/switches.h"
#include "json_check.h"

/* -- switches -------------------------------------------------------------- */

static void add_switch(flight_switches_t *switches, uint32_t type,
                       uint16_t misc, uint64_t time, uint32_t tid,
                       uint32_t other) {
  uvperf_record_t record;

  memset(&record, 0, sizeof(record));
  record.type = type;
  record.misc = misc;
  record.time = time;
  record.size = 48;
  record.cpu = 1;
  record.pid = record.tid = tid;
  if (type == PERF_RECORD_LOST) {
    record.lost.lost = other;
  } else if (type == PERF_RECORD_SWITCH_CPU_WIDE) {
    record.switch_cpu_wide.next_prev_pid = other;
    record.switch_cpu_wide.next_prev_tid = other;
  }
  flight_switches_record(switches, &record);
}

static void add_out(flight_switches_t *switches, uint64_t time, uint32_t tid,
                    uint32_t next) {
  add_switch(switches, PERF_RECORD_SWITCH_CPU_WIDE, PERF_RECORD_MISC_SWITCH_OUT,
             time, tid, next);
}

static void add_in(flight_switches_t *switches, uint64_t time, uint32_t tid,
                   uint32_t prev) {
  add_switch(switches, PERF_RECORD_SWITCH_CPU_WIDE, 0, time, tid, prev);
}

static void expect_switch(const flight_switches_t *switches, size_t index,
                          flight_kind_t kind, uint32_t from, uint32_t to) {
  assert_true(index < switches->nr);
  assert_int_equal(switches->list[index].kind, kind);
  assert_int_equal(switches->list[index].cpu, 1);
  assert_int_equal(switches->list[index].from.tid, from);
  assert_int_equal(switches->list[index].to.tid, to);
}

static void two_records_are_one_switch(void **state) {
  flight_switches_t switches = {NULL, 0, 0, NULL, 0};

  (void)state;
  flight_switches_begin(&switches, 0);
  add_out(&switches, 10, 5, 6);
  add_in(&switches, 11, 6, 5);
  add_switch(&switches, PERF_RECORD_SWITCH_CPU_WIDE,
             PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT,
             12, 6, 7);
  add_in(&switches, 13, 7, 6);
  assert_int_equal(switches.nr, 2);
  expect_switch(&switches, 0, FLIGHT_WAITS, 5, 6);
  expect_switch(&switches, 1, FLIGHT_PREEMPTED, 6, 7);
  assert_int_equal(switches.list[1].time, 12);
  flight_switches_free(&switches);
}

static void switch_of_which_half_was_overwritten_is_reported(void **state) {
  flight_switches_t switches = {NULL, 0, 0, NULL, 0};

  (void)state;
  flight_switches_begin(&switches, 0);
  add_in(&switches, 11, 6, 5);
  add_out(&switches, 12, 6, 7);
  assert_int_equal(switches.nr, 2);
  expect_switch(&switches, 0, FLIGHT_SWITCH, 5, 6);
  expect_switch(&switches, 1, FLIGHT_WAITS, 6, 7);
  /* A snapshot of everything starts again; a snapshot of new records
   * continues. */
  flight_switches_begin(&switches, 0);
  add_in(&switches, 13, 7, 6);
  assert_int_equal(switches.nr, 1);
  add_out(&switches, 14, 7, 8);
  flight_switches_begin(&switches, 1);
  add_in(&switches, 15, 8, 7);
  assert_int_equal(switches.nr, 0);
  flight_switches_free(&switches);
}

static void task_without_id_is_the_one_that_came(void **state) {
  flight_switches_t switches = {NULL, 0, 0, NULL, 0};

  (void)state;
  flight_switches_begin(&switches, 0);
  add_out(&switches, 9, UINT32_MAX, 6); /* of an unknown task */
  add_in(&switches, 10, 6, UINT32_MAX);
  add_out(&switches, 11, UINT32_MAX, 7);
  expect_switch(&switches, 0, FLIGHT_WAITS, UINT32_MAX, 6);
  expect_switch(&switches, 1, FLIGHT_WAITS, 6, 7);
  flight_switches_free(&switches);
}

static void loss_is_reported_and_who_runs_is_not_known_after_it(void **state) {
  flight_switches_t switches = {NULL, 0, 0, NULL, 0};

  (void)state;
  flight_switches_begin(&switches, 0);
  add_out(&switches, 10, 5, 6);
  add_switch(&switches, PERF_RECORD_LOST, 0, 11, 0, 3);
  add_in(&switches, 12, 6, 9);
  assert_int_equal(switches.nr, 3);
  assert_int_equal(switches.list[1].kind, FLIGHT_LOST);
  assert_int_equal(switches.list[1].lost, 3);
  expect_switch(&switches, 2, FLIGHT_SWITCH, 9, 6);
  /* A loss without a record of it has the same effect. */
  add_out(&switches, 13, 6, 7);
  add_in(&switches, 14, 8, 5);
  expect_switch(&switches, 4, FLIGHT_SWITCH, 5, 8);
  flight_switches_free(&switches);
}

static void switches_of_a_task_alone_have_one_side(void **state) {
  flight_switches_t switches = {NULL, 0, 0, NULL, 0};

  (void)state;
  flight_switches_begin(&switches, 0);
  add_switch(&switches, PERF_RECORD_SWITCH, 0, 10, 5, 0);
  add_switch(&switches, PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT, 11, 5,
             0);
  add_switch(&switches, PERF_RECORD_COMM, 0, 12, 5, 0);
  assert_int_equal(switches.nr, 2);
  expect_switch(&switches, 0, FLIGHT_SWITCH, FLIGHT_NONE, 5);
  expect_switch(&switches, 1, FLIGHT_WAITS, 5, FLIGHT_NONE);
  flight_switches_free(&switches);
}

static void ring_that_has_gone_round_holds_what_its_oldest_says(void **state) {
  flight_switches_t switches = {NULL, 0, 0, NULL, 0};
  const flight_cpu_t *cpu;
  uint64_t i;

  (void)state;
  flight_switches_since(&switches, 1, 100);
  flight_switches_begin(&switches, 0);
  cpu = &switches.cpus[1];
  assert_int_equal(flight_switches_from(cpu, 4096), 100);
  for (i = 0; i < 10; i++)
    add_out(&switches, 150 + i, 5, 6);
  assert_int_equal(flight_switches_from(cpu, 4096), 100);
  for (; i < 85; i++)
    add_out(&switches, 150 + i, 5, 6);
  assert_int_equal(flight_switches_from(cpu, 4096), 150);
  assert_int_equal(flight_switches_from(cpu, 1 << 20), 100);
  flight_switches_free(&switches);
}

/* -- lines ----------------------------------------------------------------- */

static void expect_text(common_buffer_t *buffer, const char *expected) {
  common_buffer_add(buffer, "", 1);
  assert_string_equal(buffer->text, expected);
  buffer->used = 0;
}

static void switch_is_one_line(void **state) {
  flight_switch_t item = {.time = UINT64_C(12345678901), .cpu = 3};
  common_buffer_t buffer = {NULL, 0, 0};
  flight_names_t names;

  (void)state;
  flight_names_init(&names, 10);
  names.has_outsiders = 0;
  flight_names_scan_begin(&names);
  flight_names_scan_found(&names, 5, "e\033vil", 0);
  flight_names_scan_found(&names, 7, "\"\xff", 0);
  flight_names_scan_end(&names, 0);
  item.kind = FLIGHT_PREEMPTED;
  item.from.pid = item.from.tid = 5;
  item.to.pid = 6;
  item.to.tid = 7;
  flight_line_switch(&buffer, &item, &names, 0);
  expect_text(&buffer,
              "12.345678 [003] e\\x1bvil 5 => \"\\xff 6/7 preempted\n");
  flight_line_switch(&buffer, &item, &names, 1);
  common_buffer_add(&buffer, "", 1);
  assert_true(json_is_object(buffer.text));
  assert_non_null(strstr(buffer.text, "\"time\":12.345678901,\"type\":"
                                      "\"switch\",\"cpu\":3,\"from_pid\":5,"));
  assert_non_null(strstr(buffer.text, "\"to_comm_hex\":\"22ff\","
                                      "\"preempted\":1}\n"));
  buffer.used = 0;
  item.kind = FLIGHT_WAITS;
  item.from.pid = item.from.tid = UINT32_MAX;
  item.to.pid = item.to.tid = FLIGHT_NONE;
  flight_line_switch(&buffer, &item, &names, 0);
  expect_text(&buffer, "12.345678 [003] ? -1 => -\n");
  item.from.pid = 7; /* the thread has ended, its process has not */
  item.to.pid = item.to.tid = 0;
  flight_line_switch(&buffer, &item, &names, 0);
  expect_text(&buffer, "12.345678 [003] \"\\xff 7/-1 => swapper 0\n");
  item.from.pid = UINT32_MAX;
  item.to.pid = item.to.tid = FLIGHT_NONE;
  flight_line_switch(&buffer, &item, &names, 1);
  expect_text(&buffer, "{\"time\":12.345678901,\"type\":\"switch\",\"cpu\":3,"
                       "\"from_pid\":-1,\"from_tid\":-1,\"preempted\":0}\n");
  common_buffer_free(&buffer);
  flight_names_free(&names);
}

static void loss_is_one_line(void **state) {
  flight_switch_t item = {.time = UINT64_C(12345678901), .cpu = 3};
  common_buffer_t buffer = {NULL, 0, 0};

  (void)state;
  item.kind = FLIGHT_LOST;
  item.lost = 4;
  flight_line_switch(&buffer, &item, NULL, 0);
  expect_text(&buffer, "12.345678 [003] lost 4 records\n");
  flight_line_switch(&buffer, &item, NULL, 1);
  expect_text(&buffer, "{\"time\":12.345678901,\"type\":\"lost\",\"cpu\":3,"
                       "\"lost\":4}\n");
  common_buffer_free(&buffer);
}

static void dump_begins_and_ends_with_lines_of_its_own(void **state) {
  flight_sums_t sums = {.dump = 2,
                        .time = UINT64_C(12345678901),
                        .from = UINT64_C(10000000000),
                        .date = {1700000000, 7000000},
                        .switches = 1,
                        .cut = 4};
  common_buffer_t buffer = {NULL, 0, 0};

  (void)state;
  flight_line_begin(&buffer, &sums, 0);
  flight_line_cpu(&buffer, &sums, 3, UINT64_C(9000000000), 7, 0);
  flight_line_end(&buffer, &sums, 0);
  expect_text(&buffer, "# dump 2 at 12.345678, 2023-11-14T22:13:20.007Z\n"
                       "# 1 switch; all CPUs from 10.000000 on, 2.345678 s; "
                       "records lost: 0, cut: 4\n"
                       "# CPU 3: 7 switches from 9.000000 on\n"
                       "# end of dump 2\n");
  flight_line_begin(&buffer, &sums, 1);
  expect_text(&buffer, "{\"time\":12.345678901,\"type\":\"dump\",\"dump\":2,"
                       "\"date\":\"2023-11-14T22:13:20.007Z\","
                       "\"from\":10.000000000,\"switches\":1,\"lost\":0,"
                       "\"cut\":4}\n");
  flight_line_cpu(&buffer, &sums, 3, UINT64_C(9000000000), 7, 1);
  expect_text(&buffer, "{\"time\":12.345678901,\"type\":\"cpu\",\"cpu\":3,"
                       "\"from\":9.000000000,\"switches\":7}\n");
  flight_line_end(&buffer, &sums, 1);
  expect_text(&buffer, "{\"time\":12.345678901,\"type\":\"end\",\"dump\":2}\n");
  common_buffer_free(&buffer);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(two_records_are_one_switch),
      cmocka_unit_test(switch_of_which_half_was_overwritten_is_reported),
      cmocka_unit_test(task_without_id_is_the_one_that_came),
      cmocka_unit_test(loss_is_reported_and_who_runs_is_not_known_after_it),
      cmocka_unit_test(switches_of_a_task_alone_have_one_side),
      cmocka_unit_test(ring_that_has_gone_round_holds_what_its_oldest_says),
      cmocka_unit_test(switch_is_one_line),
      cmocka_unit_test(loss_is_one_line),
      cmocka_unit_test(dump_begins_and_ends_with_lines_of_its_own),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
