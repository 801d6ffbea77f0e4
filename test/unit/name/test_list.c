/* SPDX-License-Identifier: MIT */
/* Lists of events: groups and their modifiers, labels, errors. The forms are
 * those of perf(1)'s tools/perf/tests/parse-events.c, and more. */
#include "fake_kernel.h"
#include "check_parse.h"
#include "make_host.h"

#include "name/list.h"

#define ARG  UVPERF_CAUSE_ARGUMENT
#define NONE UVPERF_CAUSE_NO_EVENT

#define HW(event)   .type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_##event
#define SW(event)   .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_##event
#define ONLY_USER   .exclude_kernel = 1, .exclude_hv = 1
#define ONLY_KERNEL .exclude_user = 1, .exclude_hv = 1

/* One event of a list. */
typedef struct wanted_s {
  const char *label;
  struct perf_event_attr attr;
  int group;
  size_t leader;
} wanted_t;

/* Parses, and checks that the list has exactly these events. */
static void check(const char *names, const wanted_t *wanted, size_t nr) {
  uvperf_event_list_t *list = check_parse_list(names);
  size_t i;

  assert_int_equal(uvperf_event_list_count(list), nr);
  assert_null(uvperf_event_list_get(list, nr));
  for (i = 0; i < nr; i++) {
    const uvperf_event_item_t *item = uvperf_event_list_get(list, i);
    struct perf_event_attr attr = wanted[i].attr;

    attr.size = sizeof(attr);
    assert_string_equal(item->label, wanted[i].label);
    assert_memory_equal(item->attr, &attr, sizeof(attr));
    assert_int_equal(item->group, wanted[i].group);
    assert_int_equal(item->leader, wanted[i].leader);
  }
  uvperf_event_list_free(list);
}

static void list_has_its_events_in_order(void **state) {
  static const wanted_t wanted[] = {
      {"r1", {.type = PERF_TYPE_RAW, .config = 1}, -1, 0},
      {"cycles:k", {HW(CPU_CYCLES), ONLY_KERNEL}, -1, 1},
      {"1:1:hp",
       {SW(TASK_CLOCK), .exclude_user = 1, .exclude_kernel = 1,
        .precise_ip = 1},
       -1,
       2},
      {"mem:0/1:w",
       {.type = PERF_TYPE_BREAKPOINT, .bp_type = 2, .bp_len = 1},
       -1,
       3},
      {"type=9,config=1,config1=2:u",
       {.type = 9, .config = 1, .config1 = 2, ONLY_USER},
       -1,
       4},
      {"type=8,config=1", {.type = 8, .config = 1}, -1, 5},
      {"cs", {SW(CONTEXT_SWITCHES)}, -1, 6},
  };
  static const char *const texts[] = {
      "r1,cycles:k,1:1:hp,mem:0/1:w,type=9,config=1,config1=2:u,"
      "type=8,config=1,cs",
      " r1 , cycles:k ,\n1:1:hp\n,\tmem:0/1:w , "
      "type=9,config=1,config1=2:u\r\n, type=8,config=1, cs ",
  };
  size_t i;

  for (i = 0; i < COUNT_OF(texts); i++)
    check(texts[i], wanted, COUNT_OF(wanted));
}

static void list_groups_its_events(void **state) {
  static const wanted_t first[] = {
      {"instructions:k", {HW(INSTRUCTIONS), ONLY_KERNEL}, 0, 0},
      {"cycles:upp", {HW(CPU_CYCLES), ONLY_USER, .precise_ip = 2}, 0, 0},
  };
  static const wanted_t second[] = {
      {"faults:k", {SW(PAGE_FAULTS), .exclude_hv = 1}, 0, 0},
      {"cache-references", {HW(CACHE_REFERENCES), ONLY_USER}, 0, 0},
      {"cycles:k", {HW(CPU_CYCLES), ONLY_KERNEL}, -1, 2},
  };
  static const wanted_t third[] = {
      {"cs:H", {SW(CONTEXT_SWITCHES), .exclude_guest = 1}, 0, 0},
      {"cycles:kppp", {HW(CPU_CYCLES), ONLY_KERNEL, .precise_ip = 3}, 0, 0},
      {"cycles", {HW(CPU_CYCLES), .exclude_host = 1}, 1, 2},
      {"1:3", {SW(CONTEXT_SWITCHES), .exclude_host = 1}, 1, 2},
      {"instructions:u", {HW(INSTRUCTIONS), ONLY_USER}, -1, 4},
  };
  static const wanted_t fourth[] = {
      {"cycles:u", {HW(CPU_CYCLES), ONLY_USER, .precise_ip = 1}, 0, 0},
      {"instructions:kp",
       {HW(INSTRUCTIONS), ONLY_KERNEL, .precise_ip = 2},
       0,
       0},
  };
  static const wanted_t fifth[] = {
      {"cycles", {HW(CPU_CYCLES), .exclude_host = 1}, 0, 0},
      {"instructions", {HW(INSTRUCTIONS), .exclude_host = 1}, 0, 0},
      {"cycles:G", {HW(CPU_CYCLES), .exclude_host = 1}, 1, 2},
      {"instructions:G", {HW(INSTRUCTIONS), .exclude_host = 1}, 1, 2},
      {"cycles", {HW(CPU_CYCLES)}, -1, 4},
  };

  check("{instructions:k,cycles:upp}", first, COUNT_OF(first));
  check("{faults:k,cache-references}:u,cycles:k", second, COUNT_OF(second));
  check("group1{cs:H,cycles:kppp},group2{cycles,1:3}:G,instructions:u", third,
        COUNT_OF(third));
  check("{cycles:u,instructions:kp}:p", fourth, COUNT_OF(fourth));
  check(" { cycles:u , instructions:kp\n}:p ", fourth, COUNT_OF(fourth));
  check("{cycles,instructions}:G,{cycles:G,instructions:G},cycles", fifth,
        COUNT_OF(fifth));
}

static void list_groups_of_hosts_and_guests_add_up(void **state) {
  static const struct {
    const char *names;
    wanted_t wanted[2];
  } groups[] = {
      {"{cycles,cache-misses:G}:H",
       {{"cycles", {HW(CPU_CYCLES), .exclude_guest = 1}, 0, 0},
        {"cache-misses:G", {HW(CACHE_MISSES)}, 0, 0}}},
      {"{cycles,cache-misses:H}:G",
       {{"cycles", {HW(CPU_CYCLES), .exclude_host = 1}, 0, 0},
        {"cache-misses:H", {HW(CACHE_MISSES)}, 0, 0}}},
      {"{cycles:G,cache-misses:H}:u",
       {{"cycles:G", {HW(CPU_CYCLES), .exclude_host = 1, ONLY_USER}, 0, 0},
        {"cache-misses:H",
         {HW(CACHE_MISSES), .exclude_guest = 1, ONLY_USER},
         0,
         0}}},
      {"{cycles:G,cache-misses:H}:uG",
       {{"cycles:G", {HW(CPU_CYCLES), .exclude_host = 1, ONLY_USER}, 0, 0},
        {"cache-misses:H", {HW(CACHE_MISSES), ONLY_USER}, 0, 0}}},
  };
  size_t i;

  for (i = 0; i < COUNT_OF(groups); i++)
    check(groups[i].names, groups[i].wanted, 2);
}

static void list_leader_samples_for_its_group(void **state) {
  static const wanted_t three[] = {
      {"cycles",
       {HW(CPU_CYCLES), .sample_type = PERF_SAMPLE_READ,
        .read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID},
       0,
       0},
      {"cache-misses", {HW(CACHE_MISSES)}, 0, 0},
      {"branch-misses/period=7/",
       {HW(BRANCH_MISSES), .sample_period = 7},
       0,
       0},
  };
  static const wanted_t user[] = {
      {"instructions/freq=99/",
       {HW(INSTRUCTIONS), .sample_type = PERF_SAMPLE_READ, .freq = 1,
        .sample_freq = 99, .read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID,
        ONLY_USER},
       0,
       0},
      {"branch-misses", {HW(BRANCH_MISSES), ONLY_USER}, 0, 0},
  };
  static const wanted_t own[] = {
      {"cycles:S",
       {HW(CPU_CYCLES), .sample_type = PERF_SAMPLE_READ,
        .read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID},
       0,
       0},
      {"cs", {SW(CONTEXT_SWITCHES)}, 0, 0},
      {"cs:S", {SW(CONTEXT_SWITCHES), .sample_type = PERF_SAMPLE_READ}, -1, 2},
  };

  check("{cycles,cache-misses,branch-misses/period=7/}:S", three,
        COUNT_OF(three));
  check("{instructions/freq=99/,branch-misses}:Su", user, COUNT_OF(user));
  check("{cycles:S,cs},cs:S", own, COUNT_OF(own));
}

static void list_leader_alone_is_pinned_and_exclusive(void **state) {
  static const wanted_t pinned[] = {
      {"cycles", {HW(CPU_CYCLES), .pinned = 1}, 0, 0},
      {"cache-misses", {HW(CACHE_MISSES)}, 0, 0},
      {"branch-misses", {HW(BRANCH_MISSES)}, 0, 0},
  };
  static const wanted_t exclusive[] = {
      {"cycles", {HW(CPU_CYCLES), .exclusive = 1}, 0, 0},
      {"cache-misses", {HW(CACHE_MISSES)}, 0, 0},
      {"branch-misses", {HW(BRANCH_MISSES)}, 0, 0},
  };

  check("{cycles,cache-misses,branch-misses}:D", pinned, 3);
  check("{cycles,cache-misses,branch-misses}:e", exclusive, 3);
}

static void list_returns_flags_and_names_of_groups(void **state) {
  uvperf_event_list_t *list =
      check_parse_list("task-clock:P,cycles,g{cs,cycles:p}:WP,{cs}");
  const struct {
    uint32_t flags;
    uint32_t precise;
    const char *group_name;
  } wanted[] = {
      {UVPERF_ITEM_PRECISE_MAX, 3, ""},
      {0, 0, ""},
      {UVPERF_ITEM_PRECISE_MAX | UVPERF_ITEM_WEAK, 3, "g"},
      {UVPERF_ITEM_PRECISE_MAX | UVPERF_ITEM_WEAK, 3, "g"},
      {0, 0, ""},
  };
  size_t i;

  assert_int_equal(uvperf_event_list_count(list), COUNT_OF(wanted));
  for (i = 0; i < COUNT_OF(wanted); i++) {
    const uvperf_event_item_t *item = uvperf_event_list_get(list, i);

    assert_int_equal(item->flags, wanted[i].flags);
    assert_int_equal(item->attr->precise_ip, wanted[i].precise);
    assert_string_equal(item->group_name, wanted[i].group_name);
    assert_null(item->cpus);
    assert_int_equal(item->nr_cpus, 0);
    assert_true(item->scale == 1);
    assert_string_equal(item->unit, strstr(item->label, "clock") ? "ns" : "");
  }
  uvperf_event_list_free(list);
}

static void list_events_may_have_names_of_their_own(void **state) {
  static const wanted_t wanted[] = {
      {"insn", {HW(INSTRUCTIONS)}, -1, 0},
      {"rawpmu", {.type = PERF_TYPE_RAW, .config = 0x1234}, -1, 1},
      {"numpmu", {.type = 4, .config = 0x6530160}, -1, 2},
      {"cachepmu", {.type = PERF_TYPE_HW_CACHE, .config = 0x10000}, -1, 3},
      {"COMPLEX_CYCLES_NAME:orig=cycles,desc=chip-clock-ticks",
       {HW(CPU_CYCLES), .pinned = 1, .exclude_hv = 1},
       -1,
       4},
      {"a / b'c", {SW(CONTEXT_SWITCHES)}, -1, 5},
  };

  check("instructions/name=insn/,r1234/name=rawpmu/,"
        "4:0x6530160/name=numpmu/,L1-dcache-misses/name=cachepmu/,"
        "cycles/name='COMPLEX_CYCLES_NAME:orig=cycles,desc=chip-clock-ticks'"
        "/Duk,cs/name=\"a / b'c\"/",
        wanted, COUNT_OF(wanted));
}

static void list_errors_name_event_and_column(void **state) {
  static const struct {
    name_bad_t bad;
    uint32_t event;
  } cases[] = {
      {{"", -EINVAL, ARG, 1, "name of an event is missing"}, 0},
      {{" \n", -EINVAL, ARG, 3, "name of an event is missing"}, 0},
      {{",", -EINVAL, ARG, 1, "name of an event is missing"}, 0},
      {{"cs,", -EINVAL, ARG, 4, "name of an event is missing"}, 1},
      {{"cs,,cs", -EINVAL, ARG, 4, "name of an event is missing"}, 1},
      {{"cs cs", -EINVAL, ARG, 4, "',' is missing before 'cs'"}, 1},
      {{"cs}", -EINVAL, ARG, 3, "',' is missing before '}'"}, 1},
      {{"{}", -EINVAL, ARG, 1, "the group is empty"}, 0},
      {{"cs,{ },cs", -EINVAL, ARG, 4, "the group is empty"}, 1},
      {{"{cs", -EINVAL, ARG, 1, "write '}' after it"}, 1},
      {{"{cs,", -EINVAL, ARG, 5, "name of an event is missing"}, 1},
      {{"{cs,}", -EINVAL, ARG, 5, "name of an event is missing"}, 1},
      {{"{cs,{cs}}", -EINVAL, ARG, 5, "cannot be in another group"}, 1},
      {{"{cs,a{cs}}", -EINVAL, ARG, 6, "cannot be in another group"}, 1},
      {{"{cs};cs", -EINVAL, ARG, 5, "',' is missing before ';cs'"}, 1},
      {{"{cs}:", -EINVAL, ARG, 6, "modifiers are missing"}, 1},
      {{"{cs}:z", -EINVAL, ARG, 6, "no modifier 'z'"}, 1},
      {{"{cs}:uu", -EINVAL, ARG, 7, "'u' appears twice"}, 1},
      {{"cs:W", -EINVAL, ARG, 4, "for groups"}, 0},
      {{"{cs:pp,cycles}:pp", -EINVAL, ARG, 16, "more than three 'p'"}, 0},
      {{"{cs,cycles:D}", -EINVAL, ARG, 5, "'cycles:D' is not the leader"}, 0},
      {{"{cs,cycles:e}", -EINVAL, ARG, 5, "'cycles:e' is not the leader"}, 0},
      {{"cs,cycels,cs", -ENOENT, NONE, 4, "did you mean 'cycles'?"}, 1},
      {{"{cs,cs},{cs,cycles:uz}", -EINVAL, ARG, 21, "no modifier 'z'"}, 3},
      {{"cs,cycles/period=x/", -EINVAL, ARG, 18, "'x' is not a number"}, 1},
      {{"type=1,config=0,confg=1", -ENOENT, NONE, 17, "mean 'config'?"}, 0},
      {{"cs,period=1", -EINVAL, ARG, 10, "'period=' is not an event"}, 1},
  };
  size_t i;

  for (i = 0; i < COUNT_OF(cases); i++) {
    const name_bad_t *bad = &cases[i].bad;
    uvperf_event_list_t *list = (uvperf_event_list_t *)&i;
    uvperf_error_t error;
    int rc = uvperf_event_list_parse(&list, bad->name, &error);

    assert_null(list);
    if (rc != bad->code || error.code != rc || error.cause != bad->cause ||
        error.column != bad->column || error.attr_index != cases[i].event ||
        strstr(error.reason, bad->text) == NULL)
      fail_msg("%s returns %d: event %u, column %u: %s", bad->name, rc,
               error.attr_index, error.column, error.reason);
    assert_int_equal(uvperf_event_list_parse(&list, bad->name, NULL), rc);
  }
}

static void list_attrs_are_no_larger_than_need_be(void **state) {
  uvperf_event_list_t *list =
      check_parse_list("cs,cs/config3=5/,cs/config4=6/");
  const struct perf_event_attr *attr = uvperf_event_list_get(list, 1)->attr;
  uint64_t value;

  assert_int_equal(uvperf_event_list_get(list, 0)->attr->size,
                   sizeof(struct perf_event_attr));
  assert_true(attr->size >= 136);
  assert_int_equal(uvperf_attr_get(attr, UVPERF_ATTR_CONFIG3, &value), 0);
  assert_int_equal(value, 5);
  attr = uvperf_event_list_get(list, 2)->attr;
  assert_true(attr->size >= 144);
  assert_int_equal(uvperf_attr_get(attr, UVPERF_ATTR_CONFIG4, &value), 0);
  assert_int_equal(value, 6);
  uvperf_event_list_free(list);
}

static void list_of_too_many_events_is_an_error(void **state) {
  size_t nr = UVPERF__EVENT_LIST_MOST + 1;
  char *names = malloc(3 * nr);
  uvperf_event_list_t *list;
  uvperf_error_t error;
  size_t i;

  assert_non_null(names);
  for (i = 0; i < nr; i++)
    memcpy(names + 3 * i, "cs,", 3);
  names[3 * nr - 1] = '\0';
  assert_int_equal(uvperf_event_list_parse(&list, names, &error), -E2BIG);
  assert_null(list);
  assert_int_equal(error.limit, UVPERF__EVENT_LIST_MOST);
  assert_int_equal(error.attr_index, UVPERF__EVENT_LIST_MOST);
  assert_int_equal(error.column, 3 * (nr - 1) + 1);
  names[3 * (nr - 1) - 1] = '\0';
  assert_int_equal(uvperf_event_list_parse(&list, names, &error), 0);
  assert_int_equal(uvperf_event_list_count(list), UVPERF__EVENT_LIST_MOST);
  uvperf_event_list_free(list);
  free(names);
}

static void list_without_memory_is_an_error_and_leaks_nothing(void **state) {
  uvperf_event_list_t *list = NULL;
  uvperf_error_t error;
  unsigned nth;

  for (nth = 1; list == NULL; nth++) {
    int rc;

    fake_kernel_reset();
    fake_fail(FAKE_CALLOC, nth, -ENOMEM);
    rc = uvperf_event_list_parse(
        &list, "cs/name=x/,g{uncore_imc/cas_read/,cs,cs,cs}:S,cs,cs,cs,cs",
        &error);
    if (rc == 0)
      break;
    assert_int_equal(rc, -ENOMEM);
    assert_int_equal(error.cause, UVPERF_CAUSE_MEMORY);
    assert_in_range(error.column, 1, 64);
    assert_int_equal(fake_live_allocations(), 0);
  }
  assert_true(nth > 20);
  uvperf_event_list_free(list);
  assert_int_equal(fake_live_allocations(), 0);
  fake_kernel_reset();
}

static void list_of_bad_arguments_is_an_error(void **state) {
  uvperf_event_list_t *list = (uvperf_event_list_t *)&state;
  uvperf_error_t error;

  assert_int_equal(uvperf_event_list_parse(&list, NULL, &error), -EINVAL);
  assert_int_equal(error.cause, UVPERF_CAUSE_ARGUMENT);
  assert_null(list);
  assert_int_equal(uvperf_event_list_parse(NULL, "cs", NULL), -EINVAL);
  uvperf_event_list_free(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(list_has_its_events_in_order),
      cmocka_unit_test(list_groups_its_events),
      cmocka_unit_test(list_groups_of_hosts_and_guests_add_up),
      cmocka_unit_test(list_leader_samples_for_its_group),
      cmocka_unit_test(list_leader_alone_is_pinned_and_exclusive),
      cmocka_unit_test(list_returns_flags_and_names_of_groups),
      cmocka_unit_test(list_events_may_have_names_of_their_own),
      cmocka_unit_test(list_errors_name_event_and_column),
      cmocka_unit_test(list_attrs_are_no_larger_than_need_be),
      cmocka_unit_test(list_of_too_many_events_is_an_error),
      cmocka_unit_test(list_of_bad_arguments_is_an_error),
      cmocka_unit_test_setup_teardown(
          list_without_memory_is_an_error_and_leaks_nothing,
          check_parse_pmus_setup, make_host_teardown),
  };

  return cmocka_run_group_tests(tests, fake_host_empty, fake_host_real);
}
