/* SPDX-License-Identifier: MIT */
/* Formats of tracepoints in made-up data: in both byte orders, cut off
 * anywhere, and changed. */
#include "support.h"

#include <byteswap.h>

#include "common/recording/formats.h"
#include "model_run.h"

static const char switch_text[] = "name: sched_switch\nID: 372\nformat:\n";
static const char read_text[] = "name: sys_enter_read\nID: 700\nformat:\n";

static unsigned char data[1 << 20];
static size_t size;

static void put(const void *bytes, size_t nr) {
  assert_true(nr <= sizeof(data) - size);
  memcpy(data + size, bytes, nr);
  size += nr;
}

static void put_u32(uint32_t value, int is_foreign) {
  value = is_foreign ? bswap_32(value) : value;
  put(&value, sizeof(value));
}

static void put_file(const char *text, int is_foreign) {
  uint64_t bytes = strlen(text);

  bytes = is_foreign ? bswap_64(bytes) : bytes;
  put(&bytes, sizeof(bytes));
  put(text, strlen(text));
}

/* Builds two categories with one tracepoint each. */
static void build(int is_foreign) {
  const unsigned char is_big =
      (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) != (is_foreign != 0);
  const unsigned char sizes[] = {is_big, 8};

  size = 0;
  put("\027\010\104tracing0.6", 14);
  put(sizes, sizeof(sizes));
  put_u32(4096, is_foreign);
  put("header_page", 12);
  put_file("page", is_foreign);
  put("header_event", 13);
  put_file("event", is_foreign);
  put_u32(1, is_foreign);
  put_file("name: function\nID: 1\n", is_foreign);
  put_u32(2, is_foreign);
  put("sched", 6);
  put_u32(1, is_foreign);
  put_file(switch_text, is_foreign);
  put("syscalls", 9);
  put_u32(1, is_foreign);
  put_file(read_text, is_foreign);
}

/* Reads a copy that ends exactly at the end of its memory. */
static void take(recording_formats_t *formats, size_t bytes) {
  unsigned char *copy = malloc(bytes + 1);
  const recording_bytes_t whole = {copy + 1, bytes, 0, 0};

  assert_non_null(copy);
  memcpy(copy + 1, data, bytes);
  recording_formats_take(formats, &whole);
  free(copy);
}

static void formats_of_either_byte_order_are_found_by_number(void **state) {
  recording_formats_t formats = {0};
  recording_format_t format;
  int is_foreign;

  for (is_foreign = 0; is_foreign < 2; is_foreign++) {
    build(is_foreign);
    take(&formats, size);
    assert_true(recording_formats_find(&formats, 372, &format));
    assert_string_equal(format.category, "sched");
    assert_int_equal(format.bytes, strlen(switch_text));
    assert_memory_equal(format.text, switch_text, format.bytes);
    assert_true(recording_formats_find(&formats, 700, &format));
    assert_string_equal(format.category, "syscalls");
    assert_memory_equal(format.text, read_text, format.bytes);
    assert_false(recording_formats_find(&formats, 1, &format));
  }
  recording_formats_free(&formats);
}

static void formats_are_limited(void **state) {
  const uint32_t nr = RECORDING_FORMATS_MAX + 2;
  recording_formats_t formats = {0};
  uint32_t i;

  build(0);
  size -= 4 + 8 + strlen(read_text); /* the second category again */
  put_u32(nr, 0);
  for (i = 0; i < nr; i++)
    put_file("\nID: 5", 0);
  take(&formats, size);
  assert_int_equal(formats.nr, RECORDING_FORMATS_MAX);
  recording_formats_free(&formats);
}

static void formats_before_the_cut_are_found(void **state) {
  recording_formats_t formats = {0};
  recording_format_t format;
  size_t bytes, found = 0;

  build(0);
  for (bytes = 0; bytes < size; bytes++) {
    take(&formats, bytes);
    found += (size_t)recording_formats_find(&formats, 372, &format);
    assert_false(recording_formats_find(&formats, 700, &format));
  }
  assert_int_equal(found, strlen("syscalls") + 1 + 4 + 8 + strlen(read_text));
  recording_formats_free(&formats);
}

static void changed_data_are_read_within_their_bounds(void **state) {
  recording_formats_t formats = {0};
  recording_format_t format;
  model_run_t random;
  size_t i, k, found = 0;

  model_run_seed(&random, 1);
  for (i = 0; i < 20000; i++) {
    build(i % 2);
    for (k = 0; k <= i % 3; k++)
      data[model_run_draw(&random, size)] ^=
          (unsigned char)(1u << model_run_draw(&random, 8));
    take(&formats, size);
    if (recording_formats_find(&formats, 700, &format)) {
      assert_int_equal(strnlen(format.category, size) < size, 1);
      found += memchr(format.text, 0, format.bytes) == NULL;
    }
  }
  assert_true(found > 0);
  recording_formats_free(&formats);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(formats_of_either_byte_order_are_found_by_number),
      cmocka_unit_test(formats_are_limited),
      cmocka_unit_test(formats_before_the_cut_are_found),
      cmocka_unit_test(changed_data_are_read_within_their_bounds),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
