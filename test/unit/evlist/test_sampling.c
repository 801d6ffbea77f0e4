/* SPDX-License-Identifier: MIT */
/* Events by name in a set with records, on a made-up machine: how often each
 * samples and with which fields. The rule is what perf record does with the
 * same name; nothing is opened. */
#include "evlist_make.h"
#include "host_tree.h"

#include <errno.h>

#include "name/list.h"
#include "evlist/attrs.h"

#define DEFAULT                                                                \
  (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |     \
   PERF_SAMPLE_PERIOD)

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static evlist_make_t make;
static struct perf_event_attr sample;

static int setup(void **state) {
  static const struct {
    const char *path;
    const char *text;
  } files[] = {
      {"/sys/bus/event_source/devices/uprobe/type", "9\n"},
      {"/sys/bus/event_source/devices/kprobe/type", "8\n"},
      {"/sys/bus/event_source/devices/other/type", "20\n"},
      {"/sys/bus/event_source/devices/other/format/event", "config:0-7\n"},
      {"/sys/kernel/tracing/events/sched/sched_switch/id", "314\n"},
      {"/proc/sys/kernel/perf_event_max_sample_rate", "100000\n"},
  };
  size_t i;

  if (host_tree_setup(state) != 0)
    return -1;
  for (i = 0; i < COUNT_OF(files); i++)
    host_tree_write(files[i].path, files[i].text);
  return evlist_make_setup(NULL);
}

/* A list of names, and options of it with records. */
static void plan(const char *names) {
  uvperf_event_list_t *list;
  uvperf_error_t error;

  if (uvperf__event_list_parse(&list, names, &error) != 0)
    fail_msg("%s: %s", names, error.reason);
  evlist_make(&make, 0);
  make.options.events = list;
  make.options.flags = UVPERF_SET_RECORDS;
  uvperf_attr_init(&sample, 0, 0);
  make.options.sample = &sample;
}

/* The evlist, which hold the list. */
static uvperf__evlist_t *made(void) {
  uvperf__evlist_t *evlist = evlist_open(&make);

  uvperf_event_list_free((uvperf_event_list_t *)(uintptr_t)make.options.events);
  return evlist;
}

typedef struct sampled_s {
  const char *names;
  size_t index; /* of the one that is looked at */
  uint64_t asked_period;
  uint64_t asked_freq;
  uint64_t asked_fields;
  uint64_t period; /* or Hz; 0: it only counts */
  int freq;
  uint64_t fields;
} sampled_t;

static void check(const sampled_t *want) {
  const struct perf_event_attr *attr;
  uvperf__evlist_t *evlist;

  plan(want->names);
  if (want->asked_freq != 0)
    uvperf_attr_set_frequency(&sample, want->asked_freq);
  else
    uvperf_attr_set_period(&sample, want->asked_period);
  sample.sample_type = want->asked_fields;
  evlist = made();
  attr = uvperf__evlist_item(evlist, want->index)->attr;
  if (attr->sample_period != want->period || attr->freq != want->freq ||
      attr->sample_type != (want->fields | PERF_SAMPLE_IDENTIFIER))
    fail_msg("%s: period %llu, freq %u, sample_type 0x%llx", want->names,
             (unsigned long long)attr->sample_period, attr->freq,
             (unsigned long long)attr->sample_type);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

static void names_are_sampled_as_perf_record_does(void **state) {
  static const uint64_t raw = DEFAULT | PERF_SAMPLE_RAW;
  static const uint64_t ip = PERF_SAMPLE_IP;
  const sampled_t cases[] = {
      /* each hit */
      {"sched:sched_switch", 0, 0, 0, 0, 1, 0, raw},
      {"bpf-output", 0, 0, 0, 0, 1, 0, raw},
      {"mem:0x1000:w", 0, 0, 0, 0, 1, 0, DEFAULT},
      {"uprobe/path=/x,offset=1/", 0, 0, 0, 0, 1, 0, DEFAULT},
      {"kprobe/addr=0xffffffff81000000/", 0, 0, 0, 0, 1, 0, DEFAULT},
      /* others, 4000 times a second */
      {"cycles", 0, 0, 0, 0, 4000, 1, DEFAULT},
      {"cpu-clock", 0, 0, 0, 0, 4000, 1, DEFAULT},
      {"page-faults", 0, 0, 0, 0, 4000, 1, DEFAULT},
      {"other/event=1/", 0, 0, 0, 0, 4000, 1, DEFAULT},
      /* what a name says, stays */
      {"cpu-clock/period=5000/", 0, 0, 0, 0, 5000, 0, DEFAULT},
      {"sched:sched_switch/period=3/", 0, 7, 0, 0, 3, 0, raw},
      {"cpu-clock/freq=99,call-graph=fp/", 0, 7, 0, 0, 99, 1,
       DEFAULT | PERF_SAMPLE_CALLCHAIN},
      /* ... also that it counts only */
      {"cpu-clock/period=0/", 0, 7, 0, 0, 0, 0, 0},
      {"cpu-clock/freq=0/", 0, 0, 0, 0, 0, 1, 0},
      {"sched:sched_switch/period=0/", 0, 0, 0, ip, 0, 0, 0},
      {"dummy", 0, 7, 0, ip, 0, 0, 0},
      /* groups: each member, but with S the leader for all */
      {"{cpu-clock,page-faults}", 1, 0, 0, 0, 4000, 1, DEFAULT},
      {"{cpu-clock,page-faults}:S", 0, 0, 0, 0, 4000, 1,
       DEFAULT | PERF_SAMPLE_READ},
      {"{cpu-clock,page-faults}:S", 1, 0, 0, 0, 0, 0, 0},
      {"{cpu-clock,page-faults/period=2/}:S", 1, 0, 0, 0, 2, 0, DEFAULT},
      /* what the options say */
      {"sched:sched_switch", 0, 7, 0, 0, 7, 0, raw},
      {"sched:sched_switch", 0, 0, 50, 0, 50, 1, raw},
      {"cpu-clock", 0, 7, 0, 0, 7, 0, DEFAULT},
      {"sched:sched_switch", 0, 0, 0, ip, 1, 0, ip},
      {"cpu-clock/call-graph=fp/", 0, 0, 0, ip, 4000, 1,
       ip | PERF_SAMPLE_CALLCHAIN},
  };
  size_t i;

  (void)state;
  for (i = 0; i < COUNT_OF(cases); i++)
    check(&cases[i]);
}

static void default_frequency_is_what_the_kernel_allows(void **state) {
  const sampled_t allowed = {"cpu-clock", 0, 0, 0, 0, 1500, 1, DEFAULT};
  const sampled_t asked = {"cpu-clock", 0, 0, 4000, 0, 4000, 1, DEFAULT};

  (void)state;
  host_tree_write("/proc/sys/kernel/perf_event_max_sample_rate", "1500\n");
  check(&allowed);
  /* A number that was asked for is the kernel's to refuse. */
  check(&asked);
}

static void set_without_records_leaves_names_alone(void **state) {
  const struct perf_event_attr *attr;
  uvperf__evlist_t *evlist;

  (void)state;
  plan("cpu-clock,sched:sched_switch");
  make.options.flags = 0;
  make.options.sample = NULL;
  evlist = made();
  attr = uvperf__evlist_item(evlist, 1)->attr;
  assert_int_equal(attr->sample_period, 0);
  assert_int_equal(attr->sample_type, 0);
  uvperf__evlist_free(evlist);
}

static void masks_are_added_and_numbers_are_defaults(void **state) {
  const struct perf_event_attr *attr;
  uvperf__evlist_t *evlist;

  (void)state;
  plan("cycles,cpu-clock/call-graph=dwarf,stack-size=1024/,"
       "cycles/call-graph=fp,max-stack=5/,cycles/period=0/");
  sample.sample_type = PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER |
                       PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_STACK_USER |
                       PERF_SAMPLE_CALLCHAIN;
  sample.branch_sample_type = PERF_SAMPLE_BRANCH_USER;
  sample.sample_regs_user = UINT64_C(1) << 40;
  sample.sample_regs_intr = 3;
  sample.sample_stack_user = 4096;
  sample.sample_max_stack = 9;
  evlist = made();
  attr = uvperf__evlist_item(evlist, 0)->attr;
  assert_int_equal(attr->branch_sample_type, PERF_SAMPLE_BRANCH_USER);
  assert_int_equal(attr->sample_regs_user, UINT64_C(1) << 40);
  assert_int_equal(attr->sample_regs_intr, 3);
  assert_int_equal(attr->sample_stack_user, 4096);
  assert_int_equal(attr->sample_max_stack, 9);
  attr = uvperf__evlist_item(evlist, 1)->attr;
  assert_true(attr->sample_regs_user > UINT64_C(1) << 40);
  assert_int_equal(attr->sample_stack_user, 1024);
  assert_int_equal(uvperf__evlist_item(evlist, 2)->attr->sample_max_stack, 5);
  attr = uvperf__evlist_item(evlist, 3)->attr;
  assert_int_equal(attr->branch_sample_type, 0);
  assert_int_equal(attr->sample_type, PERF_SAMPLE_IDENTIFIER);
  uvperf__evlist_free(evlist);
}

/* The size of the template is the caller's sizeof, of an older or a newer
 * header. */
static void template_is_read_up_to_its_size(void **state) {
  (void)state;
  union {
    struct perf_event_attr attr;
    char bytes[sizeof(struct perf_event_attr) + 8];
  } newer;
  const struct perf_event_attr *attr;
  uvperf__evlist_t *evlist;

  plan("cpu-clock");
  sample.size = PERF_ATTR_SIZE_VER0;
  sample.sample_stack_user = 4096; /* is behind that size */
  evlist = made();
  attr = uvperf__evlist_item(evlist, 0)->attr;
  assert_int_equal(attr->sample_stack_user, 0);
  uvperf__evlist_free(evlist);

  plan("cpu-clock");
  memset(&newer, 0, sizeof(newer));
  newer.attr.size = sizeof(newer);
  newer.attr.sample_type = PERF_SAMPLE_IP;
  make.options.sample = &newer.attr;
  assert_int_equal(uvperf__evlist_check_sampling(&make.options, NULL), 0);
  newer.bytes[sizeof(newer) - 1] = 1;
  assert_int_equal(uvperf__evlist_check_sampling(&make.options, NULL), -EINVAL);
  uvperf_event_list_free((uvperf_event_list_t *)(uintptr_t)make.options.events);
}

/* The list has attrs too. */
static void attrs_of_a_list_are_sampled_as_they_are(void **state) {
  struct perf_event_attr attr;
  uvperf__evlist_t *evlist;
  const uvperf_event_item_t *item;
  uvperf_event_list_t *list;

  (void)state;
  plan("cpu-clock");
  list = (uvperf_event_list_t *)(uintptr_t)make.options.events;
  uvperf_attr_software(&attr, PERF_COUNT_SW_PAGE_FAULTS);
  assert_int_equal(uvperf_event_list_add(&list, &attr, "counts", -1, NULL), 1);
  uvperf_attr_set_period(&attr, 7);
  attr.sample_type = PERF_SAMPLE_ADDR;
  attr.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
  assert_int_equal(uvperf_event_list_add(&list, &attr, "samples", 0, NULL), 2);
  sample.sample_type = PERF_SAMPLE_IP;
  evlist = made();
  item = uvperf__evlist_item(evlist, 0);
  assert_int_equal(item->attr->sample_type,
                   PERF_SAMPLE_IP | PERF_SAMPLE_IDENTIFIER);
  item = uvperf__evlist_item(evlist, 1);
  assert_string_equal(item->label, "counts");
  assert_int_equal(item->attr->sample_period, 0);
  item = uvperf__evlist_item(evlist, 2);
  assert_int_equal(item->leader, 0);
  assert_int_equal(item->group, 0);
  assert_int_equal(item->attr->sample_period, 7);
  assert_int_equal(item->attr->sample_type,
                   PERF_SAMPLE_ADDR | PERF_SAMPLE_IDENTIFIER);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

/* What has no effect is refused, by its name. */
static void options_without_effect_are_refused(void **state) {
  (void)state;
#define ATTR(...)                                                              \
  { .size = sizeof(sample), __VA_ARGS__ }
  static const struct {
    uint32_t flags;
    struct perf_event_attr sample;
    const char *reason;
  } cases[] = {
      {0, ATTR(.sample_type = 1), "options.sample needs UVPERF_SET_RECORDS"},
      {UVPERF_SET_RECORDS, {.sample_type = 1}, "is 0; use sizeof"},
      {UVPERF_SET_RECORDS, {.size = 8}, "is 8; use sizeof"},
      {UVPERF_SET_RECORDS, {.size = 1 << 20}, "is 1048576; use sizeof"},
      {UVPERF_SET_RECORDS, ATTR(.config = 1), "has a field that does not"},
      {UVPERF_SET_RECORDS, ATTR(.mmap = 1), "has a field that does not"},
      {UVPERF_SET_RECORDS, ATTR(.branch_sample_type = 1),
       "branch_sample_type has no effect; set PERF_SAMPLE_BRANCH_STACK"},
      {UVPERF_SET_RECORDS, ATTR(.sample_regs_user = 1),
       "set PERF_SAMPLE_REGS_USER"},
      {UVPERF_SET_RECORDS, ATTR(.sample_regs_intr = 1),
       "set PERF_SAMPLE_REGS_INTR"},
      {UVPERF_SET_RECORDS, ATTR(.sample_stack_user = 8),
       "set PERF_SAMPLE_STACK_USER"},
      {UVPERF_SET_RECORDS, ATTR(.sample_max_stack = 8),
       "set PERF_SAMPLE_CALLCHAIN"},
  };
#undef ATTR
  uvperf_event_list_t *list;
  uvperf_error_t error;
  size_t i;

  plan("cpu-clock");
  list = (uvperf_event_list_t *)(uintptr_t)make.options.events;
  for (i = 0; i < COUNT_OF(cases); i++) {
    make.options.sample = &cases[i].sample;
    make.options.flags = cases[i].flags;
    assert_int_equal(
        uvperf__evlist_new(&(uvperf__evlist_t *){NULL}, &make.options, &error),
        -EINVAL);
    assert_int_equal(error.cause, UVPERF_CAUSE_ARGUMENT);
    if (strstr(error.reason, cases[i].reason) == NULL)
      fail_msg("%zu: %s", i, error.reason);
  }
  uvperf_event_list_free(list);
  /* Attrs have these fields themselves. */
  evlist_make(&make, 1);
  make.options.flags = UVPERF_SET_RECORDS;
  make.options.sample = &sample;
  evlist_refused(&make, &error, -EINVAL, UVPERF_CAUSE_ARGUMENT);
  assert_non_null(strstr(error.reason, "is for names"));
}

#define test(f) cmocka_unit_test_setup_teardown(f, setup, host_tree_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      test(names_are_sampled_as_perf_record_does),
      test(default_frequency_is_what_the_kernel_allows),
      test(set_without_records_leaves_names_alone),
      test(masks_are_added_and_numbers_are_defaults),
      test(template_is_read_up_to_its_size),
      test(attrs_of_a_list_are_sampled_as_they_are),
      test(options_without_effect_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
