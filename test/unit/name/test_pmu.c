/* SPDX-License-Identifier: MIT */
/* Events of PMUs, in a sysfs of the test's own and in the real one. */
#include "check_parse.h"
#include "make_host.h"
#include "make_tree.h"

#include <fcntl.h>
#include <unistd.h>

#include "name/parse.h"

#define ARG  UVPERF_CAUSE_ARGUMENT
#define NONE UVPERF_CAUSE_NO_EVENT
#define SUPP UVPERF_CAUSE_NOT_SUPPORTED

#define CPU       .type = PERF_TYPE_RAW
#define SPLIT     .type = 20
#define ONLY_USER .exclude_kernel = 1, .exclude_hv = 1

static void pmu_terms_go_where_format_says(void **state) {
  static const name_good_t good[] = {
      {"cpu/event=0x3c,umask=0x1/", {CPU, .config = 0x13c}},
      {"cpu/event=60,umask=1,edge,cmask=0xff/u",
       {CPU, .config = 0xff04013c, ONLY_USER}},
      {"cpu/ldlat=30/", {CPU, .config1 = 30}},
      {"cpu/ldlat=30,ldlat=1/", {CPU, .config1 = 1}},
      {"cpu/edge=0/", {CPU}},
      {"cpu//", {CPU}},
      {"cpu//u", {CPU, ONLY_USER}},
      {"split/event=0xfff/", {SPLIT, .config = 0xf000000ff}},
      {"split/event=0x1a5/", {SPLIT, .config = 0x1000000a5}},
      {"uncore_imc_1/event=7/", {.type = 15, .config = 7}},
      /* Terms that any event can have, unless the PMU has a format of that
       * name. */
      {"cpu/config=10,config1,config2=3,period=1000/u",
       {CPU, .config = 10, .config1 = 1, .config2 = 3, .sample_period = 1000,
        ONLY_USER}},
      {"cpu/config=1,call-graph=fp,time,period=100000/",
       {CPU, .config = 1, .sample_period = 100000,
        .sample_type = PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_TIME}},
      {"split/period=5/", {SPLIT, .config1 = 5}},
      {"intel_pt//u", {.type = 7, ONLY_USER}},
      {"cpu/config=10,config1,config2=3,umask=1,r0xead/",
       {CPU, .config = 0xead, .config1 = 1, .config2 = 3}},
      {"cpu/event=0x2/ukp",
       {CPU, .config = 2, .exclude_hv = 1, .precise_ip = 1}},
      {" cpu/ event = 0x2 , umask /", {CPU, .config = 0x102}},
      {"cpu/r1a8/", {CPU, .config = 0x1a8}},
      /* An event comes before a raw code of the same letters. */
      {"split/read/", {SPLIT, .config = 0x66}},
      {"split/r12,core=1/", {SPLIT, .config = 0x77, .config2 = 1}},
  };

  check_parse_good(good, COUNT_OF(good));
}

static void pmu_events_stand_for_terms(void **state) {
  static const name_good_t good[] = {
      {"cpu/cpu-cycles/", {CPU, .config = 0x3c}},
      {"cpu/mem-loads/", {CPU, .config = 0x1cd, .config1 = 3}},
      /* perf(1) would add the bits of 3 and 4 up to 7. */
      {"cpu/mem-loads,ldlat=4/", {CPU, .config = 0x1cd, .config1 = 4}},
      {"cpu/event=mem-loads/u",
       {CPU, .config = 0x1cd, .config1 = 3, ONLY_USER}},
      {"cpu_core/slots/", {.type = 8, .config = 0x400}},
      {"split/per-core,core=5/", {SPLIT, .config = 0x12, .config2 = 5}},
      {"split/core=5,per-core/", {SPLIT, .config = 0x12, .config2 = 5}},
      {"split/whole,core=1/",
       {SPLIT, .config = 0x12, .config1 = 5, .config2 = 1}},
      {"split/deep/", {SPLIT, .config = 1}},
      {"cpu/mem-loads,period=5,call-graph=fp/",
       {CPU, .config = 0x1cd, .config1 = 3, .sample_period = 5,
        .sample_type = PERF_SAMPLE_CALLCHAIN}},
      {"split/deep,deep,deep,deep,deep,deep/", {SPLIT, .config = 1}},
  };

  check_parse_good(good, COUNT_OF(good));
}

static void pmu_events_are_known_without_their_pmu(void **state) {
  static const name_good_t good[] = {
      {"mem-loads", {CPU, .config = 0x1cd, .config1 = 3}},
      {"el-start:u", {CPU, .config = 0x1c8, ONLY_USER}},
      {"dclk", {.type = 16, .config = 0xff}},
      /* The kernel's own names come first. */
      {"cpu-cycles", {.type = PERF_TYPE_HARDWARE}},
      {"r12", {CPU, .config = 0x12}},
  };
  static const name_bad_t bad[] = {
      {"clockticks", -EINVAL, ARG, 1, "uvperf_event_list_parse"},
      {"per-core", -EINVAL, ARG, 1, "split/...,core=.../"},
      {"loop", -EINVAL, SUPP, 1, "without end"},
      {"mem-lods", -ENOENT, NONE, 1, "did you mean 'mem-loads'?"},
      {"cpu_core", -ENOENT, NONE, 1, "it is a PMU"},
  };

  check_parse_good(good, COUNT_OF(good));
  check_parse_bad(bad, COUNT_OF(bad));
}

/* The type of the PMU is in the upper half of config, if 0 there does not say
 * which one is meant. */
static void pmu_has_generic_events_if_it_is_of_cpus(void **state) {
  static const name_good_t good[] = {
      {"cpu_core/cycles/",
       {.type = PERF_TYPE_HARDWARE, .config = UINT64_C(8) << 32}},
      {"cpu_atom/instructions/u",
       {.type = PERF_TYPE_HARDWARE,
        .config = UINT64_C(10) << 32 | 1,
        ONLY_USER}},
      {"cpu_core/L1-dcache-load-misses/",
       {.type = PERF_TYPE_HW_CACHE, .config = UINT64_C(8) << 32 | 0x10000}},
      {"cpu/cycles,period=7/",
       {.type = PERF_TYPE_HARDWARE, .sample_period = 7}},
      {"software/page-faults/u",
       {.type = PERF_TYPE_SOFTWARE,
        .config = PERF_COUNT_SW_PAGE_FAULTS,
        ONLY_USER}},
      {"software/config=1/", {.type = PERF_TYPE_SOFTWARE, .config = 1}},
      {"software/r0x1a/", {.type = PERF_TYPE_SOFTWARE, .config = 0x1a}},
      {"cpu/LLC-loads/", {.type = PERF_TYPE_HW_CACHE, .config = 2}},
  };
  static const name_bad_t bad[] = {
      {"uncore_imc_0/cycles/", -ENOENT, NONE, 14, "no term or event 'cycles'"},
      {"software/cycles/", -ENOENT, NONE, 10, "no term or event 'cycles'"},
      {"cpu/page-faults/", -ENOENT, NONE, 5, "no term or event"},
      {"cpu/iTLB-stores/", -ENOENT, NONE, 5, "no term or event"},
  };

  check_parse_good(good, COUNT_OF(good));
  check_parse_bad(bad, COUNT_OF(bad));
}

static void pmu_says_how_precise_its_events_are(void **state) {
  static const name_good_t good[] = {
      {"cpu/event=1/P", {CPU, .config = 1, .precise_ip = 2}},
      {"cycles:P", {.type = PERF_TYPE_HARDWARE, .precise_ip = 2}},
      {"cpu_core/event=1/P", {.type = 8, .config = 1, .precise_ip = 1}},
      {"cpu_core/cycles/P",
       {.type = PERF_TYPE_HARDWARE,
        .config = UINT64_C(8) << 32,
        .precise_ip = 1}},
      {"split/event=1/P", {SPLIT, .config = 1, .precise_ip = 3}},
  };

  check_parse_good(good, COUNT_OF(good));
}

static void pmu_errors_point_at_the_term(void **state) {
  static const name_bad_t bad[] = {
      {"cpux/event=1/", -ENOENT, NONE, 1, "did you mean 'cpu'?"},
      {"whatever/event=1/", -ENOENT, NONE, 1, "there is no PMU 'whatever'"},
      {"../event=1/", -ENOENT, NONE, 1, "there is no PMU '..'"},
      {"typeless/event=1/", -ENOENT, NONE, 1, "has no 'type'"},
      {"badtype/event=1/", -EINVAL, SUPP, 1, "'type' of PMU badtype"},
      {"cpu/evnt=1/", -ENOENT, NONE, 5, "did you mean 'event'?"},
      {"cpu/event=1,mem-lods/", -ENOENT, NONE, 13, "did you mean 'mem-loads'?"},
      {"cpu/event=mem-lods/", -ENOENT, NONE, 11, "did you mean 'mem-loads'?"},
      {"cpu/whatever=5/", -ENOENT, NONE, 5, "no term or event 'whatever'"},
      {"cpu/..=5/", -ENOENT, NONE, 5, "no term or event '..'"},
      {"cpu/mem-loads=5/", -ENOENT, NONE, 5, "no term or event"},
      {"cpu/event=256/", -EINVAL, ARG, 11, "the limit is 0xff"},
      {"cpu/edge=2/", -EINVAL, ARG, 10, "the limit is 0x1"},
      {"cpu/umask=x/", -EINVAL, ARG, 11, "'x' is not a number"},
      {"cpu/mem-loads,event=?/", -EINVAL, ARG, 21, "'?' is not a number"},
      {"cpu/event=?/", -EINVAL, ARG, 11, "'?' is not a number"},
      {"split/event=0x1000/", -EINVAL, ARG, 13, "the limit is 0xfff"},
      {"split/odd=1/", -EINVAL, SUPP, 7, "'odd' of PMU split"},
      {"split/per-core/", -EINVAL, ARG, 7, "split/...,core=.../"},
      {"split/per-core,core/", -EINVAL, ARG, 7, "a value for 'core'"},
      {"split/loop/", -EINVAL, SUPP, 7, "without end"},
      {"split/event=1,ring1/", -EINVAL, SUPP, 15, "without end"},
      {"split/broad/", -EINVAL, SUPP, 7, "without end"},
      {"split/named/", -ENOENT, NONE, 7, "no term or event 'name'"},
      {"split/wrong/", -EINVAL, ARG, 7, "0x1000 is too large"},
      {"split/noscale/", -EINVAL, SUPP, 7, "'noscale' of PMU split"},
      {"cpu/far=1/", -E2BIG, ARG, 1, "after the attr"},
      {"cpu/event=1,name=x/", -EINVAL, ARG, 18, "uvperf_event_list_parse"},
      {"cpu/r10000000000000000/", -EINVAL, ARG, 5, "more than 64 bits"},
      {"uncore_*/event=1/", -EINVAL, ARG, 1, "uvperf_event_list_parse"},
      {"uncore_imc/event=1/", -EINVAL, ARG, 1, "uvperf_event_list_parse"},
      {"uncore_x*/event=1/", -ENOENT, NONE, 1, "no PMU matches 'uncore_x*'"},
      {"uncore_imc/evnt=1/", -ENOENT, NONE, 12, "did you mean 'event'?"},
      {"cpum/event=1/", -ENOENT, NONE, 1, "did you mean 'cpu'?"},
  };

  check_parse_bad(bad, COUNT_OF(bad));
}

/* perf(1) takes any case, as sysfs has names of one case alone. */
static void pmu_events_are_known_in_any_case(void **state) {
  static const name_good_t good[] = {
      {"cpu/MEM-LOADS/", {.type = 4, .config = 0x1cd, .config1 = 3}},
      {"cpu/Mem-Loads/", {.type = 4, .config = 0x1cd, .config1 = 3}},
      {"cpu/event=Mem-Loads/", {.type = 4, .config = 0x1cd, .config1 = 3}},
      {"Mem-Loads:u", {.type = 4, .config = 0x1cd, .config1 = 3, ONLY_USER}},
      {"cpu/l2_rqsts/", {.type = 4, .config = 0x24}},
      {"cpu/L2_rqsts/", {.type = 4, .config = 0x24}},
      {"L2_RQSTS", {.type = 4, .config = 0x24}},
  };
  static const name_bad_t bad[] = {
      {"CPU/mem-loads/", -ENOENT, NONE, 1, "did you mean 'cpu'?"},
      {"cpu/EVENT=1/", -ENOENT, NONE, 5, "did you mean 'event'?"},
  };

  make_host_write(CHECK_PARSE_PMUS "/cpu/events/L2_RQSTS", "event=0x24\n");
  check_parse_good(good, COUNT_OF(good));
  check_parse_bad(bad, COUNT_OF(bad));
}

static void pmu_generic_events_are_near_misses_if_it_has_them(void **state) {
  static const name_bad_t bad[] = {
      {"software/cpu-clok/", -ENOENT, NONE, 10, "did you mean 'cpu-clock'?"},
      {"cpu_core/instrctions/", -ENOENT, NONE, 10, "mean 'instructions'?"},
      {"uncore_imc_0/instrctions/", -ENOENT, NONE, 14, "event 'instrctions'"},
  };
  uvperf_error_t error;
  struct perf_event_attr attr;

  make_host_write(CHECK_PARSE_PMUS "/software/type", "1\n");
  check_parse_bad(bad, COUNT_OF(bad));
  uvperf_attr_parse_sized(&attr, sizeof(attr), bad[2].name, &error);
  assert_null(strstr(error.reason, "did you mean"));
}

static void pmu_of_a_number_may_be_named_without_it(void **state) {
  static const name_good_t good[] = {
      {"uncore_imc_free_running/dclk/", {.type = 16, .config = 0xff}},
      {"imc_free_running/dclk/u", {.type = 16, .config = 0xff, ONLY_USER}},
      {"imc_free_running_0/dclk/", {.type = 16, .config = 0xff}},
  };

  check_parse_good(good, COUNT_OF(good));
}

static int see_measure(const uvperf__named_event_t *event, void *data) {
  uvperf__named_event_t *kept = data;

  *kept = *event;
  return 0;
}

static void pmu_events_have_scale_and_unit(void **state) {
  uvperf__named_event_t event;
  uvperf__event_text_t text;
  uvperf__parse_t parse;

  uvperf__parse_init(&parse, "uncore_imc_0/cas_read/", NULL);
  assert_int_equal(uvperf__event_text_scan(&parse, parse.text, &text), 0);
  assert_int_equal(uvperf__event_name_each(&parse, &text, see_measure, &event),
                   0);
  assert_true(event.measure.scale == 6.103515625e-5);
  assert_string_equal(event.measure.unit, "MiB");
  uvperf__parse_init(&parse, "uncore_imc_0/event=4/", NULL);
  assert_int_equal(uvperf__event_text_scan(&parse, parse.text, &text), 0);
  assert_int_equal(uvperf__event_name_each(&parse, &text, see_measure, &event),
                   0);
  assert_true(event.measure.scale == 1);
  assert_string_equal(event.measure.unit, "");
}

/* Whether a name fails with the error for lack of fds. */
static int is_for_want_of_fds(const char *name) {
  struct perf_event_attr attr;
  uvperf_error_t error;
  int rc = uvperf_attr_parse_sized(&attr, sizeof(attr), name, &error);

  return rc == -EMFILE && error.cause == UVPERF_CAUSE_FILES &&
         error.column == 1 && strstr(error.reason, "cannot read") != NULL;
}

/* Without an fd, and with one for the directory, in a child because of the
 * limit. All events would seem to be missing. */
static int parse_without_fds(void *arg) {
  if (support_limit_fds(0) == 0)
    return 1;
  if (!is_for_want_of_fds("mem-loads"))
    return 2;
  if (!is_for_want_of_fds("cpu/mem-loads/"))
    return 3;
  return 0;
}

static int parse_with_one_fd(void *arg) {
  return support_limit_fds(1) == 0 || !is_for_want_of_fds("mem-loads");
}

static void pmu_events_without_fds_are_emfile(void **state) {
  assert_int_equal(support_wait(support_fork(parse_without_fds, NULL)), 0);
  assert_int_equal(support_wait(support_fork(parse_with_one_fd, NULL)), 0);
}

static void pmu_of_this_machine_counts_the_time_stamp(void **state) {
  struct perf_event_attr attr, again;
  uvperf_error_t error;

  if (uvperf_attr_parse(&attr, "msr/tsc/", &error) != 0)
    support_skip(__func__, "PMU msr with its event tsc");
  assert_true(attr.type >= PERF_TYPE_MAX);
  assert_int_equal(uvperf_attr_parse(&again, "tsc", NULL), 0);
  assert_memory_equal(&attr, &again, sizeof(attr));
}

#define WITH_PMUS(f)                                                           \
  cmocka_unit_test_setup_teardown(f, check_parse_pmus_setup, make_host_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      WITH_PMUS(pmu_events_are_known_in_any_case),
      WITH_PMUS(pmu_generic_events_are_near_misses_if_it_has_them),
      WITH_PMUS(pmu_terms_go_where_format_says),
      WITH_PMUS(pmu_events_stand_for_terms),
      WITH_PMUS(pmu_events_are_known_without_their_pmu),
      WITH_PMUS(pmu_has_generic_events_if_it_is_of_cpus),
      WITH_PMUS(pmu_says_how_precise_its_events_are),
      WITH_PMUS(pmu_errors_point_at_the_term),
      WITH_PMUS(pmu_of_a_number_may_be_named_without_it),
      WITH_PMUS(pmu_events_have_scale_and_unit),
      WITH_PMUS(pmu_events_without_fds_are_emfile),
      cmocka_unit_test(pmu_of_this_machine_counts_the_time_stamp),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
