/* SPDX-License-Identifier: MIT */
/* The settings in which containers and service managers run a program. A child
 * enters one before it runs or executes what is tested. */
#ifndef UVPERF_TEST_CONTAINER_H
#define UVPERF_TEST_CONTAINER_H

#include "support.h"

typedef enum container_setting_e {
  /* Docker's root: 14 capabilities, and a seccomp filter that makes
   * perf_event_open and bpf fail with EPERM. */
  CONTAINER_EPERM,
  /* The same, with ENOSYS. */
  CONTAINER_ENOSYS,
  /* A user with CAP_PERFMON alone, which execve keeps. */
  CONTAINER_PERFMON,
  /* With CAP_PERFMON and CAP_BPF. */
  CONTAINER_PERFMON_BPF,
  /* Root in a user namespace, a user without capabilities outside. */
  CONTAINER_USER_NAMESPACE,
  /* Root, with /sys and /proc/sys mounted read-only. */
  CONTAINER_READ_ONLY,
  /* Root, with neither tracefs nor debugfs. */
  CONTAINER_NO_TRACEFS,
  /* What docker run --cap-add PERFMON makes: Docker's root with CAP_PERFMON,
   * /sys and /proc/sys read-only, without tracefs, and a filter that lets
   * perf_event_open pass. */
  CONTAINER_DOCKER,
  CONTAINER_SETTINGS
} container_setting_t;

/* "eperm", "perfmon-bpf" … */
const char *container_name(container_setting_t setting);
/* The setting of that name, or CONTAINER_SETTINGS. */
container_setting_t container_find(const char *name);

/* Skips the test unless this process is root and a child of it can enter the
 * setting. */
void container_need(const char *test, container_setting_t setting);

/* For children: enters the setting, or ends the process if it cannot. */
void container_enter(container_setting_t setting);

#endif
