/* SPDX-License-Identifier: MIT */
#include "tool_run.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define WORK_BYTES (1 << 20)

typedef struct shared_s {
  volatile int is_seen;  /* the sample has printed something */
  volatile uint64_t nr;  /* pages touched, before and after that */
  volatile uint64_t end; /* uv_hrtime() */
} shared_t;

/* Touches pages until two seconds after the sample has printed something. */
static int touch_pages(void *arg) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  shared_t *shared = arg;
  volatile char *memory;
  size_t i;

  while (!shared->is_seen || uv_hrtime() < shared->end) {
    memory = mmap(NULL, WORK_BYTES, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      return 1;
    for (i = 0; i < WORK_BYTES; i += page, shared->nr++)
      memory[i] = 1;
    munmap((void *)(uintptr_t)memory, WORK_BYTES);
  }
  return 0;
}

static void go_on_for_two_seconds(tool_run_t *run) {
  shared_t *shared = run->data;

  shared->end = uv_hrtime() + 2000000000;
  shared->is_seen = 1;
}

/* There are thousands of faults in 200 ms, and about 20 of them are sampled.
 * The first two ticks find the period. */
static void adapt_period_of_a_process_keeps_its_rate(void **state) {
  shared_t *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  char pid[16];
  tool_run_t run = {.args = {SAMPLE_PATH, pid},
                    .interrupt_at = "page faults\n",
                    .interrupt_with = TOOL_RUN_NO_SIGNAL,
                    .work = go_on_for_two_seconds,
                    .data = shared};
  unsigned long long nr, about, samples = 0, faults = 0;
  const char *line;
  pid_t child;
  unsigned int i = 0;

  assert_ptr_not_equal(shared, MAP_FAILED);
  support_need_own_events(__func__);
  child = support_fork(touch_pages, shared);
  assert_true(child > 0);
  snprintf(pid, sizeof(pid), "%d", child);
  tool_run(&run);
  assert_int_equal(support_wait(child), 0);
  tool_run_expect_status(&run, 0);
  for (line = run.out; *line != '\0'; line = strchr(line, '\n') + 1, i++) {
    assert_int_equal(
        sscanf(line, "%llu samples, about %llu page faults", &nr, &about), 2);
    faults += about;
    samples += i >= 2 ? nr : 0;
  }
  print_message("%u lines, %llu of %llu pages, %llu samples\n", i, faults,
                (unsigned long long)shared->nr, samples);
  assert_true(i > 2);
  assert_true(samples / (i - 2) >= 5);
  assert_true(samples / (i - 2) <= 80);
  /* The child began before the sample. */
  assert_true(faults < shared->nr * 2 && faults > shared->nr / 4);
  munmap(shared, sizeof(*shared));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(adapt_period_of_a_process_keeps_its_rate),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
