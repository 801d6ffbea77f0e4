/* SPDX-License-Identifier: MIT */
#include "fake_pool.h"
#include "live.h"
#include "make_record.h"
#include "scripted_evlist_run.h"
#include "scripted_kernel.h"

static struct {
  uint64_t base; /* the time 0 of "samples" */
  /* What a measured function does in each call, in turn: of "work". */
  struct work_s {
    fake_event_t *fake;
    uint64_t enabled, running;
    uint64_t values[STEP_WORDS];
    size_t nr;
  } works[4], sum;
  size_t nr_works;
  size_t nr_calls;
} set_run;

void evlist_set_begin(void) {
  memset(&set_run, 0, sizeof(set_run));
}

/* -- steps: measuring a function ------------------------------------------- */

static void do_work(const step_t *step) {
  struct work_s *work = &set_run.works[set_run.nr_works++];

  assert_true(set_run.nr_works <= COUNT_OF(set_run.works));
  work->fake = kernel_event(step_word(step, 1));
  work->enabled = step_value(step, 2);
  work->running = step_value(step, 3);
  for (work->nr = 0; work->nr + 4 < step->nr; work->nr++)
    work->values[work->nr] = step_value(step, work->nr + 4);
}

/* The measured function: the events count. */
static void work(void *arg) {
  const struct work_s *added =
      &set_run
           .works[set_run.nr_calls++ % (set_run.nr_works + !set_run.nr_works)];
  uint64_t ids[STEP_WORDS];
  size_t i;

  say_next();
  say("called");
  if (set_run.nr_works == 0)
    return;
  set_run.sum.enabled += added->enabled;
  set_run.sum.running += added->running;
  for (i = 0; i < added->nr; i++) {
    set_run.sum.values[i] += added->values[i];
    ids[i] = added->fake->id + i;
  }
  if (added->nr == 1)
    counters_give(added->fake, set_run.sum.values[0], set_run.sum.enabled,
                  set_run.sum.running);
  else if (added->nr > 1)
    counters_give_group(added->fake, set_run.sum.enabled, set_run.sum.running,
                        ids, set_run.sum.values, added->nr);
  else
    added->fake->read_size = 0;
}

static void do_meter(const step_t *step) {
  uvperf_set_options_t options = evlist_run.make.options;
  const uvperf_set_failure_t *failures;
  size_t nr, i;

  options.names = step_word(step, 1);
  options.attrs = NULL;
  options.nr_attrs = options.nr_targets = 0;
  evlist_returned(
      uvperf_meter_new(&evlist_run.meter, &options, &row_result.error));
  if (row_result.code != 0)
    return;
  failures = uvperf_meter_failures(evlist_run.meter, &nr);
  for (i = 0; i < nr; i++) {
    say(", no %s ",
        uvperf_meter_item(evlist_run.meter, failures[i].error.attr_index)
            ->label);
    say_error(&failures[i].error);
  }
}

static void do_free_meter(const step_t *step) {
  uvperf_meter_free(evlist_run.meter);
  evlist_run.meter = NULL;
}

/* "measure 2" has two results; "measure 2 NAMES" is uvperf_measure_events. */
static void do_measure(const step_t *step) {
  uvperf_count_t counts[STEP_WORDS];
  size_t nr = step_nth(step, 1), i;
  int is_once = step->nr > 2, rc;

  memset(counts, 0, sizeof(counts));
  rc = is_once ? uvperf_measure_events(step_word(step, 2), work, NULL, counts,
                                       nr, &row_result.error)
               : uvperf_meter_measure(evlist_run.meter, work, NULL, counts, nr,
                                      &row_result.error);
  for (i = 0; i < nr && counts[i].nr_counts + counts[i].nr_missing != 0; i++)
    say_count(&counts[i]);
  if (is_once && rc == 0 && row_result.error.code != 0) {
    say(", missing a%u ", row_result.error.attr_index);
    say_error(&row_result.error);
  }
  evlist_returned(rc);
}

static void do_repeat(const step_t *step) {
  uvperf_runs_t runs;

  kernel_hide();
  memset(&runs, 0, sizeof(runs));
  evlist_returned(uvperf_meter_repeat(evlist_run.meter, step_value(step, 1),
                                      work, NULL, &runs, step_nth(step, 2),
                                      &row_result.error));
  kernel_show();
  say_begin();
  if (runs.nr != 0)
    say("%llu runs of %llu to %llu, mean %.2f, deviation %.2f, sum",
        (unsigned long long)runs.nr, (unsigned long long)runs.least,
        (unsigned long long)runs.most, runs.mean, runs.deviation);
  if (runs.nr != 0)
    say_count(&runs.sum);
  evlist_returned(row_result.code);
}

/* -- steps: a set on a loop ------------------------------------------------ */

static void on_opened(uvperf_handle_t *handle, int status,
                      const uvperf_error_t *error) {
  assert_int_equal(status == 0, error == NULL);
  say_next();
  say("opened %s", step_code_name(status));
}

static void on_added(uvperf_set_t *set, int status, void *data, uint32_t index,
                     const uvperf_error_t *error) {
  size_t before;

  assert_int_equal(status == 0, error == NULL);
  row_result.code = status;
  say_next();
  before = say_length();
  say("t%u added ", index);
  if (error == NULL)
    say("0");
  else
    say_error(error);
  row_callback(before);
}

static void say_record(const uvperf_record_t *record) {
  if (record->type != PERF_RECORD_SAMPLE) {
    say("record %u", record->type);
    return;
  }
  say("sample of ");
  if (record->source == NULL)
    say("nothing");
  else
    say_place(record->source->target_index, record->source->pid,
              record->source->cpu);
  if (record->time != 0)
    say(" at %lld", (long long)(record->time - set_run.base));
}

static void on_set_record(uvperf_handle_t *handle, int status,
                          const uvperf_record_t *record) {
  const uvperf_source_t *source = record->source;
  uint32_t target = source == NULL ? 0 : source->target_index;
  size_t before;

  say_next();
  before = say_length();
  if (status != 0)
    say("%s", step_code_name(status));
  else
    say_record(record);
  row_callback(before);
  /* Whatever the callback did. */
  assert_ptr_equal(record->source, source);
  assert_true(source == NULL || source->target_index == target);
}

static void on_read(uvperf_set_t *set, int status,
                    const uvperf_reading_t *reading,
                    const uvperf_reading_t *delta) {
  size_t before;

  assert_int_equal(status == 0, reading != NULL && delta != NULL);
  say_next();
  before = say_length();
  say("read %s", step_code_name(status));
  if (status == 0)
    evlist_say_totals(reading);
  row_callback(before);
}

static void on_end(uvperf_set_t *set, uint32_t target) {
  size_t before;

  say_next();
  before = say_length();
  say("t%u ended", target);
  row_callback(before);
}

static void on_closed(uvperf_handle_t *handle) {
  evlist_run.is_closed = 1;
  say_next();
  say("closed");
}

void evlist_set_close(void) {
  uvperf_close(&evlist_run.set.handle, on_closed);
}

/* Makes a set, by libuv's pool with "pool". The pool waits for "pool". With
 * "follow" the set follows the CPUs. */
static void do_set(const step_t *step) {
  uvperf_set_options_t options = evlist_run.make.options;
  int follows = step->nr > 1 && step_is(step, 1, "follow");

  fake_pool_hold();
  if (!follows)
    options.flags |= UVPERF_SET_FIXED_CPUS;
  if (step->nr > 1 && !follows)
    options.open_cb = on_opened;
  evlist_returned(uvperf_set_init(&kernel_loop, &evlist_run.set, &options,
                                  &row_result.error));
  evlist_run.has_set = row_result.code == 0;
  set_run.base = live_now();
  if (!evlist_run.has_set)
    return;
  uvperf_set_on_end(&evlist_run.set, on_end);
  if (follows)
    assert_int_equal(uvperf_on_cpu(&evlist_run.set.handle, row_on_cpu), 0);
}

static void do_follow(const step_t *step) {
  evlist_returned(uvperf_on_cpu(&evlist_run.set.handle, row_on_cpu));
}

/* "read_start" without a time: as often as no test takes. */
static void do_read_start(const step_t *step) {
  evlist_returned(
      step_is(step, 0, "read_start")
          ? uvperf_set_read_start(&evlist_run.set,
                                  step->nr > 1 ? (uint32_t)step_value(step, 1)
                                               : 1000000,
                                  on_read, &row_result.error)
          : uvperf_set_read_stop(&evlist_run.set));
}

static void do_active(const step_t *step) {
  say("%d", uvperf_is_active(&evlist_run.set.handle));
}

static void do_ref(const step_t *step) {
  if (step_is(step, 0, "ref"))
    uvperf_ref(&evlist_run.set.handle);
  else
    uvperf_unref(&evlist_run.set.handle);
}

static void walk_close(uv_handle_t *handle, void *arg) {
  uvperf_walk_close(handle);
}

/* As uv_walk closes it; its close callback is NULL. */
static void do_walk(const step_t *step) {
  uv_walk(&kernel_loop, walk_close, NULL);
  evlist_run.is_closed = 1;
}

/* For each ring its CPU, whether bytes wait, and statistics. */
static void do_ring_stats(const step_t *step) {
  uvperf_ring_info_t ring;
  size_t i;

  for (i = 0; i < uvperf_nr_rings(&evlist_run.set.handle); i++) {
    assert_int_equal(uvperf_ring(&evlist_run.set.handle, i, &ring), 0);
    say_next();
    say("cpu%d %llu records in %llu slices, %llu late, %llu of bad times%s",
        ring.cpu, (unsigned long long)ring.stats.records,
        (unsigned long long)ring.stats.slices,
        (unsigned long long)ring.stats.late_records,
        (unsigned long long)ring.stats.bad_times,
        ring.waiting != 0 ? ", some wait" : "");
  }
}

static void do_later(const step_t *step) {
  uvperf_target_t target = evlist_target(step, 1);
  uint32_t index = 99;

  evlist_returned(uvperf_set_add(&evlist_run.set, &target, on_added, &index,
                                 &row_result.error));
}

/* "start 1": in slices of one record. */
static void do_start(const step_t *step) {
  uvperf_stream_options_t options = UVPERF_STREAM_OPTIONS_INIT;
  uvperf_handle_t *handle = &evlist_run.set.handle;

  if (step_is(step, 0, "start")) {
    options.flush_ms = -1;
    options.slice_us = LIVE_SLICE_US;
    options.slice_records = step->nr > 1 ? (uint32_t)step_value(step, 1) : 0;
    evlist_returned(
        uvperf_start(handle, &options, on_set_record, &row_result.error));
  } else {
    evlist_returned(step_is(step, 0, "stop") ? uvperf_stop(handle)
                                             : uvperf_flush(handle));
  }
}

static void do_next(const step_t *step) {
  const uvperf_record_t *record;
  int rc = uvperf_next(&evlist_run.set.handle, &record);

  assert_int_equal(record != NULL, rc == 0 || rc == UV_EPROTO);
  if (rc == 0) {
    say_next();
    say_record(record);
  }
  evlist_returned(rc);
}

static void no_writer(void) {
}

static void on_snapshot(uvperf_handle_t *handle, int status) {
  say_next();
  say("snapshot %s", step_code_name(status));
}

/* With "later" the pool makes it. */
static void do_snapshot(const step_t *step) {
  static const step_name_t flags[] = {
      {"all", UVPERF_SNAPSHOT_ALL},
      {"oldest_first", UVPERF_SNAPSHOT_OLDEST_FIRST},
      {"later", 0}};
  int is_later = step_is(step, step->nr - 1, "later");

  fake_on_membarrier(no_writer);
  evlist_returned(uvperf_snapshot(
      &evlist_run.set.handle, (uint32_t)step_bits(step, flags, COUNT_OF(flags)),
      is_later ? on_snapshot : NULL, &row_result.error));
}

static void do_has(const step_t *step) {
  say("%d", uvperf_has_record(&evlist_run.set.handle));
}

/* Samples at these times, of an event in a ring of another. */
static void do_samples(const step_t *step) {
  fake_event_t *owner = kernel_event(step_word(step, 1)),
               *of = kernel_event(step_word(step, 2));
  record_builder_t builder;
  record_values_t values;
  size_t i;

  for (i = 3; i < step->nr; i++) {
    record_values_init(&values);
    values.id = of->id;
    values.time = set_run.base + step_value(step, i);
    record_build(&builder, PERF_RECORD_SAMPLE, &kernel_events[0]->attr,
                 &values);
    if (owner->attr.write_backward)
      fake_ring_prepend(owner, builder.words, builder.size);
    else
      fake_ring_append(owner, builder.words, builder.size);
  }
}

static void do_stats(const step_t *step) {
  uvperf_stats_t stats;

  uvperf_stats(&evlist_run.set.handle, &stats);
  say_next();
  say("%llu records, %llu late, %llu of bad times, %u to close",
      (unsigned long long)stats.records, (unsigned long long)stats.late_records,
      (unsigned long long)stats.bad_times, stats.closing_fds);
}

const scripted_verb_t evlist_set_verbs[] = {{"set", do_set},
                                            {"later", do_later},
                                            {"read_start", do_read_start},
                                            {"read_stop", do_read_start},
                                            {"active", do_active},
                                            {"ref", do_ref},
                                            {"unref", do_ref},
                                            {"walk", do_walk},
                                            {"follow", do_follow},
                                            {"ring_stats", do_ring_stats},
                                            {"start", do_start},
                                            {"stop", do_start},
                                            {"flush", do_start},
                                            {"next", do_next},
                                            {"has_record", do_has},
                                            {"snapshot", do_snapshot},
                                            {"samples", do_samples},
                                            {"stats", do_stats},
                                            {"work", do_work},
                                            {"meter", do_meter},
                                            {"free_meter", do_free_meter},
                                            {"measure", do_measure},
                                            {"repeat", do_repeat},
                                            {NULL, NULL}};
