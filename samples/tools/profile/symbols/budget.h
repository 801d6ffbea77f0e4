/* SPDX-License-Identifier: MIT */
/* Shares a time among files, so that a slow file neither delays the program nor
 * takes the names of other files. Each file that waits has an equal share of
 * the time that is left. A file that takes longer is asked again after all
 * others. Times are in milliseconds. */
#ifndef SYMBOLS_BUDGET_H
#define SYMBOLS_BUDGET_H

#include <stddef.h>
#include <stdint.h>

/* A file has this number of attempts. */
#define SYMBOLS_ATTEMPTS 2

typedef struct symbols_budget_s {
  uint64_t total_ms, left_ms;
} symbols_budget_t;

void symbols_budget_init(symbols_budget_t *budget, uint64_t total_ms);

/* Returns the share of the next file, which has failed `strikes` times.
 * `nr_others` files wait, too. Returns 0 if no time is left. */
uint64_t symbols_budget_share(const symbols_budget_t *budget, int strikes,
                              size_t nr_others);

void symbols_budget_use(symbols_budget_t *budget, uint64_t used_ms);

/* Call it when no file waits: later files have the whole time again. */
void symbols_budget_refill(symbols_budget_t *budget);

#endif
