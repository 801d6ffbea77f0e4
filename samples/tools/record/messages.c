/* SPDX-License-Identifier: MIT */
/* The messages of record. They are in one place to stay consistent. */
#include "record/messages.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/failures.h"
#include "common/list.h"
#include "common/say.h"
#include "common/text.h"

/* The number of events whose changes are reported. */
#define MAX_CHANGED 4

int record_messages_refused(const record_options_t *options,
                            const uvperf_error_t *error) {
  common_say_error(error);
  if (error->cause != UVPERF_CAUSE_PERMISSION && options->branches != 0)
    common_say("-b and -j need a hardware PMU that records branches, which "
               "most\n"
               "  virtual machines lack: leave the option out\n");
  if (error->cause == UVPERF_CAUSE_PERMISSION && options->all)
    common_failures_privileges("recording whole CPUs", "record");
  return 1;
}

int record_messages_event_refused(const record_attrs_t *attrs,
                                  const uvperf_set_t *set, size_t attr) {
  const uvperf_set_failure_t *list;
  const char *reason = "it could not be opened";
  size_t nr, i;

  list = uvperf_set_failures(set, &nr);
  for (i = nr; i-- > 0;) {
    if (list[i].error.attr_index == attr)
      reason = list[i].error.reason;
  }
  common_say_of(record_attrs_label(attrs, attr), reason);
  return 1;
}

/* Describes the changes of several fields in one line. Returns 1 if it can. */
static int sum_up(const record_attrs_t *attrs, const uvperf_set_t *set,
                  size_t attr, char *text, size_t size) {
  char *name = record_attrs_name(attrs, set, attr);
  int is_clock = common_list_has_change(set, attr, UVPERF_FALLBACK_CLOCK);
  int is_user_only = common_list_has_change(set, attr, UVPERF_FALLBACK_USER);

  if (is_clock)
    snprintf(text, size, "no PMU here can sample it: using %s instead", name);
  else
    snprintf(text, size, "the kernel side is not allowed: using %s instead",
             name);
  free(name);
  return is_clock || is_user_only;
}

static void say_changes_of(const record_options_t *options,
                           const record_attrs_t *attrs, const uvperf_set_t *set,
                           size_t attr) {
  const char *label = record_attrs_label(attrs, attr);
  char text[512];

  if (!options->verbose && sum_up(attrs, set, attr, text, sizeof(text)))
    common_say_of(label, text);
  else
    common_failures_changes(set, attr, label);
}

/* The changes of hundreds of tracepoints would all be the same, so only some
 * are reported. */
static void say_changes(const record_options_t *options,
                        const record_attrs_t *attrs, const uvperf_set_t *set) {
  size_t nr_attrs = uvperf_set_nr_attrs(set), nr_changed = 0, nr, attr;

  for (attr = 0; attr < nr_attrs; attr++) {
    uvperf_changes(&set->handle, attr, &nr);
    if (nr > 0 && (options->verbose || nr_changed++ < MAX_CHANGED))
      say_changes_of(options, attrs, set, attr);
  }
  if (nr_changed > MAX_CHANGED)
    common_say("%zu more events were changed: -v shows all\n",
               nr_changed - MAX_CHANGED);
}

/* Reports places where an event is missing. Threads that ended while they were
 * listed are reported only with -v. */
static void say_missing(const record_options_t *options,
                        const record_attrs_t *attrs, const uvperf_set_t *set) {
  const uvperf_set_failure_t *list;
  size_t nr, missing = 0, i;

  list = uvperf_set_failures(set, &nr);
  for (i = 0; i < nr; i++) {
    if (list[i].error.cause == UVPERF_CAUSE_NO_TASK && !options->verbose)
      continue;
    if (missing++ == 0 || options->verbose)
      common_say_of(record_attrs_label(attrs, list[i].error.attr_index),
                    list[i].error.reason);
  }
  if (missing > 1 && !options->verbose)
    common_say("%zu more failures like this: -v shows all\n", missing - 1);
}

void record_messages_opened(const record_options_t *options,
                            const record_attrs_t *attrs,
                            const uvperf_set_t *set) {
  if (options->quiet)
    return;
  if (!options->no_inherit)
    common_failures_left_out(&options->pids);
  if (!options->verbose)
    common_failures_missing(set, &options->pids, &options->tids);
  say_missing(options, attrs, set);
  say_changes(options, attrs, set);
}

void record_messages_recording(const record_options_t *options,
                               const uvperf_set_t *set) {
  if (options->verbose)
    common_say("recording with %zu fds and %zu rings\n",
               uvperf_set_nr_open(set), uvperf_nr_rings(&set->handle));
}

void record_messages_cpu(const record_options_t *options, int cpu, int status,
                         const uvperf_error_t *error) {
  if (error != NULL)
    common_say("CPU %d is online: %s\n", cpu, error->reason);
  else if (!options->quiet)
    common_say("CPU %d is %s\n", cpu, status == 0 ? "online" : "offline");
}

/* What perf record calls MB. */
static double mebibytes(uint64_t bytes) {
  return (double)bytes / 1024 / 1024;
}

/* The padding covers the rest of a longer line. */
int record_messages_progress(const record_options_t *options,
                             const record_totals_t *now,
                             const record_totals_t *then) {
  if (options->quiet || !isatty(STDERR_FILENO))
    return 0;
  fprintf(stderr,
          "\r%.3f MB  %" PRIu64 " records, %" PRIu64 "/s  %" PRIu64
          " lost, %" PRIu64 "/s      ",
          mebibytes(now->bytes), now->records, now->records - then->records,
          now->lost.reported, now->lost.reported - then->lost.reported);
  return 1;
}

void record_messages_enabled(const record_options_t *options, const char *name,
                             int is_on) {
  if (options->quiet)
    return;
  if (name == NULL)
    fprintf(stderr, "Events %s\n", is_on ? "enabled" : "disabled");
  else
    fprintf(stderr, "Event %s %s\n", name, is_on ? "enabled" : "disabled");
}

void record_messages_no_event(const char *name) {
  char clean[256];

  common_text_clean(clean, sizeof(clean), name);
  common_say("--control: can't find '%s' event\n", clean);
}

void record_messages_events(const record_attrs_t *attrs,
                            const uvperf_set_t *set) {
  size_t attr;
  char *name;

  for (attr = 0; attr < uvperf_set_nr_attrs(set); attr++) {
    name = record_attrs_name(attrs, set, attr);
    fprintf(stderr, "%s\n", name);
    free(name);
  }
}

void record_messages_full(const record_options_t *options, uint64_t bytes) {
  if (!options->quiet)
    fprintf(stderr,
            "[ %s: perf size limit reached (%" PRIu64
            " KB), stopping session ]\n",
            program_invocation_short_name, bytes >> 10);
}

void record_messages_dump(const record_options_t *options, const char *name) {
  if (!options->quiet)
    fprintf(stderr, "[ %s: Dump %s ]\n", program_invocation_short_name, name);
}

void record_messages_end(const record_options_t *options,
                         const record_totals_t *totals, const char *last) {
  uint64_t lost = common_lost_total(&totals->lost);
  int is_stamped = options->limits.switches && last != NULL;
  const char *name = last == NULL || is_stamped ? options->file : last;

  if (totals->unsound > 0)
    common_say("%" PRIu64 " damaged records were left out\n", totals->unsound);
  if (totals->late > 0 && options->verbose)
    common_say("%" PRIu64 " records came late\n", totals->late);
  if (options->quiet)
    return;
  fprintf(stderr,
          "[ %s: wrote %.3f MB %s%s (%" PRIu64 " samples, %" PRIu64
          " lost) ]\n",
          program_invocation_short_name, mebibytes(totals->bytes), name,
          is_stamped ? ".<timestamp>" : "", totals->samples, lost);
  if (lost > 0)
    common_say("a larger -m, a lower -F or a higher -c loses fewer\n");
}

void record_messages_command(int status) {
  if (WIFSIGNALED(status))
    common_say("the command was ended by signal %d (%s)\n", WTERMSIG(status),
               strsignal(WTERMSIG(status)));
}
