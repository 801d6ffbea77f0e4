/* SPDX-License-Identifier: MIT */
#include "profile/symbols/budget.h"

/* A smaller share would not even start the worker. */
#define MIN_SHARE_MS 50

void symbols_budget_init(symbols_budget_t *budget, uint64_t total_ms) {
  budget->total_ms = budget->left_ms = total_ms;
}

/* A file counts once for each attempt that it still has. So there is time for
 * the last attempt, even of a file that is alone. */
uint64_t symbols_budget_share(const symbols_budget_t *budget, int strikes,
                              size_t nr_others) {
  uint64_t attempts = strikes < SYMBOLS_ATTEMPTS - 1 ? 2 : 1;
  uint64_t share = budget->left_ms / (nr_others + attempts);

  if (share < MIN_SHARE_MS)
    share = MIN_SHARE_MS;
  return share < budget->left_ms ? share : budget->left_ms;
}

void symbols_budget_use(symbols_budget_t *budget, uint64_t used_ms) {
  budget->left_ms -= used_ms < budget->left_ms ? used_ms : budget->left_ms;
}

void symbols_budget_refill(symbols_budget_t *budget) {
  budget->left_ms = budget->total_ms;
}
