/* SPDX-License-Identifier: MIT */
/* A program whose call chains are known, for the tests of record: it spends its
 * time in record_inner, which record_middle calls, which record_outer calls,
 * for as many rounds as its argument says, of some milliseconds each. It ends
 * by SIGALRM if nobody ends it before. */
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

/* What follows each call keeps it from being the function's last, which would
 * be a jump. */
static volatile uint64_t counter;

NOINLINE void record_inner(unsigned long rounds);
NOINLINE void record_middle(unsigned long rounds);
NOINLINE void record_outer(unsigned long rounds);

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
