/* SPDX-License-Identifier: MIT */
/* Requests to an open event that need more than ioctl(2): PERIOD, SET_FILTER
 * and SET_BPF. explain/control.c explains their failures. */
#ifndef UVPERF_LIB_HOST_IOCTL_H
#define UVPERF_LIB_HOST_IOCTL_H

#include <stdint.h>

#include "uvperf/attr.h"

/* PERF_EVENT_IOC_PERIOD; for an attr with freq the period is a frequency.
 * Returns 0 or -errno. */
int uvperf__ioctl_period(int fd, const struct perf_event_attr *attr,
                         uint64_t period);

/* PERF_EVENT_IOC_SET_FILTER. Returns 0 or -errno. */
int uvperf__ioctl_filter(int fd, const struct perf_event_attr *attr,
                         const char *filter);

/* Attaches a BPF program by a link (BPF_LINK_CREATE, Linux 5.15) or, if the
 * kernel makes no link, by PERF_EVENT_IOC_SET_BPF. Returns 0 or -errno.
 *
 * *link receives the fd of the link, and closing it detaches the program; or
 * -1, and the end of the event detaches it. A cookie other than 0 needs a link:
 * -EOPNOTSUPP if the kernel has none.
 *
 * *has_no_links is 0 at first. It becomes 1 when the kernel turns out to have
 * no links or to refuse them to the caller, and saves the next attempt. */
int uvperf__ioctl_bpf(int fd, int prog_fd, uint64_t cookie, int *has_no_links,
                      int *link);

#endif
