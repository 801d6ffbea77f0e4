/* SPDX-License-Identifier: MIT */
#include "scripted_set.h"

#include "make_record.h"

void scripted_set_plan(scripted_set_t *scripted, size_t mode) {
  uvperf_set_options_t *options = &scripted->make.options;

  evlist_make_setup(NULL);
  memset(scripted, 0, sizeof(*scripted));
  counters_script(scripted->events, 4);
  evlist_make(&scripted->make, 1);
  scripted->make.attrs[0].config = PERF_COUNT_SW_CPU_CLOCK;
  scripted->make.attrs[0].sample_period = 1000;
  scripted->make.attrs[0].sample_type = PERF_SAMPLE_TID;
  evlist_add_cpus(&scripted->make, "0-1");
  scripted->make.targets[0].data = (void *)1;
  options->flags = UVPERF_SET_RECORDS | UVPERF_SET_FIXED_CPUS |
                   (mode == 1 ? UVPERF_SET_TIME_ORDER : 0);
  options->ring_bytes = 1;
  options->wakeup_bytes = 1;
}

void scripted_set_open_planned(uv_loop_t *loop, scripted_set_t *scripted) {
  live_stream_open(loop, &scripted->stream, &scripted->make.options);
  scripted->base = live_now();
}

void scripted_set_open(uv_loop_t *loop, scripted_set_t *scripted, size_t mode) {
  scripted_set_plan(scripted, mode);
  scripted_set_open_planned(loop, scripted);
}

void scripted_set_begin(uv_loop_t *loop, scripted_set_t *scripted,
                        size_t mode) {
  scripted_set_open(loop, scripted, mode);
  live_stream_start(&scripted->stream, NULL);
}

void scripted_set_close(scripted_set_t *scripted) {
  live_stream_close(&scripted->stream);
  fake_assert_clean();
}

static void build_sample(const scripted_set_t *scripted,
                         record_builder_t *builder, uint64_t id,
                         uint64_t time) {
  const struct perf_event_attr *attr = &scripted->events[0]->attr;
  record_values_t values;

  record_values_init(&values);
  values.id = id;
  values.time = scripted->base + time;
  record_build(builder, PERF_RECORD_SAMPLE, attr, &values);
}

void scripted_set_sample(scripted_set_t *scripted, size_t cpu, uint64_t id,
                         uint64_t time) {
  record_builder_t builder;

  build_sample(scripted, &builder, id, time);
  fake_ring_append(scripted->events[2 * cpu + 1], builder.words, builder.size);
}

void scripted_set_overwrite(scripted_set_t *scripted, size_t cpu, uint64_t id,
                            uint64_t time) {
  record_builder_t builder;

  build_sample(scripted, &builder, id, time);
  fake_ring_prepend(scripted->events[2 * cpu + 1], builder.words, builder.size);
}

void scripted_set_wake(scripted_set_t *scripted, size_t cpu) {
  fake_event_wake(scripted->events[2 * cpu + 1]);
  live_run_ms(scripted->stream.live.set.handle.loop, 5);
  fake_event_quiet(scripted->events[2 * cpu + 1]);
}
