/* SPDX-License-Identifier: MIT */
/* Anything that may happen to a merge, in any order, compared with the model of
 * model_merge.h. UVPERF_RANDOM_SEEDS=first:last selects other seeds. */
#include "model_merge.h"

#include "model_run.h"

typedef struct run_s {
  merge_model_t model;
  model_run_t random;
  uint64_t clock;
  size_t most_rings;
  size_t ring_bytes;
  unsigned inversions; /* one record of this number is older than the one
                        * before */
  unsigned foreign;    /* one of this number has another clock; 0: none */
  unsigned breaks;     /* this number of 4096 steps break a ring or drop one */
} run_t;

static run_t run;

static uint64_t draw(uint64_t below) {
  return model_run_draw(&run.random, below);
}

static merge_ring_t *any_ring(void) {
  return run.model.rings[draw(run.model.nr_rings)];
}

static enum merge_kind any_kind(void) {
  uint64_t drawn = draw(4096);

  if (drawn < run.breaks)
    return MERGE_BROKEN;
  if (drawn < 400)
    return MERGE_TIMELESS;
  return drawn < 1500 ? MERGE_SIDEBAND : MERGE_SAMPLE;
}

/* Some records into some rings: runs in one, or turns, of equal times too. */
static void write_some(void) {
  uint64_t nr = draw(40);
  merge_ring_t *ring = any_ring();

  while (nr-- > 0) {
    uint64_t time = run.clock;

    if (draw(4) == 0)
      ring = any_ring();
    if (draw(run.inversions) == 0)
      time -= draw(20);
    if (run.foreign != 0 && draw(run.foreign) == 0)
      time = draw(2) == 0 ? draw(1000) : run.clock + draw(500);
    merge_write(ring, any_kind(), time,
                MERGE_LEAST_BYTES + 8 * (size_t)draw(run.ring_bytes / 32));
    run.clock += draw(4);
  }
}

static uint64_t any_horizon(void) {
  return draw(4) == 0 ? UINT64_MAX : run.clock - draw(60);
}

/* The actions of a record's callback. */
static void act_inside(void) {
  uint64_t drawn = draw(4096);

  if (drawn < 200)
    write_some();
  else if (drawn < 220 && run.model.nr_rings < run.most_rings)
    merge_model_add(&run.model, run.ring_bytes);
  else if (drawn < 220 + run.breaks)
    merge_drop(&run.model, draw(2) ? run.model.given : any_ring());
}

static int act_inside_run(void) {
  uint64_t drawn = draw(256);

  act_inside();
  return drawn == 0 ? 0 : drawn < 4 ? -1 : 1;
}

/* Returns 1 to continue. */
static int take_one(uint64_t horizon) {
  int rc = merge_next(&run.model, horizon);

  if (rc != 1)
    return rc != 0;
  act_inside();
  if (draw(64) == 0)
    return 0; /* not consumed */
  merge_consume(&run.model);
  return 1;
}

/* A turn of a loop: cut short, or until no record is left. */
static void take_a_turn(void) {
  uint64_t horizon = any_horizon();
  uint64_t left = draw(4) == 0 ? UINT64_MAX : draw(100);
  int runs = draw(3) != 0;
  int goes_on = 1;

  if (run.foreign != 0)
    run.model.latest = run.clock + 10;
  merge_begin(&run.model);
  while (left-- > 0 && goes_on) {
    if (!runs || merge_run(&run.model, horizon, 1 + (size_t)draw(40),
                           1 + draw(2000), act_inside_run) == 0)
      goes_on = take_one(horizon);
    if (run.model.is_ended)
      break;
    if (draw(16) == 0)
      horizon = any_horizon();
  }
  if (run.model.is_ended || draw(16) != 0)
    merge_end(&run.model);
}

static void run_seed(uint64_t seed) {
  unsigned step;

  memset(&run, 0, sizeof(run));
  model_run_seed(&run.random, seed);
  run.clock = 1000;
  run.most_rings = 1 + (size_t)(seed % 5 == 0 ? 300 : seed % 12);
  run.ring_bytes = (size_t)256 << seed % 4;
  run.inversions = seed % 3 == 0 ? 4 : 1000;
  run.foreign = seed % 2 == 0 ? 2 + (unsigned)(seed % 7) * 10 : 0;
  run.breaks = seed % 4 == 0 ? 30 : 0;
  merge_model_init(&run.model);
  run.model.earliest = run.foreign != 0 ? 900 : 0;
  while (run.model.nr_rings == 0 || draw(run.most_rings) != 0)
    if (run.model.nr_rings < run.most_rings)
      merge_model_add(&run.model, run.ring_bytes);
  for (step = 0; step < 60; step++) {
    write_some();
    if (draw(200) < run.breaks / 10)
      merge_spoil(any_ring());
    if (draw(3) == 0)
      take_a_turn();
  }
  merge_begin(&run.model);
  while (merge_next(&run.model, UINT64_MAX) != 0)
    if (run.model.given != NULL)
      merge_consume(&run.model);
  merge_end(&run.model);
  merge_model_free(&run.model);
}

static uint64_t seed;

static void merge_of_random_rings_is_as_in_the_model(void **state) {
  uint64_t last;

  for (model_run_seeds(1000, &seed, &last); seed <= last; seed++)
    run_seed(seed);
}

static int print_seed(void **state) {
  print_message("it ended at seed %llu\n", (unsigned long long)seed);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(merge_of_random_rings_is_as_in_the_model,
                                print_seed),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
