/* SPDX-License-Identifier: MIT */
/* Live: a forked child has a copy of the parent's reader, whose events, rings
 * and entries are not its own. */
#include "live_bpf_reader.h"

#include <errno.h>
#include <unistd.h>

/* Whether every function except the getters fails. */
static int is_refused(live_bpf_reader_t *live) {
  uvperf_bpf_reader_t *reader = &live->reader;
  uvperf_ring_info_t ring;
  uvperf_stats_t stats;
  uvperf_error_t error;

  uvperf_stats(&reader->handle, &stats);
  return uvperf_start(&reader->handle, NULL, live_bpf_reader_on_sample,
                      &error) == UV_EPERM &&
         error.cause == UVPERF_CAUSE_ARGUMENT &&
         uvperf_stop(&reader->handle) == UV_EPERM &&
         uvperf_bpf_reader_unpublish(reader, &error) == UV_EPERM &&
         error.cause == UVPERF_CAUSE_ARGUMENT &&
         uvperf_bpf_reader_publish(reader, &error) == UV_EPERM &&
         error.cause == UVPERF_CAUSE_ARGUMENT &&
         uvperf_flush(&reader->handle) == UV_EPERM &&
         uvperf_snapshot(&reader->handle, 0, NULL, NULL) == UV_EPERM &&
         uvperf_nr_rings(&reader->handle) > 0 &&
         uvperf_ring(&reader->handle, 0, &ring) == 0 && ring.fd >= 0 &&
         uvperf_bpf_reader_cpu_status(reader, 0) == 0 &&
         uvperf_handle_attr(&reader->handle, 0)->type == PERF_TYPE_SOFTWARE;
}

/* A child that follows the rules: uv_loop_fork, close, run. */
static int child_by_the_rules(void *arg) {
  live_bpf_reader_t *live = arg;
  uv_loop_t *loop = live->reader.handle.loop;

  if (uv_loop_fork(loop) != 0)
    return 1;
  if (!is_refused(live))
    return 2;
  uvperf_close(&live->reader.handle, NULL);
  while (uv_run(loop, UV_RUN_DEFAULT) != 0)
    continue;
  if (live->records != 0 || live->reader.handle.impl != NULL)
    return 3;
  return uv_loop_close(loop) == 0 ? 0 : 4;
}

static void child_leaves_the_parent_alone(uv_loop_t *loop, const char *test,
                                          int has_same_pid) {
  live_bpf_reader_t live;
  int status;

  live_bpf_reader_begin(test, loop, &live);
  live_bpf_reader_send_all(&live, 0, 3);
  if (has_same_pid)
    status = support_run_with_same_pid(test, child_by_the_rules, &live);
  else
    status = support_wait(support_fork(child_by_the_rules, &live));
  assert_int_equal(status, 0);
  live_bpf_reader_send_all(&live, 0, 3);
  live_bpf_reader_send_all(&live, live_last_cpu(), 3);
  assert_true(live_run_until(loop, &live.samples, 9));
  live_bpf_reader_send_all(&live, 0, 3);
  assert_true(live_run_until(loop, &live.samples, 12));
  assert_int_equal(live.strange, 0);
  live_bpf_reader_end(&live);
}

static void forked_child_closes_leaves_the_parent_alone(void **state) {
  child_leaves_the_parent_alone(*state, __func__, 0);
}

static void child_with_the_same_pid_leaves_the_parent_alone(void **state) {
  child_leaves_the_parent_alone(*state, __func__, 1);
}

/* One that forgets to close. */
static int run_without_close(void *arg) {
  live_bpf_reader_t *live = arg;
  uv_loop_t *loop = live->reader.handle.loop;

  if (uv_loop_fork(loop) != 0)
    return 1;
  live_run_ms(loop, 20);
  return live->records != 0 || uvperf_is_active(&live->reader.handle);
}

static void forked_child_delivers_nothing(void **state) {
  live_bpf_reader_t live;

  live_bpf_reader_begin(__func__, *state, &live);
  live_bpf_reader_send_all(&live, 0, 3);
  assert_int_equal(support_wait(support_fork(run_without_close, &live)), 0);
  assert_true(live_run_until(*state, &live.samples, 3));
  live_bpf_reader_end(&live);
}

static void fork_in_callback(live_bpf_reader_t *live, int status,
                             const uvperf_record_t *sample) {
  pid_t *pid = live->hook_data;

  (void)status;
  (void)sample;
  if (*pid != -1)
    return;
  fflush(NULL);
  *pid = fork();
  if (*pid != 0)
    return;
  if (uv_loop_fork(live->reader.handle.loop) != 0)
    _exit(1);
  uvperf_close(&live->reader.handle, NULL);
}

/* In a turn of the loop, and in a flush. */
static void reader_forked_in_its_callback_is_clean(void **state) {
  uv_loop_t *loop = *state;
  live_bpf_reader_t live;
  uint64_t before = 0;
  int by_flush;
  pid_t pid;

  live_bpf_reader_begin(__func__, loop, &live);
  for (by_flush = 0; by_flush < 2; by_flush++) {
    pid = -1;
    live.on_sample = fork_in_callback;
    live.hook_data = &pid;
    live_bpf_reader_send_all(&live, 0, 5);
    if (by_flush)
      uvperf_flush(&live.reader.handle);
    while (pid == -1)
      uv_run(loop, UV_RUN_ONCE);
    if (pid == 0) {
      while (uv_run(loop, UV_RUN_DEFAULT) != 0)
        continue;
      _exit(live.samples == before + 1 && live.reader.handle.impl == NULL &&
                    uv_loop_close(loop) == 0
                ? 0
                : 2);
    }
    assert_int_equal(support_wait(pid), 0);
    assert_true(live_run_until(loop, &live.samples, before + 5));
    live_bpf_reader_send_all(&live, 0, 2);
    assert_true(live_run_until(loop, &live.samples, before + 7));
    before += 7;
  }
  assert_int_equal(live.strange, 0);
  live_bpf_reader_end(&live);
}

/* A child that never closes, and lives longer than the parent's handle. */
static int wait_for_the_parent(void *arg) {
  char byte;

  return read(*(int *)arg, &byte, 1) == 0 ? 0 : 1;
}

/* It has the file by which the events were put into the map: they are in it as
 * long as the child lives, but they are off. */
static void reader_closed_while_a_child_lives_is_off(void **state) {
  live_bpf_reader_t live;
  int ends[2];
  pid_t pid;

  live_bpf_array_need_files(__func__);
  live_bpf_reader_begin(__func__, *state, &live);
  assert_int_equal(pipe(ends), 0);
  fflush(NULL);
  pid = fork();
  if (pid == 0) {
    close(ends[1]);
    _exit(wait_for_the_parent(&ends[0]));
  }
  assert_true(pid > 0);
  live_bpf_reader_send_all(&live, 0, 1);
  assert_true(live_run_until(*state, &live.samples, 1));
  uvperf_close(&live.reader.handle, live_bpf_reader_on_close);
  assert_int_equal(live_bpf_reader_send(&live, 0, 24), -EOPNOTSUPP);
  live_bpf_reader_wait_closed(&live);
  assert_int_equal(live_bpf_reader_send(&live, 0, 24), -EOPNOTSUPP);
  /* Another reader of the map is not disturbed, nor by the child's end. */
  live_bpf_reader_open(*state, &live, NULL);
  live_bpf_reader_start(&live, NULL);
  live_bpf_reader_send_all(&live, 0, 1);
  assert_true(live_run_until(*state, &live.samples, 2));
  assert_int_equal(close(ends[1]), 0);
  assert_int_equal(support_wait(pid), 0);
  assert_int_equal(close(ends[0]), 0);
  live_bpf_reader_send_all(&live, 0, 1);
  assert_true(live_run_until(*state, &live.samples, 3));
  live_bpf_reader_end(&live);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(forked_child_closes_leaves_the_parent_alone),
      support_loop_test(child_with_the_same_pid_leaves_the_parent_alone),
      support_loop_test(forked_child_delivers_nothing),
      support_loop_test(reader_forked_in_its_callback_is_clean),
      support_loop_test(reader_closed_while_a_child_lives_is_off),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
