/* SPDX-License-Identifier: MIT */
#include "common/tasks.h"

#include <sys/stat.h>

/* PROC_PID_INIT_INO of include/linux/proc_ns.h. */
#define FIRST_PID_NAMESPACE 0xeffffffcu

void common_tasks_follow(struct perf_event_attr *attr) {
  attr->task = 1;
  attr->comm = 1;
  attr->comm_exec = 1;
  attr->mmap = 1;
  attr->mmap2 = 1;
}

int common_tasks_has_id(uint32_t id) {
  return id != 0 && id != UINT32_MAX;
}

int common_tasks_has_outsiders(void) {
  struct stat stat_of;

  return stat("/proc/self/ns/pid", &stat_of) == 0 &&
         stat_of.st_ino != FIRST_PID_NAMESPACE;
}
