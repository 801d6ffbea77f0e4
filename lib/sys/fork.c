/* SPDX-License-Identifier: MIT */
/* Recognises a forked child by one page of the process that the kernel wipes in
 * the child (MADV_WIPEONFORK: dup_mmap() copies no page of such a mapping). The
 * page holds the number of the process. If a child reads 0 in this page, it
 * takes the next number. The child inherits the count of numbers taken so far,
 * so its number differs from the numbers of all its ancestors. Handles
 * of other processes reach it only in memory that it inherited, so each of them
 * belongs to an ancestor.
 *
 * A handler of pthread_atfork(3) writes into the page of a child, too. In a
 * child of a bare clone(2) it does not run, and neither do libuv's handlers.
 *
 * The page is mapped at the first call and stays for the life of the process.
 * The page is global state. Handles on loops of several threads share it.
 * Threads that call at the same time each map a page, and all but one are
 * unmapped again. */
#define _GNU_SOURCE 1
#include "sys/fork.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sys/sys.h"

typedef struct mark_s {
  _Atomic uint32_t number;
  _Atomic int had_handlers; /* of pthread_atfork(3), or was never forked */
} mark_t;

/* NULL before the first call; &no_mark if the kernel cannot wipe pages.
 * Children inherit this pointer, so a process and its children always use the
 * same kind of numbers. */
static mark_t *_Atomic the_mark;
static mark_t no_mark;

/* The count of numbers that this process and its ancestors have taken. */
static _Atomic uint32_t last_number;

static mark_t *map_mark(size_t size) {
  void *page;

  if (uvperf__sys_mmap_private(&page, size) != 0)
    return &no_mark;
  if (uvperf__sys_madvise(page, size, MADV_WIPEONFORK) == 0)
    return page;
  uvperf__sys_munmap(page, size);
  return &no_mark;
}

/* Runs in a child of fork(2), where the page is wiped. */
static void note_handlers(void) {
  mark_t *mark = atomic_load(&the_mark);

  if (mark != NULL)
    atomic_store(&mark->had_handlers, 1);
}

static mark_t *make_mark(void) {
  size_t size = (size_t)sysconf(_SC_PAGESIZE);
  mark_t *made = map_mark(size);
  mark_t *other = NULL;

  if (made != &no_mark && pthread_atfork(NULL, NULL, note_handlers) != 0) {
    uvperf__sys_munmap((void *)made, size);
    made = &no_mark;
  }
  atomic_store(&made->had_handlers, 1);
  if (atomic_compare_exchange_strong(&the_mark, &other, made))
    return made;
  if (made != &no_mark)
    uvperf__sys_munmap((void *)made, size);
  return other;
}

static mark_t *get_mark(void) {
  mark_t *mark = atomic_load_explicit(&the_mark, memory_order_acquire);

  return mark != NULL ? mark : make_mark();
}

const _Atomic uint32_t *uvperf__process_number(void) {
  return &get_mark()->number;
}

int uvperf__process_is_marked(void) {
  return get_mark() != &no_mark;
}

uint32_t uvperf__process(void) {
  mark_t *mark = get_mark();
  uint32_t number;
  uint32_t next;

  if (mark == &no_mark)
    return (uint32_t)uvperf__sys_getpid();
  number = atomic_load_explicit(&mark->number, memory_order_relaxed);
  if (number != 0)
    return number;
  next = atomic_fetch_add(&last_number, 1) + 1;
  return atomic_compare_exchange_strong(&mark->number, &number, next) ? next
                                                                      : number;
}

void uvperf__thread_init(uvperf__thread_t *thread) {
  thread->number = uvperf__sys_thread();
  thread->self = pthread_self();
}

int uvperf__thread_is_mine(const uvperf__thread_t *thread) {
  return thread->number != 0 && thread->number == uvperf__sys_thread() &&
         pthread_equal(thread->self, pthread_self());
}

/* The second test finds the first thread of a child that was made before the
 * mark. The id of a thread's CPU clock is made from the thread's id:
 * include/linux/posix-timers_types.h. */
int uvperf__process_is_cloned(void) {
  unsigned int tid = (unsigned int)uvperf__sys_gettid();
  int number = uvperf__sys_thread();

  if (!atomic_load(&get_mark()->had_handlers))
    return 1;
  return number != 0 && (unsigned int)number != (~tid << 3 | 6u);
}
