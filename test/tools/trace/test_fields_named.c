/* SPDX-License-Identifier: MIT */
/* How trace prints the fields of a tracepoint, with made-up formats and
 * records. */
#include "support.h"

#include "json_check.h"
#include "trace/fields_named.h"
#include "trace/line.h"
#include "make_tracepoint_text.h"

#define TEXT_PRINT "\nprint fmt: \"%s\", \"words\"\n"

static trace_fields_t *fields_of(const char *text) {
  uvperf_tracepoint_t *tracepoint;

  assert_int_equal(uvperf_tracepoint_new_from_format(&tracepoint, "t", text,
                                                     strlen(text), NULL),
                   0);
  return trace_fields_of(tracepoint);
}

static void expect(const char *format, const void *raw, size_t size,
                   const char *text, const char *json) {
  trace_fields_t *fields = fields_of(format);
  common_buffer_t buffer = {NULL, 0, 0};

  trace_fields_text(fields, &buffer, raw, size);
  common_buffer_add(&buffer, "", 1);
  assert_string_equal(buffer.text, text);
  buffer.used = 0;
  /* The fields follow another member of an object. */
  common_buffer_add(&buffer, "{\"a\":1", 6);
  trace_fields_json(fields, &buffer, raw, size);
  common_buffer_add(&buffer, "}", 2);
  if (!json_is_tree(buffer.text))
    print_error("no JSON: %s\n", buffer.text);
  assert_true(json_is_tree(buffer.text));
  buffer.text[buffer.used - 2] = '\0';
  assert_string_equal(buffer.text + 6, json);
  common_buffer_free(&buffer);
  trace_fields_free(fields);
}

/* Raw data begins with the fields that every tracepoint has. */
#define ID        7
#define RAW_BYTES 64

static void raw_init(unsigned char raw[RAW_BYTES]) {
  const uint16_t id = ID;

  memset(raw, 0, RAW_BYTES);
  memcpy(raw, &id, sizeof(id));
}

static void numbers_and_pointers_are_printed_by_their_type(void **state) {
  static const char format[] = TEXT_HEAD("numbers", 7)
      TEXT_FIELD("int a", 8, 4, 1) TEXT_FIELD("u8 b", 12, 1, 0)
          TEXT_FIELD("bool c", 13, 1, 0) TEXT_FIELD("void * d", 16, 8, 0)
              TEXT_FIELD("u64 e", 24, 8, 0) TEXT_PRINT;
  unsigned char raw[RAW_BYTES];
  int32_t a = -5;
  uint64_t d = UINT64_C(0xffff888001020304);

  raw_init(raw);
  memcpy(raw + 8, &a, sizeof(a));
  raw[12] = 200;
  raw[13] = 1;
  memcpy(raw + 16, &d, sizeof(d));
  memset(raw + 24, 0xff, 8);
  expect(format, raw, 32,
         " a=-5 b=200 c=1 d=0xffff888001020304 e=18446744073709551615",
         ",\"fields\":{\"a\":-5,\"b\":200,\"c\":1,"
         "\"d\":\"0xffff888001020304\",\"e\":18446744073709551615}");
}

static void strings_are_quoted_and_escaped(void **state) {
  static const char format[] =
      TEXT_HEAD("strings", 7) TEXT_FIELD("char a[4]", 8, 4, 0)
          TEXT_FIELD("__data_loc char[] b", 12, 4, 0)
              TEXT_FIELD("__rel_loc char[] c", 16, 4, 0) TEXT_PRINT;
  const uint32_t b = 5u << 16 | 24, c = 4u << 16 | (32 - 20);
  unsigned char raw[RAW_BYTES];

  raw_init(raw);
  memcpy(raw + 8, "full", 4); /* without a NUL */
  memcpy(raw + 12, &b, sizeof(b));
  memcpy(raw + 16, &c, sizeof(c));
  memcpy(raw + 24, "\"\\\n\xff", 4);
  memcpy(raw + 32, "\033[m", 4);
  expect(format, raw, 40, " a=\"full\" b=\"\\\"\\\\\\n\\xff\" c=\"\\x1b[m\"",
         ",\"fields\":{\"a\":\"full\",\"b\":\"\\\"\\\\\\u000a\\ufffd\","
         "\"b_hex\":\"225c0aff\",\"c\":\"\\u001b[m\"}");
}

/* The kernel would not write such a record. */
static void string_outside_of_the_record_is_empty(void **state) {
  static const char format[] =
      TEXT_HEAD("strings", 7) TEXT_FIELD("__data_loc char[] a", 8, 4, 0)
          TEXT_FIELD("__data_loc u8[] b", 12, 4, 0) TEXT_PRINT;
  const uint32_t far = 5u << 16 | 60000;
  unsigned char raw[RAW_BYTES];

  raw_init(raw);
  memcpy(raw + 8, &far, sizeof(far));
  memcpy(raw + 12, &far, sizeof(far));
  expect(format, raw, 16, " a=\"\" b=", ",\"fields\":{\"a\":\"\",\"b\":\"\"}");
}

static void arrays_are_lists_and_bytes_are_digits(void **state) {
  static const char format[] = TEXT_HEAD("arrays", 7)
      TEXT_FIELD("int a[2]", 8, 8, 1) TEXT_FIELD("u8 b[4]", 16, 4, 0)
          TEXT_FIELD("__data_loc u32[] c", 20, 4, 0)
              TEXT_FIELD("struct in6_addr d", 24, 2, 0) TEXT_PRINT;
  const int32_t a[2] = {-1, 2};
  const uint32_t c = 8u << 16 | 32, values[2] = {3, 4};
  unsigned char raw[RAW_BYTES];

  raw_init(raw);
  memcpy(raw + 8, a, sizeof(a));
  memcpy(raw + 16, "\x01\x23\xcd\xef", 4);
  memcpy(raw + 20, &c, sizeof(c));
  memcpy(raw + 24, "\xaa\xbb", 2);
  memcpy(raw + 32, values, sizeof(values));
  expect(format, raw, 40, " a=[-1,2] b=0123cdef c=[3,4] d=aabb",
         ",\"fields\":{\"a\":[-1,2],\"b\":\"0123cdef\",\"c\":[3,4],"
         "\"d\":\"aabb\"}");
}

/* The kernel marks all arguments as unsigned. The upper bits of an int argument
 * are garbage. */
static void arguments_of_system_calls_are_of_their_c_type(void **state) {
  static const char format[] = TEXT_HEAD("sys_enter_openat", 7)
      TEXT_FIELD("int __syscall_nr", 8, 4, 1) TEXT_FIELD("int dfd", 16, 8, 0)
          TEXT_FIELD("const char * filename", 24, 8, 0)
              TEXT_FIELD("unsigned int flags", 32, 8, 0)
                  TEXT_FIELD("umode_t mode", 40, 8, 0)
                      TEXT_FIELD("size_t count", 48, 8, 0) TEXT_PRINT;
  const uint64_t values[5] = {UINT64_C(0x00000001ffffff9c), 0x7f,
                              UINT64_C(0xffffffff80000000),
                              UINT64_C(0xffff0180), UINT64_C(0x100000000)};
  unsigned char raw[RAW_BYTES];

  raw_init(raw);
  memcpy(raw + 16, values, sizeof(values));
  expect(format, raw, 56,
         " dfd=-100 filename=0x7f flags=2147483648 mode=384 count=4294967296",
         ",\"fields\":{\"dfd\":-100,\"filename\":\"0x7f\","
         "\"flags\":2147483648,\"mode\":384,\"count\":4294967296}");
}

static void tracepoint_without_fields_has_an_empty_object(void **state) {
  static const char format[] = TEXT_HEAD("empty", 7) TEXT_PRINT;
  unsigned char raw[RAW_BYTES];

  raw_init(raw);
  expect(format, raw, 8, "", ",\"fields\":{}");
}

/* For example, the tracepoint was removed and another was added before the
 * record was read. */
static void record_of_another_tracepoint_comes_as_bytes(void **state) {
  static const char format[] =
      TEXT_HEAD("one", 1799) TEXT_FIELD("int a", 8, 4, 1) TEXT_PRINT;
  unsigned char raw[RAW_BYTES] = {8, 8}; /* the same in both byte orders */

  expect(format, raw, 12, " raw=080800000000000000000000",
         ",\"raw\":\"080800000000000000000000\"");
  memset(raw, 7, 2);
  expect(format, raw, 8, " raw=0707000000000000",
         ",\"raw\":\"0707000000000000\"");
}

static void words_of_the_kernel_are_escaped(void **state) {
  static const char format[] = TEXT_HEAD("words", 7)
      TEXT_FIELD("char a[8]", 8, 8, 0) "\nprint fmt: \"a is %s\", REC->a\n";
  trace_form_t form = {.print_fmt = 1};
  common_buffer_t buffer = {NULL, 0, 0};
  unsigned char raw[RAW_BYTES];
  uvperf_record_t record;
  trace_hit_t hit = {&record, "sh", "t:words", NULL};

  raw_init(raw);
  memcpy(raw + 8, "x\033[m", 4);
  memset(&record, 0, sizeof(record));
  record.sample.raw.data = raw;
  record.sample.raw.size = 16;
  hit.fields = fields_of(format);
  trace_line_hit(&buffer, &form, &hit);
  form.json = 1;
  trace_line_hit(&buffer, &form, &hit);
  common_buffer_add(&buffer, "", 1);
  assert_string_equal(buffer.text,
                      "0.000000 [000] sh 0 t:words a is x\\x1b[m\n"
                      "{\"time\":0.000000000,\"type\":\"hit\",\"cpu\":0,"
                      "\"pid\":0,\"tid\":0,\"comm\":\"sh\","
                      "\"event\":\"t:words\","
                      "\"print\":\"a is x\\u001b[m\"}\n");
  trace_fields_free(hit.fields);
  common_buffer_free(&form.scratch);
  common_buffer_free(&buffer);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_and_pointers_are_printed_by_their_type),
      cmocka_unit_test(strings_are_quoted_and_escaped),
      cmocka_unit_test(string_outside_of_the_record_is_empty),
      cmocka_unit_test(arrays_are_lists_and_bytes_are_digits),
      cmocka_unit_test(arguments_of_system_calls_are_of_their_c_type),
      cmocka_unit_test(tracepoint_without_fields_has_an_empty_object),
      cmocka_unit_test(record_of_another_tracepoint_comes_as_bytes),
      cmocka_unit_test(words_of_the_kernel_are_escaped),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
