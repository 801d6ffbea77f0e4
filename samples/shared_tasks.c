/* SPDX-License-Identifier: MIT */
#include "shared_tasks.h"

void shared_tasks_follow(struct perf_event_attr *attr) {
  attr->task = 1;
  attr->comm = 1;
  attr->comm_exec = 1;
  attr->mmap = 1;
  attr->mmap2 = 1;
}
