/* SPDX-License-Identifier: MIT */
/* Scripted: what is closed later, in which order, and what at once. */
#include "support.h"

#include <sys/mman.h>

#include "fake_kernel.h"
#include "ring/leftovers.h"
#include "sys/sys.h"

#define PAGE ((size_t)4096)

static int open_event(uint64_t id) {
  struct perf_event_attr attr = {0};

  fake_event_add(id);
  return uvperf__sys_open(&attr, 0, -1, -1, 0);
}

static void *map_page(void) {
  void *address = NULL;

  assert_int_equal(uvperf__sys_mmap_private(&address, PAGE), 0);
  return address;
}

static void leftovers_are_closed_in_order_a_mapping_first(void **state) {
  uvperf__leftovers_t leftovers = {0};

  uvperf__leftovers_add(&leftovers, map_page(), PAGE, open_event(1));
  uvperf__leftovers_add(&leftovers, NULL, 0, open_event(2));
  uvperf__leftovers_add(&leftovers, NULL, 0, -1);
  assert_int_equal(leftovers.nr, 2);
  fake_log_clear();
  assert_int_equal(uvperf__leftovers_close_one(&leftovers), 1);
  assert_string_equal(fake_log(), "munmap, close");
  assert_int_equal(uvperf__leftovers_close_one(&leftovers), 1);
  assert_int_equal(uvperf__leftovers_close_one(&leftovers), 0);
  assert_string_equal(fake_log(), "munmap, close, close");
  uvperf__leftovers_end(&leftovers);
  fake_assert_clean();
}

static void leftovers_end_closes_the_rest(void **state) {
  uvperf__leftovers_t leftovers = {0};
  uint64_t id;

  for (id = 1; id <= 20; id++)
    uvperf__leftovers_add(&leftovers, NULL, 0, open_event(id));
  uvperf__leftovers_close_one(&leftovers);
  uvperf__leftovers_end(&leftovers);
  assert_int_equal(leftovers.nr, 0);
  fake_assert_clean();
}

static void leftovers_without_room_are_closed_at_once(void **state) {
  uvperf__leftovers_t leftovers = {0};
  int fd = open_event(1);

  fake_log_clear();
  fake_fail(FAKE_CALLOC, 1, 0);
  uvperf__leftovers_add(&leftovers, NULL, 0, fd);
  assert_int_equal(leftovers.nr, 0);
  assert_string_equal(fake_log(), "close");
  fd = open_event(2);
  fake_log_clear();
  uvperf__leftovers_add(NULL, map_page(), PAGE, fd);
  assert_string_equal(fake_log(), "munmap, close");
  fake_assert_clean();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(leftovers_are_closed_in_order_a_mapping_first,
                             fake_kernel_setup),
      cmocka_unit_test_setup(leftovers_end_closes_the_rest, fake_kernel_setup),
      cmocka_unit_test_setup(leftovers_without_room_are_closed_at_once,
                             fake_kernel_setup),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
