/* SPDX-License-Identifier: MIT */
#include "scripted_reader.h"

#include "attr/kernel_knows.h"
#include "make_cpus.h"
#include "fake_uevents.h"

void scripted_reader_knows_lost(int knows) {
  uvperf__known_t *known = &uvperf__known[UVPERF__WORD_READ_FORMAT];

  known->yes = knows ? UVPERF_FORMAT_LOST : 0;
  known->no = knows ? 0 : UVPERF_FORMAT_LOST;
}

int scripted_reader_setup(void **state) {
  /* So that the kernel is not asked: each test sets it. */
  scripted_reader_knows_lost(0);
  if (make_cpus_begin(2) != 0)
    return -1;
  fake_uevents_begin();
  return fake_kernel_loop_setup(state);
}

int scripted_reader_teardown(void **state) {
  int rc = fake_kernel_loop_teardown(state);

  fake_uevents_end();
  return make_cpus_end() != 0 ? -1 : rc;
}

void scripted_reader_plan(scripted_reader_t *scripted, uint32_t entries) {
  size_t i;

  fake_kernel_reset();
  fake_uevents_end();
  fake_uevents_begin(); /* provides a socket for one reader */
  memset(scripted, 0, sizeof(*scripted));
  scripted->options = live_bpf_reader_options();
  scripted->options.ring_bytes = 1;
  scripted->map = fake_map_add(entries);
  scripted->map_fd = fake_map_open(scripted->map);
  for (i = 0; i < SCRIPTED_READER_EVENTS; i++)
    scripted->events[i] = fake_event_add(100 + i);
}

int scripted_reader_try(uv_loop_t *loop, scripted_reader_t *scripted,
                        uvperf_error_t *error) {
  scripted->live.array = -1;
  scripted->live.reader.handle.data = &scripted->live;
  return uvperf_bpf_reader_init(
      loop, &scripted->live.reader,
      scripted->options.path == NULL ? scripted->map_fd : -1,
      &scripted->options, error);
}

void scripted_reader_open(uv_loop_t *loop, scripted_reader_t *scripted) {
  uvperf_error_t error;
  int rc;

  error.reason[0] = '\0';
  rc = scripted_reader_try(loop, scripted, &error);
  if (rc != 0)
    fail_msg("uvperf_bpf_reader_init: %d: %s", rc, error.reason);
  uvperf_on_cpu(&scripted->live.reader.handle, live_bpf_reader_on_cpu);
}

void scripted_reader_end(scripted_reader_t *scripted) {
  fake_map_close(scripted->map_fd);
  assert_string_equal(scripted_reader_entries(scripted), "");
  fake_assert_clean();
}

void scripted_reader_close(scripted_reader_t *scripted) {
  live_bpf_reader_close(&scripted->live);
  scripted_reader_end(scripted);
}

const char *scripted_reader_entries(const scripted_reader_t *scripted) {
  static char text[256];
  size_t used = 0;
  uint32_t key;

  text[0] = '\0';
  for (key = 0; key < FAKE_MAP_ENTRIES; key++)
    if (fake_map_at(scripted->map, key) >= 0)
      used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%u",
                               used == 0 ? "" : " ", key);
  return text;
}
