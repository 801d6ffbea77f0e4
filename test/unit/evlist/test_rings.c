/* SPDX-License-Identifier: MIT */
/* Scripted: into which rings events write, in which order they are opened, and
 * what fails. */
#include "evlist_make.h"
#include "fake_clock.h"
#include "util/file.h"

#include <errno.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define SOON_NS         (100 * UINT64_C(1000000))

/* -- opening -------------------------------------------------------------- */

static int joined[8]; /* fds of owners, in order */
static size_t nr_joined;

static int note_join(fake_event_t *fake, unsigned long request,
                     uintptr_t argument) {
  (void)fake;
  if (request == PERF_EVENT_IOC_SET_OUTPUT && nr_joined < COUNT_OF(joined))
    joined[nr_joined++] = (int)argument;
  return 0;
}

/* For each CPU: an event, the owner of the ring, the other event. */
static void events_of_a_cpu_write_into_its_ring(void **state) {
  uvperf__evlist_t *evlist;
  fake_event_t *events[6];
  evlist_make_t make;
  size_t i;

  (void)state;
  counters_script(events, 6);
  for (i = 0; i < 6; i++)
    events[i]->on_ioctl = note_join;
  nr_joined = 0;
  evlist_make_records(&make, 2);
  evlist_add_cpus(&make, "0-1");
  evlist = evlist_open(&make);
  assert_string_equal(fake_log(),
                      "open, ioctl ID, open, mmap, ioctl SET_OUTPUT, "
                      "open, ioctl ID, ioctl SET_OUTPUT, "
                      "open, ioctl ID, open, mmap, ioctl SET_OUTPUT, "
                      "open, ioctl ID, ioctl SET_OUTPUT");
  assert_int_equal(nr_joined, 4);
  for (i = 0; i < 2; i++) {
    assert_int_equal(evlist_ring(evlist, i)->cpu, i);
    assert_int_equal(evlist_ring(evlist, i)->fd, events[1 + 3 * i]->fd);
    assert_int_equal(evlist_ring(evlist, i)->nr_events, 2);
    assert_int_equal(joined[2 * i], events[1 + 3 * i]->fd);
    assert_int_equal(joined[2 * i + 1], events[1 + 3 * i]->fd);
  }
  assert_int_equal(uvperf__evlist_nr_open(evlist), 4);
  fake_log_clear();
  uvperf__evlist_free(evlist);
  assert_string_equal(fake_log(), "close, close, close, close, "
                                  "munmap, close, munmap, close");
  fake_assert_clean();
}

static void sources_say_what_their_events_are(void **state) {
  static const uvperf_target_t init = UVPERF_TARGET_INIT;
  uvperf__evlist_t *evlist;
  const uvperf_source_t *source;
  fake_event_t *events[5];
  evlist_make_t make;
  uvperf_target_t late = init;
  uint32_t index;

  (void)state;
  counters_script(events, 5);
  evlist_make_records(&make, 2);
  evlist_add_cpus(&make, "3");
  evlist = evlist_open(&make);
  late.type = UVPERF_TARGET_THREAD;
  late.pid = (int32_t)getpid();
  late.cpus = "3";
  late.data = &late;
  assert_int_equal(uvperf__evlist_add_target(evlist, &late, &index, NULL), 0);
  assert_null(evlist_source(evlist, 101)); /* the owner's */
  source = evlist_source(evlist, 102);
  assert_int_equal(source->attr_index, 1);
  assert_int_equal(source->target_index, 0);
  assert_int_equal(source->pid, -1);
  assert_int_equal(source->cpu, 3);
  assert_null(source->data);
  assert_int_equal(source->attr->sample_type,
                   PERF_SAMPLE_TID | PERF_SAMPLE_IDENTIFIER);
  source = evlist_source(evlist, 104);
  assert_int_equal(source->size, sizeof(*source));
  assert_int_equal(source->attr_index, 1);
  assert_int_equal(source->target_index, index);
  assert_int_equal(source->pid, getpid());
  assert_int_equal(source->serial, 1);
  assert_ptr_equal(source->data, &late);
  assert_int_equal(uvperf__evlist_fd(evlist, 1, source->serial), events[4]->fd);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

/* Its count is in the samples of the group. */
static void event_that_only_counts_is_known_and_not_redirected(void **state) {
  uvperf__evlist_t *evlist;
  fake_event_t *events[3];
  evlist_make_t make;

  (void)state;
  counters_script(events, 3);
  evlist_make_records(&make, 2);
  evlist_group(&make, 0, 2);
  make.attrs[0].sample_type |= PERF_SAMPLE_READ;
  make.attrs[1].sample_period = 0;
  evlist_add_cpus(&make, "0");
  evlist = evlist_open(&make);
  assert_string_equal(fake_log(),
                      "open, ioctl ID, open, mmap, ioctl SET_OUTPUT, "
                      "open, ioctl ID");
  assert_int_equal(evlist_ring(evlist, 0)->nr_events, 1);
  assert_int_equal(evlist_source(evlist, 102)->attr_index, 1);
  fake_clock_set_counters(1);
  assert_int_equal(uvperf__evlist_remove_target(evlist, 0, NULL, NULL), 0);
  uvperf__evlist_free_sources(evlist);
  assert_non_null(evlist_source(evlist, 102));
  fake_clock_set_counters(1 + SOON_NS);
  uvperf__evlist_free_sources(evlist);
  assert_null(evlist_source(evlist, 102));
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

/* A callback that removes the target may have asked for the source before. */
static void counts_alone_open_no_ring(void **state) {
  uvperf__evlist_t *evlist;
  fake_event_t *events[1];
  evlist_make_t make;

  (void)state;
  counters_script(events, 1);
  evlist_make_records(&make, 1);
  make.attrs[0].sample_period = 0;
  evlist_add_cpus(&make, "0");
  evlist = evlist_open(&make);
  assert_int_equal(uvperf__cpu_rings_nr(uvperf__evlist_rings(evlist)), 0);
  fake_clock_set_counters(1);
  assert_int_equal(uvperf__evlist_remove_target(evlist, 0, NULL, NULL), 0);
  assert_int_equal(evlist_source(evlist, 100)->attr_index, 0);
  fake_clock_set_counters(1 + SOON_NS);
  uvperf__evlist_free_sources(evlist);
  assert_null(evlist_source(evlist, 100));
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

/* -- order ---------------------------------------------------------------- */

static char switched[128]; /* ids, in order */

static int note_switch(fake_event_t *fake, unsigned long request,
                       uintptr_t argument) {
  size_t used = strlen(switched);

  (void)argument;
  if (request == PERF_EVENT_IOC_ENABLE || request == PERF_EVENT_IOC_DISABLE)
    snprintf(switched + used, sizeof(switched) - used, " %u",
             (unsigned)fake->id);
  return 0;
}

/* Attr 1 is a dummy, and so is the side-band, attr 2. */
static void dummies_begin_before_the_others_and_end_after(void **state) {
  uvperf__evlist_t *evlist;
  fake_event_t *events[8];
  evlist_make_t make;
  size_t i;

  (void)state;
  counters_script(events, 8);
  for (i = 0; i < 8; i++)
    events[i]->on_ioctl = note_switch;
  evlist_make_records(&make, 2);
  make.attrs[1].config = PERF_COUNT_SW_DUMMY;
  make.attrs[1].comm = 1;
  make.options.side_band = UVPERF_SIDE_BAND_MMAP;
  evlist_add_cpus(&make, "0-1");
  evlist = evlist_open(&make);
  for (i = 0; i < 8; i += 4) {
    assert_true(events[i]->attr.comm);     /* attr 1; 101 and 105 own rings */
    assert_true(events[i + 2]->attr.mmap); /* attr 2 */
    assert_int_equal(events[i + 3]->attr.config, PERF_COUNT_SW_CPU_CLOCK);
  }
  switched[0] = '\0';
  assert_int_equal(uvperf__evlist_enable(evlist, NULL), 0);
  assert_string_equal(switched, " 100 102 104 106 103 107");
  switched[0] = '\0';
  assert_int_equal(uvperf__evlist_disable(evlist, NULL), 0);
  assert_string_equal(switched, " 103 107 100 102 104 106");
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

static void dummy_in_a_group_comes_with_its_leader(void **state) {
  uvperf__evlist_t *evlist;
  fake_event_t *events[4];
  evlist_make_t make;

  (void)state;
  counters_script(events, 4);
  evlist_make_records(&make, 3);
  evlist_group(&make, 0, 2);
  make.attrs[1].config = PERF_COUNT_SW_DUMMY;
  make.attrs[2].config = PERF_COUNT_SW_DUMMY;
  evlist_add_cpus(&make, "0");
  evlist = evlist_open(&make);
  assert_int_equal(events[0]->attr.config, PERF_COUNT_SW_DUMMY);
  assert_int_equal(events[0]->group_fd, -1);
  assert_int_equal(events[2]->attr.config, PERF_COUNT_SW_CPU_CLOCK);
  assert_int_equal(events[3]->group_fd, events[2]->fd);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

static int fail_switch(fake_event_t *fake, unsigned long request,
                       uintptr_t argument) {
  (void)argument;
  return request == PERF_EVENT_IOC_ENABLE || request == PERF_EVENT_IOC_DISABLE
             ? -(int)fake->id
             : 0;
}

/* Ids are 100 and more, and so are no code that the first has. */
static void failure_of_enabling_is_the_first(void **state) {
  uvperf__evlist_t *evlist;
  fake_event_t *events[3];
  evlist_make_t make;
  uvperf_error_t error;

  (void)state;
  counters_script(events, 3);
  evlist_make_records(&make, 1);
  make.options.side_band = UVPERF_SIDE_BAND_MMAP;
  evlist_add_cpus(&make, "0");
  evlist = evlist_open(&make);
  events[2]->on_ioctl = fail_switch;
  assert_int_equal(uvperf__evlist_enable(evlist, &error), -102);
  assert_int_equal(error.attr_index, 0);
  assert_true(events[0]->enabled);
  events[0]->on_ioctl = fail_switch;
  assert_int_equal(uvperf__evlist_enable(evlist, &error), -100);
  assert_int_equal(error.attr_index, 1);
  assert_int_equal(uvperf__evlist_disable(evlist, &error), -102);
  assert_int_equal(error.attr_index, 0);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

/* -- failures ------------------------------------------------------------- */

/* For one attr on two CPUs: open, open (owner), open, open (owner). */
static void set_without_all_rings_is_none(void **state) {
  const struct {
    enum fake_call call;
    unsigned nth;
    int code;
    int cause;
  } cases[] = {
      {FAKE_OPEN, 2, -EMFILE, UVPERF_CAUSE_FILES},
      {FAKE_OPEN, 4, -EMFILE, UVPERF_CAUSE_FILES},
      {FAKE_OPEN, 4, -ENFILE, UVPERF_CAUSE_FILES},
      {FAKE_OPEN, 2, -ENOMEM, UVPERF_CAUSE_MEMORY},
      {FAKE_OPEN, 2, -ENOSYS, UVPERF_CAUSE_NO_PERF},
      {FAKE_MMAP, 1, -EAGAIN, UVPERF_CAUSE_LOCKED_MEMORY},
      {FAKE_MMAP, 2, -EAGAIN, UVPERF_CAUSE_LOCKED_MEMORY},
      {FAKE_MMAP, 2, -ENOMEM, UVPERF_CAUSE_MEMORY},
      {FAKE_MMAP, 2, -EACCES, UVPERF_CAUSE_PERMISSION},
  };
  fake_event_t *events[4];
  evlist_make_t make;
  uvperf_error_t error;
  size_t i;

  (void)state;
  for (i = 0; i < COUNT_OF(cases); i++) {
    fake_kernel_reset();
    counters_script(events, 4);
    evlist_make_records(&make, 1);
    evlist_add_cpus(&make, "0-1");
    fake_fail(cases[i].call, cases[i].nth, cases[i].code);
    evlist_refused(&make, &error, cases[i].code, cases[i].cause);
  }
}

static void number_of_fds_for_the_rings_is_reported(void **state) {
  uint64_t needed = uvperf__fds_needed(6);
  fake_event_t *events[6];
  evlist_make_t make;
  uvperf_error_t error;

  (void)state;
  counters_script(events, 6);
  evlist_make_records(&make, 2);
  evlist_add_cpus(&make, "0-1");
  fake_fail(FAKE_OPEN, 6, -EMFILE);
  evlist_refused(&make, &error, -EMFILE, UVPERF_CAUSE_FILES);
  assert_int_equal(error.needed, needed);
  assert_non_null(strstr(error.reason, "cannot open 4 events and 2 rings"));
}

/* CPU 0 has a ring already. */
static void number_of_fds_for_new_rings_is_reported(void **state) {
  uvperf__evlist_t *evlist;
  fake_event_t *events[2];
  evlist_make_t make;
  uvperf_error_t error;

  (void)state;
  counters_script(events, 2);
  evlist_make_records(&make, 1);
  evlist_add_cpus(&make, "0");
  evlist = evlist_open(&make);
  make.targets[0].cpus = "0-1";
  fake_fail(FAKE_OPEN, 1, -EMFILE);
  assert_int_equal(
      uvperf__evlist_add_target(evlist, &make.targets[0], NULL, &error),
      -EMFILE);
  assert_non_null(strstr(error.reason, "cannot open 2 events and 1 rings"));
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

static void number_of_fds_for_a_ring_of_tasks_is_reported(void **state) {
  fake_event_t *events[6];
  uint64_t needed;
  evlist_make_t make;
  uvperf_error_t error;
  size_t i;

  (void)state;
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

static void event_that_is_not_redirected_is_a_failure(void **state) {
  uvperf__evlist_t *evlist;
  fake_event_t *events[3];
  evlist_make_t make;

  (void)state;
  counters_script(events, 3);
  evlist_make_records(&make, 2);
  evlist_add_cpus(&make, "0");
  fake_fail(FAKE_IOCTL, 1, -EINVAL);
  evlist = evlist_open(&make);
  assert_int_equal(evlist_nr_failures(evlist), 1);
  assert_int_equal(evlist_failure(evlist, 0)->error.code, -EINVAL);
  assert_int_equal(evlist_failure(evlist, 0)->error.attr_index, 0);
  assert_int_equal(events[0]->fd, -1);
  assert_null(evlist_source(evlist, 100));
  assert_non_null(evlist_source(evlist, 102));
  assert_int_equal(evlist_ring(evlist, 0)->nr_events, 1);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

/* No ring is requested there. */
static void cpu_that_is_offline_is_a_failure(void **state) {
  uvperf__evlist_t *evlist;
  fake_event_t *events[2];
  evlist_make_t make;

  (void)state;
  counters_script(events, 2);
  evlist_make_records(&make, 1);
  evlist_add_cpus(&make, "0-1");
  fake_fail(FAKE_OPEN, 3, -ENODEV);
  evlist = evlist_open(&make);
  assert_int_equal(evlist_nr_failures(evlist), 1);
  assert_int_equal(evlist_failure(evlist, 0)->error.code, -ENODEV);
  assert_int_equal(evlist_failure(evlist, 0)->cpu, 1);
  assert_int_equal(uvperf__cpu_rings_nr(uvperf__evlist_rings(evlist)), 1);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

/* Of its three CPUs the first has a ring, and the last gets none. */
static void target_that_fails_leaves_no_ring(void **state) {
  static const uvperf_target_t init = UVPERF_TARGET_INIT;
  uvperf__evlist_t *evlist;
  fake_event_t *events[7];
  evlist_make_t make;
  uvperf_target_t late = init;
  uvperf_error_t error;
  size_t fds;

  (void)state;
  counters_script(events, 7);
  evlist_make_records(&make, 1);
  evlist_add_cpus(&make, "0");
  evlist = evlist_open(&make);
  fds = support_count_fds();
  late.type = UVPERF_TARGET_CPUS;
  late.cpus = "0-2";
  fake_fail(FAKE_MMAP, 2, -EAGAIN);
  assert_int_equal(uvperf__evlist_add_target(evlist, &late, NULL, &error),
                   -EAGAIN);
  assert_int_equal(error.target_index, 1);
  assert_int_equal(support_count_fds(), fds);
  assert_int_equal(uvperf__cpu_rings_nr(uvperf__evlist_rings(evlist)), 1);
  assert_int_equal(evlist_ring(evlist, 0)->nr_events, 1);
  /* The event that has written into the ring that stays is remembered. */
  assert_non_null(evlist_source(evlist, 102));
  assert_null(evlist_source(evlist, 103));
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

/* A target of two CPUs, and one more. */
static int open_and_add(const evlist_make_t *make, uvperf__evlist_t **evlist,
                        uvperf_error_t *error) {
  uvperf_target_t late = make->targets[0];
  int rc = uvperf__evlist_new(evlist, &make->options, error);

  late.cpus = "1-2";
  return rc != 0 ? rc : uvperf__evlist_add_target(*evlist, &late, NULL, error);
}

static void records_without_memory_are_enomem(void **state) {
  uvperf__evlist_t *evlist;
  fake_event_t *events[16];
  evlist_make_t make;
  uvperf_error_t error;
  unsigned nth;
  int rc;

  (void)state;
  for (nth = 1;; nth++) {
    evlist_make_setup(state);
    counters_script(events, 16);
    evlist_make_records(&make, 2);
    make.options.side_band = UVPERF_SIDE_BAND_TASKS;
    evlist_add_cpus(&make, "0-1");
    fake_fail(FAKE_CALLOC, nth, -ENOMEM);
    rc = open_and_add(&make, &evlist, &error);
    uvperf__evlist_free(evlist);
    fake_assert_clean();
    if (fake_failures() == 0)
      break;
    assert_int_equal(rc, -ENOMEM);
    assert_int_equal(error.cause, UVPERF_CAUSE_MEMORY);
  }
  assert_int_equal(rc, 0);
  assert_true(nth > 40);
}

static int setup(void **state) {
  fake_clock_set_counters(0);
  return evlist_make_setup(state);
}

#define test(f) cmocka_unit_test_setup(f, setup)

int main(void) {
  static const struct CMUnitTest tests[] = {
      test(events_of_a_cpu_write_into_its_ring),
      test(sources_say_what_their_events_are),
      test(event_that_only_counts_is_known_and_not_redirected),
      test(counts_alone_open_no_ring),
      test(dummies_begin_before_the_others_and_end_after),
      test(dummy_in_a_group_comes_with_its_leader),
      test(failure_of_enabling_is_the_first),
      test(set_without_all_rings_is_none),
      test(number_of_fds_for_the_rings_is_reported),
      test(number_of_fds_for_new_rings_is_reported),
      test(number_of_fds_for_a_ring_of_tasks_is_reported),
      test(event_that_is_not_redirected_is_a_failure),
      test(cpu_that_is_offline_is_a_failure),
      test(target_that_fails_leaves_no_ring),
      test(records_without_memory_are_enomem),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
