/* SPDX-License-Identifier: MIT */
#include "make_host.h"
#include "scripted_outputs.h"

#include "attr/kernel_knows.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

scripted_outputs_t scripted_outputs;

/* Failing calls use up scripts, so there are more than any test needs. */
static void add_events(void) {
  size_t i;

  for (i = 0; i < COUNT_OF(scripted_outputs.events); i++)
    scripted_outputs.events[i] = fake_event_add(i + 1);
}

static void add_map(void) {
  scripted_outputs.map = fake_map_add(SCRIPTED_OUTPUTS_ENTRIES);
  scripted_outputs.map_fd = fake_map_open(scripted_outputs.map);
  scripted_outputs.options.map_fd = scripted_outputs.map_fd;
}

int scripted_outputs_setup(void **state) {
  uvperf__known[UVPERF__WORD_READ_FORMAT].yes = 0;
  uvperf__known[UVPERF__WORD_READ_FORMAT].no = UVPERF_FORMAT_LOST;
  fake_kernel_reset();
  memset(&scripted_outputs, 0, sizeof(scripted_outputs));
  if (make_cpus_begin(4) != 0)
    return -1;
  make_host_write("/sys/devices/system/cpu/possible", "0-3\n");
  add_events();
  scripted_outputs.options.ring_bytes = support_page_bytes();
  add_map();
  return 0;
}

int scripted_outputs_teardown(void **state) {
  uvperf__bpf_outputs_free(scripted_outputs.outputs);
  if (scripted_outputs.map_fd >= 0)
    fake_map_close(scripted_outputs.map_fd);
  fake_assert_clean();
  assert_int_equal(scripted_outputs.map->files, 0);
  fake_kernel_reset();
  return make_cpus_end();
}

void scripted_outputs_again(void) {
  assert_int_equal(scripted_outputs_teardown(NULL), 0);
  assert_int_equal(scripted_outputs_setup(NULL), 0);
}

void scripted_outputs_cpus(const char *online, const char *possible) {
  make_host_write("/sys/devices/system/cpu/online", online);
  make_host_write("/sys/devices/system/cpu/possible", possible);
}

void scripted_outputs_open(void) {
  uvperf_error_t error;

  if (uvperf__bpf_outputs_new(&scripted_outputs.outputs,
                              &scripted_outputs.options, &error) != 0)
    fail_msg("%d: %s", error.code, error.reason);
}

void scripted_outputs_refused(int code, int cause, const char *piece) {
  size_t fds = support_count_fds();
  size_t blocks = fake_live_allocations();
  uvperf_error_t error;

  memset(&error, 0, sizeof(error));
  assert_int_equal(uvperf__bpf_outputs_new(&scripted_outputs.outputs,
                                           &scripted_outputs.options, &error),
                   code);
  explain_check(&error, code, cause, piece);
  assert_null(scripted_outputs.outputs);
  assert_int_equal(support_count_fds(), fds);
  assert_int_equal(fake_live_allocations(), blocks);
  assert_int_equal(scripted_outputs.map->files, scripted_outputs.map_fd >= 0);
  assert_int_equal(fake_map_count(scripted_outputs.map), 0);
}

fake_event_t *scripted_outputs_event(int cpu) {
  fake_event_t *event;
  size_t i;

  for (i = 0; i < COUNT_OF(scripted_outputs.events); i++) {
    event = scripted_outputs.events[i];
    if (event->fd >= 0 && event->cpu == cpu && event->pid == -1)
      return event;
  }
  return NULL;
}

const char *scripted_outputs_keys(void) {
  static char keys[128];
  size_t used = 0;
  uint32_t key;
  int cpu;

  keys[0] = '\0';
  for (key = 0; key < SCRIPTED_OUTPUTS_ENTRIES; key++) {
    cpu = fake_map_at(scripted_outputs.map, key);
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
