/* SPDX-License-Identifier: MIT */
/* The times of -D, and a session that keeps to them. */
#include "support.h"

#include "common/delay.h"
#include "common/options.h"
#include "common/session.h"

static void expect(const char *text, int is_set, size_t nr, uint64_t first,
                   uint64_t last) {
  common_delay_t delay = {0};

  assert_int_equal(common_delay_parse(&delay, text, 1), 0);
  assert_int_equal(delay.is_set, is_set);
  assert_int_equal(delay.nr, nr);
  if (nr > 0) {
    assert_int_equal(delay.times[0], first);
    assert_int_equal(delay.times[nr - 1], last);
  }
}

static void values_that_perf_takes_are_read(void **state) {
  expect("0", 0, 1, 0, 0);
  expect("500", 1, 1, 500, 500);
  expect("-1", 1, 0, 0, 0);
  expect("10-20", 1, 2, 10, 20);
  expect("0-20,30-40", 1, 4, 0, 40);
}

static void other_values_are_refused(void **state) {
  static const char *const texts[] = {
      "",        "x",           "-2",   "--1",
      "1.5",     "10s",         "10-",  "20-10",
      "10-10",   "10-20,",      ",",    "10-20,20-30",
      "10-20;1", "10,20",       "-1,5", "10000000001",
      "0-0",     "10-20,15-18", "+5",   "99999999999999999999",
      " 5"};
  common_delay_t delay;
  size_t i;

  for (i = 0; i < COUNT_OF(texts); i++) {
    if (common_delay_parse(&delay, texts[i], 1) != COMMON_EXIT_USAGE)
      fail_msg("'%s' was taken", texts[i]);
  }
  assert_int_equal(common_delay_parse(&delay, "10-20", 0), COMMON_EXIT_USAGE);
}

/* There is no room for that many ranges. */
static void ranges_without_end_are_refused(void **state) {
  char text[4096] = "";
  common_delay_t delay;
  size_t i, used = 0;

  for (i = 0; i < COMMON_DELAY_TIMES; i++)
    used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%zu-%zu",
                             i == 0 ? "" : ",", 10 * i, 10 * i + 5);
  assert_int_equal(common_delay_parse(&delay, text, 1), COMMON_EXIT_USAGE);
}

/* -- the session ----------------------------------------------------------- */

typedef struct seen_s {
  char steps[16];
  uint64_t start, times[8];
  size_t nr;
} seen_t;

static void note(common_session_t *session, char step) {
  seen_t *seen = session->data;

  assert_true(seen->nr < sizeof(seen->times) / sizeof(seen->times[0]));
  seen->times[seen->nr] = uv_hrtime() - seen->start;
  seen->steps[seen->nr++] = step;
}

static void on_delay(common_session_t *session, int begins) {
  note(session, begins ? '+' : '-');
}

static void on_stop(common_session_t *session) {
  note(session, '.');
}

static void on_close(common_session_t *session) {
}

/* Runs a session that ends by itself or after 100 ms. No step comes before its
 * time. */
static void run(const char *text, const char *steps, const uint64_t *least_ms) {
  static const common_session_t init = COMMON_SESSION_INIT;
  common_session_t session = init;
  common_signals_t signals;
  common_delay_t delay;
  seen_t seen = {.start = uv_hrtime()};
  size_t i;

  assert_int_equal(common_delay_parse(&delay, text, 1), 0);
  session.data = &seen;
  session.on_delay = on_delay;
  session.on_stop = on_stop;
  session.on_close = on_close;
  common_signals_take(&signals);
  assert_int_equal(common_session_init(&session), 0);
  common_session_listen(&session);
  common_session_start(&session, 0, 100);
  common_session_delay(&session, &delay);
  assert_int_equal(common_session_run(&session, 0), 0);
  common_signals_end_session(&signals);
  assert_string_equal(seen.steps, steps);
  for (i = 0; i < seen.nr; i++)
    assert_true(seen.times[i] >= least_ms[i] * 1000000 - 1000000);
}

static void session_begins_and_pauses_at_the_times_of_a_delay(void **state) {
  run("0", ".", (const uint64_t[]){100});
  run("-1", ".", (const uint64_t[]){100});
  run("20", "+.", (const uint64_t[]){20, 100});
  run("10-20,30-40", "+-+-.", (const uint64_t[]){10, 20, 30, 40, 40});
  run("10-5000", "+.", (const uint64_t[]){10, 100});
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_that_perf_takes_are_read),
      cmocka_unit_test(other_values_are_refused),
      cmocka_unit_test(ranges_without_end_are_refused),
      cmocka_unit_test(session_begins_and_pauses_at_the_times_of_a_delay),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
