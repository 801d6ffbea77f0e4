/* SPDX-License-Identifier: MIT */
/* Makes one switch from the two records that the kernel writes for it: one for
 * the task that leaves the CPU, and one for the next task (perf_event_switch in
 * kernel/events/core.c). The first record normally has everything. Only the id
 * of a task that has ended and was reaped is missing; it is known from the
 * switch that brought the task to the CPU. The second record is used if the
 * first was overwritten or lost. */
#include "flight-recorder/switches.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

/* A snapshot leaves out at most LEFT_OUT_BYTES of a ring, if it cannot wait
 * (see UVPERF_SNAPSHOT_NO_WAIT). It also leaves out a record that newer records
 * have overwritten in part: at most CUT_BYTES. */
#define LEFT_OUT_BYTES UINT64_C(65536)
#define CUT_BYTES      UINT64_C(64)

void flight_switches_free(flight_switches_t *switches) {
  free(switches->list);
  free(switches->cpus);
  memset(switches, 0, sizeof(*switches));
}

static flight_cpu_t *cpu_of(flight_switches_t *switches, uint32_t id) {
  flight_cpu_t *cpus;
  size_t nr;

  if (id >= switches->nr_cpus) {
    nr = (size_t)id + 1;
    cpus = common_calloc(nr, sizeof(*cpus));
    if (switches->nr_cpus > 0)
      memcpy(cpus, switches->cpus, switches->nr_cpus * sizeof(*cpus));
    free(switches->cpus);
    switches->cpus = cpus;
    switches->nr_cpus = nr;
  }
  return &switches->cpus[id];
}

void flight_switches_since(flight_switches_t *switches, uint32_t cpu,
                           uint64_t time) {
  flight_cpu_t *place = cpu_of(switches, cpu);

  place->is_used = 1;
  place->since = time;
}

static void forget_running(flight_cpu_t *cpu) {
  cpu->has_running = 0;
  cpu->is_switching = 0;
}

void flight_switches_begin(flight_switches_t *switches, int goes_on) {
  size_t i;

  switches->nr = 0;
  for (i = 0; i < switches->nr_cpus; i++) {
    switches->cpus[i].oldest = 0;
    switches->cpus[i].bytes = 0;
    if (!goes_on)
      forget_running(&switches->cpus[i]);
  }
}

static flight_switch_t *add(flight_switches_t *switches,
                            const uvperf_record_t *record, flight_kind_t kind) {
  flight_switch_t *item;

  if (switches->nr == switches->capacity)
    switches->list = common_grow(switches->list, &switches->capacity,
                                 sizeof(*switches->list));
  item = &switches->list[switches->nr++];
  item->time = record->time;
  item->cpu = record->cpu;
  item->kind = kind;
  return item;
}

static flight_kind_t kind_of(const uvperf_record_t *record) {
  return uvperf_record_is_preempted(record) ? FLIGHT_PREEMPTED : FLIGHT_WAITS;
}

static void follow_out(flight_switches_t *switches, flight_cpu_t *cpu,
                       const uvperf_record_t *record) {
  const uvperf_switch_cpu_wide_t *other = &record->switch_cpu_wide;
  flight_switch_t *item = add(switches, record, kind_of(record));

  item->from.pid = record->pid;
  item->from.tid = record->tid;
  if (record->tid == UINT32_MAX && cpu->has_running)
    item->from = cpu->running;
  item->to.pid = other->next_prev_pid;
  item->to.tid = other->next_prev_tid;
  cpu->running = item->to;
  cpu->has_running = cpu->is_switching = 1;
}

static void follow_in(flight_switches_t *switches, flight_cpu_t *cpu,
                      const uvperf_record_t *record) {
  const uvperf_switch_cpu_wide_t *other = &record->switch_cpu_wide;
  flight_switch_t *item;

  /* If both records are there, they have the same id. */
  if (!cpu->is_switching || cpu->running.tid != record->tid) {
    item = add(switches, record, FLIGHT_SWITCH);
    item->from.pid = other->next_prev_pid;
    item->from.tid = other->next_prev_tid;
    item->to.pid = record->pid;
    item->to.tid = record->tid;
  }
  cpu->running.pid = record->pid;
  cpu->running.tid = record->tid;
  cpu->has_running = 1;
  cpu->is_switching = 0;
}

/* Used for the tasks of a command: these records do not name the other task. */
static void follow_one(flight_switches_t *switches,
                       const uvperf_record_t *record) {
  static const flight_task_t none = {FLIGHT_NONE, FLIGHT_NONE};
  flight_task_t task = {record->pid, record->tid};
  flight_switch_t *item;

  if (uvperf_record_is_switch_out(record)) {
    item = add(switches, record, kind_of(record));
    item->from = task;
    item->to = none;
  } else {
    item = add(switches, record, FLIGHT_SWITCH);
    item->from = none;
    item->to = task;
  }
}

void flight_switches_record(flight_switches_t *switches,
                            const uvperf_record_t *record) {
  flight_cpu_t *cpu = cpu_of(switches, record->cpu);

  cpu->is_used = 1;
  cpu->bytes += record->size;
  if (cpu->oldest == 0 || record->time < cpu->oldest)
    cpu->oldest = record->time;
  switch (record->type) {
    case PERF_RECORD_SWITCH_CPU_WIDE:
      if (uvperf_record_is_switch_out(record))
        follow_out(switches, cpu, record);
      else
        follow_in(switches, cpu, record);
      break;
    case PERF_RECORD_SWITCH:
      follow_one(switches, record);
      break;
    case PERF_RECORD_LOST:
      add(switches, record, FLIGHT_LOST)->lost = record->lost.lost;
      forget_running(cpu);
      break;
    default:
      break;
  }
}

/* A ring that has not wrapped around has all records since its start. */
uint64_t flight_switches_from(const flight_cpu_t *cpu, uint64_t ring_bytes) {
  uint64_t left_out = ring_bytes / 4;

  if (left_out > LEFT_OUT_BYTES)
    left_out = LEFT_OUT_BYTES;
  if (cpu->oldest == 0 || cpu->bytes + left_out + CUT_BYTES < ring_bytes)
    return cpu->since;
  return cpu->oldest > cpu->since ? cpu->oldest : cpu->since;
}
