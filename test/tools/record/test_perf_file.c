/* SPDX-License-Identifier: MIT */
/* perf(1) finds the same in the files of record and in its own: attrs and names
 * of functions, even if the file is not finished. */
#include <signal.h>
#include <time.h>

#include "call_server.h"
#include "perf_dump.h"
#include "record_run.h"

/* -- attrs ----------------------------------------------------------------- */

/* Splits a line of perf evlist -v at its commas. Leaves out fields that differ
 * for a reason:
 * - attrs are as short in the file as can be;
 * - use_clockid: one clock that programs can read orders all records;
 * - read_format: a set reads its counts with their times, and identifies
 *   records by PERF_SAMPLE_IDENTIFIER, never by ID;
 * - tasks and mappings are recorded by a separate event, also for tasks;
 * - names without G or H mean guests too, as everywhere in this library;
 * - inherit does nothing on CPUs;
 * - stacks for DWARF need neither addresses nor data sources, and a breakpoint
 *   needs addresses. */
static void read_fields(const char *line, char fields[32][128]) {
  static const char *const differs[] = {
      "size:",         "read_format:", "use_clockid:", "clockid:",
      "mmap:",         "comm:",        "task:",        "mmap2:",
      "comm_exec:",    "ksymbol:",     "bpf_event:",   "mmap_data:",
      "inherit:",      "namespaces:",  "cgroup:",      "context_switch:",
      "exclude_guest:"};
  size_t size, nr = 0, i;

  memset(fields, 0, 32 * sizeof(*fields));
  for (; *line != '\0'; line += size + strspn(line + size, ", \n")) {
    size = strcspn(line, ",\n");
    for (i = 0; i < COUNT_OF(differs); i++) {
      if (strncmp(line, differs[i], strlen(differs[i])) == 0)
        break;
    }
    if (i < COUNT_OF(differs))
      continue;
    assert_true(nr < 32);
    snprintf(fields[nr++], sizeof(fields[0]), "%.*s", (int)size, line);
  }
}

/* Removes a bit from "sample_type: IP|TID". */
static void drop_bit(char fields[32][128], const char *bit) {
  char *at;
  size_t i;

  for (i = 0; i < 32; i++) {
    at = strstr(fields[i], bit);
    if (strncmp(fields[i], "sample_type:", 12) == 0 && at != NULL)
      memmove(at, at + strlen(bit), strlen(at + strlen(bit)) + 1);
  }
}

static void read_first_event(char fields[32][128], int with_data) {
  static const char *const bits[] = {"|IDENTIFIER", "|ID", "|ADDR",
                                     "|DATA_SRC"};
  size_t nr = with_data ? 2 : 4;
  char words[256], line[1024];
  FILE *file;
  size_t i;

  snprintf(words, sizeof(words), "evlist -v -i %s", record_run_path());
  file = perf_dump_run(words, 0, NULL);
  assert_non_null(fgets(line, sizeof(line), file));
  fclose(file);
  read_fields(line, fields);
  for (i = 0; i < nr; i++)
    drop_bit(fields, bits[i]);
}

static void attrs_are_those_of_perf(void **state) {
  static const char *const options[] = {
      "-e cpu-clock true",
      "-a -e cpu-clock -F 99 true",
      "-g -e page-faults -c 7 true",
      "--call-graph dwarf,4096 -e page-faults true",
      "-e sched:sched_switch true",
      "-C 0 -e sched:sched_switch -c 3 true",
      "--switch-events --namespaces -e cs:u -F 50 true",
      "--all-cgroups -a -e cs true",
      "--sample-cpu -i -e '{cs,page-faults}' true",
      "-e '{page-faults,cs}:S' true",
      "-e cpu-clock/period=100000,call-graph=fp/ true",
      "-e mem:0x1000:w true",
      "-d -a -e page-faults true",
      "-d --phys-data --data-page-size --code-page-size -W -e cs,faults true",
      "--all-user -e cpu-clock true",
      "--all-kernel -g -e cs:u,cpu-clock true"};
  char theirs[32][128], ours[32][128], words[256];
  size_t i, field;
  int with_data;

  record_run_need_perf(__func__);
  for (i = 0; i < COUNT_OF(options); i++) {
    with_data = strncmp(options[i], "-d ", 3) == 0;
    snprintf(words, sizeof(words), "perf record -q -o @ %s", options[i]);
    record_run_shell(words);
    read_first_event(theirs, with_data);
    snprintf(words, sizeof(words), "-q %s", options[i]);
    record_run_well(words);
    read_first_event(ours, with_data);
    for (field = 0; field < 32; field++) {
      if (strcmp(theirs[field], ours[field]) != 0)
        print_error("%s\n", options[i]);
      assert_string_equal(ours[field], theirs[field]);
    }
  }
}

/* -- clocks ---------------------------------------------------------------- */

/* Reads a line of the file's header as perf(1) prints it. */
static void read_header(const char *begins, char line[256]) {
  char words[256], rest[256];
  FILE *file;

  snprintf(words, sizeof(words), "report --header-only -i %s",
           record_run_path());
  file = perf_dump_run(words, 0, NULL);
  do
    assert_non_null(fgets(line, 256, file));
  while (strncmp(line, begins, strlen(begins)) != 0);
  while (fgets(rest, sizeof(rest), file) != NULL)
    continue;
  fclose(file);
}

/* Prints the time in the format of perf script. */
static void print_time_of_day(char text[32]) {
  time_t now = time(NULL);
  struct tm parts;

  assert_true(
      strftime(text, 32, "%Y-%m-%d %H:%M:%S", localtime_r(&now, &parts)) > 0);
}

static void clocks_are_those_of_perf_and_tell_the_time_of_day(void **state) {
  static const char *const clocks[] = {"monotonic", "monotonic_raw", "realtime",
                                       "boottime", "tai"};
  char theirs[256], ours[256], words[256], before[32], after[32], line[256];
  FILE *file;
  size_t i;

  record_run_need_perf(__func__);
  for (i = 0; i < COUNT_OF(clocks); i++) {
    snprintf(words, sizeof(words), "perf record -q -o @ -k %s -e cs true",
             clocks[i]);
    record_run_shell(words);
    read_header("# clockid: ", theirs);
    print_time_of_day(before);
    snprintf(words, sizeof(words), "-k %s -e cpu-clock -c 100000 true",
             clocks[i]);
    record_run_well(words);
    print_time_of_day(after);
    read_header("# clockid: ", ours);
    assert_string_equal(ours, theirs);
    assert_non_null(strstr(ours, clocks[i]));
    snprintf(words, sizeof(words), "script -F tod -i %s", record_run_path());
    file = perf_dump_run(words, 0, NULL);
    assert_non_null(fgets(line, sizeof(line), file));
    fclose(file);
    line[strlen(before)] = '\0';
    assert_true(strcmp(before, line) <= 0 && strcmp(line, after) <= 0);
  }
}

/* -- the header ------------------------------------------------------------ */

/* Reads what perf(1) prints about the file, without a warning. */
static void read_about(const char *words, char text[65536]) {
  char all[256];
  FILE *file;
  size_t nr;

  snprintf(all, sizeof(all), "%s -i %s", words, record_run_path());
  file = perf_dump_run(all, 0, NULL);
  nr = fread(text, 1, 65535, file);
  text[nr] = '\0';
  fclose(file);
}

/* Records by perf(1) and by record, and reads about both. */
static void read_both(const char *options, const char *words,
                      char theirs[65536], char ours[65536]) {
  char all[256];

  snprintf(all, sizeof(all), "perf record -q -o @ %s -e cpu-clock true",
           options);
  record_run_shell(all);
  read_about(words, theirs);
  record_run_well("-e cpu-clock -e " CALL_SERVER_EVENT " true");
  read_about(words, ours);
}

/* Expects a line that perf(1) prints for its own file in its output for
 * ours. */
static void expect_line(const char *ours, const char *line, size_t size) {
  char whole[1024];

  snprintf(whole, sizeof(whole), "%.*s\n", (int)size, line);
  if (strstr(ours, whole) == NULL)
    fail_msg("not reported: %s", whole);
}

/* Returns whether the line depends only on the machine, not on the time or the
 * program. */
static int is_of_machine(const char *line) {
  static const char *const names[] = {"# hostname", "# os release",
                                      "# arch",     "# nrcpus",
                                      "# cpudesc",  "# cpuid",
                                      "# total ",   "# sibling",
                                      "# CPU ",     "# node0 cpu list",
                                      "#  L",       "# header version",
                                      "# clockid",  "# pmu mappings: tot"};
  size_t i;

  for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
    if (strncmp(line, names[i], strlen(names[i])) == 0)
      return 1;
  }
  return 0;
}

/* Compares the items of "# pmu mappings: software = 1, uprobe = 8", in any
 * order. */
static void expect_pmus(const char *ours, const char *perfs) {
  char *at, *pmu, *rest, copy[8192];

  perfs = strstr(perfs, "# pmu mappings: ");
  ours = strstr(ours, "# pmu mappings: ");
  assert_non_null(perfs);
  assert_non_null(ours);
  perfs += strlen("# pmu mappings: ");
  snprintf(copy, sizeof(copy), "%.*s", (int)strcspn(perfs, "\n"), perfs);
  rest = copy;
  while ((pmu = strtok_r(rest, ",", &at)) != NULL) {
    rest = NULL;
    tool_run_expect_text(ours, pmu);
  }
}

static void header_is_that_of_perf(void **state) {
  static char theirs[65536], ours[65536];
  const char *line, *next;
  unsigned nr = 0;

  record_run_need_perf(__func__);
  read_both("-k CLOCK_MONOTONIC", "report --header-only -I", theirs, ours);
  for (line = theirs; *line != '\0'; line = next) {
    next = line + strcspn(line, "\n");
    if (is_of_machine(line)) {
      expect_line(ours, line, (size_t)(next - line));
      nr++;
    }
    next += *next == '\n';
  }
  assert_true(nr >= 10);
  expect_pmus(ours, theirs);
  tool_run_expect_text(ours, "# perf version : uvperf ");
  tool_run_expect_text(ours, " -e cpu-clock -e " CALL_SERVER_EVENT " true");
  tool_run_expect_text(ours, "# event : name = cpu-clock, ");
  tool_run_expect_text(ours, "# time of first sample : ");
  tool_run_expect_text(ours, "# clockid: monotonic (1)\n");
}

/* A name that is in both files has the same build id in both: "289ee39f8c07…
 * /usr/lib/x86_64-linux-gnu/libc.so.6". */
static void build_ids_are_those_of_perf(void **state) {
  static char theirs[65536], ours[65536];
  const char *line, *next, *name;
  unsigned same = 0;
  char object[1024];

  record_run_need_perf(__func__);
  read_both("--buildid-all", "buildid-list", theirs, ours);
  for (line = theirs; *line != '\0'; line = next) {
    next = line + strcspn(line, "\n");
    next += *next == '\n';
    name = line + strcspn(line, " ");
    snprintf(object, sizeof(object), "%.*s", (int)(next - name), name);
    if (strstr(ours, object) == NULL)
      continue;
    expect_line(ours, line, (size_t)(next - line - 1));
    same++;
  }
  print_message("%u build ids are the same\n", same);
  assert_true(same >= 3);
  tool_run_expect_text(ours, " [kernel.kallsyms]\n");
}

static void group_is_that_of_perf(void **state) {
  static char text[65536];

  record_run_need_perf(__func__);
  record_run_well("-e '{cpu-clock," CALL_SERVER_EVENT "}' true");
  read_about("evlist -g", text);
  tool_run_expect_text(text, "{cpu-clock," CALL_SERVER_EVENT "}\n");
}

/* -- files that have not ended --------------------------------------------- */

static size_t count_lines(const char *words) {
  char all[256], line[512];
  size_t nr = 0;
  FILE *file;

  snprintf(all, sizeof(all), "%s -i %s", words, record_run_path());
  file = perf_dump_run(all, 1, NULL);
  while (fgets(line, sizeof(line), file) != NULL)
    nr++;
  fclose(file);
  return nr;
}

static void read_growing_file(tool_run_t *run) {
  size_t *nr = run->data;

  while ((*nr = count_lines("script -F comm,ip,sym")) == 0)
    continue;
}

static void file_of_a_killed_recording_is_read_by_perf(void **state) {
  static tool_run_t run;
  size_t nr;

  record_run_need_perf(__func__);
  memset(&run, 0, sizeof(run));
  run.interrupt_at = "recording";
  run.interrupt_with = SIGKILL;
  run.work = read_growing_file;
  run.data = &nr;
  record_run_run(&run, RECORD_PATH,
                 "-v -e cpu-clock -F 500 " STAT_TARGET " spin");
  tool_run_expect_status(&run, 128 + SIGKILL);
  assert_true(count_lines("script -F comm,ip,sym") >= nr);
  assert_true(count_lines("report --stdio") > 10);
  assert_int_equal(count_lines("evlist"), 2);
}

static void pipe_is_read_by_perf(void **state) {
  record_run_need_perf(__func__);
  record_run_shell(RECORD_PATH " -q -o - -e page-faults -c 1 " STAT_TARGET
                               " touch 100 | perf script -F comm -G -i - >@");
  record_run_shell("test $(grep -c stat_target @) -gt 100");
}

/* -- names ----------------------------------------------------------------- */

/* Sets *nr to the number of samples in record_inner. Returns how many of these
 * have the right chain. */
static size_t count_chains(size_t *nr) {
  static const char *const chain[] = {"record_inner", "record_middle",
                                      "record_outer", "main"};
  char words[256], line[512], symbol[256];
  size_t right = 0, depth = 0;
  FILE *file;

  *nr = 0;
  snprintf(words, sizeof(words), "script -F ip,sym -i %s", record_run_path());
  file = perf_dump_run(words, 0, NULL);
  while (fgets(line, sizeof(line), file) != NULL) {
    if (sscanf(line, "%*x %255s", symbol) != 1) {
      depth = 0;
      continue;
    }
    *nr += depth == 0 && strcmp(symbol, chain[0]) == 0;
    if (depth < 4 && strcmp(symbol, chain[depth]) == 0)
      right += ++depth == 4;
    else
      depth = 5;
  }
  fclose(file);
  return right;
}

static void functions_are_called_by_their_names_as_in_perfs_file(void **state) {
  size_t right, nr;

  record_run_need_perf(__func__);
  record_run_shell("perf record -q -o @ -g -e task-clock:u -F 2000 " TARGET_PATH
                   " 40");
  right = count_chains(&nr);
  print_message("perf: %zu of %zu chains", right, nr);
  assert_true(nr > 10 && right == nr);
  record_run_well("-g -e task-clock:u -F 2000 " TARGET_PATH " 40");
  right = count_chains(&nr);
  print_message(", record: %zu of %zu chains\n", right, nr);
  assert_true(nr > 10 && right == nr);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      record_run_test(attrs_are_those_of_perf),
      record_run_test(clocks_are_those_of_perf_and_tell_the_time_of_day),
      record_run_test(header_is_that_of_perf),
      record_run_test(build_ids_are_those_of_perf),
      record_run_test(group_is_that_of_perf),
      record_run_test(file_of_a_killed_recording_is_read_by_perf),
      record_run_test(pipe_is_read_by_perf),
      record_run_test(functions_are_called_by_their_names_as_in_perfs_file),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
