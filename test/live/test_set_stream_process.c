/* SPDX-License-Identifier: MIT */
/* Live: the records of processes and commands with all their tasks, until the
 * last task has ended; and of CPUs, which have no end. */
#include "live_stream.h"

#include <unistd.h>

#include "live_thread.h"

#define COMMS 5 /* that each task makes each time */

static void make_comms(void *arg) {
  uint64_t next = 0;

  live_comm(&next, COMMS);
}

/* End of file is a parent that has failed: just go. */
static void wait_for(int fd) {
  char byte;

  while (read(fd, &byte, 1) < 0 && errno == EINTR)
    continue;
}

static void send_byte(int fd) {
  char byte = 0;

  if (write(fd, &byte, 1) != 1)
    abort();
}

/* -- a process ------------------------------------------------------------ */

/* Each is a pipe, read from [0] and written to [1]. */
typedef struct tree_s {
  pid_t pid;
  int ready[2];
  int go[2];
  int release[2];
} tree_t;

static void leave_grandchild(const tree_t *tree) {
  if (fork() != 0)
    return;
  make_comms(NULL);
  wait_for(tree->release[0]);
  make_comms(NULL);
  _exit(0);
}

/* With a thread that exists when the target is added, a later one, and a child
 * that outlives it. */
static int be_tree(void *arg) {
  live_thread_t early, late;
  tree_t *tree = arg;

  close(tree->release[1]);
  close(tree->go[1]);
  live_thread_start(&early, make_comms, NULL);
  send_byte(tree->ready[1]);
  wait_for(tree->go[0]);
  live_thread_do(&early);
  live_thread_start(&late, make_comms, NULL);
  live_thread_do(&late);
  live_thread_end(&late);
  live_thread_end(&early);
  make_comms(NULL);
  leave_grandchild(tree);
  return 0;
}

static void grow(tree_t *tree) {
  assert_int_equal(pipe(tree->ready), 0);
  assert_int_equal(pipe(tree->go), 0);
  assert_int_equal(pipe(tree->release), 0);
  tree->pid = support_fork(be_tree, tree);
  wait_for(tree->ready[0]);
}

static void close_pipes(tree_t *tree) {
  int i;

  for (i = 0; i < 2; i++) {
    close(tree->ready[i]);
    close(tree->go[i]);
    close(tree->release[i]);
  }
}

static void set_process_ends_with_the_last_that_it_made(void **state) {
  live_stream_t stream;
  live_plan_t plan;
  tree_t tree;
  size_t mode;

  support_need_own_events(__func__);
  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    grow(&tree);
    live_stream_plan(&plan);
    live_stream_plan_mode(&plan, mode);
    live_stream_plan_comm(&plan);
    live_stream_plan_target(&plan, UVPERF_TARGET_PROCESS, tree.pid);
    live_stream_begin(*state, &stream, &plan);
    live_run_ms(*state, 5);
    assert_int_equal(stream.comms, 0);
    send_byte(tree.go[1]);
    assert_true(live_run_until(*state, &stream.comms, 4 * COMMS));
    assert_int_equal(support_wait(tree.pid), 0);
    assert_true(live_run_ms(*state, 250) < 60);
    assert_int_equal(stream.nr_ends, 0);
    send_byte(tree.release[1]);
    assert_true(live_run_until(*state, &stream.eofs, 1));
    assert_int_equal(stream.nr_ends, 1);
    assert_int_equal(stream.comms, 5 * COMMS);
    assert_int_equal(stream.foreign, 0);
    assert_int_equal(stream.by_target[0], stream.records);
    live_stream_close(&stream);
    close_pipes(&tree);
  }
}

/* It ends the first thread and all others; the caller continues with the id of
 * the first: de_thread in fs/exec.c. */
static void exec_in_thread(void *arg) {
  tree_t *tree = arg;

  wait_for(tree->go[0]);
  execl("/bin/sh", "sh", "-c", "read go; (exit 0); exit 0", (char *)NULL);
  _exit(1);
}

static int be_exec_in_thread(void *arg) {
  live_thread_t thread;
  tree_t *tree = arg;

  if (dup2(tree->release[0], 0) != 0)
    return 1;
  close(tree->go[1]);
  close(tree->release[1]);
  live_thread_start(&thread, exec_in_thread, tree);
  /* A pipe takes this at once, so it arrives as a whole. */
  if (write(tree->ready[1], &thread.tid, sizeof(thread.tid)) < 0)
    return 1;
  live_thread_do(&thread);
  return 1;
}

static void set_thread_that_calls_execve_lives_on(void **state) {
  live_stream_t stream;
  live_plan_t plan;
  uint32_t tid;
  tree_t tree;
  size_t mode;
  int is_whole;

  support_need_own_events(__func__);
  for (is_whole = 0; is_whole < 2; is_whole++)
    for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
      assert_int_equal(pipe(tree.ready), 0);
      assert_int_equal(pipe(tree.go), 0);
      assert_int_equal(pipe(tree.release), 0);
      tree.pid = support_fork(be_exec_in_thread, &tree);
      assert_int_equal(read(tree.ready[0], &tid, sizeof(tid)), sizeof(tid));
      live_stream_plan(&plan);
      live_stream_plan_mode(&plan, mode);
      live_stream_plan_comm(&plan);
      live_stream_plan_target(
          &plan, is_whole ? UVPERF_TARGET_PROCESS : UVPERF_TARGET_THREAD,
          is_whole ? tree.pid : (pid_t)tid);
      live_stream_begin(*state, &stream, &plan);
      live_run_ms(*state, 5);
      send_byte(tree.go[1]);
      assert_true(live_run_until(*state, &stream.records, 1));
      live_run_ms(*state, 250);
      assert_int_equal(stream.nr_ends, 0);
      assert_int_equal(stream.foreign, 0);
      assert_int_equal(write(tree.release[1], "\n", 1), 1);
      assert_true(live_run_until(*state, &stream.eofs, 1));
      assert_int_equal(stream.nr_ends, 1);
      assert_int_equal(support_wait(tree.pid), 0);
      live_stream_close(&stream);
      close_pipes(&tree);
    }
}

/* -- a command ------------------------------------------------------------ */

static int be_command(void *arg) {
  tree_t *tree = arg;

  close(tree->go[1]);
  wait_for(tree->go[0]);
  execl("/bin/sh", "sh", "-c", "(exit 0); exit 7", (char *)NULL);
  return 1;
}

typedef struct seen_s {
  uint64_t execs;
  uint64_t forks;
  uint64_t before; /* the first exec */
} seen_t;

static void note(live_stream_t *stream, const uvperf_record_t *record) {
  seen_t *seen = stream->hook_data;

  if (record->type == UVPERF_RECORD_NONE)
    return;
  seen->execs += uvperf_record_is_exec(record) != 0;
  seen->forks += record->type == PERF_RECORD_FORK;
  seen->before += seen->execs == 0;
}

static void set_command_is_recorded_from_its_execve_to_its_end(void **state) {
  live_stream_t stream;
  live_plan_t plan;
  tree_t tree;
  size_t mode;
  seen_t seen;
  pid_t pid;

  support_need_own_events(__func__);
  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    memset(&seen, 0, sizeof(seen));
    assert_int_equal(pipe(tree.go), 0);
    pid = support_fork(be_command, &tree);
    live_stream_plan(&plan);
    live_stream_plan_mode(&plan, mode);
    live_stream_plan_comm(&plan)->comm_exec = 1;
    live_stream_plan_target(&plan, UVPERF_TARGET_COMMAND, pid);
    live_stream_open(*state, &stream, &plan.options);
    stream.on_record = note;
    stream.hook_data = &seen;
    live_stream_start(&stream, NULL);
    live_run_ms(*state, 150);
    assert_int_equal(stream.records, 0);
    assert_int_equal(stream.nr_ends, 0);
    send_byte(tree.go[1]);
    assert_true(live_run_until(*state, &stream.eofs, 1));
    assert_int_equal(support_wait(pid), 7);
    assert_int_equal(seen.execs, 1);
    assert_int_equal(seen.forks, 1);
    assert_int_equal(seen.before, 0);
    assert_int_equal(stream.nr_ends, 1);
    live_stream_close(&stream);
    close(tree.go[0]);
    close(tree.go[1]);
  }
}

/* -- CPUs ----------------------------------------------------------------- */

static void set_of_cpus_has_no_end(void **state) {
  live_stream_t stream;
  live_child_t child;
  live_plan_t plan;
  size_t mode;

  support_need_cpu_wide(__func__);
  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    live_child_fork(&child, 5);
    live_stream_plan(&plan);
    live_stream_plan_mode(&plan, mode);
    live_stream_plan_comm(&plan);
    live_stream_plan_target(&plan, UVPERF_TARGET_CPUS, 0);
    live_stream_plan_target(&plan, UVPERF_TARGET_THREAD, child.pid);
    live_stream_begin(*state, &stream, &plan);
    live_child_go(&child);
    live_child_wait(&child);
    assert_true(live_run_until(*state, &stream.comms, 10));
    assert_true(live_run_until(*state, &stream.nr_ends, 1));
    assert_int_equal(stream.ended[0], 1);
    live_run_ms(*state, 150);
    assert_int_equal(stream.eofs, 0);
    assert_int_equal(stream.nr_ends, 1);
    assert_int_equal(uvperf_is_active(&stream.live.set.handle), 1);
    live_stream_close(&stream);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(set_process_ends_with_the_last_that_it_made),
      support_loop_test(set_thread_that_calls_execve_lives_on),
      support_loop_test(set_command_is_recorded_from_its_execve_to_its_end),
      support_loop_test(set_of_cpus_has_no_end),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
