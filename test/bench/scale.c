/* SPDX-License-Identifier: MIT */
/* What grows with the number of rings, and what must not. */
#include "scale.h"

#include <stdint.h>

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "benchmarks.h"

/* The rings of both readers, and some. */
#define FILES 4096

/* Events of CPUs need the first, or CAP_SYS_ADMIN on an older kernel; this
 * number of rings needs the second. */
static int has_privileges(void) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct sets[2];
  uint64_t has;

  if (syscall(SYS_capget, &header, sets) != 0)
    return 0;
  has = sets[0].effective | (uint64_t)sets[1].effective << 32;
  return (has & (UINT64_C(1) << CAP_PERFMON | UINT64_C(1) << CAP_SYS_ADMIN)) &&
         (has & UINT64_C(1) << CAP_IPC_LOCK);
}

static int run(bench_report_t *report) {
  int rc;

  if (!has_privileges()) {
    bench_report_skip(report, "root, or CAP_PERFMON and CAP_IPC_LOCK");
    return 0;
  }
  if (!bench_has_files(FILES)) {
    bench_report_skip(report, "4,096 open files");
    return 0;
  }
  rc = scale_wakeup(report);
  if (rc == 0)
    rc = scale_memory(report);
  return rc;
}

const bench_t bench_scale = {
    "scale", "many rings on a loop of which one is active", run};
