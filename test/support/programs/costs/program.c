/* SPDX-License-Identifier: MIT */
/* Functions of known cost in C, of each kind that symbol tables distinguish. */
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "library.h"

#ifdef COSTS_STATIC
#include "library.c"
#endif

static uint64_t steps_of[24];

#define BURN(i, nr) COSTS_BURN(steps_of[i], nr)

/* Follows a call, so that it is not the function's last one, which would become
 * a jump. */
#define AFTER() (costs_state++)

void costs_global(uint64_t steps);
void costs_weak(uint64_t steps);
void costs_aliased(uint64_t steps);
void costs_alias(uint64_t steps);
void costs_left(uint64_t steps);
void costs_right(uint64_t steps);

COSTS_ALONE void costs_global(uint64_t steps) {
  BURN(0, steps);
}

static COSTS_ALONE void costs_local(uint64_t steps) {
  BURN(1, steps);
}

__attribute__((weak)) COSTS_ALONE void costs_weak(uint64_t steps) {
  BURN(2, steps);
}

COSTS_ALONE void costs_aliased(uint64_t steps) {
  BURN(3, steps);
}

void costs_alias(uint64_t steps) __attribute__((alias("costs_aliased")));

static COSTS_ALONE void costs_recursive(uint64_t steps, int depth) {
  BURN(4, steps);
  if (depth > 1)
    costs_recursive(steps, depth - 1);
  AFTER();
}

static void call_recursive(uint64_t steps) {
  costs_recursive(steps / 8, 8);
  AFTER();
}

static COSTS_ALONE void costs_pointed(uint64_t steps) {
  BURN(5, steps);
}

static void (*volatile pointer)(uint64_t steps) = costs_pointed;

static void call_pointer(uint64_t steps) {
  pointer(steps);
  AFTER();
}

__attribute__((cold)) static COSTS_ALONE void costs_rare(void) {
  AFTER();
}

static volatile int is_rare = 1;

/* GCC moves the code that leads to a cold function to costs_split.cold. */
static COSTS_ALONE void costs_split(uint64_t steps) {
  BURN(6, steps / 4);
  if (is_rare) {
    costs_rare();
    BURN(6, steps * 3 / 4);
  }
  AFTER();
}

/* costs_constant.constprop.0 */
static COSTS_NOINLINE void costs_constant(uint64_t steps, int factor) {
  BURN(7, steps * (uint64_t)factor / 2);
  if (factor > 2)
    costs_rare();
}

static void call_constant(uint64_t steps) {
  costs_constant(steps, 2);
  AFTER();
}

typedef struct parts_s {
  uint64_t other, steps;
} parts_t;

/* costs_reduced.isra.0 */
static COSTS_NOINLINE void costs_reduced(const parts_t *parts) {
  BURN(8, parts->steps);
}

static void call_reduced(uint64_t steps) {
  parts_t parts = {0, steps};

  costs_reduced(&parts);
  AFTER();
}

static COSTS_ALONE void costs_shared(uint64_t steps) {
  BURN(9, steps);
}

COSTS_ALONE void costs_left(uint64_t steps) {
  BURN(10, steps / 2);
  costs_shared(steps / 2);
  AFTER();
}

COSTS_ALONE void costs_right(uint64_t steps) {
  BURN(11, steps / 4);
  costs_shared(steps * 3 / 4);
  AFTER();
}

/* Its steps are in costs_outer, where inlined functions are not shown. */
__attribute__((always_inline)) static inline void costs_inner(uint64_t steps) {
  BURN(12, steps);
}

static COSTS_ALONE void costs_outer(uint64_t steps) {
  BURN(13, steps / 2);
  costs_inner(steps / 2);
}

static int by_value(const void *a, const void *b) {
  BURN(14, COSTS_STEPS / 8);
  return *(const int *)a - *(const int *)b;
}

/* A C library is between caller and function: at least 8 comparisons. */
static void call_library_back(uint64_t steps) {
  int values[6] = {6, 5, 4, 3, 2, 1};

  qsort(values, 6, sizeof(values[0]), by_value);
  AFTER();
}

static COSTS_ALONE void costs_on_signal(int number) {
  BURN(15, COSTS_STEPS);
}

static void call_signal(uint64_t steps) {
  raise(SIGUSR1);
  AFTER();
}

static COSTS_ALONE void costs_deepest(uint64_t steps) {
  BURN(16, steps);
}

static COSTS_ALONE void costs_deeper(uint64_t steps) {
  BURN(17, steps / 4);
  costs_deepest(steps * 3 / 4);
  AFTER();
}

static COSTS_ALONE void costs_deep(uint64_t steps) {
  costs_deeper(steps);
  AFTER();
}

static COSTS_ALONE void f(uint64_t steps) {
  BURN(18, steps);
}

static COSTS_ALONE void
costs_of_a_name_that_is_longer_than_columns_of_tables(uint64_t steps) {
  BURN(19, steps);
}

/* Its time is spent in the kernel. */
static void costs_kernel(uint64_t steps) {
  static char buffer[1 << 16];
  int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
  int i;

  for (i = 0; i < 10 && read(fd, buffer, sizeof(buffer)) > 0; i++)
    continue;
  close(fd);
}

int main(int argc, char **argv) {
  static const costs_call_t calls[] = {
      {costs_global, 10},
      {costs_local, 8},
      {costs_weak, 2},
      {costs_alias, 5},
      {call_recursive, 6},
      {call_pointer, 4},
      {costs_split, 8},
      {call_constant, 3},
      {call_reduced, 4},
      {costs_left, 4},
      {costs_right, 6},
      {costs_outer, 8},
      {call_library_back, 3},
      {call_signal, 4},
      {costs_deep, 5},
      {f, 2},
      {costs_of_a_name_that_is_longer_than_columns_of_tables, 2},
      {costs_library, 8},
      {costs_kernel, 3},
  };
  const costs_row_t rows[] = {
      {"costs_global", &steps_of[0]},
      {"costs_local", &steps_of[1]},
      {"costs_weak", &steps_of[2]},
      {"costs_aliased", &steps_of[3]},
      {"costs_recursive", &steps_of[4]},
      {"costs_pointed", &steps_of[5]},
      {"costs_split", &steps_of[6]},
      {"costs_constant", &steps_of[7]},
      {"costs_reduced", &steps_of[8]},
      {"costs_shared", &steps_of[9]},
      {"costs_left", &steps_of[10]},
      {"costs_right", &steps_of[11]},
      {"costs_inner|", &steps_of[12]},
      {"costs_outer", &steps_of[13]},
      {"by_value", &steps_of[14]},
      {"costs_on_signal", &steps_of[15]},
      {"costs_deepest", &steps_of[16]},
      {"costs_deeper", &steps_of[17]},
      {"f", &steps_of[18]},
      {"costs_of_a_name_that_is_longer_than_columns_of_tables", &steps_of[19]},
      {"costs_library", &costs_library_steps},
      {"costs_library_local", &costs_library_local_steps},
  };

  signal(SIGUSR1, costs_on_signal);
  return costs_run(argc, argv, calls, sizeof(calls) / sizeof(calls[0]), rows,
                   sizeof(rows) / sizeof(rows[0]));
}
