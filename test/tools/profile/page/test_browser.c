/* SPDX-License-Identifier: MIT */
/* The page in a browser. checks.js drives Chromium once for all tests. Each
 * test has a check with the same name there. */
#include "tool_run.h"

#include <unistd.h>

#include "common/text.h"
#include "models.h"
#include "profile/page/page.h"
#include "profile/stacks/text.h"
#include "make_tree.h"

#define TITLE "uvperf-profile -a on host"

static make_tree_t *tree;
static tool_run_t run;

static FILE *create(const char *name, const char *suffix) {
  char path[128];
  FILE *file;

  snprintf(path, sizeof(path), "%s/%s.%s", tree->root, name, suffix);
  file = fopen(path, "w");
  assert_non_null(file);
  return file;
}

static void write_page(stacks_t *stacks, const char *name, const char *title) {
  FILE *file = create(name, "html");

  assert_int_equal(page_write(file, stacks, title), 0);
  assert_int_equal(fclose(file), 0);
}

static void write_folded(const stacks_t *stacks, const char *name) {
  FILE *file = create(name, "folded");

  stacks_text_folded(file, stacks);
  assert_int_equal(fclose(file), 0);
}

/* Writes the text with which the facts of the page must begin. */
static void write_sums(const stacks_t *stacks, const char *name) {
  FILE *file = create(name, "sums");

  fprintf(file, "cycles: %llu cycles · %llu samples",
          (unsigned long long)stacks->weight,
          (unsigned long long)stacks->samples);
  assert_int_equal(fclose(file), 0);
}

/* Writes the functions of the model, as a JSON array. */
static void write_names(const stacks_t *stacks, const char *name) {
  FILE *file = create(name, "names");
  uint32_t i;

  for (i = 1; i < stacks_nr_functions(stacks); i++) {
    fputc(i == 1 ? '[' : ',', file);
    common_text_put_json(file, stacks_get_function(stacks, i)->name);
  }
  fputc(']', file);
  assert_int_equal(fclose(file), 0);
}

static void write_pages(void) {
  stacks_t stacks;

  models_small(&stacks);
  write_page(&stacks, "small", TITLE);
  write_folded(&stacks, "small");
  stacks_free(&stacks);
  models_empty(&stacks);
  write_page(&stacks, "empty", TITLE);
  stacks_free(&stacks);
  models_hostile(&stacks);
  write_page(&stacks, "hostile", models_hostile_names[0]);
  write_names(&stacks, "hostile");
  stacks_free(&stacks);
  models_deep(&stacks, 2000, 0);
  write_page(&stacks, "deep", TITLE);
  stacks_free(&stacks);
  models_deep(&stacks, 2000, 1);
  write_page(&stacks, "recursion", TITLE);
  stacks_free(&stacks);
  models_random(&stacks, "cycles", 3000, 500);
  write_page(&stacks, "cycles", TITLE);
  write_sums(&stacks, "cycles");
  stacks_free(&stacks);
  models_random(&stacks, "ns", 100000, 20000);
  write_page(&stacks, "big", TITLE);
  stacks_free(&stacks);
}

/* Writes a page whose data is cut off. */
static void write_damaged(void) {
  char command[256];

  snprintf(command, sizeof(command),
           "cd %s && sed '/id=\"data\">/s|.\\{12\\}</|</|' small.html "
           ">damaged.html",
           tree->root);
  assert_int_equal(system(command), 0);
}

static int has(const char *program) {
  char command[64];

  snprintf(command, sizeof(command), "command -v %s >/dev/null", program);
  return system(command) == 0;
}

static int setup(void **state) {
  if (!has("chromium") || !has("node"))
    return 0;
  assert_int_equal(make_tree_setup(state), 0);
  tree = *state;
  write_pages();
  write_damaged();
  run.args[0] = "/usr/bin/env";
  run.args[1] = "timeout";
  run.args[2] = "--kill-after=5";
  run.args[3] = "800"; /* many times what an idle machine takes */
  run.args[4] = "node";
  run.args[5] = UVPERF_TEST_DIR "/tools/profile/page/checks.js";
  run.args[6] = tree->root;
  tool_run(&run);
  return 0;
}

static int teardown(void **state) {
  return tree == NULL ? 0 : make_tree_teardown(state);
}

/* Passes or fails by the result of checks.js. */
static void expect(const char *name) {
  const char *failure;
  char line[128];

  if (!has("chromium"))
    support_skip(name, "chromium");
  if (!has("node"))
    support_skip(name, "node");
  snprintf(line, sizeof(line), "ok %s\n", name);
  if (strstr(run.out, line) != NULL)
    return;
  snprintf(line, sizeof(line), "failed %s:", name);
  failure = strstr(run.out, line);
  fail_msg("%s", failure != NULL ? failure : run.err);
}

#define CHECK(name)                                                            \
  static void name(void **state) {                                             \
    (void)state;                                                               \
    expect(__func__);                                                          \
  }

CHECK(frames_are_those_of_the_model)
CHECK(frames_are_where_they_belong)
CHECK(sums_are_those_of_the_model)
CHECK(search_marks_matches)
CHECK(click_zooms_and_escape_goes_back)
CHECK(keys_move_and_zoom)
CHECK(link_shows_the_same_view)
CHECK(groups_are_what_tells_tasks_apart)
CHECK(table_has_self_and_total)
CHECK(dark_mode_follows_the_system_and_a_button)
CHECK(hostile_names_are_text)
CHECK(page_of_empty_stacks_works)
CHECK(page_of_deep_stacks_works)
CHECK(page_of_recursion_stacks_works)
CHECK(page_of_big_stacks_works)
CHECK(narrow_page_has_no_horizontal_scrolling)
CHECK(old_browser_says_so)
CHECK(damaged_page_says_so)

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(frames_are_those_of_the_model),
      cmocka_unit_test(frames_are_where_they_belong),
      cmocka_unit_test(sums_are_those_of_the_model),
      cmocka_unit_test(search_marks_matches),
      cmocka_unit_test(click_zooms_and_escape_goes_back),
      cmocka_unit_test(keys_move_and_zoom),
      cmocka_unit_test(link_shows_the_same_view),
      cmocka_unit_test(groups_are_what_tells_tasks_apart),
      cmocka_unit_test(table_has_self_and_total),
      cmocka_unit_test(dark_mode_follows_the_system_and_a_button),
      cmocka_unit_test(hostile_names_are_text),
      cmocka_unit_test(page_of_empty_stacks_works),
      cmocka_unit_test(page_of_deep_stacks_works),
      cmocka_unit_test(page_of_recursion_stacks_works),
      cmocka_unit_test(page_of_big_stacks_works),
      cmocka_unit_test(narrow_page_has_no_horizontal_scrolling),
      cmocka_unit_test(old_browser_says_so),
      cmocka_unit_test(damaged_page_says_so),
  };

  return cmocka_run_group_tests(tests, setup, teardown);
}
