/* SPDX-License-Identifier: MIT */
#include "profile/fade.h"

/* 1/64 of a sample. A single sample fades to less in 28 seconds. */
#define LEAST (PROFILE_FADE_UNIT / 64)

static uint64_t fade(uint64_t value) {
  return value / 8 * 7 + value % 8 * 7 / 8;
}

static void fade_keep(profile_account_t *account, const common_tally_t *whos,
                      const common_entry_t *old) {
  common_entry_t *entry;
  uint32_t who;

  if (fade(old->samples) < LEAST)
    return;
  who = profile_account_keep_who(account, whos->entries[old->number]->items);
  entry = common_tally_get(&account->stacks, who, old->items, old->nr);
  entry->samples = fade(old->samples);
  entry->weight = fade(old->weight);
}

void profile_fade(profile_account_t *account) {
  common_tally_t stacks = account->stacks, whos = account->whos;
  size_t i;

  common_tally_init(&account->stacks, stacks.item_bytes);
  common_tally_init(&account->whos, whos.item_bytes);
  for (i = 0; i < stacks.nr; i++)
    fade_keep(account, &whos, stacks.entries[i]);
  account->other.samples = fade(account->other.samples);
  account->other.weight = fade(account->other.weight);
  common_tally_free(&stacks);
  common_tally_free(&whos);
}
