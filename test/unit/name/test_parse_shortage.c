/* SPDX-License-Identifier: MIT */
/* Names that are parsed while fds or memory are short: that is reported, and
 * nothing is taken for missing because it cannot be read now. */
#include "fake_kernel.h"
#include "support.h"
#include "make_host.h"
#include "make_tree.h"

#include <sys/resource.h>
#include <unistd.h>

#include "name/list.h"
#include "name/parse.h"
#include "make_names.h"

static const char *const names[] = {
    "cycles",
    "tsc",
    "msr/tsc/",
    "msr/event=tsc/",
    "msr/tcs/",
    "mrs/tsc/",
    "nope",
    "nope:u",
    "sched:sched_switch",
    "sched:sched_swich",
    "schd:sched_switch",
    "sched:*",
    "*:*",
    "clockticks",
    "imc/clockticks/",
    "uncore_imc/clockticks/",
    "uncore_*/clockticks/",
    "uncore_imc_0/data_reads/",
    "cpu/cycles/",
    "cpu/mem-lodas/",
    "kprobe/func=f/",
    "uprobe/path=\"/proc/self/exe\",symbol=main/",
    "uprobe/path=\"/proc/self/exe\",symbol=mian/",
    "type=8,config=0,config1=0x1000",
};

/* The result of a text without shortage. */
typedef struct plenty_s {
  int code;
  size_t nr;
  size_t nr_cpus;
} plenty_t;

static void parse_in_plenty(const char *text, plenty_t *plenty) {
  uvperf_event_list_t *list;

  memset(plenty, 0, sizeof(*plenty));
  plenty->code = uvperf_event_list_parse(&list, text, NULL);
  if (plenty->code != 0)
    return;
  plenty->nr = uvperf_event_list_count(list);
  plenty->nr_cpus = uvperf_event_list_get(list, 0)->nr_cpus;
  uvperf_event_list_free(list);
}

/* The name as a whole, or the path of a file, which takes two fds to open. */
static int is_at_a_cause(const char *text, size_t column) {
  const char *quote = strchr(text, '"');

  return column == 1 || (quote != NULL && column == (size_t)(quote - text) + 2);
}

/* Whether lack of fds was reported, or made no difference. */
static int is_honest(const char *text, rlim_t limit, const plenty_t *plenty) {
  uvperf_error_t error = {0};
  uvperf_event_list_t *list;
  int is_same;
  int code = uvperf_event_list_parse(&list, text, &error);

  if (code == -EMFILE)
    return list == NULL && error.code == code &&
           error.cause == UVPERF_CAUSE_FILES &&
           is_at_a_cause(text, error.column) && error.limit == limit &&
           error.needed == limit + 1;
  if (code != 0)
    return code == plenty->code;
  is_same = code == plenty->code &&
            uvperf_event_list_count(list) == plenty->nr &&
            uvperf_event_list_get(list, 0)->nr_cpus == plenty->nr_cpus;
  uvperf_event_list_free(list);
  return is_same;
}

/* In a child because of the limit. */
static int parse_with_few_fds(void *arg) {
  plenty_t plenty[COUNT_OF(names)];
  uint64_t limit;
  unsigned more;
  size_t i;

  for (i = 0; i < COUNT_OF(names); i++)
    parse_in_plenty(names[i], &plenty[i]);
  for (more = 0; more < 4; more++) {
    limit = support_limit_fds(more);
    for (i = 0; i < COUNT_OF(names); i++)
      if (limit == 0 || !is_honest(names[i], limit, &plenty[i])) {
        print_message("%s with %u fds more\n", names[i], more);
        return 2;
      }
  }
  return 0;
}

static void names_looked_up_without_fds_are_emfile(void **state) {
  assert_int_equal(support_wait(support_fork(parse_with_few_fds, NULL)), 0);
}

static int parse_without_fds(void *arg) {
  struct rlimit limit = {0, 0};
  size_t i;

  if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
    return 1;
  for (i = 0; i < COUNT_OF(names); i++) {
    plenty_t none;

    parse_in_plenty(names[i], &none);
    if (none.code != -EMFILE)
      return 2;
  }
  return 0;
}

static void no_name_is_missing_if_no_file_can_be_opened(void **state) {
  assert_int_equal(support_wait(support_fork(parse_without_fds, NULL)), 0);
}

/* The search for a function's near miss allocates memory. */
static void near_miss_without_memory_is_an_error(void **state) {
  static const char text[] = "uprobe/path=\"/proc/self/exe\",symbol=mian/";
  uvperf_event_list_t *list;
  uvperf_error_t error;
  unsigned nth;
  int code;

  for (nth = 1;; nth++) {
    fake_kernel_reset();
    fake_fail(FAKE_CALLOC, nth, -ENOMEM);
    code = uvperf_event_list_parse(&list, text, &error);
    assert_null(list);
    assert_int_equal(fake_live_allocations(), 0);
    if (fake_failures() == 0)
      break;
    assert_int_equal(code, -ENOMEM);
    assert_int_equal(error.cause, UVPERF_CAUSE_MEMORY);
    assert_in_range(error.column, 1, sizeof(text));
  }
  fake_kernel_reset();
  assert_true(nth > 3);
  assert_int_equal(code, -ENOENT);
  assert_non_null(strstr(error.reason, "did you mean 'main'?"));
}

static int tree_setup(void **state) {
  if (make_host_setup(state) != 0)
    return -1;
  return make_names_plant(make_host_root(), "tree.txt");
}

#define WITH_TREE(test)                                                        \
  cmocka_unit_test_setup_teardown(test, tree_setup, make_host_teardown)

int main(void) {
  static const struct CMUnitTest tests[] = {
      WITH_TREE(names_looked_up_without_fds_are_emfile),
      WITH_TREE(no_name_is_missing_if_no_file_can_be_opened),
      WITH_TREE(near_miss_without_memory_is_an_error),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
