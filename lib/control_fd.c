/* SPDX-License-Identifier: MIT */
/* What the kernel takes in another form than the attr has it, and what it
 * answers by a number that is no errno. */
#include "control_fd.h"

#include <errno.h>
#include <sys/ioctl.h>

#include "sys.h"
#include "system.h"

#define NS_PER_SECOND UINT64_C(1000000000)

/* perf_swevent_init_hrtimer has made nanoseconds of a clock's frequency and has
 * cleared the kernel's attr.freq, so nanoseconds is what PERF_EVENT_IOC_PERIOD
 * takes; what it would check of a frequency is checked here. */
static int period_argument(const struct perf_event_attr *attr, uint64_t period,
                           uint64_t *argument) {
  int64_t most;

  *argument = period;
  if (!attr->freq || attr->type != PERF_TYPE_SOFTWARE ||
      (attr->config != PERF_COUNT_SW_CPU_CLOCK &&
       attr->config != PERF_COUNT_SW_TASK_CLOCK))
    return 0;
  if (period == 0 || (uvperf__system_max_sample_rate("", &most) == 0 &&
                      most >= 0 && period > (uint64_t)most))
    return -EINVAL;
  *argument = NS_PER_SECOND / period;
  return 0;
}

int uvperf__control_period(int fd, const struct perf_event_attr *attr,
                           uint64_t period) {
  uint64_t argument;
  int rc = period_argument(attr, period, &argument);

  if (rc == 0)
    rc = uvperf__sys_ioctl_ptr(fd, PERF_EVENT_IOC_PERIOD, &argument);
  return rc < 0 ? rc : 0;
}

int uvperf__control_filter(int fd, const struct perf_event_attr *attr,
                           const char *filter) {
  int rc = uvperf__sys_ioctl_ptr(fd, PERF_EVENT_IOC_SET_FILTER,
                                 (void *)(uintptr_t)filter);

  /* parse_pred() in kernel/trace/trace_events_filter.c gives -1, which is no
   * errno, where the name of a field is missing. */
  if (rc == -EPERM && attr->type == PERF_TYPE_TRACEPOINT)
    rc = -EINVAL;
  return rc < 0 ? rc : 0;
}
