/* SPDX-License-Identifier: MIT */
/* What can be done to a set and what it tells, but for readings: all of it is
 * the counters'. */
#include "set/internal.h"

#include "loop/ring_report.h"

int uvperf_set_enable(uvperf_set_t *set, uvperf_error_t *error) {
  return uvperf__counters_enable(uvperf__set_counters(set), error);
}

int uvperf_set_disable(uvperf_set_t *set, uvperf_error_t *error) {
  return uvperf__counters_disable(uvperf__set_counters(set), error);
}

int uvperf_set_reset(uvperf_set_t *set) {
  return uvperf__counters_reset(uvperf__set_counters(set));
}

/* With the targets of now delivery may have an end that it had not, or be at
 * it. */
static void look_for_ends(set_t *impl) {
  if (impl->is_started)
    uvperf__watch_look_in(impl->watch, 0);
}

void uvperf__set_settle(set_t *impl) {
  if (!impl->in_callback)
    uvperf__counters_settle(impl->counters);
}

/* A target whose records nobody would read is none. */
int uvperf_set_add_target(uvperf_set_t *set, const uvperf_target_t *target,
                          uint32_t *index, uvperf_error_t *error) {
  set_t *impl = uvperf__set_impl(set);
  uint32_t added;
  int rc;

  /* There may be no turns that do it. */
  uvperf__set_settle(impl);
  rc = uvperf__counters_add_target(impl->counters, target, &added, error);
  if (rc != 0)
    return rc;
  rc = uvperf__set_watch_rings(impl);
  if (rc != 0) {
    uvperf__counters_remove_target(impl->counters, added);
    return uvperf__ring_report_refused(error, rc);
  }
  if (index != NULL)
    *index = added;
  look_for_ends(impl);
  return 0;
}

int uvperf_set_remove_target(uvperf_set_t *set, uint32_t index) {
  set_t *impl = uvperf__set_impl(set);
  int rc = uvperf__counters_remove_target(impl->counters, index);

  if (rc == 0)
    look_for_ends(impl);
  return rc;
}

int uvperf_set_set_filter(uvperf_set_t *set, size_t attr, const char *filter,
                          uvperf_error_t *error) {
  return uvperf__counters_set_filter(uvperf__set_counters(set), attr, filter,
                                     error);
}

int uvperf_set_set_period(uvperf_set_t *set, size_t attr, uint64_t period,
                          uvperf_error_t *error) {
  return uvperf__counters_set_period(uvperf__set_counters(set), attr, period,
                                     error);
}

int uvperf_set_set_bpf(uvperf_set_t *set, size_t attr, int prog_fd,
                       uvperf_error_t *error) {
  return uvperf__counters_set_bpf(uvperf__set_counters(set), attr, prog_fd,
                                  error);
}

const uvperf_set_failure_t *uvperf_set_failures(const uvperf_set_t *set,
                                                size_t *nr) {
  return uvperf__counters_failures(uvperf__set_counters(set), nr);
}

size_t uvperf_set_nr_attrs(const uvperf_set_t *set) {
  return uvperf__counters_nr_attrs(uvperf__set_counters(set));
}

const uvperf_event_item_t *uvperf_set_item(const uvperf_set_t *set,
                                           size_t attr) {
  return uvperf__counters_item(uvperf__set_counters(set), attr);
}

const uvperf_change_t *uvperf_set_changes(const uvperf_set_t *set, size_t attr,
                                          size_t *nr) {
  return uvperf__counters_changes(uvperf__set_counters(set), attr, nr);
}

size_t uvperf_set_nr_open(const uvperf_set_t *set) {
  return uvperf__counters_nr_open(uvperf__set_counters(set));
}

int uvperf_set_fd(const uvperf_set_t *set, size_t attr, uint64_t serial) {
  return uvperf__counters_fd(uvperf__set_counters(set), attr, serial);
}
