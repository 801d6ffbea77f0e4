/* SPDX-License-Identifier: MIT */
/* Reads what a BPF program hands out through a pinned perf event array. */
#include <stdio.h>
#include <string.h>
#include <uvperf.h>

static void on_sample(uvperf_bpf_reader_t *reader, int status,
                      const uvperf_bpf_sample_t *sample) {
  unsigned int pid;

  (void)reader;
  if (status != 0 || sample == NULL) {
    fprintf(stderr, "status %d\n", status);
  } else if (sample->lost > 0) {
    printf("CPU %d: %llu lost\n", sample->cpu,
           (unsigned long long)sample->lost);
  } else if (sample->size >= sizeof(pid)) {
    memcpy(&pid, sample->data, sizeof(pid)); /* as the program wrote it */
    printf("CPU %d: %u\n", sample->cpu, pid);
  }
}

int main(int argc, char **argv) {
  uvperf_bpf_reader_options_t options = UVPERF_BPF_READER_OPTIONS_INIT;
  uvperf_bpf_reader_t reader;
  uvperf_error_t error;

  options.path = argc > 1 ? argv[1] : "/sys/fs/bpf/events";
  options.wakeup_events = 1; /* each sample at once, not within 100 ms */
  if (uvperf_bpf_reader_init(uv_default_loop(), &reader, -1, &options,
                             &error) != 0 ||
      uvperf_bpf_reader_start(&reader, NULL, on_sample, &error) != 0) {
    fprintf(stderr, "%s\n", error.reason);
    return 1;
  }
  return uv_run(uv_default_loop(), UV_RUN_DEFAULT);
}
