/* SPDX-License-Identifier: MIT */
/* Replays the seeds of the decoder's fuzzer, and random variants of them. */
#include "support.h"

#include <dirent.h>

#include "check_decoder.h"
#include "make_record.h"

#define SEEDS     UVPERF_TEST_DIR "/fuzz/decoder"
#define MOST_SEED 4096
#define MUTATIONS 400

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
  seed->size = fread(seed->bytes, 1, MOST_SEED, file);
  assert_int_equal(fclose(file), 0);
}

static unsigned check(const char *name, const seed_t *seed) {
  unsigned decoded;
  const char *fault = check_decoder(seed->bytes, seed->size, &decoded);

  if (fault != NULL)
    fail_msg("%s: %s", name, fault);
  return decoded;
}

static int is_seed(const struct dirent *entry) {
  return entry->d_name[0] != '.';
}

static void each_seed(void (*each)(const char *name, const seed_t *seed)) {
  struct dirent **entries;
  static seed_t seed;
  int nr = scandir(SEEDS, &entries, is_seed, alphasort);
  int i;

  assert_true(nr > 22);
  for (i = 0; i < nr; i++) {
    read_seed(entries[i]->d_name, &seed);
    each(entries[i]->d_name, &seed);
    free(entries[i]);
  }
  free(entries);
}

/* A record and a SWITCH after it, by the decoder of two sources and by that of
 * one. To the latter, records with another id or place have no source. */
static void replay(const char *name, const seed_t *seed) {
  assert_in_range(check(name, seed), 2, 4);
}

static void seeds_decode_within_their_bytes(void **state) {
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
  support_skip(__func__, "a little-endian machine, as the seeds are");
#endif
  each_seed(replay);
}

static void mutate(const char *name, const seed_t *seed) {
  static seed_t mutated;
  uint64_t random = seed->size;
  unsigned i, j;

  for (i = 0; i < MUTATIONS; i++) {
    mutated = *seed;
    for (j = 0; j < 1 + i % 4; j++)
      mutated.bytes[record_random(&random) % seed->size] ^=
          (uint8_t)(1u << record_random(&random) % 8);
    if (i % 8 == 0)
      mutated.size = (size_t)(record_random(&random) % seed->size);
    check(name, &mutated);
  }
}

static void mutated_seeds_decode_within_their_bytes(void **state) {
  each_seed(mutate);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(seeds_decode_within_their_bytes),
      cmocka_unit_test(mutated_seeds_decode_within_their_bytes),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
