/* SPDX-License-Identifier: MIT */
/* Formats hits. Names and strings come from other processes, which may choose
 * any bytes. */
#include "trace/line.h"

#include <inttypes.h>

#include "trace/put.h"
#include "common/name.h"

/* Puts the kernel's text into the scratch buffer. Returns 1, or 0 if the text
 * is not wanted or cannot be made. */
static int has_words(trace_form_t *form, const trace_hit_t *hit) {
  const uvperf_sample_t *sample = &hit->record->sample;

  form->scratch.used = 0;
  return form->print_fmt &&
         trace_fields_print(hit->fields, &form->scratch, sample->raw.data,
                            sample->raw.size) == 0;
}

static void put_text_fields(common_buffer_t *buffer, trace_form_t *form,
                            const trace_hit_t *hit) {
  const uvperf_sample_t *sample = &hit->record->sample;

  if (hit->fields == NULL) {
    common_buffer_print(buffer, " ip=0x%" PRIx64 " addr=0x%" PRIx64,
                        hit->record->ip, hit->record->addr);
  } else if (has_words(form, hit)) {
    common_buffer_add(buffer, " ", 1);
    common_name_text(buffer, form->scratch.text);
  } else {
    trace_fields_text(hit->fields, buffer, sample->raw.data, sample->raw.size);
  }
}

static void put_text(common_buffer_t *buffer, trace_form_t *form,
                     const trace_hit_t *hit) {
  const uvperf_record_t *record = hit->record;

  trace_put_begin(buffer, record->time, record->cpu);
  trace_put_task(buffer, hit->comm, record->pid, record->tid);
  common_buffer_text(buffer, " ");
  common_name_text(buffer, hit->label);
  put_text_fields(buffer, form, hit);
}

static void put_json_fields(common_buffer_t *buffer, trace_form_t *form,
                            const trace_hit_t *hit) {
  const uvperf_sample_t *sample = &hit->record->sample;

  if (hit->fields == NULL)
    common_buffer_print(buffer,
                        ",\"ip\":\"0x%" PRIx64 "\",\"addr\":\"0x%" PRIx64 "\"",
                        hit->record->ip, hit->record->addr);
  else if (has_words(form, hit))
    common_name_json(buffer, "print", form->scratch.text);
  else
    trace_fields_json(hit->fields, buffer, sample->raw.data, sample->raw.size);
}

static void put_json(common_buffer_t *buffer, trace_form_t *form,
                     const trace_hit_t *hit) {
  const uvperf_record_t *record = hit->record;

  trace_put_json(buffer, record->time, "hit");
  trace_put_json_id(buffer, "cpu", record->cpu);
  trace_put_json_id(buffer, "pid", record->pid);
  trace_put_json_id(buffer, "tid", record->tid);
  if (hit->comm[0] != '\0')
    common_name_json(buffer, "comm", hit->comm);
  common_name_json(buffer, "event", hit->label);
  put_json_fields(buffer, form, hit);
  common_buffer_add(buffer, "}", 1);
}

void trace_line_hit(common_buffer_t *buffer, trace_form_t *form,
                    const trace_hit_t *hit) {
  if (form->json)
    put_json(buffer, form, hit);
  else
    put_text(buffer, form, hit);
  common_buffer_add(buffer, "\n", 1);
}

void trace_line_lost(common_buffer_t *buffer, const trace_form_t *form,
                     uint64_t time, const uvperf_record_t *record) {
  uint64_t lost = record->lost.lost;

  if (form->json) {
    trace_put_json(buffer, time, "lost");
    trace_put_json_number(buffer, "lost", lost);
    trace_put_json_id(buffer, "cpu", record->cpu);
    common_buffer_text(buffer, "}\n");
    return;
  }
  trace_put_begin(buffer, time, record->cpu);
  trace_put_lost(buffer, lost);
}

void trace_line_end(common_buffer_t *buffer, uint64_t time, uint64_t hits,
                    uint64_t lost, uint64_t late) {
  trace_put_json(buffer, time, "end");
  common_buffer_print(buffer,
                      ",\"hits\":%" PRIu64 ",\"lost\":%" PRIu64
                      ",\"late\":%" PRIu64 "}\n",
                      hits, lost, late);
}
