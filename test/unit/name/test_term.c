/* SPDX-License-Identifier: MIT */
/* The terms that the name of any event can have. */
#include "fake_host.h"
#include "check_parse.h"

#include "name/parse.h"

#define ARG UVPERF_CAUSE_ARGUMENT

#define CYCLES .type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES
#define CLOCK  .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK

static void terms_set_the_fields_of_the_attr(void **state) {
  static const name_good_t good[] = {
      {"cycles/period=100000,config2/",
       {CYCLES, .sample_period = 100000, .config2 = 1}},
      {"cycles/config1=0x10,config2=3/", {CYCLES, .config1 = 16, .config2 = 3}},
      {"cycles/config=5/", {.type = PERF_TYPE_HARDWARE, .config = 5}},
      {"cycles/period=0x10/", {CYCLES, .sample_period = 16}},
      {"cycles/period=9223372036854775807/",
       {CYCLES, .sample_period = INT64_MAX}},
      {"cpu-clock/freq=99/", {CLOCK, .freq = 1, .sample_freq = 99}},
      {"cycles/time/", {CYCLES, .sample_type = PERF_SAMPLE_TIME}},
      {"cycles/time=1/", {CYCLES, .sample_type = PERF_SAMPLE_TIME}},
      {"cycles/time=0/", {CYCLES}},
      {"cycles/max-stack=65535/",
       {CYCLES, .sample_type = PERF_SAMPLE_CALLCHAIN,
        .sample_max_stack = 65535}},
      {"cycles/call-graph=no,max-stack=3/", {CYCLES, .sample_max_stack = 3}},
      {"cycles/max-stack=0/", {CYCLES}},
      {"cycles/inherit/", {CYCLES, .inherit = 1}},
      {"cycles/no-inherit/", {CYCLES}},
      {"cycles/no-inherit=0/", {CYCLES, .inherit = 1}},
      {"cycles/overwrite/u",
       {CYCLES, .write_backward = 1, .exclude_kernel = 1, .exclude_hv = 1}},
      {"cycles/no-overwrite/", {CYCLES}},
      {"cycles/aux-output/", {CYCLES, .aux_output = 1}},
      {"cycles/aux-sample-size=4096/",
       {CYCLES, .sample_type = PERF_SAMPLE_AUX, .aux_sample_size = 4096}},
      {"cycles/PERIOD=5,Time/",
       {CYCLES, .sample_period = 5, .sample_type = PERF_SAMPLE_TIME}},
      {"cycles/ period = 5 ,\ttime /",
       {CYCLES, .sample_period = 5, .sample_type = PERF_SAMPLE_TIME}},
      {"cycles/period='5',time=\"1\"/",
       {CYCLES, .sample_period = 5, .sample_type = PERF_SAMPLE_TIME}},
      {"LLC-loads/period=5/",
       {.type = PERF_TYPE_HW_CACHE, .config = 2, .sample_period = 5}},
  };

  check_parse_good(good, COUNT_OF(good));
}

static void terms_that_come_twice_say_what_the_last_says(void **state) {
  static const name_good_t good[] = {
      {"cycles/period=1,period=2/", {CYCLES, .sample_period = 2}},
      {"cycles/freq=1,period=2/", {CYCLES, .sample_period = 2}},
      {"cycles/period=2,freq=1/", {CYCLES, .freq = 1, .sample_freq = 1}},
      {"cycles/time,time=0/", {CYCLES}},
      {"cycles/inherit,no-inherit/", {CYCLES}},
      {"cycles/branch_type=any,branch_type=no/", {CYCLES}},
      {"cycles/call-graph=dwarf,call-graph=fp/",
       {CYCLES, .sample_type = PERF_SAMPLE_CALLCHAIN}},
      {"cycles/aux-sample-size=8,aux-sample-size=0/", {CYCLES}},
  };

  check_parse_good(good, COUNT_OF(good));
}

static void terms_ask_for_branch_stacks(void **state) {
  static const name_good_t good[] = {
      {"cycles/branch_type=any/",
       {CYCLES, .sample_type = PERF_SAMPLE_BRANCH_STACK,
        .branch_sample_type = PERF_SAMPLE_BRANCH_ANY}},
      {"cycles/branch_type=ind_call/",
       {CYCLES, .sample_type = PERF_SAMPLE_BRANCH_STACK,
        .branch_sample_type = PERF_SAMPLE_BRANCH_IND_CALL}},
      /* A level alone means any branch there. */
      {"cycles/branch_type=u/",
       {CYCLES, .sample_type = PERF_SAMPLE_BRANCH_STACK,
        .branch_sample_type =
            PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY}},
      {"cycles/branch_type=no/", {CYCLES}},
  };

  check_parse_good(good, COUNT_OF(good));
}

static void terms_of_fields_newer_than_the_header_are_set(void **state) {
  struct {
    struct perf_event_attr attr;
    uint64_t room[8];
  } wide;
  uint64_t value;

  assert_int_equal(uvperf_attr_parse_sized(&wide.attr, 144,
                                           "1:1/config3=7,config4=0x99/", NULL),
                   0);
  uvperf_attr_get(&wide.attr, UVPERF_ATTR_CONFIG3, &value);
  assert_int_equal(value, 7);
  uvperf_attr_get(&wide.attr, UVPERF_ATTR_CONFIG4, &value);
  assert_int_equal(value, 0x99);
}

static void terms_that_cannot_be_right_are_refused(void **state) {
  static const name_bad_t bad[] = {
      {"cycles/period/", -EINVAL, ARG, 8, "'period' needs a value"},
      {"cycles/freq/", -EINVAL, ARG, 8, "'freq' needs a value"},
      {"cycles/call-graph/", -EINVAL, ARG, 8, "'call-graph' needs a value"},
      {"cycles/branch_type/", -EINVAL, ARG, 8, "needs a value"},
      {"cycles/name/", -EINVAL, ARG, 8, "'name' needs a value"},
      {"cycles/time=2/", -EINVAL, ARG, 13, "the limit is 0x1"},
      {"cycles/inherit=2/", -EINVAL, ARG, 16, "the limit is 0x1"},
      {"cycles/max-stack=65536/", -EINVAL, ARG, 18, "the limit is 0xffff"},
      {"cycles/period=9223372036854775808/", -EINVAL, ARG, 15, "too large"},
      {"cycles/period=99999999999999999999/", -EINVAL, ARG, 15, "too large"},
      {"cycles/aux-sample-size=0x100000000/", -EINVAL, ARG, 24, "too large"},
      {"cycles/call-graph=dwarf,stack-size=12/", -EINVAL, ARG, 36,
       "multiple of 8"},
      {"cycles/call-graph=dwarf,stack-size=65536/", -EINVAL, ARG, 36,
       "the limit is 0xfff8"},
      {"cycles/stack-size=8/", -EINVAL, ARG, 8, "needs call-graph=dwarf"},
      {"cycles/call-graph=fp,stack-size=8/", -EINVAL, ARG, 22,
       "needs call-graph=dwarf"},
      {"cycles/call-graph=lbr,branch_type=any/", -EINVAL, ARG, 8,
       "exclude each other"},
      {"cycles/percore/", -EINVAL, ARG, 8, "for perf(1) only"},
      {"cycles/metric-id=x/", -EINVAL, ARG, 8, "for perf(1) only"},
      {"cycles/nr=3/", -EINVAL, ARG, 8, "for perf(1) only"},
      {"cycles/aux-action=pause/", -EINVAL, ARG, 8, "uvperf_attr_set"},
      {"cycles/@sink=x/", -EINVAL, ARG, 8, "for perf(1) only"},
  };

  check_parse_bad(bad, COUNT_OF(bad));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(terms_set_the_fields_of_the_attr),
      cmocka_unit_test(terms_that_come_twice_say_what_the_last_says),
      cmocka_unit_test(terms_ask_for_branch_stacks),
      cmocka_unit_test(terms_of_fields_newer_than_the_header_are_set),
      cmocka_unit_test(terms_that_cannot_be_right_are_refused),
  };

  return cmocka_run_group_tests(tests, fake_host_empty, fake_host_real);
}
