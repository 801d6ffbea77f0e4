/* SPDX-License-Identifier: MIT */
/* Live: the controls of a set, besides reading it, and targets that fork and
 * execute. */
#include "live_set.h"

#include <sys/wait.h>
#include <unistd.h>

#include "fake_kernel.h"
#include "live_bpf.h"
#include "live_thread.h"

/* The calls of the program that this one executes; see main. */
#define COMMAND_CALLS 25

static void syscalls(void *arg) {
  live_syscall(*(const uint64_t *)arg);
}

/* A filter is of one attr, at each place and at those to come. */
static void set_filter_holds_at_places_that_come_later(void **state) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  uint64_t tracepoint = support_need_tracepoint(__func__, LIVE_SYSCALL);
  live_thread_t thread;
  uint64_t work = 30;
  uvperf_error_t error;
  live_plan_t plan;
  live_set_t live;

  live_plan_begin(&plan);
  live_plan_syscall(&plan, tracepoint);
  live_plan_syscall(&plan, tracepoint);
  live_plan_target(&plan, UVPERF_TARGET_SELF);
  live_thread_start(&thread, syscalls, &work);
  live_set_begin(*state, &live, &plan.options);
  assert_int_equal(uvperf_apply_filter(&live.set.handle, 0, "pid == 1", &error),
                   0);
  target.type = UVPERF_TARGET_THREAD;
  target.pid = (int32_t)thread.tid;
  assert_int_equal(uvperf_set_add(&live.set, &target, NULL, NULL, NULL), 0);
  live_syscall(5);
  live_thread_do(&thread);
  assert_true(getpgid(1) >= 0);
  assert_int_equal(live_set_read(&live, 0).value, 1);
  assert_int_equal(live_set_read(&live, 1).value, 36);
  assert_int_equal(uvperf_apply_filter(&live.set.handle, 0, "pid == 2", &error),
                   UV_EEXIST);
  assert_int_equal(error.cause, UVPERF_CAUSE_EXISTS);
  assert_int_equal(uvperf_apply_filter(&live.set.handle, 1, "nonsense", &error),
                   UV_EINVAL);
  assert_int_equal(error.attr_index, 1);
  assert_int_equal(uvperf_apply_filter(&live.set.handle, 1, NULL, &error),
                   UV_EINVAL);
  assert_int_equal(uvperf_apply_filter(&live.set.handle, 2, "pid == 1", &error),
                   UV_EINVAL);
  assert_int_equal(error.cause, UVPERF_CAUSE_ARGUMENT);
  live_thread_end(&thread);
  live_set_close(&live);
}

static void set_period_is_for_attrs_that_sample(void **state) {
  uvperf_error_t error;
  live_plan_t plan;
  live_set_t live;

  support_need_own_events(__func__);
  live_plan_begin(&plan);
  live_plan_software(&plan, PERF_COUNT_SW_PAGE_FAULTS);
  uvperf_attr_set_period(&plan.attrs[0], 1000);
  live_plan_software(&plan, PERF_COUNT_SW_PAGE_FAULTS);
  plan.attrs[0].exclude_kernel = plan.attrs[1].exclude_kernel = 1;
  live_plan_target(&plan, UVPERF_TARGET_SELF);
  live_set_begin(*state, &live, &plan.options);
  assert_int_equal(uvperf_change_period(&live.set.handle, 0, 77, &error), 0);
  assert_int_equal(uvperf_set_item(&live.set, 0)->attr->sample_period, 77);
  assert_int_equal(uvperf_change_period(&live.set.handle, 1, 77, &error),
                   UV_EINVAL);
  assert_int_equal(error.attr_index, 1);
  assert_int_equal(uvperf_change_period(&live.set.handle, 2, 77, &error),
                   UV_EINVAL);
  live_set_close(&live);
}

/* A pid that no other process asks for: a program on a tracepoint affects the
 * hits of all processes. */
static int own_argument(void) {
  return LIVE_PGID + getpid();
}

static void own_calls(void *arg) {
  uint64_t i;

  for (i = 0; i < *(const uint64_t *)arg; i++)
    if (getpgid(own_argument()) >= 0)
      abort();
}

/* A program that drops hits is of the tracepoint, and so of all places. */
static void set_bpf_program_runs_for_all_places(void **state) {
  uint64_t tracepoint = support_need_tracepoint(__func__, LIVE_SYSCALL);
  int prog = live_bpf_by_argument(__func__, 0, own_argument(), 0);
  live_thread_t thread;
  uint64_t work = 30;
  uvperf_error_t error;
  live_plan_t plan;
  live_set_t live;

  live_plan_begin(&plan);
  live_plan_syscall(&plan, tracepoint);
  live_plan_target(&plan, UVPERF_TARGET_SELF);
  live_thread_start(&thread, own_calls, &work);
  live_plan_target(&plan, UVPERF_TARGET_THREAD)->pid = (int32_t)thread.tid;
  live_set_begin(*state, &live, &plan.options);
  own_calls(&work);
  live_thread_do(&thread);
  assert_int_equal(live_set_read(&live, 0).value, 60);
  assert_int_equal(uvperf_attach_bpf(&live.set.handle, 0, prog, 0, &error), 0);
  close(prog);
  own_calls(&work);
  live_thread_do(&thread);
  live_syscall(1);
  assert_int_equal(live_set_read(&live, 0).value, 61);
  assert_int_equal(uvperf_attach_bpf(&live.set.handle, 1, 0, 0, &error),
                   UV_EINVAL);
  live_thread_end(&thread);
  live_set_close(&live);
}

/* -- fallbacks ------------------------------------------------------------ */

static int no_hardware(struct perf_event_attr *attr) {
  return attr->type == PERF_TYPE_HARDWARE ? -ENOENT : 0;
}

/* Without a PMU: reported once, for all places. */
static void set_fallback_is_reported_and_in_the_item(void **state) {
  const uvperf_change_t *changes;
  live_plan_t plan;
  live_set_t live;
  size_t nr;

  support_need_own_events(__func__);
  fake_on_open(no_hardware);
  live_plan_begin(&plan);
  uvperf_attr_hardware(live_plan_attr(&plan), PERF_COUNT_HW_CPU_CYCLES);
  live_plan_software(&plan, PERF_COUNT_SW_DUMMY);
  plan.attrs[0].exclude_kernel = plan.attrs[1].exclude_kernel = 1;
  plan.options.fallbacks = UVPERF_FALLBACK_CLOCK;
  live_plan_target(&plan, UVPERF_TARGET_SELF);
  live_plan_target(&plan, UVPERF_TARGET_SELF);
  live_set_begin(*state, &live, &plan.options);
  changes = uvperf_changes(&live.set.handle, 0, &nr);
  assert_true(nr > 0);
  assert_int_equal(changes[0].fallback, UVPERF_FALLBACK_CLOCK);
  assert_int_equal(uvperf_set_item(&live.set, 0)->attr->type,
                   PERF_TYPE_SOFTWARE);
  assert_int_equal(uvperf_set_item(&live.set, 0)->attr->config,
                   PERF_COUNT_SW_TASK_CLOCK);
  assert_string_equal(uvperf_set_item(&live.set, 0)->label, "task-clock:uh");
  assert_string_equal(uvperf_set_item(&live.set, 0)->unit, "ns");
  assert_null(uvperf_changes(&live.set.handle, 1, &nr));
  assert_int_equal(nr, 0);
  assert_null(uvperf_changes(&live.set.handle, 2, &nr));
  assert_int_equal(nr, 0);
  live_set_read(&live, 0);
  assert_true(live_set_read(&live, 0).value > 0);
  live_set_close(&live);
}

/* -- tasks that fork and execute ------------------------------------------ */

/* Nothing that it does earlier is counted. */
static void become_command(void *arg) {
  live_syscall(100);
  execl("/proc/self/exe", "command", "work", (char *)NULL);
  abort();
}

/* Enabled or not before its exec: the kernel does that. */
static void count_command(const char *test, uv_loop_t *loop, int enable) {
  uvperf_target_t *target;
  live_worker_t worker;
  live_plan_t plan;
  live_set_t live;

  live_plan_begin(&plan);
  live_plan_syscall(&plan, support_need_tracepoint(test, LIVE_SYSCALL));
  live_worker_fork(&worker, become_command, NULL);
  target = live_plan_target(&plan, UVPERF_TARGET_COMMAND);
  target->pid = worker.pid;
  live_set_open(loop, &live, &plan.options);
  if (enable)
    assert_int_equal(uvperf_enable(&live.set.handle, UVPERF_ALL, NULL), 0);
  live_worker_do(&worker);
  live_worker_end(&worker);
  assert_int_equal(live_set_read(&live, 0).value, COMMAND_CALLS);
  live_set_read(&live, 0);
  assert_int_equal(live_set_read(&live, 0).value, COMMAND_CALLS);
  assert_int_equal(live_set_read(&live, 0).state, UVPERF_COUNT_GONE);
  live_set_close(&live);
}

static void on_exit_status(uv_process_t *process, int64_t status, int signal) {
  assert_int_equal(status, 0);
  assert_int_equal(signal, 0);
  uv_close((uv_handle_t *)process, NULL);
}

static void set_of_command_counts_from_its_exec(void **state) {
  count_command(__func__, *state, 0);
  count_command(__func__, *state, 1);
}

/* uv_spawn has no stop before execve(2): a shell waits instead. */
static void set_of_command_of_uv_spawn_counts_from_its_exec(void **state) {
  static char read_and_exec[] = "read go <&3; exec 3<&- \"$@\"";
  char self[4096];
  char *args[] = {"sh", "-c", read_and_exec, "sh", self, "work", NULL};
  uv_stdio_container_t stdio[4];
  uv_process_options_t spawn;
  uv_process_t process;
  uv_buf_t line = uv_buf_init("\n", 1);
  ssize_t size;
  uv_pipe_t gate;
  live_plan_t plan;
  live_set_t live;

  size = readlink("/proc/self/exe", self, sizeof(self) - 1);
  assert_true(size > 0);
  self[size] = '\0';
  memset(&spawn, 0, sizeof(spawn));
  memset(stdio, 0, sizeof(stdio));
  live_plan_begin(&plan);
  live_plan_syscall(&plan, support_need_tracepoint(__func__, LIVE_SYSCALL));
  assert_int_equal(uv_pipe_init(*state, &gate, 0), 0);
  stdio[3].flags = UV_CREATE_PIPE | UV_READABLE_PIPE;
  stdio[3].data.stream = (uv_stream_t *)&gate;
  spawn.file = "/bin/sh";
  spawn.args = args;
  spawn.stdio = stdio;
  spawn.stdio_count = 4;
  spawn.exit_cb = on_exit_status;
  assert_int_equal(uv_spawn(*state, &process, &spawn), 0);
  live_plan_target(&plan, UVPERF_TARGET_COMMAND)->pid = process.pid;
  live_set_open(*state, &live, &plan.options);
  assert_int_equal(live_set_read(&live, 0).state, UVPERF_COUNT_NOT_ENABLED);
  assert_int_equal(uv_try_write((uv_stream_t *)&gate, &line, 1), 1);
  uv_close((uv_handle_t *)&gate, NULL);
  uv_run(*state, UV_RUN_DEFAULT);
  assert_int_equal(live_set_read(&live, 0).value, COMMAND_CALLS);
  live_set_close(&live);
}

/* Itself, a child and a thread. */
static void fork_and_call(void *arg) {
  pid_t pid = fork();
  uint64_t work = 2;
  live_thread_t thread;
  int status;

  live_syscall(pid == 0 ? 5 : 3);
  if (pid == 0)
    _exit(0);
  if (waitpid(pid, &status, 0) != pid || status != 0)
    abort();
  live_thread_start(&thread, syscalls, &work);
  live_thread_do(&thread);
  live_thread_end(&thread);
}

static void count_process(const char *test, uv_loop_t *loop, uint32_t flags,
                          uint64_t each) {
  uvperf_target_t *target;
  live_worker_t worker;
  live_plan_t plan;
  live_set_t live;

  live_plan_begin(&plan);
  live_plan_syscall(&plan, support_need_tracepoint(test, LIVE_SYSCALL));
  live_worker_fork(&worker, fork_and_call, NULL);
  target = live_plan_target(&plan, UVPERF_TARGET_PROCESS);
  target->pid = worker.pid;
  target->flags = flags;
  live_set_open(loop, &live, &plan.options);
  live_worker_do(&worker); /* inherited while it is disabled */
  assert_int_equal(uvperf_enable(&live.set.handle, UVPERF_ALL, NULL), 0);
  live_worker_do(&worker);
  live_worker_do(&worker);
  assert_int_equal(live_set_read(&live, 0).value, 2 * each);
  /* The counts of children that have ended are reset too. */
  assert_int_equal(uvperf_reset(&live.set.handle, UVPERF_ALL, NULL), 0);
  live_worker_do(&worker);
  assert_int_equal(live_set_read(&live, 0).value, each);
  live_worker_end(&worker);
  live_set_close(&live);
}

static void set_of_process_counts_its_children(void **state) {
  count_process(__func__, *state, 0, 10);
  count_process(__func__, *state, UVPERF_TARGET_NO_INHERIT, 3);
}

static void set_of_cgroup_counts_what_is_in_it(void **state) {
  uvperf_target_t *target;
  live_cgroup_t cgroup;
  live_worker_t worker;
  live_plan_t plan;
  live_set_t live;
  uint64_t tracepoint = support_need_tracepoint(__func__, LIVE_SYSCALL);

  support_need_cpu_wide(__func__);
  live_cgroup_make(__func__, &cgroup);
  live_plan_begin(&plan);
  live_plan_syscall(&plan, tracepoint);
  live_worker_fork(&worker, fork_and_call, NULL);
  target = live_plan_target(&plan, UVPERF_TARGET_CGROUP);
  target->cgroup = cgroup.path;
  live_set_begin(*state, &live, &plan.options);
  live_worker_do(&worker);
  assert_int_equal(live_set_read(&live, 0).value, 0);
  live_cgroup_add(&cgroup, worker.pid);
  live_worker_do(&worker);
  assert_int_equal(live_set_read(&live, 0).value, 10);
  live_worker_end(&worker);
  live_set_close(&live);
  live_cgroup_remove(&cgroup);
}

#define CONTROL(test)                                                          \
  support_loop_test_setup_teardown(test, fake_kernel_loop_setup,               \
                                   fake_kernel_loop_teardown)

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      CONTROL(set_filter_holds_at_places_that_come_later),
      CONTROL(set_period_is_for_attrs_that_sample),
      CONTROL(set_bpf_program_runs_for_all_places),
      CONTROL(set_fallback_is_reported_and_in_the_item),
      CONTROL(set_of_command_counts_from_its_exec),
      CONTROL(set_of_command_of_uv_spawn_counts_from_its_exec),
      CONTROL(set_of_process_counts_its_children),
      CONTROL(set_of_cgroup_counts_what_is_in_it),
  };

  if (argc == 2 && strcmp(argv[1], "work") == 0) {
    live_syscall(COMMAND_CALLS);
    return 0;
  }
  return cmocka_run_group_tests(tests, NULL, NULL);
}
