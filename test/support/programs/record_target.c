/* SPDX-License-Identifier: MIT */
/* A program whose call chains are known, for the tests of record. It spends its
 * time in record_inner, called by record_middle, called by record_outer, for as
 * many rounds as its argument says, some milliseconds each. SIGALRM ends it if
 * nothing else does. */
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

/* The statement after each call keeps it from being the function's last one,
 * which would become a jump. */
static volatile uint64_t counter;

void record_inner(unsigned long rounds) {
  unsigned long i;

  for (i = 0; i < rounds * 1000000; i++)
    counter = counter + 1;
}

void record_middle(unsigned long rounds) {
  record_inner(rounds);
  counter = counter + 1;
}

void record_outer(unsigned long rounds) {
  record_middle(rounds);
  counter = counter + 1;
}

int main(int argc, char **argv) {
  alarm(60);
  record_outer(argc > 1 ? strtoul(argv[1], NULL, 10) : 1);
  return 0;
}
