/* SPDX-License-Identifier: MIT */
/* Words that are no event: the error for them. */
#include "check_parse.h"

#include "name/parse.h"
#include "make_host.h"
#include "util/near_miss.h"

#define ARG  UVPERF_CAUSE_ARGUMENT
#define NONE UVPERF_CAUSE_NO_EVENT

static void attr_parse_suggests_a_similar_name(void **state) {
  static const name_bad_t bad[] = {
      {"instrutions", -ENOENT, NONE, 1, "did you mean 'instructions'?"},
      {" cycels:u", -ENOENT, NONE, 2, "did you mean 'cycles'?"},
      {"page-fault", -ENOENT, NONE, 1, "did you mean 'page-faults'?"},
      {"LLC-laod-misses", -ENOENT, NONE, 1, "did you mean 'LLC-load-misses'?"},
      {"iTLB-stores", -ENOENT, NONE, 1, "this cache has no such operation"},
      {"cycles/perod=1/", -ENOENT, NONE, 8, "did you mean 'period'?"},
      {"cycles/whatever/", -ENOENT, NONE, 8, "no term 'whatever'"},
      {"cycles/call-graph=dwarv/", -EINVAL, ARG, 19, "no call-graph 'dwarv'"},
      {"cycles/branch_type=any_cal/", -EINVAL, ARG, 20,
       "did you mean 'any_call'?"},
      {"duration_time", -ENOENT, NONE, 1, "perf(1) measures that itself"},
      {"user_time:u", -ENOENT, NONE, 1, "perf(1) measures that itself"},
      {"inst_retired.any", -ENOENT, NONE, 1, "JSON files"},
      {"qqqqqq", -ENOENT, NONE, 1, "no event 'qqqqqq'"},
  };

  check_parse_bad(bad, COUNT_OF(bad));
}

/* The suggestion "c:xxx" of a tracepoint fits, or has one byte too many. */
static void attr_parse_suggests_no_name_that_is_too_long(void **state) {
  char word[UVPERF__NEAR_MISS_MOST + 1], path[160];
  struct perf_event_attr attr;
  uvperf_error_t error;
  size_t length;

  for (length = UVPERF__NEAR_MISS_MOST - 2; length < UVPERF__NEAR_MISS_MOST;
       length++) {
    memset(word, 'x', length);
    word[length] = '\0';
    snprintf(path, sizeof(path), "/sys/kernel/tracing/events/c/%s/id", word);
    make_host_write(path, "77\n");
    assert_int_equal(uvperf_attr_parse_sized(&attr, sizeof(attr), word, &error),
                     -ENOENT);
    assert_int_equal(strstr(error.reason, "'c:xxx") != NULL,
                     length == UVPERF__NEAR_MISS_MOST - 2);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(attr_parse_suggests_a_similar_name),
      MAKE_HOST_TEST(attr_parse_suggests_no_name_that_is_too_long),
  };

  return cmocka_run_group_tests(tests, fake_host_empty, fake_host_real);
}
