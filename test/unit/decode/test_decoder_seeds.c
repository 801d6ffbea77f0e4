/* SPDX-License-Identifier: MIT */
/* Replays the seeds of the decoder's fuzzer, and random variants of them. */
#include "support.h"

#include "check_decoder.h"
#include "make_record.h"
#include "make_seeds.h"

#define MUTATIONS 400

static unsigned check(const seed_t *seed) {
  unsigned decoded;
  const char *fault = check_decoder(seed->bytes, seed->size, &decoded);

  if (fault != NULL)
    fail_msg("%s: %s", seed->name, fault);
  return decoded;
}

/* A record and a SWITCH after it, by the decoder of two sources and by that of
 * one. To the latter, records with another id or place have no source. */
static void replay(seed_t *seed, void *arg) {
  assert_in_range(check(seed), 2, 4);
}

static void seeds_decode_within_their_bytes(void **state) {
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
  support_skip(__func__, "a little-endian machine, as the seeds are");
#endif
  seeds_each("decoder", 22, replay, NULL);
}

static void mutate(seed_t *seed, void *arg) {
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
    check(&mutated);
  }
}

static void mutated_seeds_decode_within_their_bytes(void **state) {
  seeds_each("decoder", 22, mutate, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(seeds_decode_within_their_bytes),
      cmocka_unit_test(mutated_seeds_decode_within_their_bytes),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
