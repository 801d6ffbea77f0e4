/* SPDX-License-Identifier: MIT */
/* record and perf record synthesize the same records for the same process. */
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "perf_dump.h"
#include "record/file.h"
#include "record/synth.h"
#include "support.h"
#include "make_tree.h"
#include "uvperf.h"

#define LINES 1000

typedef struct lines_s {
  char *lines[LINES];
  size_t nr;
} lines_t;

/* Returns whether the line is about the kernel or this process. */
static int is_compared(const char *line) {
  char map[64], task[64], comm[64];

  snprintf(map, sizeof(map), "PERF_RECORD_MMAP2 %d/", getpid());
  snprintf(task, sizeof(task), "PERF_RECORD_FORK(%d:", getpid());
  snprintf(comm, sizeof(comm), ":%d/", getpid());
  return strncmp(line, "PERF_RECORD_MMAP -1/0: ", 23) == 0 ||
         strncmp(line, map, strlen(map)) == 0 ||
         strncmp(line, task, strlen(task)) == 0 ||
         (strncmp(line, "PERF_RECORD_COMM: ", 18) == 0 &&
          strstr(line, comm) != NULL);
}

/* Returns whether the line has no time. A CPU can precede the place of the
 * time. */
static int is_synthesized(const char *line) {
  return strncmp(line, "0 0x", 4) == 0 || strncmp(line, "0 0 0x", 6) == 0;
}

static int compare(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Collects the synthesized records of this process and of the kernel from perf
 * script -D. They have no time. */
static void dump(lines_t *lines, const char *path) {
  char words[256], line[8192], *at;
  FILE *file;

  lines->nr = 0;
  snprintf(words, sizeof(words), "script -D -i %s", path);
  file = perf_dump_run(words, 0, NULL);
  while (fgets(line, sizeof(line), file) != NULL) {
    at = strstr(line, "]: PERF_RECORD_");
    if (at == NULL || !is_synthesized(line) || !is_compared(at + 3))
      continue;
    assert_true(lines->nr < LINES);
    lines->lines[lines->nr] = strdup(at + 3);
    assert_non_null(lines->lines[lines->nr++]);
  }
  fclose(file);
  qsort(lines->lines, lines->nr, sizeof(*lines->lines), compare);
}

static void free_lines(lines_t *lines) {
  size_t i;

  for (i = 0; i < lines->nr; i++)
    free(lines->lines[i]);
}

static int write_record(void *arg, const void *bytes, size_t size) {
  return record_file_write(arg, bytes, size);
}

static void synthesize(const char *path) {
  int32_t pid = getpid();
  common_ids_t pids = {&pid, 1, 1};
  struct perf_event_attr attr;
  record_synth_t synth = {.write = write_record, .attr = &attr};
  record_file_t *file = record_file_open(path);

  assert_non_null(file);
  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  attr.sample_id_all = 1;
  record_file_add_event(file, &attr, "cpu-clock");
  synth.arg = file;
  assert_int_equal(record_synth_kernel(&synth), 0);
  assert_int_equal(record_synth_processes(&synth, &pids), 0);
  common_buffer_free(&synth.build);
  assert_int_equal(record_file_close(file, NULL), 0);
}

static void record_by_perf(const char *path) {
  char line[256];

  snprintf(line, sizeof(line),
           "perf record -q -a -e cpu-clock -o %s -- sleep 0.1 </dev/null",
           path);
  assert_int_equal(system(line), 0);
}

static void *wait_at(void *arg) {
  pthread_barrier_wait(arg);
  pthread_barrier_wait(arg);
  return NULL;
}

static void live_synthesized_records_are_those_of_perf_record(void **state) {
  char path[128], other[128];
  pthread_barrier_t barrier;
  lines_t ours, perfs;
  pthread_t thread;
  size_t i;

  perf_dump_need(__func__);
  support_need_kernel_side(__func__);
  snprintf(path, sizeof(path), "%s/a", ((make_tree_t *)*state)->root);
  snprintf(other, sizeof(other), "%s/b", ((make_tree_t *)*state)->root);
  assert_int_equal(pthread_barrier_init(&barrier, NULL, 2), 0);
  assert_int_equal(pthread_create(&thread, NULL, wait_at, &barrier), 0);
  pthread_barrier_wait(&barrier);
  record_by_perf(other);
  synthesize(path);
  pthread_barrier_wait(&barrier);
  pthread_join(thread, NULL);
  pthread_barrier_destroy(&barrier);
  dump(&ours, path);
  dump(&perfs, other);
  for (i = 0; i < ours.nr && i < perfs.nr; i++)
    assert_string_equal(ours.lines[i], perfs.lines[i]);
  assert_int_equal(ours.nr, perfs.nr);
  print_message("%lu records\n", (unsigned long)ours.nr);
  assert_true(ours.nr > 6); /* the kernel, two threads, mappings */
  free_lines(&ours);
  free_lines(&perfs);
}

/* Maps a page of a file with this name, and unlinks the file if requested. */
static void *map_file(const char *path, int is_unlinked) {
  int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0700);
  void *map;

  assert_true(fd >= 0);
  assert_int_equal(ftruncate(fd, 4096), 0);
  map = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
  assert_true(map != MAP_FAILED);
  close(fd);
  if (is_unlinked)
    assert_int_equal(unlink(path), 0);
  return map;
}

static void live_odd_names_are_read_by_perf(void **state) {
  static const char *const names[] = {"a \x01\xff\\z [x]", "%s%n", "-",
                                      "]: ", "\xe2\x80\xae"};
  static const char *const words[] = {"script -D -i", "script -i",
                                      "buildid-list -i"};
  const char *root = ((make_tree_t *)*state)->root;
  char path[256], line[512];
  void *maps[5];
  size_t i;

  perf_dump_need(__func__);
  assert_int_equal(prctl(PR_SET_NAME, "\x01\xff\n)%s"), 0);
  for (i = 0; i < 5; i++) {
    snprintf(path, sizeof(path), "%s/%s", root, names[i]);
    maps[i] = map_file(path, i % 2);
  }
  snprintf(path, sizeof(path), "%s/data", root);
  synthesize(path);
  assert_int_equal(prctl(PR_SET_NAME, "test"), 0);
  for (i = 0; i < 5; i++)
    munmap(maps[i], 4096);
  for (i = 0; i < sizeof(words) / sizeof(*words); i++) {
    snprintf(line, sizeof(line), "%s %s", words[i], path);
    fclose(perf_dump_run(line, 0, NULL));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      MAKE_TREE_TEST(live_odd_names_are_read_by_perf),
      MAKE_TREE_TEST(live_synthesized_records_are_those_of_perf_record),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
