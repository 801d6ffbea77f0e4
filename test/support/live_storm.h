/* SPDX-License-Identifier: MIT */
/* Storms of numbered payloads on several CPUs at once: threads that write them,
 * and a ledger of what arrived from each CPU. Only live_storm_balance,
 * live_storm_is_sound and the functions that open and close fail a test. */
#ifndef UVPERF_TEST_LIVE_STORM_H
#define UVPERF_TEST_LIVE_STORM_H

#include "live_bpf_array.h"
#include "live_thread.h"

#include "uvperf.h"

#define LIVE_STORM_WRITERS 4

typedef struct live_storm_s live_storm_t;

/* What arrived from a CPU. */
typedef struct live_ledger_s {
  uint64_t next;      /* the next expected number, without those refused */
  uint64_t delivered; /* correct payloads */
  uint64_t lost;      /* as LOST records report */
  uint64_t skipped;   /* numbers that neither came nor were reported as lost */
  uint64_t torn;      /* damaged payloads */
  uint64_t disorder;  /* numbers that had come or been lost before */
} live_ledger_t;

typedef struct live_writer_s {
  live_storm_t *storm;
  live_thread_t thread;
  int cpu;
  uint64_t nr; /* how many it has to write */
  int code;    /* why it failed */
  live_ledger_t ledger;
} live_writer_t;

struct live_storm_s {
  int array;
  live_bpf_producer_t producer;
  live_writer_t writers[LIVE_STORM_WRITERS];
  size_t nr_writers; /* one for each CPU that the caller may use */
  int nr_writing;
  int is_over;        /* asks the writers to end */
  uint64_t strangers; /* callbacks without a known CPU, or without a record */
};

/* Makes a map, and a program for payloads of these sizes. Skips as
 * live_bpf_array_make. */
void live_storm_open(live_storm_t *storm, const char *test, uint32_t least,
                     uint32_t most);
void live_storm_close(live_storm_t *storm);

/* All writers write, nr in total; UINT64_MAX: until live_storm_end. */
void live_storm_begin(live_storm_t *storm, uint64_t nr);
int live_storm_is_writing(const live_storm_t *storm);
/* Ends them and waits until they have. */
void live_storm_end(live_storm_t *storm);
/* Each CPU writes one more when the rings have room, so that the kernel reports
 * the losses before it. */
void live_storm_one_more(live_storm_t *storm);

/* For the callback: a sample, or NULL. */
void live_storm_note(live_storm_t *storm, const uvperf_record_t *sample);
/* Forgets what arrived, for a new reader. */
void live_storm_forget(live_storm_t *storm);

/* Sums over all CPUs: what arrived; what the helper wrote, counted as lost, and
 * refused. */
uint64_t live_storm_delivered(const live_storm_t *storm);
uint64_t live_storm_written(const live_storm_t *storm);
uint64_t live_storm_lost(const live_storm_t *storm);
uint64_t live_storm_refused(const live_storm_t *storm);

/* Fails the test unless each written payload arrived once, correct and in
 * order, and all losses were reported. */
void live_storm_balance(const live_storm_t *storm);
/* Fails the test if a payload was damaged or out of order. */
void live_storm_is_sound(const live_storm_t *storm);

#endif
