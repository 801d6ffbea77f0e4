/* SPDX-License-Identifier: MIT */
/* What record tells on stderr. */
#ifndef RECORD_MESSAGES_H
#define RECORD_MESSAGES_H

#include <stdint.h>

#include "record/attrs.h"
#include "record/options.h"
#include "uvperf.h"

/* How far it has come. */
typedef struct record_totals_s {
  uint64_t bytes; /* of the file */
  uint64_t records;
  uint64_t samples;
  uint64_t lost_told;    /* by records in the rings */
  uint64_t lost_counted; /* by the kernel's counts: overlaps with those */
  uint64_t unsound;      /* records that made no sense */
  uint64_t late;         /* records that came behind younger ones */
} record_totals_t;

/* That nothing can be recorded, and what would help: the status to exit
 * with. */
int record_messages_refused(const record_options_t *options,
                            const uvperf_error_t *error);

/* An event that is open nowhere: the status to exit with. */
int record_messages_event_refused(const record_attrs_t *attrs,
                                  const uvperf_set_t *set, size_t attr);

/* What is otherwise than asked. */
void record_messages_opened(const record_options_t *options,
                            const record_attrs_t *attrs,
                            const uvperf_set_t *set);

/* With -v: that from now on everything is recorded, but for a command that is
 * still to begin. */
void record_messages_recording(const record_options_t *options,
                               const uvperf_set_t *set);

/* A CPU that has gone or come: as of uvperf_set_cpu_cb. */
void record_messages_cpu(const record_options_t *options, int cpu, int status,
                         const uvperf_error_t *error);

/* The line of every second, on a terminal alone; it overwrites the last one.
 * `now` is of a second later than `then`. 1 if there is such a line. */
int record_messages_progress(const record_options_t *options,
                             const record_totals_t *now,
                             const record_totals_t *then);

/* Ends the line of progress. */
void record_messages_progress_end(void);

/* That an event, or all for NULL, was turned on or off, as perf record says
 * it. */
void record_messages_enabled(const record_options_t *options, const char *name,
                             int is_on);

/* That no event is called so. */
void record_messages_no_event(const char *name);

/* The events, a line for each. */
void record_messages_events(const record_attrs_t *attrs,
                            const uvperf_set_t *set);

/* That the file has as much as it may. */
void record_messages_full(const record_options_t *options, uint64_t bytes);

/* How a finished file is called. */
void record_messages_dump(const record_options_t *options, const char *name);

/* How the recording went; `last` is the name of the last file, if it got one
 * when it was finished. */
void record_messages_end(const record_options_t *options,
                         const record_totals_t *totals, const char *last);

/* How a command ended, by its wait status, if not well. */
void record_messages_command(int status);

#endif
