/* SPDX-License-Identifier: MIT */
/* The features in the header of perf.data: facts about the recording and the
 * machine. */
#ifndef RECORD_FEATURES_H
#define RECORD_FEATURES_H

#include <stdint.h>

#include "record/bytes.h"
#include "record/state.h"

/* The first number of a file or pipe. Its bytes show the byte order: "PERFILE2"
 * on little-endian machines. */
#define RECORD_MAGIC UINT64_C(0x32454c4946524550)

/* Bits of the header, HEADER_* of tools/perf/util/header.h. */
enum {
  RECORD_TRACING_DATA = 1,
  RECORD_BUILD_ID = 2,
  RECORD_HOSTNAME = 3,
  RECORD_OSRELEASE = 4,
  RECORD_VERSION = 5,
  RECORD_ARCH = 6,
  RECORD_NRCPUS = 7,
  RECORD_CPUDESC = 8,
  RECORD_CPUID = 9,
  RECORD_TOTAL_MEM = 10,
  RECORD_CMDLINE = 11,
  RECORD_EVENT_DESC = 12,
  RECORD_CPU_TOPOLOGY = 13,
  RECORD_NUMA_TOPOLOGY = 14,
  RECORD_PMU_MAPPINGS = 16,
  RECORD_GROUP_DESC = 17,
  RECORD_CACHE = 20,
  RECORD_SAMPLE_TIME = 21,
  RECORD_CLOCKID = 23,
  RECORD_CLOCK_DATA = 29,
  RECORD_FEATURES = 32
};

/* Appends a feature. Returns 1. If the feature does not exist here, appends
 * nothing and returns 0. */
int record_feature_put(const record_file_t *file, unsigned feature,
                       common_buffer_t *bytes);

/* Appends the table of features and the features themselves. They will be at
 * this offset in the file. Returns the bits of the features. */
uint64_t record_features_put(const record_file_t *file, uint64_t offset,
                             common_buffer_t *bytes);

/* -- single features ------------------------------------------------------- */

/* The machine: machine.c */
/* HOSTNAME, OSRELEASE and ARCH; no others. */
int record_put_system(unsigned feature, common_buffer_t *bytes);
int record_put_nrcpus(common_buffer_t *bytes);
int record_put_cpudesc(common_buffer_t *bytes);
int record_put_cpuid(common_buffer_t *bytes);
int record_put_total_mem(common_buffer_t *bytes);
int record_put_pmu_mappings(common_buffer_t *bytes);

/* The topology: topology.c. record_last_cpu returns the last CPU that is
 * present, or -1. */
int record_last_cpu(void);
int record_put_cpu_topology(common_buffer_t *bytes);
int record_put_numa_topology(common_buffer_t *bytes);
int record_put_cache(common_buffer_t *bytes);

/* The formats of tracepoints: tracing.c */
int record_put_tracing_data(const record_events_t *events,
                            common_buffer_t *bytes);

#endif
