/* SPDX-License-Identifier: MIT */
/* Keeps the newest output of a BPF program in a pinned perf event array, and
 * prints it when SIGUSR1 comes. Ctrl-C ends the program. Samples never wake it.
 * Needs root, or CAP_BPF and CAP_PERFMON. */
#include <stdio.h>
#include <string.h>
#include <uvperf.h>

static uv_signal_t usr1, interrupt;
static int status_of_all;

static void on_record(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record) {
  unsigned int pid;

  (void)handle;
  if (status != 0) {
    fprintf(stderr, "status %d\n", status);
  } else if (record->type == PERF_RECORD_SAMPLE &&
             record->sample.raw.size >= sizeof(pid)) {
    /* as the program wrote it */
    memcpy(&pid, record->sample.raw.data, sizeof(pid));
    printf("CPU %u: %u\n", record->cpu, pid);
  }
}

static void end(uvperf_bpf_reader_t *reader) {
  uvperf_close(&reader->handle, NULL);
  uv_close((uv_handle_t *)&usr1, NULL);
  uv_close((uv_handle_t *)&interrupt, NULL);
}

/* The events of all CPUs were opened by a thread of libuv's pool. */
static void on_open(uvperf_handle_t *base, int status,
                    const uvperf_error_t *error) {
  uvperf_bpf_reader_t *reader = uvperf_handle_bpf_reader(base);
  uvperf_error_t start;

  if (status == UV_ECANCELED) /* Ctrl-C came before */
    return;
  if (status == 0) {
    status = uvperf_start(base, NULL, on_record, &start);
    error = &start;
  }
  if (status != 0) {
    fprintf(stderr, "%s\n", error->reason);
    status_of_all = 1;
    end(reader);
    return;
  }
  fprintf(stderr, "ready\n");
}

static void on_usr1(uv_signal_t *signal, int number) {
  uvperf_error_t error;

  (void)number;
  if (uvperf_snapshot(signal->data, UVPERF_SNAPSHOT_OLDEST_FIRST, NULL,
                      &error) != 0)
    fprintf(stderr, "%s\n", error.reason);
  fprintf(stderr, "end of the snapshot\n");
}

static void on_interrupt(uv_signal_t *signal, int number) {
  (void)number;
  end(signal->data);
}

int main(int argc, char **argv) {
  uvperf_bpf_reader_options_t options = UVPERF_BPF_READER_OPTIONS_INIT;
  uv_loop_t *loop = uv_default_loop();
  uvperf_bpf_reader_t reader;
  uvperf_error_t error;

  options.path = argc > 1 ? argv[1] : "/sys/fs/bpf/events";
  options.flags = UVPERF_BPF_READER_OVERWRITE;
  options.ring_bytes = 65536; /* for each CPU */
  options.open_cb = on_open;  /* opens on libuv's pool */
  if (uvperf_bpf_reader_init(loop, &reader, -1, &options, &error) != 0) {
    fprintf(stderr, "%s\n", error.reason);
    return 1;
  }
  setvbuf(stdout, NULL, _IOLBF, 0);
  usr1.data = interrupt.data = &reader;
  uv_signal_init(loop, &usr1);
  uv_signal_start(&usr1, on_usr1, SIGUSR1);
  uv_signal_init(loop, &interrupt);
  uv_signal_start(&interrupt, on_interrupt, SIGINT);
  uv_run(loop, UV_RUN_DEFAULT); /* the signals keep it alive */
  if (fflush(stdout) != 0 || ferror(stdout)) {
    fprintf(stderr, "stdout could not be written\n");
    return 1;
  }
  return uv_loop_close(loop) != 0 || status_of_all != 0;
}
