/* SPDX-License-Identifier: MIT */
/* What can be wrong with a target on any machine. */
#include "host/target.h"

#include <errno.h>

#include "host/cpu_list.h"
#include "util/error.h"

/* What the types take. */
static const struct {
  const char *name;
  int has_pid;
  int has_cgroup;
} types[] = {
    [UVPERF_TARGET_SELF] = {"UVPERF_TARGET_SELF", 0, 0},
    [UVPERF_TARGET_CPUS] = {"UVPERF_TARGET_CPUS", 0, 0},
    [UVPERF_TARGET_THREAD] = {"UVPERF_TARGET_THREAD", 1, 0},
    [UVPERF_TARGET_PROCESS] = {"UVPERF_TARGET_PROCESS", 1, 0},
    [UVPERF_TARGET_COMMAND] = {"UVPERF_TARGET_COMMAND", 1, 0},
    [UVPERF_TARGET_CGROUP] = {"UVPERF_TARGET_CGROUP", 0, 1},
};

static int check_pid(const uvperf_target_t *target, uvperf_error_t *error) {
  if (types[target->type].has_pid && target->pid <= 0)
    return uvperf__error_set(error, -EINVAL, UVPERF_CAUSE_ARGUMENT,
                             "target.pid %d is no id of a task, which %s needs",
                             target->pid, types[target->type].name);
  if (!types[target->type].has_pid && target->pid != 0)
    return uvperf__error_set(
        error, -EINVAL, UVPERF_CAUSE_ARGUMENT,
        "target.pid is %d, but %s takes none: it must be 0", target->pid,
        types[target->type].name);
  return 0;
}

static int check_cpus(const char *cpus, uvperf_error_t *error) {
  size_t nr = 0;

  if (cpus == NULL)
    return 0;
  if (uvperf__cpu_list_parse(cpus, NULL, &nr) == -EINVAL)
    return uvperf__error_set(
        error, -EINVAL, UVPERF_CAUSE_ARGUMENT,
        "target.cpus is no list of CPUs such as \"0-3,8\", "
        "each at most %d",
        UVPERF__MAX_CPU);
  if (nr == 0)
    return uvperf__error_set(error, -EINVAL, UVPERF_CAUSE_ARGUMENT,
                             "target.cpus lists no CPU: NULL stands for those "
                             "that are online, or any");
  return 0;
}

static int check_cgroup(const uvperf_target_t *target, uvperf_error_t *error) {
  int has_one = target->cgroup != NULL && target->cgroup[0] != '\0';

  if (types[target->type].has_cgroup && !has_one)
    return uvperf__error_set(error, -EINVAL, UVPERF_CAUSE_ARGUMENT,
                             "target.cgroup is %s, and %s needs a directory: "
                             "\"/\" is that of all tasks",
                             target->cgroup == NULL ? "NULL" : "empty",
                             types[target->type].name);
  if (!types[target->type].has_cgroup && target->cgroup != NULL)
    return uvperf__error_set(
        error, -EINVAL, UVPERF_CAUSE_ARGUMENT,
        "target.cgroup is given, but %s takes none: it must "
        "be NULL",
        types[target->type].name);
  return 0;
}

int uvperf__target_check(const uvperf_target_t *target, uvperf_error_t *error) {
  int rc;

  if (target->type >= sizeof(types) / sizeof(types[0]))
    return uvperf__error_set(error, -EINVAL, UVPERF_CAUSE_ARGUMENT,
                             "target.type %u is unknown: see enum "
                             "uvperf_target_type",
                             target->type);
  if (target->flags & ~UVPERF_TARGET_NO_INHERIT)
    return uvperf__error_set(error, -EINVAL, UVPERF_CAUSE_ARGUMENT,
                             "target.flags 0x%x has unknown bits",
                             target->flags);
  if (target->reserved != 0)
    return uvperf__error_set(error, -E2BIG, UVPERF_CAUSE_ARGUMENT,
                             "target.reserved is not 0: this version knows no "
                             "such field");
  rc = check_pid(target, error);
  if (rc == 0)
    rc = check_cpus(target->cpus, error);
  return rc != 0 ? rc : check_cgroup(target, error);
}
