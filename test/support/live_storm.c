/* SPDX-License-Identifier: MIT */
#include "live_storm.h"

#include <unistd.h>

/* A writer checks after this number of payloads whether it has to end. */
#define CHUNK 1000

static void work(void *arg) {
  live_writer_t *writer = arg;
  live_storm_t *storm = writer->storm;
  uint64_t left = writer->nr;
  uint64_t nr;
  int code = writer->code;

  while (left > 0 && code == 0 &&
         !__atomic_load_n(&storm->is_over, __ATOMIC_RELAXED)) {
    nr = left < CHUNK ? left : CHUNK;
    code = live_bpf_producer_run_on(&storm->producer, writer->cpu, nr);
    __atomic_store_n(&writer->code, code, __ATOMIC_RELAXED);
    if (left != UINT64_MAX)
      left -= nr;
  }
  __atomic_fetch_sub(&storm->nr_writing, 1, __ATOMIC_RELEASE);
}

void live_storm_open(live_storm_t *storm, const char *test, uint32_t least,
                     uint32_t most) {
  int cpus[CPU_SETSIZE];
  size_t i;

  memset(storm, 0, sizeof(*storm));
  storm->array = live_bpf_array_make(test, 0);
  live_bpf_producer_open(&storm->producer, storm->array, least, most);
  storm->nr_writers = live_cpus(cpus, CPU_SETSIZE);
  if (storm->nr_writers > LIVE_STORM_WRITERS)
    storm->nr_writers = LIVE_STORM_WRITERS;
  for (i = 0; i < storm->nr_writers; i++) {
    storm->writers[i].storm = storm;
    storm->writers[i].cpu = cpus[i];
    live_thread_start(&storm->writers[i].thread, work, &storm->writers[i]);
  }
}

void live_storm_close(live_storm_t *storm) {
  size_t i;

  for (i = 0; i < storm->nr_writers; i++)
    live_thread_end(&storm->writers[i].thread);
  live_bpf_producer_close(&storm->producer);
  assert_int_equal(close(storm->array), 0);
}

void live_storm_begin(live_storm_t *storm, uint64_t nr) {
  size_t i;

  storm->is_over = 0;
  storm->nr_writing = (int)storm->nr_writers;
  for (i = 0; i < storm->nr_writers; i++) {
    storm->writers[i].nr = nr == UINT64_MAX ? nr : nr / storm->nr_writers;
    live_thread_go(&storm->writers[i].thread);
  }
}

int live_storm_is_writing(const live_storm_t *storm) {
  return __atomic_load_n(&storm->nr_writing, __ATOMIC_ACQUIRE) > 0;
}

void live_storm_end(live_storm_t *storm) {
  size_t i;

  __atomic_store_n(&storm->is_over, 1, __ATOMIC_RELAXED);
  for (i = 0; i < storm->nr_writers; i++)
    live_thread_wait(&storm->writers[i].thread);
}

void live_storm_one_more(live_storm_t *storm) {
  size_t i;

  for (i = 0; i < storm->nr_writers; i++)
    if (storm->writers[i].code == 0)
      storm->writers[i].code =
          live_bpf_producer_run_on(&storm->producer, storm->writers[i].cpu, 1);
}

static live_writer_t *writer_of(live_storm_t *storm, int cpu) {
  size_t i;

  for (i = 0; i < storm->nr_writers; i++)
    if (storm->writers[i].cpu == cpu)
      return &storm->writers[i];
  return NULL;
}

/* Refused numbers since the last payload are skipped. */
static void note_number(live_ledger_t *ledger, uint64_t number) {
  ledger->delivered += 1;
  if (number < ledger->next) {
    ledger->disorder += 1;
    return;
  }
  ledger->skipped += number - ledger->next;
  ledger->next = number + 1;
}

void live_storm_note(live_storm_t *storm, const uvperf_record_t *sample) {
  live_writer_t *writer;
  uint64_t number;

  writer = sample->type != UVPERF_RECORD_NONE
               ? writer_of(storm, (int)sample->cpu)
               : NULL;
  if (writer == NULL) {
    storm->strangers += 1;
  } else if (uvperf_record_lost(sample) != 0) {
    writer->ledger.lost += uvperf_record_lost(sample);
    writer->ledger.next += uvperf_record_lost(sample);
  } else if (sample->type == PERF_RECORD_SAMPLE &&
             live_bpf_producer_check(&storm->producer, (int)sample->cpu,
                                     sample->sample.raw.data,
                                     sample->sample.raw.size, &number)) {
    note_number(&writer->ledger, number);
  } else {
    writer->ledger.torn += 1;
  }
}

void live_storm_forget(live_storm_t *storm) {
  size_t i;

  for (i = 0; i < storm->nr_writers; i++)
    memset(&storm->writers[i].ledger, 0, sizeof(storm->writers[i].ledger));
}

uint64_t live_storm_delivered(const live_storm_t *storm) {
  uint64_t nr = 0;
  size_t i;

  for (i = 0; i < storm->nr_writers; i++)
    nr += storm->writers[i].ledger.delivered;
  return nr;
}

static uint64_t gave(const live_storm_t *storm, int code) {
  uint64_t nr = 0;
  size_t i;

  for (i = 0; i < storm->nr_writers; i++)
    nr += live_bpf_producer_gave(&storm->producer, storm->writers[i].cpu, code);
  return nr;
}

uint64_t live_storm_written(const live_storm_t *storm) {
  return gave(storm, 0);
}

uint64_t live_storm_lost(const live_storm_t *storm) {
  return gave(storm, -ENOSPC);
}

uint64_t live_storm_refused(const live_storm_t *storm) {
  return gave(storm, -ENOENT);
}

void live_storm_is_sound(const live_storm_t *storm) {
  size_t i;

  assert_int_equal(storm->strangers, 0);
  for (i = 0; i < storm->nr_writers; i++) {
    assert_int_equal(storm->writers[i].code, 0);
    assert_int_equal(storm->writers[i].ledger.torn, 0);
    assert_int_equal(storm->writers[i].ledger.disorder, 0);
  }
}

void live_storm_balance(const live_storm_t *storm) {
  const live_ledger_t *ledger;
  uint64_t runs, written, lost;
  size_t i;
  int cpu;

  live_storm_is_sound(storm);
  for (i = 0; i < storm->nr_writers; i++) {
    cpu = storm->writers[i].cpu;
    ledger = &storm->writers[i].ledger;
    runs = live_bpf_producer_runs(&storm->producer, cpu);
    written = live_bpf_producer_gave(&storm->producer, cpu, 0);
    lost = live_bpf_producer_gave(&storm->producer, cpu, -ENOSPC);
    assert_int_equal(ledger->delivered, written);
    assert_int_equal(ledger->lost, lost);
    assert_int_equal(ledger->skipped, runs - written - lost);
    assert_int_equal(ledger->next, runs);
  }
}
