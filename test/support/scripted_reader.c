/* SPDX-License-Identifier: MIT */
#include "scripted_reader.h"

#include "attr/kernel_knows.h"
#include "bpf/internal.h"
#include "cpu_tree.h"
#include "fake_uevents.h"

void bpf_reader_world_knows_lost(int knows) {
  uvperf__known_t *known = &uvperf__known[UVPERF__WORD_READ_FORMAT];

  known->yes = knows ? UVPERF_FORMAT_LOST : 0;
  known->no = knows ? 0 : UVPERF_FORMAT_LOST;
}

int bpf_reader_world_setup(void **state) {
  /* So that the kernel is not asked: a test says if it has it. */
  bpf_reader_world_knows_lost(0);
  if (cpu_tree_begin(2) != 0)
    return -1;
  fake_uevents_begin();
  return fake_kernel_loop_setup(state);
}

int bpf_reader_world_teardown(void **state) {
  int rc = fake_kernel_loop_teardown(state);

  fake_uevents_end();
  return cpu_tree_end() != 0 ? -1 : rc;
}

void bpf_reader_world_plan(bpf_reader_world_t *world, uint32_t entries) {
  size_t i;

  fake_kernel_reset();
  fake_uevents_end();
  fake_uevents_begin(); /* there is a socket for one reader */
  memset(world, 0, sizeof(*world));
  world->options = live_bpf_reader_options();
  world->options.ring_bytes = 1;
  world->map = fake_map_add(entries);
  world->map_fd = fake_map_open(world->map);
  for (i = 0; i < BPF_READER_WORLD_EVENTS; i++)
    world->events[i] = fake_event_add(100 + i);
}

int bpf_reader_world_try(uv_loop_t *loop, bpf_reader_world_t *world,
                         uvperf_error_t *error) {
  world->live.array = -1;
  world->live.reader.data = &world->live;
  return uvperf__bpf_reader_open(loop, &world->live.reader,
                                 world->options.path == NULL ? world->map_fd
                                                             : -1,
                                 cpu_tree_root(), &world->options, error);
}

void bpf_reader_world_open(uv_loop_t *loop, bpf_reader_world_t *world) {
  uvperf_error_t error;
  int rc;

  error.reason[0] = '\0';
  rc = bpf_reader_world_try(loop, world, &error);
  if (rc != 0)
    fail_msg("uvperf_bpf_reader_init: %d: %s", rc, error.reason);
  uvperf_bpf_reader_on_cpu(&world->live.reader, live_bpf_reader_on_cpu);
}

void bpf_reader_world_begin(uv_loop_t *loop, bpf_reader_world_t *world) {
  bpf_reader_world_plan(world, 8);
  bpf_reader_world_open(loop, world);
  live_bpf_reader_start(&world->live, NULL);
}

void bpf_reader_world_end(bpf_reader_world_t *world) {
  fake_map_close(world->map_fd);
  assert_string_equal(bpf_reader_world_entries(world), "");
  fake_assert_clean();
}

void bpf_reader_world_close(bpf_reader_world_t *world) {
  live_bpf_reader_close(&world->live);
  bpf_reader_world_end(world);
}

void bpf_reader_world_sample(bpf_reader_world_t *world, fake_event_t *owner) {
  struct {
    struct perf_event_header header;
    uint32_t size;
    uint8_t payload[28];
  } record = {{PERF_RECORD_SAMPLE, 0, 40}, 28, {0}};

  live_bpf_reader_write(&world->live, owner->cpu, record.payload, 24);
  fake_ring_append(owner, &record, sizeof(record));
}

void bpf_reader_world_junk(fake_event_t *owner) {
  const struct {
    struct perf_event_header header;
    uint32_t size; /* more than the record has */
    uint32_t rest;
  } record = {{PERF_RECORD_SAMPLE, 0, 16}, 1000, 0};

  fake_ring_append(owner, &record, sizeof(record));
}

void bpf_reader_world_spoil(fake_event_t *owner) {
  const struct perf_event_header header = {PERF_RECORD_SAMPLE, 0, 0};

  fake_ring_append(owner, &header, sizeof(header));
}

void bpf_reader_world_split(fake_event_t *owner) {
  fake_event_t *ring = owner;

  ring->page->data_head += 4;
}

void bpf_reader_world_wake(bpf_reader_world_t *world, fake_event_t *owner) {
  fake_event_wake(owner);
  live_turns_in(world->live.reader.loop, 5);
  fake_event_quiet(owner);
}

const char *bpf_reader_world_entries(const bpf_reader_world_t *world) {
  static char text[256];
  size_t used = 0;
  uint32_t key;

  text[0] = '\0';
  for (key = 0; key < FAKE_MAP_ENTRIES; key++)
    if (fake_map_at(world->map, key) >= 0)
      used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%u",
                               used == 0 ? "" : " ", key);
  return text;
}
