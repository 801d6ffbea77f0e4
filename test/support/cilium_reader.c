/* SPDX-License-Identifier: MIT */
#include "cilium_reader.h"

uvperf_bpf_reader_options_t cilium_world_page(void) {
  uvperf_bpf_reader_options_t options = UVPERF_BPF_READER_OPTIONS_INIT;

  options.ring_bytes = support_page_bytes();
  return options;
}

uvperf_bpf_reader_options_t cilium_world_each_one(void) {
  uvperf_bpf_reader_options_t options = cilium_world_page();

  options.wakeup_events = 1;
  return options;
}

uvperf_bpf_reader_options_t cilium_world_every_second(void) {
  uvperf_bpf_reader_options_t options = cilium_world_page();

  options.wakeup_events = 2;
  return options;
}

static void keep(cilium_world_t *world, const uvperf_bpf_sample_t *sample) {
  size_t size = sample->size;

  world->samples += 1;
  world->sample_cpu = sample->cpu;
  world->remaining = sample->remaining;
  world->size = size;
  if (size > sizeof(world->data))
    size = sizeof(world->data);
  memcpy(world->data, sample->data, size);
  if (world->on_sample != NULL)
    world->on_sample(world);
}

static void on_sample(live_bpf_reader_t *live, int status,
                      const uvperf_bpf_sample_t *sample) {
  cilium_world_t *world = live->hook_data;

  world->callbacks += 1;
  if (status != 0 || sample == NULL)
    return;
  if (sample->data != NULL)
    keep(world, sample);
  else
    world->losses += sample->lost != 0;
}

void cilium_world_open(uv_loop_t *loop, cilium_world_t *world, const char *test,
                       const uvperf_bpf_reader_options_t *options) {
  memset(world, 0, sizeof(*world));
  live_bpf_reader_make(test, &world->live, 0);
  world->cpu = live_last_cpu();
  live_pin(world->cpu, &world->old);
  live_bpf_reader_open(loop, &world->live, options);
  world->live.on_sample = on_sample;
  world->live.hook_data = world;
}

void cilium_world_start(cilium_world_t *world,
                        const uvperf_stream_options_t *options) {
  live_bpf_reader_start(&world->live, options);
}

void cilium_world_close_rest(cilium_world_t *world) {
  live_bpf_reader_unmake(&world->live);
  live_unpin(&world->old);
}

void cilium_world_close(cilium_world_t *world) {
  assert_int_equal(world->live.corrupt, 0);
  assert_int_equal(world->live.faults, 0);
  assert_int_equal(world->live.records, world->samples + world->losses);
  live_bpf_reader_close(&world->live);
  cilium_world_close_rest(world);
}

int cilium_world_put_out(cilium_world_t *world, uint8_t size, uint8_t number) {
  uint8_t payload[UINT8_MAX];

  memset(payload, 0xff, sizeof(payload));
  payload[0] = size;
  payload[1] = number;
  return live_bpf_output(&world->live.output, payload, size);
}

void cilium_world_expect(const cilium_world_t *world, uint8_t size,
                         uint8_t number) {
  size_t i;

  assert_int_equal(world->sample_cpu, world->cpu);
  assert_int_equal(world->size, live_bpf_reader_padded(size));
  assert_int_equal(world->data[0], size);
  assert_int_equal(world->data[1], number);
  for (i = 2; i < size; i++)
    assert_int_equal(world->data[i], 0xff);
}

void cilium_world_wait_for(cilium_world_t *world, uint64_t samples) {
  assert_true(
      live_run_until(world->live.reader.loop, &world->samples, samples));
  assert_int_equal(world->samples, samples);
}

void cilium_world_silence(cilium_world_t *world, uint64_t ms) {
  uint64_t callbacks = world->callbacks;

  live_turns_in(world->live.reader.loop, ms);
  assert_int_equal(world->callbacks, callbacks);
  assert_int_equal(uvperf_bpf_reader_is_active(&world->live.reader), 1);
}

void cilium_world_settle(cilium_world_t *world) {
  int turns;

  for (turns = 0; turns < 10; turns++)
    uv_run(world->live.reader.loop, UV_RUN_NOWAIT);
}
