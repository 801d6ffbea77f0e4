/* SPDX-License-Identifier: MIT */
/* The properties of this machine that the checks need. */
#ifndef DOCTOR_MACHINE_H
#define DOCTOR_MACHINE_H

#include <sys/types.h>

#include "uvperf.h"

#include "common/targets.h"

typedef struct doctor_pmu_s {
  char name[64];
  uint32_t type;
} doctor_pmu_t;

typedef struct doctor_machine_s {
  uv_loop_t loop;
  uvperf_limits_t limits;
  common_ids_t cpus; /* online CPUs, at least one */
  int cpus_code;     /* -errno: `cpus` come from sched_getaffinity(2) instead */
  doctor_pmu_t *pmus;
  size_t nr_pmus;
  size_t pmu_capacity;
  int pmus_code;    /* -errno: not all PMUs are known */
  int64_t fds_open; /* by this process; or UVPERF_LIMIT_UNKNOWN */
  int seccomp;      /* the mode, see proc(5); -1: not known */
  int is_contained; /* sysctls are read-only, as in containers */
  pid_t child;      /* a waiting child; 0 if fork(2) failed */
  int child_code;   /* -errno of fork(2) */
} doctor_machine_t;

/* Returns 0, or 1 after a message. */
int doctor_machine_init(doctor_machine_t *machine);
void doctor_machine_free(doctor_machine_t *machine);

/* Finds the type of a PMU. Returns 0, or -ENOENT if there is no such PMU or the
 * PMUs could not be read. */
int doctor_machine_pmu(const doctor_machine_t *machine, const char *name,
                       uint32_t *type);

#endif
