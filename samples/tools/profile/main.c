/* SPDX-License-Identifier: MIT */
/* profile: a sampling profiler on a libuv loop. This file is its life-cycle:
 * open, start, look at what is already running, run the loop until something
 * ends it, stop, report. What is measured, counted and shown is elsewhere. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "uvperf.h"

#include "common/cpu.h"
#include "common/say.h"
#include "common/session.h"
#include "common/stdio.h"
#include "common/targets.h"
#include "profile/account.h"
#include "profile/events.h"
#include "profile/notes.h"
#include "profile/options.h"
#include "profile/proc.h"
#include "profile/report.h"

#define LIVE_MS 1000

typedef struct profile_s {
  common_session_t session;
  profile_options_t options;
  profile_events_t events;
  profile_account_t account;
  FILE *folded;
  uint64_t started_ns;
  uvperf_stats_t stats; /* as of the last live line, and of the end */
  profile_totals_t totals;
  uint64_t samples;
  uint64_t live_samples; /* what the last live line said */
  size_t nr_cpus;        /* that were sampled */
  int has_stopped;
  int failed;
} profile_t;

/* The handle counts no more once it is closed. */
static void take_totals(profile_t *profile, uint64_t now) {
  uvperf_set_stats(&profile->events.set, &profile->stats);
  profile->totals.samples = profile->samples;
  profile->totals.records = profile->stats.records;
  profile->totals.lost = profile->stats.lost_records;
  profile->totals.seconds = (double)(now - profile->started_ns) / 1e9;
}

static void on_stop(common_session_t *session) {
  profile_t *profile = session->data;
  uint64_t now = uv_hrtime();

  uvperf_set_stop(&profile->events.set);
  uvperf_set_flush(&profile->events.set);
  take_totals(profile, now);
  profile->nr_cpus = uvperf_set_nr_rings(&profile->events.set);
  profile_notes_live_end();
  profile->has_stopped = 1;
}

static void report(const profile_t *profile) {
  profile_report_table(stdout, &profile->account, &profile->totals);
  fflush(stdout);
  profile_notes_stats(&profile->options, &profile->stats);
  profile_notes_idle(&profile->options, &profile->totals, profile->nr_cpus);
  if (profile->folded == NULL)
    return;
  profile_report_folded(profile->folded, &profile->account);
  fflush(profile->folded);
}

static void on_close(common_session_t *session) {
  profile_t *profile = session->data;

  if (profile->has_stopped)
    report(profile);
  if (profile->events.is_open)
    common_session_close_set(session, &profile->events.set);
}

static void on_command(common_session_t *session, int status) {
  (void)session;
  profile_notes_command(status);
}

static void on_tick(common_session_t *session) {
  profile_t *profile = session->data;
  uint64_t now = uv_hrtime();
  uint64_t new_samples = profile->samples - profile->live_samples;

  profile->live_samples = profile->samples;
  profile_account_reap(&profile->account, now);
  take_totals(profile, now);
  profile_notes_live(&profile->totals, new_samples);
  /* Nobody is there any more to see how it goes on. */
  if (ferror(stderr))
    common_session_stop(session);
}

static void on_broken(profile_t *profile, int status) {
  common_say("a ring could not be read: %s\n", uv_strerror(status));
  profile->failed = 1;
  if (!uvperf_set_is_active(&profile->events.set))
    common_session_stop_soon(&profile->session);
}

static void on_record(uvperf_set_t *set, int status,
                      const uvperf_record_t *record) {
  profile_t *profile = set->data;

  if (status == 0) {
    if (record->type == PERF_RECORD_SAMPLE)
      profile->samples++;
    profile_account_record(&profile->account, record);
  } else if (status == UV_EOF) {
    /* A command's end is told by SIGCHLD instead: an exec of a setuid program
     * ends its events too. */
    if (profile->session.command.pid == 0)
      common_session_stop_soon(&profile->session);
  } else if (record == NULL) {
    on_broken(profile, status);
  }
}

static int open_events(profile_t *profile) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  uvperf_error_t error;

  if (common_process_asked(&profile->options.pid) != 0)
    return 1;
  memset(&error, 0, sizeof(error));
  if (profile->options.all) {
    target.type = UVPERF_TARGET_CPUS;
  } else if (profile->options.pid != 0) {
    target.type = UVPERF_TARGET_PROCESS;
    target.pid = profile->options.pid;
  } else {
    target.type = UVPERF_TARGET_COMMAND;
    target.pid = profile->session.command.pid;
  }
  if (profile_events_open(&profile->events, &profile->session.loop, &target,
                          profile->options.frequency_hz, &error) != 0)
    return profile_notes_refused(&profile->options, &error);
  profile->events.set.data = profile;
  profile_notes_opened(&profile->options, &profile->events);
  return 0;
}

static void load_symbols(profile_t *profile) {
  symbols_kallsyms_t *symbols = &profile->account.symbols;

  if (!profile->events.kernel)
    return;
  symbols_kallsyms_load(symbols, "/proc/kallsyms");
  if (symbols->reason[0] != '\0')
    common_say("kernel addresses have no names: %s\n", symbols->reason);
}

/* /proc is read when the events already run, and counts as older than any
 * record: what is mapped while it is read is then seen by one of the two, or by
 * both, which does no harm. Read before the start, a mapping made in between
 * would be seen by neither. */
static void read_running(profile_t *profile) {
  profile_account_t *account = &profile->account;
  size_t refused = 0;

  if (profile->options.all)
    refused = profile_proc_read_all(&account->tasks, &account->names);
  else if (profile->options.pid != 0)
    refused = profile_proc_read(&account->tasks, &account->names,
                                profile->options.pid) != 0;
  if (refused > 0)
    common_say("the mappings of %zu process%s may not be read; places "
               "in them are [unknown]\n",
               refused, refused == 1 ? "" : "es");
}

static int start(profile_t *profile) {
  uvperf_error_t error;
  int rc;

  load_symbols(profile);
  common_session_listen(&profile->session);
  uvperf_set_on_cpu(&profile->events.set, common_cpu_note);
  if (uvperf_set_start(&profile->events.set, NULL, on_record, &error) != 0) {
    common_say("%s\n", error.reason);
    return 1;
  }
  profile->started_ns = uv_hrtime();
  read_running(profile);
  rc = common_session_go(&profile->session);
  common_session_start(&profile->session, LIVE_MS,
                       profile->options.duration_ms);
  return rc;
}

/* From an open loop to a closed one. */
static int run(profile_t *profile) {
  common_session_t *session = &profile->session;
  int status;

  session->data = profile;
  session->on_stop = on_stop;
  session->on_tick = on_tick;
  session->on_command = on_command;
  session->on_close = on_close;
  if (common_session_init(session) != 0)
    return 1;
  profile_account_init(&profile->account, profile->folded != NULL);
  status = open_events(profile);
  if (status == 0)
    status = start(profile);
  status = common_session_run(session, status);
  profile_account_free(&profile->account);
  return status != 0 ? status : profile->failed;
}

static int open_folded(profile_t *profile) {
  if (profile->options.folded == NULL)
    return 0;
  profile->folded = fopen(profile->options.folded, "we");
  if (profile->folded != NULL)
    return 0;
  common_say("%s: %s\n", profile->options.folded, strerror(errno));
  return 1;
}

int main(int argc, char **argv) {
  static profile_t profile = {.session = COMMON_SESSION_INIT};
  int status;

  common_signals_take(&profile.session.command.signals);
  common_stdio_init();
  status = profile_options_parse(&profile.options, argc, argv);
  if (status == 0 && profile.options.help) {
    profile_options_help();
    return common_stdio_close(stdout, "stdout");
  }
  if (status == 0)
    status = open_folded(&profile);
  if (status == 0)
    status = common_session_fork(&profile.session, profile.options.command);
  if (status == 0)
    status = run(&profile);
  common_command_end(&profile.session.command);
  if (profile.folded != NULL &&
      common_stdio_close(profile.folded, profile.options.folded) != 0)
    status = 1;
  if (common_stdio_close(stdout, "stdout") != 0)
    status = 1;
  return status;
}
