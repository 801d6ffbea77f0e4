/* SPDX-License-Identifier: MIT */
/* Takes at most five records a second of an event that comes much more often,
 * for three seconds. The kernel disables the event when its limit is used up. A
 * timer adds the used part to the limit again. The event is a page fault of
 * this thread. Needs no privileges up to perf_event_paranoid 2. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <uvperf.h>

#define LIMIT      5
#define WORK_BYTES (1 << 20)

static uvperf_event_t event;
static uint32_t used;

static void fail(const char *reason) {
  fprintf(stderr, "%s\n", reason);
  exit(1);
}

static void on_record(uvperf_handle_t *base, int status,
                      const uvperf_record_t *record) {
  (void)base;
  if (status != 0)
    fail(uv_err_name(status));
  if (record->type != PERF_RECORD_SAMPLE)
    return;
  used++;
  printf("fault at %#llx, by %#llx\n", (unsigned long long)record->addr,
         (unsigned long long)record->ip);
}

static void on_second(uv_timer_t *timer) {
  uvperf_error_t error;

  /* The unused part of the limit stays, so this makes the limit LIMIT again. */
  if (used != 0 && uvperf_event_refresh(&event, used, &error) != 0)
    fail(error.reason);
  used = 0;
  (void)timer;
}

/* The program's work: each page of new memory is a page fault. */
static void on_work(uv_timer_t *timer) {
  volatile char *memory = mmap(NULL, WORK_BYTES, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  (void)timer;
  for (size_t i = 0; memory != MAP_FAILED && i < WORK_BYTES; i += 1024)
    memory[i] = 1;
  if (memory != MAP_FAILED)
    munmap((void *)memory, WORK_BYTES);
}

static void on_end(uv_timer_t *timer) {
  uv_stop(timer->loop);
}

int main(void) {
  uvperf_stream_options_t options = UVPERF_STREAM_OPTIONS_INIT;
  uv_loop_t *loop = uv_default_loop();
  uv_timer_t second, work, end;
  struct perf_event_attr attr;
  uvperf_error_t error;

  uvperf_attr_software(&attr, PERF_COUNT_SW_PAGE_FAULTS);
  uvperf_attr_set_period(&attr, 1); /* a record of each */
  uvperf_attr_set_wakeup_events(&attr, 1);
  attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR;
  attr.exclude_kernel = 1;                /* works without privileges */
  options.flags = UVPERF_START_NO_ENABLE; /* refresh enables */
  if (uvperf_event_init(loop, &event, &attr, NULL, &error) != 0 ||
      uvperf_start(&event.handle, &options, on_record, &error) != 0 ||
      uvperf_event_refresh(&event, LIMIT, &error) != 0)
    fail(error.reason);
  uv_timer_init(loop, &second);
  uv_timer_start(&second, on_second, 1000, 1000);
  uv_timer_init(loop, &work);
  uv_timer_start(&work, on_work, 0, 10);
  uv_timer_init(loop, &end);
  uv_timer_start(&end, on_end, 2900, 0);
  uv_run(loop, UV_RUN_DEFAULT);
  uvperf_close(&event.handle, NULL);
  uv_close((uv_handle_t *)&second, NULL);
  uv_close((uv_handle_t *)&work, NULL);
  uv_close((uv_handle_t *)&end, NULL);
  uv_run(loop, UV_RUN_DEFAULT);
  if (fflush(stdout) != 0 || ferror(stdout))
    fail("stdout could not be written");
  return uv_loop_close(loop) != 0;
}
