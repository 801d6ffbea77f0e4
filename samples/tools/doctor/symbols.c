/* SPDX-License-Identifier: MIT */
/* Checks whether kernel addresses can be turned into names. */
#include "doctor/check.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#include <linux/capability.h>

/* Checks whether the file shows addresses. The kernel decides this when the
 * file is opened. If the kernel hides the addresses, all are 0
 * (kallsyms_show_value in kernel/ksyms_common.c). Only code is checked, because
 * symbols of per-CPU data may be at 0 anyway. Returns 1, 0, or -errno. */
static int has_addresses(FILE *symbols) {
  char line[256], type;
  uint64_t address;

  while (fgets(line, sizeof(line), symbols) != NULL) {
    if (sscanf(line, "%" SCNx64 " %c", &address, &type) == 2 &&
        (type == 't' || type == 'T'))
      return address != 0;
  }
  return -ENODATA;
}

/* Explains why the file does not exist: perhaps procfs is not mounted. */
static doctor_result_t without_file(doctor_item_t *item,
                                    const doctor_machine_t *machine, int rc) {
  if (rc != -ENODATA && (rc != -ENOENT || access("/proc/self", F_OK) != 0))
    return doctor_unreadable(item, machine, rc, "/proc/kallsyms",
                             DOCTOR_MOUNT_PROC);
  snprintf(item->remedy, sizeof(item->remedy), "a kernel with CONFIG_KALLSYMS");
  return doctor_cannot(item, DOCTOR_NO, rc, UVPERF_CAUSE_UNKNOWN,
                       "this kernel has no /proc/kallsyms");
}

/* The rules of kallsyms_show_value: at kptr_restrict 2 no process may see
 * addresses. At kptr_restrict 1 only processes with CAP_SYSLOG may see them. */
static doctor_result_t hidden(doctor_item_t *item,
                              const doctor_machine_t *machine) {
  int is_for_nobody = machine->limits.kptr_restrict >= 2;

  snprintf(item->remedy, sizeof(item->remedy), "%s, %s %s: sysctl %s",
           doctor_can_setcap(machine, CAP_SYSLOG)
               ? "as root: setcap cap_syslog=ep PROGRAM"
           : machine->limits.is_user_namespace == 1
               ? "run it as root outside of the user namespace"
               : "start it as root with CAP_SYSLOG (docker: --cap-add SYSLOG)",
           is_for_nobody ? "and" : "or", doctor_root(machine),
           is_for_nobody
               ? "kernel.kptr_restrict=1"
               : "kernel.kptr_restrict=0 kernel.perf_event_paranoid=1");
  return doctor_cannot(item, DOCTOR_NO, -EACCES, UVPERF_CAUSE_PERMISSION,
                       "/proc/kallsyms shows zeros to this process, so kernel "
                       "addresses have no names");
}

void doctor_symbols(doctor_report_t *report, const doctor_machine_t *machine) {
  doctor_item_t *item = doctor_report_add(
      report, "symbols", "kernel", "addresses of kernel symbols", DOCTOR_YES);
  FILE *symbols = fopen("/proc/kallsyms", "re");
  int rc = symbols != NULL ? has_addresses(symbols) : -errno;

  if (symbols != NULL)
    fclose(symbols);
  if (rc < 0)
    item->result = without_file(item, machine, rc);
  else if (rc == 0)
    item->result = hidden(item, machine);
}
