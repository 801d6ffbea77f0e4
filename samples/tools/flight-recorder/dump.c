/* SPDX-License-Identifier: MIT */
/* Takes a snapshot, then reads the records of names up to the snapshot's end,
 * and only then makes the text. Meanwhile the kernel writes to the rings
 * again. */
#include "flight-recorder/dump.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

#define NS_PER_MS UINT64_C(1000000)

/* The summary of one CPU in a dump. */
typedef struct flight_place_s {
  int has_ring;
  uint64_t from, switches;
} flight_place_t;

void flight_dump_cpu_since(flight_dump_t *dump, int cpu, uint64_t time) {
  flight_switches_since(&dump->switches, (uint32_t)cpu, time);
}

void flight_dump_since(flight_dump_t *dump, uint64_t time) {
  uvperf_ring_info_t ring;
  size_t i;

  for (i = 0; i < uvperf_nr_rings(&dump->sets->switches.handle); i++) {
    if (uvperf_ring(&dump->sets->switches.handle, i, &ring) == 0)
      flight_dump_cpu_since(dump, ring.cpu, time);
  }
}

void flight_dump_free(flight_dump_t *dump) {
  flight_switches_free(&dump->switches);
  flight_names_free(&dump->names);
}

static uint64_t count_cut(const flight_dump_t *dump) {
  uvperf_stats_t stats;

  uvperf_stats(&dump->sets->switches.handle, &stats);
  return stats.cut_records;
}

/* Finds for each CPU the time from which on nothing is missing. This time is
 * never before `from`. */
static void find_places(const flight_dump_t *dump, flight_place_t *places,
                        uint64_t from) {
  flight_place_t *place;
  const flight_cpu_t *cpu;
  uvperf_ring_info_t ring;
  size_t i;

  for (i = 0; i < uvperf_nr_rings(&dump->sets->switches.handle); i++) {
    if (uvperf_ring(&dump->sets->switches.handle, i, &ring) != 0 ||
        (size_t)ring.cpu >= dump->switches.nr_cpus)
      continue;
    cpu = &dump->switches.cpus[ring.cpu];
    place = &places[ring.cpu];
    place->has_ring = 1;
    place->from = flight_switches_from(cpu, ring.bytes);
    if (place->from < from)
      place->from = from;
  }
}

static void sum_up(flight_dump_t *dump, flight_place_t *places, uint64_t from) {
  flight_sums_t *sums = &dump->sums;
  const flight_switch_t *item;
  size_t i;

  sums->from = from;
  sums->switches = sums->lost = 0;
  for (i = 0; i < dump->switches.nr_cpus; i++) {
    if (places[i].has_ring && places[i].from > sums->from)
      sums->from = places[i].from;
  }
  for (i = 0; i < dump->switches.nr; i++) {
    item = &dump->switches.list[i];
    if (item->time < from)
      continue;
    if (item->kind == FLIGHT_LOST) {
      sums->lost += item->lost;
    } else {
      sums->switches++;
      places[item->cpu].switches++;
    }
  }
}

static void put_dump(const flight_dump_t *dump, const flight_place_t *places,
                     uint64_t from, common_buffer_t *buffer) {
  int json = dump->options->json;
  size_t i;

  flight_line_begin(buffer, &dump->sums, json);
  for (i = 0; i < dump->switches.nr_cpus; i++) {
    if (places[i].has_ring)
      flight_line_cpu(buffer, &dump->sums, (uint32_t)i, places[i].from,
                      places[i].switches, json);
  }
  for (i = 0; i < dump->switches.nr; i++) {
    if (dump->switches.list[i].time >= from)
      flight_line_switch(buffer, &dump->switches.list[i], &dump->names, json);
  }
  flight_line_end(buffer, &dump->sums, json);
}

/* Returns the time from which on switches are printed. */
static uint64_t begin_of(const flight_dump_t *dump) {
  uint64_t last = dump->options->last_ms * NS_PER_MS;

  return last == 0 || last > dump->sums.time ? 0 : dump->sums.time - last;
}

static void print(flight_dump_t *dump, common_buffer_t *buffer) {
  uint64_t from = begin_of(dump);
  flight_place_t *places =
      common_calloc(dump->switches.nr_cpus + 1, sizeof(*places));

  find_places(dump, places, from);
  sum_up(dump, places, from);
  put_dump(dump, places, from, buffer);
  free(places);
}

static uint32_t prepare(flight_dump_t *dump) {
  int only_new = dump->options->only_new;

  dump->cut = count_cut(dump);
  dump->sums.time = uv_hrtime();
  clock_gettime(CLOCK_REALTIME, &dump->sums.date);
  flight_switches_begin(&dump->switches, only_new);
  return only_new ? 0 : UVPERF_SNAPSHOT_ALL;
}

int flight_dump_begin(flight_dump_t *dump, uvperf_snapshot_cb taken) {
  return uvperf_snapshot(&dump->sets->switches.handle, prepare(dump), taken,
                         NULL);
}

/* With --new the next dump covers the time after this copy. */
void flight_dump_end(flight_dump_t *dump, common_buffer_t *buffer) {
  uint64_t now = uv_hrtime();

  uvperf_flush(&dump->sets->names.handle);
  dump->sums.dump++;
  dump->sums.cut = count_cut(dump) - dump->cut;
  print(dump, buffer);
  if (dump->options->only_new)
    flight_dump_since(dump, now);
}

int flight_dump_take(flight_dump_t *dump, common_buffer_t *buffer) {
  int rc =
      uvperf_snapshot(&dump->sets->switches.handle, prepare(dump), NULL, NULL);

  if (rc == 0)
    flight_dump_end(dump, buffer);
  return rc;
}
