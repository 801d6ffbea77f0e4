/* SPDX-License-Identifier: MIT */
#include "check_memory.h"

#include <stdlib.h>

#include "support.h"
#include "uvperf/version.h"

static uint64_t taken;
static uint64_t freed;

static void *count_malloc(size_t size) {
  taken++;
  return malloc(size);
}

static void *count_realloc(void *old, size_t size) {
  taken++;
  return realloc(old, size);
}

static void *count_calloc(size_t nr, size_t size) {
  taken++;
  return calloc(nr, size);
}

static void count_free(void *memory) {
  freed++;
  free(memory);
}

void check_memory_begin(void) {
  uvperf_replace_allocator(count_malloc, count_realloc, count_calloc,
                           count_free);
  taken = freed = 0;
}

uint64_t check_memory_taken(void) {
  return taken;
}

uint64_t check_memory_held(void) {
  return taken - freed;
}

int check_memory_teardown(void **state) {
  uvperf_replace_allocator(malloc, realloc, calloc, free);
  return support_loop_teardown(state);
}
