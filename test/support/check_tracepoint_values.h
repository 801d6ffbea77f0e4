/* SPDX-License-Identifier: MIT */
/* Prints one record by the "print fmt" of a test. libtraceevent 1.7 gets most
 * of these texts wrong. In a header, because the component is not linked to all
 * tests. */
#ifndef UVPERF_TEST_CHECK_TRACEPOINT_VALUES_H
#define UVPERF_TEST_CHECK_TRACEPOINT_VALUES_H

#include "support.h"
#include "make_tracepoint_text.h"

#include "uvperf/tracepoint.h"

static uvperf_tracepoint_t *parsed(const char *text) {
  uvperf_tracepoint_t *tracepoint;
  uvperf_error_t error;

  if (uvperf_tracepoint_new_from_format(&tracepoint, "sched", text,
                                        strlen(text), &error) != 0)
    fail_msg("%s", error.reason);
  return tracepoint;
}

static void put_short(unsigned char *raw, size_t offset, uint16_t number) {
  memcpy(raw + offset, &number, sizeof(number));
}

static void put_number(unsigned char *raw, size_t offset, int32_t number) {
  memcpy(raw + offset, &number, sizeof(number));
}

/* Prints a record of the fields a: u8 1, f: int -7, n: int -1, e: u32
 * 3000000000, g: u64 10, z: u64 0, m: INT_MIN, s: char[8] without a NUL. */
#define TEXT_VALUES                                                            \
  TEXT_HEAD("values", 9)                                                       \
  TEXT_FIELD("u8 a", 8, 1, 0)                                                  \
  TEXT_FIELD("int f", 12, 4, 1)                                                \
  TEXT_FIELD("int n", 16, 4, 1)                                                \
  TEXT_FIELD("u32 e", 20, 4, 0)                                                \
  TEXT_FIELD("u64 g", 24, 8, 0)                                                \
  TEXT_FIELD("u64 z", 32, 8, 0)                                                \
  TEXT_FIELD("int m", 40, 4, 1)                                                \
  TEXT_FIELD("char s[8]", 48, 8, 0)                                            \
  TEXT_FIELD("u32 w[2]", 56, 8, 0)                                             \
  TEXT_FIELD("u8 u[16]", 64, 16, 0)                                            \
  TEXT_FIELD("__data_loc unsigned long[] k", 80, 4, 0) "\nprint fmt: "

static int print_values(const char *print_fmt, char *text, size_t size) {
  static const int32_t numbers[] = {-7, -1};
  uvperf_tracepoint_t *tracepoint;
  unsigned char raw[84 + 2 * sizeof(long)] = {0};
  char format[4096];
  uint64_t ten = 10;
  int rc;

  put_short(raw, 0, 9);
  raw[8] = 1;
  memcpy(raw + 12, numbers, sizeof(numbers));
  put_number(raw, 20, (int32_t)3000000000u);
  memcpy(raw + 24, &ten, sizeof(ten));
  put_number(raw, 40, INT32_MIN);
  memcpy(raw + 48, "eightchr", 8);
  put_number(raw, 56, 5);
  put_number(raw, 60, -6);
  memcpy(raw + 64, "\xfe\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\x12", 16);
  put_number(raw, 80, (int32_t)(84 | 2 * sizeof(long) << 16));
  raw[84] = 3;
  snprintf(format, sizeof(format), "%s%s\n", TEXT_VALUES, print_fmt);
  tracepoint = parsed(format);
  rc = uvperf_tracepoint_print(tracepoint, raw, sizeof(raw), text, &size);
  uvperf_tracepoint_free(tracepoint);
  return rc;
}

typedef struct sample_s {
  const char *print_fmt;
  const char *text;
} sample_t;

static inline void expect_samples(const sample_t *samples, size_t nr) {
  char text[400];
  size_t i;
  int rc;

  for (i = 0; i < nr; i++) {
    rc = print_values(samples[i].print_fmt, text, sizeof(text));
    if (rc != 0)
      fail_msg("%s: %d", samples[i].print_fmt, rc);
    if (strcmp(text, samples[i].text) != 0)
      fail_msg("%s: \"%s\", not \"%s\"", samples[i].print_fmt, text,
               samples[i].text);
  }
}

#define EXPECT_SAMPLES(samples)                                                \
  expect_samples(samples, sizeof(samples) / sizeof((samples)[0]))

/* Expects a code for each "print fmt". */
static inline void expect_code(int code, const char *const *print_fmts,
                               size_t nr) {
  char text[100];
  size_t i;

  for (i = 0; i < nr; i++)
    if (print_values(print_fmts[i], text, sizeof(text)) != code)
      fail_msg("%s", print_fmts[i]);
}

#endif
