/* SPDX-License-Identifier: MIT */
/* Checks which events can be counted and sampled: software, hardware,
 * breakpoints, tracepoints, probes. */
#include "doctor/check.h"

#include <errno.h>
#include <link.h>
#include <unistd.h>

#include <linux/hw_breakpoint.h>

static doctor_result_t try_software(doctor_try_t *try) {
  try->attr.config = try->check->arg;
  uvperf_attr_set_period(&try->attr, 1000000);
  return DOCTOR_YES;
}

static doctor_result_t try_hardware(doctor_try_t *try) {
  try->attr.type = PERF_TYPE_HARDWARE;
  try->attr.config = try->check->arg;
  return DOCTOR_YES;
}

/* Sampling needs an interrupt, which many virtual PMUs do not have. */
static doctor_result_t try_sampled(doctor_try_t *try) {
  uvperf_attr_set_period(&try->attr, 1000000);
  return try_hardware(try);
}

static doctor_result_t cache(doctor_try_t *try) {
  try->attr.type = PERF_TYPE_HW_CACHE;
  try->attr.config = try->check->arg | PERF_COUNT_HW_CACHE_OP_READ << 8 |
                     PERF_COUNT_HW_CACHE_RESULT_MISS << 16;
  return DOCTOR_YES;
}

static doctor_result_t branches(doctor_try_t *try) {
  try->attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
  try->attr.branch_sample_type =
      PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY;
  return try_sampled(try);
}

/* On ARM the event opens, but its IPs are not precise. */
static doctor_result_t try_precise(doctor_try_t *try) {
#if defined(__aarch64__) || defined(__arm__)
  return doctor_cannot(try->item, DOCTOR_NO, UV_ENOTSUP,
                       UVPERF_CAUSE_NOT_SUPPORTED,
                       "the kernel's drivers of ARM's PMUs ignore precise_ip");
#else
  try->attr.type = PERF_TYPE_HARDWARE;
  try->attr.config = PERF_COUNT_HW_CPU_CYCLES;
  try->attr.precise_ip = try->check->arg & 3;
  uvperf_attr_set_period(&try->attr, 1000000);
  return DOCTOR_YES;
#endif
}

/* The function for breakpoints and uprobes. This function is never called, and
 * no event is enabled. The kernel does not support uprobes in Thumb code. */
#if defined(__arm__)
static int place(void) __attribute__((target("arm")));
#endif
static int place(void) {
  return 0;
}

static doctor_result_t breakpoint(doctor_try_t *try) {
  static int data;

  try->attr.type = PERF_TYPE_BREAKPOINT;
  try->attr.config = 0;
  try->attr.bp_type = (uint32_t)try->check->arg;
  try->attr.bp_addr =
      try->check->arg == HW_BREAKPOINT_X ? (uintptr_t)place : (uintptr_t)&data;
  try->attr.bp_len =
      try->check->arg == HW_BREAKPOINT_X ? sizeof(long) : sizeof(data);
  return DOCTOR_YES;
}

/* Without tracefs the answer is "unknown", not "no", because a program may have
 * the id from another source. Only the owner and the group may read the files
 * with the ids. */
static doctor_result_t without_id(doctor_item_t *item,
                                  const doctor_machine_t *machine, int rc,
                                  const char *name) {
  if (rc == -EACCES)
    snprintf(item->remedy, sizeof(item->remedy),
             "%s%s: mount -o remount,gid=GROUP,mode=750 /sys/kernel/tracing",
             geteuid() != 0 ? "run it as root, or " : "", doctor_root(machine));
  else if (rc == -ENOENT)
    snprintf(
        item->remedy, sizeof(item->remedy),
        "a kernel with CONFIG_FTRACE_SYSCALLS and other options for tracing");
  else if (rc != -ENODEV)
    return doctor_unreadable(item, machine, rc, "tracefs", "");
  else
    snprintf(item->remedy, sizeof(item->remedy), "%s",
             machine->is_contained
                 ? "the host's tracefs (docker: -v "
                   "/sys/kernel/tracing:/sys/kernel/tracing)"
                 : "as root: mount -t tracefs tracefs /sys/kernel/tracing");
  return doctor_cannot(item, rc == -ENOENT ? DOCTOR_NO : DOCTOR_UNKNOWN, rc,
                       rc == -EACCES ? UVPERF_CAUSE_PERMISSION
                                     : UVPERF_CAUSE_NO_EVENT,
                       "%s: its id cannot be read from tracefs", name);
}

static doctor_result_t try_tracepoint(doctor_try_t *try, const char *category,
                                      const char *name) {
  uint64_t id;
  int rc = uvperf_tracefs_id(category, name, &id);

  if (rc != 0)
    return without_id(try->item, try->machine, rc, name);
  try->attr.type = PERF_TYPE_TRACEPOINT;
  try->attr.config = id;
  try->attr.sample_type = PERF_SAMPLE_RAW;
  uvperf_attr_set_period(&try->attr, 1);
  return DOCTOR_YES;
}

static doctor_result_t system_call(doctor_try_t *try) {
  return try_tracepoint(try, "syscalls", "sys_enter_openat");
}

/* Measures only the user side, like the other checks. So a refusal can only be
 * about the data. A process that may read the data may also measure the kernel
 * side. */
static doctor_result_t try_scheduler(doctor_try_t *try) {
  if (try->check->arg) {
    try->options.pid = -1;
    try->options.cpu = try->machine->cpus.ids[0];
    try->options.flags |= UVPERF_EVENT_CPU;
  }
  return try_tracepoint(try, "sched", "sched_switch");
}

/* Sets the type of the PMU with this name. */
static doctor_result_t try_pmu(doctor_try_t *try, const char *name,
                               const char *option) {
  int rc = doctor_machine_pmu(try->machine, name, &try->attr.type);

  if (rc == 0)
    return DOCTOR_YES;
  if (try->machine->pmus_code != 0)
    return doctor_unreadable(try->item, try->machine, try->machine->pmus_code,
                             "sysfs", DOCTOR_MOUNT_SYSFS);
  snprintf(try->item->remedy, sizeof(try->item->remedy), "a kernel with %s",
           option);
  return doctor_cannot(try->item, DOCTOR_NO, rc, UVPERF_CAUSE_NO_EVENT,
                       "this kernel has no PMU %s", name);
}

typedef struct segment_s {
  uintptr_t address;
  uint64_t offset; /* of the address in the file; 0: not found */
} segment_t;

/* Called first for the program itself; returns 1 to stop after it. */
static int find_segment(struct dl_phdr_info *info, size_t size, void *data) {
  segment_t *segment = data;
  size_t i;

  (void)size;
  for (i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *header = &info->dlpi_phdr[i];
    uintptr_t start = info->dlpi_addr + header->p_vaddr;

    if (header->p_type == PT_LOAD && segment->address >= start &&
        segment->address - start < header->p_filesz)
      segment->offset = segment->address - start + header->p_offset;
  }
  return 1;
}

static doctor_result_t try_uprobe(doctor_try_t *try) {
  segment_t segment = {(uintptr_t)place, 0};
  doctor_result_t result;

  dl_iterate_phdr(find_segment, &segment);
  try->attr.config = 0;
  try->attr.config1 = (uintptr_t) "/proc/self/exe";
  try->attr.config2 = segment.offset;
  result = try_pmu(try, "uprobe", "CONFIG_UPROBE_EVENTS");
  if (result == DOCTOR_YES && access("/proc/self/exe", F_OK) != 0)
    return doctor_unreadable(try->item, try->machine, -errno, "/proc/self/exe",
                             DOCTOR_MOUNT_PROC);
  return result;
}

static doctor_result_t try_kprobe(doctor_try_t *try) {
  try->attr.config = 0;
  try->attr.config1 = (uintptr_t) "do_exit";
  return try_pmu(try, "kprobe", "CONFIG_KPROBE_EVENTS");
}

/* Opens the event on a CPU, because BPF programs use it there. */
static doctor_result_t bpf_output(doctor_try_t *try) {
  try->options.pid = -1;
  try->options.cpu = try->machine->cpus.ids[0];
  try->options.flags |= UVPERF_EVENT_CPU;
  try->attr.sample_type = PERF_SAMPLE_RAW;
  return try_software(try);
}

static const doctor_check_t checks[] = {
    DOCTOR_OWN("cpu_clock", "CPU clock", try_software, PERF_COUNT_SW_CPU_CLOCK),
    DOCTOR_OWN("task_clock", "task clock", try_software,
               PERF_COUNT_SW_TASK_CLOCK),
    DOCTOR_OWN("page_faults", "page faults", try_software,
               PERF_COUNT_SW_PAGE_FAULTS),
    DOCTOR_OWN("cycles", "cycles, counted", try_hardware,
               PERF_COUNT_HW_CPU_CYCLES),
    DOCTOR_OWN("cycles_sampled", "cycles, sampled", try_sampled,
               PERF_COUNT_HW_CPU_CYCLES),
    DOCTOR_OWN("instructions", "instructions", try_hardware,
               PERF_COUNT_HW_INSTRUCTIONS),
    DOCTOR_OWN("cache_misses", "cache misses", try_hardware,
               PERF_COUNT_HW_CACHE_MISSES),
    DOCTOR_OWN("l1d_misses", "L1 data cache misses", cache,
               PERF_COUNT_HW_CACHE_L1D),
    DOCTOR_OWN("branch_stack", "branch stacks", branches,
               PERF_COUNT_HW_CPU_CYCLES),
    DOCTOR_OWN("precise_1", "precise_ip 1", try_precise, 1),
    DOCTOR_OWN("precise_2", "precise_ip 2", try_precise, 2),
    DOCTOR_OWN("precise_3", "precise_ip 3", try_precise, 3),
    DOCTOR_OWN("breakpoint", "breakpoints on data", breakpoint,
               HW_BREAKPOINT_W),
    DOCTOR_OWN("breakpoint_code", "breakpoints on code", breakpoint,
               HW_BREAKPOINT_X),
    DOCTOR_OWN("tracepoint_own", "own system calls", system_call, 0),
    {"tracepoint", "tracepoints with data", try_scheduler, 0, DOCTOR_NEED_DATA,
     NULL},
    {"tracepoint_cpu", "tracepoints on a CPU", try_scheduler, 1,
     DOCTOR_NEED_DATA, NULL},
    {"uprobe", "uprobes", try_uprobe, 0, DOCTOR_NEED_ADMIN, NULL},
    {"kprobe", "kprobes", try_kprobe, 0, DOCTOR_NEED_PERFMON, NULL},
    {"bpf_output", "output of BPF programs", bpf_output,
     PERF_COUNT_SW_BPF_OUTPUT, DOCTOR_NEED_CPU, NULL},
};

void doctor_events(doctor_report_t *report, doctor_machine_t *machine) {
  doctor_checks_run(report, machine, "events", checks,
                    sizeof(checks) / sizeof(checks[0]));
}
