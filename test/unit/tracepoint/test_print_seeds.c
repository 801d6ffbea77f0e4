/* SPDX-License-Identifier: MIT */
/* Replays the seeds of the fuzzer of formats and records, and random variants
 * of them. */
#include "support.h"

#include <dirent.h>

#include "make_record.h"
#include "check_tracepoint.h"

#define SEEDS     UVPERF_TEST_DIR "/fuzz/tracepoint"
#define MOST_SEED 2048
#define MUTATIONS 400
#define RECORDS   400
#define RAW_BYTES 132

/* A text, a NUL and a record. */
typedef struct seed_s {
  uint8_t bytes[MOST_SEED];
  size_t size;
} seed_t;

static void read_seed(const char *name, seed_t *seed) {
  char path[512];
  FILE *file;

  snprintf(path, sizeof(path), SEEDS "/%s", name);
  file = fopen(path, "re");
  assert_non_null(file);
  seed->size = fread(seed->bytes, 1, MOST_SEED - 256, file);
  assert_int_equal(fclose(file), 0);
}

static int check(const char *name, const seed_t *seed) {
  const char *fault;
  int rc;

  fault = check_tracepoint(seed->bytes, seed->size, &rc);
  if (fault != NULL)
    fail_msg("%s: %s", name, fault);
  return rc;
}

static int is_seed(const struct dirent *entry) {
  return entry->d_name[0] != '.';
}

static void each_seed(void (*each)(const char *name, seed_t *seed)) {
  struct dirent **entries;
  static seed_t seed;
  int nr = scandir(SEEDS, &entries, is_seed, alphasort);
  int i;

  assert_true(nr > 10);
  for (i = 0; i < nr; i++) {
    read_seed(entries[i]->d_name, &seed);
    each(entries[i]->d_name, &seed);
    free(entries[i]);
  }
  free(entries);
}

/* Where the three dynamic fields are, and how many bytes they have. */
static void place(uint8_t *raw) {
  static const uint32_t places[] = {100 | 8u << 16, 12 | 8u << 16,
                                    116 | 16u << 16};

  memcpy(raw + 88, places, sizeof(places));
}

/* Some random records are refused, because they divide by zero or have fewer
 * bytes than are printed. */
static void with_records(const char *name, seed_t *seed) {
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
    rc = check(name, seed);
    assert_int_not_equal(rc, -ENOTSUP);
    nr += rc == -ENOBUFS;
  }
  if (nr == 0)
    fail_msg("%s: no record was printed", name);
}

static void seeds_print_random_records(void **state) {
  each_seed(with_records);
}

static void mutate(const char *name, seed_t *seed) {
  static const char bytes[] = "\"%*[](){}?:/<>&|-REC->f0\\,";
  static seed_t mutated;
  uint64_t random = seed->size;
  unsigned i, j;

  for (i = 0; i < MUTATIONS; i++) {
    mutated = *seed;
    for (j = 0; j < 1 + i % 4; j++)
      mutated.bytes[record_random(&random) % seed->size] =
          (uint8_t)bytes[record_random(&random) % (sizeof(bytes) - 1)];
    check(name, &mutated);
  }
}

static void mutated_seeds_raise_no_signal(void **state) {
  each_seed(mutate);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(seeds_print_random_records),
      cmocka_unit_test(mutated_seeds_raise_no_signal),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
