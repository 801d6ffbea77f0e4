/* SPDX-License-Identifier: MIT */
/* The features about the recording itself, and the table of all features. Each
 * feature has the layout of its write_… function in
 * tools/perf/util/header.c. */
#include "record/features.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include <uvperf.h>

#include "record/values.h"

static int put_version(common_buffer_t *bytes) {
  char version[64];

  snprintf(version, sizeof(version), "uvperf %s", uvperf_version_string());
  record_bytes_put_string(bytes, version);
  return 1;
}

static int put_cmdline(const record_file_t *file, common_buffer_t *bytes) {
  char path[4096];
  uint32_t nr = 0;
  ssize_t size;

  if (file->argv == NULL || file->argv[0] == NULL)
    return 0;
  while (file->argv[nr] != NULL)
    nr++;
  record_bytes_put_u32(bytes, nr);
  size = readlink("/proc/self/exe", path, sizeof(path) - 1);
  path[size < 0 ? 0 : size] = '\0';
  record_bytes_put_string(bytes, size < 0 ? file->argv[0] : path);
  for (nr = 1; file->argv[nr] != NULL; nr++)
    record_bytes_put_string(bytes, file->argv[nr]);
  return 1;
}

static int put_event_desc(const record_file_t *file, common_buffer_t *bytes) {
  const record_events_t *events = &file->events;
  size_t attr_size = record_events_attr_size(events);
  const record_event_t *event;
  size_t i;

  record_bytes_put_u32(bytes, (uint32_t)events->nr);
  record_bytes_put_u32(bytes, (uint32_t)attr_size);
  for (i = 0; i < events->nr; i++) {
    event = &events->events[i];
    record_events_put_attr(event, attr_size, bytes);
    record_bytes_put_u32(bytes, (uint32_t)event->nr_ids);
    record_bytes_put_string(bytes, event->name);
    common_buffer_add(bytes, event->ids, event->nr_ids * sizeof(uint64_t));
  }
  return events->nr > 0;
}

/* perf(1) makes its own description for a group of this name: evsel__group_desc
 * of tools/perf/util/evsel.c. */
static int put_group_desc(const record_file_t *file, common_buffer_t *bytes) {
  const record_events_t *events = &file->events;
  uint32_t i, nr = 0;

  for (i = 0; i < events->nr; i++)
    nr += events->events[i].nr_members > 1;
  record_bytes_put_u32(bytes, nr);
  for (i = 0; i < events->nr; i++) {
    if (events->events[i].nr_members < 2)
      continue;
    record_bytes_put_string(bytes, "{anon_group}");
    record_bytes_put_u32(bytes, i);
    record_bytes_put_u32(bytes, (uint32_t)events->events[i].nr_members);
  }
  return nr > 0;
}

static int put_sample_time(const record_file_t *file, common_buffer_t *bytes) {
  record_bytes_put_u64(bytes, file->first_time);
  record_bytes_put_u64(bytes, file->last_time);
  return file->first_time <= file->last_time;
}

/* perf(1) allows only one clock for all events. */
static int clock_of(const record_file_t *file, int *clock) {
  struct perf_event_attr attr;

  if (file->events.nr == 0)
    return 0;
  record_events_head(&file->events.events[0], &attr);
  *clock = attr.clockid;
  return attr.use_clockid;
}

static int put_clockid(const record_file_t *file, common_buffer_t *bytes) {
  struct timespec resolution;
  int clock;

  if (!clock_of(file, &clock) || clock_getres(clock, &resolution) != 0)
    return 0;
  record_bytes_put_u64(bytes, (uint64_t)resolution.tv_sec * 1000000000 +
                                  (uint64_t)resolution.tv_nsec);
  return 1;
}

/* Puts the clock's time and the time of day at the same moment. */
static int put_clock_data(const record_file_t *file, common_buffer_t *bytes) {
  uint64_t time, realtime;
  int clock;

  if (!clock_of(file, &clock) ||
      record_clock_pair(clock, &time, &realtime) != 0)
    return 0;
  record_bytes_put_u32(bytes, 1); /* the version */
  record_bytes_put_u32(bytes, (uint32_t)clock);
  record_bytes_put_u64(bytes, realtime);
  record_bytes_put_u64(bytes, time);
  return 1;
}

static int (*const of_file[RECORD_FEATURES])(const record_file_t *file,
                                             common_buffer_t *bytes) = {
    [RECORD_CMDLINE] = put_cmdline,
    [RECORD_EVENT_DESC] = put_event_desc,
    [RECORD_GROUP_DESC] = put_group_desc,
    [RECORD_SAMPLE_TIME] = put_sample_time,
    [RECORD_CLOCKID] = put_clockid,
    [RECORD_CLOCK_DATA] = put_clock_data,
};

static int (*const of_machine[RECORD_FEATURES])(common_buffer_t *bytes) = {
    [RECORD_VERSION] = put_version,
    [RECORD_NRCPUS] = record_put_nrcpus,
    [RECORD_CPUDESC] = record_put_cpudesc,
    [RECORD_CPUID] = record_put_cpuid,
    [RECORD_TOTAL_MEM] = record_put_total_mem,
    [RECORD_CPU_TOPOLOGY] = record_put_cpu_topology,
    [RECORD_NUMA_TOPOLOGY] = record_put_numa_topology,
    [RECORD_PMU_MAPPINGS] = record_put_pmu_mappings,
    [RECORD_CACHE] = record_put_cache,
};

static int put(const record_file_t *file, unsigned feature,
               common_buffer_t *bytes) {
  if (feature == RECORD_TRACING_DATA)
    return record_put_tracing_data(&file->events, bytes);
  if (feature == RECORD_BUILD_ID)
    return record_build_ids_put(file->build_ids, bytes);
  if (of_file[feature] != NULL)
    return of_file[feature](file, bytes);
  if (of_machine[feature] != NULL)
    return of_machine[feature](bytes);
  return record_put_system(feature, bytes);
}

int record_feature_put(const record_file_t *file, unsigned feature,
                       common_buffer_t *bytes) {
  size_t start = bytes->used;

  if (put(file, feature, bytes))
    return 1;
  bytes->used = start;
  return 0;
}

uint64_t record_features_put(const record_file_t *file, uint64_t offset,
                             common_buffer_t *bytes) {
  common_buffer_t parts = {NULL, 0, 0};
  size_t start[RECORD_FEATURES], end[RECORD_FEATURES], nr = 0;
  uint64_t features = 0;
  unsigned feature;
  size_t i;

  for (feature = 1; feature < RECORD_FEATURES; feature++) {
    start[nr] = parts.used;
    if (!record_feature_put(file, feature, &parts))
      continue;
    end[nr++] = parts.used;
    record_bytes_align(&parts, sizeof(uint64_t));
    features |= UINT64_C(1) << feature;
  }
  offset += nr * 2 * sizeof(uint64_t);
  for (i = 0; i < nr; i++) {
    record_bytes_put_u64(bytes, offset + start[i]);
    record_bytes_put_u64(bytes, end[i] - start[i]);
  }
  common_buffer_add(bytes, parts.text, parts.used);
  common_buffer_free(&parts);
  return features;
}
