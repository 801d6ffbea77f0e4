/* SPDX-License-Identifier: MIT */
/* What the checks need of this machine to be tried. */
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
  common_ids_t cpus; /* online, one at least */
  int cpus_code;     /* or why these are but those that we may run on: -errno */
  doctor_pmu_t *pmus;
  size_t nr_pmus;
  size_t pmu_capacity;
  int pmus_code;    /* why not all of them are known: -errno */
  int64_t fds_open; /* by us; or UVPERF_LIMIT_UNKNOWN */
  int seccomp;      /* its mode, of proc(5); -1: not known */
  int is_contained; /* sysctls are read-only, as in containers */
  pid_t child;      /* a process of ours that waits; or 0 */
  int child_code;   /* or why there is none: -errno */
} doctor_machine_t;

/* 0, or 1 after a message. */
int doctor_machine_init(doctor_machine_t *machine);
void doctor_machine_free(doctor_machine_t *machine);

/* The type of a PMU: 0, or -ENOENT, also where they could not be read. */
int doctor_machine_pmu(const doctor_machine_t *machine, const char *name,
                       uint32_t *type);

#endif
