/* SPDX-License-Identifier: MIT */
/* The settings in which containers and service managers run a program. A child
 * enters one before it runs or executes what is tested. */
#ifndef UVPERF_TEST_LIVE_CONTAINER_H
#define UVPERF_TEST_LIVE_CONTAINER_H

#include "support.h"

typedef enum live_container_setting_e {
  /* Docker's root: 14 capabilities, and a seccomp filter that makes
   * perf_event_open and bpf fail with EPERM. */
  LIVE_CONTAINER_EPERM,
  /* The same, with ENOSYS. */
  LIVE_CONTAINER_ENOSYS,
  /* A user with CAP_PERFMON alone, which execve keeps. */
  LIVE_CONTAINER_PERFMON,
  /* With CAP_PERFMON and CAP_BPF. */
  LIVE_CONTAINER_PERFMON_BPF,
  /* Root in a user namespace, a user without capabilities outside. */
  LIVE_CONTAINER_USER_NAMESPACE,
  /* Root, with /sys and /proc/sys mounted read-only. */
  LIVE_CONTAINER_READ_ONLY,
  /* Root, with neither tracefs nor debugfs. */
  LIVE_CONTAINER_NO_TRACEFS,
  /* What docker run --cap-add PERFMON makes: Docker's root with CAP_PERFMON,
   * /sys and /proc/sys read-only, without tracefs, and a filter that lets
   * perf_event_open pass. */
  LIVE_CONTAINER_DOCKER,
  LIVE_CONTAINER_SETTINGS
} live_container_setting_t;

/* "eperm", "perfmon-bpf" … */
const char *live_container_name(live_container_setting_t setting);
/* The setting of that name, or LIVE_CONTAINER_SETTINGS. */
live_container_setting_t live_container_find(const char *name);

/* Skips the test unless this process is root and a child of it can enter the
 * setting. */
void live_container_need(const char *test, live_container_setting_t setting);

/* For children: enters the setting, or ends the process if it cannot. */
void live_container_enter(live_container_setting_t setting);

#endif
