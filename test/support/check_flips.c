/* SPDX-License-Identifier: MIT */
#include "check_flips.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

struct flipper_s {
  pthread_t thread;
  flip_t idle;
  uint64_t own;
  _Atomic(const flip_t *) now;
  atomic_ulong turns;
  atomic_int is_over;
};

#define FLIPS 64 /* of a turn, so that both values are seen equally often */

/* At the end of a turn the word has its value again. */
static void *flip(void *arg) {
  flipper_t *flipper = arg;

  while (!atomic_load(&flipper->is_over)) {
    const flip_t *now = atomic_load(&flipper->now);
    volatile uint64_t *word = now->word;
    uint64_t value = now->value, other = now->other;
    int i;

    for (i = 0; i < FLIPS; i++) {
      *word = other;
      *word = value;
    }
    atomic_fetch_add(&flipper->turns, 1);
  }
  return NULL;
}

flipper_t *flipper_start(void) {
  flipper_t *flipper = calloc(1, sizeof(*flipper));

  if (flipper == NULL)
    abort();
  flipper->idle.word = &flipper->own;
  atomic_store(&flipper->now, &flipper->idle);
  if (pthread_create(&flipper->thread, NULL, flip, flipper) != 0)
    abort();
  return flipper;
}

void flipper_change(flipper_t *flipper, const flip_t *flip) {
  atomic_store(&flipper->now, flip);
}

/* The first turn may have begun with the flip before. */
void flipper_rest(flipper_t *flipper) {
  unsigned long turns;

  flipper_change(flipper, &flipper->idle);
  turns = atomic_load(&flipper->turns);
  while (atomic_load(&flipper->turns) - turns < 2)
    sched_yield();
}

void flipper_end(flipper_t *flipper) {
  atomic_store(&flipper->is_over, 1);
  pthread_join(flipper->thread, NULL);
  free(flipper);
}
