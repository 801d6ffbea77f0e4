/* SPDX-License-Identifier: MIT */
/* Records of tasks that ran before the recording began, made from /proc and
 * /sys as perf record does. Without them perf(1) does not know the names and
 * programs of processes that neither start nor map anything during the
 * recording. */
#ifndef RECORD_SYNTH_H
#define RECORD_SYNTH_H

#include <stddef.h>
#include <stdint.h>

#include <linux/perf_event.h>

#include "common/targets.h"

/* Takes a record. Returns 0, or another value, which ends the synthesis. */
typedef int (*record_synth_cb)(void *arg, const void *bytes, size_t size);

typedef struct record_synth_s {
  record_synth_cb write; /* for example record_file_write */
  void *arg;
  /* The attr of the file's first event: perf(1) takes records without an id for
   * this event's. Its sample_type and sample_id_all determine the length of
   * trailers. */
  const struct perf_event_attr *attr;
  int mmap_data;  /* also mappings that are not executable */
  int namespaces; /* also NAMESPACES records */
  /* A child of ours that has not called execve(2) yet; 0: none. Its mappings
   * are still ours and will be gone. perf(1) would keep them, and it unwinds by
   * the lowest mapping that a file ever had. */
  int32_t command;
  /* A prefix for the paths of the kernel's files; NULL: none. */
  const char *root;
  /* Receives 1 if the kernel's addresses are hidden (kptr_restrict). Then there
   * are no records of the kernel. */
  int kernel_hidden;
} record_synth_t;

/* Call these when the kernel already records mappings and tasks, so that
 * nothing is missed in between. A task that ends meanwhile is not an error.
 * They return 0, or the value of `write`. */

/* Writes the mappings of the kernel and its modules. They rarely change, so
 * this may be called before the events run: reading /proc/kallsyms takes about
 * 80 ms, in which a ring may fill. */
int record_synth_kernel(record_synth_t *synth);

/* Writes all processes. */
int record_synth_all(record_synth_t *synth);

/* Writes these processes, with all their threads. */
int record_synth_processes(record_synth_t *synth, const common_ids_t *pids);

/* These write which threads are measured, -1 for a whole CPU, and which
 * CPUs. */
int record_synth_thread_map(record_synth_t *synth, const common_ids_t *tids);
int record_synth_cpu_map(record_synth_t *synth, const common_ids_t *cpus);

/* Writes all cgroups (v2) as CGROUP records, for samples with
 * PERF_SAMPLE_CGROUP. Cgroups that this process may not see are left out. */
int record_synth_cgroups(record_synth_t *synth);

#endif
