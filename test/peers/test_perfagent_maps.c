/* SPDX-License-Identifier: MIT */
/* Live: sets watch what perf-agent's package ehmaps watches: the executable
 * mappings of threads and processes, and their end. The whole list is in
 * ORIGINS. */
#include "live_stream.h"
#include "live_thread.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* -- a mapping ------------------------------------------------------------ */

/* This program's file, mapped to be executed. */
typedef struct mapping_s {
  char path[512];
  void *address;
} mapping_t;

static void map_file(void *arg) {
  mapping_t *mapping = arg;
  int fd = open(mapping->path, O_RDONLY | O_CLOEXEC);

  mapping->address = mmap(NULL, support_page_bytes(), PROT_READ | PROT_EXEC,
                          MAP_PRIVATE, fd, 0);
  close(fd);
}

static void name_file(mapping_t *mapping) {
  ssize_t length =
      readlink("/proc/self/exe", mapping->path, sizeof(mapping->path) - 1);

  assert_true(length > 0);
  mapping->path[length] = '\0';
  mapping->address = MAP_FAILED;
}

static void unmap_file(mapping_t *mapping) {
  assert_true(mapping->address != MAP_FAILED);
  assert_int_equal(munmap(mapping->address, support_page_bytes()), 0);
  mapping->address = MAP_FAILED;
}

/* -- records -------------------------------------------------------------- */

typedef struct watch_s {
  const char *path;   /* only mappings of this file are noted */
  uint32_t pid;       /* and only of this process */
  uint32_t last_tid;  /* the thread of the last mapping */
  uint64_t last_addr; /* the address of the last mapping */
  uint64_t mappings;
  uint64_t exits;
  uint64_t execs;
  uint32_t exit_pid;
  uint32_t exit_tid;
} watch_t;

static void note_mapping(watch_t *watch, const uvperf_record_t *record) {
  if (strcmp(record->mmap.filename, watch->path) != 0 ||
      record->mmap.pid != watch->pid)
    return;
  assert_int_equal(record->mmap.len, support_page_bytes());
  assert_int_equal(record->mmap.pgoff, 0);
  assert_int_equal(record->mmap.prot, PROT_READ | PROT_EXEC);
  assert_int_equal(record->tid, record->mmap.tid);
  watch->last_tid = record->mmap.tid;
  watch->last_addr = record->mmap.addr;
  watch->mappings++;
}

static void note_record(live_stream_t *stream, const uvperf_record_t *record) {
  watch_t *watch = stream->hook_data;

  if (record->type == UVPERF_RECORD_NONE)
    return;
  if (record->type == PERF_RECORD_MMAP2) {
    note_mapping(watch, record);
  } else if (record->type == PERF_RECORD_EXIT &&
             record->task.pid == watch->pid) {
    watch->exit_pid = record->task.pid;
    watch->exit_tid = record->task.tid;
    watch->exits++;
  } else if (uvperf_record_is_exec(record) && record->comm.pid == watch->pid) {
    watch->execs++;
  }
}

/* Plans the side-band of a set next to an attr that writes nothing. */
static void plan_maps(live_plan_t *plan) {
  live_stream_plan(plan);
  plan->options.side_band = UVPERF_SIDE_BAND_MMAP | UVPERF_SIDE_BAND_TASKS;
  live_plan_software(plan, PERF_COUNT_SW_DUMMY);
  plan->attrs[0].exclude_kernel = 1;
}

static void begin(uv_loop_t *loop, live_stream_t *stream,
                  const live_plan_t *plan, watch_t *watch, const char *path,
                  pid_t pid) {
  memset(watch, 0, sizeof(*watch));
  watch->path = path;
  watch->pid = (uint32_t)pid;
  live_stream_open(loop, stream, &plan->options);
  stream->on_record = note_record;
  stream->hook_data = watch;
  live_stream_start(stream, NULL);
}

static void check_mapping(uv_loop_t *loop, const watch_t *watch, uint64_t nr,
                          uint32_t tid, const mapping_t *mapping) {
  assert_int_equal(live_run_until(loop, &watch->mappings, nr), 1);
  assert_int_equal(watch->mappings, nr);
  assert_int_equal(watch->last_tid, tid);
  assert_int_equal(watch->last_addr, (uintptr_t)mapping->address);
}

/* -- TestMmapWatcherSeesMmap ---------------------------------------------- */

static void watcher_of_a_thread_sees_its_mapping(void **state) {
  live_stream_t stream;
  mapping_t mapping;
  live_plan_t plan;
  watch_t watch;

  support_need_own_events(__func__);
  name_file(&mapping);
  plan_maps(&plan);
  live_stream_plan_target(&plan, UVPERF_TARGET_SELF, 0);
  begin(*state, &stream, &plan, &watch, mapping.path, getpid());
  map_file(&mapping);
  check_mapping(*state, &watch, 1, live_tid(), &mapping);
  assert_int_equal(stream.foreign, 0);
  unmap_file(&mapping);
  live_stream_close(&stream);
}

/* perf-agent's watcher is an event of one thread, so it does not see mappings
 * of other threads. */
static void watcher_of_a_process_sees_those_of_each_thread(void **state) {
  live_thread_t before, after;
  live_stream_t stream;
  mapping_t mapping;
  live_plan_t plan;
  watch_t watch;

  support_need_own_events(__func__);
  name_file(&mapping);
  live_thread_start(&before, map_file, &mapping);
  plan_maps(&plan);
  live_stream_plan_target(&plan, UVPERF_TARGET_PROCESS, getpid());
  begin(*state, &stream, &plan, &watch, mapping.path, getpid());
  live_thread_do(&before);
  check_mapping(*state, &watch, 1, before.tid, &mapping);
  unmap_file(&mapping);
  live_thread_start(&after, map_file, &mapping);
  live_thread_do(&after);
  check_mapping(*state, &watch, 2, after.tid, &mapping);
  unmap_file(&mapping);
  /* The thread has ended, but its process continues. */
  live_thread_end(&after);
  assert_int_equal(live_run_until(*state, &watch.exits, 1), 1);
  assert_int_equal(watch.exit_pid, getpid());
  assert_int_equal(watch.exit_tid, after.tid);
  live_thread_end(&before);
  assert_int_equal(live_run_until(*state, &watch.exits, 2), 1);
  map_file(&mapping);
  check_mapping(*state, &watch, 3, live_tid(), &mapping);
  assert_int_equal(stream.nr_ends, 0);
  unmap_file(&mapping);
  live_stream_close(&stream);
}

/* -- TestSystemWideMmapWatcherSeesMmap ------------------------------------ */

/* The watcher sees mappings on every CPU, not only on the first one. */
static void watcher_of_all_cpus_sees_it_on_each(void **state) {
  live_stream_t stream;
  mapping_t mapping;
  live_plan_t plan;
  watch_t watch;
  cpu_set_t old;
  int cpus[2];
  size_t i, nr;

  support_need_cpu_wide(__func__);
  name_file(&mapping);
  nr = live_cpus(cpus, 2);
  plan_maps(&plan);
  live_stream_plan_target(&plan, UVPERF_TARGET_CPUS, 0);
  begin(*state, &stream, &plan, &watch, mapping.path, getpid());
  for (i = 0; i < nr; i++) {
    live_pin(cpus[i], &old);
    map_file(&mapping);
    live_unpin(&old);
    check_mapping(*state, &watch, i + 1, live_tid(), &mapping);
    unmap_file(&mapping);
  }
  live_stream_close(&stream);
}

/* -- TestTrackerAutoAttachOnMmap ------------------------------------------ */

/* Becomes cat, which ends when its input does. */
static void become_cat(void *arg) {
  int *input = arg;

  dup2(input[0], 0);
  close(input[0]);
  close(input[1]);
  execlp("cat", "cat", (char *)NULL);
}

typedef struct scenario_s {
  watch_t watch; /* first: the hook's data */
  uint64_t maps; /* of the process since its execve(2) */
  char program[256];
} scenario_t;

static void note_map(live_stream_t *stream, const uvperf_record_t *record) {
  scenario_t *scenario = stream->hook_data;

  note_record(stream, record);
  if (record->type != PERF_RECORD_MMAP2 ||
      record->mmap.pid != scenario->watch.pid || scenario->watch.execs == 0)
    return;
  if (scenario->maps++ == 0)
    snprintf(scenario->program, sizeof(scenario->program), "%s",
             record->mmap.filename);
}

/* The mappings of another program come after its execve(2). All of them come
 * before the target's end is reported. */
static void watcher_sees_another_program_come_and_go(void **state) {
  live_stream_t stream;
  live_worker_t worker;
  live_plan_t plan;
  scenario_t scenario;
  int input[2];
  size_t mode;

  support_need_own_events(__func__);
  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    assert_int_equal(pipe2(input, O_CLOEXEC), 0);
    live_worker_fork(&worker, become_cat, input);
    plan_maps(&plan);
    live_stream_plan_mode(&plan, mode);
    live_stream_plan_target(&plan, UVPERF_TARGET_PROCESS, worker.pid);
    memset(&scenario, 0, sizeof(scenario));
    begin(*state, &stream, &plan, &scenario.watch, "", worker.pid);
    stream.on_record = note_map;
    live_worker_do(&worker);
    assert_int_equal(live_run_until(*state, &scenario.maps, 1), 1);
    assert_int_equal(scenario.watch.execs, 1);
    assert_true(scenario.program[0] == '/');
    assert_int_equal(stream.nr_ends, 0);
    close(input[0]);
    close(input[1]);
    assert_int_equal(live_run_until(*state, &stream.eofs, 1), 1);
    assert_int_equal(scenario.watch.exits, 1);
    assert_int_equal(stream.nr_ends, 1);
    assert_int_equal(stream.ended[0], 0);
    assert_int_equal(stream.records_at_end[0], stream.records);
    assert_int_equal(stream.after_end, 0);
    live_stream_close(&stream);
    live_worker_end(&worker);
  }
}

/* -- TestPIDTrackerRunObserver -------------------------------------------- */

static int stay(void *arg) {
  (void)arg;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  return pause();
}

static void watcher_of_all_cpus_reports_the_end_of_a_process(void **state) {
  live_stream_t stream;
  live_plan_t plan;
  watch_t watch;
  pid_t pid;

  support_need_cpu_wide(__func__);
  pid = support_fork(stay, NULL);
  plan_maps(&plan);
  live_stream_plan_target(&plan, UVPERF_TARGET_CPUS, 0);
  begin(*state, &stream, &plan, &watch, "", pid);
  assert_int_equal(kill(pid, SIGKILL), 0);
  assert_int_equal(live_run_until(*state, &watch.exits, 1), 1);
  assert_int_equal(watch.exit_tid, pid);
  assert_int_equal(support_wait(pid), 128 + SIGKILL);
  live_stream_close(&stream);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(watcher_of_a_thread_sees_its_mapping),
      support_loop_test(watcher_of_a_process_sees_those_of_each_thread),
      support_loop_test(watcher_of_all_cpus_sees_it_on_each),
      support_loop_test(watcher_sees_another_program_come_and_go),
      support_loop_test(watcher_of_all_cpus_reports_the_end_of_a_process),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
