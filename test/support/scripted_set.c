/* SPDX-License-Identifier: MIT */
#include "scripted_set.h"

#include "record_builder.h"

void stream_world_plan(stream_world_t *world, size_t mode) {
  uvperf_set_options_t *options = &world->make.options;

  counters_make_setup(NULL);
  memset(world, 0, sizeof(*world));
  counters_script(world->events, 4);
  counters_make(&world->make, 1);
  world->make.attrs[0].config = PERF_COUNT_SW_CPU_CLOCK;
  world->make.attrs[0].sample_period = 1000;
  world->make.attrs[0].sample_type = PERF_SAMPLE_TID;
  counters_add_cpus(&world->make, "0-1");
  world->make.targets[0].data = (void *)1;
  options->flags = UVPERF_SET_RECORDS | (mode == 1 ? UVPERF_SET_TIME_ORDER : 0);
  options->ring_bytes = 1;
  options->wakeup_bytes = 1;
}

void stream_world_open_planned(uv_loop_t *loop, stream_world_t *world) {
  live_stream_open(loop, &world->stream, &world->make.options);
  world->base = live_now();
}

void stream_world_open(uv_loop_t *loop, stream_world_t *world, size_t mode) {
  stream_world_plan(world, mode);
  stream_world_open_planned(loop, world);
}

void stream_world_begin(uv_loop_t *loop, stream_world_t *world, size_t mode) {
  stream_world_open(loop, world, mode);
  live_stream_start(&world->stream, NULL);
}

void stream_world_close(stream_world_t *world) {
  live_stream_close(&world->stream);
  fake_assert_clean();
}

static void build_sample(const stream_world_t *world, record_builder_t *builder,
                         uint64_t id, uint64_t time) {
  const struct perf_event_attr *attr = &world->events[0]->attr;
  record_values_t values;

  record_values_init(&values);
  values.id = id;
  values.time = world->base + time;
  record_build(builder, PERF_RECORD_SAMPLE, attr, &values);
}

void stream_world_sample(stream_world_t *world, size_t cpu, uint64_t id,
                         uint64_t time) {
  record_builder_t builder;

  build_sample(world, &builder, id, time);
  fake_ring_append(world->events[2 * cpu + 1], builder.words, builder.size);
}

void stream_world_overwrite(stream_world_t *world, size_t cpu, uint64_t id,
                            uint64_t time) {
  record_builder_t builder;

  build_sample(world, &builder, id, time);
  fake_ring_prepend(world->events[2 * cpu + 1], builder.words, builder.size);
}

void stream_world_cut(stream_world_t *world, size_t cpu) {
  const struct perf_event_header header = {PERF_RECORD_SAMPLE, 0, 16};
  const uint64_t words[2] = {0, 100 + 2 * cpu};
  uint64_t bytes[2];

  memcpy(bytes, words, sizeof(bytes));
  memcpy(bytes, &header, sizeof(header));
  if (world->make.options.flags & UVPERF_SET_OVERWRITE)
    fake_ring_prepend(world->events[2 * cpu + 1], bytes, sizeof(bytes));
  else
    fake_ring_append(world->events[2 * cpu + 1], bytes, sizeof(bytes));
}

void stream_world_spoil(stream_world_t *world, size_t cpu) {
  const struct perf_event_header header = {PERF_RECORD_SAMPLE, 0, 0};

  fake_ring_append(world->events[2 * cpu + 1], &header, sizeof(header));
}

void stream_world_split(stream_world_t *world, size_t cpu) {
  fake_event_t *ring = world->events[2 * cpu + 1];

  ring->page->data_head += 4;
}

void stream_world_wake(stream_world_t *world, size_t cpu) {
  fake_event_wake(world->events[2 * cpu + 1]);
  live_turns_in(world->stream.live.set.loop, 5);
  fake_event_quiet(world->events[2 * cpu + 1]);
}
