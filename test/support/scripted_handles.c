/* SPDX-License-Identifier: MIT */
#include "scripted_handles.h"

#include "fake_pool.h"
#include "live.h"
#include "scripted_handles_run.h"
#include "scripted_hotplug.h"
#include "scripted_kernel.h"

handles_run_t handles_run;

static struct {
  int has_no_error;
  const uvperf_record_t *in_hand; /* of the last "next" */
} run;

uvperf_handle_t *handles_of(const step_t *step, size_t nr) {
  const char *name = step_word(step, nr);
  uint64_t index = *name == 'h' ? step_number(name + 1) : HANDLES_MOST;

  if (index >= HANDLES_MOST)
    step_fail(name, "is no handle");
  return &handles_run.handles[index].handle;
}

uvperf_event_t *handles_event(const step_t *step, size_t nr) {
  return &handles_run.handles[handles_nr(handles_of(step, nr))].event;
}

size_t handles_nr(const uvperf_handle_t *handle) {
  size_t i = 0;

  while (i < HANDLES_MOST && &handles_run.handles[i].handle != handle)
    i++;
  assert_true(i < HANDLES_MOST);
  return i;
}

scripted_handle_t *handles_next(void) {
  assert_true(handles_run.nr < HANDLES_MOST);
  return &handles_run.handles[handles_run.nr];
}

void handles_opened(int rc) {
  row_returned(rc);
  handles_run.nr += rc == 0;
}

uvperf_error_t *handles_error(void) {
  return run.has_no_error ? NULL : &row_result.error;
}

void handles_on_open(uvperf_handle_t *handle, int status,
                     const uvperf_error_t *error) {
  assert_int_equal(status == 0, error == NULL);
  say_next();
  say("h%zu opened ", handles_nr(handle));
  row_result.code = status;
  if (error != NULL)
    say_error(error);
  else
    say("0");
}

/* -- calls ----------------------------------------------------------------- */

static void do_no_error(const step_t *step) {
  step_t rest = *step;

  rest.nr -= 1;
  memmove(rest.words, rest.words + 1, rest.nr * sizeof(rest.words[0]));
  run.has_no_error = 1;
  row_run(&rest);
  run.has_no_error = 0;
}

static const struct {
  const char *word;
  int (*call)(uvperf_handle_t *handle, size_t nr, uvperf_error_t *error);
} controls[] = {{"enable", uvperf_enable},
                {"disable", uvperf_disable},
                {"reset", uvperf_reset}};

static void do_control(const step_t *step) {
  size_t i = 0;

  while (!step_is(step, 0, controls[i].word))
    i++;
  row_returned(controls[i].call(
      handles_of(step, 1), step->nr > 2 ? UVPERF_ALL : 0, handles_error()));
}

static void do_period(const step_t *step) {
  row_returned(uvperf_change_period(handles_of(step, 1), 0, step_value(step, 2),
                                    handles_error()));
}

static void do_filter(const step_t *step) {
  row_returned(uvperf_apply_filter(handles_of(step, 1), 0, step_word(step, 2),
                                   handles_error()));
}

static void do_program(const step_t *step) {
  int fd = (int)step_value(step, 2);

  row_returned(
      uvperf_attach_bpf(handles_of(step, 1), 0, fd, 0, handles_error()));
  assert_true(row_result.code != 0 || kernel_program == fd);
}

/* Ids that the call did not return are not changed. */
static void do_query(const step_t *step) {
  size_t room = step_nth(step, 2), nr = room, i;
  uint32_t ids[100] = {0};

  assert_true(room < COUNT_OF(ids));
  row_returned(uvperf_query_bpf(handles_of(step, 1), 0, room == 0 ? NULL : ids,
                                &nr, handles_error()));
  say_next();
  say("%zu:", nr);
  for (i = 0; i < COUNT_OF(ids) && ids[i] != 0; i++)
    say(" %u", ids[i]);
  for (; i < COUNT_OF(ids); i++)
    assert_int_equal(ids[i], 0);
}

/* -- CPUs ------------------------------------------------------------------ */

static void do_follow(const step_t *step) {
  row_returned(uvperf_on_cpu(handles_of(step, 1), row_on_cpu));
}

/* -- records --------------------------------------------------------------- */

/* Of a ring buffer: the program has written 1, 2, 3 and so on. */
static void check_data(const uvperf_record_t *record) {
  const uint8_t *data = record->sample.raw.data;
  uint32_t i;

  assert_non_null(data);
  for (i = 0; i < record->sample.raw.size; i++)
    assert_int_equal(data[i], (uint8_t)(i + 1));
}

/* `self` is the ring's handle. */
static void say_record(const uvperf_handle_t *self, int status,
                       const uvperf_record_t *record) {
  const char *name = uvperf_record_type_name(record->type);

  if (status != 0)
    say("%s%s", step_code_name(status),
        record->type == UVPERF_RECORD_NONE ? "" : "+raw");
  else if (record->type == UVPERF_RECORD_NONE)
    say("slice");
  else
    say("%s", name != NULL ? name : "unknown");
  if (record->type == UVPERF_RECORD_NONE)
    return;
  if (record->misc != 0)
    say(" %u", record->misc);
  if (uvperf_record_lost(record) != 0)
    say(" %llu", (unsigned long long)uvperf_record_lost(record));
  if (record->cpu == UINT32_MAX) {
    say(" of %u bytes, %llu left", record->sample.raw.size,
        (unsigned long long)record->remaining);
    check_data(record);
  } else if (self->type == UVPERF_HANDLE_BPF_READER)
    say(" of cpu%u, %llu left", record->cpu,
        (unsigned long long)record->remaining);
  else if (record->source == NULL)
    say(" of nothing");
  else if (record->source->data == NULL)
    say(" of closed e%u", (unsigned)(record->source->ids[0] - 100));
  else if (record->source->data != self)
    say(" of h%zu", handles_nr(record->source->data));
}

static void on_record(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record) {
  uvperf_record_t same;
  size_t before;

  say_next();
  before = say_length();
  say_record(handle, status, record);
  memcpy(&same, record, sizeof(same));
  row_callback(before);
  assert_memory_equal(record, &same, sizeof(same));
}

static void do_start(const step_t *step) {
  static const step_name_t flags[] = {{"no_enable", UVPERF_START_NO_ENABLE},
                                      {"slice_end", UVPERF_START_SLICE_END}};
  uvperf_stream_options_t options = UVPERF_STREAM_OPTIONS_INIT;
  uvperf_handle_t *handle = handles_of(step, 1);
  int has_callback = uvperf_nr_rings(handle) != 0;
  size_t i;

  options.flush_ms = -1;
  options.slice_us = LIVE_SLICE_US;
  for (i = 2; i < step->nr; i++)
    if (step_is(step, i, "callback"))
      has_callback = 1;
    else if (step_is(step, i, "timer"))
      options.flush_ms = 0;
    else
      options.flags |=
          (uint32_t)step_meaning(flags, COUNT_OF(flags), step->words[i]);
  row_returned(uvperf_start(handle, &options, has_callback ? on_record : NULL,
                            handles_error()));
}

static void do_stop(const step_t *step) {
  uvperf_handle_t *handle = handles_of(step, 1);

  row_returned(step_is(step, 0, "stop") ? uvperf_stop(handle)
                                        : uvperf_flush(handle));
}

/* "in_hand" prints the last record of next again. */
static void do_next(const step_t *step) {
  uvperf_handle_t *handle = handles_of(step, 1);
  int rc = 0;

  if (step_is(step, 0, "next"))
    rc = uvperf_next(handle, &run.in_hand);
  if (run.in_hand == NULL) {
    row_returned(rc);
    return;
  }
  say_next();
  say_record(handle, rc, run.in_hand);
}

/* Fields of the attr that the record in hand came from. */
static void do_source(const step_t *step) {
  say_fields(run.in_hand->source->attr, step, 1);
}

static void note_membarrier(void) {
  say_next();
  say("membarrier");
}

static void on_snapshot(uvperf_handle_t *handle, int status) {
  say_next();
  say("snapshot %s", step_code_name(status));
}

static void do_snapshot(const step_t *step) {
  static const step_name_t flags[] = {
      {"no_wait", UVPERF_SNAPSHOT_NO_WAIT},
      {"oldest_first", UVPERF_SNAPSHOT_OLDEST_FIRST},
      {"all", UVPERF_SNAPSHOT_ALL},
      {"later", 0}};
  uvperf_handle_t *handle = handles_of(step, 1);
  uint64_t bits = 0;
  int is_later;
  size_t i;

  for (i = 2; i < step->nr; i++)
    bits |= (uint64_t)step_meaning(flags, COUNT_OF(flags), step_word(step, i));
  is_later = step_is(step, step->nr - 1, "later");
  if (is_later)
    fake_pool_hold();
  fake_on_membarrier(note_membarrier);
  row_returned(uvperf_snapshot(handle, (uint32_t)bits,
                               is_later ? on_snapshot : NULL, handles_error()));
}

static void on_close(uvperf_handle_t *handle) {
  size_t nr = handles_nr(handle);

  handles_run.closed[nr] = 1;
  say_next();
  say("h%zu closed", nr);
}

static void do_close(const step_t *step) {
  uvperf_close(handles_of(step, 1), on_close);
}

/* -- what there is --------------------------------------------------------- */

static void do_fields(const step_t *step) {
  say_fields(uvperf_handle_attr(handles_of(step, 1), 0), step, 2);
}

static void do_changes(const step_t *step) {
  const uvperf_change_t *changes;
  size_t nr;

  changes = uvperf_changes(handles_of(step, 1), 0, &nr);
  assert_int_equal(nr == 0, changes == NULL);
  say_changes(changes, nr);
}

static void do_ring(const step_t *step) {
  say("%zu", support_ring_bytes(handles_of(step, 1)));
}

static void do_active(const step_t *step) {
  say("%d", uvperf_is_active(handles_of(step, 1)));
}

static void do_has(const step_t *step) {
  say("%d", uvperf_has_record(handles_of(step, 1)));
}

/* Statistics by the names of their fields. */
static void do_stats(const step_t *step) {
  uint64_t lost_is_read;
  uvperf_stats_t stats;
  const struct {
    const char *name;
    const uint64_t *value;
  } fields[] = {{"lost_is_read", &lost_is_read},
                {"records", &stats.records},
                {"bytes", &stats.bytes},
                {"wakeups", &stats.wakeups},
                {"skipped_bytes", &stats.skipped_bytes},
                {"high_water_bytes", &stats.high_water_bytes},
                {"slices", &stats.slices},
                {"corrupt", &stats.corrupt},
                {"lost_records", &stats.lost_records},
                {"late_records", &stats.late_records},
                {"bad_times", &stats.bad_times},
                {"cpus_gone", &stats.cpus_gone},
                {"cpus_come", &stats.cpus_come}};
  size_t i, field;

  uvperf_stats(handles_of(step, 1), &stats);
  lost_is_read = stats.lost_is_read;
  for (i = 2; i < step->nr; i++) {
    for (field = 0; !step_is(step, i, fields[field].name); field++)
      if (field + 1 == COUNT_OF(fields))
        step_fail(step->words[i], "is no field of the statistics");
    say_next();
    say_number(*fields[field].value);
  }
}

/* For each ring its CPU, its waiting bytes and its statistics. */
static void do_rings(const step_t *step) {
  uvperf_ring_info_t ring;
  size_t i;

  for (i = 0; i < uvperf_nr_rings(handles_of(step, 1)); i++) {
    assert_int_equal(uvperf_ring(handles_of(step, 1), i, &ring), 0);
    say_next();
    say("cpu%d %zu waiting, %llu records, %llu lost", ring.cpu,
        (size_t)ring.waiting, (unsigned long long)ring.stats.records,
        (unsigned long long)ring.stats.lost_records);
  }
}

static const scripted_verb_t handles_verbs[] = {{"follow", do_follow},
                                                {"stats", do_stats},
                                                {"rings", do_rings},
                                                {"no_error", do_no_error},
                                                {"enable", do_control},
                                                {"disable", do_control},
                                                {"reset", do_control},
                                                {"period", do_period},
                                                {"filter", do_filter},
                                                {"program", do_program},
                                                {"query", do_query},
                                                {"start", do_start},
                                                {"stop", do_stop},
                                                {"flush", do_stop},
                                                {"next", do_next},
                                                {"in_hand", do_next},
                                                {"source", do_source},
                                                {"snapshot", do_snapshot},
                                                {"close", do_close},
                                                {"fields", do_fields},
                                                {"changes", do_changes},
                                                {"ring", do_ring},
                                                {"active", do_active},
                                                {"has_record", do_has},
                                                {NULL, NULL}};

/* -- rows ------------------------------------------------------------------ */

static void begin(void) {
  memset(&run, 0, sizeof(run));
  memset(&handles_run, 0, sizeof(handles_run));
  handles_event_begin();
  handles_reader_begin();
}

static int is_open(void) {
  return handles_run.nr != 0;
}

/* The last one first, so that siblings are closed before their leader. */
static void close_all(void) {
  size_t i;

  for (i = handles_run.nr; i-- > 0;)
    if (!handles_run.closed[i] &&
        !uvperf_is_closing(&handles_run.handles[i].handle))
      uvperf_close(&handles_run.handles[i].handle, on_close);
}

static void end(void) {
  size_t i;

  for (i = 0; i < handles_run.nr; i++)
    assert_int_equal(handles_run.closed[i], 1);
  handles_event_end();
  handles_reader_end();
}

const scripted_subject_t scripted_handles = {
    {handles_verbs, handles_event_verbs, handles_reader_verbs, NULL},
    NULL,
    begin,
    NULL,
    is_open,
    close_all,
    end};
