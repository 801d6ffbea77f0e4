/* SPDX-License-Identifier: MIT */
/* Opens a set as the options require. */
#include "trace/set.h"

#include <string.h>

#include "common/target_list.h"

/* A thread can make a million calls per second. The records of a call have
 * about 250 bytes, and the rings are read every 50 ms. If this much memory may
 * not be locked, the default size is used. */
#define SUMMARY_RING_BYTES ((size_t)8 << 20)

static void make_targets(common_target_list_t *targets,
                         const trace_options_t *options, int32_t command) {
  size_t i;

  common_target_list_add_ids(targets, &options->pids, UVPERF_TARGET_PROCESS, 0);
  common_target_list_add_ids(targets, &options->tids, UVPERF_TARGET_THREAD, 0);
  if (options->all)
    common_target_list_add(targets, UVPERF_TARGET_CPUS);
  else if (targets->nr == 0)
    /* The kernel starts the events of a command at its exec. */
    common_target_list_add(targets, options->delay.is_set
                                        ? UVPERF_TARGET_PROCESS
                                        : UVPERF_TARGET_COMMAND)
        ->pid = command;
  for (i = 0; i < targets->nr; i++)
    targets->targets[i].cpus = options->cpus;
}

/* Checks whether any event is open besides the event for side-band records.
 * Returns 0, or the code of the first failure. */
static int has_events(uvperf_set_t *set, size_t nr_events,
                      uvperf_error_t *error) {
  const uvperf_set_failure_t *failures;
  uvperf_reading_t *reading;
  uvperf_count_t count;
  size_t nr, i;
  int rc;

  failures = uvperf_set_failures(set, &nr);
  if (nr == 0)
    return 0;
  *error = failures[0].error;
  rc = uvperf_reading_new(&reading);
  if (rc != 0)
    return rc;
  rc = uvperf_set_read(set, reading, NULL);
  if (rc == 0)
    rc = error->code;
  for (i = 0; i < nr_events; i++) {
    if (uvperf_reading_total(reading, i, &count) == 0 && count.nr_counts > 0)
      rc = 0;
  }
  uvperf_reading_free(reading);
  return rc;
}

/* Returns 1 if the events have hits on the user side alone. At paranoid 2 a
 * user may sample two kinds of tracepoints. syscalls:* are hit with the
 * registers of the user, so they have hits. raw_syscalls:* are hit in the
 * kernel, so they have no hits without the kernel side
 * (include/trace/events/syscalls.h, kernel/trace/trace_syscalls.c). */
static int have_user_side(const trace_events_t *events) {
  static const char raw[] = "raw_syscalls:";
  size_t i;

  for (i = 0; i < events->nr; i++) {
    if (events->events[i].name != NULL &&
        strncmp(events->events[i].name, raw, strlen(raw)) == 0)
      return 0;
  }
  return 1;
}

int trace_set_open(uvperf_set_t *set, common_session_t *session,
                   const trace_options_t *options, const trace_events_t *events,
                   int *is_open, uvperf_error_t *error) {
  uvperf_set_options_t wanted = UVPERF_SET_OPTIONS_INIT;
  uvperf_event_list_t *list = NULL;
  common_target_list_t targets = {NULL, 0, 0};
  size_t i;
  int rc;

  for (i = 0; i < events->nr; i++) {
    rc = uvperf_event_list_add(&list, events->events[i].attr,
                               events->events[i].label, -1, error);
    if (rc < 0) {
      uvperf_event_list_free(list);
      return rc;
    }
  }
  make_targets(&targets, options, session->command.pid);
  wanted.events = list;
  wanted.targets = targets.targets;
  wanted.nr_targets = targets.nr;
  wanted.flags = UVPERF_SET_RECORDS | UVPERF_SET_TIME_ORDER;
  wanted.fallbacks = have_user_side(events) ? UVPERF_FALLBACK_USER : 0;
  wanted.side_band = UVPERF_SIDE_BAND_TASKS;
  wanted.ring_bytes = options->ring_bytes;
  if (options->summary && options->ring_bytes == 0)
    wanted.ring_bytes = SUMMARY_RING_BYTES;
  rc = common_session_open_set(session, set, &wanted, error);
  if (rc != 0 && error->cause == UVPERF_CAUSE_LOCKED_MEMORY &&
      options->ring_bytes == 0 && options->summary) {
    wanted.ring_bytes = 0;
    rc = common_session_open_set(session, set, &wanted, error);
  }
  common_target_list_free(&targets);
  uvperf_event_list_free(list);
  *is_open = rc == 0;
  return rc != 0 ? rc : has_events(set, events->nr, error);
}

int trace_set_filter(uvperf_set_t *set, const trace_events_t *events,
                     uvperf_error_t *error) {
  size_t i;
  int rc;

  for (i = 0; i < events->nr; i++) {
    if (events->events[i].filter == NULL)
      continue;
    rc = uvperf_apply_filter(&set->handle, i, events->events[i].filter, error);
    if (rc != 0) {
      error->attr_index = (uint32_t)i;
      return rc;
    }
  }
  return 0;
}
