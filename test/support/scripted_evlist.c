/* SPDX-License-Identifier: MIT */
#include "scripted_evlist.h"

#include <unistd.h>

#include "attr/attr.h"
#include "fake_clock.h"
#include "name/list.h"
#include "scripted_evlist_run.h"
#include "scripted_kernel.h"
#include "scripted_pages.h"

evlist_run_t evlist_run;

void evlist_returned(int rc) {
  if (row_returned(rc))
    say(" a%u t%u", row_result.error.attr_index, row_result.error.target_index);
}

/* The counts of an attr at each place. */
static void say_counts(const uvperf_reading_t *reading, size_t attr) {
  uvperf_count_t count;
  size_t i;

  for (i = 0; i < uvperf_reading_info(reading)->nr_places; i++) {
    assert_int_equal(uvperf_reading_get(reading, attr, UVPERF_ALL, i, &count),
                     0);
    say_count(&count);
  }
}

void evlist_say_totals(const uvperf_reading_t *reading) {
  uvperf_count_t count;
  size_t i;

  for (i = 0; i < uvperf_reading_info(reading)->nr_attrs; i++) {
    assert_int_equal(uvperf_reading_total(reading, i, &count), 0);
    say_count(&count);
  }
}

/* -- steps: what is asked for ---------------------------------------------- */

static void do_attrs(const step_t *step) {
  if (step_is(step, 0, "attrs"))
    evlist_make(&evlist_run.make, step_nth(step, 1));
  else
    evlist_make_records(&evlist_run.make, step_nth(step, 1));
}

static void do_names(const step_t *step) {
  evlist_returned(uvperf_event_list_parse(&evlist_run.list, step_word(step, 1),
                                          &row_result.error));
  evlist_make(&evlist_run.make, 0);
  evlist_run.make.options.events = evlist_run.list;
}

static void do_group(const step_t *step) {
  evlist_group(&evlist_run.make, step_nth(step, 1), step_nth(step, 2));
}

static void do_leader(const step_t *step) {
  evlist_run.make.leaders[step_nth(step, 1)] = step_nth(step, 2);
}

static void do_attr(const step_t *step) {
  step_set_fields(step, 2, &evlist_run.make.attrs[step_value(step, 1)]);
}

static void do_sample(const step_t *step) {
  uvperf_attr_init(&evlist_run.sample, 0, 0);
  step_set_fields(step, 1, &evlist_run.sample);
  evlist_run.make.options.sample = &evlist_run.sample;
}

static void do_by_program(const step_t *step) {
  evlist_run.make.options.open = kernel_opener;
  if (step->nr > 1)
    evlist_run.make.options.open_timeout_ms = (uint32_t)step_value(step, 1);
}

static void do_option(const step_t *step) {
  static const step_name_t flags[] = {
      {"strict", UVPERF_SET_STRICT},
      {"records", UVPERF_SET_RECORDS},
      {"time_order", UVPERF_SET_TIME_ORDER},
      {"fixed_cpus", UVPERF_SET_FIXED_CPUS},
      {"overwrite", UVPERF_SET_OVERWRITE},
      {"targets_later", UVPERF_SET_TARGETS_LATER},
      {"enabled", UVPERF_SET_ENABLED},
      {"perf_clock", UVPERF_SET_PERF_CLOCK},
      {"user_read", UVPERF_SET_USER_READ}};
  static const step_name_t bands[] = {{"tasks", UVPERF_SIDE_BAND_TASKS},
                                      {"mmap", UVPERF_SIDE_BAND_MMAP},
                                      {"build_id", UVPERF_SIDE_BAND_BUILD_ID}};
  uvperf_set_options_t *options = &evlist_run.make.options;

  if (step_is(step, 0, "flags"))
    options->flags |= (uint32_t)step_bits(step, flags, COUNT_OF(flags));
  else if (step_is(step, 0, "fallbacks"))
    options->fallbacks = step_fallbacks(step);
  else if (step_is(step, 0, "side_band"))
    options->side_band = (uint32_t)step_bits(step, bands, COUNT_OF(bands));
  else if (step_is(step, 0, "ring_bytes"))
    options->ring_bytes = step_nth(step, 1);
  else if (step_is(step, 0, "wakeup_bytes"))
    options->wakeup_bytes = (uint32_t)step_value(step, 1);
  else
    options->slack_us = (uint32_t)step_value(step, 1);
}

uvperf_target_t evlist_target(const step_t *step, size_t at) {
  static const step_name_t types[] = {{"self", UVPERF_TARGET_SELF},
                                      {"thread", UVPERF_TARGET_THREAD},
                                      {"process", UVPERF_TARGET_PROCESS},
                                      {"command", UVPERF_TARGET_COMMAND},
                                      {"cpus", UVPERF_TARGET_CPUS}};
  uvperf_target_t target = UVPERF_TARGET_INIT;

  target.type =
      (uint32_t)step_meaning(types, COUNT_OF(types), step_word(step, at++));
  if (target.type != UVPERF_TARGET_SELF && target.type != UVPERF_TARGET_CPUS) {
    target.pid = step_is(step, at, "me")       ? (int32_t)getpid()
                 : step_is(step, at, "parent") ? (int32_t)getppid()
                                               : (int32_t)step_value(step, at);
    at++;
  }
  for (; at < step->nr; at++) {
    if (step_is(step, at, "alone"))
      target.flags = UVPERF_TARGET_NO_INHERIT;
    else if (!step_is(step, at, "all"))
      target.cpus = step->words[at];
  }
  return target;
}

/* Keeps the list of CPUs until the end of the row. */
static void do_target(const step_t *step) {
  static char lists[COUNTERS_MOST][16];
  size_t nr = evlist_run.make.options.nr_targets;
  uvperf_target_t target = evlist_target(step, 0);

  if (target.cpus != NULL) {
    snprintf(lists[nr], sizeof(lists[nr]), "%s", target.cpus);
    target.cpus = lists[nr];
  }
  *evlist_add(&evlist_run.make, target.type) = target;
}

/* -- steps: calls ---------------------------------------------------------- */

static void do_open(const step_t *step) {
  evlist_returned(
      evlist_try(&evlist_run.make, &evlist_run.evlist, &row_result.error));
  assert_int_equal(row_result.code == 0, evlist_run.evlist != NULL);
}

static void do_close(const step_t *step) {
  if (evlist_run.has_set) {
    evlist_set_close();
    return;
  }
  uvperf__evlist_free(evlist_run.evlist);
  evlist_run.evlist = NULL;
}

static void do_add(const step_t *step) {
  uvperf_target_t target = evlist_target(step, 1);
  size_t nr = evlist_run.has_set ? uvperf_set_nr_open(&evlist_run.set) : 0;
  uint32_t index = 99;

  if (step_is(step, 0, "elsewhere")) {
    evlist_returned(
        evlist_add_elsewhere(evlist_run.evlist, &target, &row_result.error));
    return;
  }
  evlist_returned(evlist_run.has_set
                      ? uvperf_set_add(&evlist_run.set, &target, NULL, &index,
                                       &row_result.error)
                      : uvperf__evlist_add_target(evlist_run.evlist, &target,
                                                  &index, &row_result.error));
  if (row_result.code == 0)
    return;
  assert_int_equal(index, 99);
  if (evlist_run.has_set)
    assert_int_equal(uvperf_set_nr_open(&evlist_run.set), nr);
}

/* Removes a target; "take" prints its last counts. */
static void do_remove(const step_t *step) {
  int takes = step_is(step, 0, "take");
  uvperf_reading_t *last = NULL;

  if (takes)
    assert_int_equal(uvperf_reading_new(&last), 0);
  evlist_returned(
      evlist_run.has_set
          ? uvperf_set_remove(&evlist_run.set, (uint32_t)step_value(step, 1),
                              last, &row_result.error)
          : uvperf__evlist_remove_target(evlist_run.evlist,
                                         (uint32_t)step_value(step, 1), last,
                                         &row_result.error));
  if (takes && row_result.code == 0)
    evlist_say_totals(last);
  uvperf_reading_free(last);
}

/* Targets that come and go, one after the other, and write so many samples. */
static void do_churn(const step_t *step) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  uint64_t nr = step_value(step, 1);
  uint32_t index;

  target.type = UVPERF_TARGET_CPUS;
  target.cpus = "0";
  kernel_hide();
  for (; nr > 0; nr--) {
    fake_clock_set_counters(kernel_now += 25000000);
    assert_int_equal(
        uvperf__evlist_add_target(evlist_run.evlist, &target, &index, NULL), 0);
    if (step_value(step, 2) != 0)
      kernel_write_samples(kernel_events[1], kernel_nr_opened() - 1,
                           step_nth(step, 2));
    assert_int_equal(
        uvperf__evlist_remove_target(evlist_run.evlist, index, NULL, NULL), 0);
    uvperf__evlist_free_sources(evlist_run.evlist);
  }
  kernel_show();
}

static void do_begin(const step_t *step) {
  size_t nr = step_nth(step, 1);
  uvperf_target_t target = evlist_target(step, 2);

  evlist_returned(uvperf__evlist_new_for_target(
      &evlist_run.made[nr], evlist_run.evlist, &target, &evlist_run.adding[nr],
      &row_result.error));
}

/* So that other work can run in between, a step closes at most one event.
 * "steps 0 5" makes five of them. */
static void do_steps(const step_t *step) {
  int is_cancelled = step_is(step, 0, "cancel");
  uint64_t most = step->nr > 2 ? step_value(step, 2) : UINT64_MAX;
  unsigned closed;
  int more = 1;

  while (more && most-- > 0) {
    closed = fake_count(FAKE_CLOSE);
    more = uvperf__adding_step(&evlist_run.adding[step_value(step, 1)],
                               is_cancelled);
    assert_in_range(fake_count(FAKE_CLOSE) - closed, 0, 1);
  }
}

/* Ends it; with "join" it joins the list. */
static void do_join(const step_t *step) {
  size_t nr = step_nth(step, 1);
  int rc = uvperf__adding_end(&evlist_run.adding[nr], &row_result.error);

  if (rc == 0 && step_is(step, 0, "join"))
    rc = uvperf__evlist_take_target(evlist_run.evlist, evlist_run.made[nr],
                                    &row_result.error);
  evlist_returned(rc);
  uvperf__evlist_free(evlist_run.made[nr]);
  evlist_run.made[nr] = NULL;
}

static void do_enable(const step_t *step) {
  evlist_returned(
      step_is(step, 0, "enable")
          ? uvperf__evlist_enable(evlist_run.evlist, &row_result.error)
          : uvperf__evlist_disable(evlist_run.evlist, &row_result.error));
}

static void do_read(const step_t *step) {
  evlist_returned(
      step_is(step, 0, "reset") ? uvperf__evlist_reset(evlist_run.evlist)
      : step_is(step, 0, "read")
          ? uvperf__evlist_read(evlist_run.evlist, evlist_run.reading)
          : uvperf__evlist_read_base(evlist_run.evlist, evlist_run.reading));
  if (step->nr > 1)
    evlist_say_totals(evlist_run.reading);
}

/* "back" is both. */
static void do_hotplug(const step_t *step) {
  int cpu = (int)step_value(step, 1);

  if (!step_is(step, 0, "come"))
    uvperf__evlist_cpu_gone(evlist_run.evlist, cpu);
  if (!step_is(step, 0, "gone"))
    evlist_returned(
        uvperf__evlist_cpu_come(evlist_run.evlist, cpu, &row_result.error));
}

static void do_filter(const step_t *step) {
  evlist_returned(
      uvperf__evlist_apply_filter(evlist_run.evlist, step_nth(step, 1),
                                  step_word(step, 2), &row_result.error));
}

static void do_period(const step_t *step) {
  evlist_returned(
      uvperf__evlist_change_period(evlist_run.evlist, step_nth(step, 1),
                                   step_nth(step, 2), &row_result.error));
}

/* An fd that is no program's: the scripted kernel does not mind. */
static void do_program(const step_t *step) {
  int fd = step_is(step, 0, "program") ? dup(0) : -1;

  evlist_returned(uvperf__evlist_attach_bpf(
      evlist_run.evlist, step_nth(step, 1), fd,
      step->nr > 2 ? step_value(step, 2) : 0, &row_result.error));
  if (fd >= 0)
    close(fd);
}

static void do_detach(const step_t *step) {
  uvperf__evlist_detach(evlist_run.evlist);
}

static void do_fill(const step_t *step) {
  evlist_returned(uvperf__evlist_fill_map(evlist_run.evlist, step_nth(step, 1),
                                          step->nr > 2 ? -1 : kernel_map_fd,
                                          &row_result.error));
}

static void do_leave(const step_t *step) {
  uvperf__evlist_leave_maps(evlist_run.evlist);
}

/* -- steps: records and the end -------------------------------------------- */

static void do_free_sources(const step_t *step) {
  uvperf__evlist_free_sources(evlist_run.evlist);
}

static void on_record(void *data, int status, const uvperf_record_t *record) {
  size_t *known = data;

  assert_int_equal(status, record->source != NULL ? 0 : -EPROTO);
  known[record->source != NULL] += 1;
}

static void do_drain(const step_t *step) {
  size_t known[2] = {0, 0};

  evlist_drain(evlist_run.evlist, on_record, known);
  say_next();
  say("%zu known, %zu unknown", known[1], known[0]);
}

static void do_probe(const step_t *step) {
  size_t nr = uvperf__evlist_probe(evlist_run.evlist);

  say_next();
  say("%zu ended", nr);
}

static void do_ended(const step_t *step) {
  uint32_t index;

  while (uvperf__evlist_take_ended(evlist_run.evlist, &index)) {
    say_next();
    say("t%u", index);
  }
  say_next();
  say("%s", uvperf__evlist_have_ended(evlist_run.evlist) ? "all"
            : uvperf__evlist_can_end(evlist_run.evlist)  ? "more can"
                                                         : "none can");
}

static void do_writers(const step_t *step) {
  evlist_returned(
      uvperf__evlist_check_writers(evlist_run.evlist, &row_result.error));
}

/* -- steps: what there is -------------------------------------------------- */

/* Reads without printing what the kernel sees. */
static const uvperf_reading_t *read_quietly(uvperf_reading_t *reading) {
  kernel_hide();
  row_result.code = uvperf__evlist_read(evlist_run.evlist, reading);
  kernel_show();
  return reading;
}

static void do_totals(const step_t *step) {
  evlist_say_totals(read_quietly(evlist_run.reading));
}

static void do_counts(const step_t *step) {
  say_counts(read_quietly(evlist_run.reading), step_nth(step, 1));
}

static void do_mark(const step_t *step) {
  read_quietly(evlist_run.marked);
}

static void do_delta(const step_t *step) {
  read_quietly(evlist_run.reading);
  assert_int_equal(uvperf_reading_delta(evlist_run.delta, evlist_run.marked,
                                        evlist_run.reading),
                   0);
  say_counts(evlist_run.delta, step_nth(step, 1));
}

/* With the serial, and the event of attr 0. */
static void do_places(const step_t *step) {
  const uvperf_reading_t *reading = read_quietly(evlist_run.reading);
  const uvperf_place_t *place;
  size_t i, nr;

  for (i = 0; i < uvperf_reading_info(reading)->nr_places; i++) {
    place = uvperf_reading_place(reading, i);
    say_next();
    say_place(place->target, place->pid, place->cpu);
    say(" #%llu", (unsigned long long)place->serial);
    nr =
        kernel_nr_of_fd(uvperf__evlist_fd(evlist_run.evlist, 0, place->serial));
    if (nr < KERNEL_EVENTS)
      say(" e%zu", nr);
  }
}

static void do_failures(const step_t *step) {
  const uvperf_set_failure_t *failures;
  size_t nr, i;

  failures = uvperf__evlist_failures(evlist_run.evlist, &nr);
  for (i = 0; i < nr; i++) {
    say_next();
    say("a%u ", failures[i].error.attr_index);
    say_place(failures[i].error.target_index, failures[i].pid, failures[i].cpu);
    say(" ");
    say_error(&failures[i].error);
  }
}

static void do_failure(const step_t *step) {
  const char *reason =
      evlist_failure(evlist_run.evlist, step_nth(step, 1))->error.reason;

  if (strstr(reason, step_word(step, 2)) == NULL)
    step_fail(step->text, reason);
}

static void do_nr(const step_t *step) {
  say("%zu", uvperf__evlist_nr_open(evlist_run.evlist));
}

static void do_item(const step_t *step) {
  size_t attr = step_nth(step, 1), i;
  const uvperf_event_item_t *item =
      uvperf__evlist_item(evlist_run.evlist, attr);

  if (item == NULL) {
    say("none");
    return;
  }
  if (item->label == evlist_run.labels[attr])
    say("still ");
  evlist_run.labels[attr] = item->label;
  say("%s%s%s", item->label, *item->unit != '\0' ? " " : "", item->unit);
  if (item->group >= 0)
    say(" group %d leader %zu", item->group, item->leader);
  for (i = 0; i < item->nr_cpus; i++)
    say(i == 0 ? " cpus %d" : ",%d", item->cpus[i]);
  assert_true(item->scale == 1);
}

static void do_fields(const step_t *step) {
  say_fields(uvperf__evlist_item(evlist_run.evlist, step_nth(step, 1))->attr,
             step, 2);
}

static void do_nonzero(const step_t *step) {
  say_nonzero(uvperf__evlist_item(evlist_run.evlist, step_nth(step, 1))->attr);
}

static void do_changes(const step_t *step) {
  const uvperf_change_t *changes;
  size_t nr;

  changes = uvperf__evlist_changes(evlist_run.evlist, step_nth(step, 1), &nr);
  assert_int_equal(nr == 0, changes == NULL);
  say_changes(changes, nr);
}

static void do_enabled(const step_t *step) {
  size_t i;

  say(uvperf__evlist_is_enabled(evlist_run.evlist) ? "yes:" : "no:");
  for (i = 0; i < KERNEL_EVENTS; i++)
    if (kernel_events[i]->fd >= 0 && kernel_events[i]->enabled)
      say(" e%zu", i);
}

static void do_sources(const step_t *step) {
  const uvperf_source_t *source;
  size_t i;

  for (i = 1; i < step->nr; i++) {
    source = evlist_source(evlist_run.evlist, kernel_event(step->words[i])->id);
    say_next();
    if (source == NULL) {
      say("-");
      continue;
    }
    say("a%u ", source->attr_index);
    say_place(source->target_index, source->pid, source->cpu);
    say(" #%llu", (unsigned long long)source->serial);
  }
}

/* For each CPU the owner, and how many events write into the ring. */
static void do_rings(const step_t *step) {
  const uvperf__cpu_ring_t *ring;
  size_t i;

  for (i = 0; i < uvperf__evlist_nr_rings(evlist_run.evlist); i++) {
    ring = evlist_ring(evlist_run.evlist, i);
    say_next();
    say("cpu%d e%zu of %zu", ring->cpu, kernel_nr_of_fd(ring->fd),
        (size_t)ring->nr_events);
  }
}

static const scripted_verb_t evlist_verbs[] = {
    {"attrs", do_attrs},
    {"records", do_attrs},
    {"names", do_names},
    {"group", do_group},
    {"leader", do_leader},
    {"attr", do_attr},
    {"sample", do_sample},
    {"flags", do_option},
    {"by_program", do_by_program},
    {"side_band", do_option},
    {"fallbacks", do_option},
    {"ring_bytes", do_option},
    {"wakeup_bytes", do_option},
    {"slack_us", do_option},
    {"cpus", do_target},
    {"self", do_target},
    {"thread", do_target},
    {"process", do_target},
    {"command", do_target},
    {"open", do_open},
    {"close", do_close},
    {"add", do_add},
    {"elsewhere", do_add},
    {"remove", do_remove},
    {"take", do_remove},
    {"churn", do_churn},
    {"begin", do_begin},
    {"steps", do_steps},
    {"cancel", do_steps},
    {"join", do_join},
    {"drop", do_join},
    {"enable", do_enable},
    {"disable", do_enable},
    {"reset", do_read},
    {"read", do_read},
    {"base", do_read},
    {"gone", do_hotplug},
    {"come", do_hotplug},
    {"back", do_hotplug},
    {"filter", do_filter},
    {"period", do_period},
    {"program", do_program},
    {"noprogram", do_program},
    {"detach", do_detach},
    {"fill", do_fill},
    {"leave", do_leave},
    {"free_sources", do_free_sources},
    {"drain", do_drain},
    {"probe", do_probe},
    {"ended", do_ended},
    {"writers", do_writers},
    {"totals", do_totals},
    {"counts", do_counts},
    {"mark", do_mark},
    {"delta", do_delta},
    {"places", do_places},
    {"failures", do_failures},
    {"failure", do_failure},
    {"nr", do_nr},
    {"item", do_item},
    {"fields", do_fields},
    {"nonzero", do_nonzero},
    {"changes", do_changes},
    {"enabled", do_enabled},
    {"sources", do_sources},
    {"rings", do_rings},
    {NULL, NULL}};

/* -- rows ------------------------------------------------------------------ */

static void begin(void) {
  memset(&evlist_run, 0, sizeof(evlist_run));
  evlist_set_begin();
  evlist_make(&evlist_run.make, 0);
  assert_int_equal(uvperf_reading_new(&evlist_run.reading), 0);
  assert_int_equal(uvperf_reading_new(&evlist_run.marked), 0);
  assert_int_equal(uvperf_reading_new(&evlist_run.delta), 0);
}

static int has_open_set(void) {
  return evlist_run.has_set && !evlist_run.is_closed &&
         !uvperf_is_closing(&evlist_run.set.handle);
}

static void before_step(void) {
  if (has_open_set())
    evlist_run.evlist = ((set_t *)evlist_run.set.handle.impl)->evlist;
}

static int is_open(void) {
  return evlist_run.evlist != NULL;
}

static void close_set(void) {
  if (has_open_set())
    evlist_set_close();
}

static void end(void) {
  size_t i;

  if (evlist_run.has_set) {
    assert_int_equal(evlist_run.is_closed, 1);
    evlist_run.evlist = NULL;
  }
  for (i = 0; i < COUNT_OF(evlist_run.made); i++) {
    if (evlist_run.made[i] != NULL)
      uvperf__adding_end(&evlist_run.adding[i], NULL);
    uvperf__evlist_free(evlist_run.made[i]);
  }
  if (evlist_run.evlist != NULL)
    uvperf__evlist_leave_maps(evlist_run.evlist);
  uvperf__evlist_free(evlist_run.evlist);
  uvperf_meter_free(evlist_run.meter);
  uvperf_event_list_free(evlist_run.list);
  uvperf_reading_free(evlist_run.reading);
  uvperf_reading_free(evlist_run.marked);
  uvperf_reading_free(evlist_run.delta);
}

static void need_pages(const scripted_row_t *row) {
  if (strncmp(row->text, "pages", 5) == 0 || strstr(row->text, " pages"))
    scripted_pages_need(row->name);
}

const scripted_subject_t scripted_evlist = {
    {evlist_verbs, evlist_set_verbs, scripted_pages_verbs, NULL},
    need_pages,
    begin,
    before_step,
    is_open,
    close_set,
    end};
