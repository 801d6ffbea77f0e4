/* SPDX-License-Identifier: MIT */
/* uvperf_enable enables all events of a set. This file enables single
 * events with their fds. */
#include "record/enable.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "common/memory.h"

static void init(record_enable_t *enable, const record_attrs_t *attrs) {
  if (enable->is_off != NULL)
    return;
  enable->nr = attrs->nr;
  enable->is_off = common_calloc(enable->nr, 1);
}

void record_enable_later(record_enable_t *enable, const record_attrs_t *attrs) {
  init(enable, attrs);
  memset(enable->is_off, 1, enable->nr);
}

/* Returns 1 if an event has this name on the command line or in the file. */
static int has_name(const record_attrs_t *attrs, const uvperf_set_t *set,
                    size_t attr, const char *name) {
  char *full = record_attrs_name(attrs, set, attr);
  int is_same = strcmp(full, name) == 0 ||
                strcmp(record_attrs_label(attrs, attr), name) == 0;

  free(full);
  return is_same;
}

int record_enable_choose(record_enable_t *enable, const record_attrs_t *attrs,
                         const uvperf_set_t *set, const char *name, int is_on) {
  size_t attr, nr = 0;

  init(enable, attrs);
  for (attr = 0; attr < enable->nr; attr++) {
    if (name != NULL && !has_name(attrs, set, attr, name))
      continue;
    enable->is_off[attr] = !is_on;
    nr++;
  }
  return nr > 0 ? 0 : -1;
}

/* Uses syscall(2), because the second parameter of ioctl(2) differs among C
 * libraries. */
static int request_all(const uvperf_set_t *set, const uvperf_reading_t *reading,
                       size_t attr, unsigned long request) {
  size_t nr = uvperf_reading_info(reading)->nr_places, i;
  int rc = 0, fd;

  for (i = 0; i < nr; i++) {
    fd = uvperf_set_fd(set, attr, uvperf_reading_place(reading, i)->serial);
    if (fd >= 0 && syscall(SYS_ioctl, fd, request, 0) != 0 && rc == 0)
      rc = -errno;
  }
  return rc;
}

int record_enable_side_band(const record_attrs_t *attrs,
                            const uvperf_set_t *set,
                            const uvperf_reading_t *reading) {
  size_t attr;
  int rc = 0;

  for (attr = attrs->nr; rc == 0 && attr < uvperf_set_nr_attrs(set); attr++)
    rc = request_all(set, reading, attr, PERF_EVENT_IOC_ENABLE);
  return rc;
}

/* A leader comes before its members. The leader is enabled last and disabled
 * first, so that the events of a group begin and end together. */
int record_enable_apply(const record_enable_t *enable, const uvperf_set_t *set,
                        const uvperf_reading_t *reading) {
  size_t i;
  int rc = 0, one;

  for (i = 0; i < enable->nr; i++) {
    one = !enable->is_off[i]
              ? 0
              : request_all(set, reading, i, PERF_EVENT_IOC_DISABLE);
    rc = rc == 0 ? one : rc;
  }
  for (i = enable->nr; i-- > 0;) {
    one = enable->is_off[i]
              ? 0
              : request_all(set, reading, i, PERF_EVENT_IOC_ENABLE);
    rc = rc == 0 ? one : rc;
  }
  return rc;
}
