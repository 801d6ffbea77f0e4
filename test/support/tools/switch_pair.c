/* SPDX-License-Identifier: MIT */
/* Makes switches that can be counted: each hand-over is one, and what else
 * comes in between the kernel counts too. */
#include "switch_pair.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "support.h"

typedef struct run_s {
  switch_pair_t *pair;
  int index; /* of the side */
  int in, out;
} run_t;

static long count_switches(void) {
  struct rusage usage;

  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw + usage.ru_nivcsw;
}

static void mark(switch_pair_mark_t *at) {
  do {
    at->switches = count_switches();
    at->time = uv_hrtime();
  } while (at->switches != count_switches());
}

static void rename_first(switch_pair_t *pair) {
  pair->renamed_after = uv_hrtime();
  prctl(PR_SET_NAME, SWITCH_PAIR_RENAMED);
  pair->renamed_before = uv_hrtime();
}

/* The first begins with the token. */
static int hand_over(void *arg) {
  run_t *run = arg;
  switch_pair_side_t *side = &run->pair->sides[run->index];
  cpu_set_t cpus;
  char token = 0;
  int i;

  CPU_ZERO(&cpus);
  CPU_SET((size_t)run->pair->cpu, &cpus);
  if (sched_setaffinity(0, sizeof(cpus), &cpus) != 0 ||
      prctl(PR_SET_NAME,
            run->index == 0 ? SWITCH_PAIR_FIRST : SWITCH_PAIR_SECOND) != 0)
    return 1;
  for (i = 0; i < SWITCH_PAIR_HOPS; i++) {
    mark(&side->marks[i]);
    if (run->index == 0 && i == SWITCH_PAIR_HOPS / 2)
      rename_first(run->pair);
    if (run->index == 1 && read(run->in, &token, 1) != 1)
      return 1;
    if (write(run->out, &token, 1) != 1)
      return 1;
    if (run->index == 0 && read(run->in, &token, 1) != 1)
      return 1;
  }
  mark(&side->marks[i]);
  return 0;
}

switch_pair_t *switch_pair_run(void) {
  switch_pair_t *pair = mmap(NULL, sizeof(*pair), PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  run_t runs[2];
  int pipes[2][2], i;

  assert_true(pair != MAP_FAILED);
  pair->cpu = sched_getcpu();
  for (i = 0; i < 2; i++)
    assert_int_equal(pipe(pipes[i]), 0);
  for (i = 0; i < 2; i++) {
    runs[i] = (run_t){pair, i, pipes[1 - i][0], pipes[i][1]};
    pair->sides[i].pid = support_fork(hand_over, &runs[i]);
  }
  for (i = 0; i < 2; i++)
    assert_int_equal(support_wait(pair->sides[i].pid), 0);
  for (i = 0; i < 2; i++) {
    close(pipes[i][0]);
    close(pipes[i][1]);
  }
  return pair;
}

void switch_pair_free(switch_pair_t *pair) {
  munmap(pair, sizeof(*pair));
}
