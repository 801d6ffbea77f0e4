/* SPDX-License-Identifier: MIT */
/* Scripted: readings of many events on a loop, in slices. The scripted clock
 * ends each slice as early as possible. */
#include "live_set.h"

#include "fake_clock.h"
#include "make_evlist.h"
#include "model_run.h"
#include "scripted_evlist.h"

#include "set/internal.h"

#define MS UINT64_C(1000000)

/* Some uptime. */
#define START (12345678 * MS)

/* Longer than a test takes: the tests let the timer fire. */
#define INTERVAL_MS 1000000

/* Groups that are read in a slice at least, as evlist/read.c has it. */
#define SHARE 32

#define ATTRS       3  /* so that a slice can end within a place */
#define CPUS        20 /* for each target */
#define PER_TARGET  (ATTRS * CPUS)
#define TARGETS     3 /* at first */
#define ALL         (TARGETS * PER_TARGET)
#define MOST_EVENTS 480

static const scripted_row_t rows[] = {
    /* After 32 events. */
    {"set_of_many_events_is_read_in_slices_of_turns",
     "attrs 3; cpus 0-19; cpus 0-19; cpus 0-19; set; clock 1 1000000; "
     "loop_clock 1; read_start; loop_clock 1000000000000001; fire_timer; count "
     "read -> 180\n"
     "waits -> 0\n"
     "turn 1; count read -> 212\n"
     "waits -> 0\n"
     "turn 1; count read -> 244\n"
     "turn 3; count read -> 340\n"
     "waits -> 0\n"
     "turn 1; count read -> 360\n"
     "waits -> 1\n"},
    /* Its reading comes, and the next tick is at the next multiple. */
    {"set_slower_than_its_interval_leaves_ticks_out",
     "attrs 3; cpus 0-19; cpus 0-19; cpus 0-19; set; clock 1 1000000; "
     "loop_clock 1; read_start; loop_clock 1000000000000001; fire_timer; turn "
     "2; loop_clock 2000000000000001; fire_timer; loop_clock 3000000000000001; "
     "fire_timer; turn 3; waits -> 0\n"
     "turn 1; waits -> 1\n"
     "loop_clock 4000000000000001; fire_timer; waits -> 0\n"
     "turn 6; waits -> 1\n"},
    {"set_stopped_between_slices_calls_back_no_more",
     "attrs 3; cpus 0-19; cpus 0-19; cpus 0-19; set; clock 1 1000000; "
     "loop_clock 1; read_start; loop_clock 1000000000000001; fire_timer; turn "
     "2; read_stop; alive -> 0\n"
     "turn ->\n"
     "read_start; turn; waits -> 1\n"
     "loop_clock 2000000000000002; fire_timer; turn 6; waits -> 1\n"},
    {"set_closed_between_slices_calls_back_no_more",
     "attrs 3; cpus 0-19; cpus 0-19; cpus 0-19; set; clock 1 1000000; "
     "loop_clock 1; read_start; loop_clock 1000000000000001; fire_timer; turn "
     "2; on read never; close; turn\n"},
    {"set_closed_by_walk_between_slices_is_clean",
     "attrs 3; cpus 0-19; cpus 0-19; cpus 0-19; set; clock 1 1000000; "
     "loop_clock 1; read_start; loop_clock 1000000000000001; fire_timer; turn "
     "2; on read never; walk; turn\n"},
    {"set_whose_hub_others_have_closed_calls_back_once",
     "attrs 1; cpus 0; set; loop_clock 1; read_start; uv_close hub; loop_clock "
     "1000000000000001; fire_timer -> read ECANCELED\n"
     "turn ->\n"
     "read_start -> read e0, EINVAL loop a0 t0\n"},
    {"set_in_forked_child_between_slices_is_not_read",
     "attrs 3; cpus 0-19; cpus 0-19; cpus 0-19; set; clock 1 1000000; "
     "loop_clock 1; read_start; loop_clock 1000000000000001; fire_timer; turn "
     "2; fork; count read -> 244\n"
     "turn ->\n"
     "count read -> 244\n"
     "waits -> 1\n"
     "unfork\n"},
    {"set_unrefd_between_slices_lets_the_loop_end",
     "attrs 3; cpus 0-19; cpus 0-19; cpus 0-19; set; clock 1 1000000; "
     "loop_clock 1; read_start; loop_clock 1000000000000001; fire_timer; turn "
     "2; unref; alive -> 0\n"
     "ref; alive -> 1\n"
     "turn 4; waits -> 1\n"},
};

/* The observations of an event. */
typedef struct event_s {
  fake_event_t *fake;
  uint64_t words[5]; /* value, enabled, running, id, lost */
  uint64_t base;     /* the value at the last reset */
  uint64_t least;    /* the value when the reading was begun */
  uint64_t last;     /* value in the last reading; 0: none */
} event_t;

typedef struct slices_s {
  live_set_t live;
  event_t events[MOST_EVENTS];
  uint32_t targets[MOST_EVENTS / PER_TARGET];
  size_t firsts[MOST_EVENTS / PER_TARGET]; /* the first event of each target */
  size_t nr_targets;
  size_t nr_used; /* events that were opened */
  uint64_t ticks;
  int was_reset; /* since the last reading */
  uint64_t callbacks;
  int nested;
  uvperf_reading_t *since; /* the user's last reading */
  model_run_t run;
} slices_t;

/* -- events --------------------------------------------------------------- */

/* Each has counted something more. */
static void work(slices_t *slices) {
  uint64_t *words;
  size_t i;

  for (i = 0; i < MOST_EVENTS; i++) {
    words = slices->events[i].words;
    words[0] += 1 + i % 7;
    words[1] += 10;
    words[2] += 10;
  }
}

static event_t *event_of(slices_t *slices, int fd) {
  size_t i;

  for (i = 0; i < MOST_EVENTS; i++)
    if (slices->events[i].fake->fd == fd)
      return &slices->events[i];
  fail_msg("no event has the fd %d", fd);
  return NULL;
}

static void note_reading_begun(slices_t *slices) {
  size_t i;

  for (i = 0; i < MOST_EVENTS; i++)
    slices->events[i].least = slices->events[i].words[0];
}

/* -- readings ------------------------------------------------------------- */

static uint64_t value_of(const uvperf_reading_t *reading, size_t attr,
                         size_t place) {
  uvperf_count_t count;

  assert_int_equal(uvperf_reading_get(reading, attr, UVPERF_ALL, place, &count),
                   0);
  return count.value;
}

static void check_event(slices_t *slices, const uvperf_reading_t *reading,
                        const uvperf_reading_t *delta, size_t attr,
                        size_t place) {
  const uvperf_place_t *at = uvperf_reading_place(reading, place);
  event_t *event =
      event_of(slices, uvperf_set_fd(&slices->live.set, attr, at->serial));
  uint64_t value = value_of(reading, attr, place);
  uint64_t older = slices->was_reset ? 0 : event->last;

  model_run_expect(&slices->run,
                   value + event->base >= event->least &&
                       value + event->base <= event->words[0],
                   "a value of another time", (int64_t)value);
  model_run_expect(&slices->run, value_of(delta, attr, place) == value - older,
                   "a delta is not the difference", (int64_t)value);
  event->last = value;
}

/* Each open event has its value at some moment between the begin of the reading
 * and now, since the last reset; and the user's last reading is older. */
static void on_read(uvperf_set_t *set, int status,
                    const uvperf_reading_t *reading,
                    const uvperf_reading_t *delta) {
  slices_t *slices = set->handle.data;
  size_t place, attr;

  slices->callbacks += 1;
  model_run_expect(&slices->run, status == 0, "a status", status);
  model_run_expect(
      &slices->run,
      uvperf_reading_info(reading)->nr_places == slices->nr_targets * CPUS,
      "places are missing", (int64_t)uvperf_reading_info(reading)->nr_places);
  model_run_expect(&slices->run, uvperf_reading_info(delta)->interval > 0,
                   "a delta of no time", 0);
  model_run_expect(
      &slices->run,
      uvperf_reading_delta(slices->since, slices->live.reading, reading) == 0,
      "an older reading is newer", 0);
  for (place = 0; place < uvperf_reading_info(reading)->nr_places; place++)
    for (attr = 0; attr < ATTRS; attr++)
      check_event(slices, reading, delta, attr, place);
  slices->was_reset = 0;
}

/* -- the set -------------------------------------------------------------- */

static void add_target(slices_t *slices) {
  uvperf_target_t target = UVPERF_TARGET_INIT;

  if (slices->nr_used + PER_TARGET > MOST_EVENTS)
    return;
  target.type = UVPERF_TARGET_CPUS;
  target.cpus = "0-19";
  assert_int_equal(uvperf_set_add(&slices->live.set, &target, NULL,
                                  &slices->targets[slices->nr_targets], NULL),
                   0);
  slices->firsts[slices->nr_targets] = slices->nr_used;
  slices->nr_used += PER_TARGET;
  slices->nr_targets += 1;
}

/* Whatever a reading in slices has read, the last counts are those of now. */
static void remove_target(slices_t *slices, size_t nth) {
  const event_t *events = &slices->events[slices->firsts[nth]];
  uvperf_reading_t *last;
  size_t i;

  assert_int_equal(uvperf_reading_new(&last), 0);
  assert_int_equal(
      uvperf_set_remove(&slices->live.set, slices->targets[nth], last, NULL),
      0);
  assert_int_equal(uvperf_reading_info(last)->nr_places, CPUS);
  for (i = 0; i < PER_TARGET; i++)
    model_run_expect(&slices->run,
                     value_of(last, i % ATTRS, i / ATTRS) + events[i].base ==
                         events[i].words[0],
                     "a last count of another time", (int64_t)i);
  uvperf_reading_free(last);
  slices->nr_targets -= 1;
  memmove(&slices->targets[nth], &slices->targets[nth + 1],
          (slices->nr_targets - nth) * sizeof(slices->targets[0]));
  memmove(&slices->firsts[nth], &slices->firsts[nth + 1],
          (slices->nr_targets - nth) * sizeof(slices->firsts[0]));
}

/* Nothing that was counted until now is in a delta. */
static void read_start_with(slices_t *slices, uvperf_set_read_cb cb) {
  size_t i;

  slices->ticks = 0;
  fake_clock_set(START);
  assert_int_equal(
      uvperf_set_read_start(&slices->live.set, INTERVAL_MS, cb, NULL), 0);
  slices->was_reset = 0;
  for (i = 0; i < MOST_EVENTS; i++)
    slices->events[i].last = i < slices->nr_used ? slices->events[i].words[0] -
                                                       slices->events[i].base
                                                 : 0;
}

static void read_start(slices_t *slices) {
  read_start_with(slices, on_read);
}

static void stop_and_start(slices_t *slices) {
  assert_int_equal(uvperf_set_read_stop(&slices->live.set), 0);
  read_start(slices);
}

static void note_reset(slices_t *slices) {
  size_t i;

  slices->was_reset = 1;
  for (i = 0; i < slices->nr_used; i++)
    slices->events[i].base = slices->events[i].words[0];
  note_reading_begun(slices);
}

static void reset(slices_t *slices) {
  assert_int_equal(uvperf_reset(&slices->live.set.handle, UVPERF_ALL, NULL), 0);
  note_reset(slices);
}

static void begin(uv_loop_t *loop, slices_t *slices) {
  evlist_make_t make;
  event_t *event;
  size_t i;

  memset(slices, 0, sizeof(*slices));
  assert_int_equal(uvperf_reading_new(&slices->since), 0);
  fake_clock_set_counters(START);
  model_run_seed(&slices->run, 1);
  slices->run.call = "";
  for (i = 0; i < MOST_EVENTS; i++) {
    event = &slices->events[i];
    event->fake = fake_event_add(100 + i);
    event->words[3] = event->fake->id;
    event->fake->read_data = event->words;
    event->fake->read_size = sizeof(event->words);
  }
  evlist_make(&make, ATTRS);
  make.options.flags = UVPERF_SET_FIXED_CPUS;
  live_set_begin(loop, &slices->live, &make.options);
  slices->live.set.handle.data = slices;
  for (i = 0; i < TARGETS; i++)
    add_target(slices);
  work(slices);
  fake_clock_set(START);
  fake_clock_step_counters(MS);
  read_start(slices);
}

static void end(slices_t *slices) {
  model_run_check(&slices->run, 0);
  uvperf_reading_free(slices->since);
  slices->live.set.handle.data = &slices->live;
  live_set_close(&slices->live);
  fake_assert_clean();
}

static void fire(uv_loop_t *loop, slices_t *slices) {
  slices->ticks += 1;
  fake_clock_set(START + slices->ticks * INTERVAL_MS * MS);
  fake_clock_fire(fake_clock_timer(loop));
}

static void fire_new(uv_loop_t *loop, slices_t *slices) {
  note_reading_begun(slices);
  fire(loop, slices);
}

static void find_active_idle(uv_handle_t *handle, void *arg) {
  if (handle->type == UV_IDLE && uv_is_active(handle))
    *(int *)arg = 1;
}

/* Whether a reading continues in the next turn, for which the loop does not
 * wait. */
static int goes_on(uv_loop_t *loop) {
  int is_active = 0;

  uv_walk(loop, find_active_idle, &is_active);
  return is_active;
}

/* How many turns it took. */
static unsigned run_to_callback(uv_loop_t *loop, slices_t *slices) {
  uint64_t callbacks = slices->callbacks;
  unsigned turns = 0;

  while (slices->callbacks == callbacks && goes_on(loop)) {
    uv_run(loop, UV_RUN_NOWAIT);
    turns += 1;
  }
  assert_int_equal(slices->callbacks, callbacks + 1);
  assert_false(goes_on(loop));
  return turns;
}

/* -- slices --------------------------------------------------------------- */

/* However slow it is. */
static void set_of_few_events_is_read_in_the_turn_of_its_tick(void **state) {
  evlist_make_t make;
  fake_event_t *events[SHARE];
  live_set_t live;
  size_t i;

  evlist_make(&make, 2);
  counters_script(events, SHARE);
  evlist_add_cpus(&make, "0-15");
  make.options.flags = UVPERF_SET_FIXED_CPUS;
  live_set_begin(*state, &live, &make.options);
  for (i = 0; i < SHARE; i++)
    counters_give(events[i], 1, 10, 10);
  fake_clock_set_counters(START);
  fake_clock_set(START);
  assert_int_equal(
      uvperf_set_read_start(&live.set, INTERVAL_MS, live_set_on_read, NULL), 0);
  fake_clock_step_counters(1000 * MS);
  fake_clock_set(START + INTERVAL_MS * MS);
  fake_clock_fire(fake_clock_timer(*state));
  uv_run(*state, UV_RUN_NOWAIT);
  assert_int_equal(live.callbacks, 1);
  assert_int_equal(live.status, 0);
  assert_int_equal(live.total.value, 16);
  assert_false(goes_on(*state));
  live_set_close(&live);
}

/* -- between two slices --------------------------------------------------- */

static void begin_tick(uv_loop_t *loop, slices_t *slices) {
  begin(loop, slices);
  work(slices);
  fire_new(loop, slices);
  work(slices);
  uv_run(loop, UV_RUN_NOWAIT);
  uv_run(loop, UV_RUN_NOWAIT);
  work(slices);
  assert_true(goes_on(loop));
}

/* The one whose slice it is, one before it and one after it. */
static void
set_targets_change_between_slices_all_of_now_are_read(void **state) {
  slices_t slices;
  size_t nth;

  for (nth = 0; nth < TARGETS; nth++) {
    begin_tick(*state, &slices);
    uv_run(*state, UV_RUN_NOWAIT);
    remove_target(&slices, nth);
    work(&slices);
    add_target(&slices);
    work(&slices);
    run_to_callback(*state, &slices);
    end(&slices);
    fake_kernel_reset();
  }
}

/* For each target the events of a CPU are closed, and others take their places
 * and continue their counts. */
static void take_cpu_and_bring_it(slices_t *slices, size_t cpu) {
  uvperf__evlist_t *evlist = ((set_t *)slices->live.set.handle.impl)->evlist;
  event_t *old, *new;
  size_t i;

  uvperf__evlist_cpu_gone(evlist, (int)cpu);
  assert_int_equal(uvperf__evlist_cpu_come(evlist, (int)cpu, NULL), 0);
  for (i = 0; i < TARGETS * ATTRS; i++) {
    old = &slices->events[i / ATTRS * PER_TARGET + cpu * ATTRS + i % ATTRS];
    new = &slices->events[slices->nr_used++];
    assert_int_equal(old->fake->fd, -1);
    assert_true(new->fake->fd >= 0);
    new->words[0] = new->words[1] = new->words[2] = 0;
    new->base = old->base - old->words[0];
    new->least = 0;
    new->last = old->last;
  }
}

/* Its events of the first target were read before, those of the last are read
 * afterwards. */
static void set_cpu_comes_back_between_slices_its_counts_go_on(void **state) {
  slices_t slices;
  size_t cpu;

  for (cpu = 0; cpu < CPUS; cpu += CPUS - 1) {
    begin_tick(*state, &slices);
    take_cpu_and_bring_it(&slices, cpu);
    work(&slices);
    run_to_callback(*state, &slices);
    work(&slices);
    fire_new(*state, &slices);
    run_to_callback(*state, &slices);
    end(&slices);
    fake_kernel_reset();
  }
}

/* -- at random ------------------------------------------------------------ */

static void do_something(slices_t *slices) {
  static const char *const names[] = {"work", "add",  "remove",  "reset",
                                      "read", "stop", "disable", "enable"};
  uint64_t what = model_run_draw(&slices->run, 16);

  slices->run.call = what < 8 ? names[what] : "nothing";
  if (what == 1)
    add_target(slices);
  else if (what == 2 && slices->nr_targets > 1)
    remove_target(slices,
                  (size_t)model_run_draw(&slices->run, slices->nr_targets));
  else if (what == 3)
    reset(slices);
  else if (what == 4 &&
           uvperf_set_read(&slices->live.set, slices->live.reading, NULL) == 0)
    note_reading_begun(slices);
  else if (what == 5)
    stop_and_start(slices);
  else if (what == 6)
    uvperf_disable(&slices->live.set.handle, UVPERF_ALL, NULL);
  else if (what == 7)
    uvperf_enable(&slices->live.set.handle, UVPERF_ALL, NULL);
  if (what != 6)
    work(slices);
}

static void run_at_random(uv_loop_t *loop, uint64_t seed) {
  slices_t slices;

  begin(loop, &slices);
  model_run_seed(&slices.run, seed);
  for (slices.run.step = 0; slices.run.step < 200; slices.run.step++) {
    if (!goes_on(loop))
      fire_new(loop, &slices);
    else
      uv_run(loop, UV_RUN_NOWAIT);
    do_something(&slices);
    model_run_check(&slices.run, seed);
  }
  assert_true(slices.callbacks > 5);
  end(&slices);
  fake_kernel_reset();
}

static void set_used_at_random_between_slices_mixes_nothing(void **state) {
  uint64_t first, last, seed;

  model_run_seeds(20, &first, &last);
  for (seed = first; seed <= last; seed++)
    run_at_random(*state, seed);
}

/* -- inside the callback -------------------------------------------------- */

static slices_t *nested;

/* As a record callback may, inside the flush of another handle. */
static void run_the_loop(uvperf_set_t *set, int status,
                         const uvperf_reading_t *reading,
                         const uvperf_reading_t *delta) {
  uint64_t value = value_of(reading, 0, 0);
  uint64_t more = value_of(delta, 0, 0);
  int i;

  on_read(set, status, reading, delta);
  if (nested->nested++ > 0)
    return;
  work(nested);
  fire(set->handle.loop, nested);
  for (i = 0; i < 10; i++)
    uv_run(set->handle.loop, UV_RUN_NOWAIT);
  assert_int_equal(value_of(reading, 0, 0), value);
  assert_int_equal(value_of(delta, 0, 0), more);
}

static void set_whose_callback_runs_the_loop_keeps_its_reading(void **state) {
  slices_t slices;

  begin(*state, &slices);
  nested = &slices;
  assert_int_equal(uvperf_set_read_stop(&slices.live.set), 0);
  fake_clock_set(START);
  assert_int_equal(
      uvperf_set_read_start(&slices.live.set, INTERVAL_MS, run_the_loop, NULL),
      0);
  slices.ticks = 0;
  work(&slices);
  fire_new(*state, &slices);
  run_to_callback(*state, &slices);
  fire_new(*state, &slices);
  run_to_callback(*state, &slices);
  assert_int_equal(slices.callbacks, 2);
  end(&slices);
}

static int setup(void **state) {
  int rc = fake_kernel_loop_setup(state);

  fake_clock_set(0);
  fake_clock_set_counters(0);
  return rc != 0 ? rc : evlist_make_setup(state);
}

static int teardown(void **state) {
  fake_clock_set(0);
  fake_clock_set_counters(0);
  return fake_kernel_loop_teardown(state);
}

#define SLICED(test) support_loop_test_setup_teardown(test, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      SLICED(set_of_few_events_is_read_in_the_turn_of_its_tick),
      SLICED(set_targets_change_between_slices_all_of_now_are_read),
      SLICED(set_cpu_comes_back_between_slices_its_counts_go_on),
      SLICED(set_used_at_random_between_slices_mixes_nothing),
      SLICED(set_whose_callback_runs_the_loop_keeps_its_reading),
  };

  return SCRIPTED_ROWS_AND_TESTS(&scripted_evlist, rows, tests);
}
