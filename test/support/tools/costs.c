/* SPDX-License-Identifier: MIT */
#include "costs.h"

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#define STANDARD_ERRORS 4.5

static char directory[] = "/tmp/uvperf_costs_XXXXXX";

/* Debug files there are opened by a process without privileges. */
int costs_setup(void **state) {
  memcpy(directory + sizeof(directory) - 7, "XXXXXX", 6);
  return mkdtemp(directory) != NULL ? chmod(directory, 0755) : -1;
}

int costs_teardown(void **state) {
  static tool_run_t run;

  memset(&run, 0, sizeof(run));
  costs_run(&run, "chmod -R u+w . && rm -rf \"$PWD\"");
  return 0;
}

const char *costs_path(const char *name) {
  static char paths[4][sizeof(directory) + 64];
  static size_t next;
  char *path = paths[next++ % 4];

  snprintf(path, sizeof(paths[0]), "%s/%s", directory, name);
  return path;
}

/* perf(1) reads ~/.perfconfig and keeps copies of files in ~/.debug. */
static void run_here(tool_run_t *run, const char *words) {
  static char line[4096];

  snprintf(line, sizeof(line), "cd %s && export HOME=$PWD LC_ALL=C && %s",
           directory, words);
  run->args[0] = "/bin/sh";
  run->args[1] = "-c";
  run->args[2] = line;
  tool_run(run);
}

void costs_run(tool_run_t *run, const char *words) {
  run_here(run, words);
  if (run->status != 0)
    print_error("%s\n", words);
  tool_run_expect_status(run, 0);
}

void costs_build(const char *test, const char *variant) {
  static tool_run_t run;
  char words[512];

  memset(&run, 0, sizeof(run));
  snprintf(words, sizeof(words),
           "HOME=%s sh " UVPERF_TEST_DIR
           "/support/programs/costs/build.sh %s .",
           getenv("HOME") != NULL ? getenv("HOME") : "/", variant);
  costs_run(&run, words);
  run.out[strcspn(run.out, "\n")] = '\0';
  if (run.out[0] != '\0')
    support_skip(test, run.out);
}

static void add_row(costs_t *costs, const char *name, double steps) {
  size_t i = costs->nr++;

  assert_true(i < COSTS_MAX_ROWS);
  snprintf(costs->rows[i].name, sizeof(costs->rows[i].name), "%s", name);
  costs->rows[i].steps = steps;
  costs->steps += steps;
}

void costs_read(costs_t *costs, const char *text, int inlined) {
  double steps, steps_inside = 0;
  char name[128], *outer;

  memset(costs, 0, sizeof(*costs));
  for (; *text != '\0'; text += *text == '\n') {
    assert_int_equal(sscanf(text, "%lf %127[^\n]", &steps, name), 2);
    text += strcspn(text, "\n");
    outer = strchr(name, '|');
    if (outer != NULL && !inlined) {
      steps_inside = steps;
      continue;
    }
    if (outer != NULL)
      *outer = '\0';
    add_row(costs, name, steps + steps_inside);
    steps_inside = 0;
  }
  assert_true(costs->nr > 5);
}

/* Whether a name is the function's or that of a part or clone that the compiler
 * made of it: "name.cold", "name() [clone .cold]". */
static int is_of(const char *name, const char *function) {
  size_t length = strlen(function);

  return strncmp(name, function, length) == 0 &&
         (name[length] == '\0' || strncmp(name + length, " [clone ", 8) == 0 ||
          (name[length] == '.' && strchr(function, '.') == NULL));
}

static unsigned long count(const folded_t *leaves, const char *function) {
  unsigned long samples = 0;
  size_t i;

  for (i = 0; i < leaves->nr; i++)
    if (is_of(leaves->rows[i].stack, function))
      samples += leaves->rows[i].samples;
  return samples;
}

void costs_expect(const costs_t *costs, const folded_t *stacks,
                  unsigned long least) {
  unsigned long samples[COSTS_MAX_ROWS], total = 0;
  double share, error, worst = 0, off;
  folded_t leaves = {0};
  size_t i;

  folded_leaves(stacks, &leaves);
  for (i = 0; i < costs->nr; i++)
    total += samples[i] = count(&leaves, costs->rows[i].name);
  for (i = 0; total > 0 && i < costs->nr; i++) {
    share = costs->rows[i].steps / costs->steps;
    error = sqrt(share * (1 - share) / (double)total);
    off = fabs((double)samples[i] / (double)total - share) / error;
    worst = off > worst ? off : worst;
    if (off > STANDARD_ERRORS)
      print_error("%s: %lu of %lu samples, should be %.1f\n",
                  costs->rows[i].name, samples[i], total,
                  share * (double)total);
  }
  folded_free(&leaves);
  print_message("%zu functions, %lu of %lu samples in them, at most %.1f "
                "standard errors off\n",
                costs->nr, total, stacks->samples, worst);
  assert_true(total >= least);
  assert_true(worst <= STANDARD_ERRORS);
}
