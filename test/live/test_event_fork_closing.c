/* SPDX-License-Identifier: MIT */
/* Live: a process forks while a handle is closing. In its child the inner
 * handles have still to close, but there is no ring. */
#include "live.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

/* Finds this process's only ring. */
static void find_ring(uintptr_t *start, uintptr_t *end) {
  char line[512];
  FILE *maps;

  *start = 0;
  maps = fopen("/proc/self/maps", "r");
  assert_non_null(maps);
  while (*start == 0 && fgets(line, sizeof(line), maps) != NULL)
    if (strstr(line, "anon_inode:[perf_event]") != NULL)
      assert_int_equal(sscanf(line, "%" SCNxPTR "-%" SCNxPTR, start, end), 2);
  fclose(maps);
  assert_true(*start != 0);
}

/* The child maps its own memory at the address of the parent's ring, as any
 * allocator may; the memory must survive. */
static int run_with_memory_there(uv_loop_t *loop, uintptr_t start,
                                 uintptr_t end) {
  void *memory;

  memory = mmap((void *)start, end - start, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (memory != (void *)start)
    return 1;
  if (uv_loop_fork(loop) != 0)
    return 2;
  while (uv_run(loop, UV_RUN_DEFAULT) != 0)
    continue;
  /* msync(2), ENOMEM: memory was not mapped. */
  if (msync(memory, end - start, MS_ASYNC) != 0)
    return errno == ENOMEM ? 3 : 4;
  return uv_loop_close(loop) == 0 ? 0 : 5;
}

static void
event_forked_while_closing_unmaps_nothing_of_the_child(void **state) {
  live_collector_t collector;
  uintptr_t start;
  uintptr_t end;
  pid_t pid;

  support_need_own_events(__func__);
  live_init_comm(*state, &collector);
  live_start(&collector, NULL);
  find_ring(&start, &end);
  uvperf_close(&collector.event.handle, NULL);
  pid = fork();
  if (pid == 0)
    _exit(run_with_memory_there(*state, start, end));
  assert_int_equal(support_wait(pid), 0);
  assert_int_equal(uv_run(*state, UV_RUN_DEFAULT), 0);
}

typedef struct parting_s {
  void (*close)(uvperf_event_t *event);
  pid_t pid;
} parting_t;

static void close_by_owner(uvperf_event_t *event) {
  uvperf_close(&event->handle, NULL);
}

static void walk(uv_handle_t *handle, void *arg) {
  (void)arg;
  uvperf_walk_close(handle);
}

static void close_by_walk(uvperf_event_t *event) {
  uv_walk(event->handle.loop, walk, NULL);
}

/* Closed first, forked then: the callback returns in both. The record itself is
 * in the ring that the child lacks. */
static void close_and_fork(uvperf_handle_t *base, int status,
                           const uvperf_record_t *record) {
  uvperf_event_t *event = uvperf_handle_event(base);
  live_collector_t *collector = base->data;
  parting_t *parting = collector->hook_data;

  live_on_record(base, status, record);
  parting->close(event);
  fflush(NULL);
  parting->pid = fork();
  if (parting->pid != 0)
    return;
  signal(SIGSEGV, SIG_DFL); /* not cmocka's handler, which continues with the
                             * tests */
  if (uv_loop_fork(base->loop) != 0)
    _exit(1);
}

static void part_in_callback(uv_loop_t *loop, parting_t *parting) {
  live_collector_t collector;
  uint64_t next = 0;
  int turns;

  live_init_comm(loop, &collector);
  collector.hook_data = parting;
  assert_int_equal(
      uvperf_start(&collector.event.handle, NULL, close_and_fork, NULL), 0);
  live_comm(&next, 3);
  for (turns = 0; collector.event.handle.impl != NULL && turns < 100; turns++)
    uv_run(loop, UV_RUN_NOWAIT);
  if (parting->pid == 0)
    _exit(collector.event.handle.impl == NULL && collector.records == 1 ? 0
                                                                        : 2);
  assert_int_equal(support_wait(parting->pid), 0);
  assert_int_equal(collector.records, 1);
  assert_null(collector.event.handle.impl);
}

static void event_closed_and_forked_in_callback_is_clean(void **state) {
  parting_t parting = {close_by_owner, -1};

  support_need_own_events(__func__);
  part_in_callback(*state, &parting);
}

static void event_walk_closed_and_forked_in_callback_is_clean(void **state) {
  parting_t parting = {close_by_walk, -1};

  support_need_own_events(__func__);
  part_in_callback(*state, &parting);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(event_forked_while_closing_unmaps_nothing_of_the_child),
      support_loop_test(event_closed_and_forked_in_callback_is_clean),
      support_loop_test(event_walk_closed_and_forked_in_callback_is_clean),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
