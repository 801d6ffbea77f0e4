/* SPDX-License-Identifier: MIT */
/* Chooses the event and opens it for its target. Does not depend on what is
 * done with the records. */
#include "profile/events.h"

#include <unistd.h>

#include "common/files.h"
#include "common/tasks.h"
#include "profile/unwinding.h"

static void fill_attr(const profile_events_t *events,
                      const profile_options_t *options,
                      struct perf_event_attr *attr) {
  if (events->off_cpu)
    uvperf_attr_software(attr, PERF_COUNT_SW_CONTEXT_SWITCHES);
  else if (events->hardware)
    uvperf_attr_hardware(attr, PERF_COUNT_HW_CPU_CYCLES);
  else
    uvperf_attr_software(attr, PERF_COUNT_SW_CPU_CLOCK);
  if (events->off_cpu) {
    attr->sample_period = 1;
    attr->context_switch = 1;
  } else {
    uvperf_attr_set_frequency(attr, options->frequency_hz);
  }
  attr->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                      PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
  if (!options->no_stacks)
    attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
  profile_unwinding_ask(attr, options->stack_bytes);
  common_tasks_follow(attr);
  if (options->view.by == STACKS_BY_CGROUP ||
      (options->top &&
       uvperf_kernel_knows(UVPERF_ATTR_SAMPLE_TYPE, PERF_SAMPLE_CGROUP) == 1)) {
    attr->sample_type |= PERF_SAMPLE_CGROUP;
    attr->cgroup = 1;
  }
  /* A task's event does not report what other tasks load and unload. */
  attr->ksymbol = events->kernel && profile_options_is_of_all(options) &&
                  uvperf_kernel_knows(UVPERF_ATTR_KSYMBOL, 1) == 1;
  if (!events->kernel) {
    attr->exclude_kernel = 1;
    attr->exclude_hv = 1;
    attr->exclude_callchain_kernel = 1;
  }
  /* Excludes idle time. Cycles do not count idle time, and some PMUs refuse the
   * bit. */
  if (!events->hardware && !events->off_cpu &&
      profile_options_is_of_cpus(options))
    attr->exclude_idle = 1;
}

/* Drops the part that the last attempt could not open. Returns 0 if there is
 * nothing to drop. */
static int drop_what_failed(profile_events_t *events, int cause) {
  if (events->off_cpu)
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

/* A machine can switch 100,000 times a second, and then its CPUs are busy. 999
 * copied stacks are 8 MiB. The rings hold the records of a tenth of a second or
 * more, but have at most 64 MiB together. */
static size_t large_ring_bytes(void) {
  long nr_cpus = sysconf(_SC_NPROCESSORS_ONLN);
  size_t bytes = ((size_t)64 << 20) / (size_t)(nr_cpus > 0 ? nr_cpus : 1);

  if (bytes > (size_t)8 << 20)
    return (size_t)8 << 20;
  return bytes < (size_t)1 << 20 ? 0 : bytes;
}

/* Ring bytes 0, the default, uses as much as is allowed. `asked` is -m. */
static int use_default_rings(size_t *ring_bytes, size_t asked, int cause) {
  if (*ring_bytes == 0 || asked != 0 ||
      (cause != UVPERF_CAUSE_LOCKED_MEMORY && cause != UVPERF_CAUSE_MEMORY))
    return 0;
  *ring_bytes = 0;
  return 1;
}

/* Opens a set of one event, or changes nothing. */
static int open_set(profile_events_t *events, uv_loop_t *loop,
                    const common_target_list_t *targets,
                    const struct perf_event_attr *attr, uint32_t flags,
                    size_t ring_bytes, uvperf_error_t *error) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  int rc;

  options.attrs = &attr;
  options.nr_attrs = 1;
  options.targets = targets->targets;
  options.nr_targets = targets->nr;
  options.flags = UVPERF_SET_RECORDS | flags;
  options.ring_bytes = ring_bytes;
  rc = uvperf_set_init(loop, &events->set, &options, error);
  events->is_open = rc == 0;
  return rc;
}

int profile_events_open(profile_events_t *events, uv_loop_t *loop,
                        const common_target_list_t *targets,
                        const profile_options_t *options,
                        uvperf_error_t *error) {
  size_t ring_bytes = options->ring_bytes;
  struct perf_event_attr attr;
  uvperf_ring_info_t ring;
  int rc;

  common_files_raise(NULL);
  events->off_cpu = options->off_cpu;
  events->hardware = !events->off_cpu;
  events->kernel = 1;
  if (ring_bytes == 0 && (events->off_cpu || options->stack_bytes != 0))
    ring_bytes = large_ring_bytes();
  do {
    fill_attr(events, options, &attr);
    rc = open_set(events, loop, targets, &attr, UVPERF_SET_TIME_ORDER,
                  ring_bytes, error);
  } while (rc != 0 &&
           (drop_what_failed(events, error->cause) ||
            use_default_rings(&ring_bytes, options->ring_bytes, error->cause)));
  if (rc == 0 && uvperf_ring(&events->set.handle, 0, &ring) == 0)
    events->ring_bytes = (size_t)ring.bytes;
  return rc;
}

int profile_events_open_end(profile_events_t *events, uv_loop_t *loop,
                            const common_target_list_t *targets,
                            uvperf_error_t *error) {
  struct perf_event_attr attr;

  uvperf_attr_software(&attr, PERF_COUNT_SW_DUMMY);
  attr.sample_period = 1;
  return open_set(events, loop, targets, &attr, 0, 0, error);
}
