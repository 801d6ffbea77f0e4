/* SPDX-License-Identifier: MIT */
#include "scripted_outputs.h"

#include "attr/kernel_knows.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

outputs_world_t outputs_world;

/* Scripts are used up by what fails, so there are more than any test needs. */
static void add_events(void) {
  size_t i;

  for (i = 0; i < COUNT_OF(outputs_world.events); i++)
    outputs_world.events[i] = fake_event_add(i + 1);
}

static void add_map(void) {
  outputs_world.map = fake_map_add(WORLD_ENTRIES);
  outputs_world.map_fd = fake_map_open(outputs_world.map);
  outputs_world.options.map_fd = outputs_world.map_fd;
}

int outputs_world_setup(void **state) {
  (void)state;
  uvperf__known[UVPERF__WORD_READ_FORMAT].yes = 0;
  uvperf__known[UVPERF__WORD_READ_FORMAT].no = UVPERF_FORMAT_LOST;
  fake_kernel_reset();
  memset(&outputs_world, 0, sizeof(outputs_world));
  if (cpu_tree_begin(4) != 0)
    return -1;
  cpu_tree_write("/sys/devices/system/cpu/possible", "0-3\n");
  add_events();
  outputs_world.options.root = cpu_tree_root();
  outputs_world.options.ring_bytes = support_page_bytes();
  add_map();
  return 0;
}

int outputs_world_teardown(void **state) {
  (void)state;
  uvperf__bpf_outputs_free(outputs_world.outputs);
  if (outputs_world.map_fd >= 0)
    fake_map_close(outputs_world.map_fd);
  fake_assert_clean();
  assert_int_equal(outputs_world.map->files, 0);
  fake_kernel_reset();
  return cpu_tree_end();
}

void outputs_world_again(void) {
  assert_int_equal(outputs_world_teardown(NULL), 0);
  assert_int_equal(outputs_world_setup(NULL), 0);
}

void outputs_world_cpus(const char *online, const char *possible) {
  cpu_tree_write("/sys/devices/system/cpu/online", online);
  cpu_tree_write("/sys/devices/system/cpu/possible", possible);
}

void outputs_world_open(void) {
  uvperf_error_t error;

  if (uvperf__bpf_outputs_new(&outputs_world.outputs, &outputs_world.options,
                              &error) != 0)
    fail_msg("%d: %s", error.code, error.reason);
}

void outputs_world_refused(int code, int cause, const char *piece) {
  size_t fds = support_count_fds();
  size_t blocks = fake_live_allocations();
  uvperf_error_t error;

  memset(&error, 0, sizeof(error));
  assert_int_equal(uvperf__bpf_outputs_new(&outputs_world.outputs,
                                           &outputs_world.options, &error),
                   code);
  explain_check(&error, code, cause, piece);
  assert_null(outputs_world.outputs);
  assert_int_equal(support_count_fds(), fds);
  assert_int_equal(fake_live_allocations(), blocks);
  assert_int_equal(outputs_world.map->files, outputs_world.map_fd >= 0);
  assert_int_equal(fake_map_count(outputs_world.map), 0);
}

fake_event_t *outputs_world_event(int cpu) {
  fake_event_t *event;
  size_t i;

  for (i = 0; i < COUNT_OF(outputs_world.events); i++) {
    event = outputs_world.events[i];
    if (event->fd >= 0 && event->cpu == cpu && event->pid == -1)
      return event;
  }
  return NULL;
}

const char *outputs_world_keys(void) {
  static char keys[128];
  size_t used = 0;
  uint32_t key;
  int cpu;

  keys[0] = '\0';
  for (key = 0; key < WORLD_ENTRIES; key++) {
    cpu = fake_map_at(outputs_world.map, key);
    if (cpu == FAKE_MAP_EMPTY)
      continue;
    if (cpu != FAKE_MAP_FOREIGN)
      assert_int_equal(cpu, key);
    used += (size_t)snprintf(keys + used, sizeof(keys) - used, "%s%u%s",
                             used == 0 ? "" : " ", key,
                             cpu == FAKE_MAP_FOREIGN ? "!" : "");
  }
  return keys;
}
