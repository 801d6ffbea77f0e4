/* SPDX-License-Identifier: MIT */
/* Scripted: with options.open the program opens each event of an event, a set
 * and a BPF reader, and the library never calls perf_event_open(2) itself. */
#include "scripted_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "attr/kernel_knows.h"
#include "make_cpus.h"
#include "fake_pool.h"
#include "fake_uevents.h"
#include "scripted_hotplug.h"
#include "scripted_opening.h"
#include "fake_version.h"
#include "scripted_event.h"
#include "evlist/internal.h"
#include "sys/opener.h"
#include "sys/sys.h"

/* As a code: the fd of the last call that does not fail. */
#define REPEATED INT32_MAX

/* The script of the function, and its last call. */
typedef struct program_s {
  unsigned calls;
  unsigned fails_at; /* the call that returns `code`; 0: none */
  int code;          /* or the fd of another file, or REPEATED */
  int last_fd;       /* the result of the last other call */
  /* Of the last call: */
  struct perf_event_attr attr;
  int32_t pid;
  int32_t cpu;
  int group_fd;
  unsigned long flags;
} program_t;

static int program_open(const struct perf_event_attr *attr, int32_t pid,
                        int32_t cpu, int group_fd, unsigned long flags,
                        void *arg) {
  program_t *program = arg;
  struct perf_event_attr own = *attr;
  int fd;

  program->calls += 1;
  program->attr = *attr;
  program->pid = pid;
  program->cpu = cpu;
  program->group_fd = group_fd;
  program->flags = flags;
  if (program->calls == program->fails_at)
    return program->code == REPEATED ? program->last_fd : program->code;
  fd = uvperf__sys_open(&own, pid, cpu, group_fd, flags);
  if (fd >= 0)
    assert_int_equal(fcntl(fd, F_SETFD, 0), 0);
  program->last_fd = fd;
  return fd;
}

/* The program opened all events, with this number of calls. */
static void expect_calls(const program_t *program, unsigned calls) {
  assert_int_equal(program->calls, calls);
  assert_int_equal(fake_count(FAKE_OPEN) +
                       (program->fails_at != 0 && program->fails_at <= calls),
                   calls);
}

static uvperf_event_options_t by(program_t *program) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;

  memset(program, 0, sizeof(*program));
  options.open = program_open;
  options.open_arg = program;
  return options;
}

static int setup(void **state) {
  if (evlist_make_setup(state) != 0 || make_cpus_begin(3) != 0)
    return -1;
  fake_uevents_begin();
  return fake_kernel_loop_setup(state);
}

static int teardown(void **state) {
  int rc = fake_kernel_loop_teardown(state);

  fake_uevents_end();
  return make_cpus_end() != 0 ? -1 : rc;
}

/* -- an event -------------------------------------------------------------- */

static void event_is_opened_by_the_program(void **state) {
  live_collector_t leader, sibling;
  struct perf_event_attr attr;
  program_t program;
  uvperf_event_options_t options = by(&program);

  fake_event_add(7);
  fake_event_add(8);
  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  live_init(*state, &leader, &attr, &options);
  assert_int_equal(program.pid, live_tid());
  assert_int_equal(program.cpu, -1);
  assert_int_equal(program.group_fd, -1);
  assert_true(program.flags == PERF_FLAG_FD_CLOEXEC);
  assert_int_equal(program.attr.disabled, 1);
  assert_int_equal(fcntl(uvperf_event_fd(&leader.event), F_GETFD), FD_CLOEXEC);
  options.leader = &leader.event;
  options.pid = 44;
  options.cpu = 1;
  options.flags = UVPERF_EVENT_CPU;
  live_init(*state, &sibling, &attr, &options);
  assert_int_equal(program.group_fd, uvperf_event_fd(&leader.event));
  assert_int_equal(program.pid, 44);
  assert_int_equal(program.cpu, 1);
  expect_calls(&program, 2);
  live_close(&sibling);
  live_close(&leader);
  fake_assert_clean();
}

static void cgroup_0_is_no_thread(void **state) {
  program_t program;
  uvperf__calls_t calls = {0};
  const uvperf__opener_t opener = {program_open, &program, &calls};
  struct perf_event_attr attr;
  int fd;

  by(&program);
  fake_event_add(7);
  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  fd = uvperf__open(&opener, &attr, 0, 1, -1, PERF_FLAG_PID_CGROUP);
  assert_true(fd >= 0);
  assert_int_equal(program.pid, 0);
  assert_int_equal(uvperf__sys_close(fd), 0);
}

static int opened;

static void on_open(uvperf_handle_t *handle, int status,
                    const uvperf_error_t *error) {
  (void)handle;
  (void)error;
  opened = status;
}

static void event_is_opened_by_the_program_on_the_pool(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;
  program_t program;
  uvperf_event_options_t options = by(&program);

  fake_event_add(7);
  fake_pool_hold();
  memset(&collector, 0, sizeof(collector));
  collector.event.handle.data = &collector;
  opened = 1;
  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  options.open_cb = on_open;
  assert_int_equal(
      uvperf_event_init(*state, &collector.event, &attr, &options, NULL), 0);
  assert_int_equal(program.calls, 0);
  fake_pool_finish();
  assert_int_equal(opened, 0);
  assert_int_equal(program.pid, live_tid());
  expect_calls(&program, 1);
  fake_pool_reset();
  live_close(&collector);
  fake_assert_clean();
}

/* -- refusals ------------------------------------------------------------- */

/* Init fails like this, and leaves nothing. */
static void refused(uv_loop_t *loop, int code, int cause) {
  struct perf_event_attr attr;
  program_t program;
  uvperf_event_options_t options = by(&program);
  uvperf_error_t error;
  uvperf_event_t event;

  program.fails_at = 1;
  program.code = code;
  uvperf_attr_software(&attr, PERF_COUNT_SW_PAGE_FAULTS);
  attr.sample_type = PERF_SAMPLE_STACK_USER;
  attr.sample_stack_user = 64;
  attr.exclude_kernel = 1;
  options.pid = 44;
  if (code > 0 || code < -4095)
    code = UV_ENOTTY;
  assert_int_equal(uvperf_event_init(loop, &event, &attr, &options, &error),
                   code);
  assert_int_equal(error.code, code);
  assert_int_equal(error.cause, cause);
  assert_non_null(strstr(error.reason, "options.open"));
  assert_non_null(strstr(error.reason, "'page-faults'"));
  expect_calls(&program, 1);
}

static void refusal_is_explained_as_the_programs(void **state) {
  refused(*state, -EACCES, UVPERF_CAUSE_PERMISSION);
  refused(*state, -EPERM, UVPERF_CAUSE_PERMISSION);
  refused(*state, -ENOSYS, UVPERF_CAUSE_PERMISSION);
  refused(*state, -EMFILE, UVPERF_CAUSE_FILES);
  refused(*state, -E2BIG, UVPERF_CAUSE_OLD_KERNEL);
  refused(*state, -ESRCH, UVPERF_CAUSE_NO_TASK);
  refused(*state, -ECONNRESET, UVPERF_CAUSE_UNKNOWN);
}

/* A seccomp filter may forbid ioctl(2) to a process that gets its events from
 * another process. */
static void ioctl_that_is_forbidden_does_not_blame_the_fd(void **state) {
  struct perf_event_attr attr;
  program_t program;
  uvperf_event_options_t options = by(&program);
  uvperf_error_t error;
  uvperf_event_t event;

  fake_event_add(7);
  fake_fail_from(FAKE_IOCTL_PTR, 1, -EPERM);
  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  assert_int_equal(uvperf_event_init(*state, &event, &attr, &options, &error),
                   UV_EPERM);
  assert_int_equal(error.cause, UVPERF_CAUSE_PERMISSION);
  assert_null(strstr(error.reason, "options.open"));
  fake_assert_clean();
}

/* The number may be any fd of the program, so it stays as it is. */
static void other_fd_than_a_perf_event_is_enotty(void **state) {
  int ends[2];

  assert_int_equal(pipe(ends), 0);
  refused(*state, ends[0], UVPERF_CAUSE_ARGUMENT);
  assert_int_equal(fcntl(ends[0], F_GETFD), 0);
  close(ends[0]);
  refused(*state, ends[0], UVPERF_CAUSE_ARGUMENT);
  close(ends[1]);
}

/* A second event has the fd of the first one, and is refused. The first one
 * still works. */
static void event_of_another_handle_is_eexist(void **state) {
  live_collector_t first, second;
  struct perf_event_attr attr;
  program_t program;
  uvperf_event_options_t options = by(&program);
  uvperf_error_t error;

  fake_event_add(7);
  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  uvperf_attr_set_period(&attr, 1000000);
  live_init(*state, &first, &attr, &options);
  program.fails_at = 2;
  program.code = uvperf_event_fd(&first.event);
  assert_int_equal(
      uvperf_event_init(*state, &second.event, &attr, &options, &error),
      UV_EEXIST);
  assert_int_equal(error.cause, UVPERF_CAUSE_ARGUMENT);
  fake_pool_hold();
  memset(&second, 0, sizeof(second));
  second.event.handle.data = &second;
  program.fails_at = 3;
  opened = 0;
  options.open_cb = on_open;
  assert_int_equal(
      uvperf_event_init(*state, &second.event, &attr, &options, NULL), 0);
  fake_pool_finish();
  assert_int_equal(opened, UV_EEXIST);
  fake_pool_reset();
  live_close(&second);
  assert_int_equal(uvperf_enable(&first.event.handle, 0, NULL), 0);
  assert_int_equal(fake_count(FAKE_CLOSE), 0);
  live_close(&first);
  fake_assert_clean();
}

static void number_that_is_no_errno_is_enotty(void **state) {
  refused(*state, -4096, UVPERF_CAUSE_ARGUMENT);
  refused(*state, INT32_MIN, UVPERF_CAUSE_ARGUMENT);
  refused(*state, -4095, UVPERF_CAUSE_UNKNOWN);
}

/* One fallback helps; the one that asks the kernel is not tried. */
static void fallbacks_are_tried_by_the_program(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;
  program_t program;
  uvperf_event_options_t options = by(&program);
  const uvperf_change_t *changes;
  uvperf_error_t error;
  uvperf_event_t event;
  size_t nr;

  fake_version();
  fake_event_add(7);
  uvperf_attr_software(&attr, PERF_COUNT_SW_PAGE_FAULTS);
  options.fallbacks = UVPERF_FALLBACK_ALL;
  program.fails_at = 1;
  program.code = -EACCES;
  live_init(*state, &collector, &attr, &options);
  changes = uvperf_changes(&collector.event.handle, 0, &nr);
  assert_int_equal(nr, 2);
  assert_int_equal(changes[0].fallback, UVPERF_FALLBACK_USER);
  expect_calls(&program, 2);
  live_close(&collector);
  fake_kernel_reset();
  by(&program);
  program.fails_at = 1;
  program.code = -EINVAL;
  assert_int_equal(uvperf_event_init(*state, &event, &attr, &options, &error),
                   UV_EINVAL);
  expect_calls(&program, 1);
}

/* -- a set ----------------------------------------------------------------- */

/* A group of two on two CPUs, with a ring each. */
static void plan_set(evlist_make_t *make, program_t *program) {
  fake_event_t *events[16];

  fake_kernel_reset();
  counters_script(events, 16);
  evlist_make_records(make, 2);
  evlist_group(make, 0, 2);
  evlist_add_cpus(make, "0-1");
  by(program);
  make->options.open = program_open;
  make->options.open_arg = program;
}

static void set_is_opened_by_the_program(void **state) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  program_t program;
  uint32_t index;

  plan_set(&make, &program);
  /* The kernel must not be asked for it. */
  uvperf__known[UVPERF__WORD_READ_FORMAT].yes = 0;
  evlist = evlist_open(&make);
  expect_calls(&program, 6); /* two attrs and a ring's owner on two CPUs */
  assert_int_equal(uvperf__evlist_nr_open(evlist), 4);
  target.cpus = "1";
  assert_int_equal(uvperf__evlist_add_target(evlist, &target, &index, NULL), 0);
  expect_calls(&program, 8);
  assert_int_equal(program.pid, live_tid());
  assert_int_equal(program.cpu, 1);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

static void on_target(uvperf_set_t *set, int status, void *data, uint32_t index,
                      const uvperf_error_t *error) {
  (void)set;
  (void)data;
  (void)index;
  (void)error;
  opened = status;
}

static void set_and_target_are_opened_by_the_program_on_the_pool(void **state) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  const uvperf_set_failure_t *failures;
  scripted_opening_t set;
  program_t program;
  size_t nr, i;

  scripted_opening_plan(&set, 0);
  for (i = 0; i < 4; i++)
    fake_event_add(200 + i);
  by(&program);
  set.make.options.open = program_open;
  set.make.options.open_arg = &program;
  assert_int_equal(scripted_opening_begin(*state, &set), 0);
  fake_pool_finish();
  assert_int_equal(set.status, 0);
  expect_calls(&program, 6);
  opened = 1;
  target.type = UVPERF_TARGET_THREAD;
  target.pid = 1; /* it must exist */
  target.cpus = "1";
  assert_int_equal(uvperf_set_add(&set.set, &target, on_target, NULL, NULL), 0);
  fake_pool_finish();
  assert_int_equal(opened, 0);
  assert_int_equal(program.pid, 1);
  expect_calls(&program, 8); /* CPU 1 has a ring */
  /* The set knows the target's newest event, and the next target the set's. */
  program.code = REPEATED;
  program.fails_at = 9;
  assert_int_equal(uvperf_set_add(&set.set, &target, NULL, NULL, NULL), 0);
  program.fails_at = 11;
  assert_int_equal(uvperf_set_add(&set.set, &target, on_target, NULL, NULL), 0);
  fake_pool_finish();
  failures = uvperf_set_failures(&set.set, &nr);
  assert_int_equal(nr, 2);
  for (i = 0; i < nr; i++)
    assert_int_equal(failures[i].error.code, UV_EEXIST);
  scripted_opening_close(*state, &set);
}

/* The program fails at its nth call, and the set closes each fd once. */
static void expect_no_set(unsigned nth, int code, uint32_t flags, int rc,
                          uvperf_error_t *error) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  program_t program;

  plan_set(&make, &program);
  make.options.flags |= flags;
  program.fails_at = nth;
  program.code = code;
  assert_int_equal(evlist_try(&make, &evlist, error), rc);
  expect_calls(&program, nth);
  fake_assert_clean();
}

/* Each call in turn returns the event of the call before. */
static void set_that_gets_an_event_twice_is_eexist(void **state) {
  uvperf_error_t error;
  unsigned nth;

  for (nth = 2; nth <= 6; nth++) {
    expect_no_set(nth, REPEATED, UVPERF_SET_STRICT, -EEXIST, &error);
    assert_int_equal(error.cause, UVPERF_CAUSE_ARGUMENT);
  }
}

/* It may be the opener that has no fds. */
static void set_whose_opener_has_no_fds_does_not_know_how_many(void **state) {
  uvperf_error_t error;

  expect_no_set(1, -EMFILE, 0, -EMFILE, &error);
  assert_int_equal(error.cause, UVPERF_CAUSE_FILES);
  assert_non_null(strstr(error.reason, "options.open"));
}

/* Each call in turn fails. */
static void set_that_is_refused_leaves_no_fd(void **state) {
  uvperf_error_t error;
  unsigned nth;

  for (nth = 1; nth <= 6; nth++) {
    expect_no_set(nth, -EMFILE, 0, -EMFILE, &error);
    assert_non_null(strstr(error.reason, "options.open"));
  }
}

static void cpu_that_comes_is_opened_by_the_program(void **state) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  program_t program;

  plan_set(&make, &program);
  make.targets[0].cpus = NULL;
  evlist = evlist_open(&make);
  expect_calls(&program, 9);
  uvperf__evlist_cpu_gone(evlist, 1);
  assert_int_equal(uvperf__evlist_cpu_come(evlist, 1, NULL), 0);
  expect_calls(&program, 11); /* the ring's owner stays */
  assert_int_equal(program.cpu, 1);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

/* A second target gets the event of the first one while another thread opens
 * it. */
static void target_that_gets_an_event_twice_lacks_it(void **state) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  const uvperf_set_failure_t *failures;
  scripted_opening_t set;
  program_t program;
  size_t nr;

  scripted_opening_plan(&set, 0);
  fake_event_add(200);
  by(&program);
  set.make.options.open = program_open;
  set.make.options.open_arg = &program;
  assert_int_equal(scripted_opening_begin(*state, &set), 0);
  fake_pool_finish();
  assert_int_equal(set.status, 0);
  program.fails_at = program.calls + 1;
  program.code = REPEATED;
  opened = 1;
  target.cpus = "1";
  assert_int_equal(uvperf_set_add(&set.set, &target, on_target, NULL, NULL), 0);
  fake_pool_finish();
  assert_int_equal(opened, 0);
  failures = uvperf_set_failures(&set.set, &nr);
  assert_int_equal(nr, 1);
  assert_int_equal(failures[0].error.code, UV_EEXIST);
  /* The next target gets the event that the pool has opened. */
  fake_event_add(201);
  program.fails_at = program.calls + 1;
  assert_int_equal(uvperf_set_add(&set.set, &target, NULL, NULL, NULL), 0);
  failures = uvperf_set_failures(&set.set, &nr);
  assert_int_equal(nr, 2);
  assert_int_equal(failures[1].error.code, UV_EEXIST);
  scripted_opening_close(*state, &set);
}

/* -- a BPF reader ---------------------------------------------------------- */

static void reader_is_opened_by_the_program(void **state) {
  scripted_reader_t scripted;
  program_t program;

  make_cpus_list("0-1\n");
  scripted_reader_plan(&scripted, 8);
  by(&program);
  scripted.options.open = program_open;
  scripted.options.open_arg = &program;
  uvperf__known[UVPERF__WORD_READ_FORMAT].no = 0;
  scripted_reader_open(*state, &scripted);
  expect_calls(&program, 4);
  live_bpf_reader_start(&scripted.live, NULL);
  hotplug_run(*state);
  make_cpus_bring_up(2);
  make_cpus_list("0-2\n");
  fake_uevents_say("online", 2);
  hotplug_run(*state);
  assert_string_equal(scripted_reader_entries(&scripted), "0 1 2");
  expect_calls(&program, 6);
  assert_int_equal(program.cpu, 2);
  scripted_reader_close(&scripted);
}

static void reader_that_is_refused_leaves_no_fd(void **state) {
  scripted_reader_t scripted;
  program_t program;
  uvperf_error_t error;
  unsigned nth;

  make_cpus_list("0-1\n");
  for (nth = 1; nth <= 4; nth++) {
    scripted_reader_plan(&scripted, 8);
    by(&program);
    program.fails_at = nth;
    program.code = -EACCES;
    scripted.options.open = program_open;
    scripted.options.open_arg = &program;
    assert_int_equal(scripted_reader_try(*state, &scripted, &error), UV_EACCES);
    assert_non_null(strstr(error.reason, "options.open"));
    expect_calls(&program, nth);
    scripted_reader_end(&scripted);
  }
}

static void reader_that_gets_an_event_twice_is_eexist(void **state) {
  scripted_reader_t scripted;
  program_t program;
  uvperf_error_t error;
  unsigned nth;

  make_cpus_list("0-1\n");
  for (nth = 2; nth <= 4; nth++) {
    scripted_reader_plan(&scripted, 8);
    by(&program);
    program.fails_at = nth;
    program.code = REPEATED;
    scripted.options.open = program_open;
    scripted.options.open_arg = &program;
    assert_int_equal(scripted_reader_try(*state, &scripted, &error), UV_EEXIST);
    expect_calls(&program, nth);
    scripted_reader_end(&scripted);
  }
}

#define opener_test(f) support_loop_test_setup_teardown(f, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      opener_test(event_is_opened_by_the_program),
      opener_test(cgroup_0_is_no_thread),
      opener_test(event_is_opened_by_the_program_on_the_pool),
      opener_test(refusal_is_explained_as_the_programs),
      opener_test(ioctl_that_is_forbidden_does_not_blame_the_fd),
      opener_test(other_fd_than_a_perf_event_is_enotty),
      opener_test(event_of_another_handle_is_eexist),
      opener_test(number_that_is_no_errno_is_enotty),
      opener_test(fallbacks_are_tried_by_the_program),
      opener_test(set_is_opened_by_the_program),
      opener_test(set_and_target_are_opened_by_the_program_on_the_pool),
      opener_test(set_that_gets_an_event_twice_is_eexist),
      opener_test(set_whose_opener_has_no_fds_does_not_know_how_many),
      opener_test(target_that_gets_an_event_twice_lacks_it),
      opener_test(set_that_is_refused_leaves_no_fd),
      opener_test(cpu_that_comes_is_opened_by_the_program),
      opener_test(reader_is_opened_by_the_program),
      opener_test(reader_that_is_refused_leaves_no_fd),
      opener_test(reader_that_gets_an_event_twice_is_eexist),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
