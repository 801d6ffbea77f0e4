/* SPDX-License-Identifier: MIT */
/* Fields read out of raw data: values, strings, arrays, and invalid data. Raw
 * data is always a copy of exactly its size, at each alignment, so that
 * sanitizers detect reads outside. */
#include "support.h"
#include "make_tracepoint_text.h"

#include "uvperf/tracepoint.h"

/* All kinds of fields; 68 bytes. */
#define TEXT_KINDS                                                             \
  TEXT_HEAD("kinds", 4660)                                                     \
  TEXT_FIELD("u8 u8", 8, 1, 0)                                                 \
  TEXT_FIELD("s8 s8", 9, 1, 1)                                                 \
  TEXT_FIELD("u16 u16", 10, 2, 0)                                              \
  TEXT_FIELD("s16 s16", 12, 2, 1)                                              \
  TEXT_FIELD("u32 u32", 14, 4, 0)                                              \
  TEXT_FIELD("s32 s32", 18, 4, 1)                                              \
  TEXT_FIELD("u64 u64", 22, 8, 0)                                              \
  TEXT_FIELD("s64 s64", 30, 8, 1)                                              \
  TEXT_FIELD("char comm[8]", 38, 8, 0)                                         \
  TEXT_FIELD("s16 nums[3]", 46, 6, 1)                                          \
  TEXT_FIELD("__data_loc char[] name", 52, 4, 0)                               \
  TEXT_FIELD("__rel_loc char[] tail", 56, 4, 0)                                \
  TEXT_FIELD("__data_loc u32[] list", 60, 4, 0)                                \
  TEXT_FIELD("const char * filename", 64, 8, 0)                                \
  TEXT_FIELD("struct x odd", 72, 3, 0)
#define KINDS_BYTES 75
#define RAW_BYTES   100

static int setup(void **state) {
  return uvperf_tracepoint_new_from_format((uvperf_tracepoint_t **)state, NULL,
                                           TEXT_KINDS, strlen(TEXT_KINDS),
                                           NULL);
}

static int teardown(void **state) {
  uvperf_tracepoint_free(*state);
  return 0;
}

static const uvperf_field_t *field_of(void **state, const char *name) {
  const uvperf_field_t *field = uvperf_tracepoint_find(*state, name);

  assert_non_null(field);
  return field;
}

/* Raw data: `size` bytes after `shift` others, and nothing after them. */
typedef struct raw_s {
  unsigned char *heap;
  unsigned char *data;
  size_t size;
} raw_t;

static raw_t raw_make(const void *bytes, size_t size, size_t shift) {
  raw_t raw;

  raw.heap = malloc(size + shift + (size + shift == 0));
  assert_non_null(raw.heap);
  raw.data = raw.heap + shift;
  raw.size = size;
  if (size > 0)
    memcpy(raw.data, bytes, size);
  return raw;
}

static void put(unsigned char *raw, size_t offset, const void *bytes,
                size_t size) {
  memcpy(raw + offset, bytes, size);
}

static void put_place(unsigned char *raw, size_t offset, size_t at,
                      size_t length) {
  uint32_t place = (uint32_t)(at | length << 16);

  put(raw, offset, &place, sizeof(place));
}

/* What the kernel might write; the dynamic fields are at 76: "name", "ta"
 * without a terminator, 0x11223344 and 0x55667788. */
static void fill(unsigned char *raw) {
  static const int16_t nums[] = {-1, 2, INT16_MIN};
  static const uint32_t list[] = {0x11223344, 0x55667788};
  uint16_t type = 0x1234;

  memset(raw, 0, RAW_BYTES);
  put(raw, 0, &type, sizeof(type));
  memset(raw + 8, 0xfe, 30); /* all the numbers */
  put(raw, 38, "comm8chr", 8);
  put(raw, 46, nums, sizeof(nums));
  put_place(raw, 52, 76, 5);
  put_place(raw, 56, 81 - 60, 2);
  put_place(raw, 60, 83, 8);
  memset(raw + 64, 0xab, 8);
  put(raw, 76, "name", 5);
  put(raw, 81, "ta", 2);
  put(raw, 83, list, sizeof(list));
}

static unsigned char filled[RAW_BYTES];

static void value_has_the_size_and_sign_of_its_field(void **state) {
  static const struct {
    const char *name;
    uint64_t value;
  } wanted[] = {
      {"u8", 0xfe},
      {"s8", (uint64_t)-2},
      {"u16", 0xfefe},
      {"s16", (uint64_t)-258},
      {"u32", 0xfefefefe},
      {"s32", (uint64_t)(int64_t)(int32_t)0xfefefefe},
      {"u64", UINT64_C(0xfefefefefefefefe)},
      {"s64", UINT64_C(0xfefefefefefefefe)},
      {"common_type", 0x1234},
      {"filename", UINT64_C(0xabababababababab)},
  };
  size_t shift;
  size_t i;

  fill(filled);
  for (shift = 0; shift < 8; shift++) {
    raw_t raw = raw_make(filled, RAW_BYTES, shift);

    assert_int_equal(uvperf_tracepoint_fits(*state, raw.data, raw.size), 1);
    for (i = 0; i < COUNT_OF(wanted); i++) {
      const uvperf_field_t *field = field_of(state, wanted[i].name);
      uint64_t value = 0;

      assert_int_equal(uvperf_field_value(field, raw.data, raw.size, &value),
                       0);
      assert_true(value == wanted[i].value);
      assert_true(uvperf_field_load(field, raw.data) == value);
      value = 0;
      assert_int_equal(
          uvperf_field_element(field, raw.data, raw.size, 0, &value), 0);
      assert_true(value == wanted[i].value);
    }
    free(raw.heap);
  }
}

static void value_of_what_is_none_is_einval(void **state) {
  static const char *const names[] = {"comm", "nums", "name",
                                      "tail", "list", "odd"};
  uint64_t value = 7;
  size_t i;

  fill(filled);
  for (i = 0; i < COUNT_OF(names); i++) {
    assert_int_equal(uvperf_field_value(field_of(state, names[i]), filled,
                                        sizeof(filled), &value),
                     -EINVAL);
    assert_true(value == 7);
  }
  assert_true(uvperf_field_load(field_of(state, "odd"), filled) == 0);
}

static void expect_chars(const uvperf_field_t *field, const void *raw,
                         size_t size, const char *wanted) {
  const char *text = NULL;
  size_t length = 0;

  assert_int_equal(uvperf_field_string(field, raw, size, &text, &length), 0);
  assert_int_equal(length, strlen(wanted));
  assert_memory_equal(text, wanted, length);
}

static void string_ends_at_its_nul_or_with_its_field(void **state) {
  raw_t raw;

  fill(filled);
  raw = raw_make(filled, 91, 0);
  expect_chars(field_of(state, "comm"), raw.data, raw.size, "comm8chr");
  expect_chars(field_of(state, "name"), raw.data, raw.size, "name");
  expect_chars(field_of(state, "tail"), raw.data, raw.size, "ta");
  raw.data[42] = '\0';
  expect_chars(field_of(state, "comm"), raw.data, raw.size, "comm");
  raw.data[38] = '\0';
  expect_chars(field_of(state, "comm"), raw.data, raw.size, "");
  put_place(raw.data, 52, 91, 0);
  expect_chars(field_of(state, "name"), raw.data, raw.size, "");
  put_place(raw.data, 52, 0, 0);
  expect_chars(field_of(state, "name"), raw.data, raw.size, "");
  free(raw.heap);
}

static void string_of_another_field_is_einval(void **state) {
  static const char *const names[] = {"u8", "nums", "list", "filename", "odd"};
  const char *text = "left";
  size_t length = 7;
  size_t i;

  fill(filled);
  for (i = 0; i < COUNT_OF(names); i++)
    assert_int_equal(uvperf_field_string(field_of(state, names[i]), filled,
                                         sizeof(filled), &text, &length),
                     -EINVAL);
  assert_string_equal(text, "left");
  assert_int_equal(length, 7);
}

static void expect_elements(const uvperf_field_t *field, const void *raw,
                            size_t size, size_t nr, const uint64_t *wanted) {
  uint64_t value = 7;
  size_t i;

  for (i = 0; i < nr; i++) {
    assert_int_equal(uvperf_field_element(field, raw, size, i, &value), 0);
    assert_true(value == wanted[i]);
  }
  value = 7;
  assert_int_equal(uvperf_field_element(field, raw, size, nr, &value), -ENOENT);
  assert_int_equal(uvperf_field_element(field, raw, size, SIZE_MAX, &value),
                   -ENOENT);
  assert_true(value == 7);
}

static void elements_have_the_size_and_sign_of_their_field(void **state) {
  static const uint64_t nums[] = {(uint64_t)-1, 2, (uint64_t)INT16_MIN};
  static const uint64_t list[] = {0x11223344, 0x55667788};
  uint64_t value = 7;
  size_t shift;

  fill(filled);
  for (shift = 0; shift < 8; shift++) {
    raw_t raw = raw_make(filled, 91, shift);

    expect_elements(field_of(state, "nums"), raw.data, raw.size, 3, nums);
    expect_elements(field_of(state, "list"), raw.data, raw.size, 2, list);
    put_place(raw.data, 60, 83, 7); /* one and three quarters */
    expect_elements(field_of(state, "list"), raw.data, raw.size, 1, list);
    free(raw.heap);
  }
  assert_int_equal(uvperf_field_element(field_of(state, "odd"), filled,
                                        sizeof(filled), 0, &value),
                   -EINVAL);
}

static void bytes_are_the_fields_own_or_where_it_points(void **state) {
  static const struct {
    const char *name;
    size_t at;
    size_t size;
  } wanted[] = {{"u8", 8, 1},    {"comm", 38, 8}, {"odd", 72, 3},
                {"name", 76, 5}, {"tail", 81, 2}, {"list", 83, 8}};
  unsigned char raw[RAW_BYTES];
  const void *bytes;
  size_t size;
  size_t i;

  fill(raw);
  for (i = 0; i < COUNT_OF(wanted); i++) {
    assert_int_equal(uvperf_field_bytes(field_of(state, wanted[i].name), raw,
                                        sizeof(raw), &bytes, &size),
                     0);
    assert_ptr_equal(bytes, raw + wanted[i].at);
    assert_int_equal(size, wanted[i].size);
  }
}

/* -- data that is not as it should be -------------------------------------- */

/* Reads each byte of a field, so that a sanitizer checks it. */
static void touch(const void *bytes, size_t size) {
  const volatile unsigned char *at = bytes;
  size_t i;

  for (i = 0; i < size; i++)
    (void)at[i];
}

/* Calls every function on every field. Returns how many fields had bytes. */
static unsigned read_all(const uvperf_tracepoint_t *tracepoint,
                         const raw_t *raw) {
  unsigned nr = 0;
  size_t i;
  size_t j;

  for (i = 0; i < uvperf_tracepoint_info(tracepoint)->nr_fields; i++) {
    const uvperf_field_t *field =
        &uvperf_tracepoint_info(tracepoint)->fields[i];
    const void *bytes;
    const char *text;
    uint64_t value;
    size_t size;
    int rc = uvperf_field_bytes(field, raw->data, raw->size, &bytes, &size);

    assert_true(rc == 0 || rc == -EPROTO);
    nr += rc == 0;
    if (rc == 0)
      touch(bytes, size);
    if ((field->flags & UVPERF_FIELD_VALUE) != 0)
      assert_int_equal(uvperf_field_value(field, raw->data, raw->size, &value),
                       rc);
    if ((field->flags & UVPERF_FIELD_STRING) != 0)
      assert_int_equal(
          uvperf_field_string(field, raw->data, raw->size, &text, &size), rc);
    if (rc == 0 && (field->flags & UVPERF_FIELD_STRING) != 0)
      touch(text, size);
    for (j = 0; j < 4; j++)
      uvperf_field_element(field, raw->data, raw->size, j, &value);
  }
  return nr;
}

static void raw_cut_anywhere_is_not_read_beyond(void **state) {
  unsigned before = 0;
  size_t size;

  fill(filled);
  for (size = 0; size <= RAW_BYTES; size++) {
    raw_t raw = raw_make(filled, size, size % 8);
    unsigned nr = read_all(*state, &raw);

    assert_true(nr >= before);
    before = nr;
    assert_int_equal(uvperf_tracepoint_fits(*state, raw.data, raw.size),
                     size >= KINDS_BYTES);
    free(raw.heap);
  }
  assert_int_equal(before, 19);
}

static void raw_of_another_tracepoint_does_not_fit(void **state) {
  fill(filled);
  assert_int_equal(uvperf_tracepoint_fits(*state, filled, RAW_BYTES), 1);
  filled[0] ^= 1;
  assert_int_equal(uvperf_tracepoint_fits(*state, filled, RAW_BYTES), 0);
  assert_int_equal(uvperf_tracepoint_fits(*state, NULL, 0), 0);
  assert_int_equal(uvperf_tracepoint_fits(*state, NULL, RAW_BYTES), 0);
}

static void dynamic_field_outside_of_raw_is_eproto(void **state) {
  static const struct {
    size_t at;
    size_t length;
  } places[] = {{RAW_BYTES, 1},     {RAW_BYTES - 1, 2}, {RAW_BYTES + 1, 0},
                {0, RAW_BYTES + 1}, {0, 0xffff},        {0xffff, 0},
                {0xffff, 0xffff}};
  static const size_t offsets[] = {52, 56, 60};
  static const char *const names[] = {"name", "tail", "list"};
  const void *at = filled;
  size_t size = 7;
  size_t i;
  size_t j;

  for (i = 0; i < COUNT_OF(places); i++)
    for (j = 0; j < 3; j++) {
      fill(filled);
      put_place(filled, offsets[j], places[i].at, places[i].length);
      assert_int_equal(uvperf_field_bytes(field_of(state, names[j]), filled,
                                          sizeof(filled), &at, &size),
                       -EPROTO);
      assert_ptr_equal(at, filled);
      assert_int_equal(size, 7);
    }
  fill(filled);
  put_place(filled, 56, RAW_BYTES - 60, 0); /* the end, from 60 on */
  assert_int_equal(uvperf_field_bytes(field_of(state, "tail"), filled,
                                      sizeof(filled), &at, &size),
                   0);
  put_place(filled, 56, RAW_BYTES - 60, 1);
  assert_int_equal(uvperf_field_bytes(field_of(state, "tail"), filled,
                                      sizeof(filled), &at, &size),
                   -EPROTO);
}

static void raw_of_any_bytes_is_not_read_beyond(void **state) {
  uint64_t random = UINT64_C(88172645463325252);
  unsigned outside = 0;
  unsigned i;
  size_t j;

  for (i = 0; i < 20000; i++) {
    raw_t raw;

    fill(filled);
    for (j = i % 2 == 0 ? 52 : 0; j < 64; j++) {
      random ^= random << 13;
      random ^= random >> 7;
      random ^= random << 17;
      filled[j] = (unsigned char)(j % 2 != 0 && i % 4 == 0 ? 0 : random);
    }
    raw = raw_make(filled, KINDS_BYTES + (size_t)(random % 26), random % 8);
    outside += read_all(*state, &raw) < 19;
    free(raw.heap);
  }
  assert_in_range(outside, 1000, 20000);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(value_has_the_size_and_sign_of_its_field),
      TEST(value_of_what_is_none_is_einval),
      TEST(string_ends_at_its_nul_or_with_its_field),
      TEST(string_of_another_field_is_einval),
      TEST(elements_have_the_size_and_sign_of_their_field),
      TEST(bytes_are_the_fields_own_or_where_it_points),
      TEST(raw_cut_anywhere_is_not_read_beyond),
      TEST(raw_of_another_tracepoint_does_not_fit),
      TEST(dynamic_field_outside_of_raw_is_eproto),
      TEST(raw_of_any_bytes_is_not_read_beyond),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
