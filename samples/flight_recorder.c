/* SPDX-License-Identifier: MIT */
/* Keeps the newest context switches of each CPU, and the names of new threads,
 * in rings that overwrite themselves. Prints them when SIGUSR1 comes, and when
 * the process has ended: everything in the rings, or only the last SECONDS.
 * Ctrl-C ends the program. Until a signal comes, nothing wakes the loop. A
 * snapshot does not stop the recording. To record all tasks (PID 0), the
 * program needs root, CAP_PERFMON or perf_event_paranoid 0. For a process of
 * your own it needs no privileges up to perf_event_paranoid 2:
 *
 *   flight_recorder [PID [SECONDS]] */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <uvperf.h>

static uvperf_set_t set;
static uv_signal_t dump, interrupt;
static uint64_t last, now; /* ns; last 0: everything */
static int has_ended;      /* the process */

static void end(void) {
  uvperf_close(&set.handle, NULL);
  uv_close((uv_handle_t *)&dump, NULL);
  uv_close((uv_handle_t *)&interrupt, NULL);
}

static void on_snapshot(uvperf_handle_t *base, int status) {
  uvperf_stats_t stats;

  uvperf_stats(base, &stats);
  if (status == 0)
    printf("-- end of the snapshot; until now %llu lost, %llu cut\n",
           (unsigned long long)stats.lost_records,
           (unsigned long long)stats.cut_records);
  else if (status != UV_ECANCELED)
    fprintf(stderr, "no snapshot: %s\n", uv_err_name(status));
  fflush(stdout);
  if (has_ended && status != UV_ECANCELED) /* not after end() */
    end();
}

static void on_dump(uv_signal_t *signal, int number) {
  uvperf_error_t error;
  int rc;

  (void)signal, (void)number;
  now = uv_hrtime(); /* the clock of record->time */
  rc = uvperf_snapshot(&set.handle, UVPERF_SNAPSHOT_ALL, on_snapshot, &error);
  if (rc != 0)
    fprintf(stderr, "%s\n", error.reason);
  if (has_ended && rc != 0 && rc != UV_EBUSY) /* on_snapshot is called later */
    end();
}

/* Called for the records of a snapshot, in the order of time. */
static void on_record(uvperf_handle_t *base, int status,
                      const uvperf_record_t *record) {
  char line[256];

  (void)base;
  if (record->type != UVPERF_RECORD_NONE) {
    uvperf_record_format(record, status, line, sizeof(line));
    if (last == 0 || record->time + last >= now)
      puts(line);
  } else if (status == UV_EOF) {
    has_ended = 1;
    on_dump(NULL, 0);
  } else {
    fprintf(stderr, "a ring is damaged: %s\n", uv_err_name(status));
  }
}

static void on_interrupt(uv_signal_t *signal, int number) {
  (void)signal, (void)number;
  end();
}

int main(int argc, char **argv) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_target_t target = UVPERF_TARGET_INIT;
  uv_loop_t *loop = uv_default_loop();
  uvperf_error_t error;

  target.pid = argc > 1 ? atoi(argv[1]) : 0;
  target.type = target.pid != 0 ? UVPERF_TARGET_PROCESS : UVPERF_TARGET_CPUS;
  last = argc > 2 ? (uint64_t)(atof(argv[2]) * 1e9) : 0;
  options.targets = &target;
  options.nr_targets = 1;
  options.flags =
      UVPERF_SET_RECORDS | UVPERF_SET_OVERWRITE | UVPERF_SET_TIME_ORDER;
  options.side_band = UVPERF_SIDE_BAND_SWITCH | UVPERF_SIDE_BAND_TASKS;
  if (uvperf_set_init(loop, &set, &options, &error) != 0 ||
      uvperf_start(&set.handle, NULL, on_record, &error) != 0) {
    fprintf(stderr, "%s\n", error.reason);
    return 1;
  }
  uv_signal_init(loop, &dump);
  uv_signal_start(&dump, on_dump, SIGUSR1);
  uv_signal_init(loop, &interrupt);
  uv_signal_start(&interrupt, on_interrupt, SIGINT);
  fprintf(stderr, "recording: kill -USR1 %d prints\n", (int)uv_os_getpid());
  uv_run(loop, UV_RUN_DEFAULT);
  if (fflush(stdout) != 0 || ferror(stdout)) {
    fprintf(stderr, "stdout could not be written\n");
    return 1;
  }
  return uv_loop_close(loop) != 0;
}
