/* SPDX-License-Identifier: MIT */
/* Scripted: options with which a set is not opened, by init or on libuv's pool.
 * What all handles have in common when they are opened is in
 * live/test_life_opening.c. */
#include "opened_set.h"

#include <errno.h>

#include "fake_pool.h"
#include "uvperf/measure.h"

/* -- while it is being opened ---------------------------------------------- */

static void on_record(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record) {
  (void)handle;
  (void)status;
  (void)record;
}

/* -- failures -------------------------------------------------------------- */

static int init_and_close(uv_loop_t *loop, opened_set_t *opened) {
  int rc = uvperf_set_init(loop, &opened->set, &opened->make.options,
                           &opened->error);

  if (rc == 0) {
    opened->opened = 1;
    opened_set_close(loop, opened);
  }
  return rc;
}

/* The pool has closed the events of the first try. */
static void set_whose_rings_were_made_smaller_goes_on(void **state) {
  opened_set_t opened;

  opened_set_plan(&opened, 0);
  opened.make.options.ring_bytes = 0;
  opened.make.attrs[0].type = PERF_TYPE_SOFTWARE; /* closed by the loop */
  fake_fail(FAKE_MMAP, 1, -EPERM);
  fake_event_add(200);
  fake_event_add(201);
  assert_int_equal(opened_set_begin(*state, &opened), 0);
  fake_pool_finish();
  assert_int_equal(opened.status, 0);
  assert_int_equal(uvperf_set_nr_open(&opened.set), 4);
  assert_int_equal(fake_count(FAKE_MMAP), 3);
  opened_set_close(*state, &opened);
}

static void set_of_nothing_says_what_to_set(void **state) {
  opened_set_t opened;

  opened_set_plan(&opened, 0);
  opened.make.attrs[1].sample_period = 0;
  assert_int_equal(
      uvperf_set_init(*state, &opened.set, &opened.make.options, NULL), 0);
  opened.opened = 1;
  assert_int_equal(
      uvperf_start(&opened.set.handle, NULL, on_record, &opened.error),
      UV_EINVAL);
  assert_non_null(strstr(opened.error.reason, "all events of the set only "
                                              "count, so the callback would"));
  opened_set_close(*state, &opened);
  opened_set_plan(&opened, 0);
  opened.make.options.nr_targets = 0;
  assert_int_equal(init_and_close(*state, &opened), UV_EINVAL);
  assert_non_null(strstr(opened.error.reason,
                         "options.targets is set, but options.nr_targets is "
                         "0; set it to the number of targets"));
  opened.make.options.targets = NULL;
  assert_int_equal(init_and_close(*state, &opened), UV_EINVAL);
  assert_non_null(strstr(opened.error.reason,
                         "options.targets is NULL, so nothing would be "
                         "measured; set it and options.nr_targets, or "));
  fake_assert_clean();
}

/* Also of the events that only count, which have no ring. */
static void set_without_its_second_ring_is_not_opened(void **state) {
  opened_set_t opened;

  opened_set_plan(&opened, 0);
  fake_fail(FAKE_MMAP, 2, -EPERM);
  assert_int_equal(init_and_close(*state, &opened), UV_EPERM);
  fake_assert_clean();
}

static void set_open_that_cannot_be_right_fails_at_once(void **state) {
  opened_set_t opened;

  opened_set_plan(&opened, 0);
  opened.make.options.flags = 1u << 31;
  assert_int_equal(opened_set_begin(*state, &opened), UV_EINVAL);
  opened.make.options.flags = 0;
  opened.make.targets[0].pid = 7;
  assert_int_equal(opened_set_begin(*state, &opened), UV_EINVAL);
  assert_int_equal(opened.error.target_index, 0);
  assert_false(fake_pool_waits());
  fake_assert_clean();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      scripted_set_test(set_whose_rings_were_made_smaller_goes_on),
      scripted_set_test(set_of_nothing_says_what_to_set),
      scripted_set_test(set_without_its_second_ring_is_not_opened),
      scripted_set_test(set_open_that_cannot_be_right_fails_at_once),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
