/* SPDX-License-Identifier: MIT */
/* The facts about the system: limits, capabilities, paths. */
#include "doctor/check.h"

#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static doctor_item_t *fact(doctor_report_t *report, const char *key,
                           const char *title) {
  return doctor_report_add(report, "system", key, title, DOCTOR_FACT);
}

static void number(doctor_report_t *report, const char *key, const char *title,
                   int64_t value, const char *unit) {
  doctor_item_t *item = fact(report, key, title);

  if (value == UVPERF_LIMIT_NONE)
    doctor_item_text(item, "unlimited");
  else if (value != UVPERF_LIMIT_UNKNOWN)
    doctor_item_number(item, value, unit);
}

static void versions(doctor_report_t *report) {
  struct utsname name;

  doctor_item_text(fact(report, "uvperf", "uvperf"), "%s",
                   uvperf_version_string());
  doctor_item_text(fact(report, "libuv", "libuv"), "%s", uv_version_string());
  if (uname(&name) != 0)
    memset(&name, 0, sizeof(name));
  doctor_item_text(fact(report, "kernel", "Linux"), "%s", name.release);
  doctor_item_text(fact(report, "machine", "machine"), "%s", name.machine);
}

/* Appends a word to a list. */
static void append(doctor_item_t *item, const char *word) {
  size_t used = strlen(item->text);

  snprintf(item->text + used, sizeof(item->text) - used, "%s%s",
           used > 0 ? ", " : "", word);
}

static const char *seccomp(int mode) {
  return mode == 0 ? "no" : mode == 1 ? "strict" : mode == 2 ? "filter" : "";
}

static void privileges(doctor_report_t *report,
                       const doctor_machine_t *machine) {
  const uvperf_limits_t *limits = &machine->limits;
  const struct {
    const char *name;
    int64_t has; /* 1, 0, or not known */
  } capabilities[] = {
      {"perfmon", limits->cap_perfmon},
      {"sys_admin", limits->cap_sys_admin},
      {"ipc_lock", limits->cap_ipc_lock},
      {"bpf", limits->cap_bpf},
      {"syslog", limits->cap_syslog},
      {"sys_ptrace", limits->cap_sys_ptrace},
  };
  doctor_item_t *item;
  size_t i;

  number(report, "uid", "user", (int64_t)geteuid(), "");
  item = fact(report, "capabilities", "capabilities");
  for (i = 0; i < COUNT_OF(capabilities); i++) {
    if (capabilities[i].has == 1)
      append(item, capabilities[i].name);
  }
  if (item->text[0] == '\0' && capabilities[0].has == 0)
    append(item, "none");
  item = fact(report, "user_namespace", "user namespace");
  if (limits->is_user_namespace != UVPERF_LIMIT_UNKNOWN)
    doctor_item_text(item, "%s",
                     limits->is_user_namespace ? "not the initial one"
                                               : "the initial one");
  doctor_item_text(fact(report, "seccomp", "seccomp"), "%s",
                   seccomp(machine->seccomp));
}

static void limits_of(doctor_report_t *report,
                      const doctor_machine_t *machine) {
  const uvperf_limits_t *limits = &machine->limits;

  number(report, "perf_event_paranoid", "perf_event_paranoid",
         limits->perf_event_paranoid, "");
  number(report, "perf_event_mlock_kb", "perf_event_mlock_kb",
         limits->perf_event_mlock_kb, "KiB");
  number(report, "rlimit_memlock", "RLIMIT_MEMLOCK", limits->memlock_bytes,
         "bytes");
  number(report, "rlimit_memlock_max", "RLIMIT_MEMLOCK, hard",
         limits->memlock_bytes_max, "bytes");
  number(report, "rlimit_nofile", "RLIMIT_NOFILE", limits->open_files, "");
  number(report, "rlimit_nofile_max", "RLIMIT_NOFILE, hard",
         limits->open_files_max, "");
  number(report, "fds_open", "open files", machine->fds_open, "");
  number(report, "perf_event_max_sample_rate", "perf_event_max_sample_rate",
         limits->perf_event_max_sample_rate, "Hz");
  number(report, "perf_cpu_time_max_percent", "perf_cpu_time_max_percent",
         limits->perf_cpu_time_max_percent, "%");
  number(report, "perf_event_max_stack", "perf_event_max_stack",
         limits->perf_event_max_stack, "frames");
  number(report, "perf_event_max_contexts_per_stack",
         "perf_event_max_contexts_per_stack",
         limits->perf_event_max_contexts_per_stack, "");
  number(report, "nmi_watchdog", "nmi_watchdog", limits->nmi_watchdog, "");
  number(report, "kptr_restrict", "kptr_restrict", limits->kptr_restrict, "");
}

static void places(doctor_report_t *report, const doctor_machine_t *machine) {
  doctor_item_t *item;
  size_t size, i;

  number(report, "cpus_online", "CPUs online",
         machine->cpus_code == 0 ? (int64_t)machine->cpus.nr
                                 : UVPERF_LIMIT_UNKNOWN,
         "");
  item = fact(report, "pmus", "PMUs");
  for (i = 0; i < machine->nr_pmus; i++)
    append(item, machine->pmus[i].name);
  item = fact(report, "tracefs", "tracefs");
  size = sizeof(item->text);
  uvperf_tracefs_path(item->text, &size);
  item = fact(report, "tracer", "tracer");
  size = sizeof(item->text);
  uvperf_tracefs_current_tracer(item->text, &size);
}

void doctor_system(doctor_report_t *report, const doctor_machine_t *machine) {
  versions(report);
  privileges(report, machine);
  limits_of(report, machine);
  places(report, machine);
}
