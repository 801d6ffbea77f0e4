/* SPDX-License-Identifier: MIT */
/* What the uprobe and kprobe PMUs refuse: perf_uprobe_init and perf_kprobe_init
 * of kernel/trace/trace_event_perf.c, and what they call. */
#include <errno.h>

#include "explain/internal.h"
#include "host/pmu.h"

/* The kernel's own ENOTSUPP, of which user space has no name. */
#define KERNEL_ENOTSUPP 524

static const char *uprobe_fault(int code) {
  switch (code) {
    case -ENOENT:
      return "no file is at the path that uprobe_path (config1) points to";
    case -EFAULT:
      return "uprobe_path (config1) must point to a path";
    case -E2BIG:
    case -ENAMETOOLONG:
      return "the path that uprobe_path (config1) points to is too long";
    case -EINVAL:
      return "uprobe_path (config1) must be a regular file, and probe_offset "
             "(config2) an instruction in it";
    case -EIO:
      return "the file at uprobe_path (config1) is on a file system that "
             "cannot hold uprobes";
    case -KERNEL_ENOTSUPP:
      return "the instruction at probe_offset (config2) cannot be probed";
    default:
      return NULL;
  }
}

static const char *kprobe_fault(int code) {
  switch (code) {
    case -ENOENT:
    case -EADDRNOTAVAIL:
      return "the kernel has no such function: see /proc/kallsyms";
    case -EFAULT:
      return "kprobe_func (config1) must point to a function's name, or be 0";
    case -E2BIG:
      return "the name that kprobe_func (config1) points to is too long";
    case -EINVAL:
    case -EILSEQ:
      return "the function may not be probed (see kprobes/blacklist in "
             "debugfs), or not at this probe_offset";
    default:
      return NULL;
  }
}

int uvperf__attempt_is_probe(const uvperf__attempt_t *attempt,
                             const char *pmu) {
  return uvperf__pmu_is(attempt->root, attempt->attr->type, pmu);
}

int uvperf__attempt_probe(const uvperf__attempt_t *attempt) {
  const char *fault = NULL;
  int cause = attempt->code == -ENOENT || attempt->code == -EADDRNOTAVAIL
                  ? UVPERF_CAUSE_NO_EVENT
                  : UVPERF_CAUSE_ARGUMENT;

  if (uvperf__attempt_is_probe(attempt, "uprobe"))
    fault = uprobe_fault(attempt->code);
  else if (uvperf__attempt_is_probe(attempt, "kprobe"))
    fault = kprobe_fault(attempt->code);
  return uvperf__attempt_fault(attempt, cause, fault);
}
