/* SPDX-License-Identifier: MIT */
#include "cilium_reader.h"

uvperf_bpf_reader_options_t cilium_reader_page(void) {
  uvperf_bpf_reader_options_t options = UVPERF_BPF_READER_OPTIONS_INIT;

  options.ring_bytes = support_page_bytes();
  return options;
}

uvperf_bpf_reader_options_t cilium_reader_each_one(void) {
  uvperf_bpf_reader_options_t options = cilium_reader_page();

  options.wakeup_events = 1;
  return options;
}

uvperf_bpf_reader_options_t cilium_reader_every_second(void) {
  uvperf_bpf_reader_options_t options = cilium_reader_page();

  options.wakeup_events = 2;
  return options;
}

static void keep(cilium_reader_t *cilium, const uvperf_record_t *sample) {
  size_t size = sample->sample.raw.size;

  cilium->samples += 1;
  cilium->sample_cpu = (int)sample->cpu;
  cilium->remaining = sample->remaining;
  cilium->size = size;
  if (size > sizeof(cilium->data))
    size = sizeof(cilium->data);
  memcpy(cilium->data, sample->sample.raw.data, size);
  if (cilium->on_sample != NULL)
    cilium->on_sample(cilium);
}

static void on_sample(live_bpf_reader_t *live, int status,
                      const uvperf_record_t *sample) {
  cilium_reader_t *cilium = live->hook_data;

  cilium->callbacks += 1;
  if (status != 0 || sample->type == UVPERF_RECORD_NONE)
    return;
  if (sample->type == PERF_RECORD_SAMPLE)
    keep(cilium, sample);
  else
    cilium->losses += uvperf_record_lost(sample) != 0;
}

void cilium_reader_open(uv_loop_t *loop, cilium_reader_t *cilium,
                        const char *test,
                        const uvperf_bpf_reader_options_t *options) {
  memset(cilium, 0, sizeof(*cilium));
  live_bpf_reader_make(test, &cilium->live, 0);
  cilium->cpu = live_last_cpu();
  live_pin(cilium->cpu, &cilium->old);
  live_bpf_reader_open(loop, &cilium->live, options);
  cilium->live.on_sample = on_sample;
  cilium->live.hook_data = cilium;
}

void cilium_reader_start(cilium_reader_t *cilium,
                         const uvperf_stream_options_t *options) {
  live_bpf_reader_start(&cilium->live, options);
}

void cilium_reader_close_rest(cilium_reader_t *cilium) {
  live_bpf_reader_unmake(&cilium->live);
  live_unpin(&cilium->old);
}

void cilium_reader_close(cilium_reader_t *cilium) {
  assert_int_equal(cilium->live.corrupt, 0);
  assert_int_equal(cilium->live.faults, 0);
  assert_int_equal(cilium->live.records, cilium->samples + cilium->losses);
  live_bpf_reader_close(&cilium->live);
  cilium_reader_close_rest(cilium);
}

int cilium_reader_put_out(cilium_reader_t *cilium, uint8_t size,
                          uint8_t number) {
  uint8_t payload[UINT8_MAX];

  memset(payload, 0xff, sizeof(payload));
  payload[0] = size;
  payload[1] = number;
  return live_bpf_output(&cilium->live.output, payload, size);
}

void cilium_reader_expect(const cilium_reader_t *cilium, uint8_t size,
                          uint8_t number) {
  size_t i;

  assert_int_equal(cilium->sample_cpu, cilium->cpu);
  assert_int_equal(cilium->size, live_bpf_reader_padded(size));
  assert_int_equal(cilium->data[0], size);
  assert_int_equal(cilium->data[1], number);
  for (i = 2; i < size; i++)
    assert_int_equal(cilium->data[i], 0xff);
}

void cilium_reader_wait_for(cilium_reader_t *cilium, uint64_t samples) {
  assert_true(live_run_until(cilium->live.reader.handle.loop, &cilium->samples,
                             samples));
  assert_int_equal(cilium->samples, samples);
}

void cilium_reader_silence(cilium_reader_t *cilium, uint64_t ms) {
  uint64_t callbacks = cilium->callbacks;

  live_run_ms(cilium->live.reader.handle.loop, ms);
  assert_int_equal(cilium->callbacks, callbacks);
  assert_int_equal(uvperf_is_active(&cilium->live.reader.handle), 1);
}

void cilium_reader_run_pending(cilium_reader_t *cilium) {
  int turns;

  for (turns = 0; turns < 10; turns++)
    uv_run(cilium->live.reader.handle.loop, UV_RUN_NOWAIT);
}
