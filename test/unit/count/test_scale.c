/* SPDX-License-Identifier: MIT */
/* Scaling, compared with integers of any size. */
#include "support.h"

#include <linux/perf_event.h>

#include "count/count.h"

#include "make_record.h"

/* -- integers of any size, in digits of 16 bits --------------------------- */

#define DIGITS 12

typedef struct number_s {
  uint16_t digits[DIGITS]; /* the lowest first */
} number_t;

static number_t number_of(uint64_t value) {
  number_t number = {{0}};
  int i;

  for (i = 0; i < 4; i++)
    number.digits[i] = (uint16_t)(value >> 16 * i);
  return number;
}

static number_t add(const number_t *a, const number_t *b) {
  number_t sum;
  uint32_t carry = 0;
  int i;

  for (i = 0; i < DIGITS; i++) {
    carry += (uint32_t)a->digits[i] + b->digits[i];
    sum.digits[i] = (uint16_t)carry;
    carry >>= 16;
  }
  assert_int_equal(carry, 0);
  return sum;
}

static number_t multiply(const number_t *a, const number_t *b) {
  number_t product = {{0}};
  int i, j;

  for (i = 0; i < DIGITS; i++) {
    uint32_t carry = 0;

    for (j = 0; i + j < DIGITS; j++) {
      carry += (uint32_t)a->digits[i] * b->digits[j] + product.digits[i + j];
      product.digits[i + j] = (uint16_t)carry;
      carry >>= 16;
    }
  }
  return product;
}

static int is_less(const number_t *a, const number_t *b) {
  int i;

  for (i = DIGITS - 1; i >= 0; i--)
    if (a->digits[i] != b->digits[i])
      return a->digits[i] < b->digits[i];
  return 0;
}

/* Whether a * b < c * d. */
static int product_is_less(const number_t *a, const number_t *b,
                           const number_t *c, const number_t *d) {
  number_t left = multiply(a, b), right = multiply(c, d);

  return is_less(&left, &right);
}

/* -- scaling -------------------------------------------------------------- */

/* Checks uvperf__count_scale by its definition: scaled is the greatest number
 * with scaled * running <= value * enabled. Returns the code. */
static int assert_scaled(uint64_t value, uint64_t enabled, uint64_t running) {
  number_t v = number_of(value), e = number_of(enabled), r = number_of(running);
  number_t one = number_of(1), greatest = number_of(UINT64_MAX), next, result;
  uint64_t scaled = 42;
  int rc = uvperf__count_scale(value, enabled, running, &scaled);

  if (running >= enabled) {
    assert_int_equal(rc, 0);
    assert_int_equal(scaled, value);
    return rc;
  }
  if (running == 0) {
    assert_int_equal(rc, -ENODATA);
    assert_int_equal(scaled, 0);
    return rc;
  }
  next = add(&greatest, &one);
  if (!product_is_less(&v, &e, &next, &r)) {
    assert_int_equal(rc, -EOVERFLOW);
    assert_int_equal(scaled, UINT64_MAX);
    return rc;
  }
  assert_int_equal(rc, 0);
  result = number_of(scaled);
  next = add(&result, &one);
  assert_false(product_is_less(&v, &e, &result, &r));
  assert_true(product_is_less(&v, &e, &next, &r));
  return rc;
}

/* Of any size: most of the 2^64 numbers have 64 bits. Half of those are near
 * 2^64. */
static uint64_t any(uint64_t *random) {
  uint64_t bits = record_random(random) % 66;

  if (bits == 65)
    return UINT64_MAX - record_random(random) % 1000;
  return bits == 0 ? 0 : record_random(random) >> (64 - bits);
}

static void scale_of_random_numbers_is_exact(void **state) {
  uint64_t random = 1;
  int i, exact = 0, too_much = 0, wide = 0;

  for (i = 0; i < 10000; i++) {
    uint64_t value = any(&random), a = any(&random), b = any(&random);
    uint64_t enabled = a > b ? a : b, running = a > b ? b : a;
    int rc = assert_scaled(value, enabled, running);

    exact += rc == 0 && running < enabled;
    wide += rc == 0 && running < enabled && value != 0 &&
            enabled > UINT64_MAX / value;
    too_much += rc == -EOVERFLOW;
  }
  /* All three kinds were tried. */
  assert_true(exact > 5000);
  assert_true(wide > 1000);
  assert_true(too_much > 1000);
}

/* Like the times of a set: two that are near each other. */
static void scale_of_random_times_near_2_to_the_64_is_exact(void **state) {
  uint64_t random = 2;
  int i, exact = 0;

  for (i = 0; i < 10000; i++) {
    uint64_t value = UINT64_MAX - record_random(&random) % 100000;
    uint64_t enabled = UINT64_MAX - record_random(&random) % 1000;
    uint64_t running = enabled - record_random(&random) % 10;

    exact += assert_scaled(value, enabled, running) == 0;
    exact += assert_scaled(value - 100000, enabled, running) == 0;
  }
  assert_true(exact > 10000);
}

static void scale_at_each_edge_is_exact(void **state) {
  uint64_t edges[64 * 3 + 1], nr = 0, i, j, k;

  for (i = 0; i < 64; i += i < 3 || i > 60 ? 1 : 4) {
    edges[nr++] = (UINT64_C(1) << i) - 1;
    edges[nr++] = UINT64_C(1) << i;
    edges[nr++] = (UINT64_C(1) << i) + 1;
  }
  edges[nr++] = UINT64_MAX;
  for (i = 0; i < nr; i++)
    for (j = 0; j < nr; j++)
      for (k = 0; k < nr; k++)
        assert_scaled(edges[i], edges[j], edges[k]);
}

#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 compilers_t;

static void scale_equals_the_compilers_128_bits(void **state) {
  uint64_t random = 3, scaled;
  int i;

  for (i = 0; i < 100000; i++) {
    uint64_t value = any(&random), a = any(&random), b = any(&random);
    uint64_t enabled = a > b ? a : b, running = a > b ? b : a;
    compilers_t exact;

    if (running == 0 || running == enabled)
      continue;
    exact = (compilers_t)value * enabled / running;
    assert_int_equal(uvperf__count_scale(value, enabled, running, &scaled),
                     exact > UINT64_MAX ? -EOVERFLOW : 0);
    assert_int_equal(scaled, exact > UINT64_MAX ? UINT64_MAX : (uint64_t)exact);
  }
}
#else
static void scale_equals_the_compilers_128_bits(void **state) {
  support_skip(__func__, "a compiler with 128 bits");
}
#endif

static void scale_rounds_down(void **state) {
  uint64_t scaled;

  assert_int_equal(uvperf__count_scale(10, 100, 50, &scaled), 0);
  assert_int_equal(scaled, 20);
  assert_int_equal(uvperf__count_scale(10, 100, 51, &scaled), 0);
  assert_int_equal(scaled, 19);
  assert_int_equal(uvperf__count_scale(0, 100, 51, &scaled), 0);
  assert_int_equal(scaled, 0);
}

static void scale_of_what_always_ran_is_the_value(void **state) {
  uint64_t scaled;

  assert_int_equal(uvperf__count_scale(UINT64_MAX, 100, 100, &scaled), 0);
  assert_int_equal(scaled, UINT64_MAX);
  assert_int_equal(uvperf__count_scale(7, 100, 101, &scaled), 0);
  assert_int_equal(scaled, 7);
  assert_int_equal(uvperf__count_scale(7, 0, 0, &scaled), 0);
  assert_int_equal(scaled, 7);
}

static void scale_of_what_never_ran_is_enodata(void **state) {
  uint64_t scaled = 42;

  assert_int_equal(uvperf__count_scale(7, 1, 0, &scaled), -ENODATA);
  assert_int_equal(scaled, 0);
}

static void scale_beyond_64_bits_is_eoverflow(void **state) {
  uint64_t scaled;

  assert_int_equal(uvperf__count_scale(UINT64_MAX, 2, 1, &scaled), -EOVERFLOW);
  assert_int_equal(scaled, UINT64_MAX);
  assert_int_equal(uvperf__count_scale(UINT64_C(1) << 63, 2, 1, &scaled),
                   -EOVERFLOW);
  assert_int_equal(scaled, UINT64_MAX);
  assert_int_equal(uvperf__count_scale(UINT64_MAX / 2, 2, 1, &scaled), 0);
  assert_int_equal(scaled, UINT64_MAX - 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(scale_of_random_numbers_is_exact),
      cmocka_unit_test(scale_of_random_times_near_2_to_the_64_is_exact),
      cmocka_unit_test(scale_at_each_edge_is_exact),
      cmocka_unit_test(scale_equals_the_compilers_128_bits),
      cmocka_unit_test(scale_rounds_down),
      cmocka_unit_test(scale_of_what_always_ran_is_the_value),
      cmocka_unit_test(scale_of_what_never_ran_is_enodata),
      cmocka_unit_test(scale_beyond_64_bits_is_eoverflow),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
