/* SPDX-License-Identifier: MIT */
#include "scripted_event.h"

#include "make_record.h"

char delivered[512];
uint64_t deliveries;

static void append(const char *what) {
  size_t used = strlen(delivered);

  snprintf(delivered + used, sizeof(delivered) - used, "%s%s", used ? " " : "",
           what);
}

void scripted_event_on_record(uvperf_handle_t *handle, int status,
                              const uvperf_record_t *record) {
  char text[64];

  deliveries += 1;
  if (record->type != UVPERF_RECORD_NONE && status == 0)
    snprintf(text, sizeof(text), "%s",
             uvperf_record_type_name(record->type) != NULL
                 ? uvperf_record_type_name(record->type)
                 : "unknown");
  else
    snprintf(text, sizeof(text), "%s%s", uv_err_name(status),
             record->type != UVPERF_RECORD_NONE ? "+raw" : "");
  append(text);
}

void scripted_event_attr(struct perf_event_attr *attr) {
  live_comm_attr(attr);
  attr->sample_type |= PERF_SAMPLE_IP;
}

fake_event_t *scripted_event_open(uv_loop_t *loop,
                                  live_collector_t *collector) {
  uvperf_stream_options_t options = UVPERF_STREAM_OPTIONS_INIT;
  fake_event_t *fake = fake_event_add(7);
  struct perf_event_attr attr;

  delivered[0] = '\0';
  scripted_event_attr(&attr);
  live_init(loop, collector, &attr, NULL);
  options.slice_us = LIVE_SLICE_US;
  assert_int_equal(uvperf_start(&collector->event.handle, &options,
                                scripted_event_on_record, NULL),
                   0);
  return fake;
}

void scripted_event_append(fake_event_t *fake, uint32_t type) {
  static record_builder_t builder;
  record_values_t values;

  record_values_init(&values);
  record_build(&builder, type, &fake->attr, &values);
  fake_ring_append(fake, builder.words, builder.size);
}

void scripted_event_turns(uv_loop_t *loop, int nr) {
  while (nr-- > 0)
    uv_run(loop, UV_RUN_NOWAIT);
}
