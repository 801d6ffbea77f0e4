/* SPDX-License-Identifier: MIT */
/* One ring for each CPU: its owner, its size and when it wakes; scripted. */
#include "make_cpu_rings.h"
#include "ring/cpu_rings.h"
#include "scripted_kernel.h"
#include "sys/sys.h"

/* -- the words of the rows ------------------------------------------------- */

static struct {
  uvperf__cpu_rings_options_t options;
  uvperf__cpu_rings_t *rings;
  int event; /* an fd that is joined, or -1 */
} run;

/* From the defaults. */
static void do_options(const step_t *step) {
  uvperf__cpu_rings_options_t *options = &run.options;
  uint64_t value;
  size_t i;

  *options = cpu_rings_defaults;
  for (i = 1; i < step->nr; i++) {
    value = step_split_value(step->words[i]);
    if (step_is(step, i, "ring_bytes"))
      options->ring_bytes = (size_t)value;
    else if (step_is(step, i, "wakeup_bytes"))
      options->wakeup_bytes = (uint32_t)value;
    else if (step_is(step, i, "above_bytes"))
      options->above_bytes = (size_t)value;
    else if (step_is(step, i, "clockid"))
      options->clockid = (int32_t)value;
    else
      options->overwrite = value != 0;
  }
}

static void do_check(const step_t *step) {
  row_returned(uvperf__cpu_rings_check(&run.options, &row_result.error));
}

static void do_fit(const step_t *step) {
  say("%d", uvperf__cpu_rings_fit(&run.options));
}

/* The ring of a CPU; the first "get" makes the rings. */
static void do_get(const step_t *step) {
  size_t fds = support_count_fds();
  uvperf__cpu_ring_t *ring = NULL;
  int rc = 0;

  if (run.rings == NULL)
    rc = uvperf__cpu_rings_new(&run.rings, &run.options);
  if (rc == 0)
    rc = uvperf__cpu_rings_get(run.rings, (int)step_value(step, 1), &ring,
                               &row_result.error);
  row_returned(rc);
  if (rc != 0)
    assert_int_equal(support_count_fds(), fds);
  else
    assert_ptr_equal(
        ring, uvperf__cpu_rings_find(run.rings, (int)step_value(step, 1)));
}

static void do_list(const step_t *step) {
  const uvperf__cpu_ring_t *ring;
  size_t i;

  for (i = 0; i < uvperf__cpu_rings_nr(run.rings); i++) {
    ring = uvperf__cpu_rings_at(run.rings, i);
    assert_int_equal(ring->index, i);
    say_next();
    say("cpu%d e%zu of %zu, %zu KiB", ring->cpu, kernel_nr_of_fd(ring->fd),
        (size_t)ring->nr_events, ring->ring.size / 1024);
  }
}

static void do_cut(const step_t *step) {
  uvperf__cpu_rings_cut(run.rings, step_nth(step, 1));
}

static void do_free(const step_t *step) {
  uvperf__cpu_rings_free(run.rings);
  run.rings = NULL;
}

/* An event joins the first ring, or leaves it. */
static void do_join(const step_t *step) {
  struct perf_event_attr attr;

  if (step_is(step, 0, "leave")) {
    uvperf__cpu_ring_leave(uvperf__cpu_rings_at(run.rings, 0));
    return;
  }
  uvperf_attr_software(&attr, PERF_COUNT_SW_DUMMY);
  if (run.event < 0)
    run.event = uvperf__sys_open(&attr, 0, 0, -1, 0);
  row_returned(
      uvperf__cpu_ring_join(uvperf__cpu_rings_at(run.rings, 0), run.event));
}

static void do_spare(const step_t *step) {
  int fd = uvperf__cpu_rings_spare(run.rings, 0);

  row_returned(fd < 0 ? fd : 0);
  if (fd >= 0)
    say(", e%zu", kernel_nr_of_fd(fd));
}

static const scripted_verb_t verbs[] = {
    {"options", do_options}, {"check", do_check}, {"fit", do_fit},
    {"get", do_get},         {"list", do_list},   {"cut", do_cut},
    {"free", do_free},       {"join", do_join},   {"leave", do_join},
    {"spare", do_spare},     {NULL, NULL}};

static void begin(void) {
  memset(&run, 0, sizeof(run));
  run.options = cpu_rings_defaults;
  run.event = -1;
}

static int is_open(void) {
  return run.rings != NULL;
}

static void close_rings(void) {
  if (run.event >= 0)
    uvperf__sys_close(run.event);
  uvperf__cpu_rings_free(run.rings);
}

static void end(void) {
}

static const scripted_subject_t cpu_rings = {
    {verbs, NULL}, NULL, begin, NULL, is_open, close_rings, end};

/* -- rows ------------------------------------------------------------------ */

static const scripted_row_t rows[] = {
    {"check_of_sizes_that_cannot_be_is_einval",
     "check ->\n"
     "options wakeup_bytes=0x40000; check ->\n"
     "options wakeup_bytes=0x40001; check -> EINVAL argument\n"
     "options ring_bytes=1 wakeup_bytes=2048; check ->\n"
     "options ring_bytes=4096 wakeup_bytes=2049; check -> EINVAL argument\n"
     "options ring_bytes=0xffffffffffffffff wakeup_bytes=1; check -> EINVAL "
     "argument\n"
     "options ring_bytes=0x8000000080000001 wakeup_bytes=1; check -> EINVAL "
     "argument\n"},
    /* -- sizes ------------------------------------------------------------- */
    {"rings_fit_if_they_have_more_bytes_than_that",
     "fit -> 1\n"
     "options above_bytes=0x7ffff; fit -> 1\n"
     "options above_bytes=0x80000; fit -> 0\n"
     "options ring_bytes=1 above_bytes=4088; fit -> 1\n"
     "options ring_bytes=1 above_bytes=4096; fit -> 0\n"},
    /* Down to four pages. */
    {"ring_is_not_halved_to_what_must_fit",
     "options overwrite=1 above_bytes=8192; fail mmap 1+ EPERM; returns EPERM "
     "get 0; count mmap -> 6\n"},
    /* -- owners ------------------------------------------------------------ */
    {"ring_of_a_cpu_is_opened_once",
     "get 5 -> open e0@me:5, mmap e0\n"
     "get 0 -> open e1@me:0, mmap e1\n"
     "get 3 -> open e2@me:3, mmap e2\n"
     "get 5 ->\n"
     "get 0 ->\n"
     "list -> cpu5 e0 of 0, 512 KiB, cpu0 e1 of 0, 512 KiB, cpu3 e2 of 0, 512 "
     "KiB\n"},
    {"owner_is_a_dummy_of_the_first_thread",
     "options clockid=1; get 3 -> open e0@me:3, mmap e0\n"
     "events type config disabled exclude_kernel use_clockid clockid -> e0 1 9 "
     "1 1 1 1\n"},
    {"owner_of_a_process_without_first_thread_is_the_callers",
     "fail open 1 ESRCH; get 3 -> open @me:3 ESRCH, open e0@self:3, mmap e0\n"},
    {"owner_without_a_clock_has_the_kernels",
     "get 0; events use_clockid -> e0 0\n"},
    /* -- sizes and wakeups ------------------------------------------------- */
    {"ring_wakes_at_a_quarter_by_default",
     "get 0; events watermark wakeup_events -> e0 1 0x20000\n"
     "list -> cpu0 e0 of 0, 512 KiB\n"},
    {"ring_that_can_be_overwritten_does_not_wake",
     "options overwrite=1; get 0; events watermark wakeup_events -> e0 1 "
     "0x7fffffff\n"},
    {"ring_of_a_given_size_is_rounded_up",
     "options ring_bytes=12288 wakeup_bytes=1; get 0; events wakeup_events -> "
     "e0 1\n"
     "list -> cpu0 e0 of 0, 16 KiB\n"},
    {"ring_that_is_halved_wakes_at_its_own_quarter",
     "fail mmap 1-2 EPERM; get 0 -> open e0@me:0, mmap e0 EPERM, close e0, "
     "open e1@me:0, mmap e1 EPERM, close e1, open e2@me:0, mmap e2\n"
     "events wakeup_events -> e0 0x20000, e1 0x10000, e2 0x8000\n"
     "list -> cpu0 e2 of 0, 128 KiB\n"},
    {"ring_is_halved_down_to_one_page",
     "fail mmap 1+ EPERM; returns EPERM get 1; count mmap -> 8\n"},
    /* A smaller ring would not wake as requested. */
    {"ring_is_not_halved_below_twice_its_wakeup",
     "options wakeup_bytes=0x20000; fail mmap 1+ EPERM; get 1 -> open e0@me:1, "
     "mmap e0 EPERM, close e0, open e1@me:1, mmap e1 EPERM, close e1, EPERM "
     "locked_memory\n"},
    {"ring_of_a_given_size_is_not_made_smaller",
     "options ring_bytes=0x80000; fail mmap 1+ EPERM; get 1 -> open e0@me:1, "
     "mmap e0 EPERM, close e0, EPERM locked_memory\n"},
    /* -- failures ---------------------------------------------------------- */
    /* Another size does not help. */
    {"ring_whose_owner_cannot_be_opened_is_explained",
     "fail open 1 EMFILE; get 1 -> open @me:1 EMFILE, EMFILE files\n"
     "fail open 1 ENFILE; get 1 -> open @me:1 ENFILE, ENFILE files\n"
     "fail open 1 ENOMEM; get 1 -> open @me:1 ENOMEM, ENOMEM memory\n"
     "fail open 1 ENOSYS; get 1 -> open @me:1 ENOSYS, ENOSYS no_perf\n"
     "fail open 1 EPERM; get 1 -> open @me:1 EPERM, EPERM permission\n"},
    {"ring_that_cannot_be_mapped_is_explained",
     "fail mmap 1 ENOMEM; get 1 -> open e0@me:1, mmap e0 ENOMEM, close e0, "
     "ENOMEM memory\n"
     "list ->\n"},
    /* The room of 4 is used up by the fifth. */
    {"rings_without_memory_are_enomem",
     "each calloc ENOMEM; get 0; get 1; get 2; get 3; get 4\n"},
    /* -- the end ----------------------------------------------------------- */
    {"rings_are_unmapped_then_closed",
     "get 0; get 1; free -> munmap e1, close e1, munmap e0, close e0\n"},
    {"rings_of_a_call_that_failed_are_cut",
     "get 0; get 1; cut 1 -> munmap e1, close e1\n"
     "list -> cpu0 e0 of 0, 512 KiB\n"
     "get 0 ->\n"
     "get 1 -> open e2@me:1, mmap e2\n"
     "list -> cpu0 e0 of 0, 512 KiB, cpu1 e2 of 0, 512 KiB\n"},
    {"rings_in_a_forked_child_are_closed_only",
     "get 0; fork; free -> close e0\n"},
    /* -- events ------------------------------------------------------------ */
    {"join_redirects_into_the_owners_ring",
     "get 0; join -> open e1@self:0 flags 0, SET_OUTPUT e1 e0\n"
     "list -> cpu0 e0 of 1, 512 KiB\n"
     "fail ioctl 1 EINVAL; join -> SET_OUTPUT e1 e0 EINVAL, EINVAL\n"
     "list -> cpu0 e0 of 1, 512 KiB\n"
     "leave; list -> cpu0 e0 of 0, 512 KiB\n"},
    /* -- spares ------------------------------------------------------------ */
    /* The last but one may still be known to epoll. */
    {"spare_shares_the_ring_and_replaces_the_last_but_one",
     "options clockid=1; get 3; fail open 1 ESRCH; spare -> open @me:3 ESRCH, "
     "open e1@self:3, SET_OUTPUT e1 e0, e1\n"
     "fail open 1 ESRCH; spare -> open @me:3 ESRCH, open e2@self:3, SET_OUTPUT "
     "e2 e0, e2\n"
     "spare -> open e3@me:3, SET_OUTPUT e3 e0, close e1, e3\n"
     "events clockid -> e0 1, e1 1, e2 1, e3 1\n"
     "list -> cpu3 e0 of 0, 512 KiB\n"},
    {"spare_that_cannot_be_leaves_the_last",
     "get 0; spare; fail open 1 EMFILE; spare -> open @me:0 EMFILE, EMFILE\n"
     "fail ioctl 1 EINVAL; spare -> open e2@me:0, SET_OUTPUT e2 e0 EINVAL, "
     "close e2, EINVAL\n"
     "fork; spare -> EPERM\n"
     "unfork; free -> munmap e0, close e1 e0\n"},
};

int main(void) {
  return SCRIPTED_ROWS(&cpu_rings, rows);
}
