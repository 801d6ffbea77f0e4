/* SPDX-License-Identifier: MIT */
/* A uevent is only a hint to read sysfs: it is sent after the change, it can be
 * lost when the socket overruns, and the CPU can have changed again since. A
 * burst of uevents causes one rescan.
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
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#include "host/cpu_list.h"
#include "host/system.h"
#include "loop/multiple.h"
#include "sys/fork.h"
#include "sys/sys.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/file.h"

/* The most uevents that are read in one iteration of the loop. */
#define MOST_UEVENTS 256
/* Room for the first line of a CPU's uevent; the rest is cut off. */
#define UEVENT_BYTES 128
/* When to scan again for a CPU that may not be completely up yet. */
#define COMING_MS 20

typedef struct cpu_s {
  uint64_t inode;     /* inode of its topology/; 0: unknown */
  uint8_t is_online;  /* as noted at first, or as last reported */
  uint8_t is_listed;  /* sysfs lists it in this scan */
  uint8_t was_listed; /* the scan before listed it, not reported yet */
  uint8_t came;       /* uevents since the last scan */
  uint8_t went;
} cpu_t;

struct uvperf__hotplug_s {
  const uvperf__hotplug_ops_t *ops;
  void *owner;
  const char *root;
  uint32_t process; /* the process that made it */
  uv_timer_t timer;
  uv_poll_t poll;
  int fd;                       /* the socket, which is polled; -1: none */
  uvperf__teardown_t *teardown; /* the owner's */
  int closing;
  uint64_t rescan_ms;
  int is_attached; /* registered with a loop */
  int is_noted;    /* the online CPUs were read once */
  int is_started;
  cpu_t *cpus; /* by id */
  size_t nr_cpus;
  int *list; /* room for reading the list of CPUs */
  size_t room_list;
};

/* -- sysfs ---------------------------------------------------------------- */

static int grow_list(uvperf__hotplug_t *hotplug, size_t nr) {
  int *list = uvperf__calloc(nr, sizeof(*list));

  if (list == NULL)
    return -ENOMEM;
  uvperf__free(hotplug->list);
  hotplug->list = list;
  hotplug->room_list = nr;
  return 0;
}

static int read_list(uvperf__hotplug_t *hotplug, size_t *nr) {
  int rc;

  *nr = hotplug->room_list;
  while ((rc = uvperf__system_cpus(hotplug->root, "online", hotplug->list,
                                   nr)) == -ENOBUFS) {
    rc = grow_list(hotplug, *nr);
    if (rc != 0)
      return rc;
  }
  return rc;
}

/* Makes room for the CPUs below `nr`. */
static int grow_cpus(uvperf__hotplug_t *hotplug, size_t nr) {
  cpu_t *cpus;

  if (nr <= hotplug->nr_cpus)
    return 0;
  cpus = uvperf__calloc(nr, sizeof(*cpus));
  if (cpus == NULL)
    return -ENOMEM;
  if (hotplug->nr_cpus != 0)
    memcpy(cpus, hotplug->cpus, hotplug->nr_cpus * sizeof(*cpus));
  uvperf__free(hotplug->cpus);
  hotplug->cpus = cpus;
  hotplug->nr_cpus = nr;
  return 0;
}

/* Reads which CPUs are listed. Returns 0, or a code without changing
 * anything. */
static int list_cpus(uvperf__hotplug_t *hotplug) {
  size_t i, nr;
  int rc = read_list(hotplug, &nr);

  if (rc == 0 && nr == 0)
    rc = -ENODATA;
  if (rc == 0)
    rc = grow_cpus(hotplug, (size_t)hotplug->list[nr - 1] + 1);
  if (rc != 0)
    return rc;
  for (i = 0; i < hotplug->nr_cpus; i++)
    hotplug->cpus[i].is_listed = 0;
  for (i = 0; i < nr; i++)
    hotplug->cpus[hotplug->list[i]].is_listed = 1;
  return 0;
}

static uint64_t read_inode(const uvperf__hotplug_t *hotplug, size_t cpu) {
  char path[4096];
  uint64_t inode;
  int size;

  size = snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/cpu%zu/%s",
                  hotplug->root, cpu, "topology");
  if (size < 0 || (size_t)size >= sizeof(path) ||
      uvperf__file_inode(path, &inode) != 0)
    return 0;
  return inode;
}

/* -- a scan --------------------------------------------------------------- */

/* Notes the CPUs that are online when the hotplug is made. Such CPUs are not
 * reported. */
static int note_cpus(uvperf__hotplug_t *hotplug) {
  size_t i;
  int rc = list_cpus(hotplug);

  if (rc != 0)
    return rc;
  for (i = 0; i < hotplug->nr_cpus; i++) {
    hotplug->cpus[i].is_online = hotplug->cpus[i].is_listed;
    if (hotplug->cpus[i].is_online)
      hotplug->cpus[i].inode = read_inode(hotplug, i);
  }
  hotplug->is_noted = 1;
  return 0;
}

/* The CPU is listed now and was online before. Returns whether it has been
 * offline in between. */
static int was_away(const cpu_t *cpu, uint64_t inode) {
  if (cpu->inode != 0 && inode != 0)
    return cpu->inode != inode;
  return cpu->went;
}

/* Reports the changes of one CPU. The kernel lists a CPU while it is still
 * coming up, when no event can be opened there yet (perf_event_open returns
 * ENODEV). So the CPU is reported if a uevent says that it is up, or if the
 * previous scan has listed it too. Returns whether the CPU must be checked
 * again soon. */
static int check_cpu(uvperf__hotplug_t *hotplug, size_t index) {
  cpu_t *cpu = &hotplug->cpus[index];
  uint64_t inode = cpu->is_listed ? read_inode(hotplug, index) : 0;
  int has_gone = cpu->is_online && (!cpu->is_listed || was_away(cpu, inode));
  int has_come = cpu->is_listed && (has_gone || !cpu->is_online);
  int is_up = cpu->came || cpu->was_listed;
  int is_coming = has_come && !is_up;

  has_come = has_come && is_up;
  if (has_gone)
    cpu->is_online = 0;
  cpu->inode = inode;
  cpu->was_listed = cpu->is_listed && !cpu->is_online;
  cpu->came = 0;
  cpu->went = 0;
  if (has_gone)
    hotplug->ops->gone(hotplug->owner, (int)index);
  /* If the callback has stopped the hotplug, this CPU is reported after the
   * next start. */
  if (has_come && hotplug->is_started) {
    cpu->is_online = 1;
    cpu->was_listed = 0;
    hotplug->ops->come(hotplug->owner, (int)index);
  }
  return is_coming;
}

static void on_timer(uv_timer_t *timer);

/* If sysfs cannot be read now, it is read the next time. The hold: see
 * watch_run in watch.c. */
static void rescan(uvperf__hotplug_t *hotplug) {
  uint64_t now = uv_now(hotplug->timer.loop);
  uint64_t next_ms = uvperf__next_multiple(now, hotplug->rescan_ms) - now;
  size_t i;

  uvperf__teardown_hold(hotplug->teardown);
  if (list_cpus(hotplug) == 0)
    for (i = 0; i < hotplug->nr_cpus && hotplug->is_started; i++)
      if (check_cpu(hotplug, i) && hotplug->rescan_ms > COMING_MS)
        next_ms = COMING_MS;
  if (hotplug->is_started)
    uv_timer_start(&hotplug->timer, on_timer, next_ms, 0);
  uvperf__teardown_let_go(hotplug->teardown);
}

/* A forked child must report nothing, because it shares the socket. */
static int is_forked(const uvperf__hotplug_t *hotplug) {
  return uvperf__process() != hotplug->process;
}

static void on_timer(uv_timer_t *timer) {
  uvperf__hotplug_t *hotplug = timer->data;

  if (!is_forked(hotplug))
    rescan(hotplug);
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
static int take_uevent(uvperf__hotplug_t *hotplug, const char *text) {
  int came = cpu_of(text, "online@/devices/system/cpu/cpu");
  int went = cpu_of(text, "offline@/devices/system/cpu/cpu");
  int cpu = came >= 0 ? came : went;

  if (cpu < 0)
    return 0;
  /* If out of memory, a later scan reports the CPU. */
  if (grow_cpus(hotplug, (size_t)cpu + 1) == 0) {
    hotplug->cpus[cpu].came |= came >= 0;
    hotplug->cpus[cpu].went |= went >= 0;
    /* The CPU came before it went, so it may not be up. */
    if (went >= 0)
      hotplug->cpus[cpu].came = 0;
  }
  return 1;
}

/* Reads the socket. Returns whether there is a reason to scan: the uevent of a
 * CPU, or lost uevents (ENOBUFS). Only messages of the kernel are accepted.
 * *is_sound says whether the socket can still return messages. */
static int take_uevents(uvperf__hotplug_t *hotplug, int *is_sound) {
  char text[UEVENT_BYTES];
  int has_news = 0;
  int from_kernel;
  ssize_t size;
  int i;

  *is_sound = 1;
  for (i = 0; i < MOST_UEVENTS; i++) {
    size = uvperf__sys_uevents_read(hotplug->fd, text, sizeof(text) - 1,
                                    &from_kernel);
    if (size == -ENOBUFS) {
      has_news = 1;
    } else if (size < 0) {
      *is_sound = size == -EAGAIN;
      break;
    }
    if (size <= 0 || !from_kernel)
      continue;
    text[size] = '\0';
    has_news |= take_uevent(hotplug, text);
  }
  return has_news;
}

/* With an error status, libuv has stopped the handle. The status is ENOBUFS if
 * the socket has overrun (netlink_overrun in net/netlink/af_netlink.c). Reading
 * has cleared this error. A socket that can return nothing more is no longer
 * polled. The timer continues. */
static void on_poll(uv_poll_t *poll, int status, int events) {
  uvperf__hotplug_t *hotplug = poll->data;
  int has_news, is_sound;

  (void)events;
  if (is_forked(hotplug)) {
    uv_poll_stop(poll);
    return;
  }
  has_news = take_uevents(hotplug, &is_sound);
  if (!is_sound)
    uv_poll_stop(poll);
  else if (status < 0)
    uv_poll_start(poll, UV_READABLE, on_poll);
  if (has_news)
    rescan(hotplug);
}

static void open_socket(uvperf__hotplug_t *hotplug, uv_loop_t *loop) {
  int fd = uvperf__sys_uevents_open();

  if (fd < 0)
    return;
  if (uv_poll_init(loop, &hotplug->poll, fd) != 0) {
    uvperf__sys_close(fd);
    return;
  }
  hotplug->fd = fd;
  hotplug->poll.data = hotplug;
  hotplug->poll.poll_cb = on_poll;
  uv_unref((uv_handle_t *)&hotplug->poll);
}

/* -- start and stop ------------------------------------------------------- */

int uvperf__hotplug_new(uvperf__hotplug_t **hotplug_out, const char *root,
                        const uvperf__hotplug_ops_t *ops, void *owner) {
  uvperf__hotplug_t *hotplug = uvperf__calloc(1, sizeof(*hotplug));

  if (hotplug == NULL)
    return UV_ENOMEM;
  hotplug->ops = ops;
  hotplug->owner = owner;
  hotplug->root = root;
  hotplug->process = uvperf__process();
  hotplug->fd = -1;
  /* If note_cpus fails, uvperf__hotplug_start tries again and returns the
   * code. */
  note_cpus(hotplug);
  *hotplug_out = hotplug;
  return 0;
}

void uvperf__hotplug_free(uvperf__hotplug_t *hotplug) {
  if (hotplug == NULL)
    return;
  assert(!hotplug->is_attached || hotplug->closing);
  if (hotplug->fd >= 0)
    uvperf__sys_close(hotplug->fd);
  uvperf__free(hotplug->cpus);
  uvperf__free(hotplug->list);
  uvperf__free(hotplug);
}

void uvperf__hotplug_attach(uvperf__hotplug_t *hotplug,
                            uvperf__teardown_t *teardown) {
  if (hotplug->is_attached)
    return;
  hotplug->is_attached = 1;
  hotplug->teardown = teardown;
  uv_timer_init(teardown->loop, &hotplug->timer);
  hotplug->timer.data = hotplug;
  hotplug->timer.timer_cb = on_timer;
  uv_unref((uv_handle_t *)&hotplug->timer);
}

int uvperf__hotplug_is_attached(const uvperf__hotplug_t *hotplug) {
  return hotplug->is_attached;
}

/* Whether there is a socket, and its handle was not closed by other code. libuv
 * aborts when a closed handle is started or stopped. */
static int has_poll(const uvperf__hotplug_t *hotplug) {
  return hotplug->fd >= 0 &&
         !uv_is_closing((const uv_handle_t *)&hotplug->poll);
}

int uvperf__hotplug_start(uvperf__hotplug_t *hotplug, uint64_t rescan_ms) {
  int rc = 0;

  assert(rescan_ms > 0);
  if (hotplug->is_started)
    return 0;
  if (is_forked(hotplug))
    return UV_EPERM;
  if (!hotplug->is_noted)
    rc = note_cpus(hotplug);
  if (rc == 0)
    rc = uv_timer_start(&hotplug->timer, on_timer, 1, 0);
  if (rc != 0)
    return rc;
  hotplug->rescan_ms = rescan_ms;
  hotplug->is_started = 1;
  if (hotplug->fd < 0)
    open_socket(hotplug, hotplug->timer.loop);
  if (has_poll(hotplug))
    uv_poll_start(&hotplug->poll, UV_READABLE, on_poll);
  return 0;
}

int uvperf__hotplug_explain(uvperf_error_t *error, int code,
                            const char *remedy) {
  if (code == UV_EINVAL)
    return uvperf__error_set(error, code, UVPERF_CAUSE_LOOP,
                             "other code has closed an inner uv handle");
  return uvperf__error_online(error, code, remedy);
}

void uvperf__hotplug_stop(uvperf__hotplug_t *hotplug) {
  hotplug->is_started = 0;
  if (!uv_is_closing((const uv_handle_t *)&hotplug->timer))
    uv_timer_stop(&hotplug->timer);
  if (has_poll(hotplug))
    uv_poll_stop(&hotplug->poll);
}

/* -- close ---------------------------------------------------------------- */

static void on_closed(uv_handle_t *handle) {
  uvperf__hotplug_t *hotplug = handle->data;

  uvperf__teardown_closed(hotplug->teardown);
}

/* The fd stays open until libuv does not use it any more. */
void uvperf__hotplug_close(uvperf__hotplug_t *hotplug) {
  assert(!hotplug->closing);
  uvperf__hotplug_stop(hotplug);
  hotplug->closing = 1;
  uvperf__teardown_close(hotplug->teardown, &hotplug->timer, on_closed);
  if (hotplug->fd >= 0)
    uvperf__teardown_close(hotplug->teardown, &hotplug->poll, on_closed);
}

/* As with the interval timer, `data` is read only if the handle's callback
 * shows that the handle is ours. */
int uvperf__hotplug_close_owner(uv_handle_t *handle) {
  uvperf__hotplug_t *hotplug;

  if (!(handle->type == UV_TIMER &&
        ((uv_timer_t *)handle)->timer_cb == on_timer) &&
      !(handle->type == UV_POLL && ((uv_poll_t *)handle)->poll_cb == on_poll))
    return 0;
  hotplug = handle->data;
  if (!hotplug->closing)
    hotplug->ops->close(hotplug->owner);
  return 1;
}
