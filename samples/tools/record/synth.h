/* SPDX-License-Identifier: MIT */
/* Records of what was there before the recording began, as perf record makes
 * them out of /proc and /sys: without them perf(1) knows no names, and no
 * programs, of processes that neither began nor mapped anything meanwhile. */
#ifndef RECORD_SYNTH_H
#define RECORD_SYNTH_H

#include <stddef.h>
#include <stdint.h>

#include <linux/perf_event.h>

#include "common/targets.h"

/* Takes a record: 0, or another value to end the synthesis with. */
typedef int (*record_synth_cb)(void *arg, const void *bytes, size_t size);

typedef struct record_synth_s {
  record_synth_cb write; /* record_file_write, say */
  void *arg;
  /* That of the first event in the file: perf(1) takes a record of no id for
   * one of it. Its sample_type and sample_id_all tell how long trailers are. */
  const struct perf_event_attr *attr;
  int mmap_data;  /* mappings that are not executable too */
  int namespaces; /* NAMESPACES records */
  /* A child of our own that has not called execve(2) yet, 0 for none: what it
   * has mapped is ours, and gone then. perf(1) would not forget it, and unwinds
   * by the lowest mapping that a file ever had. */
  int32_t command;
  /* What stands in front of the paths of the kernel's files; NULL: nothing. */
  const char *root;
  /* Receives, if the kernel's addresses are hidden (kptr_restrict), so that
   * there are no records of the kernel: 1. */
  int kernel_hidden;
} record_synth_t;

/* To be called when the kernel already records mappings and tasks, so that
 * nothing falls between. What ends meanwhile is no error. Each gives 0, or what
 * write gave. */

/* The mappings of the kernel and of its modules. They change so seldom that it
 * may be called before the events run: to read /proc/kallsyms takes some 80 ms,
 * in which a ring may fill. */
int record_synth_kernel(record_synth_t *synth);

/* All processes. */
int record_synth_all(record_synth_t *synth);

/* These processes, with all their threads. */
int record_synth_processes(record_synth_t *synth, const common_ids_t *pids);

/* Which threads are measured: -1 for a whole CPU. And which CPUs. */
int record_synth_thread_map(record_synth_t *synth, const common_ids_t *tids);
int record_synth_cpu_map(record_synth_t *synth, const common_ids_t *cpus);

/* All cgroups (v2): CGROUP records, for samples with PERF_SAMPLE_CGROUP. Those
 * that this process may not see are left out. */
int record_synth_cgroups(record_synth_t *synth);

#endif
