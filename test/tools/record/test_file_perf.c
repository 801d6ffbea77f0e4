/* SPDX-License-Identifier: MIT */
/* perf(1) reads everything that record's file.c and synth_*.c write, and prints
 * nothing on stderr. */
#include <ctype.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record_live.h"
#include "temp_tree.h"
#include "tool_run.h"

#define HITS 5

/* A loop for the events and a directory for the files. */
typedef struct place_s {
  uv_loop_t *loop;
  temp_tree_t *tree;
  char path[128];
  char other[128];
} place_t;

static void begin(place_t *place, void **state) {
  void *tree = NULL;

  place->loop = *state;
  assert_int_equal(temp_tree_setup(&tree), 0);
  place->tree = tree;
  snprintf(place->path, sizeof(place->path), "%s/perf.data", place->tree->root);
  snprintf(place->other, sizeof(place->other), "%s/other.data",
           place->tree->root);
}

static void end(place_t *place) {
  void *tree = place->tree;

  temp_tree_teardown(&tree);
}

/* -- perf(1) --------------------------------------------------------------- */

/* Runs perf(1). Its standard output goes into *file if `file` is not NULL. */
static void run_perf(tool_run_t *run, FILE **file, const char *args,
                     const char *path) {
  static char line[512];

  memset(run, 0, sizeof(*run));
  snprintf(line, sizeof(line), "exec perf %s %s </dev/null", args, path);
  run->args[0] = "/bin/sh";
  run->args[1] = "-c";
  run->args[2] = line;
  if (file != NULL) {
    *file = tmpfile();
    assert_non_null(*file);
    run->file = *file;
  }
  tool_run(run);
  if (file != NULL)
    rewind(*file);
}

/* Reads a file with perf(1), which must print no warning. */
static void read_by_perf(tool_run_t *run, FILE **file, const char *args,
                         const char *path) {
  run_perf(run, file, args, path);
  tool_run_expect_status(run, 0);
  assert_string_equal(run->err, "");
}

/* Lets perf record write its own file, of true(1). */
static void record_by_perf(const char *options, const char *path) {
  static tool_run_t run;
  char args[256];

  snprintf(args, sizeof(args), "record %s -e cpu-clock -o %s --", options,
           path);
  run_perf(&run, NULL, args, "true");
  tool_run_expect_status(&run, 0);
}

static void need_perf(const char *test) {
  tool_run_t run = {.args = {"/bin/sh", "-c", "perf version"}};

  support_need_kernel_side(test);
  support_need_tracepoint(test, LIVE_SYSCALL);
  tool_run(&run);
  if (run.status != 0)
    support_skip(test, "perf(1)");
}

/* Makes a recording whose file perf(1) then reads. */
static void make(const char *test, place_t *place, void **state,
                 record_live_t *live) {
  need_perf(test);
  begin(place, state);
  live->path = place->path;
  record_live_make(test, place->loop, live);
}

static uint64_t count_lines(const char *text, const char *with,
                            const char *and_with) {
  const char *line = text, *next;
  char copy[1024];
  uint64_t nr = 0;

  for (; *line != '\0'; line = next) {
    next = line + strcspn(line, "\n");
    snprintf(copy, sizeof(copy), "%.*s", (int)(next - line), line);
    nr += strstr(copy, with) != NULL && strstr(copy, and_with) != NULL;
    next += *next == '\n';
  }
  return nr;
}

/* -- records --------------------------------------------------------------- */

static void live_samples_are_those_that_perf_script_prints(void **state) {
  record_live_t live = {.hits = HITS};
  char first[64], last[64];
  tool_run_t run;
  place_t place;

  make(__func__, &place, state, &live);
  read_by_perf(&run, NULL, "script -i", place.path);
  assert_int_equal(live.hit_samples, HITS);
  assert_int_equal(count_lines(run.out, LIVE_SYSCALL ":", "pid: 0x01234567"),
                   HITS);
  assert_int_equal(count_lines(run.out, "cpu-clock:pppH:", "recorded"),
                   live.clock_samples);
  assert_true(live.clock_samples > 0);
  snprintf(first, sizeof(first),
           "%llu.%06llu: ", (unsigned long long)(live.first_time / 1000000000),
           (unsigned long long)(live.first_time / 1000 % 1000000));
  snprintf(last, sizeof(last),
           "%llu.%06llu: ", (unsigned long long)(live.last_time / 1000000000),
           (unsigned long long)(live.last_time / 1000 % 1000000));
  assert_true(count_lines(run.out, first, LIVE_SYSCALL) >= 1);
  assert_true(count_lines(run.out, last, LIVE_SYSCALL) >= 1);
  end(&place);
}

/* Returns the type's name, or NULL, from "0 0 0x2d0 [0x40]:
 * PERF_RECORD_FORK(1:1):(0:0)". */
static char *name_in(char *line) {
  char *name = strstr(line, "]: PERF_RECORD_"), *at;

  if (name == NULL)
    return NULL;
  name += 3 + sizeof("PERF_RECORD_") - 1;
  for (at = name;
       isupper((unsigned char)*at) || isdigit((unsigned char)*at) || *at == '_';
       at++)
    continue;
  *at = '\0';
  return name;
}

static uint64_t count_type(FILE *dump, const char *type) {
  char line[8192], *name;
  uint64_t nr = 0;

  rewind(dump);
  while (fgets(line, sizeof(line), dump) != NULL) {
    name = name_in(line);
    nr += name != NULL && strcmp(name, type) == 0;
  }
  return nr;
}

static void live_records_of_each_type_are_those_that_perf_dumps(void **state) {
  static const struct {
    uint32_t type;
    const char *name;
  } types[] = {{PERF_RECORD_MMAP, "MMAP"},
               {PERF_RECORD_COMM, "COMM"},
               {PERF_RECORD_FORK, "FORK"},
               {PERF_RECORD_EXIT, "EXIT"},
               {PERF_RECORD_SAMPLE, "SAMPLE"},
               {PERF_RECORD_MMAP2, "MMAP2"},
               {73, "THREAD_MAP"},
               {74, "CPU_MAP"}};
  record_live_t live = {.hits = HITS};
  tool_run_t run;
  place_t place;
  FILE *dump;
  size_t i;

  make(__func__, &place, state, &live);
  read_by_perf(&run, &dump, "script -D -i", place.path);
  for (i = 0; i < sizeof(types) / sizeof(*types); i++) {
    print_message("%s: %lu\n", types[i].name,
                  (unsigned long)live.written[types[i].type]);
    assert_int_equal(count_type(dump, types[i].name),
                     live.written[types[i].type]);
  }
  assert_int_equal(count_type(dump, "FINISHED_ROUND"), 1);
  assert_true(live.written[PERF_RECORD_MMAP] >= 1);
  assert_true(live.written[PERF_RECORD_MMAP2] >= 2);
  assert_true(live.written[PERF_RECORD_COMM] >= 2);
  fclose(dump);
  end(&place);
}

/* perf(1) needs synthesized records for the names of a task and of its
 * functions, because the task began before the recording. */
static void live_report_names_what_ran_before(void **state) {
  record_live_t live = {.hits = HITS};
  tool_run_t run;
  place_t place;

  make(__func__, &place, state, &live);
  read_by_perf(&run, NULL, "report --stdio -i", place.path);
  tool_run_expect_text(run.out, "event 'cpu-clock:pppH'");
  tool_run_expect_text(run.out, "event '" LIVE_SYSCALL "'");
  tool_run_expect_text(run.out, "recorded");
  assert_null(strstr(run.out, "[unknown]"));
  end(&place);
}

/* -- events and features --------------------------------------------------- */

static void live_evlist_tells_the_events(void **state) {
  record_live_t live = {.hits = HITS};
  tool_run_t run;
  place_t place;

  make(__func__, &place, state, &live);
  read_by_perf(&run, NULL, "evlist -v -i", place.path);
  tool_run_expect_text(run.out, "cpu-clock:pppH: type: 1, size: ");
  tool_run_expect_text(
      run.out, "{ sample_period, sample_freq }: 1000000, sample_type: "
               "IP|TID|TIME|CPU|PERIOD|RAW|IDENTIFIER, read_format: ID, "
               "disabled: 1, mmap: 1, comm: 1, task: 1, sample_id_all: 1, "
               "mmap2: 1, comm_exec: 1, use_clockid: 1, clockid: 1\n");
  tool_run_expect_text(run.out, LIVE_SYSCALL ": type: 2, ");
  end(&place);
}

static void live_evlist_tells_the_group(void **state) {
  record_live_t live = {.hits = HITS, .is_group = 1};
  tool_run_t run;
  place_t place;

  make(__func__, &place, state, &live);
  read_by_perf(&run, NULL, "evlist -g -i", place.path);
  tool_run_expect_text(run.out, "{cpu-clock:pppH," LIVE_SYSCALL "}\n");
  end(&place);
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

static void live_header_tells_what_that_of_perf_record_tells(void **state) {
  static tool_run_t ours, perfs;
  record_live_t live = {.hits = HITS};
  const char *line, *next;
  unsigned nr = 0;
  place_t place;

  make(__func__, &place, state, &live);
  record_by_perf("-k CLOCK_MONOTONIC", place.other);
  read_by_perf(&perfs, NULL, "report --header-only -I -i", place.other);
  read_by_perf(&ours, NULL, "report --header-only -I -i", place.path);
  for (line = perfs.out; *line != '\0'; line = next) {
    next = line + strcspn(line, "\n");
    if (is_of_machine(line)) {
      expect_line(ours.out, line, (size_t)(next - line));
      nr++;
    }
    next += *next == '\n';
  }
  assert_true(nr >= 10);
  expect_pmus(ours.out, perfs.out);
  tool_run_expect_text(ours.out, "# perf version : uvperf ");
  tool_run_expect_text(ours.out, " -e cpu-clock \n");
  tool_run_expect_text(ours.out, "# event : name = cpu-clock:pppH, ");
  tool_run_expect_text(ours.out, "# time of first sample : ");
  tool_run_expect_text(ours.out, "# clockid: monotonic (1)\n");
  end(&place);
}

/* A name that is in both files has the same build id in both: "289ee39f8c07…
 * /usr/lib/x86_64-linux-gnu/libc.so.6". */
static void live_build_ids_are_those_of_perf_record(void **state) {
  static tool_run_t ours, perfs;
  record_live_t live = {.hits = HITS};
  const char *line, *next, *name;
  unsigned same = 0;
  char object[1024];
  place_t place;

  make(__func__, &place, state, &live);
  record_by_perf("--buildid-all", place.other);
  read_by_perf(&perfs, NULL, "buildid-list -i", place.other);
  read_by_perf(&ours, NULL, "buildid-list -i", place.path);
  for (line = perfs.out; *line != '\0'; line = next) {
    next = line + strcspn(line, "\n");
    next += *next == '\n';
    name = line + strcspn(line, " ");
    snprintf(object, sizeof(object), "%.*s", (int)(next - name), name);
    if (strstr(ours.out, object) == NULL)
      continue;
    expect_line(ours.out, line, (size_t)(next - line - 1));
    same++;
  }
  print_message("%u build ids are the same\n", same);
  assert_true(same >= 3);
  tool_run_expect_text(ours.out, " [kernel.kallsyms]\n");
  tool_run_expect_text(ours.out, "/tools_record_file_perf\n");
  end(&place);
}

/* -- unfinished files, and pipes ------------------------------------------- */

static void live_file_that_is_only_synced_is_read(void **state) {
  record_live_t live = {.without_tracepoint = 1};
  tool_run_t run;
  place_t place;

  live.synced = place.other;
  make(__func__, &place, state, &live);
  read_by_perf(&run, NULL, "script -F comm,tid,time,event,ip,sym -i",
               place.other);
  assert_int_equal(count_lines(run.out, "cpu-clock", "recorded"),
                   live.clock_samples);
  read_by_perf(&run, NULL, "report --stdio -i", place.other);
  end(&place);
}

/* Starts a child that copies the pipe into a file. */
static pid_t drain(const char *pipe, const char *path) {
  char line[512];
  pid_t pid;

  snprintf(line, sizeof(line), "exec cat %s >%s", pipe, path);
  pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) {
    execl("/bin/sh", "sh", "-c", line, NULL);
    _exit(125);
  }
  return pid;
}

static void make_by_pipe(const char *test, place_t *place, void **state,
                         record_live_t *live) {
  int status;
  pid_t pid;

  need_perf(test);
  begin(place, state);
  assert_int_equal(mkfifo(place->path, 0600), 0);
  pid = drain(place->path, place->other);
  live->path = place->path;
  record_live_make(test, place->loop, live);
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_int_equal(status, 0);
}

static void live_pipe_is_read_as_a_file_is(void **state) {
  record_live_t live = {.hits = HITS};
  tool_run_t run;
  place_t place;

  make_by_pipe(__func__, &place, state, &live);
  read_by_perf(&run, NULL, "script -i", place.other);
  assert_int_equal(count_lines(run.out, LIVE_SYSCALL ":", "pid: 0x01234567"),
                   HITS);
  assert_int_equal(count_lines(run.out, "cpu-clock:pppH:", "recorded"),
                   live.clock_samples);
  read_by_perf(&run, NULL, "report --stdio -i", place.other);
  tool_run_expect_text(run.out, "event 'cpu-clock:pppH'");
  end(&place);
}

/* For example, a CPU that came online meanwhile has new ids. */
static void live_ids_that_come_late_are_known(void **state) {
  record_live_t live = {.hits = HITS, .late_id = 2};
  tool_run_t run;
  place_t place;

  make(__func__, &place, state, &live);
  read_by_perf(&run, NULL, "script -F comm,tid,time,event,ip,sym -i",
               place.path);
  assert_int_equal(count_lines(run.out, LIVE_SYSCALL ":", "recorded"), HITS);
  end(&place);
}

static void live_ids_that_come_late_by_a_pipe_are_known(void **state) {
  record_live_t live = {.hits = HITS, .late_id = 1};
  tool_run_t run;
  place_t place;

  make_by_pipe(__func__, &place, state, &live);
  read_by_perf(&run, NULL, "script -i", place.other);
  assert_int_equal(count_lines(run.out, "cpu-clock:pppH:", "recorded"),
                   live.clock_samples);
  assert_int_equal(count_lines(run.out, LIVE_SYSCALL ":", "pid: 0x01234567"),
                   HITS);
  end(&place);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(live_samples_are_those_that_perf_script_prints),
      support_loop_test(live_records_of_each_type_are_those_that_perf_dumps),
      support_loop_test(live_report_names_what_ran_before),
      support_loop_test(live_evlist_tells_the_events),
      support_loop_test(live_evlist_tells_the_group),
      support_loop_test(live_header_tells_what_that_of_perf_record_tells),
      support_loop_test(live_build_ids_are_those_of_perf_record),
      support_loop_test(live_file_that_is_only_synced_is_read),
      support_loop_test(live_pipe_is_read_as_a_file_is),
      support_loop_test(live_ids_that_come_late_are_known),
      support_loop_test(live_ids_that_come_late_by_a_pipe_are_known),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
