/* SPDX-License-Identifier: MIT */
#include "opener.h"

#include "sys.h"

void uvperf__opener_init(uvperf__opener_t *opener) {
  opener->pid = uvperf__sys_getpid();
  opener->thread = uvperf__sys_thread();
}

int uvperf__opener_is_forked(const uvperf__opener_t *opener) {
  if (opener->thread != 0 && opener->thread == uvperf__sys_thread())
    return 0;
  return uvperf__sys_getpid() != opener->pid;
}
