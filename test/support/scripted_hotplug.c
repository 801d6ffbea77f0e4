/* SPDX-License-Identifier: MIT */
#include "scripted_hotplug.h"

#include "make_cpus.h"
#include "fake_clock.h"
#include "fake_kernel.h"
#include "fake_uevents.h"

static void append(hotplug_owner_t *owner, const char *what, int cpu) {
  size_t used = strlen(owner->seen);

  snprintf(owner->seen + used, sizeof(owner->seen) - used, "%s%s %d",
           used == 0 ? "" : ", ", what, cpu);
  owner->nr++;
  if (owner->hook != NULL)
    owner->hook(owner);
}

static void come(void *arg, int cpu) {
  append(arg, "come", cpu);
}

static void gone(void *arg, int cpu) {
  append(arg, "gone", cpu);
}

static void closed(void *arg) {
  hotplug_owner_t *owner = arg;

  owner->closed++;
  uvperf__teardown_let_go(&owner->teardown);
}

static void release(void *arg) {
  hotplug_owner_t *owner = arg;

  uvperf__hotplug_free(owner->hotplug);
}

void hotplug_close(hotplug_owner_t *owner) {
  uvperf__hotplug_stop(owner->hotplug);
  uvperf__teardown_end(&owner->teardown);
}

static const uvperf__hotplug_ops_t ops = {come, gone};

int hotplug_setup(void **state) {
  if (make_cpus_begin(3) != 0)
    return -1;
  fake_uevents_begin();
  return fake_kernel_loop_setup(state);
}

int hotplug_teardown(void **state) {
  int rc = fake_kernel_loop_teardown(state);

  fake_uevents_end();
  return make_cpus_end() != 0 ? -1 : rc;
}

void hotplug_make(uv_loop_t *loop, hotplug_owner_t *owner) {
  memset(owner, 0, sizeof(*owner));
  owner->loop = loop;
  assert_int_equal(uvperf__hotplug_new(&owner->hotplug, &ops, owner), 0);
  uvperf__hotplug_note(owner->hotplug);
  uvperf__teardown_init(&owner->teardown, loop, closed, release, NULL, owner);
  assert_int_equal(uvperf__hub_join(&owner->teardown), 0);
}

static void stay(uv_idle_t *idle) {
}

/* Its handles keep no loop alive. */
void hotplug_run(uv_loop_t *loop) {
  uv_idle_t idle;
  int turns;

  uv_idle_init(loop, &idle);
  uv_idle_start(&idle, stay);
  for (turns = 0; turns < 10; turns++)
    uv_run(loop, UV_RUN_NOWAIT);
  if (!uv_is_closing((uv_handle_t *)&idle)) /* by a callback */
    uv_close((uv_handle_t *)&idle, NULL);
  uv_run(loop, UV_RUN_NOWAIT);
}

/* As if the hub's timer were due. */
void hotplug_look(uv_loop_t *loop, uvperf__hub_t *hub) {
  uvperf__member_t *scanner = *uvperf__hub_scanner(hub);

  scanner->ops->flush(scanner);
  hotplug_run(loop);
}

int hotplug_try(hotplug_owner_t *owner) {
  return uvperf__hotplug_start(owner->hotplug, &owner->teardown, HOTPLUG_NEVER);
}

void hotplug_start(uv_loop_t *loop, hotplug_owner_t *owner) {
  assert_int_equal(hotplug_try(owner), 0);
  hotplug_run(loop);
}

void hotplug_begin(uv_loop_t *loop, hotplug_owner_t *owner) {
  hotplug_make(loop, owner);
  hotplug_start(loop, owner);
  assert_string_equal(owner->seen, "");
}

void hotplug_expect(uv_loop_t *loop, hotplug_owner_t *owner, const char *seen) {
  hotplug_run(loop);
  assert_string_equal(owner->seen, seen);
  owner->seen[0] = '\0';
}

void hotplug_expect_by_look(uv_loop_t *loop, hotplug_owner_t *owner,
                            const char *seen) {
  hotplug_look(loop, owner->teardown.hub);
  assert_string_equal(owner->seen, seen);
  owner->seen[0] = '\0';
}

void hotplug_end(uv_loop_t *loop, hotplug_owner_t *owner) {
  hotplug_close(owner);
  assert_int_equal(owner->closed, 0);
  hotplug_run(loop);
  assert_int_equal(owner->closed, 1);
  fake_assert_clean();
}

void hotplug_no_fds(struct rlimit *old) {
  struct rlimit none;

  assert_int_equal(getrlimit(RLIMIT_NOFILE, old), 0);
  none = *old;
  none.rlim_cur = 0;
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
}

void hotplug_give_fds(const struct rlimit *old) {
  assert_int_equal(setrlimit(RLIMIT_NOFILE, old), 0);
}

void hotplug_take_down(int cpu, const char *online) {
  make_cpus_take_down(cpu);
  make_cpus_list(online);
  fake_uevents_say("offline", cpu);
}

void hotplug_bring_up(int cpu, const char *online) {
  make_cpus_bring_up(cpu);
  make_cpus_list(online);
  fake_uevents_say("online", cpu);
}
