/* SPDX-License-Identifier: MIT */
/* Reports to the handles of a loop which CPUs have come online and gone
 * offline. sysfs lists the online CPUs. A member of the hub reads sysfs at an
 * interval, and also when the kernel sends a uevent through a netlink socket.
 * The first hotplug that starts makes this member, and opens the socket. The
 * socket needs no privileges. It receives nothing in a network namespace that
 * belongs to a user namespace other than the initial one (uevent_net_init in
 * lib/kobject_uevent.c). */
#ifndef UVPERF_LIB_LOOP_HOTPLUG_H
#define UVPERF_LIB_LOOP_HOTPLUG_H

#include <stdint.h>

#include <uv.h>

#include "loop/teardown.h"

/* What one handle knows about the CPUs. */
typedef struct uvperf__hotplug_s uvperf__hotplug_t;

/* The owner may stop the hotplug, and close, in each of these functions. */
typedef struct uvperf__hotplug_ops_s {
  /* A CPU has come online and is completely up. */
  void (*come)(void *owner, int cpu);
  /* A CPU has gone offline. If it came back before sysfs was read, both are
   * reported: gone, then come. */
  void (*gone)(void *owner, int cpu);
} uvperf__hotplug_ops_t;

/* Makes a hotplug. Returns 0 or UV_ENOMEM. */
int uvperf__hotplug_new(uvperf__hotplug_t **hotplug,
                        const uvperf__hotplug_ops_t *ops, void *owner);

/* Notes the CPUs that are online now, the first time that it is called. This
 * takes a system call for each CPU. Call it before the first event of a CPU is
 * opened. Returns 0, or a code: then the start tries again. */
int uvperf__hotplug_note(uvperf__hotplug_t *hotplug);

/* Frees a hotplug that is not started. NULL is allowed. */
void uvperf__hotplug_free(uvperf__hotplug_t *hotplug);

/* Starts a hotplug on the hub of the owner's teardown. From the next iteration
 * on it reports all changes since its last report, or since the CPUs were
 * noted, which happens now at the latest. sysfs is read at least every
 * rescan_ms (above 0), which is the same for all hotplugs of a loop. This also
 * works if the socket could not be opened (EMFILE, EPROTONOSUPPORT, seccomp).
 * Returns 0 (also if it was started before), the code of reading sysfs,
 * UV_ENOMEM, UV_EINVAL if others have closed a handle of the hub, or UV_EPERM
 * in a forked child. */
int uvperf__hotplug_start(uvperf__hotplug_t *hotplug,
                          uvperf__teardown_t *teardown, uint64_t rescan_ms);

/* How often sysfs is read by default, in case no uevents come. */
#define UVPERF__HOTPLUG_RESCAN_MS 1000

/* Stops. Nothing is reported afterwards. NULL is allowed. */
void uvperf__hotplug_stop(uvperf__hotplug_t *hotplug);

/* Whether a uv handle is the one that polls the socket. */
int uvperf__hotplug_is(const uv_handle_t *handle);

#endif
