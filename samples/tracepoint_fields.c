/* SPDX-License-Identifier: MIT */
/* Prints the failed system calls of a thread until the thread ends. Uses a
 * tracepoint, its fields by name, and a filter that the kernel applies. Needs
 * the library uvperf_tracepoint and a tracefs that may be read (by default only
 * root may). For your own threads, no other privileges are needed up to
 * perf_event_paranoid 2.
 *
 *   cc tracepoint_fields.c $(pkg-config --cflags --libs uvperf_tracepoint)
 *   ./tracepoint_fields TID */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <uvperf.h>
#include <uvperf/tracepoint.h>

static const uvperf_field_t *id, *ret;
static uvperf_clock_pair_t clocks;

static void print_date(uint64_t ns) {
  uint64_t realtime = uvperf_clock_realtime(&clocks, ns);
  time_t seconds = (time_t)(realtime / 1000000000);
  char text[32];

  strftime(text, sizeof(text), "%FT%T", gmtime(&seconds));
  printf("%s.%06uZ ", text, (unsigned int)(realtime % 1000000000 / 1000));
}

static void on_record(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record) {
  uint64_t number, result;

  if (status == UV_EOF) /* the thread has ended */
    uvperf_close(handle, NULL);
  else if (status != 0)
    fprintf(stderr, "%s\n", uv_err_name(status));
  else if (record->type == PERF_RECORD_LOST)
    fprintf(stderr, "%llu are lost\n", (unsigned long long)record->lost.lost);
  if (status != 0 || record->type != PERF_RECORD_SAMPLE ||
      uvperf_field_value(id, record->sample.raw.data, record->sample.raw.size,
                         &number) != 0 ||
      uvperf_field_value(ret, record->sample.raw.data, record->sample.raw.size,
                         &result) != 0)
    return;
  print_date(record->time);
  printf("system call %lld: %s\n", (long long)number,
         strerror(-(int)(int64_t)result));
}

int main(int argc, char **argv) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  uv_loop_t *loop = uv_default_loop();
  uvperf_tracepoint_t *tracepoint = NULL;
  struct perf_event_attr attr;
  uvperf_error_t error;
  uvperf_event_t event;

  options.pid = argc == 2 ? atoi(argv[1]) : 0;
  if (options.pid <= 0) {
    fprintf(stderr, "usage: %s TID\n", argv[0]);
    return 2;
  }
  setvbuf(stdout, NULL, _IOLBF, 0); /* at once, into a pipe too */
  if (uvperf_tracepoint_new(&tracepoint, "raw_syscalls:sys_exit", &error) != 0)
    goto failed;
  id = uvperf_tracepoint_find(tracepoint, "id");
  ret = uvperf_tracepoint_find(tracepoint, "ret");
  if (id == NULL || ret == NULL) {
    fprintf(stderr, "this kernel has other fields\n");
    uvperf_tracepoint_free(tracepoint);
    return 1;
  }
  uvperf_attr_tracepoint(&attr, uvperf_tracepoint_info(tracepoint)->id);
  uvperf_attr_set_period(&attr, 1); /* a record of each */
  attr.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_RAW;
  /* Results from -4095 on are errors. Smaller results can be addresses, for
   * example mmap's. */
  if (uvperf_event_init(loop, &event, &attr, &options, &error) != 0 ||
      uvperf_apply_filter(&event.handle, 0, "ret < 0 && ret > -4096", &error) !=
          0 ||
      uvperf_start(&event.handle, NULL, on_record, &error) != 0)
    goto failed;
  uvperf_clock_pair(&clocks); /* again each hour, say, as clocks are adjusted */
  fprintf(stderr, "watching %d\n", options.pid);
  uv_run(loop, UV_RUN_DEFAULT);
  uvperf_tracepoint_free(tracepoint);
  if (fflush(stdout) != 0 || ferror(stdout)) {
    fprintf(stderr, "stdout could not be written\n");
    return 1;
  }
  return uv_loop_close(loop) != 0;
failed:
  fprintf(stderr, "%s\n", error.reason);
  uvperf_tracepoint_free(tracepoint);
  return 1;
}
