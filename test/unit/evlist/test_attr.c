/* SPDX-License-Identifier: MIT */
/* Scripted: which options are valid for records, and how they change attrs. */
#include "scripted_evlist.h"

static const scripted_row_t rows[] = {
    {"options_that_cannot_be_are_refused",
     "attrs 1; flags time_order; open -> EINVAL argument a0 t0\n"
     "says 'UVPERF_SET_TIME_ORDER needs UVPERF_SET_RECORDS'\n"
     "attrs 1; side_band tasks; open -> EINVAL argument a0 t0\n"
     "says 'options.side_band needs UVPERF_SET_RECORDS'\n"
     "attrs 1; wakeup_bytes 1; open -> EINVAL argument a0 t0\n"
     "says 'options.wakeup_bytes needs UVPERF_SET_RECORDS'\n"
     "attrs 1; ring_bytes 4096; open -> EINVAL argument a0 t0\n"
     "says 'options.ring_bytes needs UVPERF_SET_RECORDS'\n"
     "attrs 1; flags overwrite; open -> EINVAL argument a0 t0\n"
     "says 'UVPERF_SET_OVERWRITE needs UVPERF_SET_RECORDS'\n"
     "attrs 1; flags perf_clock; open -> EINVAL argument a0 t0\n"
     "says 'UVPERF_SET_PERF_CLOCK needs UVPERF_SET_RECORDS in options.flags'\n"
     "attrs 1; flags records; slack_us 1; open -> EINVAL argument a0 t0\n"
     "says 'options.slack_us needs UVPERF_SET_TIME_ORDER'\n"
     "attrs 1; flags records; side_band 0x80000000; "
     "open -> EINVAL argument a0 t0\n"
     "says 'options.side_band 0x80000000 has unknown bits'\n"
     "attrs 1; flags records; side_band 1024; open -> EINVAL argument a0 t0\n"
     "says 'options.side_band 0x400 has unknown bits'\n"
     "attrs 1; flags records; side_band build_id; "
     "open -> EINVAL argument a0 t0\n"
     "says 'UVPERF_SIDE_BAND_BUILD_ID needs UVPERF_SIDE_BAND_MMAP or'\n"
     "attrs 1; flags records; wakeup_bytes 0x40000000; "
     "open -> EINVAL argument a0 t0\n"
     "says 'options.wakeup_bytes 1073741824 is more than half of the ring'\n"
     "attrs 1; flags records; ring_bytes 0xffffffffffffffff; "
     "open -> EINVAL argument a0 t0\n"
     "says options.ring_bytes\n"
     "attrs 1; flags records overwrite; wakeup_bytes 1; "
     "open -> EINVAL argument a0 t0\n"
     "says 'options.wakeup_bytes must be 0 with UVPERF_SET_OVERWRITE'\n"
     "attrs 1; flags records overwrite time_order; slack_us 5; "
     "open -> EINVAL argument a0 t0\n"
     "says 'options.slack_us must be 0 with UVPERF_SET_OVERWRITE'\n"
     "attrs 1; flags 0x80000000; open -> EINVAL argument a0 t0\n"
     "says 'flags 0x80000000 has unknown bits'\n"},
    /* There is nothing to measure yet. */
    {"options_of_records_are_taken_together",
     "attrs 1; flags records time_order; side_band mmap build_id; "
     "ring_bytes 16384; wakeup_bytes 8192; slack_us 5; open ->\n"
     "rings ->\n"},
    {"evlist_without_records_has_no_rings",
     "attrs 1; attr 0 sample_period=1000 sample_type=1; cpus 0; "
     "open -> open e0@0\n"
     "rings ->\n"
     "free_sources ->\n"},
    {"backward_attr_without_overwritable_rings_is_refused",
     "attrs 2; flags records; attr 1 write_backward=1; "
     "open -> EINVAL argument a1 t0\n"
     "says 'attr 1 has write_backward'\n"},
    /* Without records nothing can be damaged. Attr 0 only counts. */
    {"attr_whose_samples_spoil_the_ring_is_refused",
     "attrs 2; flags records; attr 0 sample_type=8192; "
     "attr 1 sample_type=8192 sample_period=1000; "
     "open -> EINVAL argument a1 t0\n"
     "says 'attr 1 has sample_stack_user 0 with PERF_SAMPLE_STACK_USER'\n"
     "attrs 2; attr 1 sample_type=8192 sample_period=1000; open; close\n"
     "attrs 2; flags records; "
     "attr 1 sample_type=8192 sample_period=1000 sample_stack_user=8; open\n"},
    {"overwrite_term_of_a_name_needs_overwritable_rings",
     "names cpu-clock/period=1000,overwrite/; flags records; "
     "open -> EINVAL argument a0 t0\n"
     "says UVPERF_SET_OVERWRITE\n"},
    {"overwrite_term_of_a_name_makes_its_event_go_backward",
     "names cpu-clock/period=1000,overwrite/; flags records overwrite; open; "
     "fields 0 write_backward -> 1\n"},
    {"read_records_of_children_are_refused",
     "attrs 2; flags records; attr 1 inherit=1 inherit_stat=1; "
     "open -> EINVAL argument a1 t0\n"
     "says 'attr 1 has inherit_stat'\n"},
    /* The last one has no samples to be read in. */
    {"records_of_each_attr_can_be_matched",
     "attrs 3; flags records; "
     "attr 0 sample_type=0x11 sample_period=1000 wakeup_events=7; "
     "attr 1 comm=1; attr 2 sample_type=0x10; open\n"
     "nonzero 0 -> sample_id_all=1 use_clockid=1 type=1 config=1 "
     "sample_period=1000 sample_type=0x10011 read_format=23 wakeup_events=7 "
     "clockid=1\n"
     "nonzero 1 -> comm=1 sample_id_all=1 use_clockid=1 type=1 config=2 "
     "sample_type=0x10000 read_format=23 clockid=1\n"
     "nonzero 2 -> sample_id_all=1 use_clockid=1 type=1 config=9 "
     "sample_type=0x10000 read_format=23 clockid=1\n"},
    {"perf_clock_leaves_each_attr_its_own",
     "attrs 1; flags records perf_clock; "
     "attr 0 sample_type=5 sample_period=1000; open; "
     "fields 0 use_clockid -> 0\n"
     "close; attrs 1; flags records perf_clock time_order; "
     "open -> EINVAL argument a0 t0\n"
     "says 'leave UVPERF_SET_PERF_CLOCK out'\n"},
    /* The first version of an attr has no clock. The last one writes nothing,
     * but may be of a group with one that does. */
    {"time_order_adds_time_and_a_clock",
     "attrs 3; flags records time_order; side_band tasks; "
     "attr 0 sample_type=1 sample_period=1000; "
     "attr 1 size=64 sample_type=1 sample_period=1000; open\n"
     "fields 0 sample_type use_clockid clockid -> 0x10005 1 1\n"
     "fields 1 size use_clockid clockid -> 96 1 1\n"
     "fields 2 sample_type use_clockid clockid -> 0x10000 1 1\n"
     "fields 3 sample_type use_clockid clockid -> 0x10086 1 1\n"},
    /* Also if the user has chosen none. */
    {"clock_of_the_attrs_is_that_of_all",
     "attrs 3; flags records time_order; side_band tasks; "
     "attr 1 sample_type=1 sample_period=1000; "
     "attr 2 sample_type=1 sample_period=1000 use_clockid=1 clockid=7; open\n"
     "fields 1 clockid -> 7\n"
     "fields 3 clockid -> 7\n"},
    /* An event that writes nothing has no clock. */
    {"clocks_that_differ_are_refused",
     "attrs 3; flags records; "
     "attr 0 sample_type=1 sample_period=1000 use_clockid=1 clockid=7; "
     "attr 2 sample_type=1 sample_period=1000 use_clockid=1 clockid=1; "
     "open -> EINVAL argument a2 t0\n"
     "says 'attrs 0 and 2 share a ring but not a clock (clockid 7, "
     "clockid 1)'\n"
     "attrs 3; flags records perf_clock; "
     "attr 0 sample_type=1 sample_period=1000; "
     "attr 2 sample_type=1 sample_period=1000 use_clockid=1 clockid=1; "
     "open -> EINVAL argument a2 t0\n"
     "says 'not a clock (the kernel's own clock, clockid 1)'\n"
     "attrs 3; flags records perf_clock; attr 0 sample_type=1; "
     "attr 2 sample_type=1 sample_period=1000 use_clockid=1 clockid=1; open\n"},
    /* No wakeup is requested. Attr 3 only counts. */
    {"overwritable_rings_have_all_that_write_go_backward",
     "attrs 4; flags records overwrite; side_band tasks; "
     "attr 0 sample_type=1 sample_period=1000 wakeup_events=1; "
     "attr 1 size=64 sample_type=1 sample_period=1000; "
     "attr 2 comm=1 watermark=1 wakeup_events=4096 write_backward=1; open\n"
     "fields 0 write_backward wakeup_events -> 1 0\n"
     "fields 1 write_backward -> 1\n"
     "fields 2 write_backward watermark wakeup_events -> 1 0 0\n"
     "fields 3 write_backward -> 0\n"
     "fields 4 write_backward -> 1\n"},
    {"overwritable_rings_in_time_order_have_a_clock",
     "attrs 1; flags records overwrite time_order; "
     "attr 0 sample_type=1 sample_period=1000; open; "
     "fields 0 write_backward use_clockid clockid -> 1 1 1\n"},
    {"side_band_is_one_attr_more",
     "attrs 1; flags records; side_band 1; open; "
     "nonzero 1 -> exclude_kernel=1 exclude_hv=1 comm=1 task=1 sample_id_all=1 "
     "comm_exec=1 use_clockid=1 type=1 config=9 sample_type=0x10086 "
     "read_format=23 clockid=1\n"
     "item 1 -> dummy:u\n"
     "item 2 -> none\n"
     "close; attrs 1; flags records; side_band 2; open; "
     "nonzero 1 -> exclude_kernel=1 exclude_hv=1 mmap=1 sample_id_all=1 "
     "mmap2=1 comm_exec=1 use_clockid=1 type=1 config=9 sample_type=0x10086 "
     "read_format=23 clockid=1\n"
     "close; attrs 1; flags records; side_band 4; open; "
     "nonzero 1 -> exclude_kernel=1 exclude_hv=1 mmap_data=1 sample_id_all=1 "
     "mmap2=1 comm_exec=1 use_clockid=1 type=1 config=9 sample_type=0x10086 "
     "read_format=23 clockid=1\n"
     "close; attrs 1; flags records; side_band 8 mmap; open; "
     "nonzero 1 -> exclude_kernel=1 exclude_hv=1 mmap=1 sample_id_all=1 "
     "mmap2=1 comm_exec=1 use_clockid=1 build_id=1 type=1 config=9 "
     "sample_type=0x10086 read_format=23 clockid=1\n"
     "close; attrs 1; flags records; side_band 16; open; "
     "nonzero 1 -> exclude_kernel=1 exclude_hv=1 sample_id_all=1 comm_exec=1 "
     "use_clockid=1 context_switch=1 type=1 config=9 sample_type=0x10086 "
     "read_format=23 clockid=1\n"
     "close; attrs 1; flags records; side_band 32; open; "
     "nonzero 1 -> exclude_kernel=1 exclude_hv=1 sample_id_all=1 comm_exec=1 "
     "use_clockid=1 namespaces=1 type=1 config=9 sample_type=0x10086 "
     "read_format=23 clockid=1\n"
     "close; attrs 1; flags records; side_band 64; open; "
     "nonzero 1 -> exclude_kernel=1 exclude_hv=1 sample_id_all=1 comm_exec=1 "
     "use_clockid=1 ksymbol=1 type=1 config=9 sample_type=0x10086 "
     "read_format=23 clockid=1\n"
     "close; attrs 1; flags records; side_band 128; open; "
     "nonzero 1 -> exclude_kernel=1 exclude_hv=1 sample_id_all=1 comm_exec=1 "
     "use_clockid=1 bpf_event=1 type=1 config=9 sample_type=0x10086 "
     "read_format=23 clockid=1\n"
     "close; attrs 1; flags records; side_band 256; open; "
     "nonzero 1 -> exclude_kernel=1 exclude_hv=1 sample_id_all=1 comm_exec=1 "
     "use_clockid=1 cgroup=1 type=1 config=9 sample_type=0x10086 "
     "read_format=23 clockid=1\n"
     "close; attrs 1; flags records; side_band 512; open; "
     "nonzero 1 -> exclude_kernel=1 exclude_hv=1 sample_id_all=1 comm_exec=1 "
     "use_clockid=1 text_poke=1 type=1 config=9 sample_type=0x10086 "
     "read_format=23 clockid=1\n"},
    {"side_band_alone_needs_no_attrs",
     "attrs 0; flags records; open -> EINVAL argument a0 t0\n"
     "attrs 0; flags records; side_band tasks; open; fields 0 comm -> 1\n"
     "item 1 -> none\n"},
    {"side_band_comes_after_a_list",
     "names {task-clock,page-faults}:S; flags records; side_band mmap; open; "
     "item 0 -> task-clock ns group 0 leader 0\n"
     "item 1 -> page-faults group 0 leader 0\n"
     "item 2 -> dummy:u\n"
     "fields 2 mmap2 -> 1\n"
     "item 3 -> none\n"},
    /* The dummy is opened first, and then the ring's owner. */
    {"side_band_alone_is_not_enough_for_a_set",
     "attrs 1; flags records; side_band tasks; cpus 0; fail open 3 EACCES; "
     "open -> open e0@0 e1@me:0, mmap e1, SET_OUTPUT e0 e1, open @0 EACCES, "
     "DISABLE e0, close e0, munmap e1, close e1, EACCES permission a0 t0\n"
     "attrs 1; flags records; side_band tasks; open; fail open 3 EACCES; "
     "add cpus 0 -> open e2@0 e3@me:0, mmap e3, SET_OUTPUT e2 e3, "
     "open @0 EACCES, DISABLE e2, close e2, munmap e3, close e3, "
     "EACCES permission a0 t0\n"
     "nr -> 0\n"},
    /* It is opened first. */
    {"side_band_alone_does_not_join",
     "records 2; side_band tasks; cpus 0; open; fail open 3 ENODEV; "
     "elsewhere cpus 1 -> open e4@1 e5@1 @1 ENODEV, open e6@me:1, mmap e6, "
     "SET_OUTPUT e5 e6 e4 e6\n"
     "failures -> a1 t1 cpu1 ENODEV no_event\n"
     "fail open 2-3 ENODEV; "
     "elsewhere cpus 1 -> open e7@1 @1 ENODEV, open @1 ENODEV, close e7, "
     "ENODEV no_event a0 t2\n"
     "nr -> 5\n"},
};

static void records_of(evlist_make_t *make, size_t nr_attrs) {
  evlist_make(make, nr_attrs);
  make->options.flags = UVPERF_SET_RECORDS;
}

/* An attr that samples. */
static void sample(evlist_make_t *make, size_t attr, uint64_t sample_type) {
  make->attrs[attr].sample_period = 1000;
  make->attrs[attr].sample_type = sample_type;
}

/* The kernel writes a record that is larger than such a ring over its own
 * header. */
static void overwritable_rings_are_above_the_largest_stack(void **state) {
  uint32_t page = (uint32_t)support_page_bytes();
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  uvperf_error_t error;

  records_of(&make, 3);
  make.options.flags |= UVPERF_SET_OVERWRITE;
  make.options.ring_bytes = page;
  sample(&make, 0, PERF_SAMPLE_STACK_USER);
  make.attrs[0].sample_stack_user = 8;
  sample(&make, 1, PERF_SAMPLE_STACK_USER);
  make.attrs[1].sample_stack_user = page;
  /* An event that only counts has no samples. */
  make.attrs[2].sample_type = PERF_SAMPLE_STACK_USER;
  make.attrs[2].sample_stack_user = 2 * page;
  evlist_refused(&make, &error, -EINVAL, UVPERF_CAUSE_ARGUMENT);
  assert_int_equal(error.attr_index, 1);
  assert_non_null(strstr(error.reason, "sample_stack_user"));
  make.options.ring_bytes = page + 1;
  evlist = evlist_open(&make);
  uvperf__evlist_free(evlist);
  make.options.ring_bytes = page;
  make.options.flags &= ~UVPERF_SET_OVERWRITE;
  evlist = evlist_open(&make);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(overwritable_rings_are_above_the_largest_stack,
                             evlist_make_setup),
  };

  return SCRIPTED_ROWS_AND_TESTS(&scripted_evlist, rows, tests);
}
