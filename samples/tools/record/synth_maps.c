/* SPDX-License-Identifier: MIT */
/* Records of the measured threads and CPUs: THREAD_MAP and CPU_MAP, which are
 * perf(1)'s own. Source: struct perf_record_thread_map and perf_record_cpu_map
 * of tools/lib/perf/include/perf/event.h. */
#include <string.h>

#include "common/proc.h"
#include "record/synth.h"
#include "record/synth_build.h"

/* PERF_RECORD_THREAD_MAP, PERF_RECORD_CPU_MAP. */
#define THREAD_MAP 73
#define CPU_MAP    74

/* The form of CPU_MAP that every perf(1) knows: PERF_CPU_MAP__CPUS. */
#define CPU_MAP_CPUS 0

/* The size of a record has 16 bits, and perf(1) warns of a second
 * THREAD_MAP. */
#define MOST_THREADS 2700
#define MOST_CPUS    32000

int record_synth_thread_map(record_synth_t *synth, const common_ids_t *tids) {
  char comm[COMMON_PROC_COMM_BYTES];
  common_buffer_t *build;
  size_t i;

  if (tids->nr > MOST_THREADS)
    return 0;
  build = record_synth_begin(synth, THREAD_MAP, 0);
  record_bytes_put_u64(build, tids->nr);
  for (i = 0; i < tids->nr; i++) {
    record_bytes_put_u64(build, (uint64_t)tids->ids[i]);
    memset(comm, 0, sizeof(comm));
    if (tids->ids[i] < 0 ||
        common_proc_comm(tids->ids[i], tids->ids[i], comm) != 0)
      comm[0] = '\0';
    comm[15] = '\0';
    common_buffer_add(build, comm, 16);
  }
  return record_synth_end(synth);
}

int record_synth_cpu_map(record_synth_t *synth, const common_ids_t *cpus) {
  common_buffer_t *build;
  size_t i;

  if (cpus->nr > MOST_CPUS)
    return 0;
  build = record_synth_begin(synth, CPU_MAP, 0);
  record_bytes_put_u16(build, CPU_MAP_CPUS);
  record_bytes_put_u16(build, (uint16_t)cpus->nr);
  for (i = 0; i < cpus->nr; i++)
    record_bytes_put_u16(build, (uint16_t)cpus->ids[i]);
  return record_synth_end(synth);
}
