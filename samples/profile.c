/* SPDX-License-Identifier: MIT */
/* profile: a sampling profiler on a libuv loop. This file is its life-cycle:
 * open, start, look at what is already running, run the loop until something
 * ends it, stop, report. What is measured, counted and shown is elsewhere. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "uvperf.h"

#include "profile_account.h"
#include "profile_command.h"
#include "profile_events.h"
#include "profile_notes.h"
#include "profile_options.h"
#include "profile_proc.h"
#include "profile_report.h"
#include "profile_targets.h"

#define EXIT_NOT_RUN 127
#define LIVE_MS      1000
/* How long a command may take to end after SIGTERM. */
#define END_MS 2000
/* Records wait for so long until older ones can no longer arrive: all rings are
 * looked at every 100 ms, the default of flush_ms. */
#define SETTLE_NS UINT64_C(1000000000)

typedef struct profile_s {
  profile_options_t options;
  profile_command_t command;
  profile_events_t events;
  profile_account_t account;
  uv_loop_t loop;
  uv_signal_t interrupt, terminate, hangup, child;
  uv_timer_t live, end;
  FILE *folded;
  uint64_t started_ns;
  uvperf_stats_t stats; /* as of the last live line, and of the end */
  profile_totals_t totals;
  uint64_t samples;
  uint64_t live_samples; /* what the last live line said */
  size_t running;        /* events whose target is not gone */
  int stopping;
  int failed;
} profile_t;

/* The handles count no more once they are closed. */
static void take_totals(profile_t *profile, uint64_t now) {
  profile_events_stats(&profile->events, &profile->stats);
  profile->totals.samples = profile->samples;
  profile->totals.records = profile->stats.records;
  profile->totals.lost = profile->stats.lost_records;
  profile->totals.seconds = (double)(now - profile->started_ns) / 1e9;
}

static void close_all(profile_t *profile) {
  profile_events_close(&profile->events);
  uv_close((uv_handle_t *)&profile->interrupt, NULL);
  uv_close((uv_handle_t *)&profile->terminate, NULL);
  uv_close((uv_handle_t *)&profile->hangup, NULL);
  uv_close((uv_handle_t *)&profile->child, NULL);
  uv_close((uv_handle_t *)&profile->live, NULL);
  uv_close((uv_handle_t *)&profile->end, NULL);
}

static void on_kill(uv_timer_t *timer) {
  profile_t *profile = timer->data;

  if (profile->command.pid != 0)
    kill(profile->command.pid, SIGKILL);
}

/* Not to be called inside a record callback: flushing is not allowed there. */
static void stop(profile_t *profile) {
  uint64_t now = uv_hrtime();

  profile->stopping = 1;
  profile_events_stop(&profile->events);
  take_totals(profile, now);
  profile_account_until(&profile->account, UINT64_MAX);
  uv_timer_stop(&profile->live);
  profile_notes_live_end();
  if (profile->command.pid == 0) {
    close_all(profile);
    return;
  }
  /* The loop goes on until the command has been reaped. */
  kill(profile->command.pid, SIGTERM);
  uv_timer_start(&profile->end, on_kill, END_MS, 0);
}

static void on_end(uv_timer_t *timer) {
  stop(timer->data);
}

static void on_signal(uv_signal_t *handle, int number) {
  profile_t *profile = handle->data;

  (void)number;
  if (!profile->stopping)
    stop(profile);
  else
    on_kill(&profile->end); /* Asked for twice: no more patience. */
}

static void on_child(uv_signal_t *handle, int number) {
  profile_t *profile = handle->data;
  int status;

  (void)number;
  if (!profile_command_reap(&profile->command, &status))
    return;
  if (profile->stopping) {
    close_all(profile);
    return;
  }
  stop(profile);
  profile_notes_command(status);
}

static void on_live(uv_timer_t *timer) {
  profile_t *profile = timer->data;
  uint64_t now = uv_hrtime();
  uint64_t new_samples = profile->samples - profile->live_samples;

  profile->live_samples = profile->samples;
  profile_account_until(&profile->account, now - SETTLE_NS);
  take_totals(profile, now);
  profile_notes_live(&profile->totals, new_samples);
  /* Nobody is there any more to see how it goes on. */
  if (ferror(stderr))
    stop(profile);
}

/* The end of an event's target. A command's end is told by SIGCHLD instead: an
 * exec of a setuid program ends its events too. */
static void one_less(profile_t *profile) {
  profile->running--;
  if (profile->running == 0 && !profile->stopping && profile->command.pid == 0)
    uv_timer_start(&profile->end, on_end, 0, 0);
}

static void on_record(uvperf_event_t *event, int status,
                      const uvperf_record_t *record) {
  profile_t *profile = event->data;

  if (status == 0) {
    if (record->type == PERF_RECORD_SAMPLE)
      profile->samples++;
    profile_account_record(&profile->account, record);
  } else if (status == UV_EOF) {
    one_less(profile);
  } else if (record == NULL) {
    fprintf(stderr, "profile: a ring cannot be read any more: %s\n",
            uv_strerror(status));
    profile->failed = 1;
    one_less(profile);
  }
}

static int open_on(profile_t *profile, const profile_ids_t *cpus,
                   const profile_ids_t *threads) {
  profile_plan_t plan = {0};
  uvperf_error_t error;

  memset(&error, 0, sizeof(error));
  plan.frequency_hz = profile->options.frequency_hz;
  plan.cpus = cpus;
  plan.threads = profile->options.all ? NULL : threads;
  plan.on_exec = profile->options.command != NULL;
  if (profile_events_open(&profile->events, &profile->loop, &plan, profile,
                          &error) != 0)
    return profile_notes_refused(&profile->options, &error);
  profile->running = profile->events.nr;
  profile_notes_opened(&profile->options, &profile->events, cpus->nr);
  return 0;
}

static int find_threads(profile_t *profile, profile_ids_t *threads) {
  int32_t asked = profile->options.pid;
  int rc;

  if (profile->command.pid != 0)
    profile_ids_add(threads, profile->command.pid);
  if (asked == 0)
    return 0;
  rc = profile->options.pid = profile_process_of(asked);
  if (rc > 0)
    rc = profile_threads_of(threads, rc);
  if (rc == 0)
    return 0;
  if (rc == -ESRCH || rc == -ENOENT)
    fprintf(stderr, "profile: there is no process %d\n", asked);
  else
    fprintf(stderr, "profile: process %d: %s\n", asked, strerror(-rc));
  return 1;
}

static int open_events(profile_t *profile) {
  profile_ids_t cpus = {0}, threads = {0};
  int rc, status = 1;

  rc = profile_cpus_online(&cpus);
  if (rc != 0)
    fprintf(stderr, "profile: /sys/devices/system/cpu/online: %s\n",
            strerror(-rc));
  else
    status = find_threads(profile, &threads);
  if (status == 0)
    status = open_on(profile, &cpus, &threads);
  profile_ids_free(&cpus);
  profile_ids_free(&threads);
  return status;
}

static void load_symbols(profile_t *profile) {
  profile_symbols_t *symbols = &profile->account.symbols;

  if (!profile->events.kernel)
    return;
  profile_symbols_load(symbols, "/proc/kallsyms");
  if (symbols->reason[0] != '\0')
    fprintf(stderr, "profile: kernel addresses have no names: %s\n",
            symbols->reason);
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
    fprintf(stderr,
            "profile: the mappings of %zu process%s may not be read; places "
            "in them are [unknown]\n",
            refused, refused == 1 ? "" : "es");
}

static int start_command(profile_t *profile) {
  int rc;

  if (profile->options.command == NULL)
    return 0;
  uv_signal_start(&profile->child, on_child, SIGCHLD);
  rc = profile_command_go(&profile->command);
  if (rc == 0)
    return 0;
  fprintf(stderr, "profile: cannot run '%s': %s\n", profile->options.command[0],
          strerror(-rc));
  return EXIT_NOT_RUN;
}

static int start(profile_t *profile) {
  uvperf_error_t error;
  int rc;

  load_symbols(profile);
  rc = profile_account_attr(&profile->account, &profile->events.attr);
  if (rc != 0) {
    fprintf(stderr, "profile: the records cannot be decoded: %s\n",
            strerror(-rc));
    return 1;
  }
  uv_signal_start(&profile->interrupt, on_signal, SIGINT);
  uv_signal_start(&profile->terminate, on_signal, SIGTERM);
  uv_signal_start(&profile->hangup, on_signal, SIGHUP);
  if (profile_events_start(&profile->events, on_record, &error) != 0) {
    fprintf(stderr, "profile: %s\n", error.reason);
    return 1;
  }
  profile->started_ns = uv_hrtime();
  read_running(profile);
  rc = start_command(profile);
  /* The loop's idea of the time is that of its last turn. */
  uv_update_time(&profile->loop);
  uv_timer_start(&profile->live, on_live, LIVE_MS, LIVE_MS);
  if (profile->options.duration_ms > 0)
    uv_timer_start(&profile->end, on_end, profile->options.duration_ms, 0);
  return rc;
}

static int close_file(FILE *file, const char *name) {
  int failed = ferror(file) != 0;

  failed |= fclose(file) != 0;
  if (failed)
    fprintf(stderr, "profile: %s could not be written\n", name);
  return failed;
}

static int report(profile_t *profile) {
  profile_report_table(stdout, &profile->account, &profile->totals);
  profile_notes_stats(&profile->options, &profile->stats);
  profile_notes_idle(&profile->options, &profile->totals, profile->events.nr);
  if (profile->folded != NULL)
    profile_report_folded(profile->folded, &profile->account);
  return profile->failed;
}

static void init_handles(profile_t *profile) {
  uv_signal_init(&profile->loop, &profile->interrupt);
  uv_signal_init(&profile->loop, &profile->terminate);
  uv_signal_init(&profile->loop, &profile->hangup);
  uv_signal_init(&profile->loop, &profile->child);
  uv_timer_init(&profile->loop, &profile->live);
  uv_timer_init(&profile->loop, &profile->end);
  profile->interrupt.data = profile->terminate.data = profile;
  profile->hangup.data = profile->child.data = profile->live.data =
      profile->end.data = profile;
}

/* From an open loop to a closed one. */
static int run(profile_t *profile) {
  int status, rc = uv_loop_init(&profile->loop);

  if (rc != 0) {
    fprintf(stderr, "profile: no event loop: %s\n", uv_strerror(rc));
    return 1;
  }
  init_handles(profile);
  profile_account_init(&profile->account, profile->folded != NULL);
  status = open_events(profile);
  if (status == 0)
    status = start(profile);
  if (status != 0)
    close_all(profile);
  uv_run(&profile->loop, UV_RUN_DEFAULT);
  if (status == 0)
    status = report(profile);
  rc = uv_loop_close(&profile->loop);
  if (rc != 0) {
    fprintf(stderr, "profile: the loop was left open: %s\n", uv_strerror(rc));
    status = 1;
  }
  profile_account_free(&profile->account);
  profile_events_free(&profile->events);
  return status;
}

static int open_folded(profile_t *profile) {
  if (profile->options.folded == NULL)
    return 0;
  profile->folded = fopen(profile->options.folded, "we");
  if (profile->folded != NULL)
    return 0;
  fprintf(stderr, "profile: %s: %s\n", profile->options.folded,
          strerror(errno));
  return 1;
}

/* Forks before anything else is there that a child would have to undo. */
static int fork_command(profile_t *profile) {
  int rc;

  if (profile->options.command == NULL)
    return 0;
  rc = profile_command_fork(&profile->command, profile->options.command);
  if (rc != 0)
    fprintf(stderr, "profile: fork: %s\n", strerror(-rc));
  return rc != 0;
}

/* uv_loop_close asserts that none of its fds is one of the first three, so none
 * of them may be free when the loop opens its own. */
static void fill_standard_fds(void) {
  int fd;

  do
    fd = open("/dev/null", O_RDWR);
  while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd >= 0)
    close(fd);
}

int main(int argc, char **argv) {
  profile_t profile = {.command = PROFILE_COMMAND_INIT};
  int status;

  fill_standard_fds();
  /* A reader of our output that goes away is a failed write, not our death. */
  signal(SIGPIPE, SIG_IGN);
  status = profile_options_parse(&profile.options, argc, argv);
  if (status == 0 && profile.options.help) {
    profile_options_help();
    return close_file(stdout, "stdout");
  }
  if (status == 0)
    status = open_folded(&profile);
  if (status == 0)
    status = fork_command(&profile);
  if (status == 0)
    status = run(&profile);
  profile_command_end(&profile.command);
  if (profile.folded != NULL &&
      close_file(profile.folded, profile.options.folded) != 0)
    status = 1;
  if (close_file(stdout, "stdout") != 0)
    status = 1;
  return status;
}
