/* SPDX-License-Identifier: MIT */
/* perf(1) reads what record writes, and reads the same as the library's
 * decoder. */
#include <unistd.h>

#include "perf_check.h"
#include "sample_run.h"

/* In a directory of the test's own. */
static char path[] = "/tmp/uvperf_record_XXXXXX/perf.data";

#define DIRECTORY_BYTES (sizeof(path) - sizeof("/perf.data"))

static int make_directory(void **state) {
  (void)state;
  memcpy(strrchr(path, '/') - 6, "XXXXXX", 6);
  path[DIRECTORY_BYTES] = '\0';
  if (mkdtemp(path) == NULL)
    return -1;
  path[DIRECTORY_BYTES] = '/';
  return 0;
}

static int remove_directory(void **state) {
  char old[sizeof(path) + 4];

  (void)state;
  snprintf(old, sizeof(old), "%s.old", path);
  unlink(old);
  unlink(path);
  path[DIRECTORY_BYTES] = '\0';
  return rmdir(path);
}

/* Runs words of a shell, which are a format for the path. */
static void run_words(const char *format) {
  static sample_run_t run;
  char words[512];

  memset(&run, 0, sizeof(run));
  snprintf(words, sizeof(words), "%.*s%s%s", (int)strcspn(format, "@"), format,
           path, format + strcspn(format, "@") + 1);
  run.args[0] = "/bin/sh";
  run.args[1] = "-c";
  run.args[2] = words;
  sample_run(&run);
  sample_run_expect_status(&run, 0);
}

/* -- the comparison itself ------------------------------------------------- */

static void decoder_reads_of_perfs_files_what_perf_reads(void **state) {
  perf_check_t check;

  (void)state;
  support_need_cpu_wide(__func__);
  support_need_tracepoint(__func__, "sched:sched_switch");
  perf_dump_need(__func__);
  run_words("perf record -q -o @ -e cpu-clock,sched:sched_switch -g -a -- "
            "sleep 0.1");
  perf_check_file(&check, path);
  assert_true(check.nr_of_event[1] > 0 && check.nr_named > 0);
  run_words("perf record -q -o @ -e page-faults -c 1 --call-graph dwarf -- "
            "ls /");
  perf_check_file(&check, path);
  assert_int_equal(check.nr_of_event[0], check.nr_of_type[PERF_RECORD_SAMPLE]);
  assert_int_equal(check.nr_of_event[0], check.nr_named);
  assert_true(check.nr_named > 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(
          decoder_reads_of_perfs_files_what_perf_reads, make_directory,
          remove_directory),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
