/* SPDX-License-Identifier: MIT */
/* The table of ids, against a list. */
#include "support.h"

#include "decode/id_table.h"
#include "fake_kernel.h"
#include "make_record.h"

/* The expected contents of the table; the model does not look into its
 * readers. */
typedef struct model_s {
  uint64_t ids[4096];
  size_t values[4096];
  size_t nr;
} model_t;

static struct {
  char reader;
  uvperf_source_t source;
} things[64];

static struct uvperf__reader_s *reader_of(size_t value) {
  return (struct uvperf__reader_s *)(void *)&things[value].reader;
}

static uvperf__id_table_t table;

static void assert_found(uint64_t id, size_t value) {
  const uvperf__id_slot_t *slot = uvperf__id_table_find(&table, id);

  assert_true(slot->id == id);
  assert_ptr_equal(slot->reader, reader_of(value));
  assert_ptr_equal(slot->source, &things[value].source);
}

static void assert_like(const model_t *model) {
  size_t i;

  assert_int_equal(table.nr_used, model->nr);
  assert_true(table.nr_used <= table.nr_slots / 2);
  for (i = 0; i < model->nr; i++)
    assert_found(model->ids[i], model->values[i]);
}

static size_t index_in(const model_t *model, uint64_t id) {
  size_t i;

  for (i = 0; i < model->nr && model->ids[i] != id; i++)
    ;
  return i;
}

static void put(model_t *model, uint64_t id, size_t value) {
  size_t i = index_in(model, id);

  assert_int_equal(uvperf__id_table_reserve(&table, 1), 0);
  uvperf__id_table_put(&table, id, reader_of(value), &things[value].source);
  model->ids[i] = id;
  model->values[i] = value;
  if (i == model->nr)
    model->nr++;
}

static void take_out(model_t *model, uint64_t id) {
  size_t i = index_in(model, id);

  uvperf__id_table_remove(&table, id);
  assert_null(uvperf__id_table_find(&table, id)->reader);
  if (i == model->nr)
    return;
  model->nr--;
  model->ids[i] = model->ids[model->nr];
  model->values[i] = model->values[model->nr];
}

static void ids_that_come_and_go_at_random_are_as_in_a_list(void **state) {
  static model_t model;
  uint64_t random, id;
  size_t round, step;

  for (round = 1; round <= 40; round++) {
    /* Few places, so that runs of slots are long and go round the end. */
    uint64_t range = 4 + round * round;

    random = round;
    model.nr = 0;
    assert_int_equal(uvperf__id_table_make(&table), 0);
    for (step = 0; step < 2000; step++) {
      id = record_random(&random) % range * (round % 3 ? 1 : 1 << 20);
      if (record_random(&random) % 2)
        put(&model, id, record_random(&random) % 64);
      else
        take_out(&model, id);
      if (step % 16 == 0)
        assert_like(&model);
    }
    while (model.nr > 0) {
      take_out(&model, model.ids[model.nr / 2]);
      assert_like(&model);
    }
    uvperf__id_table_free(&table);
  }
}

/* Ids that all want to be in one slot, the last but one, so that most of them
 * lie round the end. */
static void ids_of_one_home_are_found_whichever_goes(void **state) {
  model_t model;
  uint64_t id, gone[6];
  size_t i, first;

  for (first = 0; first < 6; first++) {
    assert_int_equal(uvperf__id_table_make(&table), 0);
    assert_int_equal(uvperf__id_table_reserve(&table, 8), 0);
    assert_int_equal(table.nr_slots, 16);
    model.nr = 0;
    for (id = 1; model.nr < 6; id++)
      if (uvperf__id_table_home(&table, id) == 14)
        put(&model, id, model.nr);
    for (id = 1; model.nr < 8; id++) /* one that follows them, at home or not */
      if (uvperf__id_table_home(&table, id) == 1)
        put(&model, id, model.nr);
    memcpy(gone, model.ids, sizeof(gone));
    for (i = 0; i < 6; i++) {
      take_out(&model, gone[(first + i) % 6]);
      assert_like(&model);
    }
    uvperf__id_table_free(&table);
  }
}

/* Like a set whose targets always change: kernel ids only rise. */
static void ids_that_change_for_ever_take_no_more_room(void **state) {
  size_t nr_slots;
  uint64_t id;

  assert_int_equal(uvperf__id_table_make(&table), 0);
  for (id = 0; id < 1000; id++) {
    assert_int_equal(uvperf__id_table_reserve(&table, 1), 0);
    uvperf__id_table_put(&table, id, reader_of(0), NULL);
  }
  nr_slots = table.nr_slots;
  assert_int_equal(nr_slots, 2048);
  for (; id < 1000000; id++) {
    uvperf__id_table_remove(&table, id - 1000);
    assert_int_equal(uvperf__id_table_reserve(&table, 1), 0);
    uvperf__id_table_put(&table, id, reader_of(0), NULL);
  }
  assert_int_equal(table.nr_slots, nr_slots);
  assert_int_equal(table.nr_used, 1000);
  uvperf__id_table_free(&table);
}

static void reserve_without_memory_changes_nothing(void **state) {
  model_t model;

  fake_kernel_reset();
  model.nr = 0;
  fake_fail(FAKE_CALLOC, 1, 0);
  assert_int_equal(uvperf__id_table_make(&table), -ENOMEM);
  assert_int_equal(uvperf__id_table_make(&table), 0);
  put(&model, 7, 1);
  put(&model, 8, 2);
  fake_fail(FAKE_CALLOC, 1, 0);
  assert_int_equal(uvperf__id_table_reserve(&table, 1), -ENOMEM);
  assert_like(&model);
  assert_int_equal(uvperf__id_table_reserve(&table, 0), 0);
  put(&model, 9, 3);
  assert_like(&model);
  uvperf__id_table_free(&table);
  fake_assert_clean();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ids_that_come_and_go_at_random_are_as_in_a_list),
      cmocka_unit_test(ids_of_one_home_are_found_whichever_goes),
      cmocka_unit_test(ids_that_change_for_ever_take_no_more_room),
      cmocka_unit_test(reserve_without_memory_changes_nothing),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
