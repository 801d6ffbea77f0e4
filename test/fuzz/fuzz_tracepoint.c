/* SPDX-License-Identifier: MIT */
/* libFuzzer's target for the text of a tracepoint's record, formats × records
 * (see support/check_tracepoint.h for an input):
 *
 *   CC=clang cmake -S . -B build/fuzz -DUVPERF_FUZZ=ON
 *   make -C build/fuzz fuzz_tracepoint
 *   mkdir -p build/corpus_tracepoint
 *   build/fuzz/test/fuzz/fuzz_tracepoint -max_total_time=300 \
 *     build/corpus_tracepoint test/fuzz/tracepoint
 *
 * Its findings go into build/corpus_tracepoint. Format files of any kernel are
 * good seeds too. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "check_tracepoint.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  int rc;
  const char *fault = check_tracepoint(data, size, &rc);

  if (fault != NULL) {
    fprintf(stderr, "%s\n", fault);
    abort();
  }
  return 0;
}
