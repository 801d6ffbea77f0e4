/* SPDX-License-Identifier: MIT */
#include "tool_run.h"

#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORK_BYTES  (1 << 20)
#define BATCH_PAGES 1000
#define NR_BATCHES  10
#define WANTED      20 /* the sample's aim: samples of each line */

/* What the child shares with the test. */
typedef struct shared_s {
  sem_t begin, end; /* of a batch */
} shared_t;

/* What the lines of the sample have shown so far. */
typedef struct lines_s {
  shared_t *shared;
  pid_t child;
  size_t read;      /* bytes of stdout */
  uint64_t period;  /* of the next line, computed from those before */
  uint64_t faults;  /* the sum of all lines */
  uint64_t inexact; /* by how much that may differ from the pages */
  unsigned int nr_with_samples;
  unsigned int nr_batches;
  unsigned int nr_reads; /* since the last batch */
  int is_wrong;
} lines_t;

/* Touches batches of pages until it is killed. */
static int touch_pages(void *arg) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  shared_t *shared = arg;
  size_t i, at = WORK_BYTES;
  char *memory = NULL;

  for (;;) {
    while (sem_wait(&shared->begin) != 0) {
    }
    for (i = 0; i < BATCH_PAGES; i++, at += page) {
      if (at == WORK_BYTES) {
        if (memory != NULL)
          munmap(memory, WORK_BYTES);
        memory = mmap(NULL, WORK_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED)
          return 1;
        at = 0;
      }
      *(volatile char *)(memory + at) = 1;
    }
    sem_post(&shared->end);
  }
}

/* A change of the period may make one sample too many or too few, and lets the
 * kernel finish one period of the old length. */
static void add_line(lines_t *lines, const char *line) {
  unsigned long long nr, about;

  assert_int_equal(
      sscanf(line, "%llu samples, about %llu page faults\n", &nr, &about), 2);
  lines->is_wrong |= about != nr * lines->period;
  lines->nr_with_samples += nr > 0;
  lines->faults += about;
  lines->inexact += nr > 0 ? 3 * lines->period : 0;
  lines->period = nr > 0 ? about / WANTED : lines->period / 2;
  if (lines->period == 0)
    lines->period = 1;
}

static void add_lines(lines_t *lines, const char *out) {
  const char *end;

  while ((end = strchr(out + lines->read, '\n')) != NULL) {
    add_line(lines, out + lines->read);
    lines->read = (size_t)(end + 1 - out);
  }
}

/* Stopped after it printed a line, the sample has changed the period. So all of
 * the batch has one period, however slow the machine is. */
static void run_batch(lines_t *lines, pid_t sample) {
  shared_t *shared = lines->shared;
  int status;

  assert_int_equal(kill(sample, SIGSTOP), 0);
  assert_int_equal(waitpid(sample, &status, WUNTRACED), sample);
  assert_true(WIFSTOPPED(status));
  assert_int_equal(sem_post(&shared->begin), 0);
  assert_int_equal(sem_wait(&shared->end), 0);
  assert_int_equal(kill(sample, SIGCONT), 0);
  lines->nr_batches++;
  lines->nr_reads = 0;
}

/* Called whenever stdout has been read: first lines from before the batch, and
 * then at most two that were begun before it. */
static void on_lines(tool_run_t *run) {
  lines_t *lines = run->data;

  add_lines(lines, run->out);
  lines->nr_reads++;
  lines->is_wrong |= lines->nr_reads > 5;
  tool_run_calls(run, "page faults\n", on_lines, lines);
  if (!lines->is_wrong && lines->nr_with_samples < lines->nr_batches)
    return;
  if (!lines->is_wrong && lines->nr_batches < NR_BATCHES) {
    run_batch(lines, run->pid);
    return;
  }
  run->interrupt_at = NULL;
  kill(lines->child, SIGKILL);
}

/* One batch may have the wrong period, if the sample was stopped while it
 * changed the period the next time. */
static void adapt_period_of_a_process_counts_its_page_faults(void **state) {
  shared_t *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  const uint64_t pages = NR_BATCHES * BATCH_PAGES;
  lines_t lines = {.shared = shared, .period = 1, .inexact = BATCH_PAGES};
  char pid[16];
  tool_run_t run = {.args = {SAMPLE_PATH, pid}};

  assert_ptr_not_equal(shared, MAP_FAILED);
  support_need_own_events(__func__);
  assert_int_equal(sem_init(&shared->begin, 1, 0), 0);
  assert_int_equal(sem_init(&shared->end, 1, 0), 0);
  lines.child = support_fork(touch_pages, shared);
  assert_true(lines.child > 0);
  snprintf(pid, sizeof(pid), "%d", lines.child);
  tool_run_calls(&run, "page faults\n", on_lines, &lines);
  tool_run(&run);
  assert_int_equal(support_wait(lines.child), 128 + SIGKILL);
  tool_run_expect_status(&run, 0);
  print_message("%sabout %llu of %llu pages, up to %llu more or less\n",
                run.out, (unsigned long long)lines.faults,
                (unsigned long long)pages, (unsigned long long)lines.inexact);
  assert_false(lines.is_wrong);
  assert_true(lines.faults < pages + lines.inexact);
  assert_true(pages < lines.faults + lines.inexact);
  munmap(shared, sizeof(*shared));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(adapt_period_of_a_process_counts_its_page_faults),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
