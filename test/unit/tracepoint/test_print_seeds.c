/* SPDX-License-Identifier: MIT */
/* Replays the seeds of the fuzzer of formats and records, and random variants
 * of them. */
#include "support.h"

#include "check_tracepoint.h"
#include "make_record.h"
#include "make_seeds.h"

#define MUTATIONS 400
#define RECORDS   400
#define RAW_BYTES 132

/* A text, a NUL and a record. */
static int check(const seed_t *seed) {
  const char *fault;
  int rc;

  fault = check_tracepoint(seed->bytes, seed->size, &rc);
  if (fault != NULL)
    fail_msg("%s: %s", seed->name, fault);
  return rc;
}

/* Where the three dynamic fields are, and how many bytes they have. */
static void place(uint8_t *raw) {
  static const uint32_t places[] = {100 | 8u << 16, 12 | 8u << 16,
                                    116 | 16u << 16};

  memcpy(raw + 88, places, sizeof(places));
}

/* Some random records are refused, because they divide by zero or have fewer
 * bytes than are printed. */
static void with_records(seed_t *seed, void *arg) {
  uint64_t random = seed->size;
  uint8_t *raw = seed->bytes + seed->size + 1;
  int i, j, rc, nr = 0;

  raw[-1] = '\0';
  seed->size += 1 + RAW_BYTES;
  for (i = 0; i < RECORDS; i++) {
    for (j = 0; j < RAW_BYTES; j++)
      raw[j] = i == 0 || record_random(&random) % 3 == 0
                   ? 0
                   : (uint8_t)record_random(&random);
    place(raw);
    rc = check(seed);
    assert_int_not_equal(rc, -ENOTSUP);
    nr += rc == -ENOBUFS;
  }
  if (nr == 0)
    fail_msg("%s: no record was printed", seed->name);
}

static void seeds_print_random_records(void **state) {
  seeds_each("tracepoint", 10, with_records, NULL);
}

static void mutate(seed_t *seed, void *arg) {
  static const char bytes[] = "\"%*[](){}?:/<>&|-REC->f0\\,";
  static seed_t mutated;
  uint64_t random = seed->size;
  unsigned i, j;

  for (i = 0; i < MUTATIONS; i++) {
    mutated = *seed;
    for (j = 0; j < 1 + i % 4; j++)
      mutated.bytes[record_random(&random) % seed->size] =
          (uint8_t)bytes[record_random(&random) % (sizeof(bytes) - 1)];
    check(&mutated);
  }
}

static void mutated_seeds_raise_no_signal(void **state) {
  seeds_each("tracepoint", 10, mutate, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(seeds_print_random_records),
      cmocka_unit_test(mutated_seeds_raise_no_signal),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
