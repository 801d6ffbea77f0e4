/* SPDX-License-Identifier: MIT */
/* Checks the records, the fields of samples and other features of events. Most
 * features are a bit of the attr. */
#include "doctor/check.h"

#include <errno.h>

static doctor_result_t try_flag(doctor_try_t *try) {
  uvperf_attr_set(&try->attr, (enum uvperf_attr_field)try->check->arg, 1);
  return DOCTOR_YES;
}

static doctor_result_t mmap2(doctor_try_t *try) {
  try->attr.mmap = 1;
  try->attr.mmap2 = 1;
  return try_flag(try);
}

/* Checks a field of samples, with a clock as the event. */
static doctor_result_t try_field(doctor_try_t *try) {
  try->attr.config = PERF_COUNT_SW_CPU_CLOCK;
  try->attr.sample_type = try->check->arg;
  uvperf_attr_set_period(&try->attr, 1000000);
  /* Asks for the first register, which any processor has, and for a page of
   * stack. */
  if (try->check->arg & PERF_SAMPLE_REGS_USER)
    try->attr.sample_regs_user = 1;
  if (try->check->arg & PERF_SAMPLE_REGS_INTR)
    try->attr.sample_regs_intr = 1;
  if (try->check->arg & PERF_SAMPLE_STACK_USER)
    try->attr.sample_stack_user = 4096;
  return DOCTOR_YES;
}

/* Software events accept these fields, but leave them 0. */
static doctor_result_t hardware_field(doctor_try_t *try) {
  doctor_result_t result = try_field(try);

  try->attr.type = PERF_TYPE_HARDWARE;
  try->attr.config = PERF_COUNT_HW_CPU_CYCLES;
  return result;
}

static doctor_result_t aux(doctor_try_t *try) {
  static const char *const names[] = {"intel_pt", "intel_bts", "arm_spe_0",
                                      "cs_etm"};
  size_t i;

  try->attr.config = 0;
  for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
    if (doctor_machine_pmu(try->machine, names[i], &try->attr.type) != 0)
      continue;
    doctor_item_text(try->item, "%s", names[i]);
    return DOCTOR_YES;
  }
  if (try->machine->pmus_code != 0)
    return doctor_unreadable(try->item, try->machine, try->machine->pmus_code,
                             "sysfs", DOCTOR_MOUNT_SYSFS);
  snprintf(try->item->remedy, sizeof(try->item->remedy), "a CPU with one");
  return doctor_cannot(try->item, DOCTOR_NO, -ENOENT, UVPERF_CAUSE_NO_EVENT,
                       "no PMU with an AUX area: neither intel_pt, intel_bts, "
                       "arm_spe_0 nor cs_etm");
}

static doctor_result_t try_format(doctor_try_t *try) {
  try->attr.read_format = try->check->arg;
  return DOCTOR_YES;
}

static doctor_result_t try_inherited(doctor_try_t *try) {
  try->attr.inherit = 1;
  return try_flag(try);
}

static doctor_result_t inherited_read(doctor_try_t *try) {
  try->attr.inherit = 1;
  return try_field(try);
}

static doctor_result_t try_sigtrap(doctor_try_t *try) {
  uvperf_attr_set(&try->attr, UVPERF_ATTR_REMOVE_ON_EXEC, 1);
  return try_flag(try);
}

static doctor_result_t deferred(doctor_try_t *try) {
  doctor_result_t result = try_field(try);

  uvperf_attr_set(&try->attr, UVPERF_ATTR_DEFER_CALLCHAIN, 1);
  return result;
}

static const doctor_check_t records[] = {
    DOCTOR_OWN("mmap2", "executable mappings", mmap2, UVPERF_ATTR_MMAP),
    DOCTOR_OWN("mmap_data", "all mappings", mmap2, UVPERF_ATTR_MMAP_DATA),
    {"build_id", "mappings with build id", mmap2, UVPERF_ATTR_BUILD_ID,
     DOCTOR_NEED_OWN, "5.12"},
    DOCTOR_OWN("comm", "names and exec", try_flag, UVPERF_ATTR_COMM),
    DOCTOR_OWN("task", "fork and exit", try_flag, UVPERF_ATTR_TASK),
    DOCTOR_OWN("context_switch", "context switches", try_flag,
               UVPERF_ATTR_CONTEXT_SWITCH),
    {"namespaces", "namespaces", try_flag, UVPERF_ATTR_NAMESPACES,
     DOCTOR_NEED_PERFMON, NULL},
    {"ksymbol", "new kernel symbols", try_flag, UVPERF_ATTR_KSYMBOL,
     DOCTOR_NEED_OWN, "5.1"},
    {"bpf_event", "new BPF programs", try_flag, UVPERF_ATTR_BPF_EVENT,
     DOCTOR_NEED_OWN, "5.1"},
    {"cgroup", "new cgroups", try_flag, UVPERF_ATTR_CGROUP, DOCTOR_NEED_OWN,
     "5.7"},
    {"text_poke", "changes of kernel code", try_flag, UVPERF_ATTR_TEXT_POKE,
     DOCTOR_NEED_OWN, "5.9"},
};

static const doctor_check_t fields[] = {
    DOCTOR_OWN("callchain", "call chains", try_field, PERF_SAMPLE_CALLCHAIN),
    DOCTOR_OWN("regs_user", "registers, user side", try_field,
               PERF_SAMPLE_REGS_USER),
    DOCTOR_OWN("regs_intr", "registers, at interrupts", try_field,
               PERF_SAMPLE_REGS_INTR),
    DOCTOR_OWN("stack_user", "stack, user side", try_field,
               PERF_SAMPLE_STACK_USER),
    {"phys_addr", "physical addresses", try_field,
     PERF_SAMPLE_ADDR | PERF_SAMPLE_PHYS_ADDR, DOCTOR_NEED_KERNEL, NULL},
    {"data_page_size", "page size of data", try_field,
     PERF_SAMPLE_ADDR | UVPERF_SAMPLE_DATA_PAGE_SIZE, DOCTOR_NEED_OWN, "5.11"},
    {"code_page_size", "page size of code", try_field,
     PERF_SAMPLE_IP | UVPERF_SAMPLE_CODE_PAGE_SIZE, DOCTOR_NEED_OWN, "5.11"},
    {"cgroup", "id of the cgroup", try_field, PERF_SAMPLE_CGROUP,
     DOCTOR_NEED_OWN, "5.7"},
    DOCTOR_OWN("weight", "weight of an access", hardware_field,
               PERF_SAMPLE_WEIGHT),
    DOCTOR_OWN("data_src", "source of an access", hardware_field,
               PERF_SAMPLE_DATA_SRC),
    DOCTOR_OWN("aux", "AUX areas", aux, 0),
};

static const doctor_check_t features[] = {
    {"lost", "counts of lost records", try_format, UVPERF_FORMAT_LOST,
     DOCTOR_NEED_OWN, "6.0"},
    DOCTOR_OWN("group", "groups, read at once", try_format,
               PERF_FORMAT_GROUP | PERF_FORMAT_ID),
    {"sigtrap", "signals (sigtrap)", try_sigtrap, UVPERF_ATTR_SIGTRAP,
     DOCTOR_NEED_OWN, "5.13"},
    {"remove_on_exec", "removal on exec", try_flag, UVPERF_ATTR_REMOVE_ON_EXEC,
     DOCTOR_NEED_OWN, "5.13"},
    {"inherit_thread", "inherited by threads only", try_inherited,
     UVPERF_ATTR_INHERIT_THREAD, DOCTOR_NEED_OWN, "5.13"},
    {"inherit_read", "counts in inherited samples", inherited_read,
     PERF_SAMPLE_READ | PERF_SAMPLE_TID, DOCTOR_NEED_OWN, "6.12"},
    {"defer_callchain", "deferred call chains", deferred, PERF_SAMPLE_CALLCHAIN,
     DOCTOR_NEED_OWN, "6.19"},
};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

void doctor_fields(doctor_report_t *report, doctor_machine_t *machine) {
  doctor_checks_run(report, machine, "records", records, COUNT_OF(records));
  doctor_checks_run(report, machine, "fields", fields, COUNT_OF(fields));
  doctor_checks_run(report, machine, "features", features, COUNT_OF(features));
}
