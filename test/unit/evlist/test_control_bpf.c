/* SPDX-License-Identifier: MIT */
/* Scripted: the programs of all events, also of targets that come later: by
 * links, and by ioctls if the kernel has no links. */
#include "evlist_make.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

static evlist_make_t make;

/* The fd is no program's: the fake does not mind. */
static int some_fd(void) {
  int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

  assert_true(fd >= 0);
  return fd;
}

static int last_program;
static int refuse_program;

static int note_link(fake_event_t *fake, int prog_fd) {
  (void)fake;
  last_program = prog_fd;
  return refuse_program;
}

static int note_ioctl(fake_event_t *fake, unsigned long request,
                      uintptr_t argument) {
  (void)fake;
  if (request != PERF_EVENT_IOC_SET_BPF)
    return 0;
  last_program = (int)argument;
  return refuse_program;
}

static uvperf__evlist_t *open_on_cpus(fake_event_t **events, uint32_t type,
                                      const char *cpus, size_t nr_events) {
  uvperf__evlist_t *evlist;
  size_t i;

  counters_script(events, nr_events);
  evlist_make(&make, 1);
  make.attrs[0].type = type;
  evlist_add_cpus(&make, cpus);
  evlist = evlist_open(&make);
  last_program = -1;
  refuse_program = 0;
  for (i = 0; i < nr_events; i++) {
    events[i]->on_link = note_link;
    events[i]->on_ioctl = note_ioctl;
  }
  fake_log_clear();
  return evlist;
}

static int add_cpu(uvperf__evlist_t *evlist, const char *cpu) {
  uvperf_target_t target = UVPERF_TARGET_INIT;

  target.type = UVPERF_TARGET_CPUS;
  target.cpus = cpu;
  return uvperf__evlist_add_target(evlist, &target, NULL, NULL);
}

static int set_program(uvperf__evlist_t *evlist, uvperf_error_t *error) {
  int fd = some_fd();
  int rc = uvperf__evlist_attach_bpf(evlist, 0, fd, 0, error);

  close(fd);
  return rc;
}

static void finish(uvperf__evlist_t *evlist) {
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

/* -- each event its own --------------------------------------------------- */

static void program_is_duplicated_for_later_places(void **state) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  fake_event_t *events[4];
  uvperf__evlist_t *evlist;
  size_t fds = support_count_fds();

  (void)state;
  evlist = open_on_cpus(events, PERF_TYPE_SOFTWARE, "0-1", 4);
  assert_int_equal(set_program(evlist, NULL), 0);
  assert_string_equal(fake_log(), "bpf link, bpf link");
  last_program = -1;
  fake_log_clear();
  assert_int_equal(add_cpu(evlist, "2"), 0);
  assert_string_equal(fake_log(), "open, bpf link");
  target.type = UVPERF_TARGET_CPUS;
  target.cpus = "3";
  assert_int_equal(evlist_add_elsewhere(evlist, &target, NULL), 0);
  assert_string_equal(fake_log(), "open, bpf link, open, bpf link");
  assert_int_equal(fcntl(last_program, F_GETFD), FD_CLOEXEC);
  finish(evlist);
  assert_int_equal(support_count_fds(), fds);
}

/* Another program may take its place until then. */
static void program_of_an_attr_without_places_is_for_the_first(void **state) {
  fake_event_t *events[1];
  uvperf__evlist_t *evlist;
  size_t fds;

  (void)state;
  counters_script(events, 1);
  evlist_make(&make, 1);
  evlist = evlist_open(&make);
  fake_log_clear();
  assert_int_equal(set_program(evlist, NULL), 0);
  fds = support_count_fds();
  assert_int_equal(set_program(evlist, NULL), 0);
  assert_int_equal(support_count_fds(), fds);
  assert_string_equal(fake_log(), "");
  assert_int_equal(uvperf__evlist_enable(evlist, NULL), 0);
  assert_int_equal(add_cpu(evlist, "0"), 0);
  assert_string_equal(fake_log(), "open, bpf link, ioctl ENABLE");
  finish(evlist);
}

static void cookie_is_that_of_each_link_also_of_later_places(void **state) {
  fake_event_t *events[3];
  uvperf__evlist_t *evlist;
  int fd = some_fd();
  size_t i;

  (void)state;
  evlist = open_on_cpus(events, PERF_TYPE_SOFTWARE, "0-1", 3);
  assert_int_equal(
      uvperf__evlist_attach_bpf(evlist, 0, fd, UINT64_MAX - 3, NULL), 0);
  assert_int_equal(add_cpu(evlist, "2"), 0);
  for (i = 0; i < 3; i++)
    assert_int_equal(events[i]->cookie, UINT64_MAX - 3);
  close(fd);
  finish(evlist);
}

/* No ioctl stands in for the link: the program would see another cookie. */
static void cookie_without_a_link_is_refused(void **state) {
  static const struct {
    int link;
    int code;
    int cause;
  } cases[] = {
      {-EINVAL, -EINVAL, UVPERF_CAUSE_ARGUMENT},
      {-ENOSYS, -EOPNOTSUPP, UVPERF_CAUSE_OLD_KERNEL},
      {-EPERM, -EPERM, UVPERF_CAUSE_PERMISSION},
      {-EMFILE, -EMFILE, UVPERF_CAUSE_FILES},
  };
  fake_event_t *events[1];
  uvperf__evlist_t *evlist;
  uvperf_error_t error;
  int fd = some_fd();
  size_t i;

  (void)state;
  for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    evlist_make_setup(NULL);
    evlist = open_on_cpus(events, PERF_TYPE_SOFTWARE, "0", 1);
    fake_fail(FAKE_BPF_LINK, 1, cases[i].link);
    assert_int_equal(uvperf__evlist_attach_bpf(evlist, 0, fd, 1, &error),
                     cases[i].code);
    assert_int_equal(error.cause, cases[i].cause);
    assert_null(strstr(fake_log(), "SET_BPF"));
    /* And one without a cookie can be attached. */
    assert_int_equal(uvperf__evlist_attach_bpf(evlist, 0, fd, 0, NULL), 0);
    finish(evlist);
  }
  close(fd);
}

static void second_program_is_refused(void **state) {
  fake_event_t *events[2];
  uvperf__evlist_t *evlist;
  uvperf_error_t error;

  (void)state;
  evlist = open_on_cpus(events, PERF_TYPE_SOFTWARE, "0-1", 2);
  assert_int_equal(set_program(evlist, NULL), 0);
  fake_log_clear();
  assert_int_equal(set_program(evlist, &error), -EEXIST);
  assert_int_equal(error.cause, UVPERF_CAUSE_EXISTS);
  assert_string_equal(fake_log(), "");
  finish(evlist);
}

/* The ioctl fails too, and its error is reported. */
static void program_that_nothing_takes_is_closed(void **state) {
  fake_event_t *events[2];
  uvperf__evlist_t *evlist;
  uvperf_error_t error;
  size_t fds;

  (void)state;
  evlist = open_on_cpus(events, PERF_TYPE_SOFTWARE, "0-1", 2);
  fds = support_count_fds();
  refuse_program = -EINVAL;
  assert_int_equal(set_program(evlist, &error), -EINVAL);
  assert_int_equal(error.cause, UVPERF_CAUSE_ARGUMENT);
  assert_string_equal(fake_log(), "bpf link failed, ioctl SET_BPF failed, "
                                  "bpf link failed, ioctl SET_BPF failed");
  assert_int_equal(support_count_fds(), fds);
  /* And another program may be attached, still by links. */
  refuse_program = 0;
  fake_log_clear();
  assert_int_equal(set_program(evlist, NULL), 0);
  assert_string_equal(fake_log(), "bpf link, bpf link");
  finish(evlist);
}

static void program_that_one_event_refuses_is_reported(void **state) {
  fake_event_t *events[2];
  uvperf__evlist_t *evlist;
  uvperf_error_t error;

  (void)state;
  evlist = open_on_cpus(events, PERF_TYPE_SOFTWARE, "0-1", 2);
  fake_fail(FAKE_BPF_LINK, 2, -EEXIST);
  assert_int_equal(set_program(evlist, &error), -EEXIST);
  assert_int_equal(error.cause, UVPERF_CAUSE_EXISTS);
  assert_string_equal(fake_log(), "bpf link, bpf link failed");
  finish(evlist);
}

static void link_without_memory_is_enomem(void **state) {
  fake_event_t *events[2];
  uvperf__evlist_t *evlist;
  uvperf_error_t error;

  (void)state;
  evlist = open_on_cpus(events, PERF_TYPE_SOFTWARE, "0", 2);
  fake_fail(FAKE_BPF_LINK, 1, -ENOMEM);
  assert_int_equal(set_program(evlist, &error), -ENOMEM);
  assert_int_equal(error.cause, UVPERF_CAUSE_MEMORY);
  assert_string_equal(fake_log(), "bpf link failed");
  /* For an added target it makes the call fail. */
  assert_int_equal(set_program(evlist, NULL), 0);
  fake_fail(FAKE_BPF_LINK, 1, -ENOMEM);
  assert_int_equal(add_cpu(evlist, "1"), -ENOMEM);
  assert_int_equal(events[1]->fd, -1);
  finish(evlist);
}

/* -- without links -------------------------------------------------------- */

static void kernel_without_links_is_asked_once(void **state) {
  static const int codes[] = {-EINVAL, -ENOSYS, -EPERM, -EACCES};
  fake_event_t *events[3];
  uvperf__evlist_t *evlist;
  size_t i;

  (void)state;
  for (i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
    evlist = open_on_cpus(events, PERF_TYPE_SOFTWARE, "0-1", 3);
    fake_fail(FAKE_BPF_LINK, 1, codes[i]);
    assert_int_equal(set_program(evlist, NULL), 0);
    assert_string_equal(fake_log(),
                        "bpf link failed, ioctl SET_BPF, ioctl SET_BPF");
    fake_log_clear();
    assert_int_equal(add_cpu(evlist, "2"), 0);
    assert_string_equal(fake_log(), "open, ioctl SET_BPF");
    fake_log_clear();
    uvperf__evlist_detach(evlist);
    assert_string_equal(fake_log(), "");
    finish(evlist);
    assert_string_equal(fake_log(), "close, close, close");
  }
}

/* The next one may have it: it is not the kernel. */
static void link_without_an_fd_is_an_ioctl(void **state) {
  static const int codes[] = {-EMFILE, -ENFILE};
  fake_event_t *events[2];
  uvperf__evlist_t *evlist;
  size_t i;

  (void)state;
  for (i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
    evlist = open_on_cpus(events, PERF_TYPE_SOFTWARE, "0-1", 2);
    fake_fail(FAKE_BPF_LINK, 1, codes[i]);
    assert_int_equal(set_program(evlist, NULL), 0);
    assert_string_equal(fake_log(), "bpf link failed, ioctl SET_BPF, bpf link");
    finish(evlist);
  }
}

/* -- tracepoints ---------------------------------------------------------- */

/* A tracepoint has a list of programs for all of its events. */
static size_t nr_attached;

static int attach_once(fake_event_t *fake, int prog_fd) {
  (void)fake;
  (void)prog_fd;
  return nr_attached++ == 0 ? 0 : -EEXIST;
}

static int attach_once_by_ioctl(fake_event_t *fake, unsigned long request,
                                uintptr_t argument) {
  if (request != PERF_EVENT_IOC_SET_BPF)
    return 0;
  return attach_once(fake, (int)argument);
}

static void share_tracepoint(fake_event_t **events, size_t nr) {
  size_t i;

  nr_attached = 0;
  for (i = 0; i < nr; i++) {
    events[i]->on_link = attach_once;
    events[i]->on_ioctl = attach_once_by_ioctl;
  }
}

static void program_of_a_tracepoint_is_attached_once(void **state) {
  fake_event_t *events[4];
  uvperf__evlist_t *evlist;

  (void)state;
  evlist = open_on_cpus(events, PERF_TYPE_TRACEPOINT, "0", 4);
  assert_int_equal(add_cpu(evlist, "1-2"), 0);
  share_tracepoint(events, 4);
  assert_int_equal(set_program(evlist, NULL), 0);
  assert_int_equal(nr_attached, 3);
  assert_int_equal(add_cpu(evlist, "3"), 0);
  assert_int_equal(evlist_nr_failures(evlist), 0);
  /* The event through which it is attached is closed: another takes it. It has
   * stopped before. */
  nr_attached = 0;
  fake_log_clear();
  assert_int_equal(uvperf__evlist_remove_target(evlist, 0, NULL, NULL), 0);
  assert_string_equal(fake_log(), "ioctl DISABLE, close link, close, bpf link");
  assert_int_equal(nr_attached, 1);
  fake_log_clear();
  assert_int_equal(uvperf__evlist_remove_target(evlist, 2, NULL, NULL), 0);
  assert_string_equal(fake_log(), "close");
  finish(evlist);
}

static void
program_of_a_tracepoint_is_attached_once_without_links(void **state) {
  fake_event_t *events[3];
  uvperf__evlist_t *evlist;

  (void)state;
  evlist = open_on_cpus(events, PERF_TYPE_TRACEPOINT, "0", 3);
  assert_int_equal(add_cpu(evlist, "1-2"), 0);
  share_tracepoint(events, 3);
  fake_fail_from(FAKE_BPF_LINK, 1, -EINVAL);
  fake_log_clear();
  assert_int_equal(set_program(evlist, NULL), 0);
  assert_string_equal(
      fake_log(), "bpf link failed, ioctl SET_BPF, ioctl SET_BPF failed, ioctl "
                  "SET_BPF failed");
  nr_attached = 0;
  fake_log_clear();
  assert_int_equal(uvperf__evlist_remove_target(evlist, 0, NULL, NULL), 0);
  assert_string_equal(fake_log(), "close, ioctl SET_BPF");
  finish(evlist);
}

static void
program_of_a_tracepoint_that_others_attached_is_refused(void **state) {
  fake_event_t *events[2];
  uvperf__evlist_t *evlist;

  (void)state;
  evlist = open_on_cpus(events, PERF_TYPE_TRACEPOINT, "0-1", 2);
  share_tracepoint(events, 2);
  nr_attached = 1;
  assert_int_equal(set_program(evlist, NULL), -EEXIST);
  finish(evlist);
}

/* -- the end -------------------------------------------------------------- */

static void
detached_events_stay_open_and_close_without_their_links(void **state) {
  fake_event_t *events[2];
  uvperf__evlist_t *evlist;

  (void)state;
  evlist = open_on_cpus(events, PERF_TYPE_SOFTWARE, "0-1", 2);
  assert_int_equal(set_program(evlist, NULL), 0);
  fake_log_clear();
  assert_int_equal(uvperf__evlist_disable(evlist, NULL), 0);
  uvperf__evlist_detach(evlist);
  assert_string_equal(fake_log(), "ioctl DISABLE, ioctl DISABLE, close link, "
                                  "close link");
  uvperf__evlist_detach(evlist);
  fake_log_clear();
  finish(evlist);
  assert_string_equal(fake_log(), "close, close");
}

/* The child's fds of the links are closed with those of the events; neither
 * ends what the parent has. */
static void forked_child_stops_none_of_the_parents_events(void **state) {
  fake_event_t *events[2];
  uvperf__evlist_t *evlist;

  (void)state;
  evlist = open_on_cpus(events, PERF_TYPE_SOFTWARE, "0-1", 2);
  assert_int_equal(set_program(evlist, NULL), 0);
  fake_process(4711);
  assert_int_equal(set_program(evlist, NULL), -EPERM);
  fake_log_clear();
  uvperf__evlist_detach(evlist);
  assert_string_equal(fake_log(), "");
  finish(evlist);
  assert_string_equal(fake_log(), "close link, close, close link, close");
}

#define TEST(f) cmocka_unit_test_setup(f, evlist_make_setup)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(program_is_duplicated_for_later_places),
      TEST(program_of_an_attr_without_places_is_for_the_first),
      TEST(cookie_is_that_of_each_link_also_of_later_places),
      TEST(cookie_without_a_link_is_refused),
      TEST(second_program_is_refused),
      TEST(program_that_nothing_takes_is_closed),
      TEST(program_that_one_event_refuses_is_reported),
      TEST(link_without_memory_is_enomem),
      TEST(kernel_without_links_is_asked_once),
      TEST(link_without_an_fd_is_an_ioctl),
      TEST(program_of_a_tracepoint_is_attached_once),
      TEST(program_of_a_tracepoint_is_attached_once_without_links),
      TEST(program_of_a_tracepoint_that_others_attached_is_refused),
      TEST(detached_events_stay_open_and_close_without_their_links),
      TEST(forked_child_stops_none_of_the_parents_events),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
