/* SPDX-License-Identifier: MIT */
/* Compares the output of list with the walk of the library, and with the events
 * that the test itself can open. */
#include "json_check.h"
#include "tool_run.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "uvperf.h"

#define EVENT "syscalls:sys_enter_getpgid"

/* Returns the whole output of a run. */
static char *run_to_the_end(tool_run_t *run) {
  char *text;
  long size;

  run->file = tmpfile();
  assert_non_null(run->file);
  tool_run(run);
  size = ftell(run->file);
  assert_true(size >= 0);
  rewind(run->file);
  text = calloc((size_t)size + 1, 1);
  assert_non_null(text);
  assert_int_equal(fread(text, 1, (size_t)size, run->file), size);
  fclose(run->file);
  return text;
}

static size_t count_lines(const char *text, const char *begin) {
  size_t nr = 0;

  for (; text != NULL; text = strchr(text, '\n')) {
    text += *text == '\n';
    nr += strncmp(text, begin, strlen(begin)) == 0;
  }
  return nr;
}

/* -- all of it ------------------------------------------------------------ */

/* The output of list, and the number of names that were compared with it. */
typedef struct expected_s {
  const char *text;
  size_t nr;
} expected_t;

static int find_object(const uvperf_event_name_t *name, void *arg) {
  const char *quote = name->alias == NULL ? "" : "\"";
  struct perf_event_attr attr;
  expected_t *expected = arg;
  char begin[1024], numbers[128];
  const char *object;

  snprintf(begin, sizeof(begin), "\n{\"name\":\"%s\",\"alias\":%s%s%s,",
           name->name, quote, name->alias == NULL ? "null" : name->alias,
           quote);
  object = strstr(expected->text, begin);
  if (object == NULL)
    print_error("no object of %s\n", name->name);
  assert_non_null(object);
  assert_int_equal(uvperf_attr_parse(&attr, name->name, NULL), 0);
  snprintf(numbers, sizeof(numbers), ",\"type\":%u,\"config\":\"0x%llx\",",
           name->type, (unsigned long long)attr.config);
  assert_true(strstr(object, numbers) < strchr(object + 1, '\n'));
  assert_non_null(strstr(object, numbers));
  expected->nr += 1;
  return 0;
}

static void json_has_each_event_of_the_walk_once(void **state) {
  tool_run_t run = {.args = {LIST_PATH, "--all", "--json"}};
  expected_t expected = {NULL, 0};
  char *text;

  support_need_tracefs(__func__, EVENT);
  text = run_to_the_end(&run);
  tool_run_expect_status(&run, 0);
  assert_true(json_is_list(text));
  expected.text = text;
  assert_int_equal(uvperf_event_name_walk(NULL, 0, find_object, &expected), 0);
  assert_int_equal(count_lines(text, "{\"name\":"), expected.nr);
  assert_string_equal(run.err, "");
  printf("%zu events\n", expected.nr);
  free(text);
}

/* Only the lines of software events and tracepoints end after the name. */
static int find_line(const uvperf_event_name_t *name, void *arg) {
  const char *end =
      (name->kind & (UVPERF_NAME_SOFTWARE | UVPERF_NAME_TRACEPOINT)) != 0 ? "\n"
                                                                          : "";
  expected_t *expected = arg;
  char line[512];

  if (name->alias != NULL)
    snprintf(line, sizeof(line), "\n  %s OR %s%s", name->name, name->alias,
             end);
  else
    snprintf(line, sizeof(line), "\n  %s%s", name->name, end);
  if (strstr(expected->text, line) == NULL)
    print_error("no line of %s\n", name->name);
  assert_non_null(strstr(expected->text, line));
  expected->nr += 1;
  return 0;
}

static void text_has_each_event_of_the_walk_once(void **state) {
  tool_run_t run = {
      .args = {LIST_PATH, "--all", "hw", "sw", "cache", "pmu", "tracepoint"}};
  expected_t expected = {NULL, 0};
  char *text;

  support_need_tracefs(__func__, EVENT);
  text = run_to_the_end(&run);
  tool_run_expect_status(&run, 0);
  expected.text = text;
  assert_int_equal(uvperf_event_name_walk(NULL, 0, find_line, &expected), 0);
  assert_int_equal(count_lines(text, "  "), expected.nr);
  assert_string_equal(run.err, "");
  free(text);
}

static void text_is_in_groups_by_name(void **state) {
  tool_run_t run = {.args = {LIST_PATH, "--all", "cache", "software"}};
  char *line, *last = NULL;
  int is_cache = 0;

  tool_run_exits(&run, 0);
  assert_int_equal(
      strncmp(run.out, "Software events\n  alignment-faults\n  bpf-output\n",
              46),
      0);
  for (line = strtok(run.out, "\n"); line != NULL; line = strtok(NULL, "\n")) {
    if (line[0] != ' ') {
      is_cache += strcmp(line, "Hardware cache events") == 0;
      last = NULL;
      continue;
    }
    if (last != NULL)
      assert_true(strcmp(last, line) < 0);
    last = line;
  }
  assert_int_equal(is_cache, 1);
}

/* -- chosen events -------------------------------------------------------- */

/* Other machines have other tracepoints that may match, too. */
static void words_choose_kinds_parts_and_patterns(void **state) {
  static const struct {
    const char *words[3];
    const char *lines;
  } cases[] = {
      {{"sw"}, "\n  bpf-output\n  cgroup-switches\n"},
      {{"pf-outpu"}, "Software events\n  bpf-output\n"},
      {{"ALIGNMENT-F"}, "Software events\n  alignment-faults\n"},
      {{"task-cl*"}, "Software events\n  task-clock\n"},
      {{"igrations"}, "Software events\n  cpu-migrations OR migrations\n"},
      {{"MIGR*"}, "Software events\n  cpu-migrations OR migrations\n"},
      {{"idle-cycles-?[r]ontend"},
       "Hardware events\n"
       "  stalled-cycles-frontend OR idle-cycles-frontend"},
      {{"l1-icache-pre*", "dummy"},
       "Hardware cache events\n  L1-icache-prefetch-misses"},
  };
  size_t i;

  for (i = 0; i < COUNT_OF(cases); i++) {
    tool_run_t run = {.args = {LIST_PATH, "--all"}};

    memcpy(run.args + 2, cases[i].words, sizeof(cases[i].words));
    tool_run_exits(&run, 0);
    tool_run_expect_text(run.out, cases[i].lines);
    assert_int_equal(strstr(run.out, "  bpf-output\n") != NULL, i < 2);
    assert_int_equal(strstr(run.out, "  dummy\n") != NULL, i == 0 || i == 7);
  }
}

static void words_of_kinds_have_synonyms(void **state) {
  static const struct {
    const char *words[2];
    size_t nr;
  } cases[] = {{{"hw", "hardware"}, 10},
               {{"sw", "software"}, 12},
               {{"cache", "hwcache"}, 32}};
  size_t i, j;

  for (i = 0; i < COUNT_OF(cases); i++)
    for (j = 0; j < 2; j++) {
      tool_run_t run = {.args = {LIST_PATH, "--all", cases[i].words[j]}};

      tool_run_exits(&run, 0);
      assert_int_equal(count_lines(run.out, "  "), cases[i].nr);
    }
}

static void patterns_match_a_whole_tracepoint_or_its_own_name(void **state) {
  static const char *const patterns[] = {
      EVENT, "sys_enter_getpgid", "syscalls:*_enter_getpgi?",
      "sys_enter_getpg[i]*", "SYSCALLS:sys_enter_getpgid"};
  size_t i;

  support_need_tracefs(__func__, EVENT);
  for (i = 0; i < COUNT_OF(patterns); i++) {
    tool_run_t run = {.args = {LIST_PATH, patterns[i]}};

    tool_run_exits(&run, 0);
    assert_string_equal(run.out, "Tracepoints\n  " EVENT "\n");
  }
}

static void details_have_the_numbers_of_the_event(void **state) {
  uint64_t id = support_need_tracefs(__func__, EVENT);
  tool_run_t run = {
      .args = {LIST_PATH, EVENT, "-v", "--all", "LLC-store-misses"}};
  char line[64];

  tool_run_exits(&run, 0);
  tool_run_expect_text(run.out, "  LLC-store-misses\n"
                                "      type=3,config=0x10102\n");
  snprintf(line, sizeof(line), "  " EVENT "\n      type=2,config=0x%llx\n",
           (unsigned long long)id);
  tool_run_expect_text(run.out, line);
}

/* -- what this machine has ------------------------------------------------ */

/* Returns whether the user side of the calling thread can be counted.
 * Does not use the library. */
static int can_open(const uvperf_event_name_t *name) {
  struct perf_event_attr attr;
  long fd;

  assert_int_equal(uvperf_attr_parse(&attr, name->name, NULL), 0);
  attr.disabled = 1;
  attr.exclude_kernel = attr.exclude_hv = 1;
  fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
  if (fd >= 0)
    close((int)fd);
  return fd >= 0;
}

static int find_if_open(const uvperf_event_name_t *name, void *arg) {
  expected_t *expected = arg;
  char begin[256];
  int is_listed;

  snprintf(begin, sizeof(begin), "\n{\"name\":\"%s\",", name->name);
  is_listed = strstr(expected->text, begin) != NULL;
  if (is_listed != can_open(name))
    print_error("%s\n", name->name);
  assert_int_equal(is_listed, can_open(name));
  expected->nr += (size_t)is_listed;
  return 0;
}

static void expect_what_opens(tool_run_t *run) {
  expected_t expected = {NULL, 0};
  char *text = run_to_the_end(run);

  assert_string_equal(run->err, "");
  assert_true(json_is_list(text));
  expected.text = text;
  assert_int_equal(
      uvperf_event_name_walk(NULL, UVPERF_NAME_HARDWARE | UVPERF_NAME_CACHE,
                             find_if_open, &expected),
      0);
  assert_int_equal(count_lines(text, "{\"name\":"), expected.nr);
  tool_run_expect_status(run, expected.nr == 0);
  free(text);
}

static void hardware_that_does_not_open_is_left_out(void **state) {
  tool_run_t run = {.args = {LIST_PATH, "--json", "hw", "cache"}};
  tool_run_t nobody = {.args = {LIST_PATH, "--json", "hw", "cache"},
                       .as_nobody = 1};

  support_need_own_events(__func__);
  expect_what_opens(&run);
  if (tool_run_paranoid() <= 2)
    expect_what_opens(&nobody);
}

/* -- forms ---------------------------------------------------------------- */

static int find_term(const uvperf_pmu_format_t *format, void *arg) {
  tool_run_expect_text(arg, format->name);
  return 0;
}

/* A PMU without terms has no line. */
static int find_terms(const uvperf_pmu_t *pmu, void *arg) {
  char line[128], none[] = "";
  tool_run_t *run = arg;
  char *place;

  snprintf(line, sizeof(line), "\n    %s/ ", pmu->name);
  place = strstr(run->out, line);
  return uvperf_pmu_walk_formats(pmu->name, find_term,
                                 place == NULL ? none : place);
}

static void forms_have_the_terms_of_each_pmu(void **state) {
  tool_run_t run = {.args = {LIST_PATH, "forms"}};

  tool_run_exits(&run, 0);
  tool_run_expect_text(run.out, "Other forms\n  rNNN ");
  tool_run_expect_text(run.out, "\n  mem:ADDR");
  assert_int_equal(uvperf_pmu_walk(find_terms, &run), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(json_has_each_event_of_the_walk_once),
      cmocka_unit_test(text_has_each_event_of_the_walk_once),
      cmocka_unit_test(text_is_in_groups_by_name),
      cmocka_unit_test(words_choose_kinds_parts_and_patterns),
      cmocka_unit_test(words_of_kinds_have_synonyms),
      cmocka_unit_test(patterns_match_a_whole_tracepoint_or_its_own_name),
      cmocka_unit_test(details_have_the_numbers_of_the_event),
      cmocka_unit_test(hardware_that_does_not_open_is_left_out),
      cmocka_unit_test(forms_have_the_terms_of_each_pmu),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
