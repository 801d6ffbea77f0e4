/* SPDX-License-Identifier: MIT */
/* Scripted: targets whose events hang up, how often they are polled, and when
 * /proc is read instead. */
#include "evlist_make.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static evlist_make_t make;

static void finish(uvperf__evlist_t *evlist) {
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

/* nr_attrs attrs that sample, and nr_events scripted events, including the
 * owners of the rings. */
static void begin(size_t nr_attrs, fake_event_t **events, size_t nr_events) {
  size_t i;

  counters_script(events, nr_events);
  evlist_make(&make, nr_attrs);
  make.options.flags = UVPERF_SET_RECORDS;
  for (i = 0; i < nr_attrs; i++)
    make.attrs[i].sample_period = 1000;
}

static uvperf_target_t *add_thread_on(int32_t pid, const char *cpus) {
  uvperf_target_t *target = evlist_add(&make, UVPERF_TARGET_THREAD);

  target->pid = pid;
  target->cpus = cpus;
  return target;
}

/* Makes the first nr events of a task hang up. Owners of rings are dummies. */
static void hang_up(fake_event_t **events, size_t nr_events, pid_t pid,
                    size_t nr) {
  size_t i;

  for (i = 0; i < nr_events && nr > 0; i++) {
    if (events[i]->fd < 0 || events[i]->pid != pid ||
        events[i]->attr.config == PERF_COUNT_SW_DUMMY)
      continue;
    events[i]->revents = POLLHUP;
    nr--;
  }
  assert_int_equal(nr, 0);
}

/* Probes, and returns how often poll(2) was called. */
static unsigned probe(uvperf__evlist_t *evlist, size_t nr_ended) {
  unsigned before = fake_count(FAKE_POLL);

  assert_int_equal(uvperf__evlist_probe(evlist), nr_ended);
  return fake_count(FAKE_POLL) - before;
}

static int end_at_once(void *arg) {
  (void)arg;
  return 0;
}

/* A child that has ended, and is still to be waited for. */
static pid_t gone_child(void) {
  pid_t pid = support_fork(end_at_once, NULL);
  siginfo_t info;

  assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
  return pid;
}

/* -- by hang-up ----------------------------------------------------------- */

static void targets_that_live_are_asked_by_one_poll(void **state) {
  uvperf__evlist_t *evlist;
  fake_event_t *events[16];

  (void)state;
  begin(3, events, 16);
  add_thread_on(getpid(), "0-1");
  add_thread_on(getpid(), "0-1");
  evlist = evlist_open(&make);
  assert_int_equal(probe(evlist, 0), 1);
  assert_int_equal(probe(evlist, 0), 1);
  assert_int_equal(uvperf__evlist_can_end(evlist), 1);
  assert_int_equal(uvperf__evlist_have_ended(evlist), 0);
  finish(evlist);
}

/* Two attrs on two CPUs: each that has hung up is passed over once. The first
 * poll is of all targets, the others of the target whose event has hung up. */
static void event_that_hung_up_is_asked_once(void **state) {
  uvperf__evlist_t *evlist;
  fake_event_t *events[8];
  uint32_t index = 7;

  (void)state;
  begin(2, events, 8);
  add_thread_on(getpid(), "0-1");
  evlist = evlist_open(&make);
  assert_int_equal(uvperf__evlist_nr_open(evlist), 4);
  hang_up(events, 8, getpid(), 3);
  assert_int_equal(probe(evlist, 0), 5);
  assert_int_equal(probe(evlist, 0), 1);
  hang_up(events, 8, getpid(), 4);
  assert_int_equal(uvperf__evlist_take_ended(evlist, &index), 0);
  assert_int_equal(probe(evlist, 1), 2);
  assert_int_equal(uvperf__evlist_can_end(evlist), 0);
  assert_int_equal(uvperf__evlist_have_ended(evlist), 1);
  assert_int_equal(uvperf__evlist_take_ended(evlist, &index), 1);
  assert_int_equal(index, 0);
  /* Reported once, and not checked again. */
  assert_int_equal(probe(evlist, 0), 0);
  assert_int_equal(uvperf__evlist_take_ended(evlist, &index), 0);
  assert_int_equal(uvperf__evlist_have_ended(evlist), 1);
  finish(evlist);
}

static void event_in_error_state_does_not_end_a_living_task(void **state) {
  uvperf__evlist_t *evlist;
  fake_event_t *events[4];
  size_t i;

  (void)state;
  begin(1, events, 4);
  add_thread_on(getpid(), "0-1");
  evlist = evlist_open(&make);
  for (i = 0; i < 4; i++)
    events[i]->revents = POLLERR;
  assert_int_equal(probe(evlist, 0), 2);
  finish(evlist);
}

/* Its PMU was unregistered: it would never hang up. */
static void event_in_error_state_of_a_task_that_is_gone_ends(void **state) {
  uvperf__evlist_t *evlist;
  fake_event_t *events[4];
  pid_t pid = gone_child();
  size_t i;

  (void)state;
  begin(1, events, 4);
  add_thread_on(pid, "0-1");
  evlist = evlist_open(&make);
  for (i = 0; i < 4; i++)
    events[i]->revents = POLLERR;
  assert_int_equal(probe(evlist, 1), 3);
  finish(evlist);
  assert_int_equal(support_wait(pid), 0);
}

/* If the poll of all targets fails, each is polled alone. */
static void event_that_cannot_be_asked_is_taken_to_live(void **state) {
  uvperf__evlist_t *evlist;
  fake_event_t *events[3];

  (void)state;
  begin(1, events, 3);
  add_thread_on(getpid(), "0");
  add_thread_on(getppid(), "0");
  evlist = evlist_open(&make);
  hang_up(events, 3, getpid(), 1);
  fake_fail(FAKE_POLL, 1, -ENOMEM);
  fake_fail(FAKE_POLL, 2, -ENOMEM);
  assert_int_equal(probe(evlist, 0), 3);
  fake_fail(FAKE_POLL, 1, -ENOMEM);
  assert_int_equal(probe(evlist, 1), 3);
  finish(evlist);
}

/* It would eat the parent's wakeups. */
static void forked_child_asks_nothing(void **state) {
  uvperf__evlist_t *evlist;
  fake_event_t *events[2];

  (void)state;
  begin(1, events, 2);
  add_thread_on(getpid(), "0");
  evlist = evlist_open(&make);
  hang_up(events, 2, getpid(), 1);
  fake_process(4711);
  assert_int_equal(probe(evlist, 0), 0);
  fake_process(0);
  assert_int_equal(probe(evlist, 1), 2);
  finish(evlist);
}

/* -- several targets ------------------------------------------------------ */

static void cpus_never_end(void **state) {
  uvperf__evlist_t *evlist;
  fake_event_t *events[4];
  uint32_t index;
  size_t i;

  (void)state;
  begin(1, events, 4);
  evlist_add_cpus(&make, "0-1");
  evlist = evlist_open(&make);
  for (i = 0; i < 4; i++)
    events[i]->revents = POLLHUP;
  assert_int_equal(probe(evlist, 0), 0);
  assert_int_equal(uvperf__evlist_can_end(evlist), 0);
  assert_int_equal(uvperf__evlist_have_ended(evlist), 0);
  assert_int_equal(uvperf__evlist_take_ended(evlist, &index), 0);
  finish(evlist);
}

static void counters_without_targets_have_not_ended(void **state) {
  uvperf__evlist_t *evlist;
  fake_event_t *events[1];

  (void)state;
  begin(1, events, 1);
  evlist = evlist_open(&make);
  assert_int_equal(probe(evlist, 0), 0);
  assert_int_equal(uvperf__evlist_can_end(evlist), 0);
  assert_int_equal(uvperf__evlist_have_ended(evlist), 0);
  finish(evlist);
}

/* Two tasks and a CPU. */
static void targets_end_one_by_one_and_are_reported_in_order(void **state) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  uvperf__evlist_t *evlist;
  fake_event_t *events[8];
  pid_t pid = getppid();
  uint32_t index;

  (void)state;
  begin(1, events, 8);
  add_thread_on(getpid(), "0");
  add_thread_on(pid, "0");
  evlist = evlist_open(&make);
  hang_up(events, 8, pid, 1);
  assert_int_equal(probe(evlist, 1), 2);
  assert_int_equal(uvperf__evlist_have_ended(evlist), 0);
  hang_up(events, 8, getpid(), 1);
  assert_int_equal(probe(evlist, 1), 2);
  assert_int_equal(uvperf__evlist_have_ended(evlist), 1);
  assert_int_equal(uvperf__evlist_take_ended(evlist, &index), 1);
  assert_int_equal(index, 0);
  assert_int_equal(uvperf__evlist_remove_target(evlist, 0, NULL, NULL), 0);
  assert_int_equal(uvperf__evlist_take_ended(evlist, &index), 1);
  assert_int_equal(index, 1);
  assert_int_equal(uvperf__evlist_take_ended(evlist, &index), 0);
  /* One that is added lives. */
  target.type = UVPERF_TARGET_CPUS;
  target.cpus = "0";
  assert_int_equal(uvperf__evlist_add_target(evlist, &target, NULL, NULL), 0);
  assert_int_equal(uvperf__evlist_have_ended(evlist), 0);
  assert_int_equal(uvperf__evlist_can_end(evlist), 0);
  finish(evlist);
}

/* One poll(2) has 64 fds. */
static void targets_of_two_polls_are_all_asked(void **state) {
  static uvperf_target_t targets[70];
  uvperf__evlist_t *evlist;
  fake_event_t *events[71];
  uint32_t index;
  size_t i;

  (void)state;
  begin(1, events, 71);
  for (i = 0; i < 70; i++) {
    make.options.nr_targets = 0;
    targets[i] = *add_thread_on(i == 63 || i == 69 ? getppid() : getpid(), "0");
  }
  make.options.targets = targets;
  make.options.nr_targets = 70;
  evlist = evlist_open(&make);
  assert_int_equal(probe(evlist, 0), 2);
  hang_up(events, 71, getppid(), 2);
  assert_int_equal(probe(evlist, 2), 4);
  assert_int_equal(uvperf__evlist_take_ended(evlist, &index), 1);
  assert_int_equal(index, 63);
  assert_int_equal(uvperf__evlist_take_ended(evlist, &index), 1);
  assert_int_equal(index, 69);
  assert_int_equal(probe(evlist, 0), 2);
  finish(evlist);
}

static void target_that_was_removed_is_not_reported(void **state) {
  uvperf__evlist_t *evlist;
  fake_event_t *events[4];
  uint32_t index;

  (void)state;
  begin(1, events, 4);
  add_thread_on(getpid(), "0");
  add_thread_on(getpid(), "0");
  evlist = evlist_open(&make);
  hang_up(events, 4, getpid(), 2);
  assert_int_equal(probe(evlist, 2), 3);
  assert_int_equal(uvperf__evlist_remove_target(evlist, 0, NULL, NULL), 0);
  assert_int_equal(uvperf__evlist_take_ended(evlist, &index), 1);
  assert_int_equal(index, 1);
  assert_int_equal(uvperf__evlist_take_ended(evlist, &index), 0);
  finish(evlist);
}

/* -- by /proc ------------------------------------------------------------- */

/* An event that only counts has no ring, and always hangs up. */
static void target_that_writes_nothing_is_searched_for_in_proc(void **state) {
  uvperf__evlist_t *evlist;
  fake_event_t *events[4];
  pid_t pid = gone_child();
  uint32_t index;
  size_t i;

  (void)state;
  begin(1, events, 4);
  make.attrs[0].sample_period = 0;
  add_thread_on(getpid(), "0-1");
  add_thread_on(pid, "0-1");
  evlist = evlist_open(&make);
  for (i = 0; i < 4; i++)
    events[i]->revents = POLLHUP;
  assert_int_equal(probe(evlist, 1), 0);
  assert_int_equal(uvperf__evlist_take_ended(evlist, &index), 1);
  assert_int_equal(index, 1);
  assert_int_equal(probe(evlist, 0), 0);
  finish(evlist);
  assert_int_equal(support_wait(pid), 0);
}

/* With two attrs the counting one is not polled. */
static void event_that_writes_nothing_is_not_asked(void **state) {
  uvperf__evlist_t *evlist;
  fake_event_t *events[3];
  size_t i;

  (void)state;
  begin(2, events, 3);
  make.attrs[0].sample_period = 0;
  add_thread_on(getpid(), "0");
  evlist = evlist_open(&make);
  for (i = 0; i < 3; i++)
    if (events[i]->pid == getpid() && events[i]->attr.sample_period == 0)
      events[i]->revents = POLLHUP;
  assert_int_equal(probe(evlist, 0), 1);
  hang_up(events, 3, getpid(), 2);
  assert_int_equal(probe(evlist, 1), 2);
  finish(evlist);
}

/* The id may be another task's by now, as here. */
static void task_that_was_gone_when_it_was_opened_is_so(void **state) {
  uvperf__evlist_t *evlist;
  fake_event_t *events[2];
  uint32_t index;

  (void)state;
  begin(1, events, 2);
  add_thread_on(getpid(), "0");
  add_thread_on(getpid(), "0");
  fake_fail(FAKE_OPEN, 1, -ESRCH);
  evlist = evlist_open(&make);
  assert_int_equal(evlist_nr_failures(evlist), 1);
  assert_int_equal(probe(evlist, 1), 1);
  assert_int_equal(uvperf__evlist_take_ended(evlist, &index), 1);
  assert_int_equal(index, 0);
  finish(evlist);
}

/* Its end is not reported, because it is not known. */
static void task_that_may_not_be_measured_lives(void **state) {
  uvperf__evlist_t *evlist;
  fake_event_t *events[2];

  (void)state;
  begin(1, events, 2);
  add_thread_on(getpid(), "0");
  add_thread_on(getpid(), "0");
  fake_fail(FAKE_OPEN, 1, -EACCES);
  evlist = evlist_open(&make);
  assert_int_equal(evlist_nr_failures(evlist), 1);
  assert_int_equal(probe(evlist, 0), 1);
  assert_int_equal(uvperf__evlist_can_end(evlist), 1);
  finish(evlist);
}

/* There is no place of it at all. */
static void target_that_is_not_there_has_ended(void **state) {
  uvperf__evlist_t *evlist;
  fake_event_t *events[2];
  pid_t pid = gone_child();
  uint32_t index;

  (void)state;
  assert_int_equal(support_wait(pid), 0);
  begin(1, events, 2);
  add_thread_on(getpid(), "0");
  evlist_add(&make, UVPERF_TARGET_PROCESS)->pid = pid;
  evlist = evlist_open(&make);
  assert_int_equal(probe(evlist, 1), 1);
  assert_int_equal(uvperf__evlist_take_ended(evlist, &index), 1);
  assert_int_equal(index, 1);
  finish(evlist);
}

#define TEST(f) cmocka_unit_test_setup(f, evlist_make_setup)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(targets_that_live_are_asked_by_one_poll),
      TEST(event_that_hung_up_is_asked_once),
      TEST(event_in_error_state_does_not_end_a_living_task),
      TEST(event_in_error_state_of_a_task_that_is_gone_ends),
      TEST(event_that_cannot_be_asked_is_taken_to_live),
      TEST(forked_child_asks_nothing),
      TEST(cpus_never_end),
      TEST(counters_without_targets_have_not_ended),
      TEST(targets_end_one_by_one_and_are_reported_in_order),
      TEST(targets_of_two_polls_are_all_asked),
      TEST(target_that_was_removed_is_not_reported),
      TEST(target_that_writes_nothing_is_searched_for_in_proc),
      TEST(event_that_writes_nothing_is_not_asked),
      TEST(task_that_was_gone_when_it_was_opened_is_so),
      TEST(task_that_may_not_be_measured_lives),
      TEST(target_that_is_not_there_has_ended),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
