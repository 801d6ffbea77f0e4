/* SPDX-License-Identifier: MIT */
/* The profiler shows a recorded file as perf report does. */
#include <math.h>
#include <unistd.h>

#include "perf_dump.h"
#include "profile_run.h"
#include "record_run.h"
#include "tool_usage.h"

#define BUSY "sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; ls /'"

static tool_run_t run;

static void profile(const char *words) {
  char line[1024];

  memset(&run, 0, sizeof(run));
  snprintf(line, sizeof(line), "exec %s --input %s %s", PROFILE_PATH,
           record_run_path(), words);
  run.args[0] = "/bin/sh";
  run.args[1] = "-c";
  run.args[2] = line;
  run.args[3] = record_run_path(); /* $0 */
  tool_run(&run);
}

static void profile_ok(const char *words) {
  profile(words);
  tool_run_expect_status(&run, 0);
}

/* -- the shares of perf ---------------------------------------------------- */

/* Returns perf's share of a function in a file, in percent. It is in a line
 * "14.25%|[.] name|file" below the event. Returns -1 if perf has no such
 * line. */
static double share_by_perf(FILE *report, const char *event,
                            const profile_row_t *row) {
  char line[1024], part[256], *name, *file;
  int is_in = 0;

  snprintf(part, sizeof(part), " of event '%s'", event);
  rewind(report);
  while (fgets(line, sizeof(line), report) != NULL) {
    if (strstr(line, " of event '") != NULL)
      is_in = strstr(line, part) != NULL;
    name = strchr(line, '|');
    file = name == NULL ? NULL : strchr(name + 1, '|');
    if (!is_in || file == NULL || file - name < 6)
      continue;
    *file++ = '\0';
    name += strlen("|[.] ");
    name[strcspn(name, " ")] = '\0';
    file[strcspn(file, " \n")] = '\0';
    if (strcmp(name, row->name) == 0 && strcmp(file, row->object) == 0)
      return strtod(line, NULL);
  }
  return -1;
}

/* Compares at least `least` rows of libc. perf may use another name for stubs
 * of the linker and for kernel functions with several names, so these are left
 * out. */
static void compare_with_perf(const char *event, size_t least) {
  profile_row_t row;
  size_t i, nr = 0;
  char words[512];
  double share;
  FILE *report;

  snprintf(words, sizeof(words),
           "report --stdio --no-children -g none -s sym,dso -t '|' -i %s",
           record_run_path());
  report = perf_dump_run(words, 1, NULL);
  for (i = 0; profile_run_row(&run, i, &row); i++) {
    if (strstr(row.name, "+0x") != NULL || row.self == 0 ||
        strstr(row.name, "@plt") != NULL ||
        strcmp(row.object, "libc.so.6") != 0)
      continue;
    share = share_by_perf(report, event, &row);
    if (fabs(share - row.self) > 0.1)
      fail_msg("%s of %s: %.2f %% of perf, here %.2f %%", row.name, row.object,
               share, row.self);
    nr++;
  }
  fclose(report);
  assert_true(nr >= least);
}

static void record(const char *words) {
  char line[1024];

  snprintf(line, sizeof(line), "perf record -q -o @ %s >/dev/null", words);
  record_run_shell(line);
}

static void functions_have_the_shares_of_perf(void **state) {
  static const char *const kinds[] = {
      "-e cpu-clock -F 4000 -- " BUSY,
      "-e cpu-clock -c 250000 -g -- " BUSY,
  };
  size_t i;

  support_need_cpu_wide(__func__);
  perf_dump_need(__func__);
  for (i = 0; i < COUNT_OF(kinds); i++) {
    record(kinds[i]);
    profile("");
    tool_run_expect_status(&run, 0);
    assert_true(profile_run_samples(&run) > 100);
    compare_with_perf("cpu-clock", 1);
  }
}

/* -- several events -------------------------------------------------------- */

static void event_can_be_chosen(void **state) {
  support_need_kernel_side(__func__);
  perf_dump_need(__func__);
  record("-e context-switches:u,cpu-clock,page-faults -F 4000 -g -- " BUSY);
  profile_ok("");
  compare_with_perf("cpu-clock", 5);
  profile_ok("--event page-faults");
  compare_with_perf("page-faults", 0);
  profile("--event nothing");
  tool_run_expect_status(&run, 1);
  tool_run_expect_text(run.err, "context-switches:u, cpu-clock, page-faults");
  assert_string_equal(run.out, "");
}

/* -- missing data ---------------------------------------------------------- */

static void recording_without_samples_is_an_error(void **state) {
  support_need_own_events(__func__);
  perf_dump_need(__func__);
  record("-e dummy:u -- true");
  profile("");
  tool_run_expect_status(&run, 1);
  tool_run_expect_text(run.err, "dummy:u");
}

/* Threads and cgroups have no callers, but a file of stacks has. */
static void recording_without_callers_is_reported(void **state) {
  support_need_own_events(__func__);
  perf_dump_need(__func__);
  record("-e cpu-clock:u -F 4000 -- " BUSY);
  profile_ok("");
  tool_run_expect_text(run.err, " -g");
  profile_ok("--by cgroup");
  assert_null(strstr(run.err, " -g"));
  tool_run_expect_text(run.err, "--all-cgroups");
  profile_ok("--by thread --folded /dev/null");
  tool_run_expect_text(run.err, " -g");
}

/* Leaves half of the records: the header has where they begin, and their
 * bytes. */
static void cut_off_records(void) {
  record_run_shell("truncate -s $(($(od -An -tu8 -j40 -N8 @) + $(od -An -tu8 "
                   "-j48 -N8 @) / 2)) @");
}

static void file_that_is_cut_off_is_profiled_so_far(void **state) {
  support_need_own_events(__func__);
  perf_dump_need(__func__);
  record("-e cpu-clock:u -F 4000 -- " BUSY);
  cut_off_records();
  profile_ok("");
  tool_run_expect_text(run.err, record_run_path());
  assert_true(profile_run_samples(&run) > 10);
}

/* Without its end, a file does not say which tracepoint an id was where it was
 * recorded. Here the id may be another tracepoint's. */
static void
tracepoint_of_a_cut_off_file_has_no_name_of_this_machine(void **state) {
  support_need_tracepoint(__func__, "raw_syscalls:sys_enter");
  perf_dump_need(__func__);
  record("-e raw_syscalls:sys_enter -c 1 -- sh -c "
         "'i=0; while [ $i -lt 2000 ]; do i=$((i+1)); echo; done' >/dev/null");
  cut_off_records();
  profile_ok("");
  assert_true(profile_run_samples(&run) > 10);
  assert_null(strstr(run.err, "sys_enter"));
}

/* Changes the host's name in the header to another of the same length. The
 * build ids still lead to the files. */
static void recording_of_another_machine_is_named_by_build_ids(void **state) {
  char words[512], host[256] = "", home[512];

  support_need_kernel_side(__func__);
  perf_dump_need(__func__);
  assert_int_equal(gethostname(host, sizeof(host) - 1), 0);
  /* perf 6.1 records the build ids of sampled files, but not of their callers'
   * files. */
  record("-e cpu-clock -F 4000 -- " BUSY);
  snprintf(words, sizeof(words), "sed -i 's/%s\\x00/%.*s\\x00/' @", host,
           (int)strlen(host), "elsewhereelsewhereelsewhere");
  if (strlen(host) > 27)
    support_skip(__func__, "a host's name of at most 27 bytes");
  record_run_shell(words);
  profile_ok("");
  compare_with_perf("cpu-clock", 5);
  assert_null(strstr(run.err, " on el"));
  /* No local file has that name, and perf's cache is elsewhere. */
  record_run_shell("sed -i 's#/libc.so.6#/libc.so.9#' @");
  snprintf(home, sizeof(home), "%s", getenv("HOME") ? getenv("HOME") : "/");
  assert_int_equal(setenv("HOME", "/nonexistent", 1), 0);
  profile("");
  assert_int_equal(setenv("HOME", home, 1), 0);
  tool_run_expect_text(run.err, " on el");
  tool_run_expect_text(run.err, "build id");
  tool_run_expect_text(run.out, "libc.so.9+0x");
  /* A file that is not there does not describe where its functions are. */
  assert_null(strstr(run.err, "outside of every function"));
}

/* Fills a part of all records of a type with zeros. */
static void clear(const char *path, uint32_t type, long offset, size_t bytes) {
  struct perf_event_header header = {0, 0, sizeof(header)};
  static const char none[24];
  uint64_t section[2];
  FILE *file = fopen(path, "r+");

  assert_non_null(file);
  /* The header has the section of the data after that of the attrs. */
  assert_int_equal(fseek(file, 40, SEEK_SET), 0);
  assert_int_equal(fread(section, sizeof(section), 1, file), 1);
  while (section[1] >= sizeof(header)) {
    assert_int_equal(fseek(file, (long)section[0], SEEK_SET), 0);
    assert_int_equal(fread(&header, sizeof(header), 1, file), 1);
    if (header.type == type) {
      assert_int_equal(fseek(file, offset, SEEK_CUR), 0);
      assert_int_equal(fwrite(none, bytes, 1, file), 1);
    }
    assert_in_range(header.size, sizeof(header), section[1]);
    section[0] += header.size;
    section[1] -= header.size;
  }
  assert_int_equal(fclose(file), 0);
}

/* In a pid namespace, live samples with pid 0 are of tasks outside of it. */
static void idle_task_is_swapper_in_a_pid_namespace_too(void **state) {
  support_need_root(__func__);
  support_need_own_events(__func__);
  perf_dump_need(__func__);
  record("-e cpu-clock:u -F 4000 -- " BUSY);
  clear(record_run_path(), PERF_RECORD_SAMPLE, 8, 8); /* pid and tid */
  memset(&run, 0, sizeof(run));
  run.args[0] = "/bin/sh";
  run.args[1] = "-c";
  run.args[2] = "exec unshare -p -f \"$1\" --input \"$0\" --by comm";
  run.args[3] = record_run_path();
  run.args[4] = PROFILE_PATH;
  tool_run_exits(&run, 0);
  tool_run_expect_text(run.out, "  swapper\n");
}

/* Otherwise a stranger's recording could name any file of this machine. */
static void files_that_are_not_identified_are_not_read(void **state) {
  support_need_own_events(__func__);
  perf_dump_need(__func__);
  record("-B -e cpu-clock:u -F 4000 -- " BUSY);
  profile_ok("");
  assert_null(strstr(run.out, "libc.so.6+0x"));
  /* The device and the inode. */
  clear(record_run_path(), PERF_RECORD_MMAP2, 32, 24);
  profile_ok("");
  tool_run_expect_text(run.out, "libc.so.6+0x");
  tool_run_expect_text(run.err, "neither inodes nor build ids");
}

/* -- pipes, and the ways to end -------------------------------------------- */

static void pipe_is_profiled_when_it_ends(void **state) {
  memset(&run, 0, sizeof(run));
  run.args[0] = "/bin/sh";
  run.args[1] = "-c";
  run.args[2] = "perf record -q -o - -a -e cpu-clock -F 999 -g -- sleep 0.2 | "
                "exec " PROFILE_PATH " --input -";
  support_need_cpu_wide(__func__);
  perf_dump_need(__func__);
  tool_run_exits(&run, 0);
  assert_true(profile_run_samples(&run) > 100);
}

/* The pipe stays open after everything has been read. The writer ends when the
 * reader has gone. */
/* Waits for a line of progress with a hundred samples. */
static void wait_for_samples(tool_run_t *progress) {
  const char *line = strrchr(progress->err, '\r');

  if (line != NULL && strtoul(line + 1, NULL, 10) >= 100)
    progress->interrupt_with = SIGINT;
  else
    progress->interrupt_at = " samples";
}

static void interrupt_shows_what_came_so_far(void **state) {
  support_need_cpu_wide(__func__);
  perf_dump_need(__func__);
  memset(&run, 0, sizeof(run));
  run.args[0] = "/bin/sh";
  run.args[1] = "-c";
  /* With large rings perf writes nothing in the first seconds. */
  run.args[2] = "mkfifo $0.old; perf record -q -o - -a -e cpu-clock -F 999 "
                "-m 8 -- sleep 20 >$0.old 2>/dev/null & "
                "sleep 0.5; exec " PROFILE_PATH " --input $0.old";
  run.args[3] = record_run_path();
  run.err_is_terminal = 1;
  run.interrupt_at = " samples";
  run.interrupt_with = TOOL_RUN_NO_SIGNAL;
  run.work = wait_for_samples;
  tool_run_exits(&run, 0);
  tool_run_expect_text(run.err, ".old");
  assert_true(profile_run_samples(&run) >= 100);
}

static void options_for_measuring_are_refused(void **state) {
  static const tool_usage_t cases[] = {
      {{"--input=x", "-a"}, "-a does not go with --input"},
      {{"--input=x", "-p", "1"}, "-p does not go with --input"},
      {{"--input=x", "-F", "9"}, "-F does not go with --input"},
      {{"--input=x", "-d", "9"}, "-d does not go with --input"},
      {{"--input=x", "--top"}, "--top does not go with --input"},
      {{"--input=x", "--off-cpu"}, "--off-cpu does not go with --input"},
      {{"--input=x", "--call-graph=none"}, "--call-graph does not go with"},
      {{"--input=x", "--", "true"}, "a command does not go with --input"},
      {{"--event=x", "-a"}, "it needs --input"},
  };

  tool_usage_refused(PROFILE_PATH, cases, COUNT_OF(cases));
}

static void file_that_is_no_recording_is_an_error(void **state) {
  record_run_shell("echo hello >@");
  profile("");
  tool_run_expect_status(&run, 1);
  tool_run_expect_text(run.err, record_run_path());
  assert_string_equal(run.out, "");
}

static void output_into_the_recording_is_refused(void **state) {
  record_run_shell("echo hello >@; ln -s @ @.old");
  profile("--html $0.old");
  tool_run_expect_status(&run, 1);
  tool_run_expect_text(run.err, "is the recording: name another file");
  record_run_shell("grep -qx hello @");
}

static void outputs_into_one_file_are_refused(void **state) {
  record_run_shell("echo hello >@; echo old >@.old");
  profile("--html $0.old --folded $0.old");
  tool_run_expect_status(&run, 1);
  tool_run_expect_text(run.err, "named for two outputs: name two files");
  record_run_shell("grep -qx old @.old");
  profile("--html /dev/null --folded /dev/null");
  tool_run_expect_text(run.err, record_run_path());
}

int main(void) {
  const struct CMUnitTest tests[] = {
      record_run_test(functions_have_the_shares_of_perf),
      record_run_test(event_can_be_chosen),
      record_run_test(recording_without_samples_is_an_error),
      record_run_test(recording_without_callers_is_reported),
      record_run_test(file_that_is_cut_off_is_profiled_so_far),
      record_run_test(tracepoint_of_a_cut_off_file_has_no_name_of_this_machine),
      record_run_test(idle_task_is_swapper_in_a_pid_namespace_too),
      record_run_test(recording_of_another_machine_is_named_by_build_ids),
      record_run_test(files_that_are_not_identified_are_not_read),
      record_run_test(pipe_is_profiled_when_it_ends),
      record_run_test(interrupt_shows_what_came_so_far),
      cmocka_unit_test(options_for_measuring_are_refused),
      record_run_test(file_that_is_no_recording_is_an_error),
      record_run_test(output_into_the_recording_is_refused),
      record_run_test(outputs_into_one_file_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
