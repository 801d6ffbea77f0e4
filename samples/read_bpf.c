/* SPDX-License-Identifier: MIT */
/* Reads the output of a BPF program from a pinned map, until Ctrl-C: from a
 * perf event array or a ring buffer, whichever it is. Needs root, or CAP_BPF
 * and CAP_PERFMON. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <uvperf.h>

static void on_record(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record) {
  unsigned int pid;

  (void)handle;
  if (status != 0) {
    fprintf(stderr, "CPU %d: %s\n", (int)record->cpu, uv_strerror(status));
  } else if (uvperf_record_lost(record) > 0) {
    printf("CPU %u: %" PRIu64 " lost\n", record->cpu,
           uvperf_record_lost(record));
  } else if (record->type == PERF_RECORD_SAMPLE &&
             record->sample.raw.size >= sizeof(pid)) {
    memcpy(&pid, record->sample.raw.data, sizeof(pid)); /* as it was sent */
    if (record->cpu == UINT32_MAX) /* of a ring buffer, which has no CPUs */
      printf("%u\n", pid);
    else
      printf("CPU %u: %u\n", record->cpu, pid);
  }
}

static void on_signal(uv_signal_t *signal, int number) {
  uvperf_stats_t stats;

  (void)number;
  uvperf_stats(signal->data, &stats); /* also of what no record reports yet */
  printf("%" PRIu64 " records, %" PRIu64 " lost\n", stats.records,
         stats.lost_records);
  uvperf_close(signal->data, NULL);
  uv_close((uv_handle_t *)signal, NULL);
}

int main(int argc, char **argv) {
  uvperf_bpf_reader_options_t options = UVPERF_BPF_READER_OPTIONS_INIT;
  uv_loop_t *loop = uv_default_loop();
  uvperf_bpf_reader_t reader;
  uvperf_error_t error;
  uv_signal_t signal;

  options.path = argc > 1 ? argv[1] : "/sys/fs/bpf/events";
  options.wakeup_events = 1; /* each sample at once, not within 100 ms */
  if (uvperf_bpf_reader_init(loop, &reader, -1, &options, &error) != 0 ||
      uvperf_start(&reader.handle, NULL, on_record, &error) != 0) {
    fprintf(stderr, "%s\n", error.reason);
    return 1;
  }
  setvbuf(stdout, NULL, _IOLBF, 0);
  signal.data = &reader.handle;
  uv_signal_init(loop, &signal);
  uv_signal_start(&signal, on_signal, SIGINT);
  uv_run(loop, UV_RUN_DEFAULT);
  if (fflush(stdout) != 0 || ferror(stdout)) {
    fprintf(stderr, "stdout could not be written\n");
    return 1;
  }
  return uv_loop_close(loop) != 0;
}
