/* SPDX-License-Identifier: MIT */
#include "opener.h"

#include "sys.h"

void uvperf__thread_init(uvperf__thread_t *thread) {
  thread->number = uvperf__sys_thread();
  thread->self = pthread_self();
}

int uvperf__thread_is_mine(const uvperf__thread_t *thread) {
  return thread->number != 0 && thread->number == uvperf__sys_thread() &&
         pthread_equal(thread->self, pthread_self());
}

void uvperf__opener_init(uvperf__opener_t *opener) {
  opener->pid = uvperf__sys_getpid();
  uvperf__thread_init(&opener->thread);
}

int uvperf__opener_is_forked(const uvperf__opener_t *opener) {
  return uvperf__sys_getpid() != opener->pid;
}

int uvperf__opener_seems_forked(const uvperf__opener_t *opener) {
  return !uvperf__thread_is_mine(&opener->thread) &&
         uvperf__opener_is_forked(opener);
}
