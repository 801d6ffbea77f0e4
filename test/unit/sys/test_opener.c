/* SPDX-License-Identifier: MIT */
/* Scripted: with options.open the program opens each event of an event, a set
 * and a BPF reader, and the library never calls perf_event_open(2) itself. */
#include "scripted_evlist.h"
#include "scripted_handles.h"

#include "sys/opener.h"

static const scripted_row_t rows[] = {
    /* -- an event ---------------------------------------------------------- */
    {"event_is_opened_by_the_program",
     "attr cpu_clock; options program; init -> program, open e0@me\n"
     "events disabled -> e0 1\n"
     "cloexec h0 -> 1\n"
     "options program leader=h0 pid=44 cpu cpu=1; init -> program, open "
     "e1@44:1<e0\n"},
    {"event_is_opened_by_the_program_on_the_pool",
     "attr cpu_clock; options program later; init ->\n"
     "pool -> program, open e0@me, h0 opened 0\n"},
    /* -- refusals ---------------------------------------------------------- */
    {"refusal_is_explained_as_the_programs",
     "attr page_faults sample_type=0x2000 sample_stack_user=64 "
     "exclude_kernel=1; options program pid=44; opener 1 EACCES; init -> "
     "program fails, EACCES permission\n"
     "says options.open\n"
     "says page-faults\n"
     "opener 1 EPERM; init -> program fails, EPERM permission\n"
     "opener 1 ENOSYS; init -> program fails, ENOSYS permission\n"
     "opener 1 EMFILE; init -> program fails, EMFILE files\n"
     "says options.open\n"
     "opener 1 E2BIG; init -> program fails, E2BIG old_kernel\n"
     "opener 1 ESRCH; init -> program fails, ESRCH no_task\n"
     "opener 1 ECONNRESET; init -> program fails, ECONNRESET unknown\n"
     "says options.open\n"},
    /* A seccomp filter may forbid ioctl(2) to a process that gets its events
     * from another process. */
    {"ioctl_that_is_forbidden_does_not_blame_the_fd",
     "attr cpu_clock; options program; fail ioctl_ptr 1+ EPERM; init -> "
     "program, open e0@me, ID e0 EPERM, ID e0 EPERM, close e0, EPERM "
     "permission\n"},
    /* The number may be any fd of the program, so it stays as it is. */
    {"other_fd_than_a_perf_event_is_enotty",
     "attr page_faults sample_type=0x2000 sample_stack_user=64 "
     "exclude_kernel=1; options program pid=44; opener 1 file; init -> program "
     "fails, ENOTTY argument\n"
     "says options.open\n"
     "opener 1 closed; init -> program fails, ENOTTY argument\n"},
    {"number_that_is_no_errno_is_enotty",
     "attr page_faults sample_type=0x2000 sample_stack_user=64 "
     "exclude_kernel=1; options program pid=44; opener 1 -4096; init -> "
     "program fails, ENOTTY argument\n"
     "says options.open\n"
     "opener 1 -2147483648; init -> program fails, ENOTTY argument\n"
     "opener 1 -4095; init -> program fails, EOF unknown\n"},
    /* The first one still works. */
    {"event_of_another_handle_is_eexist",
     "attr cpu_clock sample_period=1000000; options program; init; opener 1 "
     "again; init -> program fails, EEXIST argument\n"
     "options program later; opener 1 again; init; pool -> program fails, h1 "
     "opened EEXIST argument\n"
     "enable h0 -> ENABLE e0\n"},
    /* One fallback helps; the one that asks the kernel is not tried. */
    {"fallbacks_are_tried_by_the_program",
     "version; attr page_faults; options program; fallbacks all; opener 1 "
     "EACCES; init -> program fails, program, open e0@me\n"
     "changes h0 -> exclude_kernel 0 to 1, exclude_hv 0 to 1\n"
     "opener 1 EINVAL; init -> program fails, EINVAL unknown\n"},
    /* -- a BPF reader ------------------------------------------------------ */
    /* The kernel is not asked what it knows. */
    {"reader_is_opened_by_the_program",
     "unknown_lost; map 8; online 0-1; reader program -> program, open e0@0, "
     "program, open e1@me:0, mmap e1, SET_OUTPUT e0 e1, program, open e2@1, "
     "program, open e3@me:1, mmap e3, SET_OUTPUT e2 e3\n"
     "start h0; run; comes 2 0-2; run -> program, open e4@2, program, open "
     "e5@me:2, mmap e5, SET_OUTPUT e4 e5, ENABLE e4, bpf update 2\n"
     "keys -> 0 1 2\n"},
    {"reader_that_is_refused_leaves_no_fd",
     "map 8; online 0-1; opener 1 EACCES; reader program -> program fails, "
     "EACCES permission\n"
     "says options.open\n"
     "opener 2 EACCES; returns EACCES reader program\n"
     "opener 3 EACCES; returns EACCES reader program\n"
     "opener 4 EACCES; reader program -> program, open e3@0, program, open "
     "e4@me:0, mmap e4, SET_OUTPUT e3 e4, program, open e5@1, program fails, "
     "close e5, DISABLE e3, munmap e4, close e4 e3, EACCES permission\n"},
    {"reader_that_gets_an_event_twice_is_eexist",
     "map 8; online 0-1; opener 2 again; reader program -> program, open e0@0, "
     "program fails, close e0, EEXIST argument\n"
     "opener 3 again; reader program -> program, open e1@0, program, open "
     "e2@me:0, mmap e2, SET_OUTPUT e1 e2, program fails, DISABLE e1, munmap "
     "e2, close e2 e1, EEXIST argument\n"
     "opener 4 again; reader program -> program, open e3@0, program, open "
     "e4@me:0, mmap e4, SET_OUTPUT e3 e4, program, open e5@1, program fails, "
     "close e5, DISABLE e3, munmap e4, close e4 e3, EEXIST argument\n"},
};

static const scripted_row_t set_rows[] = {
    /* The kernel must not be asked for it: two attrs and a ring's owner on two
     * CPUs. */
    {"set_is_opened_by_the_program",
     "unknown_lost; records 2; by_program; group 0 2; cpus 0-1; open -> "
     "program, open e0@0, program, open e1@me:0, mmap e1, SET_OUTPUT e0 e1, "
     "program, open e2@0<e0, SET_OUTPUT e2 e1, program, open e3@1, program, "
     "open e4@me:1, mmap e4, SET_OUTPUT e3 e4, program, open e5@1<e3, "
     "SET_OUTPUT e5 e4\n"
     "nr -> 4\n"
     "add self 1 -> program, open e6@me:1, SET_OUTPUT e6 e4, program, open "
     "e7@me:1<e6, SET_OUTPUT e7 e4\n"},
    {"set_and_target_are_opened_by_the_program_on_the_pool",
     "records 2; by_program; group 0 2; cpus 0-1; set pool; pool -> program, "
     "open e0@0, program, open e1@me:0, mmap e1, SET_OUTPUT e0 e1, program, "
     "open e2@0, SET_OUTPUT e2 e1, program, open e3@1, program, open e4@me:1, "
     "mmap e4, SET_OUTPUT e3 e4, program, open e5@1, SET_OUTPUT e5 e4, opened "
     "0\n"
     "task 1 1 5; later thread 1 1; pool -> program, open e6@1:1, program, "
     "open e7@1:1, SET_OUTPUT e6 e4 e7 e4, t1 added 0\n"},
    /* The set knows the target's newest event, and the next target the set's.
     * */
    {"target_that_gets_an_event_twice_lacks_it",
     "records 2; by_program; group 0 2; cpus 0-1; set pool; pool; opener 1 "
     "again; later self 1; pool -> program fails, program, open e6@me:1, "
     "SET_OUTPUT e6 e4, t1 added 0\n"
     "opener 1 again; add self 1 -> program fails, program, open e7@me:1, "
     "SET_OUTPUT e7 e4\n"
     "opener 1 again; later self 1; pool -> program fails, program, open "
     "e8@me:1, SET_OUTPUT e8 e4, t3 added 0\n"
     "failures -> a0 t1 me cpu1 EEXIST argument, a0 t2 me cpu1 EEXIST "
     "argument, a0 t3 me cpu1 EEXIST argument\n"},
    /* Each call in turn returns the event of the call before. */
    {"set_that_gets_an_event_twice_is_eexist",
     "records 2; by_program; group 0 2; cpus 0-1; flags strict; opener 2 "
     "again; open -> program, open e0@0, program fails, close e0, EEXIST "
     "argument a0 t0\n"
     "opener 3 again; returns EEXIST open\n"
     "opener 4 again; returns EEXIST open\n"
     "opener 5 again; returns EEXIST open\n"
     "opener 6 again; open -> program, open e10@0, program, open e11@me:0, "
     "mmap e11, SET_OUTPUT e10 e11, program, open e12@0<e10, SET_OUTPUT e12 "
     "e11, program, open e13@1, program, open e14@me:1, mmap e14, SET_OUTPUT "
     "e13 e14, program fails, DISABLE e10 e12 e13, close e10 e12 e13, munmap "
     "e14, close e14, munmap e11, close e11, EEXIST argument a1 t0\n"},
    /* It may be the opener that has no fds. */
    {"set_that_is_refused_leaves_no_fd",
     "records 2; by_program; group 0 2; cpus 0-1; opener 1 EMFILE; open -> "
     "program fails, EMFILE files a0 t0\n"
     "says options.open\n"
     "opener 2 EMFILE; returns EMFILE open\n"
     "opener 3 EMFILE; returns EMFILE open\n"
     "opener 4 EMFILE; returns EMFILE open\n"
     "opener 5 EMFILE; returns EMFILE open\n"
     "opener 6 EMFILE; open -> program, open e10@0, program, open e11@me:0, "
     "mmap e11, SET_OUTPUT e10 e11, program, open e12@0<e10, SET_OUTPUT e12 "
     "e11, program, open e13@1, program, open e14@me:1, mmap e14, SET_OUTPUT "
     "e13 e14, program fails, DISABLE e10 e12 e13, close e10 e12 e13, munmap "
     "e14, close e14, munmap e11, close e11, EMFILE files a1 t0\n"
     "says options.open\n"},
    /* The ring's owner stays. */
    {"cpu_that_comes_is_opened_by_the_program",
     "records 2; by_program; group 0 2; cpus all; open; gone 1; come 1 -> read "
     "e3, close e5 e3, program, open e9@1, SET_OUTPUT e9 e4, program, open "
     "e10@1<e9, SET_OUTPUT e10 e4\n"},
};

static int32_t noted;

static int note_pid(const struct perf_event_attr *attr, int32_t pid,
                    int32_t cpu, int group_fd, unsigned long flags, void *arg) {
  noted = pid;
  return -EACCES;
}

static void cgroup_0_is_no_thread(void **state) {
  uvperf__calls_t calls = {0};
  const uvperf__opener_t opener = {note_pid, NULL, &calls};
  struct perf_event_attr attr;

  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  assert_int_equal(uvperf__open(&opener, &attr, 0, 1, -1, PERF_FLAG_PID_CGROUP),
                   -EACCES);
  assert_int_equal(noted, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cgroup_0_is_no_thread),
  };
  int failed = SCRIPTED_ROWS(&scripted_handles, rows);

  return failed + SCRIPTED_ROWS_AND_TESTS(&scripted_evlist, set_rows, tests);
}
