/* SPDX-License-Identifier: MIT */
/* Lets a BPF program read the count of an event on the CPU on which the program
 * runs. The events of all CPUs are in a pinned map of
 * BPF_MAP_TYPE_PERF_EVENT_ARRAY until Ctrl-C. A program reads the count with
 *
 *   struct bpf_perf_event_value value;
 *   bpf_perf_event_read_value(&map, BPF_F_CURRENT_CPU, &value, sizeof(value));
 *
 * Prints the counts at the end. Needs root, or CAP_BPF and CAP_PERFMON. */
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <uvperf.h>

static int open_pinned(const char *path) {
  union bpf_attr attr;

  memset(&attr, 0, sizeof(attr));
  attr.pathname = (uintptr_t)path;
  return (int)syscall(SYS_bpf, BPF_OBJ_GET, &attr, sizeof(attr));
}

static void on_signal(uv_signal_t *signal, int number) {
  uvperf_reading_t *reading = NULL;
  uvperf_set_t *set = signal->data;
  uvperf_count_t count;
  char line[128];

  (void)number;
  if (uvperf_reading_new(&reading) == 0 &&
      uvperf_set_read(set, reading, NULL) == 0 &&
      uvperf_reading_total(reading, 0, &count) == 0) {
    uvperf_count_format(&count, uvperf_set_item(set, 0), line, sizeof(line));
    printf("%s\n", line);
  }
  uvperf_reading_free(reading);
  uvperf_close(&set->handle, NULL); /* takes the events out of the map */
  uv_close((uv_handle_t *)signal, NULL);
}

int main(int argc, char **argv) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_target_t cpus = UVPERF_TARGET_INIT;
  uv_loop_t *loop = uv_default_loop();
  struct perf_event_attr attr;
  const struct perf_event_attr *attrs[] = {&attr};
  uvperf_error_t error;
  uv_signal_t signal;
  uvperf_set_t set;
  int map;

  if (argc != 3) {
    fprintf(stderr, "usage: %s MAP EVENT\n", argv[0]);
    return 2;
  }
  map = open_pinned(argv[1]);
  if (map < 0) {
    fprintf(stderr, "%s: %s\n", argv[1], strerror(errno));
    return 1;
  }
  cpus.type = UVPERF_TARGET_CPUS;
  options.attrs = attrs;
  options.nr_attrs = 1;
  options.targets = &cpus;
  options.nr_targets = 1;
  options.flags = UVPERF_SET_STRICT; /* all CPUs or none */
  if (uvperf_attr_parse(&attr, argv[2], &error) != 0 ||
      uvperf_set_init(loop, &set, &options, &error) != 0 ||
      uvperf_set_fill_map(&set, 0, map, &error) != 0 ||
      uvperf_enable(&set.handle, UVPERF_ALL, &error) != 0) {
    fprintf(stderr, "%s\n", error.reason);
    return 1;
  }
  close(map); /* the set has its own fd */
  signal.data = &set;
  uv_signal_init(loop, &signal);
  uv_signal_start(&signal, on_signal, SIGINT);
  fprintf(stderr, "the map is filled; Ctrl-C empties it\n");
  uv_run(loop, UV_RUN_DEFAULT);
  if (fflush(stdout) != 0 || ferror(stdout)) {
    fprintf(stderr, "stdout could not be written\n");
    return 1;
  }
  return uv_loop_close(loop) != 0;
}
