/* SPDX-License-Identifier: MIT */
/* Requests to an open event that need more than the plain ioctl(2): PERIOD,
 * SET_FILTER, SET_BPF and QUERY_BPF. explain/control.c explains their
 * failures. */
#ifndef UVPERF_LIB_HOST_IOCTL_H
#define UVPERF_LIB_HOST_IOCTL_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf/attr.h"

/* PERF_EVENT_IOC_PERIOD. For an attr with freq the period is a frequency.
 * Returns 0 or -errno. */
int uvperf__ioctl_period(int fd, const struct perf_event_attr *attr,
                         uint64_t period);

/* PERF_EVENT_IOC_SET_FILTER. Returns 0 or -errno. */
int uvperf__ioctl_filter(int fd, const struct perf_event_attr *attr,
                         const char *filter);

/* Attaches a BPF program by a link (BPF_LINK_CREATE, Linux 5.15) or, if the
 * kernel makes no link, by PERF_EVENT_IOC_SET_BPF. Returns 0 or -errno.
 *
 * *link receives the fd of the link, or -1 without a link. Closing the link
 * detaches the program. Without a link, the end of the event detaches the
 * program. A cookie other than 0 needs a link: if the kernel has no links, the
 * result is -EOPNOTSUPP.
 *
 * *has_no_links is 0 at first. The function sets it to 1 if the kernel has no
 * links, or refuses links to the caller. Later calls without
 * a cookie then do not try a link again. */
int uvperf__ioctl_bpf(int fd, int prog_fd, uint64_t cookie, int *has_no_links,
                      int *link);

/* PERF_EVENT_IOC_QUERY_BPF. *nr is the room of ids, then the number of
 * programs. Returns 0, -ENOSPC if there are more programs than room, or another
 * -errno with *nr unchanged. */
int uvperf__ioctl_query_bpf(int fd, uint32_t *ids, size_t *nr);

#endif
