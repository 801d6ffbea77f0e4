/* SPDX-License-Identifier: MIT */
/* The text of a record, made by the "print fmt". */
#include "support.h"
#include "check_tracepoint_values.h"

#include <limits.h>

#include "tracepoint/handle.h"
#include "uvperf/tracepoint.h"

#define SWITCH_BYTES 64
#define SWITCH_TEXT                                                            \
  "prev_comm=cat prev_pid=-5 prev_prio=120 prev_state=S|D ==> "                \
  "next_comm=sixteenbytes1234 next_pid=7 next_prio=0"

/* -- memory ---------------------------------------------------------------- */

/* The allocation that fails, counted from now on; 0 for none. The program is
 * linked with --wrap for these functions. */
static int allocations_left;

void *__real_malloc(size_t size);
void *__real_calloc(size_t nr, size_t size);
void *__real_realloc(void *memory, size_t size);

static int is_refused(void) {
  return allocations_left > 0 && --allocations_left == 0;
}

void *__wrap_malloc(size_t size) {
  return is_refused() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t nr, size_t size) {
  return is_refused() ? NULL : __real_calloc(nr, size);
}

void *__wrap_realloc(void *memory, size_t size) {
  return is_refused() ? NULL : __real_realloc(memory, size);
}

/* -- the text -------------------------------------------------------------- */

/* On the heap, of exactly its size; freed by the caller. */
static unsigned char *switch_raw(void) {
  unsigned char *raw = calloc(1, SWITCH_BYTES);
  int64_t state = 3;

  assert_non_null(raw);
  put_short(raw, 0, 372);
  memcpy(raw + 8, "cat", 3);
  put_number(raw, 24, -5);
  put_number(raw, 28, 120);
  memcpy(raw + 32, &state, sizeof(state));
  memcpy(raw + 40, "sixteenbytes1234", 16); /* not terminated */
  put_number(raw, 56, 7);
  return raw;
}

static void text_is_that_of_the_print_fmt(void **state) {
  uvperf_tracepoint_t *tracepoint = parsed(TEXT_SWITCH);
  unsigned char *raw = switch_raw();
  char text[200];
  int i;

  for (i = 0; i < 2; i++) { /* the second one does not parse again */
    size_t size = sizeof(text);

    memset(text, 'x', sizeof(text));
    assert_int_equal(
        uvperf_tracepoint_print(tracepoint, raw, SWITCH_BYTES, text, &size), 0);
    assert_string_equal(text, SWITCH_TEXT);
    assert_int_equal(size, sizeof(SWITCH_TEXT));
  }
  free(raw);
  uvperf_tracepoint_free(tracepoint);
}

static void text_without_room_is_enobufs(void **state) {
  uvperf_tracepoint_t *tracepoint = parsed(TEXT_SWITCH);
  unsigned char *raw = switch_raw();
  char text[sizeof(SWITCH_TEXT)] = "left";
  size_t size = 0;

  assert_int_equal(
      uvperf_tracepoint_print(tracepoint, raw, SWITCH_BYTES, NULL, &size),
      -ENOBUFS);
  assert_int_equal(size, sizeof(SWITCH_TEXT));
  size = sizeof(SWITCH_TEXT) - 1;
  assert_int_equal(
      uvperf_tracepoint_print(tracepoint, raw, SWITCH_BYTES, text, &size),
      -ENOBUFS);
  assert_int_equal(size, sizeof(SWITCH_TEXT));
  assert_string_equal(text, "left");
  assert_int_equal(
      uvperf_tracepoint_print(tracepoint, raw, SWITCH_BYTES, text, &size), 0);
  assert_string_equal(text, SWITCH_TEXT);
  free(raw);
  uvperf_tracepoint_free(tracepoint);
}

#if __SIZEOF_LONG__ == 8
#define TEXT_LONGS                                                             \
  TEXT_FIELD("long x", 8, 8, 1) TEXT_FIELD("void * p", 32, 8, 0)
#else
#define TEXT_LONGS                                                             \
  TEXT_FIELD("long x", 8, 4, 1) TEXT_FIELD("void * p", 32, 4, 0)
#endif
#define TEXT_ALL                                                               \
  TEXT_HEAD("all", 9)                                                          \
  TEXT_LONGS                                                                   \
  TEXT_FIELD("__data_loc char[] s", 16, 4, 0)                                  \
  TEXT_FIELD("unsigned short n", 20, 2, 0)                                     \
  "\nprint fmt: \"x=%ld s=%s n=%u p=%s\", REC->x, __get_str(s), REC->n, "      \
  "REC->p\n"

/* A pointer to a string is printed as an address. */
static void text_has_numbers_and_strings(void **state) {
  uvperf_tracepoint_t *tracepoint = parsed(TEXT_ALL);
  long x = LONG_MIN + 5, p = 0x4142;
  unsigned char raw[40] = {0};
  char text[100], wanted[100];
  size_t size = sizeof(text);

  put_short(raw, 0, 9);
  memcpy(raw + 8, &x, sizeof(x));
  put_number(raw, 16, 24 | 4 << 16);
  put_short(raw, 20, 0x1234);
  memcpy(raw + 32, &p, sizeof(p));
  memcpy(raw + 24, "abc", 3);
  assert_int_equal(
      uvperf_tracepoint_print(tracepoint, raw, sizeof(raw), text, &size), 0);
  snprintf(wanted, sizeof(wanted), "x=%ld s=abc n=4660 p=0x4142", x);
  assert_string_equal(text, wanted);
  uvperf_tracepoint_free(tracepoint);
}

static void expect_none(uvperf_tracepoint_t *tracepoint, const void *raw,
                        size_t raw_size, int rc) {
  char text[200] = "left";
  size_t size = sizeof(text);

  assert_int_equal(
      uvperf_tracepoint_print(tracepoint, raw, raw_size, text, &size), rc);
  assert_string_equal(text, "left");
  assert_int_equal(size, sizeof(text));
}

static void text_of_raw_that_is_cut_is_eproto(void **state) {
  uvperf_tracepoint_t *tracepoint = parsed(TEXT_SWITCH);
  unsigned char *whole = switch_raw();
  size_t size;

  for (size = 1; size < SWITCH_BYTES - 1; size++) {
    unsigned char *raw = malloc(size);

    assert_non_null(raw);
    memcpy(raw, whole, size);
    expect_none(tracepoint, raw, size, -EPROTO);
    free(raw);
  }
  free(whole);
  uvperf_tracepoint_free(tracepoint);
}

static void text_of_raw_that_points_outside_is_eproto(void **state) {
  static const char format[] = TEXT_HEAD("dynamic", 9) TEXT_FIELD(
      "__data_loc char[] s", 8, 4, 0) "\nprint fmt: \"%s\", __get_str(s)\n";
  uvperf_tracepoint_t *tracepoint = parsed(format);
  unsigned char raw[16] = {0};
  char text[20];
  size_t size = sizeof(text);

  put_short(raw, 0, 9);
  put_number(raw, 8, 12 | 5 << 16);
  expect_none(tracepoint, raw, sizeof(raw), -EPROTO);
  put_number(raw, 8, 12 | 4 << 16);
  memcpy(raw + 12, "abcd", 4); /* up to the end, not terminated */
  assert_int_equal(
      uvperf_tracepoint_print(tracepoint, raw, sizeof(raw), text, &size), 0);
  assert_string_equal(text, "abcd");
  put_short(raw, 0, 10);
  expect_none(tracepoint, raw, sizeof(raw), -EPROTO);
  uvperf_tracepoint_free(tracepoint);
}

static void text_has_the_names_that_the_kernel_finds(void **state) {
  static const sample_t samples[] = {
      {"\"%s\", __print_symbolic(REC->n, { 1, \"a\" }, { -1, \"b\" })", "b"},
      {"\"%s\", __print_symbolic(REC->a, { 2, \"a\" })", "0x1"},
      {"\"%s\", __print_flags(REC->g, \"|\", { 2, \"A\" }, { 0, \"B\" })",
       "A|B|0x8"},
      {"\"<%6s>\", __print_flags(REC->g, \"|\", { 2, \"A\" }, { 8, \"B\" })",
       "<   A|B>"},
      {"\"%s\", __print_flags(REC->g & 5, \"|\", { 1, \"A\" })", ""},
      {"\"%s\", __print_flags(REC->g, \"|\", { -1, ((void *)0) })", "0xa"},
      {"\"%s\", __print_symbolic(REC->g, { 1, \"a\" }, { -1, 0 })", "0xa"},
      {"\"%s\", __print_array(REC->w, 2, 4)", "{0x5,0xfffffffa}"},
      {"\"%s\", __print_hex(REC->s, 3)", "65 69 67"},
      {"\"%s\", __print_hex_str(REC->s, 3)", "656967"},
  };

  EXPECT_SAMPLES(samples);
}

/* The kernel has lists of several hundred names. */
static void text_finds_the_last_of_many_names(void **state) {
  char print_fmt[3000] = "\"%s\", __print_symbolic(REC->a";
  char text[20];
  int i;

  for (i = 0; i < 200; i++)
    strcat(print_fmt, ", { 2, \"a\" }");
  strcat(print_fmt, ", { 1, \"last\" })");
  assert_int_equal(print_values(print_fmt, text, sizeof(text)), 0);
  assert_string_equal(text, "last");
}

#if __SIZEOF_LONG__ == 8
#define MASK "00000000,00000000,00000000,00000003"
#else
#define MASK "00000000,00000003"
#endif

static void text_of_bitmasks_has_words_of_32_bits(void **state) {
  static const sample_t samples[] = {
      {"\"%s\", __get_bitmask(k)", MASK},
      {"\"%s\", __get_cpumask(k)", MASK},
  };

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  EXPECT_SAMPLES(samples);
#endif
}

/* With its NUL. A string of 65,000 bytes is printed four times. */
static void text_has_at_most_256_kib(void **state) {
  static char format[4096], text[256 << 10];
  static unsigned char raw[12 + 65000];
  uvperf_tracepoint_t *tracepoint;
  size_t rest, size;

  put_short(raw, 0, 9);
  put_number(raw, 8, (int32_t)(12 | 65000u << 16));
  memset(raw + 12, 'a', 65000);
  for (rest = sizeof(text) - 4 * 65000 - 1; rest < sizeof(text); rest++) {
    snprintf(format, sizeof(format),
             TEXT_HEAD("long", 9) TEXT_FIELD(
                 "__data_loc char[] s", 8, 4,
                 0) "\nprint fmt: \"%%s%%s%%s%%s%0*d\", __get_str(s), "
                    "__get_str(s), __get_str(s), __get_str(s)\n",
             (int)rest, 0);
    tracepoint = parsed(format);
    size = sizeof(text);
    if (uvperf_tracepoint_print(tracepoint, raw, sizeof(raw), text, &size) != 0)
      break;
    assert_int_equal(size, sizeof(text));
    uvperf_tracepoint_free(tracepoint);
  }
  expect_none(tracepoint, raw, sizeof(raw), -EPROTO);
  assert_int_equal(rest, sizeof(text) - 4 * 65000);
  uvperf_tracepoint_free(tracepoint);
}

/* Each allocation fails once. Nothing is left, and the next call succeeds. */
static void text_without_memory_is_enomem(void **state) {
  uvperf_tracepoint_t *tracepoint;
  unsigned char *raw = switch_raw();
  char text[200];
  size_t size;
  int nth, rc;

  for (nth = 1;; nth++) {
    allocations_left = nth;
    rc = uvperf_tracepoint_new_from_format(&tracepoint, NULL, TEXT_SWITCH,
                                           sizeof(TEXT_SWITCH) - 1, NULL);
    if (rc == 0) {
      size = sizeof(text);
      rc = uvperf_tracepoint_print(tracepoint, raw, SWITCH_BYTES, text, &size);
      if (allocations_left > 0)
        break;
      assert_int_equal(
          uvperf_tracepoint_print(tracepoint, raw, SWITCH_BYTES, text, &size),
          0);
      assert_string_equal(text, SWITCH_TEXT);
      uvperf_tracepoint_free(tracepoint);
    }
    assert_int_equal(rc, -ENOMEM);
  }
  allocations_left = 0;
  assert_int_equal(rc, 0);
  assert_true(nth > 10);
  free(raw);
  uvperf_tracepoint_free(tracepoint);
}

static void text_that_is_refused_stays_refused(void **state) {
  static const char format[] = TEXT_HEAD("odd", 9) TEXT_FIELD(
      "int x", 8, 4, 1) "\nprint fmt: \"%d\", no_such_function(REC->x)\n";
  uvperf_tracepoint_t *tracepoint = parsed(format);
  unsigned char raw[12] = {9};

  expect_none(tracepoint, raw, sizeof(raw), -ENOTSUP);
  assert_int_equal(tracepoint->is_refused, 1);
  expect_none(tracepoint, raw, sizeof(raw), -ENOTSUP);
  uvperf_tracepoint_free(tracepoint);
}

static void text_without_arguments_is_einval(void **state) {
  uvperf_tracepoint_t *tracepoint = parsed(TEXT_SWITCH);
  unsigned char *raw = switch_raw();
  char text[20];
  size_t size = sizeof(text);

  expect_none(NULL, raw, SWITCH_BYTES, -EINVAL);
  expect_none(tracepoint, NULL, SWITCH_BYTES, -EINVAL);
  assert_int_equal(
      uvperf_tracepoint_print(tracepoint, raw, SWITCH_BYTES, text, NULL),
      -EINVAL);
  assert_int_equal(
      uvperf_tracepoint_print(tracepoint, raw, SWITCH_BYTES, NULL, &size),
      -EINVAL);
  free(raw);
  uvperf_tracepoint_free(tracepoint);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(text_is_that_of_the_print_fmt),
      cmocka_unit_test(text_without_room_is_enobufs),
      cmocka_unit_test(text_has_numbers_and_strings),
      cmocka_unit_test(text_of_raw_that_is_cut_is_eproto),
      cmocka_unit_test(text_of_raw_that_points_outside_is_eproto),
      cmocka_unit_test(text_has_the_names_that_the_kernel_finds),
      cmocka_unit_test(text_finds_the_last_of_many_names),
      cmocka_unit_test(text_has_at_most_256_kib),
      cmocka_unit_test(text_without_memory_is_enomem),
      cmocka_unit_test(text_of_bitmasks_has_words_of_32_bits),
      cmocka_unit_test(text_that_is_refused_stays_refused),
      cmocka_unit_test(text_without_arguments_is_einval),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
