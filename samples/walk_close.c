/* SPDX-License-Identifier: MIT */
/* Closes every handle of a loop with uv_walk, as some daemons do when they end.
 * uvperf_walk_close closes the handles of uvperf. Until then two handles
 * measure the program in the background. These handles are unref'd, so they do
 * not keep the program's loop alive. Needs no privileges. */
#include <stdio.h>
#include <uvperf.h>

#define TICKS 10

/* The program's own work. */
static void on_tick(uv_timer_t *timer) {
  volatile unsigned long i;
  int *ticks = timer->data;

  for (i = 0; i < 5000000; i++)
    continue;
  if (++*ticks == TICKS)
    uv_timer_stop(timer); /* now nothing keeps the loop alive */
}

static void on_record(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record) {
  unsigned long *samples = handle->data;

  if (status != 0)
    fprintf(stderr, "samples: %s\n", uv_strerror(status));
  else if (record->type == PERF_RECORD_SAMPLE)
    ++*samples;
}

static void on_reading(uvperf_set_t *set, int status,
                       const uvperf_reading_t *reading,
                       const uvperf_reading_t *delta) {
  uvperf_count_t count;

  (void)set;
  (void)delta;
  if (status == 0 && uvperf_reading_total(reading, 0, &count) == 0)
    printf("%llu page faults\n", (unsigned long long)count.value);
}

static void walk(uv_handle_t *handle, void *arg) {
  (void)arg;
  if (!uvperf_walk_close(handle) && !uv_is_closing(handle))
    uv_close(handle, NULL);
}

int main(void) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_target_t self = UVPERF_TARGET_INIT; /* this thread */
  struct perf_event_attr clock, faults;
  const struct perf_event_attr *attrs[] = {&faults};
  uv_loop_t *loop = uv_default_loop();
  unsigned long samples = 0;
  uvperf_stats_t stats;
  uvperf_error_t error;
  uvperf_event_t event;
  uvperf_set_t set;
  uv_timer_t timer;
  int ticks = 0;

  uvperf_attr_software(&clock, PERF_COUNT_SW_CPU_CLOCK);
  uvperf_attr_set_frequency(&clock, 999);
  clock.exclude_kernel = 1;
  uvperf_attr_software(&faults, PERF_COUNT_SW_PAGE_FAULTS);
  faults.exclude_kernel = 1;
  options.attrs = attrs;
  options.nr_attrs = 1;
  options.targets = &self;
  options.nr_targets = 1;
  options.flags = UVPERF_SET_ENABLED;
  event.handle.data = &samples;
  if (uvperf_event_init(loop, &event, &clock, NULL, &error) != 0 ||
      uvperf_start(&event.handle, NULL, on_record, &error) != 0 ||
      uvperf_set_init(loop, &set, &options, &error) != 0 ||
      uvperf_set_read_start(&set, 20, on_reading, &error) != 0) {
    fprintf(stderr, "%s\n", error.reason);
    return 1;
  }
  uvperf_unref(&event.handle);
  uvperf_unref(&set.handle);
  timer.data = &ticks;
  uv_timer_init(loop, &timer);
  uv_timer_start(&timer, on_tick, 0, 10);
  uv_run(loop, UV_RUN_DEFAULT);
  /* Records below the wakeup watermark are still in the ring. */
  uvperf_flush(&event.handle);
  uvperf_stats(&event.handle, &stats);
  printf("%lu samples, %llu lost\n", samples,
         (unsigned long long)stats.lost_records);
  uv_walk(loop, walk, NULL);
  uv_run(loop, UV_RUN_DEFAULT); /* `event` and `set` must stay until here */
  printf("closed\n");
  if (fflush(stdout) != 0 || ferror(stdout)) {
    fprintf(stderr, "stdout could not be written\n");
    return 1;
  }
  return uv_loop_close(loop) != 0;
}
