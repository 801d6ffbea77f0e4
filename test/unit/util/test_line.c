/* SPDX-License-Identifier: MIT */
/* A line that is cut, in buffers of every size. */
#include "support.h"

#include <errno.h>
#include <stdlib.h>

#include "util/line.h"

static void put_all(uvperf__line_t *line) {
  uvperf__line_put(line, "a %d", 12);
  uvperf__line_put_text(line, " b\n\x7f\xc3\xa9", 6);
  uvperf__line_put_hex(line, "\x01\xff", 2);
  uvperf__line_put(line, " ");
  uvperf__line_put_time(line, UINT64_C(5000000123));
}

static void line_in_each_room_is_the_beginning_of_the_whole(void **state) {
  static const char whole[] = "a 12 b??\xc3\xa9"
                              "01ff 5.000000123";
  uvperf__line_t line;
  size_t size;
  char *room;

  for (size = 1; size <= sizeof(whole) + 1; size++) {
    room = malloc(size);
    assert_non_null(room);
    uvperf__line_begin(&line, room, size);
    put_all(&line);
    assert_int_equal(line.length, strlen(whole));
    assert_int_equal(strlen(room),
                     size <= strlen(whole) ? size - 1 : strlen(whole));
    assert_memory_equal(room, whole, strlen(room));
    free(room);
  }
}

static void line_without_room_is_counted(void **state) {
  uvperf__line_t line;

  uvperf__line_begin(&line, NULL, 0);
  put_all(&line);
  assert_int_equal(line.length, 26);
}

static void line_is_given_whole_or_not_at_all(void **state) {
  char room[] = "....";
  size_t size = 3;

  assert_int_equal(uvperf__line_give("abc", room, &size), -ENOBUFS);
  assert_int_equal(size, 4);
  assert_string_equal(room, "....");
  assert_int_equal(uvperf__line_give("abc", room, &size), 0);
  assert_int_equal(size, 4);
  assert_string_equal(room, "abc");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(line_in_each_room_is_the_beginning_of_the_whole),
      cmocka_unit_test(line_without_room_is_counted),
      cmocka_unit_test(line_is_given_whole_or_not_at_all),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
