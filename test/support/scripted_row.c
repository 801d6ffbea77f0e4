/* SPDX-License-Identifier: MIT */
#include "scripted_row.h"

#include "scripted_kernel.h"

row_result_t row_result;

static struct {
  const scripted_row_t *row;
  const scripted_subject_t *subject;
  /* Of "each": the code, the call, which of them, and its number in the row. */
  int sweep;
  enum fake_call swept;
  unsigned nth;
  unsigned due;
  /* Of "on" and "on_each". */
  int is_each;
  char when[64];
  char what[256];
} run;

int row_returned(int rc) {
  row_result.code = rc;
  if (rc == 0)
    return 0;
  say_next();
  if (row_result.error.code == rc)
    say_error(&row_result.error);
  else
    say("%s", step_code_name(rc));
  return row_result.error.code == rc;
}

/* -- steps of all rows ----------------------------------------------------- */

/* Of "each": from now on the nth call fails. */
static void do_sweep(const step_t *step) {
  fake_fail(run.swept, run.nth, run.sweep);
  run.due = fake_count(run.swept) + run.nth;
}

/* Whether it has failed. */
static int is_swept(void) {
  return run.due != 0 && fake_count(run.swept) >= run.due;
}

/* What the last reason contains. */
static void do_says(const step_t *step) {
  if (strstr(row_result.error.reason, step_word(step, 1)) == NULL)
    step_fail(step->text, row_result.error.reason);
}

static void do_says_no(const step_t *step) {
  if (strstr(row_result.error.reason, step_word(step, 1)) != NULL)
    step_fail(step->text, row_result.error.reason);
}

static void do_needed(const step_t *step) {
  say("%llu", (unsigned long long)row_result.error.needed);
}

/* Of fds, whose number depends on the process. */
static void do_needed_at_least(const step_t *step) {
  assert_true(row_result.error.needed >= step_value(step, 1));
  assert_true(row_result.error.limit > 0);
}

/* A callback that prints this runs a step, once; or each callback does. */
static void do_on(const step_t *step) {
  run.is_each = step_is(step, 0, "on_each");
  snprintf(run.when, sizeof(run.when), "%s",
           run.is_each ? "" : step_word(step, 1));
  snprintf(run.what, sizeof(run.what), "%s",
           step_word(step, run.is_each ? 1 : 2));
}

/* For a callback that must not come. */
static void do_never(const step_t *step) {
  step_fail(step->text, say_line());
}

/* These keep the result of the step before. */
static const scripted_verb_t row_verbs[] = {
    {"says", do_says},     {"says_no", do_says_no},
    {"needed", do_needed}, {"needed_at_least", do_needed_at_least},
    {"sweep", do_sweep},   {"on", do_on},
    {"never", do_never},   {"on_each", do_on},
    {NULL, NULL}};

static const scripted_verb_t *find_in(const scripted_verb_t *verbs,
                                      const step_t *step) {
  while (verbs->word != NULL && !step_is(step, 0, verbs->word))
    verbs++;
  return verbs->word == NULL ? NULL : verbs;
}

/* Without the first words. */
static void step_cut(const step_t *step, size_t nr, step_t *rest) {
  *rest = *step;
  rest->nr = step->nr > nr ? step->nr - nr : 0;
  memmove(rest->words, step->words + nr, rest->nr * sizeof(rest->words[0]));
}

static void run_rest(void *rest) {
  row_run(rest);
}

static int run_in_child(void *rest) {
  row_run(rest);
  return -row_result.code;
}

/* cmocka knows one thread, and one process: the step must not fail. What it
 * prints in the child is lost. */
static void run_elsewhere(step_t *rest, int is_child) {
  uv_thread_t thread;

  if (is_child) {
    row_returned(-support_wait(support_fork(run_in_child, rest)));
    return;
  }
  assert_int_equal(uv_thread_create(&thread, run_rest, rest), 0);
  assert_int_equal(uv_thread_join(&thread), 0);
}

/* "times 3 ..." runs the rest so often; the rest of "returns CODE ..." must
 * return the code. */
void row_run(const step_t *step) {
  const scripted_verb_t *verb = find_in(row_verbs, step);
  const scripted_verb_t *const *more = run.subject->verbs;
  step_t rest;
  uint64_t times;

  step_cut(step, 2, &rest);
  if (step_is(step, 0, "returns")) {
    row_run(&rest);
    if (row_result.code != step_code(step_word(step, 1)))
      step_fail(step->text, say_line());
    row_result.code = 0;
    return;
  }
  if (step_is(step, 0, "in_thread") || step_is(step, 0, "in_child")) {
    step_cut(step, 1, &rest);
    run_elsewhere(&rest, step_is(step, 0, "in_child"));
    return;
  }
  if (step_is(step, 0, "times")) {
    for (times = step_value(step, 1); times > 0; times--)
      row_run(&rest);
    return;
  }
  if (verb == NULL)
    verb = find_in(kernel_verbs, step);
  while (verb == NULL && *more != NULL)
    verb = find_in(*more++, step);
  if (verb == NULL)
    step_fail(step->text, "no such step");
  else
    verb->run(step);
}

/* Several are separated by "|". */
void row_step(const char *text) {
  char copy[256], *next, *at = copy;
  step_t step = {.text = text};

  snprintf(copy, sizeof(copy), "%s", text);
  for (; at != NULL; at = next) {
    next = strchr(at, '|');
    if (next != NULL)
      *next++ = '\0';
    step_split(at, &step);
    row_run(&step);
  }
}

void row_callback(size_t since) {
  char what[sizeof(run.what)];

  if (!run.is_each &&
      (*run.when == '\0' ||
       strncmp(say_line() + since, run.when, strlen(run.when)) != 0))
    return;
  run.when[0] = '\0';
  memcpy(what, run.what, sizeof(what));
  row_step(what);
}

void row_on_cpu(uvperf_handle_t *handle, int cpu, int status,
                const uvperf_error_t *error) {
  size_t before;

  say_next();
  before = say_length();
  say("cpu%d ", cpu);
  if (error != NULL)
    say_error(error);
  else
    say("%s", step_code_name(status));
  row_callback(before);
}

/* One step and what is expected of it, or NULL. */
static void run_step(char *text, const char *expected) {
  char copy[1024];
  step_t step = {.text = copy};

  snprintf(copy, sizeof(copy), "%s", text);
  step_split(text, &step);
  say_begin();
  row_result.code = 0;
  if (find_in(row_verbs, &step) == NULL)
    memset(&row_result, 0, sizeof(row_result));
  if (run.subject->before_step != NULL)
    run.subject->before_step();
  row_run(&step);
  if (getenv("SCRIPTED_PRINT") != NULL)
    printf("%s;%s -> %s\n", run.row->name, copy, say_line());
  else if (expected != NULL && !is_swept() && strcmp(expected, say_line()) != 0)
    fail_msg("\"%s\" printed\n  %s\nand not\n  %s", copy, say_line(), expected);
  if (row_result.code != 0 &&
      (is_swept() ? row_result.code != run.sweep : expected == NULL))
    step_fail(copy, say_line());
}

/* In a sweep nothing follows an open that failed. */
static void run_steps(void) {
  char text[4096], *line, *next, *arrow;

  assert_true(strlen(run.row->text) < sizeof(text));
  snprintf(text, sizeof(text), "%s", run.row->text);
  for (line = text; *line != '\0'; line = next) {
    next = line + strcspn(line, ";\n");
    if (*next != '\0')
      *next++ = '\0';
    line += strspn(line, " ");
    arrow = strstr(line, " ->");
    if (arrow != NULL) {
      *arrow = '\0';
      arrow += strspn(arrow + 3, " ") + 3;
    }
    if (*line == '\0' || strncmp(line, "each ", 5) == 0)
      continue;
    run_step(line, arrow);
    if (!run.subject->is_open() && row_result.code != 0 && is_swept())
      return;
  }
}

/* Runs a row once. Returns whether a call of "each" has failed. */
static int run_once(void) {
  int has_failed;
  size_t fds;

  fake_kernel_reset(); /* after a row that failed */
  fds = support_count_fds();
  run.due = 0;
  run.is_each = 0;
  run.when[0] = '\0';
  kernel_begin();
  run.subject->begin();
  if (run.nth != 0 && strstr(run.row->text, " sweep") == NULL)
    do_sweep(NULL);
  run_steps();
  has_failed = is_swept();
  fake_process(0);
  say_begin();
  run.subject->close();
  kernel_end_loop();
  run.subject->end();
  kernel_end();
  assert_int_equal(support_count_fds(), fds);
  return has_failed;
}

static void run_row(void **state) {
  char call[16] = "", code[16];

  run.row = *state;
  run.nth = 0;
  if (run.subject->need != NULL)
    run.subject->need(run.row);
  sscanf(run.row->text, "each %15s %15[A-Z0-9]", call, code);
  if (call[0] == '\0') {
    run_once();
    return;
  }
  run.sweep = step_code(code);
  run.swept = kernel_call(call);
  do
    run.nth++;
  while (run_once());
  assert_true(run.nth > 1);
}

int scripted_row_run(const scripted_subject_t *subject,
                     const scripted_row_t *rows, size_t nr,
                     const struct CMUnitTest *tests, size_t nr_tests) {
  uv_loop_t loop;

  /* libuv keeps some fds from its first loop on. */
  if (uv_loop_init(&loop) != 0 || uv_loop_close(&loop) != 0)
    return 1;
  run.subject = subject;
  return support_run_rows(rows, sizeof(rows[0]), nr, run_row, tests, nr_tests);
}
