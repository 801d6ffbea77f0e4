/* SPDX-License-Identifier: MIT */
/* Format files of tracepoints: the description of each field, and damaged
 * files. */
#include "make_tracepoint_format.h"

static void format_has_each_field_in_order(void **state) {
  static const uvperf_field_t wanted[] = {
      {"common_type", "unsigned short", 0, 2, 2, 1, VALUE | COMMON, 0, {0}},
      {"common_flags", "unsigned char", 2, 1, 1, 1, VALUE | COMMON, 0, {0}},
      {"common_preempt_count",
       "unsigned char",
       3,
       1,
       1,
       1,
       VALUE | COMMON,
       0,
       {0}},
      {"common_pid", "int", 4, 4, 4, 1, VALUE | COMMON | SIGNED, 0, {0}},
      {"prev_comm", "char[16]", 8, 16, 1, 16, ARRAY | STRING, 0, {0}},
      {"prev_pid", "pid_t", 24, 4, 4, 1, VALUE | SIGNED, 0, {0}},
      {"prev_prio", "int", 28, 4, 4, 1, VALUE | SIGNED, 0, {0}},
      {"prev_state", "long", 32, 8, 8, 1, VALUE | SIGNED, 0, {0}},
      {"next_comm", "char[16]", 40, 16, 1, 16, ARRAY | STRING, 0, {0}},
      {"next_pid", "pid_t", 56, 4, 4, 1, VALUE | SIGNED, 0, {0}},
      {"next_prio", "int", 60, 4, 4, 1, VALUE | SIGNED, 0, {0}},
  };
  uvperf_tracepoint_t *tracepoint = parsed(TEXT_SWITCH);
  size_t i;

  assert_int_equal(uvperf_tracepoint_info(tracepoint)->id, 372);
  assert_string_equal(uvperf_tracepoint_info(tracepoint)->name, "sched_switch");
  assert_string_equal(uvperf_tracepoint_info(tracepoint)->category, "test");
  assert_int_equal(uvperf_tracepoint_info(tracepoint)->nr_fields, 11);
  for (i = 0; i < 11; i++) {
    expect_field(&uvperf_tracepoint_info(tracepoint)->fields[i], &wanted[i]);
    assert_ptr_equal(uvperf_tracepoint_find(tracepoint, wanted[i].name),
                     &uvperf_tracepoint_info(tracepoint)->fields[i]);
  }
  assert_null(uvperf_tracepoint_find(tracepoint, "prev"));
  assert_null(uvperf_tracepoint_find(tracepoint, ""));
  uvperf_tracepoint_free(tracepoint);
}

/* Linux before 2.6.33. */
static void format_without_signs_is_taken(void **state) {
  uvperf_tracepoint_t *tracepoint =
      parsed("name: old\nID: 7\nformat:\n\tfield:int common_pid;\toffset:4;\t"
             "size:4;\n\n\tfield:int x;\toffset:8;\tsize:4;\n\nprint fmt: \n");

  assert_int_equal(uvperf_tracepoint_info(tracepoint)->nr_fields, 2);
  assert_int_equal(uvperf_tracepoint_info(tracepoint)->fields[0].flags,
                   VALUE | COMMON);
  assert_int_equal(uvperf_tracepoint_info(tracepoint)->fields[1].flags, VALUE);
  uvperf_tracepoint_free(tracepoint);
}

static void format_without_own_fields_is_taken(void **state) {
  uvperf_tracepoint_t *tracepoint =
      parsed(TEXT_HEAD("bare", 7) "\nprint fmt: \"\"\n");

  assert_int_equal(uvperf_tracepoint_info(tracepoint)->nr_fields, 4);
  uvperf_tracepoint_free(tracepoint);
}

static void format_without_category_has_an_empty_one(void **state) {
  const char text[] = TEXT_HEAD("bare", 7);
  uvperf_tracepoint_t *tracepoint;

  assert_int_equal(uvperf_tracepoint_new_from_format(&tracepoint, NULL, text,
                                                     strlen(text), NULL),
                   0);
  assert_string_equal(uvperf_tracepoint_info(tracepoint)->category, "");
  uvperf_tracepoint_free(tracepoint);
  uvperf_tracepoint_free(NULL);
}

#define BEGIN "name: x\nID: 1\nformat:\n\n"

static uvperf_error_t error;

static void damaged_format_is_refused_with_its_column(void **state) {
  static const struct {
    const char *text;
    uint32_t column;
    const char *reason;
  } damaged[] = {
      {"", 1, "\"name: \""},
      {"nam: x", 1, "\"name: \""},
      {"name: \n", 7, "\"a name\""},
      {"name: x y\n", 8, "\"\\n\""},
      {"name: x\nID: y", 13, "\"a number\""},
      {"name: x\nID: 1\nforma:\n", 14, "\"\\nformat:\\n\""},
      {"name: x\nID: 1\nformat:\nfield", 23, "\"\\n\""},
      {"name: x\nID: 1234567890\nformat:\n", 22, "\"\\nformat:\\n\""},
      {BEGIN "\tfield:;", 31, "\"a name\""},
      {BEGIN "\tfield:int x\n", 36, "\";\\toffset:\""},
      {BEGIN "\tfield:int \x01;", 35, "\";\\toffset:\""},
      {BEGIN "\tfield:int \x7f;", 35, "\";\\toffset:\""},
      {BEGIN "\tfield:int \xc3\xa9;", 35, "\";\\toffset:\""},
      {BEGIN "\tfield:int x;\toffset:-1;", 45, "\"a number\""},
      {BEGIN "\tfield:int x;\toffset:4;\tsize:;", 53, "\"a number\""},
      {BEGIN "\tfield:int x;\toffset:4;\tsize:4;\tsigned:x;", 63,
       "\"a number\""},
      {BEGIN "\tfield:int x;\toffset:4;\tsize:4;\tsigne", 55, "\"\\n\""},
      {BEGIN TEXT_FIELD("int", 8, 4, 1), 31, "\"a type and a name\""},
      {BEGIN TEXT_FIELD("int 4x", 8, 4, 1), 31, "\"a type and a name\""},
      {BEGIN TEXT_FIELD("int x]", 8, 4, 1), 31, "\"a type and a name\""},
      {BEGIN TEXT_FIELD("int [4]", 8, 4, 1), 31, "\"a type and a name\""},
      {BEGIN TEXT_FIELD("int (*x)(int)", 8, 4, 1), 31, "\"a type and a name\""},
      {BEGIN TEXT_FIELD("__data_loc char[] x", 8, 2, 1), 31,
       "\"a dynamic field of 4 bytes\""},
      {BEGIN "print fmt", 24, "\"\\n\""},
  };
  uvperf_tracepoint_t *tracepoint;
  size_t i;

  for (i = 0; i < COUNT_OF(damaged); i++) {
    memset(&error, 0x55, sizeof(error));
    tracepoint = (void *)1;
    assert_int_equal(
        parse(&tracepoint, damaged[i].text, strlen(damaged[i].text), &error),
        -EPROTO);
    assert_null(tracepoint);
    assert_int_equal(error.code, -EPROTO);
    assert_int_equal(error.cause, UVPERF_CAUSE_ARGUMENT);
    if (error.column != damaged[i].column ||
        strstr(error.reason, damaged[i].reason) == NULL)
      fail_msg("\"%s\": %u, %s", damaged[i].text, error.column, error.reason);
  }
}

static void format_that_is_too_long_is_efbig(void **state) {
  size_t bytes = ((size_t)256 << 10) + 1;
  uvperf_tracepoint_t *tracepoint;
  char *text;

  text = malloc(bytes);
  assert_non_null(text);
  memset(text, '\n', bytes);
  memcpy(text, TEXT_SWITCH, strlen(TEXT_SWITCH));
  assert_int_equal(parse(&tracepoint, text, bytes - 1, &error), 0);
  uvperf_tracepoint_free(tracepoint);
  assert_int_equal(parse(&tracepoint, text, bytes, &error), -EFBIG);
  assert_int_equal(error.limit, bytes - 1);
  assert_null(tracepoint);
  free(text);
}

static void format_of_nothing_is_einval(void **state) {
  uvperf_tracepoint_t *tracepoint = (void *)1;

  assert_int_equal(
      uvperf_tracepoint_new_from_format(&tracepoint, "", NULL, 0, &error),
      -EINVAL);
  assert_null(tracepoint);
  assert_int_equal(error.cause, UVPERF_CAUSE_ARGUMENT);
  assert_int_equal(uvperf_tracepoint_new_from_format(NULL, "", "x", 1, &error),
                   -EINVAL);
}

/* The rest of a text has the fields of its whole lines. */
static void format_cut_anywhere_has_fewer_fields_or_none(void **state) {
  const char text[] = TEXT_SWITCH;
  const char *fields = strstr(text, "\tfield:char prev_comm");
  const char *end = strstr(text, "print fmt");
  uvperf_tracepoint_t *tracepoint;
  size_t taken = 0;
  size_t bytes;

  for (bytes = 0; bytes < strlen(text); bytes++) {
    int rc = parse(&tracepoint, text, bytes, NULL);

    if (rc != 0) {
      assert_int_equal(rc, -EPROTO);
      assert_null(tracepoint);
      assert_true(bytes < (size_t)(end - text));
      continue;
    }
    assert_true(text[bytes - 1] == '\n' || text + bytes > end);
    assert_int_equal(uvperf_tracepoint_info(tracepoint)->nr_fields == 11,
                     text + bytes >= end - 1);
    taken += text + bytes >= fields && text + bytes < end;
    uvperf_tracepoint_free(tracepoint);
  }
  assert_int_equal(taken, 8); /* of none of seven lines, of one, … */
}

/* -- damage at random ------------------------------------------------------ */

static uint64_t next_random(uint64_t *seed) {
  *seed ^= *seed << 13;
  *seed ^= *seed >> 7;
  *seed ^= *seed << 17;
  return *seed;
}

/* One to four changes: a byte, a byte of the text, or a piece of the text
 * moved. */
static size_t damage(char *text, size_t bytes, uint64_t *seed) {
  uint64_t changes = 1 + next_random(seed) % 4;

  while (changes-- > 0) {
    size_t from = (size_t)(next_random(seed) % bytes);
    size_t to = (size_t)(next_random(seed) % bytes);
    size_t length = (size_t)(next_random(seed) % 24);

    if (length > bytes - (from > to ? from : to))
      length = 0;
    switch (next_random(seed) % 4) {
      case 0:
        text[to] = (char)next_random(seed);
        break;
      case 1:
        text[to] = text[from];
        break;
      case 2:
        memmove(text + to, text + from, length);
        break;
      default: /* taken out */
        memmove(text + to, text + to + length, bytes - to - length);
        bytes -= length;
    }
  }
  return bytes;
}

/* A tracepoint that was taken can be used as any other. */
static void use(const uvperf_tracepoint_t *tracepoint, size_t bytes) {
  size_t texts = strlen(uvperf_tracepoint_info(tracepoint)->name);
  unsigned char raw[64] = {0};
  const void *at;
  size_t size;
  size_t i;

  for (i = 0; i < uvperf_tracepoint_info(tracepoint)->nr_fields; i++) {
    const uvperf_field_t *field =
        &uvperf_tracepoint_info(tracepoint)->fields[i];

    texts += strlen(field->name) + strlen(field->type);
    assert_true(strlen(field->name) > 0);
    if (uvperf_field_bytes(field, raw, sizeof(raw), &at, &size) == 0)
      assert_true((const unsigned char *)at + size <= raw + sizeof(raw));
  }
  assert_true(texts < bytes);
}

static void format_damaged_at_random_is_harmless(void **state) {
  const char whole[] = TEXT_SWITCH TEXT_FIELD("__data_loc char[] x", 8, 4, 0);
  char text[sizeof(whole)];
  uvperf_tracepoint_t *tracepoint;
  uint64_t seed = UINT64_C(0x9e3779b97f4a7c15);
  unsigned taken = 0;
  unsigned i;

  for (i = 0; i < 20000; i++) {
    size_t bytes;

    memcpy(text, whole, sizeof(whole));
    bytes = damage(text, sizeof(whole) - 1, &seed);
    if (parse(&tracepoint, text, bytes, NULL) == 0) {
      taken += 1;
      use(tracepoint, bytes);
      uvperf_tracepoint_free(tracepoint);
    }
  }
  assert_in_range(taken, 1000, 19000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(format_has_each_field_in_order),
      cmocka_unit_test(format_without_signs_is_taken),
      cmocka_unit_test(format_without_own_fields_is_taken),
      cmocka_unit_test(format_without_category_has_an_empty_one),
      cmocka_unit_test(damaged_format_is_refused_with_its_column),
      cmocka_unit_test(format_that_is_too_long_is_efbig),
      cmocka_unit_test(format_of_nothing_is_einval),
      cmocka_unit_test(format_cut_anywhere_has_fewer_fields_or_none),
      cmocka_unit_test(format_damaged_at_random_is_harmless),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
