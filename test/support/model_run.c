/* SPDX-License-Identifier: MIT */
#include "model_run.h"

#include <inttypes.h>

#include "support.h"

void model_run_seed(model_run_t *run, uint64_t seed) {
  run->random = seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
}

/* xorshift64 */
uint64_t model_run_draw(model_run_t *run, uint64_t below) {
  run->random ^= run->random << 13;
  run->random ^= run->random >> 7;
  run->random ^= run->random << 17;
  return (run->random >> 11) % below;
}

void model_run_expect(model_run_t *run, int is_so, const char *what,
                      int64_t value) {
  if (is_so || run->fault[0] != '\0')
    return;
  snprintf(run->fault, sizeof(run->fault), "%s: %s (%lld)", run->call, what,
           (long long)value);
}

void model_run_check(const model_run_t *run, uint64_t seed) {
  if (run->fault[0] != '\0')
    fail_msg("seed %llu, step %d: %s", (unsigned long long)seed, run->step,
             run->fault);
}

void model_run_seeds(uint64_t usual_last, uint64_t *first, uint64_t *last) {
  const char *seeds = getenv("UVPERF_RANDOM_SEEDS");

  *first = 1;
  *last = usual_last;
  if (seeds != NULL)
    assert_int_equal(sscanf(seeds, "%" SCNu64 ":%" SCNu64, first, last), 2);
}
