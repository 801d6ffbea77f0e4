/* SPDX-License-Identifier: MIT */
/* Scripted: how the events of counters are opened: with which bits, groups and
 * fallbacks. */
#include "evlist_make.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "attr/kernel_knows.h"
#include "evlist/internal.h"
#include "host_tree.h"
#include "temp_tree.h"

/* -- opening -------------------------------------------------------------- */

static void every_attr_is_opened_at_every_place(void **state) {
  fake_event_t *events[6];
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  size_t i;

  (void)state;
  counters_script(events, 6);
  evlist_make(&make, 2);
  evlist_add_cpus(&make, "0-1");
  evlist_add_cpus(&make, "7");
  evlist = evlist_open(&make);
  assert_int_equal(uvperf__evlist_nr_open(evlist), 6);
  for (i = 0; i < 6; i++) {
    static const int cpus[] = {0, 0, 1, 1, 7, 7};

    assert_true(events[i]->opened);
    assert_int_equal(events[i]->pid, -1);
    assert_int_equal(events[i]->cpu, cpus[i]);
    assert_int_equal(events[i]->group_fd, -1);
    assert_int_equal(events[i]->flags, PERF_FLAG_FD_CLOEXEC);
    assert_int_equal(events[i]->attr.config, make.attrs[i % 2].config);
    assert_int_equal(events[i]->attr.disabled, 1);
    assert_int_equal(events[i]->attr.inherit, 0);
    assert_int_equal(events[i]->attr.enable_on_exec, 0);
    assert_int_equal(events[i]->attr.read_format,
                     PERF_FORMAT_TOTAL_TIME_ENABLED |
                         PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID |
                         UVPERF_FORMAT_LOST);
  }
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

static void lost_is_not_asked_of_a_kernel_without_it(void **state) {
  fake_event_t *events[1];
  uvperf__evlist_t *evlist;
  evlist_make_t make;

  (void)state;
  uvperf__known[UVPERF__WORD_READ_FORMAT].yes = 0;
  uvperf__known[UVPERF__WORD_READ_FORMAT].no = UVPERF_FORMAT_LOST;
  counters_script(events, 1);
  evlist_make(&make, 1);
  make.attrs[0].read_format = UVPERF_FORMAT_LOST;
  evlist_add_cpus(&make, "0");
  evlist = evlist_open(&make);
  assert_int_equal(events[0]->attr.read_format & UVPERF_FORMAT_LOST, 0);
  uvperf__evlist_free(evlist);
}

static void siblings_are_opened_enabled_after_their_leader(void **state) {
  fake_event_t *events[4];
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  size_t i;

  (void)state;
  counters_script(events, 4);
  evlist_make(&make, 4);
  evlist_group(&make, 1, 3);
  make.attrs[1].pinned = 1;
  evlist_add_cpus(&make, "0");
  evlist = evlist_open(&make);
  for (i = 0; i < 4; i++) {
    int is_sibling = i >= 2;

    assert_int_equal(events[i]->attr.disabled, !is_sibling);
    assert_int_equal(events[i]->group_fd, is_sibling ? events[1]->fd : -1);
    assert_int_equal((events[i]->attr.read_format & PERF_FORMAT_GROUP) != 0,
                     i != 0);
    assert_int_equal(events[i]->attr.pinned, i == 1);
  }
  assert_int_equal(fake_count(FAKE_READ), 0);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

/* The user's own bits stay, except those of reading and enabling. */
static void attr_is_otherwise_unchanged(void **state) {
  fake_event_t *events[1];
  uvperf__evlist_t *evlist;
  evlist_make_t make;

  (void)state;
  counters_script(events, 1);
  evlist_make(&make, 1);
  make.attrs[0].inherit = 1;
  make.attrs[0].exclude_kernel = 1;
  make.attrs[0].exclude_user = 1;
  make.attrs[0].exclude_idle = 1;
  make.attrs[0].sample_period = 5;
  make.attrs[0].sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_TID;
  make.attrs[0].read_format = PERF_FORMAT_GROUP | UINT64_C(1) << 40;
  evlist_add_cpus(&make, "0");
  evlist = evlist_open(&make);
  assert_int_equal(events[0]->attr.inherit, 1);
  assert_int_equal(events[0]->attr.exclude_kernel, 1);
  assert_int_equal(events[0]->attr.exclude_user, 1);
  assert_int_equal(events[0]->attr.exclude_idle, 1);
  assert_int_equal(events[0]->attr.sample_period, 5);
  assert_int_equal(events[0]->attr.sample_type, PERF_SAMPLE_TID);
  assert_int_equal(events[0]->attr.read_format,
                   PERF_FORMAT_TOTAL_TIME_ENABLED |
                       PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID |
                       UVPERF_FORMAT_LOST);
  assert_string_equal(fake_log(), "open"); /* and no mmap */
  uvperf__evlist_free(evlist);
}

static void process_inherits_unless_no_inherit_is_set(void **state) {
  fake_event_t *events[2];
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  size_t i;

  (void)state;
  for (i = 0; i < 2; i++) {
    evlist_make_setup(NULL);
    counters_script(events, 2);
    evlist_make(&make, 2);
    evlist_group(&make, 0, 2);
    evlist_add(&make, UVPERF_TARGET_PROCESS)->pid = getpid();
    make.targets[0].flags = i == 0 ? 0 : UVPERF_TARGET_NO_INHERIT;
    evlist = evlist_open(&make);
    assert_int_equal(events[0]->pid, getpid());
    assert_int_equal(events[0]->attr.inherit, i == 0);
    assert_int_equal(events[1]->attr.inherit, i == 0);
    assert_int_equal(events[0]->attr.enable_on_exec, 0);
    uvperf__evlist_free(evlist);
    fake_assert_clean();
  }
}

static void command_enables_its_leaders_on_exec(void **state) {
  fake_event_t *events[3];
  uvperf__evlist_t *evlist;
  evlist_make_t make;

  (void)state;
  counters_script(events, 3);
  evlist_make(&make, 3);
  evlist_group(&make, 0, 2);
  evlist_add(&make, UVPERF_TARGET_COMMAND)->pid = getpid();
  evlist = evlist_open(&make);
  assert_int_equal(events[0]->attr.enable_on_exec, 1);
  assert_int_equal(events[1]->attr.enable_on_exec, 0);
  assert_int_equal(events[2]->attr.enable_on_exec, 1);
  assert_int_equal(events[0]->attr.disabled, 1);
  assert_int_equal(events[1]->attr.disabled, 0);
  assert_int_equal(events[0]->attr.inherit, 1);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

/* -- groups --------------------------------------------------------------- */

static void next_member_leads_if_the_leader_cannot_open(void **state) {
  static const uint64_t ids[] = {102, 103};
  static const uint64_t values[] = {7, 8};
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  fake_event_t *events[4];

  (void)state;
  counters_script(events, 5 - 1);
  evlist_make(&make, 3);
  evlist_group(&make, 0, 3);
  evlist_add_cpus(&make, "0-1");
  fake_fail(FAKE_OPEN, 3, -EBUSY); /* CPU 0: the last */
  fake_fail(FAKE_OPEN, 4, -EBUSY); /* CPU 1: the first */
  evlist = evlist_open(&make);
  assert_int_equal(uvperf__evlist_nr_open(evlist), 4);
  assert_int_equal(events[1]->group_fd, events[0]->fd);
  assert_int_equal(events[2]->group_fd, -1);
  assert_int_equal(events[2]->attr.disabled, 1);
  assert_int_equal(events[3]->group_fd, events[2]->fd);
  assert_int_equal(events[3]->attr.disabled, 0);
  counters_give_group(events[2], 10, 10, ids, values, 2);
  assert_int_equal(evlist_at(evlist, 1, 1).value, 7);
  assert_int_equal(evlist_at(evlist, 2, 1).value, 8);
  assert_int_equal(uvperf__evlist_enable(evlist, NULL), 0);
  assert_int_equal(events[0]->enabled, 1);
  assert_int_equal(events[2]->enabled, 1);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

static void weak_member_is_opened_alone(void **state) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  fake_event_t *events[3];

  (void)state;
  counters_script(events, 3);
  evlist_make(&make, 0);
  make.options.names = "{task-clock,page-faults,dummy}:W";
  evlist_add_cpus(&make, "0");
  fake_fail(FAKE_OPEN, 2, -EINVAL);
  evlist = evlist_open(&make);
  assert_int_equal(fake_count(FAKE_OPEN), 4);
  assert_int_equal(evlist_nr_failures(evlist), 0);
  assert_int_equal(events[1]->attr.config, PERF_COUNT_SW_PAGE_FAULTS);
  assert_int_equal(events[1]->group_fd, -1);
  assert_int_equal(events[1]->attr.disabled, 1);
  /* The next is in the group all the same. */
  assert_int_equal(events[2]->group_fd, events[0]->fd);
  fake_log_clear();
  assert_int_equal(uvperf__evlist_enable(evlist, NULL), 0);
  assert_string_equal(fake_log(), "ioctl ENABLE, ioctl ENABLE");
  assert_int_equal(events[1]->enabled, 1);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

/* In the group it is refused whatever its precise_ip is. */
static int refuse_first_four(struct perf_event_attr *attr) {
  (void)attr;
  return fake_count(FAKE_OPEN) >= 2 && fake_count(FAKE_OPEN) <= 5 ? -EINVAL : 0;
}

static void weak_member_is_opened_alone_as_it_was_asked_for(void **state) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  fake_event_t *events[2];
  size_t nr;

  (void)state;
  counters_script(events, 2);
  evlist_make(&make, 0);
  make.options.names = "{cycles,instructions:ppp}:W";
  make.options.fallbacks = UVPERF_FALLBACK_PRECISE;
  evlist_add_cpus(&make, "0");
  fake_on_open(refuse_first_four);
  evlist = evlist_open(&make);
  assert_int_equal(fake_count(FAKE_OPEN), 6);
  assert_int_equal(events[1]->group_fd, -1);
  assert_int_equal(events[1]->attr.precise_ip, 3);
  assert_null(uvperf__evlist_changes(evlist, 1, &nr));
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

static void member_of_an_ordinary_group_is_not_opened_alone(void **state) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  fake_event_t *events[2];

  (void)state;
  counters_script(events, 2);
  evlist_make(&make, 3);
  evlist_group(&make, 0, 3);
  evlist_add_cpus(&make, "0");
  fake_fail(FAKE_OPEN, 2, -EINVAL);
  evlist = evlist_open(&make);
  assert_int_equal(fake_count(FAKE_OPEN), 3);
  assert_int_equal(evlist_nr_failures(evlist), 1);
  assert_int_equal(events[1]->group_fd, events[0]->fd);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

/* -- fallbacks ------------------------------------------------------------ */

static int no_hardware(struct perf_event_attr *attr) {
  return attr->type == PERF_TYPE_HARDWARE ? -ENOENT : 0;
}

static void fallback_is_decided_at_the_first_place(void **state) {
  const uvperf_change_t *changes;
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  fake_event_t *events[3];
  size_t nr;

  (void)state;
  counters_script(events, 3);
  evlist_make(&make, 1);
  uvperf_attr_hardware(&make.attrs[0], PERF_COUNT_HW_CPU_CYCLES);
  make.options.fallbacks = UVPERF_FALLBACK_ALL;
  evlist_add_cpus(&make, "0-2");
  fake_on_open(no_hardware);
  evlist = evlist_open(&make);
  /* Twice for the first. */
  assert_int_equal(fake_count(FAKE_OPEN), 4);
  assert_int_equal(events[2]->attr.type, PERF_TYPE_SOFTWARE);
  assert_int_equal(events[2]->attr.config, PERF_COUNT_SW_CPU_CLOCK);
  assert_int_equal(events[2]->attr.disabled, 1);
  changes = uvperf__evlist_changes(evlist, 0, &nr);
  assert_int_equal(nr, 1);
  assert_int_equal(changes[0].fallback, UVPERF_FALLBACK_CLOCK);
  assert_int_equal(uvperf__evlist_item(evlist, 0)->attr->type,
                   PERF_TYPE_SOFTWARE);
  assert_null(uvperf__evlist_changes(evlist, 1, &nr));
  assert_int_equal(nr, 0);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

static void clock_of_a_task_is_the_task_clock(void **state) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  fake_event_t *events[1];

  (void)state;
  counters_script(events, 1);
  evlist_make(&make, 1);
  uvperf_attr_hardware(&make.attrs[0], PERF_COUNT_HW_CPU_CYCLES);
  make.options.fallbacks = UVPERF_FALLBACK_CLOCK;
  evlist_add(&make, UVPERF_TARGET_SELF);
  fake_on_open(no_hardware);
  evlist = evlist_open(&make);
  assert_int_equal(events[0]->attr.config, PERF_COUNT_SW_TASK_CLOCK);
  uvperf__evlist_free(evlist);
}

static void attr_that_opened_as_asked_does_not_fall_back_later(void **state) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  fake_event_t *events[1];
  size_t nr;

  (void)state;
  counters_script(events, 1);
  evlist_make(&make, 1);
  uvperf_attr_hardware(&make.attrs[0], PERF_COUNT_HW_CPU_CYCLES);
  make.options.fallbacks = UVPERF_FALLBACK_ALL;
  evlist_add_cpus(&make, "0-1");
  fake_fail(FAKE_OPEN, 2, -ENOENT);
  evlist = evlist_open(&make);
  assert_int_equal(fake_count(FAKE_OPEN), 2);
  assert_int_equal(evlist_nr_failures(evlist), 1);
  assert_null(uvperf__evlist_changes(evlist, 0, &nr));
  uvperf__evlist_free(evlist);
}

/* It fails at the first place with every fallback. */
static void fallback_that_did_not_help_is_undone(void **state) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  fake_event_t *events[1];
  size_t nr;

  (void)state;
  counters_script(events, 1);
  evlist_make(&make, 1);
  uvperf_attr_hardware(&make.attrs[0], PERF_COUNT_HW_CPU_CYCLES);
  make.options.fallbacks = UVPERF_FALLBACK_ALL;
  evlist_add_cpus(&make, "0-1");
  fake_fail(FAKE_OPEN, 1, -ENOENT);
  fake_fail(FAKE_OPEN, 2, -ENODEV);
  evlist = evlist_open(&make);
  assert_int_equal(events[0]->attr.type, PERF_TYPE_HARDWARE);
  assert_int_equal(events[0]->cpu, 1);
  assert_null(uvperf__evlist_changes(evlist, 0, &nr));
  assert_int_equal(evlist_failure(evlist, 0)->error.code, -ENOENT);
  assert_non_null(strstr(evlist_failure(evlist, 0)->error.reason, "fallbacks"));
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

/* It opens with less, and is closed again for another reason. */
static void fallback_of_what_is_closed_at_once_is_undone(void **state) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  fake_event_t *events[4];
  size_t nr;

  (void)state;
  counters_script(events, 4);
  evlist_make(&make, 2);
  evlist_group(&make, 0, 2);
  uvperf_attr_hardware(&make.attrs[0], PERF_COUNT_HW_CPU_CYCLES);
  make.options.fallbacks = UVPERF_FALLBACK_ALL;
  evlist_add_cpus(&make, "0-1");
  fake_fail(FAKE_OPEN, 1, -ENOENT);
  fake_fail(FAKE_IOCTL_PTR, 1, -EIO);
  evlist = evlist_open(&make);
  assert_int_equal(events[0]->attr.type, PERF_TYPE_SOFTWARE);
  assert_int_equal(events[2]->attr.type, PERF_TYPE_HARDWARE);
  assert_null(uvperf__evlist_changes(evlist, 0, &nr));
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

/* E2BIG leaves the kernel's size in the attr that was tried. */
static void fields_that_the_kernel_does_not_know_are_cut(void **state) {
  const uvperf_change_t *changes;
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  fake_event_t *events[2];
  size_t nr;

  (void)state;
  counters_script(events, 2);
  evlist_make(&make, 1);
  assert_int_equal(uvperf_attr_set(&make.attrs[0], UVPERF_ATTR_SIG_DATA, 7), 0);
  make.options.fallbacks = UVPERF_FALLBACK_KERNEL;
  evlist_add_cpus(&make, "0-1");
  fake_fail(FAKE_OPEN, 1, -E2BIG);
  evlist = evlist_open(&make);
  assert_int_equal(fake_count(FAKE_OPEN), 3);
  assert_int_equal(events[0]->attr.size, FAKE_ATTR_SIZE);
  assert_int_equal(events[1]->attr.size, FAKE_ATTR_SIZE);
  changes = uvperf__evlist_changes(evlist, 0, &nr);
  assert_int_equal(nr, 1);
  assert_int_equal(changes[0].field, UVPERF_ATTR_SIG_DATA);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

/* PRECISE_MAX is allowed by its item, without any option. */
static int no_precise(struct perf_event_attr *attr) {
  return attr->precise_ip > 1 ? -EOPNOTSUPP : 0;
}

static void modifier_P_lowers_precise_ip_alone(void **state) {
  uvperf_event_list_t *list;
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  fake_event_t *events[1];
  size_t nr;

  (void)state;
  assert_int_equal(uvperf_event_list_parse(&list, "cycles:P", NULL), 0);
  ((struct perf_event_attr *)(uintptr_t)uvperf_event_list_get(list, 0)->attr)
      ->precise_ip = 3;
  counters_script(events, 1);
  evlist_make(&make, 0);
  make.options.events = list;
  evlist_add_cpus(&make, "0");
  fake_on_open(no_precise);
  evlist = evlist_open(&make);
  uvperf_event_list_free(list);
  assert_int_equal(events[0]->attr.precise_ip, 1);
  uvperf__evlist_changes(evlist, 0, &nr);
  assert_int_equal(nr, 1);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

/* -- ids that are used again ---------------------------------------------- */

static unsigned opens;
static int fourth; /* the result of the fourth of them */

static void write_thread(int id, int start) {
  char path[64], text[128];

  snprintf(path, sizeof(path), "/proc/78/task/%d/stat", id);
  snprintf(text, sizeof(text),
           "%d (a) S 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 %d 0\n",
           id, start);
  host_tree_write(path, text);
  snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", id, id);
  host_tree_write(path, text);
}

/* Thread 79 is replaced before its second of four events is opened. */
static int replace_79(struct perf_event_attr *attr) {
  (void)attr;
  opens += 1;
  if (opens == 6)
    write_thread(79, 2000);
  return opens == 4 ? fourth : 0;
}

static uvperf__evlist_t *open_two_threads(fake_event_t **events, uint32_t flags,
                                          uvperf_error_t *error) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  int rc;

  host_tree_write("/proc/self/status", "NSpid:\t12\n");
  host_tree_write("/proc/78/status", "Tgid:\t78\nThreads:\t2\n");
  write_thread(78, 1000);
  write_thread(79, 1000);
  evlist_make_setup(NULL);
  counters_script(events, 10);
  evlist_make(&make, 2);
  evlist_group(&make, 0, 2);
  evlist_add(&make, UVPERF_TARGET_PROCESS)->pid = 78;
  make.targets[0].cpus = "0-1";
  make.options.flags |= flags;
  opens = 0;
  fake_on_open(replace_79);
  rc = evlist_try(&make, &evlist, error);
  assert_int_equal(rc, error->code);
  assert_int_equal(opens, 8);
  return rc == 0 ? evlist : NULL;
}

static void events_of_an_id_used_again_are_closed(void **state) {
  const uvperf_set_failure_t *failures;
  uvperf__evlist_t *evlist;
  fake_event_t *events[10];
  uvperf_error_t error = {0};
  size_t nr, i;

  assert_int_equal(host_tree_setup(state), 0);
  fourth = -EACCES; /* a sibling of thread 78 on CPU 1 */
  evlist = open_two_threads(events, 0, &error);
  assert_non_null(evlist);
  assert_int_equal(uvperf__evlist_nr_open(evlist), 3);
  for (i = 0; i < 7; i++) {
    assert_int_equal(events[i]->pid, i < 3 ? 78 : 79);
    assert_int_equal(events[i]->fd >= 0, i < 3);
  }
  failures = uvperf__evlist_failures(evlist, &nr);
  assert_int_equal(nr, 5);
  for (i = 1; i < nr; i++) {
    assert_int_equal(failures[i].pid, 79);
    assert_int_equal(failures[i].error.code, -ESRCH);
    assert_int_equal(failures[i].error.cause, UVPERF_CAUSE_NO_TASK);
  }
  /* What was opened in time stays, even if its task has ended since. */
  write_thread(78, 3000);
  assert_int_equal(uvperf__evlist_cpu_come(evlist, 1, NULL), -ESRCH);
  assert_int_equal(opens, 11);
  assert_int_equal(uvperf__evlist_nr_open(evlist), 3);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
  /* A strict set fails. */
  fourth = 0;
  memset(&error, 0, sizeof(error));
  assert_null(open_two_threads(events, UVPERF_SET_STRICT, &error));
  assert_int_equal(error.code, -ESRCH);
  fake_assert_clean();
  assert_int_equal(host_tree_teardown(state), 0);
}

#define TEST(f) cmocka_unit_test_setup(f, evlist_make_setup)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(every_attr_is_opened_at_every_place),
      TEST(lost_is_not_asked_of_a_kernel_without_it),
      TEST(siblings_are_opened_enabled_after_their_leader),
      TEST(attr_is_otherwise_unchanged),
      TEST(process_inherits_unless_no_inherit_is_set),
      TEST(command_enables_its_leaders_on_exec),
      TEST(next_member_leads_if_the_leader_cannot_open),
      TEST(weak_member_is_opened_alone),
      TEST(weak_member_is_opened_alone_as_it_was_asked_for),
      TEST(member_of_an_ordinary_group_is_not_opened_alone),
      TEST(fallback_is_decided_at_the_first_place),
      TEST(clock_of_a_task_is_the_task_clock),
      TEST(attr_that_opened_as_asked_does_not_fall_back_later),
      TEST(fallback_that_did_not_help_is_undone),
      TEST(fallback_of_what_is_closed_at_once_is_undone),
      TEST(fields_that_the_kernel_does_not_know_are_cut),
      TEST(modifier_P_lowers_precise_ip_alone),
      TEST(events_of_an_id_used_again_are_closed),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
