/* SPDX-License-Identifier: MIT */
/* Ranks and texts of a profile with known numbers. */
#include "support.h"

#include "profile/stacks/text.h"

static uint32_t function(stacks_t *stacks, const char *name,
                         const char *object) {
  const stacks_object_t file = {.name = object, .path = ""};
  stacks_function_t function = {name, name, "", 0};

  function.object = stacks_object(stacks, &file);
  return stacks_function(stacks, &function);
}

/* main calls work, and work calls itself and the kernel. Another process
 * idles. */
static int setup(void **state) {
  const stacks_task_t one = {10, 11, "thread;1", "process", "/a"};
  const stacks_task_t two = {20, 20, "other", "other", "/a"};
  static stacks_t stacks;
  stacks_frame_t work[3] = {{0}}, entry[2] = {{0}};
  uint32_t task;

  stacks_init(&stacks);
  stacks.event = "cpu-clock";
  stacks.unit = "ns";
  work[0].function = work[1].function = function(&stacks, "work", "program");
  work[2].function = entry[1].function = function(&stacks, "main", "program");
  entry[0].function = function(&stacks, "entry", "[kernel]");
  task = stacks_task(&stacks, &one);
  stacks_add(&stacks, task, work, 3, 6, 600000);
  stacks_add(&stacks, task, entry, 2, 3, 300000);
  stacks_add(&stacks, stacks_task(&stacks, &two), entry + 1, 1, 1, 100000);
  *state = &stacks;
  return 0;
}

static int teardown(void **state) {
  stacks_free(*state);
  return 0;
}

static void expect_row(const stacks_row_t *row, const char *name,
                       const char *where, uint32_t id, uint64_t self,
                       uint64_t total) {
  assert_string_equal(row->name, name);
  assert_string_equal(row->where, where);
  assert_int_equal(row->id, id);
  assert_int_equal(row->self, self);
  assert_int_equal(row->samples * 100000, self);
  assert_int_equal(row->total, total);
}

static void recursive_function_is_counted_once_in_a_stack(void **state) {
  stacks_row_t *rows;
  size_t nr;

  rows = stacks_rank(*state, STACKS_BY_FUNCTION, &nr);
  assert_int_equal(nr, 3);
  expect_row(&rows[0], "work", "program", 0, 600000, 600000);
  expect_row(&rows[1], "entry", "[kernel]", 0, 300000, 300000);
  expect_row(&rows[2], "main", "program", 0, 100000, 1000000);
  free(rows);
}

static void tasks_are_ranked_by_what_they_share(void **state) {
  stacks_row_t *rows;
  size_t nr;

  rows = stacks_rank(*state, STACKS_BY_THREAD, &nr);
  assert_int_equal(nr, 2);
  expect_row(&rows[0], "thread;1", "process", 11, 900000, 900000);
  expect_row(&rows[1], "other", "other", 20, 100000, 100000);
  free(rows);
  rows = stacks_rank(*state, STACKS_BY_PROCESS, &nr);
  assert_int_equal(nr, 2);
  expect_row(&rows[0], "process", "", 10, 900000, 900000);
  free(rows);
  rows = stacks_rank(*state, STACKS_BY_COMM, &nr);
  assert_int_equal(nr, 2);
  expect_row(&rows[0], "process", "", 0, 900000, 900000);
  free(rows);
  rows = stacks_rank(*state, STACKS_BY_CGROUP, &nr);
  assert_int_equal(nr, 1);
  expect_row(&rows[0], "/a", "", 0, 1000000, 1000000);
  free(rows);
}

static void expect_text(void (*write)(FILE *file, const stacks_t *stacks),
                        const stacks_t *stacks, const char *expected) {
  char *text = NULL;
  size_t size;
  FILE *file = open_memstream(&text, &size);

  assert_non_null(file);
  write(file, stacks);
  fclose(file);
  assert_string_equal(text, expected);
  free(text);
}

static void table_of_two(FILE *file, const stacks_t *stacks) {
  stacks_text_table(file, stacks, &(stacks_view_t){.rows = 2});
}

static void table_of_processes(FILE *file, const stacks_t *stacks) {
  stacks_text_table(file, stacks,
                    &(stacks_view_t){.by = STACKS_BY_PROCESS, .rows = 9});
}

static void table_of_threads(FILE *file, const stacks_t *stacks) {
  stacks_text_table(file, stacks,
                    &(stacks_view_t){.by = STACKS_BY_THREAD, .rows = 9});
}

static void table_has_the_hottest_rows_and_says_how_many_more(void **state) {
  expect_text(table_of_two, *state,
              "    self    total   samples  object               function\n"
              "  60.00%   60.00%         6  program              work\n"
              "  30.00%   30.00%         3  [kernel]             entry\n"
              "                            1 more\n");
  expect_text(table_of_processes, *state,
              "    self    total   samples  pid     process\n"
              "  90.00%   90.00%         9  10      process\n"
              "  10.00%   10.00%         1  20      other\n");
  expect_text(table_of_threads, *state,
              "    self    total   samples  process              thread\n"
              "  90.00%   90.00%         9  process              thread;1 11\n"
              "  10.00%   10.00%         1  other                other 20\n");
}

static void narrow_table_of_processes(FILE *file, const stacks_t *stacks) {
  const stacks_layout_t layout = {.by = STACKS_BY_PROCESS,
                                  .counted = "samples",
                                  .weight = stacks->weight,
                                  .columns = 40};
  stacks_row_t *rows;
  size_t i, nr;

  rows = stacks_rank(stacks, STACKS_BY_PROCESS, &nr);
  stacks_text_head(file, &layout);
  for (i = 0; i < nr; i++)
    stacks_text_row(file, &layout, &rows[i]);
  free(rows);
}

static void narrow_table_distinguishes_processes(void **state) {
  expect_text(narrow_table_of_processes, *state,
              "    self    total  process\n"
              "  90.00%   90.00%  process 10\n"
              "  10.00%   10.00%  other 20\n");
}

static void add_long(stacks_t *stacks, const char *name) {
  const stacks_task_t one = {10, 11, "thread", "process", "/a"};
  stacks_frame_t frame = {.function = function(stacks, name, "program")};

  stacks_add(stacks, stacks_task(stacks, &one), &frame, 1, 1, 1000000);
}

static void narrow_table(FILE *file, const stacks_t *stacks) {
  const stacks_view_t view = {.rows = 2, .columns = 72};

  stacks_text_table(file, stacks, &view);
}

/* Names of templates differ in the middle or at the end. */
static void names_of_a_narrow_table_differ_after_they_are_cut(void **state) {
  stacks_t stacks;

  stacks_init(&stacks);
  stacks.event = "cpu-clock";
  add_long(&stacks, "space::Box<int>::spin_for_long(long, char const*)");
  add_long(&stacks, "space::Box<int>::spin_for_long(long, int const*)");
  expect_text(narrow_table, &stacks,
              "    self    total   samples  object               function\n"
              "  50.00%   50.00%         1  program              "
              "space::Box..ar const*)\n"
              "  50.00%   50.00%         1  program              "
              "space::Box..nt const*)\n");
  add_long(&stacks, "space::Box<int>::spin_for_long(long, char const*)");
  add_long(&stacks, "space::Box<big>::spin_for_long(long, char const*)");
  add_long(&stacks, "space::Box<big>::spin_for_long(long, char const*)");
  expect_text(narrow_table, &stacks,
              "    self    total   samples  object               function\n"
              "  40.00%   40.00%         2  program              "
              "space::Box<big>::spin_for_long(long, char const*)\n"
              "  40.00%   40.00%         2  program              "
              "space::Box<int>::spin_for_long(long, char const*)\n"
              "                            1 more\n");
  stacks_free(&stacks);
}

static void folded_stacks_are_outermost_first(void **state) {
  stacks_t *stacks = *state;

  expect_text(stacks_text_folded, stacks,
              "process;main;work;work 6\n"
              "process;main;entry 3\n"
              "other;main 1\n");
  stacks->event = "off-cpu";
  expect_text(stacks_text_folded, stacks,
              "process;main;work;work 600\n"
              "process;main;entry 300\n"
              "other;main 100\n");
}

static void folded_stacks_of_other_addresses_are_one_line(void **state) {
  stacks_t *stacks = *state;
  const stacks_function_t function = {"main", "main", "", 0};
  const stacks_task_t task = {1, 1, "a", "other", ""};
  stacks_frame_t frame = {.address = 0x7777};

  frame.function = stacks_function(stacks, &function);
  stacks_add(stacks, stacks_task(stacks, &task), &frame, 1, 90, 900);
  expect_text(stacks_text_folded, stacks,
              "process;main;work;work 6\n"
              "process;main;entry 3\n"
              "other;main 91\n");
}

/* prctl(PR_SET_NAME, "") is allowed. */
static void
folded_stack_of_a_process_without_a_name_begins_empty(void **state) {
  const stacks_function_t function = {"main", "main", "", 0};
  const stacks_task_t task = {1, 1, "", "", ""};
  stacks_frame_t frame = {.address = 0x1};
  stacks_t stacks;

  stacks_init(&stacks);
  stacks.event = "cpu-clock";
  frame.function = stacks_function(&stacks, &function);
  stacks_add(&stacks, stacks_task(&stacks, &task), &frame, 1, 1, 1);
  expect_text(stacks_text_folded, &stacks, ";main 1\n");
  stacks_free(&stacks);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(recursive_function_is_counted_once_in_a_stack),
      TEST(tasks_are_ranked_by_what_they_share),
      TEST(table_has_the_hottest_rows_and_says_how_many_more),
      cmocka_unit_test(names_of_a_narrow_table_differ_after_they_are_cut),
      TEST(narrow_table_distinguishes_processes),
      TEST(folded_stacks_are_outermost_first),
      TEST(folded_stacks_of_other_addresses_are_one_line),
      cmocka_unit_test(folded_stack_of_a_process_without_a_name_begins_empty),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
