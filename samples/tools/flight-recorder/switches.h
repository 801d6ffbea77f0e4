/* SPDX-License-Identifier: MIT */
/* The switches that a snapshot of the rings tells of. */
#ifndef FLIGHT_RECORDER_SWITCHES_H
#define FLIGHT_RECORDER_SWITCHES_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf/record.h"

typedef enum flight_kind_e {
  FLIGHT_SWITCH,    /* it is not known whether from was preempted */
  FLIGHT_WAITS,     /* from waits, or has ended */
  FLIGHT_PREEMPTED, /* from could have gone on */
  FLIGHT_LOST
} flight_kind_t;

/* No task, of records that tell of one only. Of a task that has no id any more
 * both ids are -1. */
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
  int is_used;      /* something was recorded there */
  uint64_t since;   /* ns: since when it is recorded */
  uint64_t oldest;  /* time of the oldest record of the snapshot; 0: none */
  uint64_t bytes;   /* of the records of the snapshot */
  int has_running;  /* who runs is known */
  int is_switching; /* who runs was told with the task before it */
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

/* A CPU is recorded from a time on. */
void flight_switches_since(flight_switches_t *switches, uint32_t cpu,
                           uint64_t time);

/* Before a snapshot; one that goes on where the one before ended still knows
 * who ran. */
void flight_switches_begin(flight_switches_t *switches, int goes_on);

/* Takes in SWITCH, SWITCH_CPU_WIDE and LOST, for each CPU in the order in which
 * the kernel wrote them; others it does not mind. */
void flight_switches_record(flight_switches_t *switches,
                            const uvperf_record_t *record);

/* From when on all that happened on a CPU is in the snapshot, where its ring
 * has so many bytes. */
uint64_t flight_switches_from(const flight_cpu_t *cpu, uint64_t ring_bytes);

#endif
