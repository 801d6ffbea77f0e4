/* SPDX-License-Identifier: MIT */
/* The switches in a snapshot of the rings. */
#ifndef FLIGHT_RECORDER_SWITCHES_H
#define FLIGHT_RECORDER_SWITCHES_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf/record.h"

typedef enum flight_kind_e {
  FLIGHT_SWITCH,    /* it is not known whether from was preempted */
  FLIGHT_WAITS,     /* from waits, or has ended */
  FLIGHT_PREEMPTED, /* from was still able to run */
  FLIGHT_LOST
} flight_kind_t;

/* This id means no task, in a switch whose records have only one task. A task
 * that has lost its id has -1 for both ids. */
#define FLIGHT_NONE (UINT32_MAX - 1)

typedef struct flight_task_s {
  uint32_t pid, tid;
} flight_task_t;

typedef struct flight_switch_s {
  uint64_t time; /* ns */
  uint32_t cpu;
  flight_kind_t kind;
  union {
    struct {
      flight_task_t from, to;
    };
    uint64_t lost; /* LOST: records */
  };
} flight_switch_t;

typedef struct flight_cpu_s {
  int is_used;      /* this CPU is or was recorded */
  uint64_t since;   /* the begin of its recording, in ns */
  uint64_t oldest;  /* time of the oldest record of the snapshot; 0: none */
  uint64_t bytes;   /* of the records of the snapshot */
  int has_running;  /* `running` is known */
  int is_switching; /* `running` comes from the previous task's record */
  flight_task_t running;
} flight_cpu_t;

/* All zero at first. */
typedef struct flight_switches_s {
  flight_switch_t *list; /* in the order of time */
  size_t nr;
  size_t capacity;
  flight_cpu_t *cpus; /* by their ids */
  size_t nr_cpus;
} flight_switches_t;

void flight_switches_free(flight_switches_t *switches);

/* Sets the time at which the recording of a CPU begins. */
void flight_switches_since(flight_switches_t *switches, uint32_t cpu,
                           uint64_t time);

/* Call it before a snapshot. If the snapshot continues where the last one
 * ended, the running tasks are still known. */
void flight_switches_begin(flight_switches_t *switches, int goes_on);

/* Processes a SWITCH, SWITCH_CPU_WIDE or LOST record. For each CPU, call it in
 * the order in which the kernel wrote the records. Ignores other records. */
void flight_switches_record(flight_switches_t *switches,
                            const uvperf_record_t *record);

/* Returns the time from which on the snapshot has everything that happened on
 * the CPU. `ring_bytes` is the size of the CPU's ring. */
uint64_t flight_switches_from(const flight_cpu_t *cpu, uint64_t ring_bytes);

#endif
