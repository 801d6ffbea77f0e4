/* SPDX-License-Identifier: MIT */
/* Chooses the event and opens it wherever it is needed. Does not know what the
 * records are for. */
#include "profile_events.h"

static void fill_attr(profile_events_t *events, const profile_plan_t *plan) {
  struct perf_event_attr *attr = &events->attr;

  if (events->hardware)
    uvperf_attr_hardware(attr, PERF_COUNT_HW_CPU_CYCLES);
  else
    uvperf_attr_software(attr, PERF_COUNT_SW_CPU_CLOCK);
  uvperf_attr_set_frequency(attr, plan->frequency_hz);
  uvperf_attr_set_wakeup_bytes(attr, (uint32_t)(events->all.ring_bytes / 4));
  attr->sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
                      PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
                      PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN;
  shared_events_follow(attr);
  attr->inherit = plan->threads != NULL;
  attr->enable_on_exec = plan->on_exec != 0;
  if (!events->kernel) {
    attr->exclude_kernel = 1;
    attr->exclude_hv = 1;
    attr->exclude_callchain_kernel = 1;
  }
  /* A CPU that idles is no place where time goes. Cycles do not count then;
   * some PMUs refuse the bit. */
  if (!events->hardware && plan->threads == NULL)
    attr->exclude_idle = 1;
}

/* Gives up what the last attempt could not have. 0 if there is nothing to give
 * up. Only the first event chooses: the others must be like it. */
static int settle_for_less(profile_events_t *events, int cause) {
  if (cause == UVPERF_CAUSE_LOCKED_MEMORY && shared_events_shrink(&events->all))
    return 1;
  if (events->all.nr > 0)
    return 0;
  if (cause == UVPERF_CAUSE_PERMISSION && events->kernel) {
    events->kernel = 0;
    return 1;
  }
  if ((cause == UVPERF_CAUSE_NO_EVENT || cause == UVPERF_CAUSE_NOT_SUPPORTED) &&
      events->hardware) {
    events->hardware = 0;
    return 1;
  }
  return 0;
}

static int open_target(profile_events_t *events, uv_loop_t *loop,
                       const profile_plan_t *plan, int32_t pid, int32_t cpu,
                       void *data, uvperf_error_t *error) {
  int rc;

  do {
    fill_attr(events, plan);
    rc = shared_events_open(&events->all, loop, &events->attr, pid, cpu, data,
                            error);
  } while (rc != 0 && settle_for_less(events, error->cause));
  if (rc != 0 && (error->cause == UVPERF_CAUSE_NO_CPU ||
                  error->cause == UVPERF_CAUSE_NO_TASK))
    return 0;
  return rc;
}

int profile_events_open(profile_events_t *events, uv_loop_t *loop,
                        const profile_plan_t *plan, void *data,
                        uvperf_error_t *error) {
  int32_t every_task = -1;
  const shared_ids_t all = {&every_task, 1, 1};
  const shared_ids_t *threads = plan->threads ? plan->threads : &all;
  size_t cpu, thread;
  int rc;

  events->hardware = events->kernel = 1;
  shared_events_init(&events->all, threads->nr * plan->cpus->nr,
                     plan->cpus->nr);
  /* Inherited events cannot be mapped with cpu -1 (kernel/events/core.c,
   * perf_mmap): hence one for each CPU even where it is about threads. */
  for (thread = 0; thread < threads->nr; thread++) {
    for (cpu = 0; cpu < plan->cpus->nr; cpu++) {
      rc = open_target(events, loop, plan, threads->ids[thread],
                       plan->cpus->ids[cpu], data, error);
      if (rc != 0)
        return rc;
    }
  }
  /* The error is the one of the last target that was left out. */
  return events->all.nr > 0 ? 0 : error->code;
}
