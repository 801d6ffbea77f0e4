/* SPDX-License-Identifier: MIT */
/* Tells on a loop which CPUs have come online and gone offline. What
 * is so is read from sysfs; when to look there is told by the kernel's uevents
 * (a netlink socket, which needs no privileges, but is silent in a network
 * namespace that another than the initial user namespace owns: uevent_net_init
 * in lib/kobject_uevent.c), and every so often all the same. Its handles never
 * keep the loop alive. */
#ifndef UVPERF_LIB_LOOP_HOTPLUG_H
#define UVPERF_LIB_LOOP_HOTPLUG_H

#include <stdint.h>

#include <uv.h>

#include "uvperf/error.h"

#include "loop/teardown.h"

typedef struct uvperf__hotplug_s uvperf__hotplug_t;

/* The owner may stop and close in each of these. */
typedef struct uvperf__hotplug_ops_s {
  /* A CPU is online that was not, and is wholly up. */
  void (*come)(void *owner, int cpu);
  /* A CPU is offline that was online. One that has come back before anybody
   * looked is told too: gone, then come. */
  void (*gone)(void *owner, int cpu);
  /* An inner handle was found by uvperf__hotplug_close_owner: close. */
  void (*close)(void *owner);
} uvperf__hotplug_ops_t;

/* Notes the CPUs that are online now. `root` of sysfs as elsewhere, must last.
 * 0 or UV_ENOMEM. */
int uvperf__hotplug_new(uvperf__hotplug_t **hotplug, const char *root,
                        const uvperf__hotplug_ops_t *ops, void *owner);

/* Frees a hotplug that no loop knows of, or whose teardown is done. Nothing to
 * do for NULL. */
void uvperf__hotplug_free(uvperf__hotplug_t *hotplug);

/* Registers its handles with the loop: from here on it must be closed before
 * it is freed. Nothing to do if it is attached already. */
void uvperf__hotplug_attach(uvperf__hotplug_t *hotplug, uv_loop_t *loop);
int uvperf__hotplug_is_attached(const uvperf__hotplug_t *hotplug);

/* Of one that is attached. Tells from the next turn of the loop on what has
 * changed since it was made or last told; sysfs is read at least every
 * rescan_ms (above 0). A socket that cannot be had (EMFILE, EPROTONOSUPPORT,
 * seccomp) leaves that alone. 0, also when started; or why sysfs could not be
 * read; or UV_EINVAL where somebody else has closed the inner handle, UV_EPERM
 * in a forked child. */
int uvperf__hotplug_start(uvperf__hotplug_t *hotplug, uint64_t rescan_ms);

/* How often sysfs is read by default, for where no uevents come. */
#define UVPERF__HOTPLUG_RESCAN_MS 1000

/* Why it could not be started, and what the user can do, beside mounting sysfs:
 * "do without …". Gives the code. */
int uvperf__hotplug_explain(uvperf_error_t *error, int code,
                            const char *remedy);

/* Nothing is told after it. */
void uvperf__hotplug_stop(uvperf__hotplug_t *hotplug);

/* Stops, and closes the inner handles as a part of the owner's teardown.
 * Once. */
void uvperf__hotplug_close(uvperf__hotplug_t *hotplug,
                           uvperf__teardown_t *teardown);

/* If the handle is an inner one of any hotplug: has its owner close, unless it
 * does already, and gives 1; else 0. */
int uvperf__hotplug_close_owner(uv_handle_t *handle);

#endif
