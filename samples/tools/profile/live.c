/* SPDX-License-Identifier: MIT */
/* Takes records from a live set: opens and starts the set, reads the tasks that
 * already run, runs the loop until something ends it, and stops the set. */
#include <stdio.h>
#include <string.h>

#include "uvperf.h"

#include "common/cgroups.h"
#include "common/cpu.h"
#include "common/proc.h"
#include "common/say.h"
#include "common/targets.h"
#include "profile/events.h"
#include "profile/members.h"
#include "profile/modules.h"
#include "profile/naming.h"
#include "profile/notes.h"
#include "profile/proc.h"
#include "profile/profile.h"
#include "profile/programs.h"
#include "profile/targets.h"
#include "profile/top.h"
#include "profile/waits.h"

#define LIVE_MS 1000

/* The kernel stamps files at its ticks, of 10 ms or less. */
#define CLOCK_ERROR_NS 20000000

typedef struct live_s {
  profile_t *profile;
  profile_events_t events;
  profile_targets_t targets;
  profile_members_t members; /* with -a -p: the processes; or the profiler */
  profile_events_t end;      /* with -a -p: reports the end of the processes */
  profile_waits_t waits;     /* with --off-cpu */
  profile_modules_t modules; /* of the kernel, if it is sampled */
  uint64_t started_ns;
  uvperf_stats_t stats;  /* at the last live line, then at the end */
  uint64_t live_samples; /* at the last live line */
  uint64_t ticks;
  size_t nr_cpus; /* CPUs that were sampled */
  int has_stopped;
} live_t;

/* Call it before the handle is closed, which ends its counts. */
static void take_totals(live_t *live, uint64_t now) {
  profile_totals_t *totals = &live->profile->totals;

  uvperf_stats(&live->events.set.handle, &live->stats);
  totals->samples = live->profile->account.samples;
  totals->records = live->stats.records;
  totals->lost.reported = live->stats.lost_records;
  totals->seconds = (double)(now - live->started_ns) / 1e9;
}

static live_t *live_of(const common_session_t *session) {
  return ((profile_t *)session->data)->source;
}

/* Finds out what went without a record. */
static void check_kernel(live_t *live) {
  profile_modules_check(&live->modules, &live->profile->account);
  if (live->events.kernel &&
      !profile_options_is_of_all(&live->profile->options))
    profile_programs_check(&live->profile->account);
}

static void on_stop(common_session_t *session) {
  live_t *live = live_of(session);
  uint64_t now = uv_hrtime();

  uvperf_disable(&live->events.set.handle, UVPERF_ALL, NULL);
  uvperf_stop(&live->events.set.handle);
  uvperf_flush(&live->events.set.handle);
  if (live->events.off_cpu)
    profile_waits_end(&live->waits, now, live->targets.processes.nr > 0);
  take_totals(live, now);
  common_lost_read(&live->profile->totals.lost, &live->events.set, 1);
  check_kernel(live);
  live->nr_cpus = uvperf_nr_rings(&live->events.set.handle);
  if (live->profile->top == NULL)
    profile_notes_live_end(&live->profile->options);
  live->has_stopped = 1;
}

static void close_set(live_t *live) {
  if (live->events.is_open)
    common_session_close_set(&live->profile->session, &live->events.set);
  if (live->end.is_open)
    common_session_close_set(&live->profile->session, &live->end.set);
  profile_members_free(&live->members);
}

static void on_written(profile_t *profile) {
  live_t *live = profile->source;

  profile_notes_stats(&profile->options, &live->events, &profile->totals,
                      live->stats.corrupt);
  if (!profile->options.quiet && live->events.off_cpu)
    profile_notes_waits(live->waits.nr_unknown);
  else if (!profile->options.quiet)
    profile_notes_idle(&profile->options, &profile->totals, live->nr_cpus);
  close_set(live);
}

static void on_close(common_session_t *session) {
  live_t *live = live_of(session);

  if (live->has_stopped) {
    profile_end(live->profile);
    return;
  }
  symbols_close(live->profile->symbols, NULL, NULL);
  close_set(live);
}

static int on_late_signal(common_session_t *session) {
  return profile_end_now(session->data);
}

static void on_command(common_session_t *session, int status) {
  live_of(session)->profile->command_status = common_command_exit(status);
  if (!live_of(session)->profile->options.quiet)
    profile_notes_command(status);
}

static void on_tick(common_session_t *session) {
  live_t *live = live_of(session);
  profile_account_t *account = &live->profile->account;
  uint64_t now = uv_hrtime();
  uint64_t new_samples = account->samples - live->live_samples;

  live->live_samples = account->samples;
  check_kernel(live);
  profile_account_reap(account, now);
  profile_unwinding_flush(&live->profile->unwinding);
  take_totals(live, now);
  if (live->profile->top != NULL) {
    profile_top_tick(live->profile);
  } else {
    profile_notes_live(&live->profile->options, &live->profile->totals,
                       new_samples);
    /* Asks after 1, 2, 4, 8 … seconds. So few names are left to find at the
     * end, and a large file is not read each second. */
    live->ticks++;
    if ((live->ticks & (live->ticks - 1)) == 0 &&
        profile_options_has_functions(&live->profile->options))
      profile_naming_ask(account);
  }
  /* stderr has no reader any more. */
  if (ferror(stderr))
    common_session_stop(session);
}

static void on_broken(profile_t *profile, int status) {
  live_t *live = profile->source;

  common_say("cannot read a ring: %s\n", uv_strerror(status));
  profile->failed = 1;
  if (!uvperf_is_active(&live->events.set.handle))
    common_session_stop_soon(&profile->session);
}

static void on_record(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record) {
  profile_t *profile = handle->data;
  live_t *live = profile->source;

  if (status == 0) {
    if (!profile_members_take(&live->members, record))
      return;
    if (live->events.off_cpu)
      profile_waits_record(&live->waits, record);
    else
      profile_account_record(&profile->account, record);
  } else if (status == UV_EOF) {
    /* SIGCHLD reports the end of a command. The end of the command's events
     * does not show it, because the exec of a setuid program also ends the
     * events. */
    if (profile->session.command.pid == 0)
      common_session_stop_soon(&profile->session);
  } else if (record->type == UVPERF_RECORD_NONE) {
    on_broken(profile, status);
  }
}

static void on_end_record(uvperf_handle_t *handle, int status,
                          const uvperf_record_t *record) {
  (void)record;
  if (status == UV_EOF)
    common_session_stop_soon(&((profile_t *)handle->data)->session);
}

/* Events of CPUs do not end with a process, so these events report its end.
 * They sample nothing. */
static int open_end(live_t *live) {
  common_target_list_t list = {NULL, 0, 0};
  profile_t *profile = live->profile;
  uvperf_error_t error;
  int rc;

  memset(&error, 0, sizeof(error));
  common_target_list_add_ids(&list, &live->targets.processes,
                             UVPERF_TARGET_PROCESS, 0);
  rc = profile_events_open_end(&live->end, &profile->session.loop, &list,
                               &error);
  common_target_list_free(&list);
  if (rc != 0)
    return profile_notes_refused(&profile->options, &error);
  live->end.set.handle.data = profile;
  profile_members_init(&live->members, &live->targets.processes);
  return 0;
}

static int open_events(live_t *live) {
  profile_t *profile = live->profile;
  profile_options_t *options = &profile->options;
  int32_t command = profile->session.command.pid;
  common_target_list_t list;
  uvperf_error_t error;
  int rc;

  if (profile_targets_find(&live->targets, options, command) != 0)
    return 1;
  memset(&error, 0, sizeof(error));
  profile_targets_list(&live->targets, options, command, &list);
  rc = profile_events_open(&live->events, &profile->session.loop, &list,
                           options, &error);
  common_target_list_free(&list);
  if (rc != 0)
    return profile_notes_refused(options, &error);
  live->events.set.handle.data = profile;
  if (options->all && options->pids.nr > 0 && open_end(live) != 0)
    return 1;
  profile->event = live->events.off_cpu    ? "off-cpu"
                   : live->events.hardware ? "cycles"
                                           : "cpu-clock";
  profile->unit = live->events.hardware ? "cycles" : "ns";
  if (!options->quiet)
    profile_notes_opened(options, &live->events);
  profile_notes_missing(&live->events);
  return 0;
}

static int add_cgroup(void *arg, uint64_t id, const char *path) {
  profile_account_cgroup(arg, id, path);
  return 0;
}

/* Reads /proc after the events have started, and treats its contents as older
 * than any record. A mapping that is made meanwhile is seen in /proc, in a
 * record or in both; seeing it twice does no harm. If /proc were read before
 * the start, a mapping made in between would be missed. */
static void read_running(live_t *live) {
  profile_t *profile = live->profile;
  profile_account_t *account = &profile->account;

  if (profile->options.view.by == STACKS_BY_CGROUP || profile->options.top)
    common_cgroups(add_cgroup, account);
  if (live->events.kernel)
    profile_programs_read(account);
  if (live->targets.processes.nr > 0)
    account->nr_refused =
        profile_proc_read_list(account, &live->targets.processes);
  else
    account->nr_refused = profile_proc_read_all(account);
  if (profile->options.off_cpu)
    profile_waits_look(&live->waits);
}

static int start(live_t *live) {
  profile_t *profile = live->profile;
  uvperf_error_t error;
  int rc;

  if (live->events.off_cpu)
    profile_waits_init(&live->waits, &profile->account, "/proc/kallsyms");
  if (live->members.bits == NULL && !profile->options.self &&
      profile_options_is_of_cpus(&profile->options))
    profile_members_init_self(&live->members);
  if (live->events.kernel)
    profile_modules_init(&live->modules, "/proc/modules");
  common_session_listen(&profile->session);
  uvperf_on_cpu(&live->events.set.handle, common_cpu_note);
  if (uvperf_start(&live->events.set.handle, NULL, on_record, &error) != 0)
    return common_say_error(&error);
  if (live->end.is_open &&
      uvperf_start(&live->end.set.handle, NULL, on_end_record, &error) != 0)
    return common_say_error(&error);
  live->started_ns = live->waits.started_ns = uv_hrtime();
  profile->started_at_ns = common_proc_clock(CLOCK_REALTIME);
  profile->account.epoch_ns = profile->started_at_ns - live->started_ns;
  profile->account.error_ns = CLOCK_ERROR_NS;
  read_running(live);
  rc = common_session_go(&profile->session);
  common_session_start(&profile->session, LIVE_MS,
                       profile->options.duration_ms);
  if (rc == 0 && profile->options.top)
    profile_top_start(profile);
  return rc;
}

int profile_live_run(profile_t *profile) {
  common_session_t *session = &profile->session;
  live_t live = {.profile = profile};
  int status;

  profile->source = &live;
  profile->on_written = on_written;
  session->on_stop = on_stop;
  session->on_tick = on_tick;
  session->on_command = on_command;
  session->on_close = on_close;
  session->on_late_signal = on_late_signal;
  status = open_events(&live);
  if (status == 0)
    status = start(&live);
  status = common_session_run(session, status);
  profile_modules_free(&live.modules);
  common_ids_free(&live.targets.processes);
  return status;
}
