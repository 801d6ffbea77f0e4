/* SPDX-License-Identifier: MIT */
/* A uevent is only a hint to read sysfs: it is sent after the change, it can be
 * lost when the socket overruns, and the CPU can have changed again since. A
 * burst of uevents causes one scan.
 *
 * A CPU that went and came back between two scans is listed as online both
 * times, but the kernel has turned its events off meanwhile
 * (perf_event_exit_cpu in kernel/events/core.c). The CPU's directory topology/
 * goes and comes with the CPU (topology_remove_dev in drivers/base/topology.c),
 * so it has another inode then. Without this directory only the uevents show
 * the change. */
#include "loop/hotplug.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#include "host/cpu_list.h"
#include "host/system.h"
#include "loop/hub.h"
#include "sys/sys.h"
#include "util/alloc.h"
#include "util/file.h"
#include "util/range_list.h"

/* The most uevents that are read in one iteration of the loop. */
#define MOST_UEVENTS 256
/* Room for the first line of a CPU's uevent; the rest is cut off. */
#define UEVENT_BYTES 128
/* When to scan again for a CPU that may not be completely up yet. */
#define COMING_MS 20

/* A CPU as the last scan found it, or as a hotplug has reported it. */
typedef struct cpu_s {
  uint64_t inode;   /* inode of its topology/; 0: unknown */
  uint32_t nr_went; /* how often a uevent said that it has gone */
  uint8_t is_online;
  /* Of a scan only. */
  uint8_t is_listed; /* sysfs lists it in this scan */
  uint8_t is_up;     /* completely */
  uint8_t came;      /* uevents since the last scan */
  uint8_t went;
} cpu_t;

typedef struct cpus_s {
  cpu_t *by_id;
  size_t nr;
} cpus_t;

/* The member of the hub that scans the CPUs for all hotplugs. */
typedef struct scanner_s {
  uvperf__member_t member; /* first: a member of the hub is this */
  cpus_t cpus;
  uv_poll_t poll;
  int fd; /* the socket, which is polled; -1: none */
  uint64_t rescan_ms;
  uvperf__link_t hotplugs; /* those that are started */
  uint64_t nr_scans;
  uvperf__teardown_t *teardown; /* of the owner that closes the hub */
} scanner_t;

struct uvperf__hotplug_s {
  uvperf__link_t in_hotplugs; /* first: a link of the list is a hotplug */
  const uvperf__hotplug_ops_t *ops;
  void *owner;
  int is_noted; /* the online CPUs were read once */
  cpus_t cpus;
  scanner_t *scanner; /* NULL: not started */
  uvperf__teardown_t *teardown;
  uint64_t nr_scans; /* the last scan that it was compared with */
};

/* -- a scan --------------------------------------------------------------- */

/* Makes room for the CPUs below `nr`. */
static int grow_cpus(cpus_t *cpus, size_t nr) {
  cpu_t *more;

  if (nr <= cpus->nr)
    return 0;
  more = uvperf__calloc(nr, sizeof(*more));
  if (more == NULL)
    return -ENOMEM;
  if (cpus->nr != 0)
    memcpy(more, cpus->by_id, cpus->nr * sizeof(*more));
  uvperf__free(cpus->by_id);
  cpus->by_id = more;
  cpus->nr = nr;
  return 0;
}

/* Reads which CPUs are listed. Returns 0 or a code. */
static int list_cpus(cpus_t *cpus) {
  char text[UVPERF__TEXT_BYTES];
  const char *at = text;
  unsigned int first, last;
  size_t i;
  int rc = uvperf__system_cpu_list("online", text);

  if (rc != 0)
    return rc;
  for (i = 0; i < cpus->nr; i++)
    cpus->by_id[i].is_listed = 0;
  do {
    rc = uvperf__range_next(&at, UVPERF__MAX_CPU, &first, &last);
    if (rc < 0 || grow_cpus(cpus, last + 1) != 0)
      return rc < 0 ? rc : -ENOMEM;
    for (i = first; i <= last; i++)
      cpus->by_id[i].is_listed = 1;
  } while (rc > 0);
  return 0;
}

static uint64_t read_inode(size_t cpu) {
  char path[64];
  uint64_t inode;

  snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%zu/topology", cpu);
  return uvperf__file_inode(path, &inode) == 0 ? inode : 0;
}

/* The CPU is online now, as it was before. Returns whether it has been offline
 * in between. */
static int was_away(const cpu_t *before, const cpu_t *now) {
  if (before->inode != 0 && now->inode != 0)
    return before->inode != now->inode;
  return before->nr_went != now->nr_went;
}

/* Returns 0, or a code if sysfs cannot be read now.
 *
 * The kernel lists a CPU while it is still coming up, when no event can be
 * opened there yet (perf_event_open returns ENODEV). So a CPU is up if a uevent
 * says so, or if the previous scan has listed it too. */
static int cpus_scan(cpus_t *cpus) {
  int rc = list_cpus(cpus);
  cpu_t *cpu, before;
  size_t i;

  for (i = 0; rc == 0 && i < cpus->nr; i++) {
    cpu = &cpus->by_id[i];
    before = *cpu;
    cpu->inode = cpu->is_listed ? read_inode(i) : 0;
    cpu->nr_went += cpu->went;
    cpu->is_online = cpu->is_listed;
    cpu->is_up = cpu->is_listed &&
                 (cpu->came || (before.is_online && !was_away(&before, cpu)));
    cpu->came = cpu->went = 0;
  }
  return rc;
}

/* -- reports --------------------------------------------------------------- */

/* Reports the changes of one CPU. Returns whether the CPU must be checked again
 * soon. If a callback has stopped the hotplug, the rest is reported after the
 * next start. */
static int check_cpu(uvperf__hotplug_t *hotplug, size_t index) {
  const cpu_t now = hotplug->scanner->cpus.by_id[index];
  cpu_t *cpu = &hotplug->cpus.by_id[index];
  int has_gone = cpu->is_online && (!now.is_online || was_away(cpu, &now));
  int has_come = now.is_online && (has_gone || !cpu->is_online);

  cpu->inode = now.inode;
  cpu->nr_went = now.nr_went;
  cpu->is_online = cpu->is_online && !has_gone;
  if (has_gone)
    hotplug->ops->gone(hotplug->owner, (int)index);
  if (has_come && now.is_up && hotplug->scanner != NULL) {
    hotplug->cpus.by_id[index].is_online = 1;
    hotplug->ops->come(hotplug->owner, (int)index);
  }
  return has_come && !now.is_up;
}

/* The hold: see watch_run in watch.c. */
static void check_cpus(uvperf__hotplug_t *hotplug) {
  uvperf__teardown_t *teardown = hotplug->teardown;
  scanner_t *scanner = hotplug->scanner;
  size_t i;

  if (grow_cpus(&hotplug->cpus, scanner->cpus.nr) != 0)
    return;
  uvperf__teardown_hold(teardown);
  for (i = 0; i < hotplug->cpus.nr && hotplug->scanner != NULL; i++)
    if (check_cpu(hotplug, i) && scanner->rescan_ms > COMING_MS)
      uvperf__flush_once(&scanner->member.flush, COMING_MS);
  uvperf__teardown_let_go(teardown);
}

/* A callback may start, stop and close any hotplug. It may also run the loop,
 * and then this function runs inside itself. */
static void scanner_report(scanner_t *scanner) {
  uvperf__hotplug_t *hotplug;
  uvperf__link_t *link;

  scanner->nr_scans += 1;
  while ((link = scanner->hotplugs.next) != &scanner->hotplugs) {
    hotplug = (uvperf__hotplug_t *)link;
    if (hotplug->nr_scans == scanner->nr_scans)
      return;
    hotplug->nr_scans = scanner->nr_scans;
    uvperf__link_remove(link);
    uvperf__link_add(&scanner->hotplugs, link);
    check_cpus(hotplug);
  }
}

/* -- uevents -------------------------------------------------------------- */

/* Returns the CPU's id after the action and the path, as in
 * "online@/devices/system/cpu/cpu1", or -1. */
static int cpu_of(const char *text, const char *begin) {
  size_t size = strlen(begin);
  int cpu = 0;

  if (strncmp(text, begin, size) != 0 || text[size] == '\0')
    return -1;
  for (text += size; *text >= '0' && *text <= '9'; text++) {
    cpu = cpu * 10 + (*text - '0');
    if (cpu > UVPERF__MAX_CPU)
      return -1;
  }
  return *text == '\0' ? cpu : -1;
}

/* Notes the message of a uevent. Returns whether a CPU has come or gone. */
static int take_uevent(cpus_t *cpus, const char *text) {
  int came = cpu_of(text, "online@/devices/system/cpu/cpu");
  int went = cpu_of(text, "offline@/devices/system/cpu/cpu");
  int cpu = came >= 0 ? came : went;

  if (cpu < 0)
    return 0;
  /* If out of memory, a later scan reports the CPU. */
  if (grow_cpus(cpus, (size_t)cpu + 1) == 0) {
    cpus->by_id[cpu].came |= came >= 0;
    cpus->by_id[cpu].went |= went >= 0;
    /* The CPU came before it went, so it may not be up. */
    if (went >= 0)
      cpus->by_id[cpu].came = 0;
  }
  return 1;
}

/* Reads the socket. Returns whether there is a reason to scan: the uevent of a
 * CPU, or lost uevents (ENOBUFS). Only messages of the kernel are accepted. A
 * socket that can return nothing more is no longer polled. The timer
 * continues. */
static int take_uevents(scanner_t *scanner) {
  char text[UEVENT_BYTES];
  int has_news = 0;
  int from_kernel;
  ssize_t size;
  int i;

  for (i = 0; i < MOST_UEVENTS; i++) {
    size = uvperf__sys_uevents_read(scanner->fd, text, sizeof(text) - 1,
                                    &from_kernel);
    if (size == -ENOBUFS)
      has_news = 1;
    else if (size < 0 && size != -EAGAIN)
      uv_poll_stop(&scanner->poll);
    if (size < 0 && size != -ENOBUFS)
      break;
    if (size <= 0 || !from_kernel)
      continue;
    text[size] = '\0';
    has_news |= take_uevent(&scanner->cpus, text);
  }
  return has_news;
}

/* -- the member ------------------------------------------------------------ */

/* Whether there is a socket, and its handle was not closed by other code. libuv
 * aborts when a closed handle is started or stopped. */
static int has_poll(const scanner_t *scanner) {
  return scanner->fd >= 0 &&
         !uv_is_closing((const uv_handle_t *)&scanner->poll);
}

/* A scan in the next check phase. */
static void scanner_queue(uvperf__member_t *member) {
  uvperf__hub_queue(member, 0);
}

/* A forked child must report nothing, because it shares the socket.
 *
 * With an error status, libuv has stopped the handle. The status is ENOBUFS if
 * the socket has overrun (netlink_overrun in net/netlink/af_netlink.c). Reading
 * clears this error. */
static void on_poll(uv_poll_t *poll, int status, int events) {
  scanner_t *scanner = poll->data;

  (void)events;
  if (uvperf__hub_is_forked(scanner->member.hub)) {
    uv_poll_stop(poll);
    return;
  }
  if (status < 0)
    uv_poll_start(poll, UV_READABLE, on_poll);
  if (take_uevents(scanner) && uvperf__hub_check(scanner->member.hub))
    scanner_queue(&scanner->member);
}

static void scanner_run(uvperf__member_t *member, uint64_t now_ns,
                        uint64_t max_ns) {
  scanner_t *scanner = (scanner_t *)member;

  (void)now_ns;
  (void)max_ns;
  /* If sysfs cannot be read now, it is read the next time. */
  if (!uvperf__hub_is_forked(member->hub) && cpus_scan(&scanner->cpus) == 0)
    scanner_report(scanner);
}

static void on_closed(uv_handle_t *handle) {
  scanner_t *scanner = handle->data;

  uvperf__teardown_closed(scanner->teardown);
}

/* The fd stays open until libuv does not use it any more. */
static void scanner_close(uvperf__member_t *member,
                          uvperf__teardown_t *teardown) {
  scanner_t *scanner = (scanner_t *)member;

  uvperf__hub_remove(member);
  scanner->teardown = teardown;
  if (scanner->fd >= 0)
    uvperf__teardown_close(teardown, &scanner->poll, on_closed);
}

static void scanner_free(uvperf__member_t *member) {
  scanner_t *scanner = (scanner_t *)member;

  if (scanner->fd >= 0)
    uvperf__sys_close(scanner->fd);
  uvperf__free(scanner->cpus.by_id);
  uvperf__free(scanner);
}

static const uvperf__member_ops_t member_ops = {
    .run = scanner_run,
    .flush = scanner_queue,
    .close = scanner_close,
    .free = scanner_free,
};

static void open_socket(scanner_t *scanner, uv_loop_t *loop) {
  int fd = uvperf__sys_uevents_open();

  if (fd < 0)
    return;
  if (uv_poll_init(loop, &scanner->poll, fd) != 0) {
    uvperf__sys_close(fd);
    return;
  }
  scanner->fd = fd;
  scanner->poll.data = scanner;
  scanner->poll.poll_cb = on_poll;
  uv_unref((uv_handle_t *)&scanner->poll);
}

/* Returns the scanner of the owner's hub, and makes it if there is none.
 * Returns NULL if out of memory. */
static scanner_t *find_scanner(const uvperf__teardown_t *teardown) {
  uvperf__member_t **slot = uvperf__hub_scanner(teardown->hub);
  scanner_t *scanner;

  if (*slot != NULL)
    return (scanner_t *)*slot;
  scanner = uvperf__calloc(1, sizeof(*scanner));
  if (scanner == NULL)
    return NULL;
  scanner->fd = -1;
  uvperf__link_init(&scanner->hotplugs);
  open_socket(scanner, teardown->loop);
  uvperf__hub_add(teardown->hub, &scanner->member, &member_ops);
  *slot = &scanner->member;
  return scanner;
}

/* -- hotplugs -------------------------------------------------------------- */

int uvperf__hotplug_new(uvperf__hotplug_t **hotplug_out,
                        const uvperf__hotplug_ops_t *ops, void *owner) {
  uvperf__hotplug_t *hotplug = uvperf__calloc(1, sizeof(*hotplug));

  if (hotplug == NULL)
    return UV_ENOMEM;
  hotplug->ops = ops;
  hotplug->owner = owner;
  uvperf__link_init(&hotplug->in_hotplugs);
  *hotplug_out = hotplug;
  return 0;
}

int uvperf__hotplug_note(uvperf__hotplug_t *hotplug) {
  int rc = hotplug->is_noted ? 0 : cpus_scan(&hotplug->cpus);

  hotplug->is_noted = rc == 0;
  return rc;
}

void uvperf__hotplug_free(uvperf__hotplug_t *hotplug) {
  if (hotplug == NULL)
    return;
  assert(hotplug->scanner == NULL);
  uvperf__free(hotplug->cpus.by_id);
  uvperf__free(hotplug);
}

int uvperf__hotplug_start(uvperf__hotplug_t *hotplug,
                          uvperf__teardown_t *teardown, uint64_t rescan_ms) {
  scanner_t *scanner;
  int rc;

  assert(rescan_ms > 0);
  if (hotplug->scanner != NULL)
    return 0;
  if (uvperf__hub_is_forked(teardown->hub))
    return UV_EPERM;
  if (!uvperf__hub_is_sound(teardown->hub))
    return UV_EINVAL;
  rc = uvperf__hotplug_note(hotplug);
  if (rc != 0)
    return rc;
  scanner = find_scanner(teardown);
  if (scanner == NULL || grow_cpus(&scanner->cpus, hotplug->cpus.nr) != 0)
    return UV_ENOMEM;
  hotplug->scanner = scanner;
  hotplug->teardown = teardown;
  if (uvperf__link_is_alone(&scanner->hotplugs)) {
    scanner->rescan_ms = rescan_ms;
    uvperf__flush_start(&scanner->member.flush, rescan_ms);
    if (has_poll(scanner))
      uv_poll_start(&scanner->poll, UV_READABLE, on_poll);
  }
  uvperf__link_add(&scanner->hotplugs, &hotplug->in_hotplugs);
  scanner_queue(&scanner->member);
  return 0;
}

void uvperf__hotplug_stop(uvperf__hotplug_t *hotplug) {
  scanner_t *scanner = hotplug == NULL ? NULL : hotplug->scanner;

  if (scanner == NULL)
    return;
  hotplug->scanner = NULL;
  uvperf__link_remove(&hotplug->in_hotplugs);
  if (!uvperf__link_is_alone(&scanner->hotplugs))
    return;
  uvperf__flush_stop(&scanner->member.flush);
  uvperf__hub_dequeue(&scanner->member);
  if (has_poll(scanner))
    uv_poll_stop(&scanner->poll);
}

int uvperf__hotplug_is(const uv_handle_t *handle) {
  return handle->type == UV_POLL &&
         ((const uv_poll_t *)handle)->poll_cb == on_poll;
}
