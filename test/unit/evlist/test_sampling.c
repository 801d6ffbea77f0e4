/* SPDX-License-Identifier: MIT */
/* Events by name in a set with records, on a made-up machine: how often each
 * samples and with which fields. The rule is what perf record does with the
 * same name; nothing is opened. */
#include "scripted_evlist.h"

static const scripted_row_t rows[] = {
    {"names_of_hits_sample_each_hit",
     "file /sys/bus/event_source/devices/uprobe/type 9; "
     "file /sys/bus/event_source/devices/kprobe/type 8; "
     "file /sys/kernel/tracing/events/sched/sched_switch/id 314\n"
     "names "
     "sched:sched_switch,bpf-output,mem:0x1000:w,uprobe/path=/x,offset=1/,kprob"
     "e/addr=0xffffffff81000000/; flags records; open; "
     "fields 0 sample_period freq sample_type -> 1 0 0x10587\n"
     "fields 1 sample_period freq sample_type -> 1 0 0x10587\n"
     "fields 2 sample_period freq sample_type -> 1 0 0x10187\n"
     "fields 3 sample_period freq sample_type -> 1 0 0x10187\n"
     "fields 4 sample_period freq sample_type -> 1 0 0x10187\n"},
    {"other_names_sample_4000_times_a_second",
     "names cycles,cpu-clock,page-faults,uncore/event=1/; flags records; open; "
     "fields 0 sample_period freq sample_type -> 4000 1 0x10187\n"
     "fields 1 sample_period freq sample_type -> 4000 1 0x10187\n"
     "fields 2 sample_period freq sample_type -> 4000 1 0x10187\n"
     "fields 3 sample_period freq sample_type -> 4000 1 0x10187\n"},
    {"default_frequency_is_what_the_kernel_allows",
     "file /proc/sys/kernel/perf_event_max_sample_rate 1500; names cpu-clock; "
     "flags records; open; fields 0 sample_period freq -> 1500 1\n"},
    {"frequency_that_was_asked_for_is_the_kernels_to_refuse",
     "file /proc/sys/kernel/perf_event_max_sample_rate 1500; names cpu-clock; "
     "flags records; sample sample_period=4000 freq=1; open; "
     "fields 0 sample_period freq -> 4000 1\n"},
    {"what_a_name_says_stays",
     "file /sys/kernel/tracing/events/sched/sched_switch/id 314\n"
     "names "
     "cpu-clock/period=5000/,sched:sched_switch/period=3/,cpu-clock/freq=99,cal"
     "l-graph=fp/; flags records; sample sample_period=7 freq=1; open; "
     "fields 0 sample_period freq sample_type -> 5000 0 0x10187\n"
     "fields 1 sample_period freq sample_type -> 3 0 0x10587\n"
     "fields 2 sample_period freq sample_type -> 99 1 0x101a7\n"},
    {"name_that_counts_only_stays_so",
     "file /sys/kernel/tracing/events/sched/sched_switch/id 314\n"
     "names "
     "cpu-clock/period=0/,cpu-clock/freq=0/,sched:sched_switch/period=0/,dummy;"
     " flags records; sample sample_period=7 sample_type=1; open; "
     "fields 0 sample_period freq sample_type -> 0 0 0x10000\n"
     "fields 1 sample_period freq sample_type -> 0 1 0x10000\n"
     "fields 2 sample_period freq sample_type -> 0 0 0x10000\n"
     "fields 3 sample_period freq sample_type -> 0 0 0x10000\n"},
    {"each_member_of_a_group_samples",
     "names {cpu-clock,page-faults}; flags records; open; "
     "fields 1 sample_period freq sample_type -> 4000 1 0x10187\n"},
    {"leader_samples_for_all_with_S",
     "names {cpu-clock,page-faults,page-faults/period=2/}:S; flags records; "
     "open; fields 0 sample_period freq sample_type -> 4000 1 0x10197\n"
     "fields 1 sample_period freq sample_type -> 0 0 0x10000\n"
     "fields 2 sample_period freq sample_type -> 2 0 0x10187\n"},
    {"options_say_how_to_sample",
     "file /sys/kernel/tracing/events/sched/sched_switch/id 314; "
     "names sched:sched_switch,cpu-clock; flags records; "
     "sample sample_period=7; open; "
     "fields 0 sample_period freq sample_type -> 7 0 0x10587\n"
     "fields 1 sample_period freq sample_type -> 7 0 0x10187\n"},
    {"options_say_how_often_to_sample",
     "file /sys/kernel/tracing/events/sched/sched_switch/id 314; "
     "names sched:sched_switch; flags records; sample sample_period=50 freq=1; "
     "open; fields 0 sample_period freq sample_type -> 50 1 0x10587\n"},
    {"options_say_what_to_sample",
     "file /sys/kernel/tracing/events/sched/sched_switch/id 314; "
     "names sched:sched_switch,cpu-clock/call-graph=fp/; flags records; "
     "sample sample_type=1; open; "
     "fields 0 sample_period freq sample_type -> 1 0 0x10001\n"
     "fields 1 sample_period freq sample_type -> 4000 1 0x10021\n"},
    {"set_without_records_leaves_names_alone",
     "names cpu-clock,page-faults; open; "
     "fields 0 sample_period sample_type -> 0 0\n"
     "fields 1 sample_period sample_type -> 0 0\n"},
    {"masks_are_added_and_numbers_are_defaults",
     "names "
     "cycles,cpu-clock/call-graph=dwarf,stack-size=1024/,cycles/call-graph=fp,m"
     "ax-stack=5/,cycles/period=0/; flags records\n"
     "sample sample_type=0x47820 branch_sample_type=1 "
     "sample_regs_user=0x10000000000 sample_regs_intr=3 sample_stack_user=4096 "
     "sample_max_stack=9; open\n"
     "fields 0 branch_sample_type sample_regs_user sample_regs_intr "
     "sample_stack_user sample_max_stack -> 1 0x10000000000 3 4096 9\n"
     "fields 1 sample_stack_user -> 1024\n"
     "fields 2 sample_max_stack -> 5\n"
     "fields 3 branch_sample_type sample_type -> 0 0x10000\n"},
    {"options_without_effect_are_refused",
     "names cpu-clock; sample sample_type=1; open -> EINVAL argument a0 t0\n"
     "says 'options.sample needs UVPERF_SET_RECORDS'\n"
     "flags records; sample size=0 sample_type=1; "
     "open -> EINVAL argument a0 t0\n"
     "says 'is 0'\n"
     "sample size=8; open -> EINVAL argument a0 t0\n"
     "sample size=0x100000; open -> EINVAL argument a0 t0\n"
     "sample config=1; open -> EINVAL argument a0 t0\n"
     "says 'has a field that does not'\n"
     "sample mmap=1; open -> EINVAL argument a0 t0\n"
     "sample branch_sample_type=1; open -> EINVAL argument a0 t0\n"
     "says 'branch_sample_type has no effect'\n"
     "sample sample_regs_user=1; open -> EINVAL argument a0 t0\n"
     "says 'set PERF_SAMPLE_REGS_USER'\n"
     "sample sample_regs_intr=1; open -> EINVAL argument a0 t0\n"
     "says 'set PERF_SAMPLE_REGS_INTR'\n"
     "sample sample_stack_user=8; open -> EINVAL argument a0 t0\n"
     "says 'set PERF_SAMPLE_STACK_USER'\n"
     "sample sample_max_stack=8; open -> EINVAL argument a0 t0\n"
     "says 'set PERF_SAMPLE_CALLCHAIN'\n"},
};

static evlist_make_t make;
static struct perf_event_attr sample;

/* Names in a set with records. */
static void plan(void) {
  evlist_make(&make, 0);
  make.options.names = "cpu-clock";
  make.options.flags = UVPERF_SET_RECORDS;
  uvperf_attr_init(&sample, 0, 0);
  make.options.sample = &sample;
}

/* The size of the template is the caller's sizeof, of an older or a newer
 * header. */
static void template_is_read_up_to_its_size(void **state) {
  union {
    struct perf_event_attr attr;
    char bytes[sizeof(struct perf_event_attr) + 8];
  } newer;
  uvperf__evlist_t *evlist;
  uvperf_error_t error;

  plan();
  sample.size = PERF_ATTR_SIZE_VER0;
  sample.sample_stack_user = 4096; /* is behind that size */
  evlist = evlist_open(&make);
  assert_int_equal(uvperf__evlist_item(evlist, 0)->attr->sample_stack_user, 0);
  uvperf__evlist_free(evlist);
  memset(&newer, 0, sizeof(newer));
  newer.attr.size = sizeof(newer);
  newer.attr.sample_type = PERF_SAMPLE_IP;
  make.options.sample = &newer.attr;
  evlist = evlist_open(&make);
  uvperf__evlist_free(evlist);
  newer.bytes[sizeof(newer) - 1] = 1;
  evlist_refused(&make, &error, -EINVAL, UVPERF_CAUSE_ARGUMENT);
}

/* The list has attrs too. Attrs have these fields themselves. */
static void attrs_of_a_list_are_sampled_as_they_are(void **state) {
  struct perf_event_attr attr;
  uvperf__evlist_t *evlist;
  const uvperf_event_item_t *item;
  uvperf_event_list_t *list;
  uvperf_error_t error;

  plan();
  assert_int_equal(uvperf_event_list_parse(&list, "cpu-clock", NULL), 0);
  uvperf_attr_software(&attr, PERF_COUNT_SW_PAGE_FAULTS);
  assert_int_equal(uvperf_event_list_add(&list, &attr, "counts", -1, NULL), 1);
  uvperf_attr_set_period(&attr, 7);
  attr.sample_type = PERF_SAMPLE_ADDR;
  attr.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
  assert_int_equal(uvperf_event_list_add(&list, &attr, "samples", 0, NULL), 2);
  sample.sample_type = PERF_SAMPLE_IP;
  make.options.names = NULL;
  make.options.events = list;
  evlist = evlist_open(&make);
  assert_int_equal(uvperf__evlist_item(evlist, 0)->attr->sample_type,
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
  uvperf_event_list_free(list);
  evlist_make(&make, 1);
  make.options.flags = UVPERF_SET_RECORDS;
  make.options.sample = &sample;
  evlist_refused(&make, &error, -EINVAL, UVPERF_CAUSE_ARGUMENT);
  assert_non_null(strstr(error.reason, "is for names"));
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(template_is_read_up_to_its_size,
                             evlist_make_setup),
      cmocka_unit_test_setup(attrs_of_a_list_are_sampled_as_they_are,
                             evlist_make_setup),
  };

  return SCRIPTED_ROWS_AND_TESTS(&scripted_evlist, rows, tests);
}
