/* SPDX-License-Identifier: MIT */
#include "bpf_pair.h"

#include "live.h"

/* -- delivery ------------------------------------------------------------- */

static uint64_t hash_of(const void *data, size_t size) {
  const uint8_t *bytes = data;
  uint64_t hash = 14695981039346656037u;
  size_t i;

  for (i = 0; i < size; i++)
    hash = (hash ^ bytes[i]) * 1099511628211u;
  return hash;
}

static void hear(bpf_pair_ear_t *ear, const bpf_pair_heard_t *heard) {
  if (ear->nr == ear->room) {
    ear->room = ear->room == 0 ? 1024 : 2 * ear->room;
    ear->heard = realloc(ear->heard, ear->room * sizeof(ear->heard[0]));
    if (ear->heard == NULL)
      abort();
  }
  ear->heard[ear->nr++] = *heard;
}

static bpf_pair_ear_t *ear_of(bpf_pair_t *pair, int side, int cpu) {
  if (cpu >= 0 && cpu < BPF_PAIR_CPUS)
    return &pair->ears[side][cpu];
  pair->strange++;
  return &pair->ears[side][0];
}

static void hear_payload(bpf_pair_t *pair, int side, int cpu, const void *data,
                         size_t size) {
  bpf_pair_ear_t *ear = ear_of(pair, side, cpu);
  bpf_pair_heard_t heard;
  uint32_t bytes = 0;

  heard.number = bpf_numbered_check(data, size, (uint32_t)cpu);
  heard.size = (uint32_t)size;
  if (heard.number == UINT64_MAX)
    pair->strange++;
  else
    memcpy(&bytes, (const char *)data + offsetof(bpf_numbered_payload_t, size),
           sizeof(bytes));
  heard.hash = hash_of(data, bytes);
  hear(ear, &heard);
  ear->payloads++;
}

static void hear_loss(bpf_pair_t *pair, int side, int cpu, uint64_t lost) {
  bpf_pair_ear_t *ear = ear_of(pair, side, cpu);
  const bpf_pair_heard_t heard = {lost, 0, 0};

  hear(ear, &heard);
  ear->lost += lost;
}

static void on_sample(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *sample) {
  bpf_pair_t *pair = handle->data;

  if (status == UV_EPROTO && sample->type != UVPERF_RECORD_NONE)
    pair->corrupt++;
  else if (status != 0 || sample->type == UVPERF_RECORD_NONE)
    pair->strange++;
  else if (sample->type == PERF_RECORD_SAMPLE)
    hear_payload(pair, BPF_PAIR_OURS, (int)sample->cpu, sample->sample.raw.data,
                 sample->sample.raw.size);
  else if (sample->type == PERF_RECORD_LOST)
    hear_loss(pair, BPF_PAIR_OURS, (int)sample->cpu,
              uvperf_record_lost(sample));
  else
    pair->strange++;
}

static void on_their_sample(void *ctx, int cpu, void *data, uint32_t size) {
  hear_payload(ctx, BPF_PAIR_THEIRS, cpu, data, size);
}

static void on_their_loss(void *ctx, int cpu, __u64 lost) {
  hear_loss(ctx, BPF_PAIR_THEIRS, cpu, lost);
}

/* Like perf_buffer__process_record() of libbpf, which works only with
 * perf_buffer__new. */
static enum bpf_perf_event_ret
on_their_record(void *ctx, int cpu, struct perf_event_header *header) {
  const char *body = (const char *)(header + 1);
  uint32_t size;
  uint64_t lost;

  if (header->type == PERF_RECORD_SAMPLE) {
    memcpy(&size, body, sizeof(size));
    hear_payload(ctx, BPF_PAIR_THEIRS, cpu, body + sizeof(size), size);
  } else if (header->type == PERF_RECORD_LOST) {
    memcpy(&lost, body + 8, sizeof(lost));
    hear_loss(ctx, BPF_PAIR_THEIRS, cpu, lost);
  } else
    ((bpf_pair_t *)ctx)->strange++;
  return LIBBPF_PERF_EVENT_CONT;
}

/* -- the two -------------------------------------------------------------- */

static void on_look(uv_timer_t *timer) {
  bpf_pair_t *pair = timer->data;

  if (perf_buffer__consume(pair->theirs) < 0)
    pair->strange++;
}

static void open_theirs(bpf_pair_t *pair, const bpf_pair_plan_t *plan) {
  struct perf_event_attr attr;

  if (plan->wakeup_bytes == 0) {
    pair->theirs =
        perf_buffer__new(pair->numbered.maps[BPF_PAIR_THEIRS], plan->pages,
                         on_their_sample, on_their_loss, pair, NULL);
  } else {
    uvperf_attr_software(&attr, PERF_COUNT_SW_BPF_OUTPUT);
    attr.sample_type = PERF_SAMPLE_RAW;
    attr.sample_period = 1;
    attr.watermark = 1;
    attr.wakeup_watermark = plan->wakeup_bytes;
    pair->theirs =
        perf_buffer__new_raw(pair->numbered.maps[BPF_PAIR_THEIRS], plan->pages,
                             &attr, on_their_record, pair, NULL);
  }
  assert_non_null(pair->theirs);
}

static void open_ours(uv_loop_t *loop, bpf_pair_t *pair,
                      const bpf_pair_plan_t *plan) {
  uvperf_bpf_reader_options_t options = UVPERF_BPF_READER_OPTIONS_INIT;
  uvperf_error_t error;

  options.ring_bytes = plan->pages * support_page_bytes();
  options.wakeup_events = plan->wakeup_bytes == 0;
  options.wakeup_bytes = plan->wakeup_bytes;
  pair->ours.handle.data = pair;
  if (uvperf_bpf_reader_init(loop, &pair->ours,
                             pair->numbered.maps[BPF_PAIR_OURS], &options,
                             &error) != 0 ||
      uvperf_start(&pair->ours.handle, NULL, on_sample, &error) != 0)
    fail_msg("%s", error.reason);
}

static int say_nothing(enum libbpf_print_level level, const char *format,
                       va_list arguments) {
  (void)level;
  (void)format;
  (void)arguments;
  return 0;
}

bpf_pair_t *bpf_pair_open(const char *test, uv_loop_t *loop,
                          const bpf_pair_plan_t *plan) {
  bpf_pair_t *pair;

  support_need_cpu_wide(test);
  live_bpf_need(test, BPF_PROG_TYPE_SCHED_CLS);
  libbpf_set_print(say_nothing);
  pair = calloc(1, sizeof(*pair));
  assert_non_null(pair);
  assert_int_equal(bpf_numbered_open(&pair->numbered, BPF_PAIR_SIDES,
                                     plan->entries, plan->least, plan->most),
                   0);
  open_theirs(pair, plan);
  open_ours(loop, pair, plan);
  uv_timer_init(loop, &pair->look);
  pair->look.data = pair;
  uv_timer_start(&pair->look, on_look, 0, 1);
  return pair;
}

static void on_closed(uvperf_handle_t *handle) {
  ((bpf_pair_t *)handle->data)->is_closed = 1;
}

void bpf_pair_close(uv_loop_t *loop, bpf_pair_t *pair) {
  int side, cpu;

  assert_int_equal(pair->corrupt + pair->strange, 0);
  uvperf_close(&pair->ours.handle, on_closed);
  uv_close((uv_handle_t *)&pair->look, NULL);
  uv_run(loop, UV_RUN_DEFAULT);
  assert_true(pair->is_closed);
  perf_buffer__free(pair->theirs);
  bpf_numbered_close(&pair->numbered);
  for (side = 0; side < BPF_PAIR_SIDES; side++)
    for (cpu = 0; cpu < BPF_PAIR_CPUS; cpu++)
      free(pair->ears[side][cpu].heard);
  free(pair);
}

void bpf_pair_send(bpf_pair_t *pair, int cpu, uint32_t nr) {
  cpu_set_t old;

  live_pin(cpu, &old);
  assert_int_equal(bpf_numbered_send(&pair->numbered, nr), 0);
  live_unpin(&old);
}

/* Returns how many payloads the program wrote into the ring of a CPU, by its
 * own count. */
static uint64_t written(const bpf_pair_t *pair, int side, int cpu) {
  const bpf_numbered_state_t *state = &pair->numbered.states[cpu];

  return state->next - state->to[side].full - state->to[side].refused;
}

int bpf_pair_read(uv_loop_t *loop, bpf_pair_t *pair, const int *cpus,
                  size_t nr_cpus) {
  uint64_t end = uv_hrtime() + 20000000000u;
  size_t i, all = BPF_PAIR_SIDES * nr_cpus;

  while (uv_hrtime() < end) {
    uv_run(loop, UV_RUN_ONCE);
    for (i = 0; i < all; i++)
      if (pair->ears[i % BPF_PAIR_SIDES][cpus[i / BPF_PAIR_SIDES]].payloads !=
          written(pair, (int)(i % BPF_PAIR_SIDES), cpus[i / BPF_PAIR_SIDES]))
        break;
    if (i == all)
      return 1;
  }
  return 0;
}

void bpf_pair_assert_same(const bpf_pair_t *pair, int cpu) {
  const bpf_pair_ear_t *ours = &pair->ears[BPF_PAIR_OURS][cpu];
  const bpf_pair_ear_t *theirs = &pair->ears[BPF_PAIR_THEIRS][cpu];
  size_t i;

  for (i = 0; i < ours->nr && i < theirs->nr; i++) {
    assert_int_equal(ours->heard[i].number, theirs->heard[i].number);
    assert_int_equal(ours->heard[i].size, theirs->heard[i].size);
    assert_int_equal(ours->heard[i].hash, theirs->heard[i].hash);
  }
  assert_int_equal(ours->nr, theirs->nr);
  assert_int_equal(ours->lost, theirs->lost);
}

void bpf_pair_assert_complete(const bpf_pair_t *pair, int side, int cpu) {
  const bpf_pair_ear_t *ear = &pair->ears[side][cpu];
  const bpf_numbered_state_t *state = &pair->numbered.states[cpu];
  uint64_t next = 0;
  size_t i;

  for (i = 0; i < ear->nr; i++) {
    if (ear->heard[i].size == 0) {
      next += ear->heard[i].number;
      continue;
    }
    assert_int_equal(ear->heard[i].number, next);
    next++;
  }
  assert_int_equal(next, state->next);
  assert_int_equal(ear->lost, state->to[side].full);
  assert_int_equal(state->to[side].refused, 0);
}
