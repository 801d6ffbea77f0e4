/* SPDX-License-Identifier: MIT */
/* Shares of the time for names. No clock runs here. */
#include "profile/symbols/budget.h"

#include "support.h"

#define NR 8

/* Asks about files, in turn, until none is left, as symbols.c does.
 * needs_ms[i] is how long file i takes. Returns the time that was used, and
 * sets found[i] if file i was read. */
static uint64_t ask_all(symbols_budget_t *budget, const uint64_t *needs_ms,
                        size_t nr, int *found) {
  size_t queue[2 * NR], first = 0, last = 0, i;
  int strikes[NR] = {0};
  uint64_t used_ms = 0, share, needed;

  for (i = 0; i < nr; i++)
    queue[last++] = i;
  while (first < last) {
    i = queue[first++];
    share = symbols_budget_share(budget, strikes[i], last - first);
    needed = needs_ms[i] < share ? needs_ms[i] : share;
    found[i] = share > 0 && needs_ms[i] <= share;
    if (!found[i] && share > 0 && ++strikes[i] < SYMBOLS_ATTEMPTS)
      queue[last++] = i;
    symbols_budget_use(budget, needed);
    used_ms += needed;
  }
  return used_ms;
}

static void slow_files_take_no_more_than_the_total(void **state) {
  static const struct case_s {
    uint64_t needs_ms[NR];
    int found[NR];
  } cases[] = {
      /* A file that is alone has two attempts of half the time. */
      {{5000}, {1}},
      {{5001}, {0}},
      /* Slow files come first, and the others still have names. */
      {{90000, 90000, 90000, 90000, 100, 500}, {0, 0, 0, 0, 1, 1}},
      /* The second attempt has the time that the others did not need. */
      {{3000, 10, 10, 10, 10, 10, 10, 10}, {1, 1, 1, 1, 1, 1, 1, 1}},
      {{2700, 90000, 10}, {1, 0, 1}},
  };
  symbols_budget_t budget;
  int found[NR];
  size_t i, k, nr;

  for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    symbols_budget_init(&budget, 10000);
    for (nr = 0; nr < NR && cases[i].needs_ms[nr] > 0;)
      nr++;
    assert_in_range(ask_all(&budget, cases[i].needs_ms, nr, found), 0, 10000);
    for (k = 0; k < nr; k++)
      assert_int_equal(found[k], cases[i].found[k]);
  }
}

static void share_is_never_more_than_what_is_left(void **state) {
  symbols_budget_t budget;

  symbols_budget_init(&budget, 1000);
  assert_int_equal(symbols_budget_share(&budget, 0, 0), 500);
  assert_int_equal(symbols_budget_share(&budget, 1, 0), 1000);
  /* A share is large enough to start the worker. */
  assert_int_equal(symbols_budget_share(&budget, 0, 65535), 50);
  symbols_budget_use(&budget, 980);
  assert_int_equal(symbols_budget_share(&budget, 0, 65535), 20);
  symbols_budget_use(&budget, 30);
  assert_int_equal(symbols_budget_share(&budget, 0, 0), 0);
  symbols_budget_refill(&budget);
  assert_int_equal(symbols_budget_share(&budget, 1, 1), 500);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(slow_files_take_no_more_than_the_total),
      cmocka_unit_test(share_is_never_more_than_what_is_left),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
