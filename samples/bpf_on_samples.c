/* SPDX-License-Identifier: MIT */
/* Runs a BPF program of your own at each sample on each CPU. The BPF program
 * counts the samples of each process in a map and returns 0, so that no record
 * is written. This program prints the map each second, until Ctrl-C. Needs
 * root, or CAP_BPF and CAP_PERFMON. Program and map are pinned:
 *
 *   clang -O2 -g -target bpf -c count.bpf.c    # Debian also needs
 *       -I/usr/include/$(uname -m)-linux-gnu
 *   bpftool prog load count.bpf.o /sys/fs/bpf/count pinmaps /sys/fs/bpf
 *   bpf_on_samples /sys/fs/bpf/count /sys/fs/bpf/counts
 *
 * count.bpf.c is
 *
 *   #include <linux/bpf.h>
 *   #include <bpf/bpf_helpers.h>
 *
 *   struct {
 *     __uint(type, BPF_MAP_TYPE_LRU_HASH);
 *     __uint(max_entries, 10240);
 *     __type(key, __u32);
 *     __type(value, __u64);
 *   } counts SEC(".maps");
 *
 *   SEC("perf_event") int count(void *context) {
 *     __u32 pid = bpf_get_current_pid_tgid() >> 32;
 *     __u64 *nr = bpf_map_lookup_elem(&counts, &pid);
 *     __u64 one = 1;
 *
 *     if (nr != NULL)
 *       __sync_fetch_and_add(nr, 1);
 *     else
 *       bpf_map_update_elem(&counts, &pid, &one, BPF_ANY);
 *     return 0;
 *   } */
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <uvperf.h>

static int map;

static int call_bpf(int command, union bpf_attr *attr) {
  return (int)syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static int open_pinned(const char *path) {
  union bpf_attr attr;
  int fd;

  memset(&attr, 0, sizeof(attr));
  attr.pathname = (uintptr_t)path;
  fd = call_bpf(BPF_OBJ_GET, &attr);
  if (fd < 0)
    fprintf(stderr, "%s: %s\n", path, strerror(errno));
  return fd;
}

static void on_timer(uv_timer_t *timer) {
  union bpf_attr next, lookup;
  uint64_t count;
  uint32_t pid;

  (void)timer;
  memset(&next, 0, sizeof(next));
  memset(&lookup, 0, sizeof(lookup));
  next.map_fd = lookup.map_fd = (uint32_t)map;
  next.next_key = lookup.key = (uintptr_t)&pid;
  lookup.value = (uintptr_t)&count;
  /* The first call, without a key, finds the first key. Later calls find the
   * key after `pid`. */
  for (; call_bpf(BPF_MAP_GET_NEXT_KEY, &next) == 0; next.key = next.next_key)
    if (call_bpf(BPF_MAP_LOOKUP_ELEM, &lookup) == 0)
      printf("%llu samples of %u\n", (unsigned long long)count, pid);
  printf("\n");
}

static void on_signal(uv_signal_t *signal, int number) {
  (void)number;
  uv_stop(signal->loop);
}

static void close_handle(uv_handle_t *handle, void *arg) {
  (void)arg;
  if (!uvperf_walk_close(handle) && !uv_is_closing(handle))
    uv_close(handle, NULL);
}

int main(int argc, char **argv) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_target_t cpus = UVPERF_TARGET_INIT;
  uv_loop_t *loop = uv_default_loop();
  struct perf_event_attr attr;
  const struct perf_event_attr *attrs[] = {&attr};
  uvperf_error_t error;
  uv_signal_t signal;
  uv_timer_t timer;
  uvperf_set_t set;
  int program;

  if (argc != 3) {
    fprintf(stderr, "usage: %s PROGRAM MAP\n", argv[0]);
    return 2;
  }
  program = open_pinned(argv[1]);
  map = open_pinned(argv[2]);
  if (program < 0 || map < 0)
    return 1;
  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  uvperf_attr_set_frequency(&attr, 999);
  cpus.type = UVPERF_TARGET_CPUS;
  options.attrs = attrs;
  options.nr_attrs = 1;
  options.targets = &cpus;
  options.nr_targets = 1; /* without UVPERF_SET_RECORDS there are no rings */
  if (uvperf_set_init(loop, &set, &options, &error) != 0 ||
      uvperf_attach_bpf(&set.handle, 0, program, 0, &error) != 0 ||
      uvperf_enable(&set.handle, UVPERF_ALL, &error) != 0) {
    fprintf(stderr, "%s\n", error.reason);
    return 1;
  }
  close(program); /* the set has its own */
  setvbuf(stdout, NULL, _IOLBF, 0);
  uv_timer_init(loop, &timer);
  uv_timer_start(&timer, on_timer, 1000, 1000);
  uv_signal_init(loop, &signal);
  uv_signal_start(&signal, on_signal, SIGINT);
  uv_run(loop, UV_RUN_DEFAULT);
  uv_walk(loop, close_handle, NULL);
  uv_run(loop, UV_RUN_DEFAULT);
  close(map);
  if (fflush(stdout) != 0 || ferror(stdout)) {
    fprintf(stderr, "stdout could not be written\n");
    return 1;
  }
  return uv_loop_close(loop) != 0;
}
