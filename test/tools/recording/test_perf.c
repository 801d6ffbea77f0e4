/* SPDX-License-Identifier: MIT */
/* The library reads a file as perf(1) does: as many records of each type, and
 * the same samples in the same order. */
#include <inttypes.h>
#include <unistd.h>

#include "perf_dump.h"
#include "record_run.h"
#include "recording_read.h"

#define BUSY "sh -c 'i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done; ls /'"

typedef struct sample_s {
  uint32_t pid, tid;
  uint64_t time, period, ip;
  char event[128];
} sample_t;

/* -- perf's side ----------------------------------------------------------- */

static FILE *perf(const char *words, uint64_t *late) {
  char line[512];

  snprintf(line, sizeof(line), "%s -i %s", words, record_run_path());
  return perf_dump_run(line, 1, late);
}

/* Reads "1234/1235 71177.108662559: 1 page-faults: 56327d49452d". */
static int next_sample(FILE *script, sample_t *sample) {
  uint64_t seconds, nanoseconds;
  char line[512];

  memset(sample, 0, sizeof(*sample));
  if (fgets(line, sizeof(line), script) == NULL)
    return 0;
  if (sscanf(line,
             "%" SCNu32 "/%" SCNu32 " %" SCNu64 ".%" SCNu64 ": %" SCNu64
             " %127s %" SCNx64,
             &sample->pid, &sample->tid, &seconds, &nanoseconds,
             &sample->period, sample->event, &sample->ip) != 7)
    fail_msg("perf script says: %s", line);
  sample->time = seconds * 1000000000 + nanoseconds;
  sample->event[strlen(sample->event) - 1] = '\0';
  return 1;
}

/* Reads the lines "MMAP2 events:  154 (19.9%)", up to the lines of single
 * events. */
static void read_stats(size_t nr_of_type[64]) {
  uint64_t late;
  FILE *stats = perf("report --stats", &late);
  char line[256], name[64];
  uint32_t type;
  size_t nr;

  memset(nr_of_type, 0, 64 * sizeof(*nr_of_type));
  while (fgets(line, sizeof(line), stats) != NULL &&
         (strstr(line, " stats:") == NULL || strstr(line, "Aggr") != NULL)) {
    if (sscanf(line, "%63s events: %zu", name, &nr) != 2)
      continue;
    for (type = 1; type < 64; type++) {
      if (uvperf_record_type_name(type) != NULL &&
          strcmp(uvperf_record_type_name(type), name) == 0)
        nr_of_type[type] = nr;
    }
  }
  fclose(stats);
}

/* -- our side -------------------------------------------------------------- */

typedef struct comparison_s {
  FILE *script;
  size_t nr;
} comparison_t;

static void compare_sample(void *arg, recording_t *recording,
                           const uvperf_record_t *record) {
  comparison_t *comparison = arg;
  recording_event_t event;
  sample_t sample;

  if (record->type != PERF_RECORD_SAMPLE)
    return;
  assert_int_equal(next_sample(comparison->script, &sample), 1);
  recording_event(recording, recording_event_of(recording, record), &event);
  assert_string_equal(event.name, sample.event);
  assert_int_equal(record->pid, sample.pid);
  assert_int_equal(record->tid, sample.tid);
  assert_int_equal(record->time, sample.time);
  assert_int_equal(record->ip, sample.ip);
  assert_int_equal(record->present & PERF_SAMPLE_PERIOD
                       ? record->period
                       : event.attr->sample_period,
                   sample.period);
  comparison->nr++;
}

static void compare_file(const char *path) {
  recording_read_t read = {.cb = compare_sample};
  comparison_t comparison = {NULL, 0};
  size_t nr_of_type[64], type;
  sample_t sample;
  uint64_t late;

  comparison.script =
      perf("script --ns -G -F pid,tid,time,period,event,ip", &late);
  read.arg = &comparison;
  recording_read_well(&read, path);
  assert_int_equal(next_sample(comparison.script, &sample), 0);
  fclose(comparison.script);
  assert_true(comparison.nr > 0);
  assert_int_equal(read.late, late);
  assert_true(read.nr_inversions <= late);
  read_stats(nr_of_type);
  for (type = 1; type < 64; type++)
    assert_int_equal(read.nr_of_type[type], nr_of_type[type]);
}

/* -- files ----------------------------------------------------------------- */

static void record(const char *words) {
  char line[1024];

  snprintf(line, sizeof(line), "%s >/dev/null", words);
  record_run_shell(line);
}

static void file_of_perf_is_read_as_perf_reads_it(void **state) {
  static const char *const kinds[] = {
      "-e cpu-clock,page-faults -a",
      "-e cpu-clock -g",
      "-e cpu-clock -a -g -F 4000 -z",
      "-e page-faults -c 1 --call-graph dwarf,2048",
      "-e cpu-clock,page-faults --per-thread -T",
      "-e cpu-clock -s -a --switch-events",
      "-e cpu-clock -a --buildid-mmap",
      "-e cpu-clock -d --phys-data --sample-cpu --all-cgroups -a",
      "-e '{cpu-clock,page-faults}' -a",
  };
  char words[512];
  size_t i;

  support_need_cpu_wide(__func__);
  perf_dump_need(__func__);
  for (i = 0; i < COUNT_OF(kinds); i++) {
    snprintf(words, sizeof(words), "perf record -q -m 4M -o @ %s -- " BUSY,
             kinds[i]);
    if (strstr(words, " -z") != NULL && !recording_read_has_zstd())
      continue;
    record(words);
    compare_file(record_run_path());
  }
}

static void file_of_uvperf_record_is_read_as_perf_reads_it(void **state) {
  support_need_cpu_wide(__func__);
  perf_dump_need(__func__);
  record(RECORD_PATH " -q -o @ -a -g -e cpu-clock,page-faults -- " BUSY);
  compare_file(record_run_path());
}

static void pipe_is_read_as_the_same_bytes_in_a_file(void **state) {
  static const char *const programs[] = {"perf record -q", RECORD_PATH " -q"};
  char line[1024], fifo[256];
  size_t i;
  pid_t pid;

  support_need_cpu_wide(__func__);
  perf_dump_need(__func__);
  for (i = 0; i < COUNT_OF(programs); i++) {
    snprintf(line, sizeof(line),
             "%s -o - -a -g -e cpu-clock,page-faults -- "
             "sh -c 'ls / >/dev/null; sleep 0.1' >@",
             programs[i]);
    record_run_shell(line);
    compare_file(record_run_path());
    snprintf(fifo, sizeof(fifo), "%s.old", record_run_path());
    record_run_shell("mkfifo @.old");
    pid = fork();
    if (pid == 0) {
      execl("/bin/sh", "sh", "-c", "dd if=$0 of=$1 bs=1001 2>/dev/null",
            record_run_path(), fifo, NULL);
      _exit(1);
    }
    compare_file(fifo);
    assert_int_equal(support_wait(pid), 0);
    record_run_shell("rm @.old");
  }
}

/* perf(1) 6.1 cannot read a compressed pipe itself. */
static void compressed_pipe_is_read(void **state) {
  recording_read_t read = {.cb = NULL};

  support_need_cpu_wide(__func__);
  perf_dump_need(__func__);
  if (!recording_read_has_zstd())
    support_skip(__func__, "libzstd");
  record_run_shell("perf record -q -z -o - -a -g -F 4000 -e cpu-clock -- "
                   "sleep 0.1 >@");
  recording_read_well(&read, record_run_path());
  assert_true(read.nr_of_type[PERF_RECORD_SAMPLE] > 100);
  assert_true(read.nr_inversions <= read.late);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      record_run_test(file_of_perf_is_read_as_perf_reads_it),
      record_run_test(file_of_uvperf_record_is_read_as_perf_reads_it),
      record_run_test(compressed_pipe_is_read),
      record_run_test(pipe_is_read_as_the_same_bytes_in_a_file),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
