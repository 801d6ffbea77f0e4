/* SPDX-License-Identifier: MIT */
/* -D, --max-size and --switch-output: the times at which record samples, and
 * the files that it writes. */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "perf_dump.h"
#include "record_run.h"
#include "uvperf.h"

#define HEADER_EVENT_DESC 12
#define MS                UINT64_C(1000000)

/* A command whose child does the work. */
#define CHILD "sh -c '" STAT_TARGET " spin & trap \"kill $!\" TERM; wait; wait'"

static tool_run_t last; /* run */

static void run_with(const char *words) {
  record_run_run(&last, RECORD_PATH, words);
  tool_run_expect_status(&last, 0);
}

static void run_well(const char *words) {
  memset(&last, 0, sizeof(last));
  run_with(words);
}

/* -- when ------------------------------------------------------------------ */

typedef struct times_s {
  uint64_t exec, first_sample;
  size_t nr_maps; /* of the command */
} times_t;

static void note_times(void *arg, const perf_data_record_t *entry) {
  const uvperf_record_t *record = entry->record;
  times_t *times = arg;

  if (record == NULL)
    return;
  if (record->type == PERF_RECORD_COMM &&
      (record->misc & PERF_RECORD_MISC_COMM_EXEC) && times->exec == 0)
    times->exec = record->time;
  if (record->type == PERF_RECORD_SAMPLE && times->first_sample == 0)
    times->first_sample = record->time;
  times->nr_maps += record->type == PERF_RECORD_MMAP2 &&
                    strcmp(record->mmap.filename, STAT_TARGET) == 0;
}

static void read_times(times_t *times) {
  perf_data_t data;

  memset(times, 0, sizeof(*times));
  perf_data_open(&data, record_run_path());
  perf_data_walk(&data, note_times, times);
  perf_data_close(&data);
}

static void wait_for_samples(tool_run_t *run) {
  record_run_count_t count;

  do {
    sched_yield();
    record_run_count(&count);
  } while (count.nr_of_type[PERF_RECORD_SAMPLE] == 0);
}

static void samples_begin_after_the_delay_and_mappings_before(void **state) {
  times_t times;

  support_need_own_events(__func__);
  memset(&last, 0, sizeof(last));
  last.interrupt_at = "Events enabled\n";
  last.work = wait_for_samples;
  run_with("-D 300 -e cpu-clock:u -F 1000 " STAT_TARGET " spin");
  tool_run_expect_text(last.err, "Events disabled\n");
  tool_run_expect_text(last.err, "Events enabled\n");
  read_times(&times);
  assert_true(times.exec > 0);
  assert_true(times.nr_maps > 0);
  assert_true(times.first_sample >= times.exec + 290 * MS);
}

static void nothing_is_sampled_with_an_endless_delay(void **state) {
  times_t times;

  support_need_own_events(__func__);
  run_well("-D -1 -e cpu-clock:u,page-faults:u " STAT_TARGET " touch 100");
  read_times(&times);
  assert_true(times.exec > 0 && times.nr_maps > 0);
  assert_int_equal(times.first_sample, 0);
}

/* The recording must end by itself, because the command runs for ever. On a
 * busy machine it may not run in the ranges. */
static void recording_ends_with_the_last_range(void **state) {
  times_t times;

  support_need_own_events(__func__);
  run_well("-D 50-80,120-150 -e cpu-clock:u -F 1000 " STAT_TARGET " spin");
  read_times(&times);
  assert_true(times.first_sample == 0 ||
              times.first_sample >= times.exec + 40 * MS);
}

/* -- how much -------------------------------------------------------------- */

static void file_ends_at_its_max_size(void **state) {
  struct stat stat_of;
  record_run_count_t count;

  support_need_own_events(__func__);
  run_well("--max-size 200K --call-graph dwarf -e page-faults:u -c 1 "
           "sh -c 'while :; do " STAT_TARGET " touch 100; done'");
  record_run_count(&count);
  assert_true(count.nr_of_event[0] > 10);
  assert_int_equal(stat(record_run_path(), &stat_of), 0);
  /* The attrs and ids add to the size. */
  assert_in_range(stat_of.st_size, 150 << 10, (200 + 64) << 10);
}

/* -- into which file ------------------------------------------------------- */

typedef struct find_s {
  const char *comm, *map;
  size_t nr_comms, nr_maps;
} find_t;

static void find(void *arg, const perf_data_record_t *entry) {
  const uvperf_record_t *record = entry->record;
  find_t *wanted = arg;

  if (record == NULL)
    return;
  wanted->nr_comms += record->type == PERF_RECORD_COMM &&
                      strncmp(record->comm.comm, wanted->comm, 15) == 0;
  wanted->nr_maps += record->type == PERF_RECORD_MMAP2 &&
                     strcmp(record->mmap.filename, wanted->map) == 0;
}

static int has_target(const char *path) {
  find_t wanted = {strrchr(STAT_TARGET, '/') + 1, STAT_TARGET, 0, 0};
  perf_data_t data;

  perf_data_open(&data, path);
  perf_data_walk(&data, find, &wanted);
  perf_data_close(&data);
  return wanted.nr_comms > 0 && wanted.nr_maps > 0;
}

/* A command that runs all the time is in each file. */
static void expect_target(void) {
  glob_t files;
  size_t i, nr = record_run_files(&files);

  for (i = 0; i < nr; i++)
    assert_true(has_target(files.gl_pathv[i]));
  globfree(&files);
}

/* Expects that the file alone has the names of all tasks, also for perf(1). */
static void expect_complete(const char *path) {
  char words[256], line[256];
  perf_data_t data;
  FILE *file;

  perf_data_open(&data, path);
  assert_true(perf_data_has(&data, HEADER_EVENT_DESC));
  perf_data_close(&data);
  snprintf(words, sizeof(words), "script -i %s -F comm", path);
  file = perf_dump_run(words, 1, NULL);
  while (fgets(line, sizeof(line), file) != NULL)
    assert_null(strchr(line, ':')); /* ":17" is a task without a name */
  fclose(file);
}

/* Returns the number of samples in all files. */
static size_t expect_files(size_t least) {
  record_run_count_t count;
  size_t nr_samples = 0, nr, i;
  glob_t files;

  assert_int_equal(access(record_run_path(), F_OK), -1);
  nr = record_run_files(&files);
  assert_true(nr >= least);
  for (i = 0; i < nr; i++) {
    record_run_count_file(files.gl_pathv[i], &count);
    assert_int_equal(count.nr_inversions, 0);
    nr_samples += count.nr_of_type[PERF_RECORD_SAMPLE];
    expect_complete(files.gl_pathv[i]);
  }
  globfree(&files);
  return nr_samples;
}

/* The command has begun to run, and is in the file. */
static void wait_for_target(tool_run_t *run) {
  while (!has_target(record_run_path()))
    sched_yield();
  wait_for_samples(run);
}

/* Interrupts once the next file exists, and has samples. */
static void interrupt(tool_run_t *run) {
  struct stat stat_of;

  while (stat(record_run_path(), &stat_of) != 0 || stat_of.st_size == 0)
    sched_yield();
  wait_for_samples(run);
  kill(run->pid, SIGINT);
}

/* Has a file begin when the command is in the first one. */
static void run_with_signal(const char *at, const char *words) {
  memset(&last, 0, sizeof(last));
  last.interrupt_at = at;
  last.work = wait_for_target;
  last.interrupt_with = SIGUSR2;
  last.check_at = "[ uvperf-record: Dump ";
  last.check = interrupt;
  run_with(words);
  assert_true(expect_files(2) > 0);
  expect_target();
}

static void need(const char *test) {
  support_need_own_events(test);
  perf_dump_need(test);
}

static void signal_begins_a_file_that_is_as_complete(void **state) {
  need(__func__);
  run_with_signal("recording",
                  "-v --switch-output -e cpu-clock:u -F 500 " CHILD);
  tool_run_expect_text(last.err, ".<timestamp> (");
}

/* Runs work in pieces, each of more than 64K. After each, the command waits
 * until a file has been finished, so that it does not matter when record
 * runs. */
static void run_pieces(const char *options) {
  char words[768];

  snprintf(words, sizeof(words),
           "%s -m 1M -e page-faults:u -c 1 sh -c 'last=; for i in 1 2 3; "
           "do " STAT_TARGET
           " touch 4000; while now=$(ls \"$0\".* 2>/dev/null | tail -n 1); "
           "[ \"$now\" = \"$last\" ]; do sleep 0.05; done; last=$now; done' %s",
           options, record_run_path());
  run_well(words);
}

/* perf record ignores SIGUSR2, too. The command gets the signal handling that
 * record had at its start. */
static void signal_is_ignored_unless_it_begins_a_file(void **state) {
  support_need_own_events(__func__);
  run_well("-e cpu-clock:u sh -c 'kill -USR2 $PPID; sleep 0.1'");
  assert_int_equal(access(record_run_path(), F_OK), 0);
  memset(&last, 0, sizeof(last));
  record_run_run(&last, RECORD_PATH, "-e cpu-clock:u sh -c 'kill -USR2 $$'");
  tool_run_expect_status(&last, 128 + SIGUSR2);
}

static void no_sample_is_lost_between_files_of_a_size(void **state) {
  unsigned long samples, lost;

  need(__func__);
  run_pieces("--switch-output=64K");
  assert_true(record_run_reported(&last, &samples, &lost));
  assert_int_equal(lost, 0);
  assert_int_equal(expect_files(3), samples);
  assert_true(samples >= 10000);
}

static void newest_files_are_kept(void **state) {
  glob_t files;

  need(__func__);
  run_pieces("--switch-output=64K --switch-max-files 2");
  expect_files(2);
  assert_int_equal(record_run_files(&files), 2);
  globfree(&files);
}

static void time_begins_a_file(void **state) {
  need(__func__);
  run_well(
      "--switch-output=1s --duration 1.2 -e cpu-clock:u -F 500 " STAT_TARGET
      " spin");
  expect_files(2);
  expect_target();
}

/* The parent of the orphan ends at once. */
static void orphan_is_known_in_each_file(void **state) {
  const char *line;
  int pid = 0;

  need(__func__);
  run_with_signal("orphan ", "-v --switch-output -e cpu-clock:u -F 500 sh "
                             "-c '(" STAT_TARGET " spin >/dev/null 2>&1 & "
                             "echo orphan $! >&2); exec sleep 60'");
  line = strstr(last.err, "orphan ");
  assert_int_equal(sscanf(line, "orphan %d", &pid), 1);
  assert_true(pid > 0);
  assert_int_equal(kill(pid, SIGKILL), 0);
}

static void finished_file_gets_the_time_into_its_name(void **state) {
  glob_t files;

  need(__func__);
  run_well("--timestamp-filename -e cpu-clock:u " STAT_TARGET " touch 100");
  expect_files(1);
  assert_int_equal(record_run_files(&files), 1);
  tool_run_expect_text(last.err, files.gl_pathv[0]);
  globfree(&files);
}

static void
file_that_cannot_be_renamed_is_reported_by_its_own_name(void **state) {
  tool_run_t run = {.args = {RECORD_PATH, "--switch-output", "-e",
                             "cpu-clock:u", "-o", NULL, "true"}};
  char path[512];
  size_t size;

  need(__func__);
  snprintf(path, 256, "%s", record_run_path());
  *strrchr(path, '/') = '\0';
  size = strlen(path);
  path[size] = '/';
  memset(path + size + 1, 'x', 250); /* no room for a time after it */
  path[size + 251] = '\0';
  run.args[5] = path;
  tool_run_ends(&run, 1, path);
  assert_null(strstr(run.err, ".<timestamp>"));
  assert_int_equal(unlink(path), 0);
}

/* Nothing is written into a refused file. */
static void pipe_is_not_written_to_though_refused(void **state) {
  tool_run_t run = {.args = {RECORD_PATH, "--timestamp-filename", "-e",
                             "cpu-clock:u", "-o", "/dev/stdout", "true"}};

  need(__func__);
  tool_run_ends(&run, 1, "--timestamp-filename ");
  assert_string_equal(run.out, "");
}

/* perf record moves /dev/null away. */
static void device_is_not_renamed(void **state) {
  tool_run_t run = {.args = {RECORD_PATH, "--switch-output", "-o",
                             record_run_path(), "true"}};
  struct stat stat_of;

  support_need_root(__func__);
  if (mknod(record_run_path(), S_IFCHR | 0600, makedev(1, 3)) != 0)
    support_skip(__func__, "a device that can be made");
  tool_run_ends(&run, 1, "--switch-output ");
  assert_int_equal(stat(record_run_path(), &stat_of), 0);
  assert_true(S_ISCHR(stat_of.st_mode));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      record_run_test(samples_begin_after_the_delay_and_mappings_before),
      record_run_test(nothing_is_sampled_with_an_endless_delay),
      record_run_test(recording_ends_with_the_last_range),
      record_run_test(file_ends_at_its_max_size),
      record_run_test(signal_begins_a_file_that_is_as_complete),
      record_run_test(signal_is_ignored_unless_it_begins_a_file),
      record_run_test(no_sample_is_lost_between_files_of_a_size),
      record_run_test(newest_files_are_kept),
      record_run_test(time_begins_a_file),
      record_run_test(orphan_is_known_in_each_file),
      record_run_test(finished_file_gets_the_time_into_its_name),
      record_run_test(file_that_cannot_be_renamed_is_reported_by_its_own_name),
      record_run_test(pipe_is_not_written_to_though_refused),
      record_run_test(device_is_not_renamed),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
