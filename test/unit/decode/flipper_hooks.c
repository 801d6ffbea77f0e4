/* SPDX-License-Identifier: MIT */
/* The same as check_flips.c without a thread, and certain to find a word that
 * is read twice. checks.sh compiles the library with the option
 * -fsanitize=thread, so that it calls these functions before each load, and
 * links them instead of the sanitizer's. At each load of the word that is being
 * changed, chance decides which of the two values it has. */
#include "check_flips.h"

#include <stddef.h>

struct flipper_s {
  const flip_t *now;
  uint64_t random;
};

static flipper_t the_flipper;

flipper_t *flipper_start(void) {
  return &the_flipper;
}

void flipper_rest(flipper_t *flipper) {
  if (flipper->now != NULL)
    *flipper->now->word = flipper->now->value;
  flipper->now = NULL;
}

void flipper_change(flipper_t *flipper, const flip_t *flip) {
  flipper_rest(flipper);
  flipper->now = flip;
}

void flipper_end(flipper_t *flipper) {
  flipper_rest(flipper);
}

static void on_load(const void *address) {
  const flip_t *now = the_flipper.now;

  if (now == NULL || (uintptr_t)address / 8 != (uintptr_t)now->word / 8)
    return;
  the_flipper.random =
      the_flipper.random * UINT64_C(6364136223846793005) + 1442695040888963407u;
  *now->word = the_flipper.random >> 63 ? now->other : now->value;
}

void __tsan_read1(void *at) {
  on_load(at);
}

void __tsan_read2(void *at) {
  on_load(at);
}

void __tsan_read4(void *at) {
  on_load(at);
}

void __tsan_read8(void *at) {
  on_load(at);
}

void __tsan_read16(void *at) {
  on_load(at);
}

void __tsan_unaligned_read2(void *at) {
  on_load(at);
}

void __tsan_unaligned_read4(void *at) {
  on_load(at);
}

void __tsan_unaligned_read8(void *at) {
  on_load(at);
}

void __tsan_unaligned_read16(void *at) {
  on_load(at);
}

/* Stores, and loads of several words. */
void __tsan_write1(void *at) {
}

void __tsan_write2(void *at) {
}

void __tsan_write4(void *at) {
}

void __tsan_write8(void *at) {
}

void __tsan_write16(void *at) {
}

void __tsan_unaligned_write2(void *at) {
}

void __tsan_unaligned_write4(void *at) {
}

void __tsan_unaligned_write8(void *at) {
}

void __tsan_unaligned_write16(void *at) {
}

/* A memcpy of a fixed size, such as that of uvperf__u64. */
void __tsan_read_range(void *at, size_t size) {
  size_t i;

  for (i = 0; i < size; i += 8)
    on_load((const char *)at + i);
}

void __tsan_write_range(void *at, size_t size) {
}

void __tsan_func_entry(void *caller) {
}

void __tsan_func_exit(void) {
}

void __tsan_init(void) {
}

/* The head and the tail of a ring. */
uint64_t __tsan_atomic64_load(const volatile void *at, int order) {
  return __atomic_load_n((const volatile uint64_t *)at, __ATOMIC_SEQ_CST);
}

void __tsan_atomic64_store(volatile void *at, uint64_t value, int order) {
  __atomic_store_n((volatile uint64_t *)at, value, __ATOMIC_SEQ_CST);
}

void __tsan_atomic_thread_fence(int order) {
}
