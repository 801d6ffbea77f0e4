/* SPDX-License-Identifier: MIT */
/* Takes the output of a BPF program from a pinned perf event array, sample by
 * sample, in a poll(2) loop of its own, until Ctrl-C. Nothing is lost at the
 * end: the map is emptied first, then the rings. Needs root, or CAP_BPF and
 * CAP_PERFMON. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <uvperf.h>

#define MOST_CPUS 1024

static volatile sig_atomic_t is_over;

static void on_signal(int number) {
  (void)number;
  is_over = 1;
}

static int fail(const char *reason) {
  fprintf(stderr, "%s\n", reason);
  return 1;
}

/* Takes at most 1000 records. Returns 0, or UV_EAGAIN if there are no more. */
static int take(uvperf_bpf_reader_t *reader) {
  const uvperf_record_t *record;
  unsigned int pid;
  int rc = 0;
  int i;

  for (i = 0; i < 1000 && rc == 0; i++) {
    rc = uvperf_next(&reader->handle, &record);
    if (rc == UV_EPROTO) {
      if (record->type == UVPERF_RECORD_NONE)
        fprintf(stderr, "CPU %u: the ring is damaged\n", record->cpu);
      rc = 0;
    } else if (rc == 0 && record->type == PERF_RECORD_SAMPLE &&
               record->sample.raw.size >= sizeof(pid)) {
      /* as the program wrote it */
      memcpy(&pid, record->sample.raw.data, sizeof(pid));
      printf("CPU %u: %u\n", record->cpu, pid);
    }
  }
  return rc;
}

int main(int argc, char **argv) {
  uvperf_bpf_reader_options_t options = UVPERF_BPF_READER_OPTIONS_INIT;
  static struct pollfd fds[MOST_CPUS];
  static int cpus[MOST_CPUS];
  struct sigaction action = {.sa_handler = on_signal};
  size_t nr_cpus = MOST_CPUS;
  uvperf_bpf_reader_t reader;
  uvperf_ring_info_t ring;
  uvperf_stats_t stats;
  uvperf_error_t error;
  nfds_t nr = 0;
  size_t i;
  int rc;

  options.path = argc > 1 ? argv[1] : "/sys/fs/bpf/events";
  options.wakeup_events = 1;
  if (uvperf_bpf_reader_init(uv_default_loop(), &reader, -1, &options,
                             &error) != 0)
    return fail(error.reason);
  rc = uvperf_cpus(UVPERF_CPUS_POSSIBLE, cpus, &nr_cpus);
  for (i = 0; rc == 0 && i < nr_cpus; i++)
    if (uvperf_bpf_reader_cpu_status(&reader, cpus[i]) == UV_E2BIG)
      fprintf(stderr, "CPU %d is not heard: max_entries of the map\n", cpus[i]);
  while (nr < MOST_CPUS && uvperf_ring(&reader.handle, nr, &ring) == 0)
    fds[nr++] = (struct pollfd){ring.fd, POLLIN, 0};
  sigaction(SIGINT, &action, NULL);
  setvbuf(stdout, NULL, _IOLBF, 0);
  /* From here on programs find an event in the map. */
  if (uvperf_bpf_reader_publish(&reader, &error) != 0)
    return fail(error.reason);
  for (rc = 0; !is_over && (rc == 0 || rc == UV_EAGAIN); rc = take(&reader))
    poll(fds, nr, uvperf_has_record(&reader.handle) ? 0 : 100);
  /* From here on programs get -ENOENT, so they know that no one reads. */
  if (uvperf_bpf_reader_unpublish(&reader, &error) != 0)
    return fail(error.reason);
  while ((rc = take(&reader)) == 0)
    continue;
  if (rc != UV_EAGAIN)
    fprintf(stderr, "%s\n", uv_strerror(rc));
  uvperf_stats(&reader.handle, &stats);
  printf("%llu records, %llu lost\n", (unsigned long long)stats.records,
         (unsigned long long)stats.lost_records);
  uvperf_close(&reader.handle, NULL);
  uv_run(uv_default_loop(), UV_RUN_DEFAULT);
  if (fflush(stdout) != 0 || ferror(stdout))
    return fail("stdout could not be written");
  return rc != UV_EAGAIN || uv_loop_close(uv_default_loop()) != 0;
}
