/* SPDX-License-Identifier: MIT */
/* Keeps the newest records of this thread in a ring that overwrites itself. If
 * a piece of work is too slow, the program takes the records out of the ring,
 * newest first, to see what happened last. As long as no work is slow, there is
 * no callback and no system call: the only cost is that the kernel writes the
 * records. Needs no privileges. */
#include <stdio.h>
#include <sys/mman.h>
#include <uvperf.h>

#define SLOW_NS 5000000

static int fail(const char *reason) {
  fprintf(stderr, "%s\n", reason);
  return 1;
}

/* Touches new memory: each page is a page fault. The memory is too small for
 * huge pages. */
static int touch(void) {
  const size_t size = 1 << 20;
  void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  size_t i;

  for (i = 0; memory != MAP_FAILED && i < size; i += 4096)
    ((volatile char *)memory)[i] = 1;
  return memory != MAP_FAILED && munmap(memory, size) == 0;
}

/* It must take all records. Otherwise the next call begins with the rest. */
static int print_newest(uvperf_event_t *event, uvperf_error_t *error) {
  const uvperf_record_t *record;
  unsigned long nr = 0;
  int rc = uvperf_event_pause(event, 1, error); /* no record is written now */

  if (rc != 0)
    return rc;
  while (uvperf_next(&event->handle, &record) == 0)
    if (record->type == PERF_RECORD_SAMPLE && ++nr <= 3)
      printf("  %.6f %#llx touched %#llx\n", (double)record->time / 1e9,
             (unsigned long long)record->ip, (unsigned long long)record->addr);
  printf("  and %lu before\n", nr > 3 ? nr - 3 : 0);
  return uvperf_event_pause(event, 0, error);
}

int main(void) {
  const int works[] = {1, 1, 100, 1}; /* megabytes */
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  uv_loop_t *loop = uv_default_loop();
  struct perf_event_attr attr;
  uvperf_error_t error;
  uvperf_event_t event;
  uint64_t begin, ns;
  size_t i;
  int j;

  uvperf_attr_software(&attr, PERF_COUNT_SW_PAGE_FAULTS);
  uvperf_attr_set_period(&attr, 1);
  attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR;
  attr.exclude_kernel = 1;
  attr.write_backward = 1; /* new records overwrite old ones */
  options.ring_bytes = 65536;
  if (uvperf_event_init(loop, &event, &attr, &options, &error) != 0 ||
      uvperf_enable(&event.handle, 0, &error) != 0)
    return fail(error.reason);
  for (i = 0; i < sizeof(works) / sizeof(works[0]); i++) {
    begin = uv_hrtime();
    for (j = 0; j < works[i]; j++)
      if (!touch())
        return fail("out of memory");
    ns = uv_hrtime() - begin;
    printf("work %d took %.3f ms\n", works[i], (double)ns / 1e6);
    if (ns > SLOW_NS && uvperf_has_record(&event.handle) &&
        print_newest(&event, &error) != 0)
      return fail(error.reason);
  }
  uvperf_close(&event.handle, NULL);
  uv_run(loop, UV_RUN_DEFAULT);
  if (fflush(stdout) != 0 || ferror(stdout))
    return fail("stdout could not be written");
  return uv_loop_close(loop) != 0;
}
