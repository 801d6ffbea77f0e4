/* SPDX-License-Identifier: MIT */
/* Two events write into one ring, with one callback. Shows where this thread
 * computes and which pages it touches, in time order. Needs no privileges. For
 * many events, or several CPUs, use a set instead. */
#include <stdio.h>
#include <stdlib.h>
#include <uvperf.h>

#define PAGES 20

/* The callback of the ring's owner: `event` is always the owner. The record's
 * source says which event wrote the record. */
static void on_record(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record) {
  uvperf_event_t *event = uvperf_handle_event(handle);
  const uvperf_event_t *writer;

  if (status != 0) {
    fprintf(stderr, "status %d\n", status);
  } else if (record->type == PERF_RECORD_SAMPLE && record->source != NULL) {
    writer = record->source->data; /* NULL if it is closed */
    if (writer == event)
      printf("computes at %#llx\n", (unsigned long long)record->ip);
    else
      printf("touches %#llx\n", (unsigned long long)record->addr);
  }
}

static int work(void) {
  volatile char *memory = malloc(PAGES * 65536); /* at least PAGES pages */
  volatile unsigned long i;
  size_t page;

  for (page = 0; memory != NULL && page < PAGES; page++) {
    memory[page * 65536] = 1;
    for (i = 0; i < 3000000; i++)
      continue;
  }
  free((void *)(uintptr_t)memory);
  return memory != NULL;
}

int main(void) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  uv_loop_t *loop = uv_default_loop();
  struct perf_event_attr attr;
  uvperf_event_t clock, faults;
  uvperf_error_t error;

  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  uvperf_attr_set_period(&attr, 1000000);     /* ns */
  uvperf_attr_set_wakeup_bytes(&attr, 16384); /* of any event */
  attr.sample_type = PERF_SAMPLE_IP;
  attr.exclude_kernel = 1;
  options.flags = UVPERF_EVENT_IDENTIFY; /* each record says who wrote it */
  if (uvperf_event_init(loop, &clock, &attr, &options, &error) != 0)
    goto failed;
  uvperf_attr_software(&attr, PERF_COUNT_SW_PAGE_FAULTS);
  uvperf_attr_set_period(&attr, 1);
  attr.sample_type = PERF_SAMPLE_ADDR;
  attr.exclude_kernel = 1;
  options.flags = UVPERF_EVENT_IDENTIFY | UVPERF_EVENT_NO_RING;
  if (uvperf_event_init(loop, &faults, &attr, &options, &error) != 0 ||
      uvperf_event_set_output(&faults, &clock, &error) != 0 ||
      uvperf_start(&clock.handle, NULL, on_record, &error) != 0 ||
      uvperf_start(&faults.handle, NULL, NULL, &error) != 0)
    goto failed;
  if (!work())
    return 1;
  uvperf_disable(&clock.handle, 0, NULL);
  uvperf_disable(&faults.handle, 0, NULL);
  uvperf_flush(&clock.handle); /* delivers the rest of the ring */
  uvperf_close(&clock.handle, NULL);
  uvperf_close(&faults.handle, NULL);
  uv_run(loop, UV_RUN_DEFAULT);
  if (fflush(stdout) != 0 || ferror(stdout)) {
    fprintf(stderr, "stdout could not be written\n");
    return 1;
  }
  return uv_loop_close(loop) != 0;
failed:
  fprintf(stderr, "%s\n", error.reason);
  return 1;
}
