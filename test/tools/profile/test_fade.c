/* SPDX-License-Identifier: MIT */
/* Old samples lose weight while new samples come. */
#include "support.h"

#include "profile/fade.h"

static int setup(void **state) {
  static profile_account_t account;

  profile_account_init(&account, STACKS_BY_FUNCTION, NULL);
  account.unit = PROFILE_FADE_UNIT;
  *state = &account;
  return 0;
}

static int teardown(void **state) {
  profile_account_free(*state);
  return 0;
}

static void count(profile_account_t *account, uint32_t pid, uint64_t samples) {
  const profile_frame_t frame = {PROFILE_OBJECT_KERNEL, 0x1000};
  profile_who_t who;
  profile_stack_t stack = {.frames = &frame, .nr = 1};

  memset(&who, 0, sizeof(who));
  who.pid = pid;
  stack.who = profile_account_keep_who(account, &who);
  profile_account_count(account, &stack, samples, samples * 1000000);
}

static const common_entry_t *find(const profile_account_t *account,
                                  uint32_t pid) {
  const common_entry_t *entry;
  size_t i;

  for (i = 0; i < account->stacks.nr; i++) {
    entry = account->stacks.entries[i];
    if (profile_account_get_who(account, entry->number)->pid == pid)
      return entry;
  }
  return NULL;
}

static void half_of_the_weight_is_from_the_last_five_seconds(void **state) {
  profile_account_t *account = *state;
  double old, new;
  size_t i;

  for (i = 0; i < 60; i++) {
    count(account, i < 55 ? 1 : 2, 100);
    if (i < 59)
      profile_fade(account);
  }
  old = (double)find(account, 1)->weight;
  new = (double)find(account, 2)->weight;
  /* 1 - (7/8)^5 is 0.487. */
  assert_in_range((uint64_t)(1000 * new / (old + new)), 486, 488);
  assert_in_range(find(account, 2)->samples / PROFILE_FADE_UNIT, 389, 390);
}

static void task_without_samples_is_forgotten(void **state) {
  profile_account_t *account = *state;
  size_t i;

  count(account, 1, 1);
  for (i = 0; i < 40; i++) {
    count(account, 2, 1);
    profile_fade(account);
    assert_int_equal(find(account, 1) != NULL, i < 27);
  }
  assert_int_equal(account->whos.nr, 1);
  assert_int_equal(account->stacks.nr, 1);
  /* Fractions of a sample still count. */
  assert_in_range(find(account, 2)->weight, 6900000, 7000000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(
          half_of_the_weight_is_from_the_last_five_seconds, setup, teardown),
      cmocka_unit_test_setup_teardown(task_without_samples_is_forgotten, setup,
                                      teardown),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
