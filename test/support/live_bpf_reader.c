/* SPDX-License-Identifier: MIT */
#include "live_bpf_reader.h"

#include <unistd.h>

const uvperf_stream_options_t live_bpf_reader_plain = {
    sizeof(uvperf_stream_options_t), 0, LIVE_SLICE_US, 0, -1, 0};

uvperf_bpf_reader_options_t live_bpf_reader_options(void) {
  uvperf_bpf_reader_options_t options = UVPERF_BPF_READER_OPTIONS_INIT;

  options.wakeup_events = 1;
  options.ring_bytes = 64 * 1024;
  return options;
}

/* -- payloads ------------------------------------------------------------- */

typedef struct head_s {
  uint64_t number;
  uint32_t cpu;
  uint32_t size;
} head_t;

static uint8_t byte_at(const head_t *head, size_t i) {
  return (uint8_t)(head->number * 7 + head->cpu + i);
}

size_t live_bpf_reader_padded(size_t size) {
  return ((size + 4 + 7) & ~(size_t)7) - 4;
}

void live_bpf_reader_write(live_bpf_reader_t *live, int cpu, void *payload,
                           size_t size) {
  head_t head = {live->sent++, (uint32_t)cpu, (uint32_t)size};
  uint8_t *bytes = payload;
  size_t i;

  assert_in_range(size, sizeof(head), LIVE_BPF_MOST);
  memcpy(bytes, &head, sizeof(head));
  for (i = sizeof(head); i < size; i++)
    bytes[i] = byte_at(&head, i);
}

int live_bpf_reader_send(live_bpf_reader_t *live, int cpu, size_t size) {
  void *payload = malloc(size);
  int rc;

  assert_non_null(payload);
  live_bpf_reader_write(live, cpu, payload, size);
  rc = live_bpf_output_on(&live->output, cpu, payload, size);
  free(payload);
  if (rc != 0)
    live->sent--;
  return rc;
}

void live_bpf_reader_send_all(live_bpf_reader_t *live, int cpu, uint64_t nr) {
  while (nr-- > 0)
    assert_int_equal(live_bpf_reader_send(live, cpu, 24), 0);
}

/* Whether the sample is one of ours, whole, from the CPU on which it was sent,
 * and not older than the one before. */
static int is_right(live_bpf_reader_t *live, const uvperf_record_t *sample) {
  const uint8_t *bytes = sample->sample.raw.data;
  head_t head;
  size_t i;

  if (sample->sample.raw.size < sizeof(head))
    return 0;
  memcpy(&head, bytes, sizeof(head));
  if (head.size < sizeof(head) || head.cpu != (uint32_t)sample->cpu ||
      sample->sample.raw.size != live_bpf_reader_padded(head.size) ||
      head.cpu >= LIVE_BPF_READER_CPUS || head.number < live->last[head.cpu])
    return 0;
  for (i = sizeof(head); i < head.size; i++)
    if (bytes[i] != byte_at(&head, i))
      return 0;
  live->last[head.cpu] = head.number + 1;
  live->by_cpu[head.cpu]++;
  return 1;
}

/* -- callbacks ------------------------------------------------------------ */

static void count(live_bpf_reader_t *live, int status,
                  const uvperf_record_t *sample) {
  live->records++;
  live->remaining = sample->remaining;
  live->lost += uvperf_record_lost(sample);
  if (status != 0)
    live->corrupt++;
  else if (sample->type != PERF_RECORD_SAMPLE)
    live->others++;
  else if (is_right(live, sample))
    live->samples++;
  else
    live->strange++;
}

void live_bpf_reader_on_sample(uvperf_handle_t *base, int status,
                               const uvperf_record_t *sample) {
  live_bpf_reader_t *live = base->data;

  if (sample->type != UVPERF_RECORD_NONE) {
    count(live, status, sample);
  } else if (status == 0) {
    assert_int_equal(sample->cpu, UINT32_MAX);
    live->slice_ends++;
  } else {
    live->faults++;
    live->fault = status;
    live_find_ring(base, sample->cpu, &live->fault_ring);
  }
  if (live->on_sample != NULL)
    live->on_sample(live, status, sample);
}

void live_bpf_reader_on_cpu(uvperf_handle_t *base, int cpu, int status,
                            const uvperf_error_t *error) {
  live_bpf_reader_t *live = base->data;
  size_t used = strlen(live->cpu_events);

  snprintf(live->cpu_events + used, sizeof(live->cpu_events) - used,
           "%s%d %s%s", used == 0 ? "" : ", ", cpu,
           error == NULL ? "" : "fails by ",
           status == 0 ? "0" : uv_err_name(status));
  assert_true(error != NULL ? error->code == status
                            : status == 0 || status == UV_ENODEV);
  if (error != NULL)
    live->error = *error;
  live->nr_cpu_events++;
  if (live->on_cpu != NULL)
    live->on_cpu(live, cpu, status);
}

void live_bpf_reader_on_close(uvperf_handle_t *handle) {
  live_bpf_reader_t *live = handle->data;

  live->closed++;
}

/* -- the reader ----------------------------------------------------------- */

void live_bpf_reader_make(const char *test, live_bpf_reader_t *live,
                          uint32_t entries) {
  memset(live, 0, sizeof(*live));
  live->array = live_bpf_array_make(test, entries);
  live_bpf_output_open(&live->output, live->array);
  live->has_output = 1;
}

void live_bpf_reader_open(uv_loop_t *loop, live_bpf_reader_t *live,
                          const uvperf_bpf_reader_options_t *options) {
  uvperf_bpf_reader_options_t plain = live_bpf_reader_options();
  uvperf_error_t error;
  int rc;

  error.reason[0] = '\0';
  live->reader.handle.data = live;
  live->closed = 0;
  rc = uvperf_bpf_reader_init(loop, &live->reader, live->array,
                              options != NULL ? options : &plain, &error);
  if (rc != 0)
    fail_msg("uvperf_bpf_reader_init: %d: %s", rc, error.reason);
  uvperf_on_cpu(&live->reader.handle, live_bpf_reader_on_cpu);
}

void live_bpf_reader_start(live_bpf_reader_t *live,
                           const uvperf_stream_options_t *options) {
  uvperf_error_t error;
  int rc;

  error.reason[0] = '\0';
  rc = uvperf_start(&live->reader.handle,
                    options != NULL ? options : &live_bpf_reader_plain,
                    live_bpf_reader_on_sample, &error);
  if (rc != 0)
    fail_msg("uvperf_start: %d: %s", rc, error.reason);
}

void live_bpf_reader_begin_with(const char *test, uv_loop_t *loop,
                                live_bpf_reader_t *live,
                                const uvperf_bpf_reader_options_t *options) {
  live_bpf_reader_make(test, live, 0);
  live_bpf_reader_open(loop, live, options);
  live_bpf_reader_start(live, NULL);
}

void live_bpf_reader_begin(const char *test, uv_loop_t *loop,
                           live_bpf_reader_t *live) {
  live_bpf_reader_begin_with(test, loop, live, NULL);
}

void live_bpf_reader_wait_closed(live_bpf_reader_t *live) {
  int turns;

  for (turns = 0; !live->closed && turns < 100; turns++)
    uv_run(live->reader.handle.loop, UV_RUN_ONCE);
  assert_int_equal(live->closed, 1);
}

void live_bpf_reader_close(live_bpf_reader_t *live) {
  uvperf_close(&live->reader.handle, live_bpf_reader_on_close);
  live_bpf_reader_wait_closed(live);
}

void live_bpf_reader_unmake(live_bpf_reader_t *live) {
  if (live->has_output)
    live_bpf_output_close(&live->output);
  live->has_output = 0;
  if (live->array >= 0)
    assert_int_equal(close(live->array), 0);
  live->array = -1;
}

void live_bpf_reader_end(live_bpf_reader_t *live) {
  live_bpf_reader_close(live);
  live_bpf_reader_unmake(live);
}
