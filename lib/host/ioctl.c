/* SPDX-License-Identifier: MIT */
/* Requests that need more than the plain ioctl(2). For the period of a clock,
 * the kernel expects another form of the value than the form in the attr. A BPF
 * program can be attached in two ways. For a filter the kernel can return a
 * number that is not an errno. */
#include "host/ioctl.h"

#include <errno.h>
#include <string.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "host/system.h"
#include "sys/bpf.h"
#include "sys/opener.h"
#include "sys/sys.h"

/* BPF_TRACE_MAX_PROGS in include/linux/trace_events.h: a tracepoint reports the
 * ids of at most this number of programs. The ioctl fails with E2BIG if the
 * array has room for more. */
#define MOST_PROGRAMS 64

/* The same as struct perf_event_query_bpf, but its array has a size. */
typedef struct query_s {
  uint32_t ids_len;
  uint32_t prog_cnt;
  uint32_t ids[MOST_PROGRAMS];
} query_t;

#define NS_PER_SECOND UINT64_C(1000000000)

/* perf_swevent_init_hrtimer has converted a clock's frequency to nanoseconds
 * and cleared the kernel's attr.freq. Therefore PERF_EVENT_IOC_PERIOD expects
 * nanoseconds, and this function does the checks of a frequency that the kernel
 * would do. */
static int period_argument(const struct perf_event_attr *attr, uint64_t period,
                           uint64_t *argument) {
  int64_t most;

  *argument = period;
  if (!attr->freq || attr->type != PERF_TYPE_SOFTWARE ||
      (attr->config != PERF_COUNT_SW_CPU_CLOCK &&
       attr->config != PERF_COUNT_SW_TASK_CLOCK))
    return 0;
  if (period == 0 ||
      (uvperf__system_number(UVPERF__MAX_SAMPLE_RATE, &most) == 0 &&
       most >= 0 && period > (uint64_t)most))
    return -EINVAL;
  *argument = NS_PER_SECOND / period;
  return 0;
}

int uvperf__ioctl_period(int fd, const struct perf_event_attr *attr,
                         uint64_t period) {
  uint64_t argument;
  int rc = period_argument(attr, period, &argument);

  if (rc == 0)
    rc = uvperf__sys_ioctl_ptr(fd, PERF_EVENT_IOC_PERIOD, &argument);
  return rc < 0 ? rc : 0;
}

/* Whether the event may accept the program although the link failed. EINVAL
 * means a kernel without such links (link_create in kernel/bpf/syscall.c), or a
 * program of the wrong type. EPERM and EACCES come from
 * kernel.unprivileged_bpf_disabled, seccomp filters and security modules, which
 * forbid bpf(2) but not the ioctl. EMFILE and ENFILE are returned because a
 * link needs an fd. */
static int may_do_without(int code) {
  return code == -EINVAL || code == -ENOSYS || code == -EPERM ||
         code == -EACCES || code == -EMFILE || code == -ENFILE;
}

/* Whether the fd is a program for some kind of perf event: KPROBE, TRACEPOINT
 * or PERF_EVENT of enum bpf_prog_type. */
static int is_perf_program(int fd) {
  char path[64], type[16];
  int number;

  snprintf(path, sizeof(path), "/proc/thread-self/fdinfo/%d", fd);
  if (uvperf__system_line(path, "prog_type:", type, sizeof(type)) != 0)
    return 0;
  number = atoi(type);
  return number == 2 || number == 5 || number == 7;
}

/* The kernel checks the program and the kind of link before the event's fd. So
 * with the fd -1 only a kernel without such links returns EINVAL. */
static int link_with_cookie(int fd, int prog_fd, uint64_t cookie) {
  int rc = uvperf__sys_bpf_link(prog_fd, fd, cookie);

  if (rc == -EINVAL && is_perf_program(prog_fd) &&
      uvperf__sys_bpf_link(prog_fd, -1, cookie) == -EINVAL)
    rc = -EOPNOTSUPP;
  return rc == -ENOSYS ? -EOPNOTSUPP : rc;
}

int uvperf__ioctl_bpf(int fd, int prog_fd, uint64_t cookie, int *has_no_links,
                      int *link) {
  int refused = 0;
  int rc;

  *link = -1;
  if (cookie != 0 || !*has_no_links) {
    rc = cookie != 0 ? link_with_cookie(fd, prog_fd, cookie)
                     : uvperf__sys_bpf_link(prog_fd, fd, 0);
    if (rc >= 0)
      *link = rc;
    if (rc >= 0 || cookie != 0 || !may_do_without(rc))
      return rc < 0 ? rc : 0;
    refused = rc;
  }
  rc = uvperf__sys_ioctl(fd, PERF_EVENT_IOC_SET_BPF, prog_fd);
  if (rc < 0)
    return rc;
  /* The program was not the cause of the failure. A lack of fds may be
   * temporary. */
  if (refused != -EMFILE && refused != -ENFILE)
    *has_no_links = 1;
  return 0;
}

int uvperf__ioctl_filter(int fd, const struct perf_event_attr *attr,
                         const char *filter) {
  int rc = uvperf__sys_ioctl_ptr(fd, PERF_EVENT_IOC_SET_FILTER,
                                 (void *)(uintptr_t)filter);
  uint64_t id;

  /* parse_pred() in kernel/trace/trace_events_filter.c returns -1, which is not
   * an errno, if the name of a field is missing. A seccomp filter that forbids
   * ioctl(2) refuses other requests too. */
  if (rc == -EPERM && attr->type == PERF_TYPE_TRACEPOINT &&
      uvperf__open_id(fd, &id) == 0)
    rc = -EINVAL;
  return rc < 0 ? rc : 0;
}

int uvperf__ioctl_query_bpf(int fd, uint32_t *ids, size_t *nr) {
  size_t room = *nr < MOST_PROGRAMS ? *nr : MOST_PROGRAMS;
  query_t query = {0, 0, {0}};
  size_t filled;
  int rc;

  query.ids_len = (uint32_t)room;
  rc = uvperf__sys_ioctl_ptr(fd, PERF_EVENT_IOC_QUERY_BPF, &query);
  /* bpf_prog_array_copy_info succeeds even if the array has no room at all. */
  if (rc >= 0)
    rc = query.prog_cnt > room ? -ENOSPC : 0;
  if (rc != 0 && rc != -ENOSPC)
    return rc;
  filled = query.prog_cnt < room ? query.prog_cnt : room;
  if (filled != 0)
    memcpy(ids, query.ids, filled * sizeof(*ids));
  *nr = query.prog_cnt;
  return rc;
}
