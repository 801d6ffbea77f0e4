/* SPDX-License-Identifier: MIT */
/* Samples the page faults of a process until it ends: about 100 samples a
 * second, however many page faults the process has. Five times a second the
 * period is corrected by the number of samples that came. In an attr with a
 * frequency, the kernel corrects the period, but separately for each thread on
 * each CPU. So more threads mean more samples. A process of your own needs no
 * privileges up to perf_event_paranoid 2.
 *
 *   adapt_period PID */
#include <stdio.h>
#include <stdlib.h>
#include <uvperf.h>

#define RATE    100 /* samples a second */
#define TICK_MS 200
#define WANTED  (RATE * TICK_MS / 1000)

static uvperf_set_t set;
static uv_timer_t timer;
static uint64_t period = 1, samples;

static void on_record(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record) {
  if (status == UV_EOF) { /* the process has ended */
    uvperf_close(handle, NULL);
    uv_close((uv_handle_t *)&timer, NULL);
  } else if (status != 0) {
    fprintf(stderr, "%s\n", uv_err_name(status));
  } else if (record->type == PERF_RECORD_SAMPLE) {
    samples++;
  } else if (record->type == PERF_RECORD_LOST) {
    samples += record->lost.lost; /* lost samples count too */
  }
}

static void on_tick(uv_timer_t *handle) {
  uint64_t counted, wanted, about;
  uvperf_error_t error;

  (void)handle;
  uvperf_flush(&set.handle); /* samples that still have this period */
  if (uvperf_is_closing(&set.handle))
    return;
  counted = samples;
  about = counted * period;
  samples = 0;
  wanted = counted > 0 ? about / WANTED : period / 2;
  if (wanted == 0)
    wanted = 1;
  /* At once: page faults until then have the old period, but count as those of
   * the new one. */
  if (wanted != period &&
      uvperf_change_period(&set.handle, 0, wanted, &error) != 0)
    fprintf(stderr, "%s\n", error.reason);
  else
    period = wanted;
  printf("%llu samples, about %llu page faults\n", (unsigned long long)counted,
         (unsigned long long)about);
}

int main(int argc, char **argv) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_target_t process = UVPERF_TARGET_INIT;
  uv_loop_t *loop = uv_default_loop();
  struct perf_event_attr attr;
  const struct perf_event_attr *attrs[] = {&attr};
  uvperf_error_t error;

  if (argc != 2 || (process.pid = atoi(argv[1])) <= 0) {
    fprintf(stderr, "usage: %s PID\n", argv[0]);
    return 2;
  }
  uvperf_attr_software(&attr, PERF_COUNT_SW_PAGE_FAULTS);
  uvperf_attr_set_period(&attr, period);
  /* Do not add PERF_SAMPLE_PERIOD: with it the kernel writes a sample for each
   * page fault. */
  attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_ADDR;
  attr.exclude_kernel = 1;
  process.type = UVPERF_TARGET_PROCESS;
  options.attrs = attrs;
  options.nr_attrs = 1;
  options.targets = &process;
  options.nr_targets = 1;
  options.flags = UVPERF_SET_RECORDS;
  setvbuf(stdout, NULL, _IOLBF, 0); /* at once, into a pipe too */
  if (uvperf_set_init(loop, &set, &options, &error) != 0 ||
      uvperf_start(&set.handle, NULL, on_record, &error) != 0) {
    fprintf(stderr, "%s\n", error.reason);
    return 1;
  }
  uv_timer_init(loop, &timer);
  uv_timer_start(&timer, on_tick, TICK_MS, TICK_MS);
  uv_run(loop, UV_RUN_DEFAULT);
  if (fflush(stdout) != 0 || ferror(stdout)) {
    fprintf(stderr, "stdout could not be written\n");
    return 1;
  }
  return uv_loop_close(loop) != 0;
}
