/* SPDX-License-Identifier: MIT */
/* Whether addresses of the kernel can be told by name. */
#include "doctor_check.h"

#include <errno.h>
#include <inttypes.h>

/* kernel/ksyms_common.c, kallsyms_show_value: who may see them is decided when
 * the file is opened; to others they are 0. Symbols of each CPU's data are at 0
 * for everybody, code never is. 1, 0, or -errno. */
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

void doctor_symbols(doctor_report_t *report, const doctor_machine_t *machine) {
  doctor_item_t *item = doctor_report_add(
      report, "symbols", "kernel", "addresses of kernel symbols", DOCTOR_YES);
  FILE *symbols = fopen("/proc/kallsyms", "re");
  int rc = symbols != NULL ? has_addresses(symbols) : -errno;

  if (symbols != NULL)
    fclose(symbols);
  if (rc == 1)
    return;
  snprintf(item->remedy, sizeof(item->remedy), "%s",
           rc < 0 ? "a kernel with CONFIG_KALLSYMS"
           : machine->limits.kptr_restrict >= 2
               ? "as root: sysctl kernel.kptr_restrict=1, and setcap "
                 "cap_syslog=ep PROGRAM"
               : "as root: setcap cap_syslog=ep PROGRAM, or sysctl "
                 "kernel.kptr_restrict=0 kernel.perf_event_paranoid=1");
  item->result =
      rc == 0 ? doctor_cannot(item, DOCTOR_NO, -EACCES, UVPERF_CAUSE_PERMISSION,
                              "/proc/kallsyms shows zeros to this process: "
                              "samples of the kernel side stay numbers")
              : doctor_cannot(item, DOCTOR_NO, rc, UVPERF_CAUSE_UNKNOWN,
                              "/proc/kallsyms cannot be read");
}
