/* SPDX-License-Identifier: MIT */
#include "own_events.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench.h"

static const uint64_t configs[OWN_GROUP] = {
    PERF_COUNT_SW_PAGE_FAULTS, PERF_COUNT_SW_CONTEXT_SWITCHES,
    PERF_COUNT_SW_CPU_MIGRATIONS, PERF_COUNT_SW_TASK_CLOCK,
    PERF_COUNT_SW_DUMMY};

void own_attr(struct perf_event_attr *attr, size_t which) {
  memset(attr, 0, sizeof(*attr));
  attr->size = sizeof(*attr);
  attr->type = PERF_TYPE_SOFTWARE;
  attr->config = configs[which % OWN_GROUP];
  attr->exclude_kernel = 1;
  attr->read_format =
      PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
}

/* -- opening -------------------------------------------------------------- */

static int open_one(const struct perf_event_attr *attr, int leader) {
  return (int)syscall(SYS_perf_event_open, attr, 0, -1, leader,
                      PERF_FLAG_FD_CLOEXEC);
}

int own_may_open(void) {
  struct perf_event_attr attr;
  int fd;

  own_attr(&attr, 0);
  fd = open_one(&attr, -1);
  if (fd < 0)
    return errno != EACCES && errno != EPERM;
  close(fd);
  return 1;
}

int own_open(own_events_t *own, size_t nr, int is_group) {
  struct perf_event_attr attr;
  size_t i;
  int leader;

  memset(own, 0, sizeof(*own));
  for (i = 0; i < nr; i++) {
    own_attr(&attr, i);
    if (is_group)
      attr.read_format |= PERF_FORMAT_GROUP | PERF_FORMAT_ID;
    leader = is_group && i > 0 ? own->fds[0] : -1;
    own->fds[i] = open_one(&attr, leader);
    if (own->fds[i] < 0)
      return bench_fail("perf_event_open", "by hand");
    own->nr++;
    if (ioctl(own->fds[i], PERF_EVENT_IOC_ID, &own->ids[i]) != 0)
      return bench_fail("PERF_EVENT_IOC_ID", "by hand");
  }
  return 0;
}

void own_close(own_events_t *own) {
  size_t i;

  for (i = 0; i < own->nr; i++)
    close(own->fds[i]);
}

/* -- reading -------------------------------------------------------------- */

void own_read_each(own_events_t *own) {
  uint64_t words[3]; /* value, time_enabled, time_running */
  size_t i;

  for (i = 0; i < own->nr; i++) {
    if (read(own->fds[i], words, sizeof(words)) != (ssize_t)sizeof(words))
      own->failures++;
    own->counts[i].value = words[0];
    own->counts[i].enabled = words[1];
    own->counts[i].running = words[2];
  }
}

/* The layout of a group with both times and ids. */
typedef struct group_values_s {
  uint64_t nr;
  uint64_t enabled;
  uint64_t running;
  struct {
    uint64_t value;
    uint64_t id;
  } values[OWN_GROUP];
} group_values_t;

/* The position of an event's value: mostly the event's own. NULL if the group
 * does not have it. */
static const uint64_t *find_own(const group_values_t *group, uint64_t id,
                                size_t likely) {
  uint64_t i;

  if (likely < group->nr && group->values[likely].id == id)
    return &group->values[likely].value;
  for (i = 0; i < group->nr; i++)
    if (group->values[i].id == id)
      return &group->values[i].value;
  return NULL;
}

void own_read_group(own_events_t *own) {
  group_values_t group;
  const uint64_t *value;
  size_t i;

  if (read(own->fds[0], &group, sizeof(group)) != (ssize_t)sizeof(group))
    own->failures++;
  for (i = 0; i < OWN_GROUP; i++) {
    value = find_own(&group, own->ids[i], i);
    if (value == NULL) {
      own->failures++;
      continue;
    }
    own->counts[i].value = *value;
    own->counts[i].enabled = group.enabled;
    own->counts[i].running = group.running;
  }
}

void own_read_scaled(own_events_t *own) {
  own_count_t *count;
  size_t i;

  clock_gettime(CLOCK_MONOTONIC, &own->time);
  own_read_group(own);
  for (i = 0; i < OWN_GROUP; i++) {
    count = &own->counts[i];
    count->scaled = (double)count->value;
    if (count->running < count->enabled)
      count->scaled *= (double)count->enabled / (double)count->running;
  }
}

/* -- measuring ------------------------------------------------------------ */

void own_stop(own_events_t *own) {
  ioctl(own->fds[0], PERF_EVENT_IOC_DISABLE, 0);
  own_read_each(own);
  own->before = own->counts[0];
}

/* The counts before are known from the measurement before. */
int own_measure(own_events_t *own, void (*fn)(void *), void *arg) {
  own_count_t *count = &own->counts[0];
  own_count_t *before = &own->before;
  uint64_t words[3];

  if (ioctl(own->fds[0], PERF_EVENT_IOC_ENABLE, 0) != 0)
    return 1;
  fn(arg);
  if (ioctl(own->fds[0], PERF_EVENT_IOC_DISABLE, 0) != 0 ||
      read(own->fds[0], words, sizeof(words)) != (ssize_t)sizeof(words))
    return 1;
  count->value = words[0] - before->value;
  count->enabled = words[1] - before->enabled;
  count->running = words[2] - before->running;
  before->value = words[0];
  before->enabled = words[1];
  before->running = words[2];
  return 0;
}

int own_measure_opened(own_events_t *own, void (*fn)(void *), void *arg) {
  struct perf_event_attr attr;
  int rc;

  own_attr(&attr, 0);
  attr.disabled = 1;
  own->fds[0] = open_one(&attr, -1);
  if (own->fds[0] < 0)
    return 1;
  memset(&own->before, 0, sizeof(own->before));
  rc = own_measure(own, fn, arg);
  close(own->fds[0]);
  return rc;
}
