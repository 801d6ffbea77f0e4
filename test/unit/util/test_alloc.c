/* SPDX-License-Identifier: MIT */
/* The allocator: zeroed memory, overflow checks, and the user's own allocator
 * if there is one, for everything that the library keeps. */
#include "live.h"

#include "util/alloc.h"

/* Otherwise the sanitizer ends the program when calloc(3) returns NULL. */

const char *__asan_default_options(void) {
  return "allocator_may_return_null=1";
}

/* AddressSanitizer reports each malloc and free of the process, including the C
 * library's own. These functions are missing without it. */
typedef void (*malloc_hook_t)(const volatile void *memory, size_t size);
typedef void (*free_hook_t)(const volatile void *memory);
int __sanitizer_install_malloc_and_free_hooks(malloc_hook_t on_malloc,
                                              free_hook_t on_free)
    __attribute__((weak));

/* Memory unknown to malloc, and a record of the calls. Each block has its size
 * before it, which becomes 0 when it is freed. */
#define BLOCK_ALIGN 16

static struct {
  _Alignas(BLOCK_ALIGN) uint8_t bytes[2 * 1024 * 1024];
  size_t used;
  unsigned callocs;
  unsigned others; /* malloc and realloc */
  unsigned frees;
  unsigned bad_frees; /* of foreign memory, twice, or NULL */
  unsigned fails_at;  /* the call of calloc that returns NULL; 0: none */
  /* Calls that bypass the arena, found by the hooks. */
  int is_watched;
  unsigned foreign;
} arena;

static void *arena_take(size_t size) {
  uint8_t *block = arena.bytes + arena.used;

  if (size > sizeof(arena.bytes) - arena.used - 2 * BLOCK_ALIGN)
    return NULL;
  arena.used += (size + 2 * BLOCK_ALIGN - 1) / BLOCK_ALIGN * BLOCK_ALIGN;
  memcpy(block, &size, sizeof(size));
  return block + BLOCK_ALIGN;
}

static void *arena_malloc(size_t size) {
  arena.others += 1;
  return arena_take(size);
}

static void *arena_calloc(size_t count, size_t size) {
  void *memory;

  arena.callocs += 1;
  if (arena.callocs == arena.fails_at)
    return NULL;
  memory = arena_take(count * size); /* does not clear, like many allocators */
  return memory != NULL ? memset(memory, 0, count * size) : NULL;
}

static void arena_free(void *memory) {
  size_t size = 0;

  arena.frees += 1;
  if ((uint8_t *)memory > arena.bytes &&
      (uint8_t *)memory < arena.bytes + arena.used)
    memcpy(&size, (uint8_t *)memory - BLOCK_ALIGN, sizeof(size));
  if (size == 0) {
    arena.bad_frees += 1;
    return;
  }
  memset(memory, 0xdd, size);
  memset((uint8_t *)memory - BLOCK_ALIGN, 0, sizeof(size));
}

/* libuv alone grows blocks, and hands in NULL here and there. */
static void *arena_realloc(void *memory, size_t size) {
  void *bigger = arena_malloc(size);
  size_t old = 0;

  if (memory != NULL)
    memcpy(&old, (uint8_t *)memory - BLOCK_ALIGN, sizeof(old));
  if (bigger != NULL && old != 0) {
    memcpy(bigger, memory, old < size ? old : size);
    memset((uint8_t *)memory - BLOCK_ALIGN, 0, sizeof(old));
  }
  return bigger;
}

static void uv_arena_free(void *memory) {
  if (memory != NULL)
    arena_free(memory);
}

static void on_malloc(const volatile void *memory, size_t size) {
  arena.foreign += (unsigned)arena.is_watched;
}

static void on_free(const volatile void *memory) {
  if (memory != NULL)
    arena.foreign += (unsigned)arena.is_watched;
}

static void install_arena(void) {
  memset(&arena, 0, sizeof(arena));
  assert_int_equal(uvperf_replace_allocator(arena_malloc, arena_realloc,
                                            arena_calloc, arena_free),
                   0);
}

static void assert_balanced(unsigned least) {
  assert_in_range(arena.callocs, least, 100);
  assert_int_equal(arena.frees, arena.callocs);
  assert_int_equal(arena.bad_frees, 0);
  assert_int_equal(arena.others, 0);
}

static int put_back(void **state) {
  memset(&arena, 0, sizeof(arena));
  return uvperf_replace_allocator(malloc, realloc, calloc, free) |
         uv_replace_allocator(malloc, realloc, calloc, free);
}

/* -- the functions -------------------------------------------------------- */

static void calloc_overflow_returns_null(void **state) {
  assert_null(uvperf__calloc(SIZE_MAX, 2));
  assert_null(uvperf__calloc(2, SIZE_MAX / 2 + 1));
}

static void calloc_overflow_does_not_reach_the_user(void **state) {
  install_arena();
  assert_null(uvperf__calloc(SIZE_MAX, 2));
  assert_null(uvperf__calloc(2, SIZE_MAX / 2 + 1));
  assert_null(uvperf__calloc(SIZE_MAX / 4, 5));
  assert_int_equal(arena.callocs, 0);
  /* One that does not overflow does. */
  assert_null(uvperf__calloc(SIZE_MAX / 4, 4));
  assert_int_equal(arena.callocs, 1);
}

static void calloc_returns_zeroed_memory(void **state) {
  static const uint8_t zeroes[4096];
  uint8_t *memory;
  int i;

  /* Again, as memory that was used before is given out again. */
  for (i = 0; i < 100; i++) {
    memory = uvperf__calloc(8, sizeof(zeroes) / 8);
    assert_non_null(memory);
    assert_memory_equal(memory, zeroes, sizeof(zeroes));
    memset(memory, 0xff, sizeof(zeroes));
    uvperf__free(memory);
  }
}

static void free_of_null_is_nothing(void **state) {
  uvperf__free(NULL);
  install_arena();
  uvperf__free(NULL);
  assert_int_equal(arena.frees, 0);
}

static void replace_with_a_null_is_einval_and_changes_nothing(void **state) {
  assert_int_equal(uvperf_replace_allocator(NULL, realloc, calloc, free),
                   UV_EINVAL);
  install_arena();
  assert_int_equal(uvperf_replace_allocator(NULL, realloc, calloc, free),
                   UV_EINVAL);
  assert_int_equal(uvperf_replace_allocator(malloc, NULL, calloc, free),
                   UV_EINVAL);
  assert_int_equal(uvperf_replace_allocator(malloc, realloc, NULL, free),
                   UV_EINVAL);
  assert_int_equal(uvperf_replace_allocator(malloc, realloc, calloc, NULL),
                   UV_EINVAL);
  uvperf__free(uvperf__calloc(1, 1));
  assert_balanced(1);
}

/* -- what the library does with them -------------------------------------- */

/* Returns what init returns for an event that does not exist; its explanation
 * reads files of the system. */
static int init_in_vain(uv_loop_t *loop, uint32_t type, int cpu) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr;
  uvperf_event_t event;
  uvperf_error_t error;
  int rc;

  live_comm_attr(&attr);
  attr.type = type;
  options.cpu = cpu;
  if (cpu >= 0)
    options.flags = UVPERF_EVENT_CPU;
  rc = uvperf_event_init(loop, &event, &attr, &options, &error);
  if (rc == 0)
    uvperf_close(&event.handle, NULL);
  else
    assert_true(strlen(error.reason) > 10);
  while (uv_run(loop, UV_RUN_NOWAIT) != 0)
    ;
  return rc;
}

static void try_in_vain(uv_loop_t *loop) {
  /* Of a missing PMU, and of one that is only looked up by name. */
  assert_int_equal(init_in_vain(loop, 0x7fffff00, -1), UV_ENOENT);
  assert_int_not_equal(init_in_vain(loop, PERF_TYPE_BREAKPOINT, -1), 0);
  assert_int_not_equal(init_in_vain(loop, PERF_TYPE_SOFTWARE, 1 << 20), 0);
}

static int decode_one(void) {
  uint64_t bytes[] = {0, 0};
  struct perf_event_header header = {PERF_RECORD_SWITCH, 0, 8};
  uvperf_source_t source = {0};
  const uvperf_source_t *sources[] = {&source};
  const uvperf_record_t *record;
  struct perf_event_attr attr;
  uvperf_decoder_t *decoder;
  int rc;

  uvperf_attr_software(&attr, PERF_COUNT_SW_DUMMY);
  source.size = sizeof(source);
  source.attr = &attr;
  rc = uvperf_decoder_new(&decoder, sources, 1);
  if (rc != 0)
    return rc;
  memcpy(bytes, &header, sizeof(header));
  rc = uvperf_decode(decoder, bytes, sizeof(header), &record);
  uvperf_decoder_free(decoder);
  return rc;
}

/* The whole life of an event, on a loop of its own. Returns what init
 * returns. */
static int live_a_life(void) {
  live_collector_t collector = {0};
  struct perf_event_attr attr;
  uint64_t next = 0;
  uv_loop_t loop;
  int rc;

  assert_int_equal(uv_loop_init(&loop), 0);
  live_comm_attr(&attr);
  rc = uvperf_event_init(&loop, &collector.event, &attr, NULL, NULL);
  if (rc == 0) {
    unsigned callocs = arena.callocs;

    collector.event.handle.data = &collector;
    live_start(&collector, NULL);
    live_comm(&next, 1000);
    assert_int_equal(live_run_until(&loop, &collector.records, 1000), 1);
    live_comm(&next, 10);
    assert_int_equal(uvperf_flush(&collector.event.handle), 0);
    assert_int_equal(uvperf_stop(&collector.event.handle), 0);
    live_start(&collector, NULL);
    assert_int_equal(collector.comms, 1010);
    assert_int_equal(collector.out_of_order, 0);
    /* Delivery takes no memory. */
    assert_int_equal(arena.callocs, callocs);
    live_close(&collector);
  }
  while (uv_run(&loop, UV_RUN_NOWAIT) != 0)
    ;
  assert_int_equal(uv_loop_close(&loop), 0);
  return rc;
}

static int init_sharer(uv_loop_t *loop, uvperf_event_t *event, uint32_t flags) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr;

  live_comm_attr(&attr);
  options.flags = UVPERF_EVENT_IDENTIFY | flags;
  return uvperf_event_init(loop, event, &attr, &options, NULL);
}

/* Two events that share a ring for a while. Returns the first error. */
static int share_a_ring(void) {
  const uvperf_record_t *record;
  uvperf_event_t owner, writer;
  uv_loop_t loop;
  int rc;

  assert_int_equal(uv_loop_init(&loop), 0);
  rc = init_sharer(&loop, &owner, 0);
  if (rc == 0) {
    rc = init_sharer(&loop, &writer, UVPERF_EVENT_NO_RING);
    if (rc == 0) {
      rc = uvperf_event_set_output(&writer, &owner, NULL);
      assert_int_equal(uvperf_next(&owner.handle, &record), UV_EAGAIN);
      assert_int_equal(uvperf_event_set_output(&writer, NULL, NULL), 0);
      uvperf_close(&writer.handle, NULL);
    }
    uvperf_close(&owner.handle, NULL);
  }
  while (uv_run(&loop, UV_RUN_NOWAIT) != 0)
    ;
  assert_int_equal(uv_loop_close(&loop), 0);
  return rc;
}

static void event_life_takes_and_frees_by_the_users_functions(void **state) {
  support_need_own_events(__func__);
  install_arena();
  assert_int_equal(live_a_life(), 0);
  assert_balanced(4);
}

static void shared_ring_takes_and_frees_by_the_users_functions(void **state) {
  support_need_own_events(__func__);
  install_arena();
  assert_int_equal(share_a_ring(), 0);
  assert_balanced(12);
}

static void failed_init_takes_and_frees_by_the_users_functions(void **state) {
  uv_loop_t loop;

  support_need_own_events(__func__);
  assert_int_equal(uv_loop_init(&loop), 0);
  install_arena();
  try_in_vain(&loop);
  assert_balanced(3);
  assert_int_equal(uv_loop_close(&loop), 0);
}

static void decoder_takes_and_frees_by_the_users_functions(void **state) {
  install_arena();
  assert_int_equal(decode_one(), 0);
  assert_balanced(2);
}

/* Makes each allocation of the function fail in turn; the function returns the
 * result of the call whose allocation failed. */
static void assert_each_failure_is_enomem(int (*act)(void), unsigned least) {
  size_t fds = support_count_fds();
  size_t bytes;
  unsigned i;
  int rc;

  for (i = 1;; i++) {
    install_arena();
    arena.fails_at = i;
    rc = act();
    if (arena.callocs < i)
      break;
    assert_int_equal(rc, UV_ENOMEM);
    assert_int_equal(arena.frees, arena.callocs - 1);
    assert_int_equal(arena.bad_frees, 0);
    assert_int_equal(support_count_fds(), fds);
    assert_int_equal(support_count_rings(&bytes), 0);
  }
  assert_int_equal(rc, 0);
  assert_in_range(i, least + 1, 100);
}

static void each_allocation_of_an_event_fails_is_enomem(void **state) {
  support_need_own_events(__func__);
  assert_each_failure_is_enomem(live_a_life, 4);
}

static void each_allocation_of_a_shared_ring_fails_is_enomem(void **state) {
  support_need_own_events(__func__);
  assert_each_failure_is_enomem(share_a_ring, 12);
}

static void each_allocation_of_a_decoder_fails_is_enomem(void **state) {
  assert_each_failure_is_enomem(decode_one, 2);
}

/* -- that nothing goes past them ------------------------------------------ */

/* Gives libuv the same four, and watches the C library's until unwatch. */
static void watch(const char *test) {
  if (__sanitizer_install_malloc_and_free_hooks == NULL)
    support_skip(test, "a build with AddressSanitizer");
  install_arena();
  assert_int_equal(uv_replace_allocator(arena_malloc, arena_realloc,
                                        arena_calloc, uv_arena_free),
                   0);
  arena.is_watched = 1;
}

static unsigned unwatch(void) {
  arena.is_watched = 0;
  return arena.foreign;
}

static void hooks_see_what_the_c_library_takes(void **state) {
  FILE *file;

  watch(__func__);
  file = fopen("/proc/self/status", "r");
  assert_non_null(file);
  fclose(file);
  assert_in_range(unwatch(), 2, 100);
}

static void event_life_takes_no_other_memory(void **state) {
  support_need_own_events(__func__);
  watch(__func__);
  assert_int_equal(live_a_life(), 0);
  assert_int_equal(unwatch(), 0);
  /* libuv had its part. */
  assert_in_range(arena.others, 1, 100);
  assert_int_equal(arena.bad_frees, 0);
}

static void shared_ring_takes_no_other_memory(void **state) {
  support_need_own_events(__func__);
  watch(__func__);
  assert_int_equal(share_a_ring(), 0);
  assert_int_equal(unwatch(), 0);
}

static void failed_init_takes_no_other_memory(void **state) {
  uv_loop_t loop;

  support_need_own_events(__func__);
  watch(__func__);
  assert_int_equal(uv_loop_init(&loop), 0);
  try_in_vain(&loop);
  assert_int_equal(uv_loop_close(&loop), 0);
  assert_int_equal(unwatch(), 0);
}

static void decoder_and_words_take_no_other_memory(void **state) {
  uvperf_error_t error;
  char text[256];

  watch(__func__);
  assert_int_equal(decode_one(), 0);
  uvperf_sample_mem_describe(UINT64_MAX, UVPERF_SAMPLE_MEM_LEVEL, text,
                             sizeof(text));
  uvperf_cause_name(UVPERF_CAUSE_MEMORY);
  uvperf_record_type_name(PERF_RECORD_MMAP2);
  assert_int_equal(uvperf_event_init(NULL, NULL, NULL, NULL, &error),
                   UV_EINVAL);
  assert_int_equal(unwatch(), 0);
}

#define RESTORED(f) cmocka_unit_test_teardown(f, put_back)

int main(void) {
  const struct CMUnitTest tests[] = {
      RESTORED(calloc_overflow_returns_null),
      RESTORED(calloc_overflow_does_not_reach_the_user),
      RESTORED(calloc_returns_zeroed_memory),
      RESTORED(free_of_null_is_nothing),
      RESTORED(replace_with_a_null_is_einval_and_changes_nothing),
      RESTORED(event_life_takes_and_frees_by_the_users_functions),
      RESTORED(shared_ring_takes_and_frees_by_the_users_functions),
      RESTORED(failed_init_takes_and_frees_by_the_users_functions),
      RESTORED(decoder_takes_and_frees_by_the_users_functions),
      RESTORED(each_allocation_of_an_event_fails_is_enomem),
      RESTORED(each_allocation_of_a_shared_ring_fails_is_enomem),
      RESTORED(each_allocation_of_a_decoder_fails_is_enomem),
      RESTORED(hooks_see_what_the_c_library_takes),
      RESTORED(event_life_takes_no_other_memory),
      RESTORED(shared_ring_takes_no_other_memory),
      RESTORED(failed_init_takes_no_other_memory),
      RESTORED(decoder_and_words_take_no_other_memory),
  };

  if (__sanitizer_install_malloc_and_free_hooks != NULL &&
      __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free) == 0)
    return 1;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
