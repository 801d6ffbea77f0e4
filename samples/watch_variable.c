/* SPDX-License-Identifier: MIT */
/* Watches variables of the program itself with the CPU's breakpoints. Prints
 * how often each variable is written, and where. `addr2line -f -e FILE OFFSET`
 * names a place. Needs no privileges up to perf_event_paranoid 2. */
#define _GNU_SOURCE 1 /* dladdr; with glibc before 2.34 link with -ldl */
#include <dlfcn.h>
#include <stdio.h>
#include <linux/hw_breakpoint.h>
#include <uvperf.h>

static volatile uint32_t total, calls;

static void on_record(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record) {
  Dl_info file;

  (void)handle;
  if (status != 0 || record->type != PERF_RECORD_SAMPLE)
    fprintf(stderr, "records are damaged or lost\n");
  else if (dladdr((void *)(uintptr_t)record->ip, &file) != 0)
    /* `ip` is the address after the instruction that wrote. */
    printf("  %s %#llx\n", file.dli_fname,
           (unsigned long long)(record->ip - (uintptr_t)file.dli_fbase));
}

__attribute__((noinline)) static void add(uint32_t number) {
  total += number;
  calls++;
}

__attribute__((noinline)) static void clear(void) {
  total = 0;
}

int main(void) {
  uvperf_stream_options_t options = UVPERF_STREAM_OPTIONS_INIT;
  volatile uint32_t *const variables[] = {&total, &calls};
  const char *const names[] = {"total", "calls"};
  uv_loop_t *loop = uv_default_loop();
  struct perf_event_attr attr;
  uvperf_error_t error;
  uvperf_event_t event;
  uvperf_count_t count;
  uint32_t number;
  size_t i;

  uvperf_attr_breakpoint(&attr, HW_BREAKPOINT_W, (uintptr_t)variables[0],
                         sizeof(*variables[0]));
  uvperf_attr_set_period(&attr, 1); /* a record of each write */
  attr.sample_type = PERF_SAMPLE_IP;
  attr.exclude_kernel = 1;                /* works without privileges */
  options.flags = UVPERF_START_NO_ENABLE; /* not yet */
  if (uvperf_event_init(loop, &event, &attr, NULL, &error) != 0 ||
      uvperf_start(&event.handle, &options, on_record, &error) != 0)
    goto failed;
  for (i = 0; i < 2; i++) {
    attr.bp_addr = (uintptr_t)variables[i];
    if (uvperf_event_modify(&event, &attr, &error) != 0 ||
        uvperf_reset(&event.handle, 0, &error) != 0 ||
        uvperf_enable(&event.handle, 0, &error) != 0)
      goto failed;
    for (number = 1; number <= 3; number++)
      add(number);
    clear();
    uvperf_disable(&event.handle, 0, NULL);
    if (uvperf_event_read(&event, &count, &error) != 0)
      goto failed;
    printf("%s was written %llu times\n", names[i],
           (unsigned long long)count.value);
    uvperf_flush(&event.handle); /* a running loop would call back by itself */
  }
  uvperf_close(&event.handle, NULL);
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
