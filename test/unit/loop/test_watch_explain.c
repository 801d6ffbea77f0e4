/* SPDX-License-Identifier: MIT */
/* Why rings cannot be watched. live/test_watch.c tests the rest of watch.c. */
#include "check_explain.h"

#include "loop/watch.h"

static void watch_explain_goes_by_the_code(void **state) {
  static const struct {
    int code;
    int cause;
    const char *piece;
  } cases[] = {
      {UV_ENOMEM, UVPERF_CAUSE_MEMORY, "cannot watch the rings: out of memory"},
      {UV_EOF, UVPERF_CAUSE_LOOP, "delivery has ended, as no ring can be read"},
      {UV_EPROTO, UVPERF_CAUSE_UNKNOWN, "is not a multiple of 8, so it cannot"},
      {UV_EINVAL, UVPERF_CAUSE_LOOP,
       "other code has closed an inner uv handle"},
      {UV_EEXIST, UVPERF_CAUSE_LOOP, "another handle of the loop polls it"},
      {UV_ENOSPC, UVPERF_CAUSE_LOOP,
       "out of epoll watches; raise /proc/sys/fs/epoll/max_user_watches"},
      {UV_EPERM, UVPERF_CAUSE_LOOP, "libuv refused it"},
  };
  uvperf_error_t error;
  size_t i;

  for (i = 0; i < COUNT_OF(cases); i++) {
    assert_int_equal(uvperf__watch_explain(&error, cases[i].code),
                     cases[i].code);
    explain_check(&error, cases[i].code, cases[i].cause, cases[i].piece);
  }
  uvperf__watch_explain_ring(&error, UV_ENOSPC, 3);
  explain_check(&error, UV_ENOSPC, UVPERF_CAUSE_LOOP, "the ring of CPU 3");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(watch_explain_goes_by_the_code),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
