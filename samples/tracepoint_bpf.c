/* SPDX-License-Identifier: MIT */
/* Runs a BPF program at each hit of a tracepoint, until Ctrl-C, and prints the
 * ids of all programs that are attached there (bpftool prog show id ID). The
 * kernel needs milliseconds to open a tracepoint, so a thread of libuv's pool
 * opens it. The program must be pinned and of type BPF_PROG_TYPE_TRACEPOINT:
 *
 *   bpftool prog load hits.bpf.o /sys/fs/bpf/hits
 *   tracepoint_bpf sched:sched_switch /sys/fs/bpf/hits
 *
 * The BPF program should return 1. If it returns 0, no perf event of any
 * process sees the hit. Needs root, or CAP_BPF, CAP_PERFMON and a tracefs that
 * may be read. */
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <uvperf.h>

static int program;
static int status_of_all;

static int open_pinned(const char *path) {
  union bpf_attr attr;

  memset(&attr, 0, sizeof(attr));
  attr.pathname = (uintptr_t)path;
  return (int)syscall(SYS_bpf, BPF_OBJ_GET, &attr, sizeof(attr));
}

static void end(uvperf_event_t *event) {
  uv_signal_t *signal = event->handle.data;

  if (uvperf_is_closing(&event->handle))
    return;
  uvperf_close(&event->handle, NULL); /* detaches the program, too */
  uv_close((uv_handle_t *)signal, NULL);
}

static void on_open(uvperf_handle_t *handle, int status,
                    const uvperf_error_t *error) {
  uvperf_event_t *event = uvperf_handle_event(handle);
  uvperf_error_t attach;
  uint32_t ids[64]; /* the most that the kernel attaches */
  size_t nr = sizeof(ids) / sizeof(ids[0]);
  size_t i;

  if (status == UV_ECANCELED) /* Ctrl-C came before */
    return;
  if (status == 0) {
    error = &attach;
    status = uvperf_attach_bpf(handle, 0, program, 0, &attach);
  }
  if (status == 0)
    status = uvperf_query_bpf(handle, 0, ids, &nr, &attach);
  if (status != 0) {
    fprintf(stderr, "%s\n", error->reason);
    status_of_all = 1;
    end(event);
    return;
  }
  for (i = 0; i < nr; i++)
    printf("program %u\n", ids[i]);
  printf("attached; Ctrl-C detaches\n");
}

static void on_signal(uv_signal_t *signal, int number) {
  (void)number;
  end(signal->data);
}

int main(int argc, char **argv) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  uv_loop_t *loop = uv_default_loop();
  struct perf_event_attr attr;
  uvperf_error_t error;
  uvperf_event_t event;
  uv_signal_t signal;

  if (argc != 3) {
    fprintf(stderr, "usage: %s TRACEPOINT PROGRAM\n", argv[0]);
    return 2;
  }
  program = open_pinned(argv[2]);
  if (program < 0) {
    fprintf(stderr, "%s: %s\n", argv[2], strerror(errno));
    return 1;
  }
  setvbuf(stdout, NULL, _IOLBF, 0);
  options.flags = UVPERF_EVENT_NO_RING; /* nothing is written */
  options.open_cb = on_open;            /* opens on libuv's pool */
  if (uvperf_attr_parse(&attr, argv[1], &error) != 0 ||
      uvperf_event_init(loop, &event, &attr, &options, &error) != 0) {
    fprintf(stderr, "%s\n", error.reason);
    return 1;
  }
  event.handle.data = &signal;
  signal.data = &event;
  uv_signal_init(loop, &signal);
  uv_signal_start(&signal, on_signal, SIGINT);
  uv_run(loop, UV_RUN_DEFAULT);
  close(program);
  if (fflush(stdout) != 0 || ferror(stdout)) {
    fprintf(stderr, "stdout could not be written\n");
    return 1;
  }
  return uv_loop_close(loop) != 0 || status_of_all != 0;
}
