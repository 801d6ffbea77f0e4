/* SPDX-License-Identifier: MIT */
/* The meanings of EINVAL, on a scripted machine: check_explain_rows.h explains
 * the rows. */
#include "check_explain_rows.h"

static const explain_row_t rows[] = {
    /* A CPU that is there, though offline, is another's fault. */
    {"einval_of_no_such_cpu_lists_the_possible_cpus",
     "attr cpu_clock\n"
     "EINVAL pid -1 cpu 4 -> no_cpu on CPU 4: there is no such CPU; the "
     "possible CPUs are 0-3\n"
     "EINVAL pid -1 cpu 3 -> unknown rejects this combination\n"},
    {"einval_of_target_is_argument",
     "attr cpu_clock\n"
     "EINVAL pid -1 -> argument every task (pid -1) needs a CPU\n"
     "EINVAL pid -2 cpu 0 -> argument is below -1\n"
     "EINVAL pid 0 cpu -2 -> argument is below -1\n"
     "EINVAL cgroup 5 -> argument a cgroup needs a CPU\n"
     "set sigtrap=1 remove_on_exec=1\n"
     "EINVAL cgroup 5 cpu 1 -> argument sigtrap needs a task\n"},
    /* Each has one fault on Linux 6.1. The clock 0 is right for software
     * events, the clock 2 (CLOCK_PROCESS_CPUTIME_ID) for none. */
    {"einval_of_an_attr_names_its_fault",
     "attr dummy use_clockid=1 sample_type=BRANCH_STACK "
     "branch_sample_type=BRANCH_USER\n"
     "EINVAL -> argument branch_sample_type names no kind of branches; set "
     "one, such as PERF_\n"
     "attr dummy use_clockid=1 sample_type=REGS_USER\n"
     "EINVAL -> argument sample_regs_user must name one or more registers of "
     "<asm/perf_regs.h>\n"
     "attr dummy use_clockid=1 sample_type=REGS_INTR\n"
     "EINVAL -> argument sample_regs_intr must name one or more registers of "
     "<asm/perf_regs.h>\n"
     "attr dummy use_clockid=1 sample_type=STACK_USER sample_stack_user=12\n"
     "EINVAL -> argument sample_stack_user must be a multiple of 8 below "
     "65535\n"
     "attr dummy use_clockid=1 sample_type=WEIGHT|WEIGHT_STRUCT comm=1\n"
     "EINVAL -> argument PERF_SAMPLE_WEIGHT and PERF_SAMPLE_WEIGHT_STRUCT "
     "exclude each other; \n"
     "attr dummy use_clockid=1 inherit_thread=1\n"
     "EINVAL -> argument inherit_thread needs inherit; set both\n"
     "attr dummy use_clockid=1 remove_on_exec=1 enable_on_exec=1\n"
     "EINVAL -> argument remove_on_exec and enable_on_exec exclude each other; "
     "set only one\n"
     "attr dummy use_clockid=1 sigtrap=1\n"
     "EINVAL -> argument sigtrap needs remove_on_exec; set both\n"
     "attr dummy use_clockid=1 sample_period=0x8000000000000000\n"
     "EINVAL -> argument sample_period is not below 2^63; lower it\n"
     "attr dummy use_clockid=1 sample_type=READ inherit=1\n"
     "EINVAL -> argument PERF_SAMPLE_READ with inherit needs PERF_SAMPLE_TID "
     "(and Linux 6.12)\n"
     "attr dummy use_clockid=1 sample_type=READ|TID inherit=1\n"
     "EINVAL -> argument PERF_SAMPLE_READ with inherit needs Linux 6.12; clear "
     "one of them\n"
     "attr dummy use_clockid=1 clockid=2 comm=1\n"
     "EINVAL -> argument perf does not know this clockid; use "
     "CLOCK_MONOTONIC, _MONOTONIC_RAW,\n"
     "attr dummy use_clockid=1 type=5\n"
     "EINVAL -> argument only software events can use this clockid; use "
     "CLOCK_MONOTONIC or \n"},
    /* A prefetch that misses a NUMA node. */
    {"einval_of_a_cache_event_is_no_event",
     "attr 3 0x10206\n"
     "EINVAL -> no_event has no such event for this cache\n"
     "set type=0 config=1\n"
     "EINVAL -> unknown rejects this combination\n"},
    {"einval_of_frequency_says_limit_and_need",
     "attr cpu_clock freq=1 sample_period=50001\n"
     "EINVAL -> sample_rate 50001 Hz is above "
     "kernel.perf_event_max_sample_rate, 50000\n"
     "limit 50000 needed 50001\n"
     "set sample_period=50000\n"
     "EINVAL -> unknown rejects this combination\n"
     "set freq=0 sample_period=50001\n"
     "EINVAL -> unknown rejects this combination\n"},
    {"einval_of_newer_bit_is_old_kernel",
     "attr dummy sample_type=BRANCH_STACK defer_callchain=1\n"
     "EINVAL -> old_kernel defer_callchain needs Linux 6.19, and this is "
     "6.1.0-9-amd64; leave it out\n"
     "attr dummy sample_type=BRANCH_STACK defer_output=1\n"
     "EINVAL -> old_kernel defer_output needs Linux 6.19, and this is "
     "6.1.0-9-amd64; leave it out\n"
     "attr dummy sample_type=BRANCH_STACK aux_action=2\n"
     "EINVAL -> old_kernel needs Linux 6.13, and this is 6.1.0-9-amd64; leave "
     "it out\n"
     "attr dummy sample_type=BRANCH_STACK branch_sample_type=BRANCH_COUNTERS\n"
     "EINVAL -> old_kernel branch counters needs Linux 6.8, and this is "
     "6.1.0-9-amd64; leave it out\n"},
    /* branch_sample_type is ignored without PERF_SAMPLE_BRANCH_STACK. */
    {"einval_of_older_bit_is_not_old_kernel",
     "attr dummy read_format=LOST build_id=1\n"
     "EINVAL -> unknown rejects this combination\n"
     "set branch_sample_type=BRANCH_COUNTERS\n"
     "EINVAL -> unknown rejects this combination\n"
     "set branch_sample_type=0\n"
     "file release 5.19.3\n"
     "EINVAL -> old_kernel PERF_FORMAT_LOST needs Linux 6.0\n"
     "file release 6.0.0\n"
     "EINVAL -> unknown rejects this combination\n"
     "file release 5.19.3\n"
     "set read_format=0\n"
     "EINVAL -> unknown rejects this combination\n"
     "file release 5.9\n"
     "EINVAL -> old_kernel build_id needs Linux 5.12\n"},
    {"einval_of_tracepoint_is_its_id",
     "attr tracepoint 99999\n"
     "EINVAL -> no_event cannot open tracepoint 99999 for the calling thread: "
     "no tracepoint has this id\n"},
    {"einval_of_tracepoint_that_exists_is_another",
     "attr tracepoint 316\n"
     "EINVAL -> unknown rejects this combination\n"
     "attr tracepoint 1\n"
     "EINVAL -> not_supported of ftrace's events perf can open "
     "ftrace:function only\n"},
    {"einval_of_tracepoint_without_tracefs_is_not_sure",
     "no_host\n"
     "attr tracepoint 99999\n"
     "EINVAL -> no_event probably no tracepoint has this id; read it, as "
     "root\n"},
    {"einval_of_a_pmu_says_what_it_may_lack",
     "attr 9 99\n"
     "EINVAL -> no_event cannot open event 0x63 of PMU msr for the calling "
     "thread: the PMU has no such config\n"
     "set exclude_kernel=1\n"
     "EINVAL -> not_supported may not support exclude_* or this config; try "
     "without\n"
     "set sample_period=1\n"
     "EINVAL -> not_supported may not support sampling, exclude_* or this "
     "config; try without\n"
     "set exclude_kernel=0\n"
     "EINVAL -> not_supported may not support sampling or this config; try "
     "without\n"
     "attr 20 1\n"
     "EINVAL cpu 1 -> argument whole CPUs only; use pid -1, and "
     "UVPERF_EVENT_CPU with a CPU of its cpumask, 0,64\n"
     "EINVAL pid -1 cpu 1 -> no_event no such config\n"},
    {"einval_of_user_read_on_a_cpu_says_so",
     "file /sys/bus/event_source/devices/msr/format/rdpmc config1:1\n"
     "attr 9 8 config1=3\n"
     "EINVAL pid -1 cpu 1 -> argument only a thread's event can have rdpmc=1\n"
     "EINVAL -> no_event no such config\n"
     "set config1=1\n"
     "EINVAL pid -1 cpu 1 -> no_event no such config\n"},
    {"einval_of_aux_without_a_leader_says_so",
     "attr dummy aux_sample_size=64\n"
     "EINVAL -> not_supported need an AUX area\n"},
    {"einval_of_a_cgroup_without_the_controller_says_so",
     "attr dummy sample_type=CGROUP\n"
     "EINVAL -> unknown rejects this combination\n"
     "file /proc/cgroups '#subsys_name|cpu\t0\t1\t1'\n"
     "EINVAL -> not_supported it needs CONFIG_CGROUP_PERF\n"
     "set sample_type=0\n"
     "EINVAL -> unknown rejects this combination\n"

     "EINVAL cgroup 5 cpu 1 -> not_supported it needs CONFIG_CGROUP_PERF\n"},
    /* Bits that the library itself has no name for. 0x1fff7ff are all 25 bits
     * of sample_type but PERF_SAMPLE_BRANCH_STACK. */
    {"einval_of_unknown_bits_names_them",
     "file release 6.19.0\n"
     "attr dummy sample_type=0x10000000000\n"
     "EINVAL -> old_kernel sample_type has bits that neither this kernel nor "
     "Linux 6.19 knows, 0x10000000000\n"
     "attr dummy sample_type=0x1fff7ff read_format=0x8000\n"
     "EINVAL -> old_kernel read_format has bits that neither this kernel nor "
     "Linux 6.19 knows, 0x8000\n"
     "attr dummy sample_type=BRANCH_STACK branch_sample_type=0x100000\n"
     "EINVAL -> old_kernel branch_sample_type has bits that neither this "
     "kernel nor Linux 6.19 knows, 0x100000\n"
     "attr dummy aux_action=9\n"
     "EINVAL -> old_kernel aux_action has bits that neither this kernel nor "
     "Linux 6.19 knows, 0x8\n"},
    /* One fault at a time, each with the leader that makes it one. The last
     * ones come before those that were there. */
    {"einval_of_a_group_names_what_differs",
     "attr cpu_clock\n"
     "leader pid 7 cpu 1\n"
     "EINVAL pid 7 cpu 1 group -> unknown combination\n"
     "set pinned=1\n"
     "EINVAL pid 7 cpu 1 group -> argument only the leader may be pinned or "
     "exclusive\n"
     "EINVAL pid 8 cpu 1 group -> argument the leader measures another thread\n"
     "EINVAL pid 8 cpu 0 group -> argument the leader is on another CPU\n"
     "set use_clockid=1 clockid=1\n"
     "EINVAL pid 8 cpu 0 group -> argument clockid differs from the leader's\n"
     "attr cpu_clock\n"
     "leader pid 7 cpu 1 group\n"
     "set pinned=1 use_clockid=1 clockid=1\n"
     "EINVAL pid 8 cpu 0 group -> argument the leader is itself a member of a "
     "group\n"
     "set inherit=1\n"
     "EINVAL pid 8 cpu 0 group -> argument inherit differs from the "
     "leader's\n"},
    {"einval_of_a_group_of_cgroups_names_what_differs",
     "attr cpu_clock\n"
     "leader cgroup 3 cpu 1\n"
     "EINVAL cgroup 3 cpu 1 group -> unknown combination\n"
     "EINVAL cgroup 4 cpu 1 group -> argument the leader measures another "
     "cgroup\n"
     "leader cpu 1\n"
     "EINVAL cgroup 4 cpu 1 group -> argument only one of the event and its "
     "leader measures a cgroup\n"},
    {"einval_of_a_hardware_group_names_the_pmu",
     "attr cycles\n"
     "leader pid 7 cpu 1\n"
     "EINVAL pid 7 cpu 1 group -> argument hardware events of one PMU only, "
     "and no more than it has counters\n"},
};

/* Where the flag word lies is different in the other byte order. */
static void einval_of_unknown_flags_names_them(void **state) {
  const uint64_t flags = UINT64_C(5) << 40;
  struct perf_event_attr attr;
  uvperf__open_call_t call;
  uvperf_error_t error;

  if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
    return;
  make_host_write("/proc/sys/kernel/osrelease", "6.19.0\n");
  uvperf_attr_software(&attr, PERF_COUNT_SW_DUMMY);
  memcpy((uint8_t *)&attr + 40, &flags, sizeof(flags));
  call = explain_open_call(&error, -EINVAL, &attr, 0, -1);
  uvperf__explain_open(&call);
  explain_check(&error, -EINVAL, UVPERF_CAUSE_OLD_KERNEL,
                "the flag word has bits that neither this kernel nor Linux "
                "6.19 knows, 0x50000000000");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      MAKE_HOST_MACHINE_TEST(einval_of_unknown_flags_names_them)};

  return EXPLAIN_ROWS_AND_TESTS(&explain_opens, rows, tests);
}
