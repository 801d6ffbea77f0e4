/* SPDX-License-Identifier: MIT */
/* Scripted: into which rings events write, in which order they are opened, and
 * what fails. */
#include "scripted_evlist.h"

#include <unistd.h>

#include "util/file.h"

static const scripted_row_t rows[] = {
    /* For each CPU: an event, the owner of the ring, the other event. */
    {"events_of_a_cpu_write_into_its_ring",
     "records 2; cpus 0-1; "
     "open -> open e0@0 e1@me:0, mmap e1, SET_OUTPUT e0 e1, open e2@0, "
     "SET_OUTPUT e2 e1, open e3@1 e4@me:1, mmap e4, SET_OUTPUT e3 e4, "
     "open e5@1, SET_OUTPUT e5 e4\n"
     "rings -> cpu0 e1 of 2, cpu1 e4 of 2\n"
     "nr -> 4\n"
     "close -> close e0 e2 e3 e5, munmap e4, close e4, munmap e1, close e1\n"},
    {"sources_say_what_their_events_are",
     "records 2; cpus 2; open; "
     "add thread me 2 -> open e3@me:2, SET_OUTPUT e3 e1, open e4@me:2, "
     "SET_OUTPUT e4 e1\n"
     "sources e0 e1 e2 e3 e4 "
     "-> a0 t0 cpu2 #0, -, a1 t0 cpu2 #0, a0 t1 me cpu2 #1, a1 t1 me cpu2 "
     "#1\n"},
    /* Its count is in the samples of the group. */
    {"event_that_only_counts_is_known_and_not_redirected",
     "records 2; group 0 2; attr 0 sample_type=18; attr 1 sample_period=0; "
     "cpus 0; open -> open e0@0 e1@me:0, mmap e1, SET_OUTPUT e0 e1, "
     "open e2@0<e0\n"
     "rings -> cpu0 e1 of 1\n"
     "sources e2 -> a1 t0 cpu0 #0\n"
     "clock 1; remove 0; free_sources; sources e2 -> a1 t0 cpu0 #0\n"
     "clock 100000001; free_sources; sources e2 -> -\n"},
    /* A callback that removes the target may have asked for the source
     * before. */
    {"counts_alone_open_no_ring",
     "records 1; attr 0 sample_period=0; cpus 0; open -> open e0@0\n"
     "rings ->\n"
     "clock 1; remove 0; sources e0 -> a0 t0 cpu0 #0\n"
     "clock 100000001; free_sources; sources e0 -> -\n"},
    /* Attr 1 is a dummy, and so is the side-band, attr 2. */
    {"dummies_begin_before_the_others_and_end_after",
     "records 2; attr 1 config=9 comm=1; side_band mmap; cpus 0-1; "
     "open -> open e0@0 e1@me:0, mmap e1, SET_OUTPUT e0 e1, open e2@0, "
     "SET_OUTPUT e2 e1, open e3@0, SET_OUTPUT e3 e1, open e4@1 e5@me:1, "
     "mmap e5, SET_OUTPUT e4 e5, open e6@1, SET_OUTPUT e6 e5, open e7@1, "
     "SET_OUTPUT e7 e5\n"
     "events config comm mmap "
     "-> e0 9 1 0, e1 9 0 0, e2 9 0 1, e3 0 0 0, e4 9 1 0, e5 9 0 0, e6 9 0 1, "
     "e7 0 0 0\n"
     "enable -> ENABLE e0 e2 e4 e6 e3 e7\n"
     "disable -> DISABLE e3 e7 e0 e2 e4 e6\n"},
    {"dummy_in_a_group_comes_with_its_leader",
     "records 3; group 0 2; attr 1 config=9; attr 2 config=9; cpus 0; "
     "open -> open e0@0 e1@me:0, mmap e1, SET_OUTPUT e0 e1, open e2@0, "
     "SET_OUTPUT e2 e1, open e3@0<e2, SET_OUTPUT e3 e1\n"
     "events config -> e0 9, e1 9, e2 0, e3 9\n"},
    /* Also if the events that are enabled later are named first. */
    {"failure_of_enabling_is_the_first",
     "records 1; side_band mmap; cpus 0; open; fail ioctl 2 EIO; "
     "enable -> ENABLE e0 e2 EIO, EIO unknown a0 t0\n"
     "fail ioctl 1 EBUSY; fail ioctl 2 EIO; "
     "enable -> ENABLE e0 EBUSY, ENABLE e2 EIO, EBUSY unknown a1 t0\n"
     "fail ioctl 1 EIO; fail ioctl 2 EBUSY; "
     "disable -> DISABLE e2 EIO, DISABLE e0 EBUSY, EIO unknown a0 t0\n"},
    /* For one attr on two CPUs: open, open (owner), open, open (owner). */
    {"set_without_the_fd_of_a_ring_is_none",
     "records 1; cpus 0-1; fail open 2 EMFILE; "
     "open -> open e0@0 @me:0 EMFILE, close e0, EMFILE files a0 t0\n"},
    {"set_without_the_fd_of_a_later_ring_is_none",
     "records 1; cpus 0-1; fail open 4 EMFILE; "
     "open -> open e0@0 e1@me:0, mmap e1, SET_OUTPUT e0 e1, "
     "open e2@1 @me:1 EMFILE, close e2, DISABLE e0, close e0, munmap e1, "
     "close e1, EMFILE files a0 t0\n"},
    {"set_without_the_file_of_a_ring_is_none",
     "records 1; cpus 0-1; fail open 4 ENFILE; "
     "open -> open e0@0 e1@me:0, mmap e1, SET_OUTPUT e0 e1, "
     "open e2@1 @me:1 ENFILE, close e2, DISABLE e0, close e0, munmap e1, "
     "close e1, ENFILE files a0 t0\n"},
    {"set_without_memory_for_a_ring_is_none",
     "records 1; cpus 0-1; fail open 2 ENOMEM; "
     "open -> open e0@0 @me:0 ENOMEM, close e0, ENOMEM memory a0 t0\n"},
    {"set_without_perf_events_is_none",
     "records 1; cpus 0-1; fail open 2 ENOSYS; "
     "open -> open e0@0 @me:0 ENOSYS, close e0, ENOSYS no_perf a0 t0\n"},
    {"set_without_locked_memory_for_a_ring_is_none",
     "records 1; cpus 0-1; fail mmap 1 EAGAIN; "
     "open -> open e0@0 e1@me:0, mmap e1 EAGAIN, close e1 e0, "
     "EAGAIN locked_memory a0 t0\n"},
    {"set_without_locked_memory_for_a_later_ring_is_none",
     "records 1; cpus 0-1; fail mmap 2 EAGAIN; "
     "open -> open e0@0 e1@me:0, mmap e1, SET_OUTPUT e0 e1, open e2@1 e3@me:1, "
     "mmap e3 EAGAIN, close e3 e2, DISABLE e0, close e0, munmap e1, close e1, "
     "EAGAIN locked_memory a0 t0\n"},
    {"set_without_memory_for_a_later_ring_is_none",
     "records 1; cpus 0-1; fail mmap 2 ENOMEM; "
     "open -> open e0@0 e1@me:0, mmap e1, SET_OUTPUT e0 e1, open e2@1 e3@me:1, "
     "mmap e3 ENOMEM, close e3 e2, DISABLE e0, close e0, munmap e1, close e1, "
     "ENOMEM memory a0 t0\n"},
    {"set_that_may_not_map_a_ring_is_none",
     "records 1; cpus 0-1; fail mmap 2 EACCES; "
     "open -> open e0@0 e1@me:0, mmap e1, SET_OUTPUT e0 e1, open e2@1 e3@me:1, "
     "mmap e3 EACCES, close e3 e2, DISABLE e0, close e0, munmap e1, close e1, "
     "EACCES permission a0 t0\n"},
    /* CPU 0 has a ring already. */
    {"number_of_fds_for_new_rings_is_reported",
     "records 1; cpus 0; open; fail open 1 EMFILE; "
     "add cpus 0-1 -> open @0 EMFILE, EMFILE files a0 t1\n"
     "says 'cannot open 2 events and 1 rings'\n"},
    {"event_that_is_not_redirected_is_a_failure",
     "records 2; cpus 0; fail ioctl 1 EINVAL; "
     "open -> open e0@0 e1@me:0, mmap e1, SET_OUTPUT e0 e1 EINVAL, close e0, "
     "open e2@0, SET_OUTPUT e2 e1\n"
     "failures -> a0 t0 cpu0 EINVAL unknown\n"
     "sources e0 e2 -> -, a1 t0 cpu0 #0\n"
     "rings -> cpu0 e1 of 1\n"},
    /* No ring is requested there. */
    {"cpu_that_is_offline_is_a_failure",
     "records 1; cpus 0-1; fail open 3 ENODEV; "
     "open -> open e0@0 e1@me:0, mmap e1, SET_OUTPUT e0 e1, open @1 ENODEV\n"
     "failures -> a0 t0 cpu1 ENODEV no_event\n"
     "rings -> cpu0 e1 of 1\n"},
    /* Of its three CPUs the first has a ring, and the last gets none. The
     * event that has written into the ring that stays is remembered. */
    {"target_that_fails_leaves_no_ring",
     "records 1; cpus 0; open; fail mmap 2 EAGAIN; "
     "add cpus 0-2 -> open e2@0, SET_OUTPUT e2 e1, open e3@1 e4@me:1, mmap e4, "
     "SET_OUTPUT e3 e4, open e5@2 e6@me:2, mmap e6 EAGAIN, close e6 e5, "
     "DISABLE e2 e3, close e2 e3, munmap e4, close e4, "
     "EAGAIN locked_memory a0 t1\n"
     "rings -> cpu0 e1 of 1\n"
     "sources e2 e3 -> a0 t1 cpu0 #1, -\n"},
    {"records_without_memory_are_enomem",
     "each calloc ENOMEM; records 2; side_band tasks; cpus 0-1; open; "
     "add cpus 1-2\n"},
};

static void number_of_fds_for_the_rings_is_reported(void **state) {
  uint64_t needed = uvperf__fds_needed(6);
  fake_event_t *events[6];
  evlist_make_t make;
  uvperf_error_t error;

  counters_script(events, 6);
  evlist_make_records(&make, 2);
  evlist_add_cpus(&make, "0-1");
  fake_fail(FAKE_OPEN, 6, -EMFILE);
  evlist_refused(&make, &error, -EMFILE, UVPERF_CAUSE_FILES);
  assert_int_equal(error.needed, needed);
  assert_non_null(strstr(error.reason, "cannot open 4 events and 2 rings"));
}

static void number_of_fds_for_a_ring_of_tasks_is_reported(void **state) {
  fake_event_t *events[6];
  uint64_t needed;
  evlist_make_t make;
  uvperf_error_t error;
  size_t i;

  counters_script(events, 6);
  evlist_make_records(&make, 1);
  for (i = 0; i < 2; i++) {
    evlist_add_thread(&make, i == 0 ? getpid() : getppid());
    make.targets[i].cpus = "0-1";
  }
  needed = uvperf__fds_needed(7); /* one to check the tasks in /proc */
  fake_fail(FAKE_OPEN, 6, -EMFILE);
  evlist_refused(&make, &error, -EMFILE, UVPERF_CAUSE_FILES);
  assert_int_equal(error.needed, needed);
  assert_non_null(strstr(error.reason, "cannot open 4 events and 2 rings"));
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(number_of_fds_for_the_rings_is_reported,
                             evlist_make_setup),
      cmocka_unit_test_setup(number_of_fds_for_a_ring_of_tasks_is_reported,
                             evlist_make_setup),
  };

  return SCRIPTED_ROWS_AND_TESTS(&scripted_evlist, rows, tests);
}
