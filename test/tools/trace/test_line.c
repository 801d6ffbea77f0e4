/* SPDX-License-Identifier: MIT */
/* The parts of trace that need no kernel: names of threads, lines, the command
 * line. */
#include "support.h"

#include "json_check.h"
#include "make_record.h"
#include "trace/line.h"
#include "trace/names.h"
#include "trace/options.h"

/* -- names ----------------------------------------------------------------- */

static void say_fork(trace_names_t *names, uint32_t ptid, uint32_t tid) {
  uvperf_record_t record = {.type = PERF_RECORD_FORK};

  record.task.ptid = record.task.ppid = ptid;
  record.task.tid = record.task.pid = tid;
  trace_names_record(names, &record);
}

static void say_comm(trace_names_t *names, uint32_t tid, const char *comm) {
  uvperf_record_t record = {.type = PERF_RECORD_COMM};
  char *text = record_text(comm);

  record.comm.tid = record.comm.pid = tid;
  record.comm.comm = text;
  record.comm.comm_size = strlen(comm);
  trace_names_record(names, &record);
  free(text);
}

static void say_exit(trace_names_t *names, uint32_t tid) {
  uvperf_record_t record = {.type = PERF_RECORD_EXIT};

  record.task.tid = record.task.pid = tid;
  trace_names_record(names, &record);
}

static void
thread_has_the_name_of_its_maker_until_it_takes_another(void **state) {
  static trace_names_t names;

  assert_null(trace_names_get(&names, 10));
  say_comm(&names, 10, "sh");
  say_fork(&names, 10, 11);
  assert_string_equal(trace_names_get(&names, 11), "sh");
  say_comm(&names, 11, "ls");
  assert_string_equal(trace_names_get(&names, 11), "ls");
  assert_string_equal(trace_names_get(&names, 10), "sh");
  trace_names_free(&names);
}

static void id_that_is_used_again_has_no_old_name(void **state) {
  static trace_names_t names;

  say_comm(&names, 11, "old");
  say_fork(&names, 10, 11); /* 10 has no name */
  assert_null(trace_names_get(&names, 11));
  trace_names_free(&names);
}

static void tasks_of_other_pid_namespaces_are_nobody(void **state) {
  static trace_names_t names;

  say_comm(&names, 0, "x");
  say_comm(&names, UINT32_MAX, "x");
  say_fork(&names, 0, 0);
  say_exit(&names, UINT32_MAX);
  assert_null(trace_names_get(&names, 0));
  assert_null(trace_names_get(&names, UINT32_MAX));
  trace_names_free(&names);
}

/* Hits of a thread that is exiting are still printed with its name. */
static void name_is_kept_for_a_while_after_the_exit(void **state) {
  static trace_names_t names;
  uint32_t tid;

  say_comm(&names, 1, "first");
  say_exit(&names, 1);
  assert_string_equal(trace_names_get(&names, 1), "first");
  for (tid = 2; tid < 2 + TRACE_NAMES_ENDED; tid++) {
    say_comm(&names, tid, "later");
    say_exit(&names, tid);
  }
  assert_null(trace_names_get(&names, 1));
  assert_string_equal(trace_names_get(&names, 2), "later");
  trace_names_free(&names);
}

static void name_that_is_used_again_outlives_the_old_exit(void **state) {
  static trace_names_t names;
  uint32_t tid;

  say_comm(&names, 1, "first");
  say_exit(&names, 1);
  say_comm(&names, 1, "second");
  for (tid = 2; tid < 2 + TRACE_NAMES_ENDED; tid++) {
    say_comm(&names, tid, "later");
    say_exit(&names, tid);
  }
  assert_string_equal(trace_names_get(&names, 1), "second");
  trace_names_free(&names);
}

/* -- lines ----------------------------------------------------------------- */

static const unsigned char raw[] = {0x01, 0xab, 0x00};

static void sample_init(uvperf_record_t *record) {
  memset(record, 0, sizeof(*record));
  record->type = PERF_RECORD_SAMPLE;
  record->time = UINT64_C(12345678901);
  record->cpu = 1;
  record->pid = record->tid = 5;
  record->sample.raw.data = raw;
  record->sample.raw.size = sizeof(raw);
  record->ip = 0x1000;
  record->addr = 0x2000;
}

static void expect_hit(const trace_hit_t *hit, int json, const char *expected) {
  trace_form_t form = {.json = json};
  common_buffer_t buffer = {NULL, 0, 0};

  trace_line_hit(&buffer, &form, hit);
  common_buffer_add(&buffer, "", 1);
  assert_string_equal(buffer.text, expected);
  if (json)
    assert_true(json_is_tree(buffer.text));
  common_buffer_free(&buffer);
}

static void hit_is_one_line(void **state) {
  uvperf_record_t record;
  trace_hit_t hit = {&record, "sh", "page-faults", NULL};

  sample_init(&record);
  expect_hit(&hit, 0,
             "12.345678 [001] sh 5 page-faults ip=0x1000 addr=0x2000\n");
  expect_hit(&hit, 1,
             "{\"time\":12.345678901,\"type\":\"hit\",\"cpu\":1,\"pid\":5,"
             "\"tid\":5,\"comm\":\"sh\",\"event\":\"page-faults\","
             "\"ip\":\"0x1000\",\"addr\":\"0x2000\"}\n");
  record.tid = 6;
  expect_hit(&hit, 0,
             "12.345678 [001] sh 5/6 page-faults ip=0x1000 addr=0x2000\n");
}

static void thread_without_id_and_name_is_reported(void **state) {
  uvperf_record_t record;
  trace_hit_t hit = {&record, "", "x", NULL};

  sample_init(&record);
  record.pid = record.tid = UINT32_MAX;
  expect_hit(&hit, 0, "12.345678 [001] ? -1 x ip=0x1000 addr=0x2000\n");
  expect_hit(&hit, 1,
             "{\"time\":12.345678901,\"type\":\"hit\",\"cpu\":1,\"pid\":-1,"
             "\"tid\":-1,\"event\":\"x\",\"ip\":\"0x1000\","
             "\"addr\":\"0x2000\"}\n");
}

static void name_that_is_no_text_is_escaped(void **state) {
  uvperf_record_t record;
  trace_hit_t hit = {&record, "\"\n\033\xff", "x", NULL};

  sample_init(&record);
  expect_hit(&hit, 0,
             "12.345678 [001] \"\\n\\x1b\\xff 5 x ip=0x1000 addr=0x2000\n");
  expect_hit(&hit, 1,
             "{\"time\":12.345678901,\"type\":\"hit\",\"cpu\":1,\"pid\":5,"
             "\"tid\":5,\"comm\":\"\\\"\\u000a\\u001b\\ufffd\","
             "\"comm_hex\":\"220a1bff\",\"event\":\"x\",\"ip\":\"0x1000\","
             "\"addr\":\"0x2000\"}\n");
}

static void fields_without_a_format_are_bytes(void **state) {
  uvperf_record_t record;
  trace_hit_t hit = {&record, "sh", "a:b", NULL};

  trace_fields_of_text(&hit.fields, NULL, 0, NULL);
  sample_init(&record);
  expect_hit(&hit, 0, "12.345678 [001] sh 5 a:b raw=01ab00\n");
  expect_hit(&hit, 1,
             "{\"time\":12.345678901,\"type\":\"hit\",\"cpu\":1,\"pid\":5,"
             "\"tid\":5,\"comm\":\"sh\",\"event\":\"a:b\","
             "\"raw\":\"01ab00\"}\n");
  trace_fields_free(hit.fields);
}

static void loss_is_one_line(void **state) {
  uvperf_record_t record = {.type = PERF_RECORD_LOST, .time = 5000, .cpu = 3};
  trace_form_t form = {.json = 0};
  common_buffer_t buffer = {NULL, 0, 0};

  record.lost.lost = 1;
  trace_line_lost(&buffer, &form, 1000, &record);
  record.lost.lost = 2;
  trace_line_lost(&buffer, &form, 1000, &record);
  form.json = 1;
  trace_line_lost(&buffer, &form, 1000, &record);
  common_buffer_add(&buffer, "", 1);
  assert_string_equal(buffer.text, "0.000001 [003] lost 1 record\n"
                                   "0.000001 [003] lost 2 records\n"
                                   "{\"time\":0.000001000,\"type\":\"lost\","
                                   "\"lost\":2,\"cpu\":3}\n");
  common_buffer_free(&buffer);
}

static void end_is_one_object(void **state) {
  common_buffer_t buffer = {NULL, 0, 0};

  trace_line_end(&buffer, 1, 2, 3, 4);
  common_buffer_add(&buffer, "", 1);
  assert_string_equal(buffer.text, "{\"time\":0.000000001,\"type\":\"end\","
                                   "\"hits\":2,\"lost\":3,\"late\":4}\n");
  assert_true(json_is_tree(buffer.text));
  common_buffer_free(&buffer);
}

/* -- the command line ------------------------------------------------------ */

static void filter_is_of_the_names_before_it(void **state) {
  char *args[] = {"trace", "-e", "a:*", "-e",     "b:b",      "--filter",
                  "x==1",  "-e", "c:c", "-p",     "17,18,17", "-C",
                  "0",     "-l", "9",   "--self", NULL};
  trace_options_t options;

  optind = 0;
  assert_int_equal(trace_options_parse(&options, 16, args), 0);
  assert_int_equal(options.nr_names, 3);
  assert_string_equal(options.names[0].names, "a:*");
  assert_null(options.names[0].filter);
  assert_string_equal(options.names[1].filter, "x==1");
  assert_null(options.names[2].filter);
  assert_int_equal(options.pids.nr, 2);
  assert_string_equal(options.cpus, "0");
  assert_int_equal(options.limit, 9);
  assert_true(options.self);
  assert_false(options.all);
  trace_options_free(&options);
}

static void everything_is_traced_where_nothing_is_chosen(void **state) {
  char *all[] = {"trace", "-e", "a:a", NULL};
  char *beside[] = {"trace", "-a", "-e", "a:a", "sleep", "-e", NULL};
  char *command[] = {"trace", "-e", "a:a", "--", "sleep", "1", NULL};
  trace_options_t options;

  optind = 0;
  assert_int_equal(trace_options_parse(&options, 3, all), 0);
  assert_true(options.all);
  trace_options_free(&options);
  optind = 0;
  assert_int_equal(trace_options_parse(&options, 6, beside), 0);
  assert_true(options.all);
  assert_string_equal(options.command[1], "-e");
  trace_options_free(&options);
  optind = 0;
  assert_int_equal(trace_options_parse(&options, 6, command), 0);
  assert_false(options.all);
  assert_string_equal(options.command[0], "sleep");
  trace_options_free(&options);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(thread_has_the_name_of_its_maker_until_it_takes_another),
      cmocka_unit_test(id_that_is_used_again_has_no_old_name),
      cmocka_unit_test(tasks_of_other_pid_namespaces_are_nobody),
      cmocka_unit_test(name_is_kept_for_a_while_after_the_exit),
      cmocka_unit_test(name_that_is_used_again_outlives_the_old_exit),
      cmocka_unit_test(hit_is_one_line),
      cmocka_unit_test(thread_without_id_and_name_is_reported),
      cmocka_unit_test(name_that_is_no_text_is_escaped),
      cmocka_unit_test(fields_without_a_format_are_bytes),
      cmocka_unit_test(loss_is_one_line),
      cmocka_unit_test(end_is_one_object),
      cmocka_unit_test(filter_is_of_the_names_before_it),
      cmocka_unit_test(everything_is_traced_where_nothing_is_chosen),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
