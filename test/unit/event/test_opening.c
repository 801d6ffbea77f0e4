/* SPDX-License-Identifier: MIT */
/* Scripted: an event that is opened on libuv's pool, and other events: its
 * leader, one whose leader or output it is to be. What all handles have in
 * common then is in live/test_life_opening.c. */
#include "scripted_event.h"
#include "scripted_handles.h"

#include <fcntl.h>
#include <unistd.h>

#include "fake_pool.h"
#include "sys/sys.h"

static const scripted_row_t rows[] = {
    {"event_open_asks_for_the_same_as_init",
     "attr comm; init; task 1 1 5; options leader=h0 pid=1 cpu cpu=1 later\n"
     "init ->\n"
     "pool -> open e1@1:1<copy, mmap e1, h1 opened 0\n"
     "enable h0 -> ENABLE e1 e0\n"},
    {"event_that_is_not_open_is_neither_leader_nor_output",
     "attr comm; options no_ring identify; init; options later; init\n"
     "fail open 1 EACCES; options later leader=h1; init -> EBUSY argument\n"
     "output h0 h1 -> EBUSY argument\n"
     "pool -> open @me EACCES, h1 opened EACCES permission\n"
     "init -> EBADF argument\n"
     "output h0 h1 -> EBADF argument\n"},
    {"leader_closed_while_its_sibling_is_opened_is_no_matter",
     "attr comm; init; options leader=h0 later; init; close h0; turn\n"
     "pool -> open e1@me<copy, mmap e1, h1 opened 0\n"},
    /* The leader's attr is copied. */
    {"sibling_without_memory_is_not_opened",
     "each calloc ENOMEM; attr comm; init; options leader=h0 later; sweep\n"
     "init; pool\n"},
    {"event_open_that_cannot_be_right_fails_at_once",
     "attr comm; init; options later flags=0x80000000; init -> EINVAL "
     "argument\n"
     /* The leader's fd is not closed. */
     "options later leader=h0 cpu cgroup cgroup=1023; init -> EBADF argument\n"
     "pool ->\n"},
};

typedef struct opened_s {
  uvperf_event_t event;
  struct perf_event_attr attr;
  int opened; /* calls of its callback */
  int status;
  uvperf_error_t error;
  int closed;
} opened_t;

static void on_open(uvperf_handle_t *base, int status,
                    const uvperf_error_t *error) {
  opened_t *opened = base->data;

  assert_int_equal(opened->closed, 0);
  assert_int_equal(status == 0, error == NULL);
  opened->opened += 1;
  opened->status = status;
  if (error != NULL)
    opened->error = *error;
}

static void on_close(uvperf_handle_t *handle) {
  ((opened_t *)handle->data)->closed += 1;
}

static fake_event_t *plan(opened_t *opened) {
  fake_event_t *fake;

  fake_kernel_reset();
  fake = fake_event_add(7);
  memset(opened, 0, sizeof(*opened));
  scripted_event_attr(&opened->attr);
  opened->event.handle.data = opened;
  fake_pool_hold();
  return fake;
}

static int begin(uv_loop_t *loop, opened_t *opened,
                 const uvperf_event_options_t *options) {
  uvperf_event_options_t own = UVPERF_EVENT_OPTIONS_INIT;

  if (options != NULL)
    own = *options;
  own.open_cb = on_open;
  return uvperf_event_init(loop, &opened->event, &opened->attr, &own,
                           &opened->error);
}

static void close_event(uv_loop_t *loop, opened_t *opened) {
  uvperf_close(&opened->event.handle, on_close);
  do
    fake_pool_finish();
  while (uv_run(loop, UV_RUN_NOWAIT) != 0 || fake_pool_waits());
  assert_int_equal(opened->closed, 1);
}

/* -- failures -------------------------------------------------------------- */

/* A place to measure: an fd of a cgroup or 0, a CPU, a task. */
typedef struct place_s {
  int cgroup;
  int cpu;
  int pid;
} place_t;

static uvperf_event_options_t options_of(const place_t *place,
                                         uvperf_event_t *leader) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;

  options.flags = UVPERF_EVENT_CPU | (place->cgroup ? UVPERF_EVENT_CGROUP : 0);
  options.cgroup = place->cgroup;
  options.cpu = place->cpu;
  options.pid = place->pid;
  options.leader = leader;
  return options;
}

/* A number that has just been closed, and that must not be closed again. */
static int reused;

static void reuse_fd(uvperf_handle_t *handle, int status,
                     const uvperf_error_t *error) {
  reused = open("/dev/null", O_RDONLY | O_CLOEXEC);
  on_open(handle, status, error);
}

static void do_nothing(void *arg) {
}

/* The kernel refuses the event and its error says why, as by init. The leader
 * goes on without it. */
static void fail_sibling(uv_loop_t *loop, const place_t *of_leader,
                         const place_t *of_sibling, int is_nested,
                         const char *word) {
  uvperf_event_options_t options = options_of(of_leader, NULL);
  live_collector_t leader, member;
  uvperf_count_t counts[2];
  uvperf_error_t expected;
  uvperf_event_t sibling;
  opened_t opened;

  plan(&opened);
  fake_event_add(8);
  live_init(loop, &leader, &opened.attr, &options);
  options.leader = &leader.event;
  if (is_nested)
    live_init(loop, &member, &opened.attr, &options);
  options = options_of(of_sibling, is_nested ? &member.event : &leader.event);
  fake_fail(FAKE_OPEN, 1, -EINVAL);
  assert_int_equal(
      uvperf_event_init(loop, &sibling, &opened.attr, &options, &expected),
      UV_EINVAL);
  assert_non_null(strstr(expected.reason, word));
  fake_fail(FAKE_OPEN, 1, -EINVAL);
  options.open_cb = reuse_fd;
  assert_int_equal(uvperf_event_init(loop, &opened.event, &opened.attr,
                                     &options, &opened.error),
                   0);
  fake_pool_finish();
  assert_int_equal(opened.status, UV_EINVAL);
  assert_string_equal(opened.error.reason, expected.reason);
  assert_int_equal(close(reused), 0);
  /* The group has no more events than before, else it would be UV_EINVAL. The
   * scripted events have no counts. */
  assert_int_equal(uvperf_event_measure(&leader.event, do_nothing, NULL, counts,
                                        is_nested ? 2 : 1, NULL),
                   UV_EBADF);
  close_event(loop, &opened);
  if (is_nested)
    live_close(&member);
  live_close(&leader);
  fake_assert_clean();
}

static void sibling_that_is_refused_is_explained_as_by_init(void **state) {
  int cgroup = open("/", O_RDONLY | O_CLOEXEC);
  int other = open("/proc", O_RDONLY | O_CLOEXEC);
  size_t fds = support_count_fds();
  const place_t here = {0, 1, 0}, elsewhere = {0, 0, 0}, of_other = {0, 1, 1};
  const place_t grouped = {cgroup, 1, 0}, other_group = {other, 1, 0};

  fail_sibling(*state, &grouped, &grouped, 0, "");
  fail_sibling(*state, &grouped, &other_group, 0, "another cgroup");
  fail_sibling(*state, &grouped, &here, 0, "only one");
  fail_sibling(*state, &here, &elsewhere, 0, "another CPU");
  fail_sibling(*state, &of_other, &here, 0, "another thread");
  fail_sibling(*state, &here, &here, 1, "member");
  assert_int_equal(support_count_fds(), fds);
  close(cgroup);
  close(other);
}

/* -- threads that end ------------------------------------------------------ */

typedef struct beginner_s {
  uv_loop_t *loop;
  opened_t *opened;
  const uvperf_event_options_t *options;
  char task[64];
} beginner_t;

static void begin_on_thread(void *arg) {
  beginner_t *beginner = arg;

  snprintf(beginner->task, sizeof(beginner->task), "/proc/self/task/%u",
           live_tid());
  assert_int_equal(begin(beginner->loop, beginner->opened, beginner->options),
                   0);
}

/* Returns the status of an event whose init was called by a thread that has
 * ended when the pool opens the event. */
static int open_by_thread_that_ends(uv_loop_t *loop, int is_given,
                                    const uvperf_event_options_t *options) {
  uvperf_event_options_t own = *options;
  opened_t opened;
  beginner_t beginner = {loop, &opened, &own, ""};
  uv_thread_t thread;

  plan(&opened);
  if (is_given)
    own.fd = uvperf__sys_open(&opened.attr, 0, -1, -1, 0);
  assert_int_equal(uv_thread_create(&thread, begin_on_thread, &beginner), 0);
  uv_thread_join(&thread);
  while (access(beginner.task, F_OK) == 0)
    continue;
  fake_pool_finish();
  assert_int_equal(opened.opened, 1);
  close_event(loop, &opened);
  if (is_given && opened.status != 0)
    assert_int_equal(uvperf__sys_close(own.fd), 0);
  fake_assert_clean();
  return opened.status;
}

/* It matters only if the event measures the thread. */
static void thread_that_ends_before_its_event_is_opened_is_esrch(void **state) {
  const place_t place = {0, 1, 0};
  uvperf_event_options_t options = options_of(&place, NULL);

  assert_int_equal(open_by_thread_that_ends(*state, 0, &options), UV_ESRCH);
  options.flags |= UVPERF_EVENT_FD;
  assert_int_equal(open_by_thread_that_ends(*state, 1, &options), 0);
  options = options_of(&place, NULL);
  options.flags |= UVPERF_EVENT_CGROUP; /* of stdin */
  assert_int_equal(open_by_thread_that_ends(*state, 0, &options), 0);
  options = options_of(&place, NULL);
  options.pid = -1;
  assert_int_equal(open_by_thread_that_ends(*state, 0, &options), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      fake_kernel_test(sibling_that_is_refused_is_explained_as_by_init),
      fake_kernel_test(thread_that_ends_before_its_event_is_opened_is_esrch),
  };

  return SCRIPTED_ROWS_AND_TESTS(&scripted_handles, rows, tests);
}
