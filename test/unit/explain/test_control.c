/* SPDX-License-Identifier: MIT */
/* Causes and reasons for the errnos of an open event's ioctls, on a scripted
 * machine. */
#include "live_control.h"
#include "make_host.h"
#include "make_tree.h"

#include <errno.h>

#include <linux/hw_breakpoint.h>

#include "explain/explain.h"

#define PMUS       "/sys/bus/event_source/devices/"
#define TRACEPOINT "/sys/kernel/tracing/events/sched/sched_switch/"
#define FDINFO     "/proc/thread-self/fdinfo/"

/* The scripted machine's numbers of PMUs: make_host.c has the first. */
#define UPROBE_TYPE 8
#define PT_TYPE     10

static int setup(void **state) {
  if (make_host_machine_setup(state) != 0)
    return -1;
  make_host_write(PMUS "intel_pt/type", "10\n");
  make_host_write(PMUS "intel_pt/nr_addr_filters", "2\n");
  make_host_write("/proc/sys/kernel/perf_event_max_sample_rate", "5000\n");
  return 0;
}

/* Explains a failure and insists on a cause and on pieces of the reason. */
static void expect(uvperf_error_t *error, int code,
                   const uvperf__control_t *control, int cause,
                   const char *piece) {
  memset(error, 0xff, sizeof(*error));
  live_control_expect_refused(uvperf__explain_control(error, code, control),
                              error, code, cause, piece);
}

/* The same for an event and a request without other parameters. */
static void expect_plain(int code, const struct perf_event_attr *attr,
                         unsigned long request, int cause, const char *piece) {
  uvperf__control_t control = {request, attr, 0, "fd == 3", attr, 0};
  uvperf_error_t error;

  expect(&error, code, &control, cause, piece);
}

static void clock_attr(struct perf_event_attr *attr, uint64_t period) {
  uvperf_attr_software(attr, PERF_COUNT_SW_CPU_CLOCK);
  uvperf_attr_set_period(attr, period);
}

/* -- every request -------------------------------------------------------- */

static void explain_control_names_request_and_event(void **state) {
  static const struct {
    unsigned long request;
    const char *name;
  } all[] = {
      {PERF_EVENT_IOC_ENABLE, "cannot enable 'cpu-clock': "},
      {PERF_EVENT_IOC_DISABLE, "cannot disable 'cpu-clock': "},
      {PERF_EVENT_IOC_REFRESH, "cannot refresh 'cpu-clock': "},
      {PERF_EVENT_IOC_RESET, "cannot reset 'cpu-clock': "},
      {PERF_EVENT_IOC_PERIOD, "cannot set the period of 'cpu-clock': "},
      {PERF_EVENT_IOC_SET_OUTPUT,
       "cannot redirect the records of 'cpu-clock': "},
      {PERF_EVENT_IOC_SET_FILTER, "cannot filter 'cpu-clock' by \"fd == 3\": "},
      {PERF_EVENT_IOC_ID, "cannot read the id of 'cpu-clock': "},
      {PERF_EVENT_IOC_SET_BPF, "cannot attach a BPF program to 'cpu-clock': "},
      {PERF_EVENT_IOC_PAUSE_OUTPUT,
       "cannot pause the records of 'cpu-clock': "},
      {PERF_EVENT_IOC_QUERY_BPF,
       "cannot list the BPF programs of 'cpu-clock': "},
      {PERF_EVENT_IOC_MODIFY_ATTRIBUTES, "cannot modify 'cpu-clock': "},
      {0x1234, "cannot control 'cpu-clock': "},
  };
  struct perf_event_attr attr;
  size_t i;

  clock_attr(&attr, 1000);
  for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
    expect_plain(-EXDEV, &attr, all[i].request, UVPERF_CAUSE_UNKNOWN,
                 all[i].name);
}

static void explain_control_of_any_request_has_its_cause(void **state) {
  struct perf_event_attr attr;

  clock_attr(&attr, 1000);
  expect_plain(-EACCES, &attr, PERF_EVENT_IOC_ENABLE, UVPERF_CAUSE_PERMISSION,
               "a security module");
  expect_plain(-EPERM, &attr, PERF_EVENT_IOC_SET_BPF, UVPERF_CAUSE_PERMISSION,
               "a seccomp filter");
  expect_plain(-ENODEV, &attr, PERF_EVENT_IOC_DISABLE, UVPERF_CAUSE_NO_EVENT,
               "the PMU was unregistered");
  expect_plain(-ENOMEM, &attr, PERF_EVENT_IOC_SET_FILTER, UVPERF_CAUSE_MEMORY,
               "out of memory");
  expect_plain(-ENOTTY, &attr, PERF_EVENT_IOC_PAUSE_OUTPUT,
               UVPERF_CAUSE_OLD_KERNEL, "does not have this ioctl");
  expect_plain(-EOPNOTSUPP, &attr, PERF_EVENT_IOC_ENABLE,
               UVPERF_CAUSE_NOT_SUPPORTED,
               "its overflows ran out, and since Linux 6.16 an event of "
               "another thread then stays stopped; close it and open it again");
  expect_plain(-EINVAL, &attr, PERF_EVENT_IOC_RESET, UVPERF_CAUSE_UNKNOWN,
               "errno 22");
}

static void explain_control_without_error_returns_the_code(void **state) {
  struct perf_event_attr attr;
  uvperf__control_t control = {PERF_EVENT_IOC_PERIOD, &attr, 0, NULL, NULL, 0};

  clock_attr(&attr, 1000);
  assert_int_equal(uvperf__explain_control(NULL, -EINVAL, &control), -EINVAL);
}

/* -- REFRESH, PERIOD, PAUSE_OUTPUT ---------------------------------------- */

static void explain_refresh_einval_says_what_the_event_lacks(void **state) {
  struct perf_event_attr attr;

  clock_attr(&attr, 0);
  expect_plain(-EINVAL, &attr, PERF_EVENT_IOC_REFRESH, UVPERF_CAUSE_ARGUMENT,
               "it has no period, so it only counts; open it with "
               "attr.sample_period or attr.sample_freq");
  clock_attr(&attr, 1000);
  attr.inherit = 1;
  expect_plain(-EINVAL, &attr, PERF_EVENT_IOC_REFRESH, UVPERF_CAUSE_ARGUMENT,
               "an event with attr.inherit does not count its overflows; "
               "open it without inherit");
  attr.inherit = 0;
  expect_plain(-EINVAL, &attr, PERF_EVENT_IOC_REFRESH, UVPERF_CAUSE_UNKNOWN,
               "errno 22");
}

static void explain_period_einval_goes_by_period_and_attr(void **state) {
  struct perf_event_attr attr;
  uvperf__control_t control = {
      PERF_EVENT_IOC_PERIOD, &attr, 4000, NULL, NULL, 0};
  uvperf_error_t error;

  clock_attr(&attr, 0);
  expect(&error, -EINVAL, &control, UVPERF_CAUSE_ARGUMENT, "it only counts");
  clock_attr(&attr, 1000);
  expect(&error, -EINVAL, &control, UVPERF_CAUSE_NOT_SUPPORTED,
         "the PMU does not accept this period");
  control.value = 0;
  expect(&error, -EINVAL, &control, UVPERF_CAUSE_ARGUMENT,
         "the period is 0; to stop sampling");
  control.value = UINT64_C(1) << 63;
  expect(&error, -EINVAL, &control, UVPERF_CAUSE_ARGUMENT, "below 2^63");
  assert_int_equal(error.limit, 0);
}

static void explain_frequency_einval_goes_by_the_rate(void **state) {
  struct perf_event_attr attr;
  uvperf__control_t control = {PERF_EVENT_IOC_PERIOD, &attr, 0, NULL, NULL, 0};
  uvperf_error_t error;

  clock_attr(&attr, 0);
  uvperf_attr_set_frequency(&attr, 100);
  expect(&error, -EINVAL, &control, UVPERF_CAUSE_ARGUMENT,
         "the frequency is 0; to stop sampling");
  control.value = 5001;
  expect(&error, -EINVAL, &control, UVPERF_CAUSE_SAMPLE_RATE,
         "5001 Hz is above kernel.perf_event_max_sample_rate, 5000");
  assert_int_equal(error.limit, 5000);
  assert_int_equal(error.needed, 5001);
  control.value = 5000;
  expect(&error, -EINVAL, &control, UVPERF_CAUSE_UNKNOWN, "errno 22");
  control.value = 5001;
  make_host_write("/proc/sys/kernel/perf_event_max_sample_rate", "?\n");
  expect(&error, -EINVAL, &control, UVPERF_CAUSE_UNKNOWN, "errno 22");
}

static void explain_pause_einval_is_no_ring(void **state) {
  struct perf_event_attr attr;

  clock_attr(&attr, 1000);
  expect_plain(-EINVAL, &attr, PERF_EVENT_IOC_PAUSE_OUTPUT,
               UVPERF_CAUSE_ARGUMENT, "it has no ring");
}

/* -- SET_FILTER ----------------------------------------------------------- */

static void explain_filter_einval_goes_by_event_and_filter(void **state) {
  size_t page = support_page_bytes();
  char *longest = calloc(1, page + 1);
  struct perf_event_attr attr;
  uvperf__control_t control = {
      PERF_EVENT_IOC_SET_FILTER, &attr, 0, "fd = 3", NULL, 0};
  uvperf_error_t error;

  uvperf_attr_tracepoint(&attr, 316);
  expect(&error, -EINVAL, &control, UVPERF_CAUSE_ARGUMENT,
         "cannot filter tracepoint sched:sched_switch by \"fd = 3\": the "
         "filter is not valid; events/<category>/<name>/format in tracefs "
         "lists the fields");
  make_host_write(TRACEPOINT "format", "\tfield:int fd2;\n");
  expect(&error, -EINVAL, &control, UVPERF_CAUSE_ARGUMENT,
         "cannot filter tracepoint sched:sched_switch by \"fd = 3\": it has no "
         "field fd; its fields are fd2");
  uvperf_attr_init(&attr, UPROBE_TYPE, 0);
  expect(&error, -EINVAL, &control, UVPERF_CAUSE_ARGUMENT,
         "the filter is not valid; events/");
  uvperf_attr_init(&attr, PT_TYPE, 0);
  expect(&error, -EINVAL, &control, UVPERF_CAUSE_ARGUMENT,
         "the filter is not valid; write it as in");
  clock_attr(&attr, 1000);
  expect(&error, -EINVAL, &control, UVPERF_CAUSE_NOT_SUPPORTED,
         "it takes no filter; only tracepoints, probes and PMUs that trace");

  assert_non_null(longest);
  memset(longest, 'x', page);
  control.filter = longest;
  uvperf_attr_tracepoint(&attr, 316);
  expect(&error, -EINVAL, &control, UVPERF_CAUSE_ARGUMENT,
         "shorter than a page");
  longest[page - 1] = '\0';
  expect(&error, -EINVAL, &control, UVPERF_CAUSE_ARGUMENT,
         "it has no field xxx");
  free(longest);
}

static void explain_filter_of_other_errnos_has_its_cause(void **state) {
  struct perf_event_attr attr;

  uvperf_attr_tracepoint(&attr, 316);
  expect_plain(-ENOENT, &attr, PERF_EVENT_IOC_SET_FILTER, UVPERF_CAUSE_ARGUMENT,
               "a bracket is not closed");
  expect_plain(-ESRCH, &attr, PERF_EVENT_IOC_SET_FILTER, UVPERF_CAUSE_ARGUMENT,
               "a quotation mark is not closed");
  expect_plain(-EEXIST, &attr, PERF_EVENT_IOC_SET_FILTER, UVPERF_CAUSE_EXISTS,
               "it already has a filter");
  expect_plain(
      -ENOSPC, &attr, PERF_EVENT_IOC_SET_FILTER, UVPERF_CAUSE_ARGUMENT,
      "the filter has more conditions than this kernel allows; use fewer");
  expect_plain(
      -E2BIG, &attr, PERF_EVENT_IOC_SET_FILTER, UVPERF_CAUSE_ARGUMENT,
      "the filter has more conditions than this kernel allows; use fewer");
  uvperf_attr_init(&attr, PT_TYPE, 0);
  expect_plain(-EOPNOTSUPP, &attr, PERF_EVENT_IOC_SET_FILTER,
               UVPERF_CAUSE_NOT_SUPPORTED, "nr_addr_filters");
  expect_plain(-ENOENT, &attr, PERF_EVENT_IOC_SET_FILTER, UVPERF_CAUSE_ARGUMENT,
               "by \"fd == 3\": the file that the filter names does not exist");
}

/* -- SET_BPF, QUERY_BPF --------------------------------------------------- */

static void explain_bpf_einval_names_the_programs_type(void **state) {
  struct perf_event_attr attr;
  uvperf__control_t control = {PERF_EVENT_IOC_SET_BPF, &attr, 7, NULL, NULL, 0};
  uvperf_error_t error;

  uvperf_attr_tracepoint(&attr, 316);
  expect(&error, -EINVAL, &control, UVPERF_CAUSE_ARGUMENT,
         "fd 7 is not a BPF program of the type BPF_PROG_TYPE_TRACEPOINT (5)");
  make_host_write(FDINFO "7", "pos:\t0\nflags:\t02\n");
  expect(&error, -EINVAL, &control, UVPERF_CAUSE_ARGUMENT,
         "fd 7 is not a BPF program");
  assert_null(strstr(error.reason, "another type"));
  make_host_write(FDINFO "7", "pos:\t0\nprog_type:\t7\n");
  expect(&error, -EINVAL, &control, UVPERF_CAUSE_ARGUMENT,
         "the program has type 7, but the event needs BPF_PROG_TYPE_TRACEPOINT "
         "(5)");
  make_host_write(FDINFO "7", "prog_type:\t5\n");
  expect(
      &error, -EINVAL, &control, UVPERF_CAUSE_ARGUMENT,
      "for a probe that was made in tracefs, load it as BPF_PROG_TYPE_KPROBE");
  make_host_write(FDINFO "7", "pos:\t0\nprog_type:\t7\n");
  uvperf_attr_init(&attr, UPROBE_TYPE, 0);
  expect(&error, -EINVAL, &control, UVPERF_CAUSE_ARGUMENT,
         "BPF_PROG_TYPE_KPROBE (2)");
  clock_attr(&attr, 1000);
  expect(&error, -EINVAL, &control, UVPERF_CAUSE_ARGUMENT,
         "does not accept this program");
  make_host_write(FDINFO "7", "prog_type:\t5\n");
  expect(&error, -EINVAL, &control, UVPERF_CAUSE_ARGUMENT,
         "BPF_PROG_TYPE_PERF_EVENT (7)");
}

static void explain_bpf_of_other_errnos_has_its_cause(void **state) {
  struct perf_event_attr attr;
  uvperf__control_t control = {
      PERF_EVENT_IOC_SET_BPF, &attr, (uint64_t)(int64_t)-1, NULL, NULL, 0};
  uvperf_error_t error;

  uvperf_attr_tracepoint(&attr, 316);
  expect(&error, -EBADF, &control, UVPERF_CAUSE_ARGUMENT, "fd -1 is not open");
  expect(&error, -EEXIST, &control, UVPERF_CAUSE_EXISTS,
         "it already has a program, and can have only one, or this program is "
         "already attached through another event");
  expect(&error, -E2BIG, &control, UVPERF_CAUSE_BPF_PROGRAMS,
         "64 programs are attached to it, which is the limit; detach one by");
  assert_int_equal(error.limit, 64);
  assert_int_equal(error.needed, 65);
  expect(&error, -EACCES, &control, UVPERF_CAUSE_ARGUMENT,
         "beyond the tracepoint's fields");
  expect(
      &error, -EPROTO, &control, UVPERF_CAUSE_ARGUMENT,
      "the program reads stacks, which needs PERF_SAMPLE_CALLCHAIN of kernel");
  expect(&error, -EOPNOTSUPP, &control, UVPERF_CAUSE_NOT_SUPPORTED,
         "CONFIG_BPF_EVENTS");
  clock_attr(&attr, 1000);
  expect(&error, -EACCES, &control, UVPERF_CAUSE_PERMISSION,
         "a security module");
}

/* The kernel makes no link, and no ioctl takes a cookie. */
static void explain_bpf_with_a_cookie_is_of_the_link(void **state) {
  static const char piece[] = "cannot make the BPF link that the cookie needs";
  struct perf_event_attr attr;
  uvperf__control_t control = {PERF_EVENT_IOC_SET_BPF, &attr, 7, NULL, NULL, 1};
  uvperf_error_t error;

  clock_attr(&attr, 1000);
  expect(&error, -EOPNOTSUPP, &control, UVPERF_CAUSE_OLD_KERNEL,
         "a cookie needs a BPF link, which this kernel does not have for such "
         "a program (Linux 5.15 does); use cookie 0");
  expect(&error, -EPERM, &control, UVPERF_CAUSE_PERMISSION, piece);
  expect(&error, -EMFILE, &control, UVPERF_CAUSE_FILES, piece);
}

static void explain_query_of_each_errno_has_its_cause(void **state) {
  struct perf_event_attr attr;
  uvperf__control_t control = {
      PERF_EVENT_IOC_QUERY_BPF, &attr, 3, NULL, NULL, 0};
  uvperf_error_t error;

  uvperf_attr_tracepoint(&attr, 316);
  expect(&error, -ENOSPC, &control, UVPERF_CAUSE_BPF_PROGRAMS,
         "3 programs are attached; pass an array for this many ids");
  assert_int_equal(error.needed, 3);
  expect(&error, -EOPNOTSUPP, &control, UVPERF_CAUSE_NOT_SUPPORTED,
         "CONFIG_BPF_EVENTS");
  expect(&error, -EPERM, &control, UVPERF_CAUSE_PERMISSION,
         "this needs CAP_PERFMON");
  make_host_write("/proc/self/status", "CapEff:\t0000004000000000\n");
  expect(&error, -EPERM, &control, UVPERF_CAUSE_PERMISSION, "a seccomp filter");
  clock_attr(&attr, 1000);
  expect(&error, -EINVAL, &control, UVPERF_CAUSE_NOT_SUPPORTED,
         "PERF_TYPE_TRACEPOINT");
}

/* -- MODIFY_ATTRIBUTES ---------------------------------------------------- */

static void breakpoint_attr(struct perf_event_attr *attr) {
  uvperf_attr_breakpoint(attr, HW_BREAKPOINT_W, 0x1000, 8);
  uvperf_attr_set_period(attr, 1);
}

static void explain_modify_einval_names_what_differs(void **state) {
  struct perf_event_attr attr, wanted;
  uvperf__control_t control = {
      PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &attr, 0, NULL, &wanted, 0};
  uvperf_error_t error;

  breakpoint_attr(&attr);
  wanted = attr;
  wanted.disabled = 1;
  wanted.bp_len = 0;
  expect(&error, -EINVAL, &control, UVPERF_CAUSE_ARGUMENT,
         "bp_len must be 1, 2, 4 or 8");
  assert_null(strstr(error.reason, "differs"));
  wanted.bp_type = HW_BREAKPOINT_EMPTY;
  expect(&error, -EINVAL, &control, UVPERF_CAUSE_ARGUMENT, "bp_type must be");
  wanted.sample_period = 2;
  expect(&error, -EINVAL, &control, UVPERF_CAUSE_ARGUMENT,
         "attr.sample_period differs from uvperf_handle_attr(); only "
         "bp_addr, ");
  wanted.precise_ip = 2;
  expect(&error, -EINVAL, &control, UVPERF_CAUSE_ARGUMENT,
         "precise_ip differs");
  wanted.type = PERF_TYPE_SOFTWARE;
  expect(&error, -EINVAL, &control, UVPERF_CAUSE_ARGUMENT,
         ": attr.type differs");
}

static void explain_modify_of_other_errnos_has_its_cause(void **state) {
  struct perf_event_attr attr, wanted;
  uvperf__control_t control = {
      PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &attr, 0, NULL, &wanted, 0};
  uvperf_error_t error;

  breakpoint_attr(&attr);
  wanted = attr;
  wanted.size = 112;
  wanted.bp_len = 16;
  expect(&error, -EOPNOTSUPP, &control, UVPERF_CAUSE_NOT_SUPPORTED,
         "no breakpoints longer than 8 bytes");
  attr.type = PERF_TYPE_SOFTWARE;
  expect(&error, -EOPNOTSUPP, &control, UVPERF_CAUSE_NOT_SUPPORTED,
         "only breakpoints can be modified; open another event");
  expect(&error, -ENOSPC, &control, UVPERF_CAUSE_BREAKPOINT_SLOTS,
         "slots for breakpoints of the new bp_type are in use; close one");
  expect(&error, -EPERM, &control, UVPERF_CAUSE_PERMISSION,
         "a bp_addr in the kernel needs CAP_SYS_ADMIN");
  expect(&error, -E2BIG, &control, UVPERF_CAUSE_OLD_KERNEL,
         "after the 112 bytes that this kernel knows; leave them 0");
  assert_int_equal(error.limit, 112);
}

/* -- no reason is cut ------------------------------------------------------ */

static void expect_whole(unsigned long request,
                         const struct perf_event_attr *attr, uint64_t value) {
  /* Its first 48 letters are printed. */
  static const char filter[] =
      "a_filter_of_a_field_with_a_name_that_is_longer_than_48_letters == 1";
  struct perf_event_attr wanted = *attr;
  uvperf__control_t control = {request, attr, value, filter, &wanted, 0};
  uvperf_error_t error;
  int code;

  wanted.branch_sample_type = value;
  for (code = 1; code < 134; code++) {
    uvperf__explain_control(&error, -code, &control);
    if (strlen(error.reason) >= sizeof(error.reason) - 1)
      fail_msg("errno %d is cut: %s", code, error.reason);
  }
}

/* With the longest words before each. */
static void explain_control_longest_reason_is_whole(void **state) {
  static const unsigned long requests[] = {
      PERF_EVENT_IOC_REFRESH,    PERF_EVENT_IOC_PERIOD,
      PERF_EVENT_IOC_SET_OUTPUT, PERF_EVENT_IOC_SET_FILTER,
      PERF_EVENT_IOC_SET_BPF,    PERF_EVENT_IOC_PAUSE_OUTPUT,
      PERF_EVENT_IOC_QUERY_BPF,  PERF_EVENT_IOC_MODIFY_ATTRIBUTES,
  };
  static const uint64_t values[] = {0, 1, INT32_MAX, INT64_MAX, UINT64_MAX};
  struct perf_event_attr attrs[5];
  size_t i, j, k;

  make_host_write(PMUS "a_pmu_with_a_name_as_long_as_can_be/type",
                  "4294967295\n");
  uvperf_attr_init(&attrs[0], UINT32_MAX, UINT64_MAX);
  attrs[1] = attrs[0];
  uvperf_attr_set_period(&attrs[1], 1);
  uvperf_attr_breakpoint(&attrs[2], HW_BREAKPOINT_W, UINT64_MAX, 16);
  uvperf_attr_set_frequency(&attrs[2], 1);
  uvperf_attr_tracepoint(&attrs[3], UINT64_MAX);
  uvperf_attr_init(&attrs[4], PT_TYPE, UINT64_MAX);
  for (i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
    for (j = 0; j < sizeof(attrs) / sizeof(attrs[0]); j++)
      for (k = 0; k < sizeof(values) / sizeof(values[0]); k++)
        expect_whole(requests[i], &attrs[j], values[k]);
}

#define ON_MACHINE(f)                                                          \
  cmocka_unit_test_setup_teardown(f, setup, make_host_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      ON_MACHINE(explain_control_names_request_and_event),
      ON_MACHINE(explain_control_of_any_request_has_its_cause),
      ON_MACHINE(explain_control_without_error_returns_the_code),
      ON_MACHINE(explain_refresh_einval_says_what_the_event_lacks),
      ON_MACHINE(explain_period_einval_goes_by_period_and_attr),
      ON_MACHINE(explain_frequency_einval_goes_by_the_rate),
      ON_MACHINE(explain_pause_einval_is_no_ring),
      ON_MACHINE(explain_filter_einval_goes_by_event_and_filter),
      ON_MACHINE(explain_filter_of_other_errnos_has_its_cause),
      ON_MACHINE(explain_bpf_einval_names_the_programs_type),
      ON_MACHINE(explain_bpf_of_other_errnos_has_its_cause),
      ON_MACHINE(explain_bpf_with_a_cookie_is_of_the_link),
      ON_MACHINE(explain_query_of_each_errno_has_its_cause),
      ON_MACHINE(explain_modify_einval_names_what_differs),
      ON_MACHINE(explain_modify_of_other_errnos_has_its_cause),
      ON_MACHINE(explain_control_longest_reason_is_whole),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
