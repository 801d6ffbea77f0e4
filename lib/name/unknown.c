/* SPDX-License-Identifier: MIT */
/* Handles words that are not events: suggests the name that was probably meant,
 * or explains what the word is. Searches all existing names, so it is slow. */
#include "name/build.h"

#include <errno.h>
#include <string.h>

#include "attr/generic_name.h"
#include "host/pmu.h"
#include "host/tracefs.h"
#include "util/glob.h"
#include "util/near_miss.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Events that perf(1) measures itself. */
static const char *const tool_events[] = {
    "duration_time", "user_time", "system_time",     "has_pmem",
    "num_cores",     "num_cpus",  "num_cpus_online", "num_dies",
    "num_packages",  "smt_on",    "system_tsc_freq", "core_wide",
    "target_cpu",
};

static int is_tool_event(uvperf__span_t word) {
  size_t i;

  for (i = 0; i < COUNT_OF(tool_events); i++)
    if (uvperf__span_is(word, tool_events[i]))
      return 1;
  return 0;
}

static int try_events(const char *pmu, void *data) {
  uvperf__pmu_each_event(pmu, uvperf__near_miss_each, data);
  return 0;
}

/* The name of a PMU alone is not an event, but the user probably meant an event
 * of that PMU. */
static int is_pmu(const uvperf__event_build_t *build) {
  char name[UVPERF__PMU_NAME_BYTES];
  uint32_t type;

  return uvperf__span_is_file_name(build->text->head) &&
         uvperf__span_copy(build->text->head, name, sizeof(name)) == 0 &&
         uvperf_pmu_type(name, &type) == 0;
}

static int keep_whole(const char *category, const char *name, uint64_t id,
                      void *data) {
  uvperf__near_miss_t *miss = data;
  size_t length = strlen(category);

  (void)id;
  if (length + 1 + strlen(name) >= sizeof(miss->best))
    return 0;
  memcpy(miss->best, category, length);
  miss->best[length] = ':';
  strcpy(miss->best + length + 1, name);
  return 1;
}

/* Searches for a tracepoint by its name without category, "sched_switch". */
static void try_tracepoints(uvperf__near_miss_t *miss, uvperf__span_t word) {
  char name[UVPERF__PMU_NAME_BYTES];

  if (uvperf__span_copy(word, name, sizeof(name)) == 0 &&
      !uvperf__glob_is_pattern(name))
    uvperf_tracefs_walk(NULL, name, keep_whole, miss);
}

int uvperf__event_build_unknown(const uvperf__event_build_t *build) {
  char shown[UVPERF__SHOW_BYTES], meant[UVPERF__MEANT_BYTES];
  uvperf__span_t word = build->text->head;
  const char *hint = "";
  uvperf__near_miss_t miss;
  uint32_t type;

  if (build->parse->error == NULL)
    return -ENOENT;
  uvperf__near_miss_init(&miss, word.at, uvperf__span_length(word));
  for (type = PERF_TYPE_HARDWARE; type <= PERF_TYPE_HW_CACHE; type++) {
    uvperf__generic_each(type, uvperf__near_miss_each, &miss);
    uvperf__generic_each_alias(type, uvperf__near_miss_each, &miss);
  }
  uvperf__pmu_each(try_events, &miss);
  try_tracepoints(&miss, word);
  if (is_tool_event(word))
    hint = "; perf(1) measures that itself";
  else if (is_pmu(build))
    hint = "; it is a PMU, so write NAME/EVENT/ with an event of its directory "
           "in sysfs";
  else if (miss.best[0] == '\0' &&
           memchr(word.at, '.', uvperf__span_length(word)) != NULL)
    hint = "; the JSON files of perf(1) are not read here, so write its code, "
           "as in cpu/event=0x3c/";
  else
    hint = uvperf__parse_meant(miss.best, meant);
  return uvperf__parse_fail(build->parse, word.at, -ENOENT,
                            UVPERF_CAUSE_NO_EVENT, "there is no event '%s'%s",
                            uvperf__span_show(word, shown), hint);
}
