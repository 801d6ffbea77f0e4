/* SPDX-License-Identifier: MIT */
/* The memory part of the scripted kernel: the library's blocks, which are real,
 * and are counted so that none is left. */
#include "support.h"

#include <stdatomic.h>

#include "fake_script.h"
#include "sys/sys.h"
#include "util/alloc.h"

#define BLOCKS_MAX 256

/* The linker gives the functions of the library these names. */
int __real_uvperf__sys_mmap_private(void **address, size_t size);
int __real_uvperf__sys_madvise(void *address, size_t size, int advice);
void *__real_uvperf__calloc(size_t nr, size_t size);
void __real_uvperf__free(void *memory);

/* Memory of the library; any allocator may have returned it. A block belongs to
 * the thread that has set `memory`, until that is NULL again. */
typedef struct block_s {
  _Atomic(void *) memory;
  size_t size;
} block_t;

static struct {
  block_t blocks[BLOCKS_MAX];
  atomic_size_t live;
} held;

void fake_memory_reset(void) {
  memset(&held, 0, sizeof(held));
}

void fake_memory_assert_clean(void) {
  if (held.live != 0)
    fail_msg("%zu allocations are left", fake_live_allocations());
}

size_t fake_live_allocations(void) {
  return held.live;
}

/* -- the page that sys/fork.c makes, for ever ------------------------------ */

int __wrap_uvperf__sys_mmap_private(void **address, size_t size) {
  int code;

  return fake_scripted(FAKE_MMAP_PRIVATE, &code)
             ? code
             : __real_uvperf__sys_mmap_private(address, size);
}

int __wrap_uvperf__sys_madvise(void *address, size_t size, int advice) {
  int code;

  return fake_scripted(FAKE_MADVISE, &code)
             ? code
             : __real_uvperf__sys_madvise(address, size, advice);
}

/* -- blocks --------------------------------------------------------------- */

static block_t *find_block(const void *memory) {
  size_t i;

  for (i = 0; i < BLOCKS_MAX; i++)
    if (held.blocks[i].memory == memory)
      return &held.blocks[i];
  return NULL;
}

static void keep_block(void *memory, size_t size) {
  void *none = NULL;
  size_t i;

  for (i = 0; i < BLOCKS_MAX; i++, none = NULL)
    if (held.blocks[i].memory == NULL &&
        atomic_compare_exchange_strong(&held.blocks[i].memory, &none, memory)) {
      held.blocks[i].size = size;
      return;
    }
}

void *__wrap_uvperf__calloc(size_t nr, size_t size) {
  void *memory;
  int code;

  if (fake_scripted(FAKE_CALLOC, &code))
    return NULL;
  memory = __real_uvperf__calloc(nr, size);
  if (memory == NULL)
    return NULL;
  held.live++;
  keep_block(memory, nr * size);
  return memory;
}

void __wrap_uvperf__free(void *memory) {
  block_t *block;
  int code;

  fake_scripted(FAKE_FREE, &code); /* counted: it cannot fail */
  if (memory != NULL) {
    held.live--;
    block = find_block(memory);
    /* libuv is not built with sanitizers: what it still reads from a handle
     * that was freed too early must not look valid. */
    if (block != NULL) {
      memset(memory, 0xdb, block->size);
      block->memory = NULL;
    }
  }
  __real_uvperf__free(memory);
}
