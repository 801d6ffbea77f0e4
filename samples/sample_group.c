/* SPDX-License-Identifier: MIT */
/* Samples an event. With each sample the kernel also reads the other events of
 * the group. Shows where this thread is in each millisecond of CPU time, and
 * how many page faults it had since the previous sample. Needs no
 * privileges. */
#include <stdio.h>
#include <sys/mman.h>
#include <uvperf.h>

typedef struct program_s {
  uint64_t faults_id;
  uint64_t last;
} program_t;

static void on_record(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record) {
  program_t *program = handle->data;
  uvperf_count_t count;

  if (status != 0) {
    fprintf(stderr, "status %d\n", status);
  } else if (record->type == PERF_RECORD_SAMPLE &&
             uvperf_values_find(&record->sample.read, program->faults_id,
                                &count) == 0) {
    printf("%#llx: %llu page faults\n", (unsigned long long)record->ip,
           (unsigned long long)(count.value - program->last));
    program->last = count.value;
  }
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

static void compute(void) {
  volatile unsigned long i;

  for (i = 0; i < 1000000; i++)
    continue;
}

int main(void) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  uv_loop_t *loop = uv_default_loop();
  struct perf_event_attr attr;
  uvperf_event_t clock, faults;
  program_t program = {0, 0};
  uvperf_error_t error;
  int i;

  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  uvperf_attr_set_period(&attr, 1000000); /* ns */
  uvperf_attr_set_wakeup_events(&attr, 50);
  attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_READ;
  attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID; /* all members */
  attr.exclude_kernel = 1;
  if (uvperf_event_init(loop, &clock, &attr, NULL, &error) != 0)
    goto failed;
  uvperf_attr_software(&attr, PERF_COUNT_SW_PAGE_FAULTS);
  attr.exclude_kernel = 1;
  options.leader = &clock; /* starting the leader starts both */
  clock.handle.data = &program;
  if (uvperf_event_init(loop, &faults, &attr, &options, &error) != 0 ||
      uvperf_event_id(&faults, &program.faults_id) != 0 ||
      uvperf_start(&clock.handle, NULL, on_record, &error) != 0)
    goto failed;
  for (i = 0; i < 50; i++) {
    compute();
    if (i % 5 == 0 && !touch())
      return 1;
  }
  uvperf_disable(&clock.handle, UVPERF_ALL, NULL);
  uvperf_flush(&clock.handle);
  uvperf_close(&faults.handle, NULL);
  uvperf_close(&clock.handle, NULL);
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
