/* SPDX-License-Identifier: MIT */
/* Makes libuv and uvperf take their memory from the same four functions, and
 * counts the pieces in use. At the end no piece is in use. Needs no
 * privileges. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <uvperf.h>

/* libuv's threads allocate too. */
static atomic_long nr_held;

static void *count(void *memory) {
  if (memory != NULL)
    nr_held++;
  return memory;
}

static void *count_malloc(size_t size) {
  return count(malloc(size));
}

static void *count_calloc(size_t nr, size_t size) {
  return count(calloc(nr, size));
}

static void *count_realloc(void *memory, size_t size) {
  void *moved = realloc(memory, size);

  return memory == NULL ? count(moved) : moved;
}

static void count_free(void *memory) {
  if (memory != NULL)
    nr_held--;
  free(memory);
}

int main(void) {
  struct perf_event_attr attr;
  uvperf_error_t error;
  uvperf_event_t event;
  uv_loop_t loop;
  int rc;

  /* This comes before any other call of either library. */
  rc = uv_replace_allocator(count_malloc, count_realloc, count_calloc,
                            count_free);
  if (rc == 0)
    rc = uvperf_replace_allocator(count_malloc, count_realloc, count_calloc,
                                  count_free);
  if (rc == 0)
    rc = uv_loop_init(&loop);
  if (rc != 0) {
    fprintf(stderr, "%s\n", uv_strerror(rc));
    return 1;
  }
  uvperf_attr_software(&attr, PERF_COUNT_SW_PAGE_FAULTS);
  attr.exclude_kernel = 1;
  if (uvperf_event_init(&loop, &event, &attr, NULL, &error) != 0) {
    fprintf(stderr, "%s\n", error.reason);
    return 1;
  }
  printf("%ld pieces of memory with an open event\n", (long)nr_held);
  uvperf_close(&event.handle, NULL);
  uv_run(&loop, UV_RUN_DEFAULT);
  if (uv_loop_close(&loop) != 0)
    return 1;
  uv_library_shutdown();
  printf("%ld at the end\n", (long)nr_held);
  if (fflush(stdout) != 0 || ferror(stdout)) {
    fprintf(stderr, "stdout could not be written\n");
    return 1;
  }
  return nr_held != 0;
}
