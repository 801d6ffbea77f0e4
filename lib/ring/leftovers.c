/* SPDX-License-Identifier: MIT */
/* Fds and mappings that are closed later. */
#include "ring/leftovers.h"

#include <string.h>
#include <sys/ioctl.h>

#include <linux/perf_event.h>

#include "sys/sys.h"
#include "util/alloc.h"
#include "util/grow.h"

/* While a ring is mapped, its event lives. So the ring is unmapped before the
 * fd is closed. */
static void close_item(const uvperf__leftover_t *item) {
  if (item->address != NULL)
    uvperf__sys_munmap(item->address, item->bytes);
  if (item->fd >= 0)
    uvperf__sys_close(item->fd);
}

void uvperf__leftovers_add(uvperf__leftovers_t *leftovers, void *address,
                           size_t bytes, int fd) {
  const uvperf__leftover_t item = {address, bytes, fd};
  uvperf__leftover_t *items = NULL;

  if (address == NULL && fd < 0)
    return;
  if (leftovers != NULL)
    items = uvperf__grow(leftovers->items, leftovers->nr, &leftovers->room, 8,
                         sizeof(items[0]));
  if (items == NULL) {
    close_item(&item);
    return;
  }
  leftovers->items = items;
  items[leftovers->nr++] = item;
}

int uvperf__leftovers_are_on(const uvperf__leftovers_t *leftovers) {
  return leftovers->are_enabled && leftovers->nr_disabled < leftovers->nr;
}

/* All events are disabled before the first is closed. Members of a group
 * continue to count when their leader is closed, and closing all events may
 * take seconds. */
static int disable_one(uvperf__leftovers_t *leftovers) {
  int fd;

  while (uvperf__leftovers_are_on(leftovers)) {
    fd = leftovers->items[leftovers->nr_disabled++].fd;
    if (fd < 0)
      continue;
    uvperf__sys_ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
    return 1;
  }
  return 0;
}

int uvperf__leftovers_close_one(uvperf__leftovers_t *leftovers) {
  if (disable_one(leftovers))
    return 1;
  if (leftovers->nr_closed == leftovers->nr)
    return 0;
  close_item(&leftovers->items[leftovers->nr_closed++]);
  return 1;
}

void uvperf__leftovers_end(uvperf__leftovers_t *leftovers) {
  while (uvperf__leftovers_close_one(leftovers))
    continue;
  uvperf__free(leftovers->items);
  memset(leftovers, 0, sizeof(*leftovers));
}
