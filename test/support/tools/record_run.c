/* SPDX-License-Identifier: MIT */
#include "record_run.h"

#include "call_server.h"
#include "perf_dump.h"

#include <sys/stat.h>
#include <unistd.h>

#define NAME "/perf.data"

static char path[] = "/tmp/uvperf_record_XXXXXX" NAME;

const char *record_run_path(void) {
  return path;
}

int record_run_setup(void **state) {
  char *slash = path + sizeof(path) - sizeof(NAME);

  memcpy(slash - 6, "XXXXXX", 6);
  *slash = '\0';
  if (mkdtemp(path) == NULL || chmod(path, 0777) != 0)
    return -1;
  *slash = '/';
  return 0;
}

size_t record_run_files(glob_t *files) {
  char pattern[sizeof(path) + 4];

  snprintf(pattern, sizeof(pattern), "%s.*", path);
  return glob(pattern, 0, NULL, files) == 0 ? files->gl_pathc : 0;
}

int record_run_teardown(void **state) {
  char *slash = path + sizeof(path) - sizeof(NAME);
  size_t nr, i;
  glob_t files;
  int rc;

  nr = record_run_files(&files);
  for (i = 0; i < nr; i++)
    unlink(files.gl_pathv[i]);
  globfree(&files);
  unlink(path);
  *slash = '\0';
  rc = rmdir(path);
  *slash = '/';
  return rc;
}

static void run_line(tool_run_t *run, const char *line) {
  run->args[0] = "/bin/sh";
  run->args[1] = "-c";
  run->args[2] = line;
  tool_run(run);
}

void record_run_run(tool_run_t *run, const char *program, const char *words) {
  char line[1024];

  snprintf(line, sizeof(line), "exec %s -o %s %s", program, path, words);
  run_line(run, line);
}

void record_run_succeeds(const char *program, const char *words) {
  static tool_run_t run;

  memset(&run, 0, sizeof(run));
  record_run_run(&run, program, words);
  tool_run_expect_status(&run, 0);
}

void record_run_need_perf(const char *test) {
  support_need_cpu_wide(test);
  support_need_tracepoint(test, CALL_SERVER_EVENT);
  perf_dump_need(test);
}

void record_run_shell(const char *words) {
  static tool_run_t run;
  char line[1024];
  size_t used = 0;

  for (; *words != '\0'; words++) {
    assert_true(used + sizeof(path) < sizeof(line));
    if (*words == '@') {
      memcpy(line + used, path, sizeof(path));
      used += sizeof(path) - 1;
    } else {
      line[used++] = *words;
    }
  }
  line[used] = '\0';
  memset(&run, 0, sizeof(run));
  run_line(&run, line);
  tool_run_expect_status(&run, 0);
  assert_string_equal(run.err, "");
}

int record_run_reported(const tool_run_t *run, unsigned long *samples,
                        unsigned long *lost) {
  const char *line = strstr(run->err, "record: wrote ");

  return line != NULL &&
         sscanf(line, "record: wrote %*f MB %*s (%lu samples, %lu lost) ]",
                samples, lost) == 2;
}

typedef struct walk_s {
  record_run_count_t *count;
  uint64_t last_time;
  int has_pid;
} walk_t;

static void count_sample(walk_t *walk, const uvperf_record_t *record) {
  record_run_count_t *count = walk->count;
  const uvperf_sample_t *sample = &record->sample;
  uint16_t mode = record->misc & PERF_RECORD_MISC_CPUMODE_MASK;

  count->nr_of_event[record->source->attr_index]++;
  if (record->present & PERF_SAMPLE_CPU)
    count->nr_of_cpu[record->cpu]++;
  count->nr_kernel += mode == PERF_RECORD_MISC_KERNEL;
  count->nr_user += mode == PERF_RECORD_MISC_USER;
  count->nr_frames += (size_t)sample->callchain.nr;
  count->nr_regs += (size_t)sample->regs_user.nr;
  count->nr_stack_bytes += (size_t)sample->stack_user.dyn_size;
  count->nr_values += (size_t)sample->read.nr;
  if (!walk->has_pid)
    count->first_pid = record->pid;
  walk->has_pid = 1;
  count->nr_other_pids += record->pid != count->first_pid;
}

static void count_record(void *arg, const perf_data_record_t *entry) {
  walk_t *walk = arg;
  const uvperf_record_t *record = entry->record;

  walk->count->nr_of_type[entry->type]++;
  if (record == NULL)
    return;
  if (record->time != 0) {
    walk->count->nr_inversions += record->time < walk->last_time;
    walk->last_time = record->time;
  }
  if (entry->type == PERF_RECORD_SAMPLE)
    count_sample(walk, record);
  else if (entry->type == PERF_RECORD_LOST_SAMPLES)
    walk->count->lost += record->lost_samples.lost;
}

void record_run_count(record_run_count_t *count) {
  record_run_count_file(path, count);
}

void record_run_count_file(const char *file, record_run_count_t *count) {
  walk_t walk = {.count = count};
  perf_data_t data;

  memset(count, 0, sizeof(*count));
  perf_data_open(&data, file);
  perf_data_walk(&data, count_record, &walk);
  perf_data_close(&data);
}
