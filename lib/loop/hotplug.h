/* SPDX-License-Identifier: MIT */
/* Reports on a loop which CPUs have come online and gone offline. sysfs lists
 * the online CPUs. sysfs is read at an interval, and also when the kernel sends
 * a uevent through a netlink socket. The socket needs no privileges. The socket
 * receives nothing in a network namespace that belongs to a user namespace
 * other than the initial one (uevent_net_init in lib/kobject_uevent.c). The
 * inner handles never keep the loop alive. */
#ifndef UVPERF_LIB_LOOP_HOTPLUG_H
#define UVPERF_LIB_LOOP_HOTPLUG_H

#include <stdint.h>

#include <uv.h>

#include "uvperf/error.h"

#include "loop/teardown.h"

typedef struct uvperf__hotplug_s uvperf__hotplug_t;

/* The owner may stop and close the hotplug in each of these functions. */
typedef struct uvperf__hotplug_ops_s {
  /* A CPU has come online and is completely up. */
  void (*come)(void *owner, int cpu);
  /* A CPU has gone offline. If it came back before sysfs was read, both are
   * reported: gone, then come. */
  void (*gone)(void *owner, int cpu);
  /* Called when uvperf__hotplug_close_owner has found an inner handle. Closes
   * the owner. */
  void (*close)(void *owner);
} uvperf__hotplug_ops_t;

/* Makes a hotplug, and notes the CPUs that are online now. sysfs is under
 * `root`, which must stay valid. Returns 0 or UV_ENOMEM. */
int uvperf__hotplug_new(uvperf__hotplug_t **hotplug, const char *root,
                        const uvperf__hotplug_ops_t *ops, void *owner);

/* Frees a hotplug that is not attached, or whose teardown is done. NULL is
 * allowed. */
void uvperf__hotplug_free(uvperf__hotplug_t *hotplug);

/* Registers the inner handles with the loop of the owner's teardown. Afterwards
 * the hotplug must be closed before it is freed. Does nothing if it is attached
 * already. */
void uvperf__hotplug_attach(uvperf__hotplug_t *hotplug,
                            uvperf__teardown_t *teardown);
int uvperf__hotplug_is_attached(const uvperf__hotplug_t *hotplug);

/* Starts a hotplug that is attached. From the next iteration on it reports all
 * changes since its last report, or since it was made. It reads sysfs at least
 * every rescan_ms (above 0). It also works if the socket could not be opened
 * (EMFILE, EPROTONOSUPPORT, seccomp). Returns 0 (also if it was started
 * before), the code of reading sysfs, UV_EINVAL if others have closed the inner
 * handle, or UV_EPERM in a forked child. */
int uvperf__hotplug_start(uvperf__hotplug_t *hotplug, uint64_t rescan_ms);

/* How often sysfs is read by default, in case no uevents come. */
#define UVPERF__HOTPLUG_RESCAN_MS 1000

/* Explains why the hotplug could not be started. `remedy` is what the user can
 * do besides mounting sysfs: "do without …". Returns the code. */
int uvperf__hotplug_explain(uvperf_error_t *error, int code,
                            const char *remedy);

/* Stops. Nothing is reported afterwards. */
void uvperf__hotplug_stop(uvperf__hotplug_t *hotplug);

/* Stops, and closes the inner handles as a part of the owner's teardown. Call
 * it once. */
void uvperf__hotplug_close(uvperf__hotplug_t *hotplug);

/* If the handle is an inner handle of a hotplug, closes the owner (unless it is
 * closing already) and returns 1. Otherwise returns 0. */
int uvperf__hotplug_close_owner(uv_handle_t *handle);

#endif
