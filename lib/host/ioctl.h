/* SPDX-License-Identifier: MIT */
/* Requests to an open event that take more than ioctl(2): PERIOD, SET_FILTER
 * and SET_BPF. Why they fail is for explain/control.c. */
#ifndef UVPERF_LIB_HOST_IOCTL_H
#define UVPERF_LIB_HOST_IOCTL_H

#include <stdint.h>

#include "uvperf/attr.h"

/* PERF_EVENT_IOC_PERIOD; of an attr with freq the period is a frequency. 0 or
 * -errno. */
int uvperf__ioctl_period(int fd, const struct perf_event_attr *attr,
                         uint64_t period);

/* PERF_EVENT_IOC_SET_FILTER. 0 or -errno. */
int uvperf__ioctl_filter(int fd, const struct perf_event_attr *attr,
                         const char *filter);

/* Attaches a BPF program by a link (BPF_LINK_CREATE, Linux 5.15) or, where the
 * kernel gives none, by PERF_EVENT_IOC_SET_BPF. 0 or -errno, and *link: the fd
 * of the link, whose close detaches, or -1: then the end of the event does. A
 * cookie that is not 0 needs a link: -EOPNOTSUPP if the kernel has none.
 * *has_no_links keeps that the kernel has no links, or lets the caller make
 * none: 0 at first. */
int uvperf__ioctl_bpf(int fd, int prog_fd, uint64_t cookie, int *has_no_links,
                      int *link);

#endif
