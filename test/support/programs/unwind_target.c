/* SPDX-License-Identifier: MIT */
/* Functions without frame pointers, called in ways that are hard to unwind. A
 * tracer steps through everything between the two SIGSTOPs. Without a tracer,
 * and with an argument, they run for that number of milliseconds. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static volatile int sum;

/* A leaf: its first instruction already does the work. */
static NOINLINE int leaf(int a) {
  return a * 3 + 1;
}

static NOINLINE int many(int a, int b, int c, int d, int e, int f, int g, int h,
                         const char *text) {
  char copy[32];
  snprintf(copy, sizeof copy, "%d %d %s %.3f", a + b + c + d, e + f + g + h,
           text, (double)a / 3);
  return (int)strlen(copy);
}

static NOINLINE int deep(int levels) {
  if (levels == 0)
    return leaf(sum);
  return deep(levels - 1) + leaf(levels);
}

/* The stack pointer moves within it. */
static NOINLINE int varying(int nr) {
  volatile char array[nr];
  for (int i = 0; i < nr; i++)
    array[i] = (char)leaf(i);
  return array[nr - 1];
}

static NOINLINE int tail(int a) {
  return leaf(a + sum);
}

static int compare(const void *a, const void *b) {
  int left = *(const int *)a, right = *(const int *)b;
  return (leaf(left) > leaf(right)) - (leaf(left) < leaf(right));
}

static NOINLINE void sorted(void) {
  int numbers[] = {5, 3, 9, 1, 7, 2};
  qsort(numbers, sizeof numbers / sizeof *numbers, sizeof *numbers, compare);
  sum += numbers[0];
}

static void on_signal(int number) {
  sum += deep(3) + number;
}

static NOINLINE void work(void) {
  struct timespec now;
  sum += deep(5);
  sum += varying(20);
  sum += tail(4);
  sum += many(1, 2, 3, 4, 5, 6, 7, 8, "text");
  sorted();
  raise(SIGUSR1);
  /* Single-stepped, the vdso of a virtual machine may read CLOCK_MONOTONIC for
   * ever, because the host changes the clock's page after every step. */
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  sum += (int)now.tv_nsec & 1;
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv) {
  signal(SIGUSR1, on_signal);
  if (argc > 1) {
    double end = seconds() + atof(argv[1]) / 1000;
    while (seconds() < end)
      work();
    return 0;
  }
  raise(SIGSTOP);
  work();
  raise(SIGSTOP);
  return 0;
}
