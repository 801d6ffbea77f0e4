/* SPDX-License-Identifier: MIT */
/* Live: BPF programs at the events of a set, and when they run. */
#include "live_bpf.h"
#include "live_set.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "fake_kernel.h"

/* No process has it for an id, and no other test asks for it. */
static pid_t own_argument(void) {
  return 0x6000000 + getpid();
}

static void call_getpgid(uint64_t nr) {
  while (nr-- > 0)
    syscall(SYS_getpgid, own_argument());
}

static void set_program(live_set_t *live, int fd) {
  uvperf_error_t error;

  error.reason[0] = '\0';
  if (uvperf_attach_bpf(&live->set.handle, 0, fd, 0, &error) != 0)
    fail_msg("%s", error.reason);
}

static void enable(live_set_t *live) {
  assert_int_equal(uvperf_enable(&live->set.handle, UVPERF_ALL, NULL), 0);
}

/* -- clocks --------------------------------------------------------------- */

/* A clock on each CPU, and a program for them. */
static void open_clocks(const char *test, uv_loop_t *loop, live_set_t *live,
                        live_bpf_counter_t *counter) {
  live_plan_t plan;

  support_need_cpu_wide(test);
  live_bpf_counter_open(test, counter, BPF_PROG_TYPE_PERF_EVENT, 0);
  live_plan_begin(&plan);
  live_plan_software(&plan, PERF_COUNT_SW_CPU_CLOCK);
  plan.attrs[0].sample_period = 1000000;
  live_plan_target(&plan, UVPERF_TARGET_CPUS);
  live_set_open(loop, live, &plan.options);
}

static void close_both(live_set_t *live, live_bpf_counter_t *counter) {
  live_set_close(live);
  live_bpf_counter_close(counter);
}

static size_t nr_clocks(live_set_t *live) {
  return uvperf_set_nr_open(&live->set);
}

/* Waits until the program has run on each CPU of the set so often from now
 * on. */
static void wait_for_runs(live_set_t *live, const live_bpf_counter_t *counter,
                          uint64_t nr) {
  const uvperf_place_t *place;
  uint64_t least;
  size_t i;

  assert_int_equal(uvperf_set_read(&live->set, live->reading, NULL), 0);
  for (i = 0; i < uvperf_reading_info(live->reading)->nr_places; i++) {
    place = uvperf_reading_place(live->reading, i);
    least = live_bpf_counter_runs(counter, place->cpu) + nr;
    while (live_bpf_counter_runs(counter, place->cpu) < least)
      sched_yield();
  }
}

/* perf-agent's deferred enable. Another program is attached to the clocks that
 * measure the wait. */
static void
set_program_of_clocks_runs_on_each_cpu_while_enabled_alone(void **state) {
  live_bpf_counter_t counter, watch;
  live_set_t live, watched;
  uint64_t runs;

  open_clocks(__func__, *state, &watched, &watch);
  set_program(&watched, watch.fd);
  enable(&watched);
  open_clocks(__func__, *state, &live, &counter);
  set_program(&live, counter.fd);
  wait_for_runs(&watched, &watch, 5);
  assert_int_equal(live_bpf_counter_runs(&counter, -1), 0);
  enable(&live);
  wait_for_runs(&live, &counter, 3);
  assert_int_equal(uvperf_disable(&live.set.handle, UVPERF_ALL, NULL), 0);
  runs = live_bpf_counter_runs(&counter, -1);
  wait_for_runs(&watched, &watch, 5);
  assert_int_equal(live_bpf_counter_runs(&counter, -1), runs);
  enable(&live);
  wait_for_runs(&live, &counter, 3);
  uvperf_close(&live.set.handle, live_set_on_close);
  runs = live_bpf_counter_runs(&counter, -1);
  wait_for_runs(&watched, &watch, 5);
  assert_int_equal(live_bpf_counter_runs(&counter, -1), runs);
  live_set_wait_closed(&live);
  live_bpf_counter_close(&counter);
  close_both(&watched, &watch);
}

static void set_program_of_clocks_sees_the_cookie_of_its_set(void **state) {
  const uint64_t cookies[] = {UINT64_C(0x100000002), UINT64_C(0x300000004)};
  live_bpf_counter_t counter;
  live_set_t live;
  size_t i;

  for (i = 0; i < 2; i++) {
    open_clocks(__func__, *state, &live, &counter);
    live_bpf_counter_close(&counter);
    live_bpf_cookie_open(__func__, &counter, BPF_PROG_TYPE_PERF_EVENT);
    assert_int_equal(
        uvperf_attach_bpf(&live.set.handle, 0, counter.fd, cookies[i], NULL),
        0);
    assert_int_equal(live_bpf_links(counter.fd), nr_clocks(&live));
    enable(&live);
    while (live_bpf_cookie(&counter) == 0)
      sched_yield();
    assert_int_equal(live_bpf_cookie(&counter), cookies[i]);
    close_both(&live, &counter);
  }
}

/* Linux 5.15. */
static void need_links(const char *test, live_set_t *live, int program) {
  if (live_bpf_links(program) != 0)
    return;
  live_set_close(live);
  support_skip(test, "BPF links of perf events");
}

static void set_program_is_linked_to_each_event_until_close(void **state) {
  live_bpf_counter_t counter;
  live_set_t live;
  size_t fds;

  fds = support_count_fds();
  open_clocks(__func__, *state, &live, &counter);
  set_program(&live, counter.fd);
  need_links(__func__, &live, counter.fd);
  assert_int_equal(live_bpf_links(counter.fd), nr_clocks(&live));
  enable(&live);
  uvperf_close(&live.set.handle, live_set_on_close);
  assert_int_equal(live_bpf_links(counter.fd), 0);
  live_set_wait_closed(&live);
  live_bpf_counter_close(&counter);
  assert_int_equal(support_count_fds(), fds);
}

static void set_program_without_links_runs_too(void **state) {
  live_bpf_counter_t counter;
  live_set_t live;

  fake_kernel_reset();
  open_clocks(__func__, *state, &live, &counter);
  fake_fail_from(FAKE_BPF_LINK, 1, -EINVAL);
  set_program(&live, counter.fd);
  assert_int_equal(live_bpf_links(counter.fd), 0);
  assert_int_equal(live_bpf_counter_runs(&counter, -1), 0);
  enable(&live);
  wait_for_runs(&live, &counter, 3);
  close_both(&live, &counter);
  fake_kernel_reset();
}

/* As for any event on a kernel without such links. */
static void set_program_with_a_cookie_without_links_is_enotsup(void **state) {
  live_bpf_counter_t counter;
  uvperf_error_t error;
  live_set_t live;

  fake_kernel_reset();
  open_clocks(__func__, *state, &live, &counter);
  fake_fail_from(FAKE_BPF_LINK, 1, -EINVAL);
  assert_int_equal(
      uvperf_attach_bpf(&live.set.handle, 0, counter.fd, 7, &error),
      UV_ENOTSUP);
  assert_int_equal(error.cause, UVPERF_CAUSE_OLD_KERNEL);
  set_program(&live, counter.fd);
  close_both(&live, &counter);
  fake_kernel_reset();
}

static void set_program_is_of_later_targets_too(void **state) {
  live_bpf_counter_t counter;
  uvperf_target_t target = UVPERF_TARGET_INIT;
  uvperf_error_t error;
  live_plan_t plan;
  live_set_t live;

  support_need_cpu_wide(__func__);
  live_bpf_counter_open(__func__, &counter, BPF_PROG_TYPE_PERF_EVENT, 0);
  live_plan_begin(&plan);
  live_plan_software(&plan, PERF_COUNT_SW_CPU_CLOCK);
  plan.attrs[0].sample_period = 1000000;
  live_set_begin(*state, &live, &plan.options);
  set_program(&live, counter.fd);
  target.type = UVPERF_TARGET_CPUS;
  assert_int_equal(uvperf_set_add(&live.set, &target, NULL, NULL, &error), 0);
  wait_for_runs(&live, &counter, 3);
  assert_int_equal(
      uvperf_attach_bpf(&live.set.handle, 0, counter.fd, 0, &error), UV_EEXIST);
  close_both(&live, &counter);
}

/* A child that closes its copy of the set. */
static int close_copy(void *arg) {
  live_set_t *live = arg;

  if (uv_loop_fork(live->set.handle.loop) != 0)
    return 1;
  uvperf_close(&live->set.handle, live_set_on_close);
  while (!live->closed)
    uv_run(live->set.handle.loop, UV_RUN_ONCE);
  return 0;
}

static void set_program_outlives_a_forked_childs_close(void **state) {
  live_bpf_counter_t counter;
  live_set_t live;

  open_clocks(__func__, *state, &live, &counter);
  set_program(&live, counter.fd);
  enable(&live);
  assert_int_equal(support_wait(support_fork(close_copy, &live)), 0);
  wait_for_runs(&live, &counter, 3);
  close_both(&live, &counter);
}

/* -- tracepoints ---------------------------------------------------------- */

static void open_syscalls(const char *test, uv_loop_t *loop, live_set_t *live,
                          live_bpf_counter_t *counter) {
  uint64_t id = support_need_tracepoint(test, LIVE_SYSCALL);
  live_plan_t plan;

  support_need_cpu_wide(test);
  live_bpf_counter_open(test, counter, BPF_PROG_TYPE_TRACEPOINT,
                        own_argument());
  live_plan_begin(&plan);
  live_plan_syscall(&plan, id);
  live_plan_target(&plan, UVPERF_TARGET_CPUS);
  live_set_open(loop, live, &plan.options);
}

/* One program for all CPUs, and each call is one run. */
static void set_program_of_a_tracepoint_runs_once_for_each_hit(void **state) {
  live_bpf_counter_t counter;
  live_set_t live;
  int cpus[2];
  cpu_set_t old;
  size_t i, nr;

  open_syscalls(__func__, *state, &live, &counter);
  set_program(&live, counter.fd);
  enable(&live);
  nr = live_cpus(cpus, 2);
  for (i = 0; i < nr; i++) {
    live_pin(cpus[i], &old);
    call_getpgid(3);
    live_unpin(&old);
    assert_int_equal(live_bpf_counter_runs(&counter, cpus[i]), 3);
  }
  assert_int_equal(live_bpf_counter_runs(&counter, -1), 3 * nr);
  need_links(__func__, &live, counter.fd);
  assert_int_equal(live_bpf_links(counter.fd), 1);
  close_both(&live, &counter);
}

/* perf_syscall_enter in kernel/trace/trace_syscalls.c asks for programs, not
 * for events. So the link must go for it to end before the fds are closed. */
static void
set_program_of_a_tracepoint_runs_from_set_bpf_until_close(void **state) {
  live_bpf_counter_t counter;
  live_set_t live;

  open_syscalls(__func__, *state, &live, &counter);
  call_getpgid(2);
  assert_int_equal(live_bpf_counter_runs(&counter, -1), 0);
  set_program(&live, counter.fd);
  need_links(__func__, &live, counter.fd);
  call_getpgid(3);
  assert_int_equal(live_bpf_counter_runs(&counter, -1), 3);
  enable(&live);
  call_getpgid(4);
  assert_int_equal(live_bpf_counter_runs(&counter, -1), 7);
  uvperf_close(&live.set.handle, live_set_on_close);
  call_getpgid(5);
  assert_int_equal(live_bpf_counter_runs(&counter, -1), 7);
  live_set_wait_closed(&live);
  live_bpf_counter_close(&counter);
}

static void set_program_of_a_tracepoint_outlives_its_target(void **state) {
  live_bpf_counter_t counter;
  uvperf_target_t self = UVPERF_TARGET_INIT;
  live_set_t live;

  open_syscalls(__func__, *state, &live, &counter);
  set_program(&live, counter.fd);
  enable(&live);
  assert_int_equal(uvperf_set_add(&live.set, &self, NULL, NULL, NULL), 0);
  call_getpgid(2);
  assert_int_equal(uvperf_set_remove(&live.set, 0, NULL, NULL), 0);
  call_getpgid(3);
  assert_int_equal(live_bpf_counter_runs(&counter, -1), 5);
  assert_int_equal(uvperf_set_remove(&live.set, 1, NULL, NULL), 0);
  call_getpgid(4);
  assert_int_equal(live_bpf_counter_runs(&counter, -1), 5);
  close_both(&live, &counter);
}

/* -- uprobes -------------------------------------------------------------- */

/* perf_uprobe_init in kernel/trace/trace_event_perf.c makes each event a probe
 * of its own, which is hit on every CPU. */
static void open_uprobes(uv_loop_t *loop, live_set_t *live, const char *cpus) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_target_t target = UVPERF_TARGET_INIT;
  uvperf_event_list_t *events = live_called_list();

  target.type = UVPERF_TARGET_CPUS;
  target.cpus = cpus;
  options.events = events;
  options.targets = &target;
  options.nr_targets = 1;
  live_set_open(loop, live, &options);
  uvperf_event_list_free(events);
}

static void
set_program_of_a_uprobe_runs_for_each_hit_at_each_cpu(void **state) {
  live_bpf_counter_t counter;
  live_set_t live;
  char cpu[16];
  size_t nr;

  support_need_root(__func__);
  live_bpf_counter_open(__func__, &counter, BPF_PROG_TYPE_KPROBE, 0);
  open_uprobes(*state, &live, NULL);
  nr = uvperf_set_nr_open(&live.set);
  set_program(&live, counter.fd);
  live_called(1);
  assert_int_equal(live_bpf_counter_runs(&counter, -1), nr);
  enable(&live);
  live_called(2);
  assert_int_equal(live_bpf_counter_runs(&counter, -1), 2 * nr);
  assert_int_equal(live_set_read(&live, 0).value, 1);
  live_set_close(&live);
  /* Any CPU does. */
  snprintf(cpu, sizeof(cpu), "%d", live_last_cpu());
  open_uprobes(*state, &live, cpu);
  set_program(&live, counter.fd);
  live_called(3);
  assert_int_equal(live_bpf_counter_runs(&counter, -1), 2 * nr + 1);
  close_both(&live, &counter);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(
          set_program_of_clocks_runs_on_each_cpu_while_enabled_alone),
      support_loop_test(set_program_of_clocks_sees_the_cookie_of_its_set),
      support_loop_test(set_program_is_linked_to_each_event_until_close),
      support_loop_test(set_program_without_links_runs_too),
      support_loop_test(set_program_with_a_cookie_without_links_is_enotsup),
      support_loop_test(set_program_is_of_later_targets_too),
      support_loop_test(set_program_outlives_a_forked_childs_close),
      support_loop_test(set_program_of_a_tracepoint_runs_once_for_each_hit),
      support_loop_test(
          set_program_of_a_tracepoint_runs_from_set_bpf_until_close),
      support_loop_test(set_program_of_a_tracepoint_outlives_its_target),
      support_loop_test(set_program_of_a_uprobe_runs_for_each_hit_at_each_cpu),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
