/* SPDX-License-Identifier: MIT */
/* The messages of record on stderr. */
#ifndef RECORD_MESSAGES_H
#define RECORD_MESSAGES_H

#include <stdint.h>

#include "common/lost.h"
#include "record/attrs.h"
#include "record/options.h"
#include "uvperf.h"

/* The totals of a recording so far. */
typedef struct record_totals_s {
  uint64_t bytes; /* of the file */
  uint64_t records;
  uint64_t samples;
  common_lost_t lost;
  uint64_t unsound; /* records that made no sense */
  uint64_t late;    /* records that came after younger ones */
} record_totals_t;

/* Says why nothing can be recorded, and what would help. Returns the exit
 * status. */
int record_messages_refused(const record_options_t *options,
                            const uvperf_error_t *error);

/* Says why an event is open nowhere. Returns the exit status. */
int record_messages_event_refused(const record_attrs_t *attrs,
                                  const uvperf_set_t *set, size_t attr);

/* Reports failures and changes of the events. */
void record_messages_opened(const record_options_t *options,
                            const record_attrs_t *attrs,
                            const uvperf_set_t *set);

/* With -v: says that everything is recorded from now on. A command may still
 * have to begin. */
void record_messages_recording(const record_options_t *options,
                               const uvperf_set_t *set);

/* Says that a CPU went offline or came online, with the arguments of
 * uvperf_cpu_cb. */
void record_messages_cpu(const record_options_t *options, int cpu, int status,
                         const uvperf_error_t *error);

/* Prints the line of progress over the last line, on a terminal only. `now` is
 * one second later than `then`. Returns 1 if the line was printed. */
int record_messages_progress(const record_options_t *options,
                             const record_totals_t *now,
                             const record_totals_t *then);

/* Says that an event (NULL: all events) was turned on or off, in the words of
 * perf record. */
void record_messages_enabled(const record_options_t *options, const char *name,
                             int is_on);

/* Says that no event has this name. */
void record_messages_no_event(const char *name);

/* Prints the names of the events, one per line. */
void record_messages_events(const record_attrs_t *attrs,
                            const uvperf_set_t *set);

/* Says that the file has reached --max-size. */
void record_messages_full(const record_options_t *options, uint64_t bytes);

/* Prints the name of a finished file. */
void record_messages_dump(const record_options_t *options, const char *name);

/* Prints the summary of the recording. `last` is the new name of the last file,
 * if it was renamed when it was finished. */
void record_messages_end(const record_options_t *options,
                         const record_totals_t *totals, const char *last);

/* Says which signal ended the command, if one did. `status` is its wait
 * status. */
void record_messages_command(int status);

#endif
