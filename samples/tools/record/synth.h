/* SPDX-License-Identifier: MIT */
/* Records of tasks that ran before the recording began, made from /proc and
 * /sys as perf record does. Without these records perf(1) does not know the
 * names and programs of processes that do not start and do not map anything
 * during the recording. */
#ifndef RECORD_SYNTH_H
#define RECORD_SYNTH_H

#include <stddef.h>
#include <stdint.h>

#include <linux/perf_event.h>

#include "common/buffer.h"
#include "common/targets.h"

/* Takes a record. Returns 0, or another value, which ends the synthesis. */
typedef int (*record_synth_cb)(void *arg, const void *bytes, size_t size);

typedef struct record_synth_s {
  record_synth_cb write; /* for example record_file_write */
  void *arg;
  /* The attr of the file's first event. perf(1) assumes that records without an
   * id belong to this event. The attr's sample_type and sample_id_all determine
   * the length of trailers. */
  const struct perf_event_attr *attr;
  int mmap_data;  /* also mappings that are not executable */
  int namespaces; /* also NAMESPACES records */
  /* A child of ours that has not called execve(2) yet; 0: none. Its mappings
   * are still a copy of ours and will soon be gone, so they are not written.
   * perf(1) would keep these mappings, and it unwinds with the lowest mapping
   * that a file ever had. */
  int32_t command;
  /* A prefix for the paths of the kernel's files; NULL: none. */
  const char *root;
  /* Receives 1 if the kernel's addresses are hidden (kptr_restrict). Then there
   * are no records of the kernel. */
  int kernel_hidden;
  common_buffer_t build; /* the last record, which the caller releases */
} record_synth_t;

/* Call these functions when the kernel already records mappings and tasks, so
 * that nothing is missed in between. A task that ends meanwhile is not an
 * error. The functions return 0, or the value of `write`. */

/* Writes the mappings of the kernel and its modules. These mappings rarely
 * change, so you may call this before the events run. Reading /proc/kallsyms
 * takes about 80 ms, and a ring could fill in this time. */
int record_synth_kernel(record_synth_t *synth);

/* Writes KSYMBOL and BPF_EVENT records of the BPF programs that are loaded. */
int record_synth_bpf(record_synth_t *synth);

/* Writes all processes. */
int record_synth_all(record_synth_t *synth);

/* Writes these processes, with all their threads. */
int record_synth_processes(record_synth_t *synth, const common_ids_t *pids);

/* The first function writes which threads are measured (-1: all threads of
 * CPUs), the second writes which CPUs are measured. */
int record_synth_thread_map(record_synth_t *synth, const common_ids_t *tids);
int record_synth_cpu_map(record_synth_t *synth, const common_ids_t *cpus);

/* Writes all cgroups (v2) as CGROUP records, for samples with
 * PERF_SAMPLE_CGROUP. Cgroups that this process may not see are left out. */
int record_synth_cgroups(record_synth_t *synth);

#endif
