/* SPDX-License-Identifier: MIT */
#include "check_explain_rows.h"

#include <limits.h>
#include <unistd.h>

#include "fake_kernel.h"

static struct {
  const explain_subject_t *subject;
  struct perf_event_attr attr;
  int is_left_out; /* the headers lack a field of the attr */
  uvperf_error_t error;
  int has_host;
} run;

/* -- the attr -------------------------------------------------------------- */

static uint64_t value_of(char *text) {
  static const struct {
    const char *name;
    uint64_t bit;
  } bits[] = {{"TID", PERF_SAMPLE_TID},
              {"READ", PERF_SAMPLE_READ},
              {"RAW", PERF_SAMPLE_RAW},
              {"BRANCH_STACK", PERF_SAMPLE_BRANCH_STACK},
              {"REGS_USER", PERF_SAMPLE_REGS_USER},
              {"STACK_USER", PERF_SAMPLE_STACK_USER},
              {"WEIGHT", PERF_SAMPLE_WEIGHT},
              {"REGS_INTR", PERF_SAMPLE_REGS_INTR},
              {"PHYS_ADDR", PERF_SAMPLE_PHYS_ADDR},
              {"CGROUP", PERF_SAMPLE_CGROUP},
              {"WEIGHT_STRUCT", UVPERF_SAMPLE_WEIGHT_STRUCT},
              {"BRANCH_USER", PERF_SAMPLE_BRANCH_USER},
              {"BRANCH_KERNEL", PERF_SAMPLE_BRANCH_KERNEL},
              {"BRANCH_ANY", PERF_SAMPLE_BRANCH_ANY},
              {"BRANCH_COUNTERS", UVPERF_SAMPLE_BRANCH_COUNTERS},
              {"LOST", UVPERF_FORMAT_LOST}};
  uint64_t value = 0;
  char *rest, *word;
  size_t i;

  for (word = strtok_r(text, "|", &rest); word != NULL;
       word = strtok_r(NULL, "|", &rest)) {
    for (i = 0; i < COUNT_OF(bits) && strcmp(bits[i].name, word) != 0;)
      i++;
    value |= i < COUNT_OF(bits) ? bits[i].bit : step_number(word);
  }
  return value;
}

static void set_fields(const step_t *step, size_t at) {
  char *value;

  for (; at < step->nr; at++) {
    value = strchr(step->words[at], '=');
    if (value == NULL)
      step_fail(step->text, "a field has no =");
    *value++ = '\0';
    if (step_is(step, at, "size"))
      run.attr.size = (uint32_t)value_of(value);
    else if (uvperf_attr_set(&run.attr, step_field(step_word(step, at)),
                             value_of(value)) != 0)
      run.is_left_out = 1;
  }
}

static void do_attr(const step_t *step) {
  static const step_name_t software[] = {
      {"cpu_clock", PERF_COUNT_SW_CPU_CLOCK},
      {"user_clock", PERF_COUNT_SW_CPU_CLOCK},
      {"dummy", PERF_COUNT_SW_DUMMY}};
  const char *kind = step_word(step, 1);
  size_t at = 2;

  run.is_left_out = 0;
  if (strcmp(kind, "cycles") == 0)
    uvperf_attr_hardware(&run.attr, PERF_COUNT_HW_CPU_CYCLES);
  else if (strcmp(kind, "tracepoint") == 0)
    uvperf_attr_tracepoint(&run.attr, step_value(step, at++));
  else if (*kind <= '9')
    uvperf_attr_init(&run.attr, (uint32_t)step_number(kind),
                     step_value(step, at++));
  else
    uvperf_attr_software(&run.attr,
                         (enum perf_sw_ids)step_meaning(software, 3, kind));
  run.attr.exclude_kernel = strcmp(kind, "user_clock") == 0;
  set_fields(step, at);
}

/* -- steps ----------------------------------------------------------------- */

static const char *path_of(const char *name) {
  static const char *const paths[][2] = {
      {"paranoid", "/proc/sys/kernel/perf_event_paranoid"},
      {"release", "/proc/sys/kernel/osrelease"},
      {"status", "/proc/self/status"},
      {"lockdown", "/sys/kernel/security/lockdown"}};
  size_t i;

  for (i = 0; i < COUNT_OF(paths); i++)
    if (strcmp(paths[i][0], name) == 0)
      return paths[i][1];
  return name;
}

static void do_file(const step_t *step) {
  char text[512] = "";
  char *at;

  if (step->nr > 2)
    snprintf(text, sizeof(text), "%s|", step_word(step, 2));
  for (at = text; (at = strchr(at, '|')) != NULL;)
    *at = '\n';
  make_host_write(path_of(step_word(step, 1)), text);
}

static void do_capabilities(const step_t *step) {
  char text[128];

  snprintf(text, sizeof(text),
           "Uid:\t1000\t1000\t1000\t1000\nCapEff:\t%s\nSeccomp:\t%s\n",
           step_word(step, 1), step->nr > 2 ? "2" : "0");
  make_host_write(path_of("status"), text);
}

static void do_no_file(const step_t *step) {
  char path[PATH_MAX];

  snprintf(path, sizeof(path), "%s%s", make_host_root(),
           path_of(step_word(step, 1)));
  assert_int_equal(unlink(path), 0);
}

static void do_no_host(void) {
  make_host_teardown(NULL);
  make_host_setup(NULL);
}

static void do_lacks(const char *text) {
  if (strstr(run.error.reason, text) != NULL)
    fail_msg("the reason has \"%s\": %s", text, run.error.reason);
}

static void do_numbers(const step_t *step) {
  size_t i;

  for (i = 0; i < step->nr; i += 2)
    assert_int_equal(step_is(step, i, "limit") ? run.error.limit
                                               : run.error.needed,
                     step_value(step, i + 1));
}

static int cause_of(const char *name) {
  int cause;

  for (cause = 0; strcmp(uvperf_cause_name(cause), name) != 0; cause++)
    if (cause == 100)
      step_fail(name, "is no cause");
  return cause;
}

/* "CODE WORD... -> CAUSE PIECE" */
static void do_call(const step_t *step, char *expected) {
  int code = step_code(step_word(step, 0));
  char *piece;

  if (expected == NULL)
    step_fail(step->text, "has no ->");
  expected += strspn(expected, " ");
  piece = expected + strcspn(expected, " ");
  if (*piece != '\0')
    *piece++ = '\0';
  memset(&run.error, 0xff, sizeof(run.error));
  assert_int_equal(run.subject->call(step, code, &run.attr, &run.error), code);
  explain_check(&run.error, code, cause_of(expected), piece);
}

static void run_step(const step_t *step, char *expected) {
  if (step_is(step, 0, "attr"))
    do_attr(step);
  else if (run.is_left_out)
    return;
  else if (step_is(step, 0, "set"))
    set_fields(step, 1);
  else if (step_is(step, 0, "file"))
    do_file(step);
  else if (step_is(step, 0, "capabilities"))
    do_capabilities(step);
  else if (step_is(step, 0, "no_file"))
    do_no_file(step);
  else if (step_is(step, 0, "no_host"))
    do_no_host();
  else if (step_is(step, 0, "lacks"))
    do_lacks(step_word(step, 1));
  else if (step_is(step, 0, "limit") || step_is(step, 0, "needed"))
    do_numbers(step);
  else if (step->words[0][0] == 'E')
    do_call(step, expected);
  else if (run.subject->run != NULL)
    run.subject->run(step, &run.attr);
  else
    step_fail(step->text, "no such step");
}

static void run_row(void **state) {
  const explain_row_t *row = *state;
  char text[4096], *line, *next, *arrow;
  step_t step;

  if (run.has_host) /* after a row that failed */
    make_host_teardown(NULL);
  fake_kernel_reset();
  run.has_host = make_host_machine_setup(NULL) == 0;
  assert_true(run.has_host);
  if (run.subject->begin != NULL)
    run.subject->begin();
  assert_true(strlen(row->text) < sizeof(text));
  strcpy(text, row->text);
  for (line = strtok_r(text, "\n", &next); line != NULL;
       line = strtok_r(NULL, "\n", &next)) {
    arrow = strstr(line, " ->");
    if (arrow != NULL)
      *arrow = '\0';
    step.text = line;
    step_split(line, &step);
    run_step(&step, arrow == NULL ? NULL : arrow + 3);
  }
  run.has_host = 0;
  make_host_teardown(NULL);
}

int explain_rows_run(const explain_subject_t *subject,
                     const explain_row_t *rows, size_t nr,
                     const struct CMUnitTest *tests, size_t nr_tests) {
  run.subject = subject;
  return support_run_rows(rows, sizeof(rows[0]), nr, run_row, tests, nr_tests);
}

/* -- perf_event_open(2) ---------------------------------------------------- */

static struct {
  struct perf_event_attr attr;
  uvperf__open_call_t call, above; /* the leader, and its own */
} leader;

static uvperf__open_call_t open_call(const step_t *step, int code,
                                     const struct perf_event_attr *attr,
                                     uvperf_error_t *error) {
  uvperf__open_call_t call = explain_open_call(error, code, attr, 0, -1);
  size_t i;

  for (i = 1; i < step->nr; i++)
    if (step_is(step, i, "program"))
      call.is_by_program = 1;
    else if (step_is(step, i, "group"))
      call.leader = &leader.call;
    else if (step_is(step, i, "pid"))
      call.pid = (int)step_value(step, ++i);
    else if (step_is(step, i, "cpu"))
      call.cpu = (int)step_value(step, ++i);
    else if (step_is(step, i, "cgroup"))
      call.cgroup = (int)step_value(step, ++i);
    else if (step_is(step, i, "asked"))
      call.asked_size = (uint32_t)step_value(step, ++i);
    else
      step_fail(step->text, "no such word");
  return call;
}

static int explain_open(const step_t *step, int code,
                        struct perf_event_attr *attr, uvperf_error_t *error) {
  uvperf__open_call_t call = open_call(step, code, attr, error);
  int rc = uvperf__explain_open(&call);

  if (call.is_by_program)
    assert_ptr_equal(strstr(error->reason, "options.open cannot open "),
                     error->reason);
  return rc;
}

static void run_open_step(const step_t *step,
                          const struct perf_event_attr *attr) {
  uvperf_error_t error;

  if (step_is(step, 0, "probe")) {
    fake_kernel_reset();
    fake_fail(FAKE_OPEN, 1, step_code(step_word(step, 1)));
  } else if (step_is(step, 0, "leader")) {
    leader.attr = *attr;
    leader.call = open_call(step, 0, &leader.attr, &error);
    leader.above = leader.call;
    if (leader.call.leader != NULL)
      leader.call.leader = &leader.above;
  } else {
    step_fail(step->text, "no such step");
  }
}

const explain_subject_t explain_opens = {NULL, explain_open, run_open_step};
