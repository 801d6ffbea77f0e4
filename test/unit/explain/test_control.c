/* SPDX-License-Identifier: MIT */
/* Causes and reasons for the errnos of an open event's ioctls, on a scripted
 * machine: check_explain_rows.h explains the rows. The words of a call:
 *
 *   REQUEST [VALUE]  the ioctl and its argument; "other" is an unknown one
 *   cookie           the program is attached by a link, with a cookie
 *   wanted           the argument is the attr of the last "wanted" step
 *
 * A filter is "fd == 3", or that of "filter TEXT". "wanted FIELD=VALUE..." is
 * the attr with other fields. */
#include "check_explain_rows.h"

#include <linux/hw_breakpoint.h>

#define PMUS "/sys/bus/event_source/devices/"

/* The scripted machine's numbers of PMUs: make_host.c has 8, uprobe. */
#define PT_TYPE 10

static void write_files(void) {
  make_host_write(PMUS "intel_pt/type", "10\n");
  make_host_write(PMUS "intel_pt/nr_addr_filters", "2\n");
  make_host_write("/proc/sys/kernel/perf_event_max_sample_rate", "5000\n");
}

static int setup(void **state) {
  if (make_host_machine_setup(state) != 0)
    return -1;
  write_files();
  return 0;
}

/* -- the rows -------------------------------------------------------------- */

static struct {
  struct perf_event_attr wanted;
  char filter[64];
} run;

static void begin(void) {
  write_files();
  strcpy(run.filter, "fd == 3");
}

static int explain(const step_t *step, int code, struct perf_event_attr *attr,
                   uvperf_error_t *error) {
  static const step_name_t requests[] = {
      {"enable", PERF_EVENT_IOC_ENABLE},
      {"disable", PERF_EVENT_IOC_DISABLE},
      {"refresh", PERF_EVENT_IOC_REFRESH},
      {"reset", PERF_EVENT_IOC_RESET},
      {"period", PERF_EVENT_IOC_PERIOD},
      {"output", PERF_EVENT_IOC_SET_OUTPUT},
      {"filter", (long)PERF_EVENT_IOC_SET_FILTER},
      {"id", (long)PERF_EVENT_IOC_ID},
      {"bpf", PERF_EVENT_IOC_SET_BPF},
      {"pause", PERF_EVENT_IOC_PAUSE_OUTPUT},
      {"query", (long)PERF_EVENT_IOC_QUERY_BPF},
      {"modify", (long)PERF_EVENT_IOC_MODIFY_ATTRIBUTES},
      {"other", 0x1234}};
  uvperf__control_t control = {0, attr, 0, run.filter, attr, 0};
  size_t i;

  control.request = (unsigned long)step_meaning(requests, COUNT_OF(requests),
                                                step_word(step, 1));
  for (i = 2; i < step->nr; i++)
    if (step_is(step, i, "cookie"))
      control.has_cookie = 1;
    else if (step_is(step, i, "wanted"))
      control.wanted = &run.wanted;
    else
      control.value = step_value(step, i);
  return uvperf__explain_control(error, code, &control);
}

static void run_step(const step_t *step, const struct perf_event_attr *attr) {
  if (step_is(step, 0, "filter")) {
    snprintf(run.filter, sizeof(run.filter), "%s", step_word(step, 1));
  } else if (step_is(step, 0, "wanted")) {
    run.wanted = *attr;
    step_set_fields(step, 1, &run.wanted);
  } else {
    step_fail(step->text, "no such step");
  }
}

static const explain_subject_t subject = {begin, explain, run_step};

static const explain_row_t rows[] = {
    {"explain_control_names_request_and_event",
     "attr cpu_clock sample_period=1000\n"
     "EXDEV enable -> unknown cannot enable 'cpu-clock': \n"
     "EXDEV disable -> unknown cannot disable 'cpu-clock': \n"
     "EXDEV refresh -> unknown cannot refresh 'cpu-clock': \n"
     "EXDEV reset -> unknown cannot reset 'cpu-clock': \n"
     "EXDEV period -> unknown cannot set the period of 'cpu-clock': \n"
     "EXDEV output -> unknown cannot redirect the records of 'cpu-clock': \n"
     "EXDEV filter -> unknown cannot filter 'cpu-clock' by \"fd == 3\": \n"
     "EXDEV id -> unknown cannot read the id of 'cpu-clock': \n"
     "EXDEV bpf -> unknown cannot attach a BPF program to 'cpu-clock': \n"
     "EXDEV pause -> unknown cannot pause the records of 'cpu-clock': \n"
     "EXDEV query -> unknown cannot list the BPF programs of 'cpu-clock': \n"
     "EXDEV modify -> unknown cannot modify 'cpu-clock': \n"
     "EXDEV other -> unknown cannot control 'cpu-clock': \n"},
    {"explain_control_of_any_request_has_its_cause",
     "attr cpu_clock sample_period=1000\n"
     "EACCES enable -> permission a security module\n"
     "EPERM bpf -> permission a seccomp filter\n"
     "ENODEV disable -> no_event the PMU was unregistered\n"
     "ENOMEM filter -> memory out of memory\n"
     "ENOTTY pause -> old_kernel does not have this ioctl\n"
     "EOPNOTSUPP enable -> not_supported its overflows ran out, and since "
     "Linux 6.16 an event of another thread then stays stopped; close it and "
     "open it again\n"
     "EINVAL reset -> unknown errno 22\n"},

    /* REFRESH, PERIOD, PAUSE_OUTPUT */
    {"explain_refresh_einval_says_what_the_event_lacks",
     "attr cpu_clock\n"
     "EINVAL refresh -> argument it has no period, so it only counts; open it "
     "with attr.sample_period or attr.sample_freq\n"
     "set sample_period=1000 inherit=1\n"
     "EINVAL refresh -> argument an event with attr.inherit does not count its "
     "overflows; open it without inherit\n"
     "set inherit=0\n"
     "EINVAL refresh -> unknown errno 22\n"},
    {"explain_period_einval_goes_by_period_and_attr",
     "attr cpu_clock\n"
     "EINVAL period 4000 -> argument it only counts\n"
     "set sample_period=1000\n"
     "EINVAL period 4000 -> not_supported the PMU does not accept this period\n"
     "EINVAL period 0 -> argument the period is 0; to stop sampling\n"
     "EINVAL period 0x8000000000000000 -> argument below 2^63\n"
     "limit 0\n"},
    {"explain_frequency_einval_goes_by_the_rate",
     "attr cpu_clock freq=1 sample_period=100\n"
     "EINVAL period 0 -> argument the frequency is 0; to stop sampling\n"
     "EINVAL period 5001 -> sample_rate 5001 Hz is above "
     "kernel.perf_event_max_sample_rate, 5000\n"
     "limit 5000 needed 5001\n"
     "EINVAL period 5000 -> unknown errno 22\n"
     "file /proc/sys/kernel/perf_event_max_sample_rate ?\n"
     "EINVAL period 5001 -> unknown errno 22\n"},
    {"explain_pause_einval_is_no_ring",
     "attr cpu_clock sample_period=1000\n"
     "EINVAL pause -> argument it has no ring\n"},

    /* SET_FILTER */
    {"explain_filter_einval_goes_by_event_and_filter",
     "filter 'fd = 3'\n"
     "attr tracepoint 316\n"
     "EINVAL filter -> argument cannot filter tracepoint sched:sched_switch by "
     "\"fd = 3\": the filter is not valid; events/<category>/<name>/format in "
     "tracefs lists the fields\n"
     "file /sys/kernel/tracing/events/sched/sched_switch/format "
     "'\tfield:int fd2;'\n"
     "EINVAL filter -> argument cannot filter tracepoint sched:sched_switch by "
     "\"fd = 3\": it has no field fd; its fields are fd2\n"
     "attr 8 0\n"
     "EINVAL filter -> argument the filter is not valid; events/\n"
     "attr 10 0\n"
     "EINVAL filter -> argument the filter is not valid; write it as in\n"
     "attr cpu_clock sample_period=1000\n"
     "EINVAL filter -> not_supported it takes no filter; only tracepoints, "
     "probes and PMUs that trace\n"},
    {"explain_filter_of_other_errnos_has_its_cause",
     "attr tracepoint 316\n"
     "ENOENT filter -> argument a bracket is not closed\n"
     "ESRCH filter -> argument a quotation mark is not closed\n"
     "EEXIST filter -> exists it already has a filter\n"
     "ENOSPC filter -> argument the filter has more conditions than this "
     "kernel allows; use fewer\n"
     "E2BIG filter -> argument the filter has more conditions than this kernel "
     "allows; use fewer\n"
     "attr 10 0\n"
     "EOPNOTSUPP filter -> not_supported nr_addr_filters\n"
     "ENOENT filter -> argument by \"fd == 3\": the file that the filter names "
     "does not exist\n"},

    /* SET_BPF, QUERY_BPF. The program is the fd 7. */
    {"explain_bpf_einval_names_the_programs_type",
     "attr tracepoint 316\n"
     "EINVAL bpf 7 -> argument fd 7 is not a BPF program of the type "
     "BPF_PROG_TYPE_TRACEPOINT (5)\n"
     "file /proc/thread-self/fdinfo/7 'pos:\t0|flags:\t02'\n"
     "EINVAL bpf 7 -> argument fd 7 is not a BPF program\n"
     "lacks 'another type'\n"
     "file /proc/thread-self/fdinfo/7 'pos:\t0|prog_type:\t7'\n"
     "EINVAL bpf 7 -> argument the program has type 7, but the event needs "
     "BPF_PROG_TYPE_TRACEPOINT (5)\n"
     "file /proc/thread-self/fdinfo/7 prog_type:\t5\n"
     "EINVAL bpf 7 -> argument for a probe that was made in tracefs, load it "
     "as BPF_PROG_TYPE_KPROBE\n"
     "file /proc/thread-self/fdinfo/7 'pos:\t0|prog_type:\t7'\n"
     "attr 8 0\n"
     "EINVAL bpf 7 -> argument BPF_PROG_TYPE_KPROBE (2)\n"
     "attr cpu_clock sample_period=1000\n"
     "EINVAL bpf 7 -> argument does not accept this program\n"
     "file /proc/thread-self/fdinfo/7 prog_type:\t5\n"
     "EINVAL bpf 7 -> argument BPF_PROG_TYPE_PERF_EVENT (7)\n"},
    {"explain_bpf_of_other_errnos_has_its_cause",
     "attr tracepoint 316\n"
     "EBADF bpf -1 -> argument fd -1 is not open\n"
     "EEXIST bpf -1 -> exists it already has a program, and can have only one, "
     "or this program is already attached through another event\n"
     "E2BIG bpf -1 -> bpf_programs 64 programs are attached to it, which is "
     "the limit; detach one by\n"
     "limit 64 needed 65\n"
     "EACCES bpf -1 -> argument beyond the tracepoint's fields\n"
     "EPROTO bpf -1 -> argument the program reads stacks, which needs "
     "PERF_SAMPLE_CALLCHAIN of kernel\n"
     "EOPNOTSUPP bpf -1 -> not_supported CONFIG_BPF_EVENTS\n"
     "attr cpu_clock sample_period=1000\n"
     "EACCES bpf -1 -> permission a security module\n"},
    /* The kernel makes no link, and no ioctl takes a cookie. */
    {"explain_bpf_with_a_cookie_is_of_the_link",
     "attr cpu_clock sample_period=1000\n"
     "EOPNOTSUPP bpf 7 cookie -> old_kernel a cookie needs a BPF link, which "
     "this kernel does not have for such a program (Linux 5.15 does); use "
     "cookie 0\n"
     "EPERM bpf 7 cookie -> permission cannot make the BPF link that the "
     "cookie needs\n"
     "EMFILE bpf 7 cookie -> files cannot make the BPF link that the cookie "
     "needs\n"},
    {"explain_query_of_each_errno_has_its_cause",
     "attr tracepoint 316\n"
     "ENOSPC query 3 -> bpf_programs 3 programs are attached; pass an array "
     "for this many ids\n"
     "needed 3\n"
     "EOPNOTSUPP query 3 -> not_supported CONFIG_BPF_EVENTS\n"
     "EPERM query 3 -> permission this needs CAP_PERFMON\n"
     "capabilities 0000004000000000\n"
     "EPERM query 3 -> permission a seccomp filter\n"
     "attr cpu_clock sample_period=1000\n"
     "EINVAL query 3 -> not_supported PERF_TYPE_TRACEPOINT\n"},

    /* MODIFY_ATTRIBUTES, of a breakpoint for writes. config2 is its bp_len.
     * What differs later comes first. */
    {"explain_modify_einval_names_what_differs",
     "attr 5 0 bp_type=2 config1=0x1000 config2=8 sample_period=1\n"
     "wanted disabled=1 config2=0\n"
     "EINVAL modify wanted -> argument bp_len must be 1, 2, 4 or 8\n"
     "lacks differs\n"
     "wanted disabled=1 config2=0 bp_type=0\n"
     "EINVAL modify wanted -> argument bp_type must be\n"
     "wanted disabled=1 config2=0 bp_type=0 sample_period=2\n"
     "EINVAL modify wanted -> argument attr.sample_period differs from "
     "uvperf_handle_attr(); only bp_addr, \n"
     "wanted disabled=1 config2=0 bp_type=0 sample_period=2 precise_ip=2\n"
     "EINVAL modify wanted -> argument precise_ip differs\n"
     "wanted disabled=1 config2=0 bp_type=0 sample_period=2 precise_ip=2 "
     "type=1\n"
     "EINVAL modify wanted -> argument : attr.type differs\n"},
    {"explain_modify_of_other_errnos_has_its_cause",
     "attr 5 0 bp_type=2 config1=0x1000 config2=8 sample_period=1\n"
     "wanted size=112 config2=16\n"
     "EOPNOTSUPP modify wanted -> not_supported no breakpoints longer than 8 "
     "bytes\n"
     "set type=1\n"
     "EOPNOTSUPP modify wanted -> not_supported only breakpoints can be "
     "modified; open another event\n"
     "ENOSPC modify wanted -> breakpoint_slots slots for breakpoints of the "
     "new bp_type are in use; close one\n"
     "EPERM modify wanted -> permission a bp_addr in the kernel needs "
     "CAP_SYS_ADMIN\n"
     "E2BIG modify wanted -> old_kernel after the 112 bytes that this kernel "
     "knows; leave them 0\n"
     "limit 112\n"},
};

/* -- what no row can say --------------------------------------------------- */

static void explain_control_without_error_returns_the_code(void **state) {
  struct perf_event_attr attr;
  uvperf__control_t control = {PERF_EVENT_IOC_PERIOD, &attr, 0, NULL, NULL, 0};

  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  assert_int_equal(uvperf__explain_control(NULL, -EINVAL, &control), -EINVAL);
}

static void explain_filter_einval_of_a_page_is_its_length(void **state) {
  size_t page = support_page_bytes();
  char *longest = calloc(1, page + 1);
  struct perf_event_attr attr;
  uvperf__control_t control = {
      PERF_EVENT_IOC_SET_FILTER, &attr, 0, longest, NULL, 0};
  uvperf_error_t error;

  make_host_write("/sys/kernel/tracing/events/sched/sched_switch/format",
                  "\tfield:int fd2;\n");
  assert_non_null(longest);
  memset(longest, 'x', page);
  uvperf_attr_tracepoint(&attr, 316);
  uvperf__explain_control(&error, -EINVAL, &control);
  explain_check(&error, -EINVAL, UVPERF_CAUSE_ARGUMENT, "shorter than a page");
  longest[page - 1] = '\0';
  uvperf__explain_control(&error, -EINVAL, &control);
  explain_check(&error, -EINVAL, UVPERF_CAUSE_ARGUMENT, "it has no field xxx");
  free(longest);
}

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
  for (i = 0; i < COUNT_OF(requests); i++)
    for (j = 0; j < COUNT_OF(attrs); j++)
      for (k = 0; k < COUNT_OF(values); k++)
        expect_whole(requests[i], &attrs[j], values[k]);
}

#define ON_MACHINE(f)                                                          \
  cmocka_unit_test_setup_teardown(f, setup, make_host_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      ON_MACHINE(explain_control_without_error_returns_the_code),
      ON_MACHINE(explain_filter_einval_of_a_page_is_its_length),
      ON_MACHINE(explain_control_longest_reason_is_whole),
  };

  return EXPLAIN_ROWS_AND_TESTS(&subject, rows, tests);
}
