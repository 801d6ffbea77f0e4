/* SPDX-License-Identifier: MIT */
/* The samples that take no argument and measure themselves; and how samples end
 * when their output is lost, which test/checks.sh checks in samples that are
 * not run here. */
#include "check_explain.h"
#include "tool_run.h"

#include <unistd.h>

/* As a user without privileges, who may measure his own processes. */
static void run_own(const char *test, tool_run_t *run, const char *path) {
  *run = (tool_run_t){.args = {path}, .as_nobody = 1};
  tool_run_need_own(test);
  tool_run(run);
  tool_run_expect_status(run, 0);
}

/* -- allocator ------------------------------------------------------------- */

static void allocator_as_nobody_holds_nothing_at_the_end(void **state) {
  tool_run_t run;
  long nr;

  run_own(__func__, &run, SAMPLES "/allocator");
  assert_int_equal(sscanf(run.out, "%ld pieces", &nr), 1);
  assert_true(nr >= 3); /* of the loop, the event and its attr */
  assert_non_null(strstr(run.out, "\n0 at the end\n"));
}

/* -- measure_function ------------------------------------------------------ */

/* The function's work is a million divisions: its time cannot be 0. */
static void
measure_function_as_nobody_prints_page_faults_and_time(void **state) {
  tool_run_t run;
  unsigned long long faults;
  double ms = 0;
  char *line;

  run_own(__func__, &run, SAMPLES "/measure_function");
  line = strchr(run.out, '\n'); /* the first line has cycles or a reason */
  assert_non_null(line);
  assert_int_equal(sscanf(line, "%llu page faults, %lf ms", &faults, &ms), 2);
  assert_true(ms > 0);
}

/* -- measure_calls --------------------------------------------------------- */

/* Sorting a thousand numbers takes longer than measuring nothing. */
static void measure_calls_as_nobody_prints_least_and_mean(void **state) {
  tool_run_t run;
  unsigned long long first, least, empty;
  double mean, deviation;

  run_own(__func__, &run, SAMPLES "/measure_calls");
  if (sscanf(run.out,
             "task-clock:u: first %llu, least %llu, mean %lf, deviation %lf; "
             "%llu of that is measuring",
             &first, &least, &mean, &deviation, &empty) != 5)
    fail_msg("%s", run.out);
  assert_true(empty > 0 && empty < least);
  assert_true(mean >= (double)least && first > empty);
}

/* -- limit_records --------------------------------------------------------- */

/* There are hundreds of faults every 10 ms. Five of them come at once, and five
 * after each of two seconds. */
static void limit_records_as_nobody_takes_five_each_second(void **state) {
  tool_run_t run;
  unsigned long long address, ip;
  const char *line;
  int nr = 0;

  run_own(__func__, &run, SAMPLES "/limit_records");
  for (line = run.out; *line != '\0'; line = strchr(line, '\n') + 1) {
    if (sscanf(line, "fault at %llx, by %llx", &address, &ip) != 2)
      fail_msg("%s", line);
    assert_true(address != 0 && ip != 0);
    nr++;
  }
  assert_int_equal(nr, 15);
}

/* -- sample_group ---------------------------------------------------------- */

/* The work touches 2560 pages: most of them are before the last sample. */
static void sample_group_as_nobody_prints_page_faults_by_sample(void **state) {
  tool_run_t run;
  unsigned long long ip, faults, sum = 0;
  size_t nr = 0;
  char *line;
  int size;

  run_own(__func__, &run, SAMPLES "/sample_group");
  for (line = run.out; *line != '\0'; line += size + 1, nr++) {
    size = 0;
    sscanf(line, "%llx: %llu page faults%n", &ip, &faults, &size);
    assert_true(size > 0);
    sum += faults;
  }
  assert_true(nr >= 5);
  assert_in_range(sum, 1000, 10000);
}

/* -- count_group ----------------------------------------------------------- */

static unsigned long long count_of(const tool_run_t *run, const char *title) {
  const char *line = strstr(run->out, title);
  unsigned long long count;

  assert_non_null(line);
  assert_int_equal(sscanf(line + strlen(title), "%llu\n", &count), 1);
  return count;
}

/* The first part touches a MiB of fresh memory, the other nothing new. */
static void count_group_as_nobody_prints_the_counts_of_each_part(void **state) {
  tool_run_t run;
  size_t pages = ((size_t)1 << 20) / support_page_bytes();

  run_own(__func__, &run, SAMPLES "/count_group");
  assert_true(count_of(&run, "touch memory: page-faults:u ") >= pages);
  assert_true(count_of(&run, "compute: page-faults:u ") <
              count_of(&run, "touch memory: page-faults:u "));
  assert_true(count_of(&run, "touch memory: task-clock:u ") > 0);
  assert_true(count_of(&run, "compute: task-clock:u ") > 0);
}

/* -- share_ring ------------------------------------------------------------ */

static size_t count(const char *text, const char *part) {
  size_t nr = 0;

  while ((text = strstr(text, part)) != NULL) {
    nr++;
    text++;
  }
  return nr;
}

static void share_ring_as_nobody_prints_records_of_both_events(void **state) {
  tool_run_t run;
  size_t nr_clock, nr_faults;

  run_own(__func__, &run, SAMPLES "/share_ring");
  nr_clock = count(run.out, "computes at 0x");
  nr_faults = count(run.out, "touches 0x");
  assert_true(nr_clock > 0);
  assert_true(nr_faults >= 20);
  assert_int_equal(nr_clock + nr_faults, count(run.out, "\n"));
}

/* -- last_records ---------------------------------------------------------- */

/* The slow work touches 25,600 pages, more than the ring has records. */
static void last_records_as_nobody_prints_the_newest_first(void **state) {
  tool_run_t run;
  double times[3], ms;
  unsigned long before;
  const char *line;

  run_own(__func__, &run, SAMPLES "/last_records");
  line = strstr(run.out, "work 100 took");
  assert_non_null(line);
  assert_int_equal(sscanf(line,
                          "work 100 took %lf ms\n"
                          "  %lf %*x touched %*x\n"
                          "  %lf %*x touched %*x\n"
                          "  %lf %*x touched %*x\n"
                          "  and %lu before\n",
                          &ms, &times[0], &times[1], &times[2], &before),
                   5);
  assert_true(times[0] >= times[1] && times[1] >= times[2]);
  /* 65536 bytes hold 2048 records of a header and three fields. */
  assert_in_range(before, 2000, 2045);
}

/* -- callback_test --------------------------------------------------------- */

static void callback_test_as_nobody_passes_with_both_kinds(void **state) {
  tool_run_t run;

  run_own(__func__, &run, SAMPLES "/callback_test");
  assert_string_equal(run.out, "made records: passed\n"
                               "records of the kernel: passed\n");
}

static void forbid(void) {
  explain_filter(EPERM);
}

static void callback_test_in_a_container_skips_the_kernel(void **state) {
  tool_run_t run = {
      .args = {SAMPLES "/callback_test"}, .as_nobody = 1, .prepare = forbid};

  tool_run(&run);
  tool_run_expect_status(&run, 0);
  tool_run_expect_text(run.out, "made records: passed\n"
                                "records of the kernel: skipped: ");
}

/* -- walk_close ------------------------------------------------------------ */

/* The status is 1 if the loop cannot be closed, and 99 if memory is left. */
static void walk_close_as_nobody_samples_counts_and_closes(void **state) {
  tool_run_t run;
  unsigned long long faults, last = 0;
  unsigned long samples, lost;
  char *line;
  size_t nr;
  int size;

  run_own(__func__, &run, SAMPLES "/walk_close");
  for (nr = 0, line = run.out;; nr++, line += size) {
    size = 0;
    sscanf(line, "%llu page faults%n", &faults, &size);
    if (size == 0)
      break;
    assert_true(faults >= last);
    last = faults;
    size++; /* the end of the line */
  }
  assert_true(nr >= 2 && last > 0);
  assert_int_equal(
      sscanf(line, "%lu samples, %lu lost\nclosed", &samples, &lost), 2);
  assert_true(samples >= 3);
  assert_string_equal(strchr(line, '\n'), "\nclosed\n");
}

/* -- watch_variable -------------------------------------------------------- */

/* Reads the code places of `nr` writes. Returns the rest of the text. */
static const char *places_of(const char *text, const char *name,
                             unsigned long long *places, int nr) {
  char line[64], path[512];
  int i;

  snprintf(line, sizeof(line), "%s was written %d times\n", name, nr);
  text = strstr(text, line);
  assert_non_null(text);
  for (i = 0; i < nr; i++) {
    text = strchr(text, '\n') + 1;
    assert_int_equal(sscanf(text, "%511s %llx", path, &places[i]), 2);
    assert_string_equal(path, SAMPLES "/watch_variable");
  }
  return strchr(text, '\n') + 1;
}

/* add() writes both variables three times, and clear() one of them once. */
static void
watch_variable_as_nobody_prints_each_write_and_its_place(void **state) {
  tool_run_t run;
  unsigned long long total[4], calls[3];
  const char *rest;

  support_need_breakpoints(__func__);
  run_own(__func__, &run, SAMPLES "/watch_variable");
  places_of(run.out, "total", total, 4);
  rest = places_of(run.out, "calls", calls, 3);
  assert_string_equal(rest, "");
  assert_true(total[0] == total[1] && total[1] == total[2]);
  assert_true(calls[0] == calls[1] && calls[1] == calls[2]);
  assert_true(total[3] != total[0] && calls[0] != total[0]);
}

/* -- output that is lost --------------------------------------------------- */

/* A thread that works once it is measured, and is renamed by its execve(2). */
#define TARGET                                                                 \
  "(until ls -l /proc/$$/fd | grep -q perf_event; do :; done; i=0;"            \
  " while [ $i -lt 100000 ]; do i=$((i+1)); done; exec /bin/true) & "

static void expect_lost(const char *before, const char *sample,
                        const char *arg) {
  static tool_run_t run;
  char line[4096];

  snprintf(line, sizeof(line), SAMPLES "/%s", sample);
  if (access(line, X_OK) != 0)
    return; /* CMake did not build it */
  print_message("%s\n", sample);
  snprintf(line, sizeof(line), "%s exec " SAMPLES "/%s %s >/dev/full", before,
           sample, arg);
  run = (tool_run_t){.args = {"/bin/sh", "-c", line}};
  tool_run(&run);
  tool_run_expect_status(&run, 1);
  if (strcmp(sample, "callback_test") != 0) /* it prints its source line */
    tool_run_expect_text(run.err, "stdout");
}

static void samples_into_a_full_disk_end_with_1(void **state) {
  const char *const samples[] = {
      "allocator",        "callback_test", "count_group", "last_records",
      "limit_records",    "measure_calls", "raii",        "sample_group",
      "measure_function", "share_ring",    "walk_close"};
  size_t i;

  support_need_own_events(__func__);
  for (i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
    expect_lost("", samples[i], "");
}

static void names_into_a_full_disk_end_with_1(void **state) {
  expect_lost("", "name_addresses", "$$ 10");
}

static void samples_of_a_thread_into_a_full_disk_end_with_1(void **state) {
  const char *const samples[] = {"own_loop", "poll_event", "sample_process",
                                 "sample_thread"};
  size_t i;

  support_need_own_events(__func__);
  for (i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
    expect_lost(TARGET, samples[i], "$!");
}

static void sample_of_cpus_into_a_full_disk_ends_with_1(void **state) {
  support_need_cpu_wide(__func__);
  expect_lost("", "measure_machine", "");
}

static void sample_of_a_variable_into_a_full_disk_ends_with_1(void **state) {
  support_need_breakpoints(__func__);
  expect_lost("", "watch_variable", "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(allocator_as_nobody_holds_nothing_at_the_end),
      cmocka_unit_test(measure_function_as_nobody_prints_page_faults_and_time),
      cmocka_unit_test(measure_calls_as_nobody_prints_least_and_mean),
      cmocka_unit_test(limit_records_as_nobody_takes_five_each_second),
      cmocka_unit_test(sample_group_as_nobody_prints_page_faults_by_sample),
      cmocka_unit_test(count_group_as_nobody_prints_the_counts_of_each_part),
      cmocka_unit_test(share_ring_as_nobody_prints_records_of_both_events),
      cmocka_unit_test(last_records_as_nobody_prints_the_newest_first),
      cmocka_unit_test(callback_test_as_nobody_passes_with_both_kinds),
      cmocka_unit_test(callback_test_in_a_container_skips_the_kernel),
      cmocka_unit_test(walk_close_as_nobody_samples_counts_and_closes),
      cmocka_unit_test(
          watch_variable_as_nobody_prints_each_write_and_its_place),
      cmocka_unit_test(samples_into_a_full_disk_end_with_1),
      cmocka_unit_test(names_into_a_full_disk_end_with_1),
      cmocka_unit_test(samples_of_a_thread_into_a_full_disk_end_with_1),
      cmocka_unit_test(sample_of_cpus_into_a_full_disk_ends_with_1),
      cmocka_unit_test(sample_of_a_variable_into_a_full_disk_ends_with_1),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
