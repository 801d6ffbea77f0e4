/* SPDX-License-Identifier: MIT */
#include "common/remedies.h"

#include <string.h>

/* The order matters: a longer phrase comes before a phrase that is a part of
 * it. If no tool has an option for a remedy, the remedy is left out. */
static const struct {
  const char *api;
  const char *user; /* not longer */
} phrases[] = {
    {", or allow UVPERF_FALLBACK_KERNEL", ""},
    {", or allow UVPERF_FALLBACK_USER", ""},
    {", or allow UVPERF_FALLBACK_PRECISE", ""},
    {", or allow UVPERF_FALLBACK_CLOCK", ""},
    {", or set UVPERF_SET_FIXED_CPUS", ""},
    {", or set UVPERF_BPF_READER_FIXED_CPUS", ""},
    {", or list the CPUs in options.cpus", ""},
    {"; set that field with uvperf_attr_set", ""},
    {"set exclude_kernel", "add the modifier u"},
    {"this precise_ip; lower it", "that many p; use fewer"},
    {"leave out PERF_SAMPLE_BRANCH_STACK", "leave out the branch stacks"},
    {"a branch stack of more than PERF_SAMPLE_BRANCH_USER",
     "a branch stack of more than the user side"},
    {"leave out PERF_SAMPLE_STACK_USER, _REGS_USER and _REGS_INTR",
     "use call-graph=fp and no registers"},
    {"sample_stack_user 0 with PERF_SAMPLE_STACK_USER, so that",
     "stack-size=0, so that"},
    {"; clear that bit", "; set another"},
    {"PERF_SAMPLE_PHYS_ADDR", "--phys-data"},
    {"attr.namespaces", "--namespaces"},
    {"attr.sample_max_stack", "max-stack"},
    {"write_backward; set UVPERF_SET_OVERWRITE in options.flags instead, which "
     "makes all rings of the set overwritable",
     "the term overwrite; leave it out"},
    {"use CLOCK_MONOTONIC or CLOCK_MONOTONIC_RAW",
     "use monotonic or monotonic_raw"},
    {"options.ring_bytes", "-m"},
    {"UVPERF_TARGET_THREAD", "-t"},
    {"target.cpus", "-C"},
    {"target.cgroup", "the cgroup"},
};

#define NR_PHRASES (sizeof(phrases) / sizeof(phrases[0]))

static void replace(char *at, size_t length, const char *with) {
  size_t own = strlen(with);

  memcpy(at, with, own);
  memmove(at + own, at + length, strlen(at + length) + 1);
}

void common_remedies_for_users(char *text, int has_options) {
  size_t i;
  char *at;

  for (i = 0; i < NR_PHRASES; i++) {
    if (!has_options && phrases[i].user[0] == '-')
      continue;
    at = text;
    while ((at = strstr(at, phrases[i].api)) != NULL) {
      replace(at, strlen(phrases[i].api), phrases[i].user);
      at += strlen(phrases[i].user);
    }
  }
}
