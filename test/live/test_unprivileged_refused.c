/* SPDX-License-Identifier: MIT */
/* What is refused without any privilege at perf_event_paranoid 2: the errno,
 * the cause, and the remedy; and which of these things CAP_PERFMON alone
 * allows. What works is in test_unprivileged.c. */
#include "live_unprivileged.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/bpf.h>
#include <linux/hw_breakpoint.h>

#include "host/system.h"

/* Found by root, before the child drops the privilege to read it; or 0. */
static uint64_t sched_switch;

/* The child has CAP_PERFMON. */
static int has_perfmon;

/* It is refused like this, and opens with CAP_PERFMON. */
static void needs_perfmon(live_unprivileged_report_t *report,
                          const struct perf_event_attr *attr, int pid, int cpu,
                          int code, const char *piece) {
  if (has_perfmon)
    live_unprivileged_opens(report, attr, pid, cpu);
  else
    live_unprivileged_refused(report, attr, pid, cpu, code, piece);
}

/* -- the kernel side ------------------------------------------------------ */

static void kernel_side_of_software(live_unprivileged_report_t *report) {
  struct perf_event_attr attr;

  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  needs_perfmon(report, &attr, 0, -1, UV_EACCES, "exclude_kernel");
  uvperf_attr_software(&attr, PERF_COUNT_SW_DUMMY);
  attr.comm = 1;
  needs_perfmon(report, &attr, 0, -1, UV_EACCES, "exclude_kernel");
}

/* With any id: the side is checked first. */
static void kernel_side_of_tracepoint(live_unprivileged_report_t *report) {
  struct perf_event_attr attr;

  uvperf_attr_tracepoint(&attr, 1);
  live_unprivileged_refused(report, &attr, 0, -1, UV_EACCES, "exclude_kernel");
}

static void kernel_side_of_breakpoint(live_unprivileged_report_t *report) {
  struct perf_event_attr attr;

  live_write_attr(&attr, 0);
  attr.exclude_kernel = 0;
  live_unprivileged_refused(report, &attr, 0, -1, UV_EACCES,
                            "perf_event_paranoid");
}

static void physical_addresses(live_unprivileged_report_t *report) {
  struct perf_event_attr attr;

  live_write_attr(&attr, PERF_SAMPLE_ADDR | PERF_SAMPLE_PHYS_ADDR);
  needs_perfmon(report, &attr, 0, -1, UV_EACCES, "PERF_SAMPLE_PHYS_ADDR");
}

/* 0 if the machine has no such PMU. */
static uint32_t type_of(live_unprivileged_report_t *report, const char *pmu) {
  char path[96];
  int64_t type;

  snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", pmu);
  if (uvperf__system_number(path, &type) == 0)
    return (uint32_t)type;
  live_unprivileged_absent(report, path);
  return 0;
}

static void msr(live_unprivileged_report_t *report) {
  struct perf_event_attr attr;

  uvperf_attr_init(&attr, type_of(report, "msr"), 0);
  if (attr.type != 0)
    live_unprivileged_refused(report, &attr, 0, -1, UV_EACCES,
                              "exclude_kernel");
}

static void unprivileged_kernel_side_is_refused(void **state) {
  static const live_unprivileged_line_t lines[] = {
      {"the kernel side of software events", kernel_side_of_software},
      {"the kernel side of tracepoints", kernel_side_of_tracepoint},
      {"the kernel side of breakpoints", kernel_side_of_breakpoint},
      {"physical addresses", physical_addresses},
      {"msr", msr},
  };

  live_unprivileged_run(__func__, lines, COUNT_OF(lines));
}

/* -- targets -------------------------------------------------------------- */

static void whole_cpu(live_unprivileged_report_t *report) {
  struct perf_event_attr attr;

  live_comm_attr(&attr);
  needs_perfmon(report, &attr, -1, 0, UV_EACCES, "CAP_PERFMON");
}

/* The first process, which in a container may be one's own. */
static void task_of_another(live_unprivileged_report_t *report) {
  struct perf_event_attr attr;
  struct stat first;

  if (stat("/proc/1", &first) != 0 || first.st_uid == getuid()) {
    live_unprivileged_absent(report, "a process 1 of another user");
    return;
  }
  live_comm_attr(&attr);
  needs_perfmon(report, &attr, 1, -1, UV_EACCES, "uid");
}

static void unprivileged_targets_of_others_are_refused(void **state) {
  static const live_unprivileged_line_t lines[] = {
      {"a whole CPU", whole_cpu},
      {"a task of another user", task_of_another},
  };

  live_unprivileged_run(__func__, lines, COUNT_OF(lines));
}

/* -- privileged events ---------------------------------------------------- */

static void uprobe(live_unprivileged_report_t *report) {
  struct perf_event_attr attr;

  uvperf_attr_init(&attr, type_of(report, "uprobe"), 0);
  attr.config1 = (uintptr_t) "/bin/sh";
  attr.exclude_kernel = 1;
  if (attr.type != 0)
    live_unprivileged_refused(report, &attr, 0, -1, UV_EACCES, "CAP_SYS_ADMIN");
}

static void namespaces(live_unprivileged_report_t *report) {
  struct perf_event_attr attr;

  live_comm_attr(&attr);
  attr.namespaces = 1;
  needs_perfmon(report, &attr, 0, -1, UV_EACCES, "attr.namespaces");
}

static void data_of_a_tracepoint(live_unprivileged_report_t *report) {
  struct perf_event_attr attr;

  if (sched_switch == 0) {
    live_unprivileged_absent(report, "a tracepoint's id, of tracefs");
    return;
  }
  live_syscall_attr(&attr, sched_switch, PERF_SAMPLE_RAW);
  needs_perfmon(report, &attr, 0, -1, UV_EPERM, "-1");
}

/* Of a type that no sysctl allows to every user. */
static void bpf_program(live_unprivileged_report_t *report) {
  struct bpf_insn steps[2];
  union bpf_attr attr;

  memset(steps, 0, sizeof(steps));
  memset(&attr, 0, sizeof(attr));
  steps[0].code = BPF_ALU64 | BPF_MOV | BPF_K; /* r0 = 0 */
  steps[1].code = BPF_JMP | BPF_EXIT;
  attr.prog_type = BPF_PROG_TYPE_TRACEPOINT;
  attr.insns = (uintptr_t)steps;
  attr.insn_cnt = 2;
  attr.license = (uintptr_t) "MIT";
  if (syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr)) >= 0)
    live_unprivileged_wrong(report, "it was loaded");
  else if (errno != EPERM)
    live_unprivileged_wrong(report, "bpf returned %s", strerror(errno));
}

static void unprivileged_use_of_the_capability_is_refused(void **state) {
  static const live_unprivileged_line_t lines[] = {
      {"uprobes", uprobe},
      {"namespaces", namespaces},
      {"the data of sched_switch", data_of_a_tracepoint},
      {"loading BPF programs", bpf_program},
  };

  sched_switch = geteuid() == 0
                     ? support_need_tracepoint(__func__, "sched:sched_switch")
                     : 0;
  live_unprivileged_run(__func__, lines, COUNT_OF(lines));
}

/* -- with CAP_PERFMON ----------------------------------------------------- */

static void perfmon_lifts_what_paranoid_forbids(void **state) {
  static const live_unprivileged_line_t lines[] = {
      {"the kernel side", kernel_side_of_software},
      {"physical addresses", physical_addresses},
      {"a whole CPU", whole_cpu},
      {"a task of another user", task_of_another},
      {"the data of sched_switch", data_of_a_tracepoint},
      {"namespaces", namespaces},
  };

  sched_switch = support_need_tracepoint(__func__, "sched:sched_switch");
  has_perfmon = 1;
  live_unprivileged_run_with_perfmon(__func__, lines, COUNT_OF(lines));
}

/* Linux 6.16, and stable kernels of that time, want CAP_SYS_ADMIN. */
static void uprobe_of_linux_6_16(live_unprivileged_report_t *report) {
  if (uvperf__system_is_before(6, 16) != 0)
    live_unprivileged_absent(report, "Linux 6.16");
  else
    uprobe(report);
}

static void kernel_breakpoint(live_unprivileged_report_t *report) {
  struct perf_event_attr attr;

  uvperf_attr_breakpoint(&attr, HW_BREAKPOINT_W, UINT64_MAX - 0xfff, 8);
  live_unprivileged_refused(report, &attr, -1, 0, UV_EPERM, "CAP_SYS_ADMIN");
}

static void
perfmon_does_not_lift_breakpoints_in_the_kernel_and_uprobes(void **state) {
  static const live_unprivileged_line_t lines[] = {
      {"a breakpoint in the kernel", kernel_breakpoint},
      {"uprobes", uprobe_of_linux_6_16},
  };

  support_need_breakpoints(__func__);
  live_unprivileged_run_with_perfmon(__func__, lines, COUNT_OF(lines));
}

/* -- files ---------------------------------------------------------------- */

/* Only root may read tracefs, unless it is mounted otherwise. */
static void tracefs(live_unprivileged_report_t *report) {
  static const char id[] = "/sys/kernel/tracing/events/sched/sched_switch/id";
  struct stat mounted;

  if (stat("/sys/kernel/tracing", &mounted) != 0 ||
      (mounted.st_mode & S_IRWXO) != 0)
    live_unprivileged_absent(
        report, "a tracefs at /sys/kernel/tracing of root's alone");
  else if (access(id, R_OK) == 0)
    live_unprivileged_wrong(report, "%s can be read", id);
  else if (errno != EACCES)
    live_unprivileged_wrong(report, "%s: %s", id, strerror(errno));
}

/* kallsyms_show_value(): addresses, the first word of each line, read as 0. */
static void kernel_addresses(live_unprivileged_report_t *report) {
  unsigned long long address;
  unsigned long lines = 0;
  char line[512];
  FILE *file = fopen("/proc/kallsyms", "re");

  if (file == NULL) {
    live_unprivileged_absent(report, "/proc/kallsyms");
    return;
  }
  while (fgets(line, sizeof(line), file) != NULL) {
    lines++;
    if (sscanf(line, "%llx", &address) != 1 || address != 0)
      live_unprivileged_wrong(report, "line %lu is %s", lines, line);
  }
  fclose(file);
  if (lines == 0)
    live_unprivileged_wrong(report, "there are no symbols at all");
}

static void unprivileged_files_hide_what_they_know(void **state) {
  static const live_unprivileged_line_t lines[] = {
      {"ids of tracepoints", tracefs},
      {"addresses in /proc/kallsyms", kernel_addresses},
  };

  if (geteuid() == 0)
    support_need_tracepoint(__func__, "sched:sched_switch");
  live_unprivileged_run(__func__, lines, COUNT_OF(lines));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(unprivileged_kernel_side_is_refused),
      cmocka_unit_test(unprivileged_targets_of_others_are_refused),
      cmocka_unit_test(unprivileged_use_of_the_capability_is_refused),
      cmocka_unit_test(unprivileged_files_hide_what_they_know),
      cmocka_unit_test(perfmon_lifts_what_paranoid_forbids),
      cmocka_unit_test(
          perfmon_does_not_lift_breakpoints_in_the_kernel_and_uprobes),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
