/* SPDX-License-Identifier: MIT */
/* The model of a profile: equal items are stored once, new ones are added. */
#include "support.h"

#include "common/tally.h"
#include "profile/stacks/names.h"
#include "profile/stacks/stacks.h"

static void name_that_is_added_again_has_the_same_id(void **state) {
  stacks_names_t names;
  uint32_t first, i;
  char name[16];

  stacks_names_init(&names);
  first = stacks_names_add(&names, "first");
  for (i = 0; i < 5000; i++) {
    snprintf(name, sizeof(name), "name %u", i);
    stacks_names_add(&names, name);
  }
  assert_int_equal(stacks_names_add(&names, "first"), first);
  assert_string_equal(stacks_names_get(&names, first), "first");
  assert_int_equal(names.texts.nr, 5002);
  stacks_names_free(&names);
}

/* A name takes 1,048 bytes of 128 MiB. */
static void names_beyond_the_limit_are_other(void **state) {
  stacks_names_t names;
  uint32_t id = 1, i;
  char name[1001];

  stacks_names_init(&names);
  for (i = 0; i < 300000 && id != STACKS_NAMES_OTHER; i++) {
    snprintf(name, sizeof(name), "%01000u", i);
    id = stacks_names_add(&names, name);
  }
  assert_in_range(i, 120000, 130000);
  assert_int_equal(names.texts.nr, i); /* one of them is "[other]" */
  snprintf(name, sizeof(name), "%01000u", 7);
  assert_int_equal(stacks_names_add(&names, name), 8);
  stacks_names_free(&names);
}

static void tally_with_many_keys_sorts_them_by_weight(void **state) {
  static const uint64_t large[8192];
  common_entry_t **sorted, *entry;
  common_tally_t tally;
  uint64_t key[2];
  size_t nr, i;

  common_tally_init(&tally, sizeof(uint64_t));
  for (i = 0; i < 5000; i++) {
    key[0] = i / 2;
    key[1] = 1;
    entry = common_tally_get(&tally, 7, key, 2);
    entry->weight += i;
    entry->samples++;
  }
  assert_ptr_equal(common_tally_get(&tally, 7, key, 2), entry);
  assert_ptr_not_equal(common_tally_get(&tally, 8, key, 2), entry);
  common_tally_get(&tally, 7, key, 1)->weight = 1000000;
  common_tally_get(&tally, 7, NULL, 0)->weight = 2000000;
  common_tally_get(&tally, 7, large, 8192)->weight = 3000000;
  sorted = common_tally_sorted(&tally, &nr);
  assert_int_equal(nr, 2504);
  assert_int_equal(sorted[0]->nr, 8192);
  assert_memory_equal(sorted[0]->items, large, sizeof(large));
  assert_int_equal(sorted[1]->nr, 0);
  assert_int_equal(sorted[2]->nr, 1);
  assert_int_equal(((uint64_t *)sorted[3]->items)[0], 2499);
  assert_int_equal(sorted[3]->samples, 2);
  assert_int_equal(sorted[3]->weight, 4998 + 4999);
  free(sorted);
  common_tally_free(&tally);
}

static uint32_t add_function(stacks_t *stacks, const char *name) {
  stacks_function_t function = {name, name, "", STACKS_OTHER};

  return stacks_function(stacks, &function);
}

/* Instances of a template can have one demangled name. */
static void functions_of_one_name_differ_by_their_linked_name(void **state) {
  const stacks_function_t first = {"f<T>", "_Z1fIiEvv", "", STACKS_OTHER};
  const stacks_function_t second = {"f<T>", "_Z1fIlEvv", "", STACKS_OTHER};
  stacks_t stacks;
  uint32_t i;

  stacks_init(&stacks);
  i = stacks_function(&stacks, &first);
  assert_int_not_equal(stacks_function(&stacks, &second), i);
  assert_int_equal(stacks_function(&stacks, &first), i);
  assert_string_equal(stacks_get_function(&stacks, i)->linked_name,
                      "_Z1fIiEvv");
  stacks_free(&stacks);
}

static void stack_that_is_added_again_counts_in_the_first(void **state) {
  const stacks_task_t task = {1, 2, "thread", "process", ""};
  stacks_frame_t frames[2] = {{0x10, 0, 0, 0}, {0x20, 0, 0, 0}};
  stacks_stack_t *sorted;
  stacks_t stacks;
  size_t nr;

  stacks_init(&stacks);
  frames[0].function = add_function(&stacks, "inner");
  frames[1].function = add_function(&stacks, "outer");
  assert_int_equal(add_function(&stacks, "inner"), frames[0].function);
  assert_int_equal(stacks_task(&stacks, &task), 1);
  assert_int_equal(stacks_task(&stacks, &task), 1);
  stacks_add(&stacks, 1, frames, 2, 1, 10);
  stacks_add(&stacks, 1, frames, 2, 1, 10);
  stacks_add(&stacks, 1, frames + 1, 1, 1, 15);
  stacks_add(&stacks, 1, NULL, 0, 1, 1);
  assert_int_equal(stacks.samples, 4);
  assert_int_equal(stacks.weight, 36);
  sorted = stacks_sorted(&stacks, &nr);
  assert_int_equal(nr, 3);
  assert_int_equal(sorted[0].weight, 20);
  assert_int_equal(sorted[0].samples, 2);
  assert_int_equal(sorted[0].nr_frames, 2);
  assert_int_equal(sorted[0].frames[1].address, 0x20);
  assert_int_equal(sorted[1].weight, 15);
  assert_int_equal(sorted[2].nr_frames, 0);
  assert_string_equal(
      stacks_get_function(&stacks, sorted[1].frames[0].function)->name,
      "outer");
  free(sorted);
  stacks_free(&stacks);
}

static void stacks_beyond_the_limit_are_counted_as_other(void **state) {
  static stacks_frame_t frames[2000];
  stacks_stack_t *sorted;
  stacks_t stacks;
  uint64_t i, nr_added = 6000;
  size_t nr;

  stacks_init(&stacks);
  for (i = 0; i < nr_added; i++) {
    frames[0].address = i;
    stacks_add(&stacks, STACKS_OTHER, frames, 2000, 1, 1);
  }
  assert_int_equal(stacks.samples, nr_added);
  sorted = stacks_sorted(&stacks, &nr);
  assert_in_range(nr, 4000, 4300); /* 128 MiB of 32,000 bytes each */
  assert_int_equal(sorted[0].nr_frames, 1);
  assert_int_equal(sorted[0].frames[0].function, STACKS_OTHER);
  assert_int_equal(sorted[0].samples, nr_added - (nr - 1));
  free(sorted);
  stacks_free(&stacks);
}

static void name_with_control_characters_is_made_safe(void **state) {
  const stacks_function_t function = {"a\033[2Jb\n", "", "", STACKS_OTHER};
  stacks_t stacks;
  uint32_t i;

  stacks_init(&stacks);
  i = stacks_function(&stacks, &function);
  assert_string_equal(stacks_get_function(&stacks, i)->name, "a?[2Jb?");
  stacks_free(&stacks);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(name_that_is_added_again_has_the_same_id),
      cmocka_unit_test(names_beyond_the_limit_are_other),
      cmocka_unit_test(tally_with_many_keys_sorts_them_by_weight),
      cmocka_unit_test(functions_of_one_name_differ_by_their_linked_name),
      cmocka_unit_test(stack_that_is_added_again_counts_in_the_first),
      cmocka_unit_test(stacks_beyond_the_limit_are_counted_as_other),
      cmocka_unit_test(name_with_control_characters_is_made_safe),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
