/* SPDX-License-Identifier: MIT */
#include "live_flight.h"

#include <unistd.h>

/* Nothing was written between two targets. */
static void follow_number(live_flight_track_t *track, uint64_t number,
                          uint32_t target, int newest_first) {
  uint64_t older = newest_first ? number : track->last;
  uint64_t newer = newest_first ? track->last : number;

  if (!track->has_comm)
    track->first = number;
  else if (newer <= older)
    track->disordered += 1;
  else if (target == track->target)
    track->missing += newer - older - 1;
  track->has_comm = 1;
  track->last = number;
  track->target = target;
  track->comms += 1;
}

static void follow(live_flight_track_t *track, const uvperf_record_t *record,
                   int newest_first) {
  if (record->type == PERF_RECORD_LOST)
    track->lost += record->lost.lost;
  if (track->time != 0)
    track->inversions +=
        newest_first ? record->time > track->time : record->time < track->time;
  track->time = record->time;
  if (record->type == PERF_RECORD_COMM && record->pid == (uint32_t)getpid() &&
      strncmp(record->comm.comm, "live", 4) == 0)
    follow_number(track, strtoull(record->comm.comm + 4, NULL, 10),
                  record->source->target_index, newest_first);
}

size_t live_flight_cpu_index(const live_flight_t *flight, int32_t cpu) {
  size_t i;

  for (i = 0; i < flight->nr_cpus; i++)
    if (flight->cpus[i] == cpu)
      return i;
  return LIVE_FLIGHT_CPUS;
}

static void on_record(live_stream_t *stream, const uvperf_record_t *record) {
  live_flight_t *flight = (live_flight_t *)stream;
  size_t cpu;

  if (record->type == UVPERF_RECORD_NONE)
    return;
  flight->strange += record->source == NULL;
  if (record->source == NULL)
    return;
  cpu = live_flight_cpu_index(flight, record->source->cpu);
  if (cpu < LIVE_FLIGHT_CPUS)
    follow(&flight->tracks[cpu], record, flight->newest_first);
  follow(&flight->all, record, flight->newest_first);
}

static void on_done(uvperf_handle_t *base, int status) {
  live_flight_t *flight = base->data;

  assert_int_equal(status, 0);
  flight->nr_done += 1;
}

static void take(live_flight_t *flight, uint32_t flags) {
  uvperf_set_t *set = &flight->stream.live.set;
  uint64_t nr = flight->nr_done;

  if (!flight->is_on_pool) {
    assert_int_equal(uvperf_snapshot(&set->handle, flags, NULL, NULL), 0);
    return;
  }
  assert_int_equal(uvperf_snapshot(&set->handle, flags, on_done, NULL), 0);
  if (flight->meanwhile != NULL)
    flight->meanwhile(flight);
  assert_true(live_run_until(set->handle.loop, &flight->nr_done, nr + 1));
}

void live_flight_snap(live_flight_t *flight, uint32_t flags) {
  memset(flight->tracks, 0, sizeof(flight->tracks));
  memset(&flight->all, 0, sizeof(flight->all));
  flight->newest_first = !(flags & UVPERF_SNAPSHOT_OLDEST_FIRST);
  take(flight, flags);
  assert_int_equal(flight->strange, 0);
  assert_int_equal(flight->stream.foreign, 0);
  assert_int_equal(flight->stream.corrupt, 0);
  assert_int_equal(flight->stream.faults, 0);
}

void live_flight_plan(live_plan_t *plan, size_t ring_bytes) {
  live_stream_plan(plan);
  plan->options.flags |= UVPERF_SET_OVERWRITE;
  plan->options.wakeup_bytes = 0;
  plan->options.ring_bytes = ring_bytes;
}

void live_flight_begin(uv_loop_t *loop, live_flight_t *flight,
                       const live_plan_t *plan) {
  memset(flight, 0, sizeof(*flight));
  live_stream_begin(loop, &flight->stream, plan);
  flight->stream.on_record = on_record;
  flight->nr_cpus = live_cpus(flight->cpus, LIVE_FLIGHT_CPUS);
}

void live_flight_comm_on(const live_flight_t *flight, size_t cpu,
                         uint64_t *next, uint64_t nr) {
  cpu_set_t old;

  live_pin(flight->cpus[cpu % flight->nr_cpus], &old);
  live_comm(next, nr);
  live_unpin(&old);
}
