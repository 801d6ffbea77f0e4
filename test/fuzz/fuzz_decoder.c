/* SPDX-License-Identifier: MIT */
/* libFuzzer's target for the decoder of records:
 *
 *   CC=clang cmake -S . -B build/fuzz -DUVPERF_FUZZ=ON
 *   make -C build/fuzz fuzz_decoder
 *   mkdir -p build/corpus_decoder
 *   build/fuzz/test/fuzz/fuzz_decoder -max_total_time=300 \
 *     build/corpus_decoder test/fuzz/decoder
 *
 * Its findings go into build/corpus_decoder. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "check_decoder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  unsigned decoded;
  const char *fault = check_decoder(data, size, &decoded);

  if (fault != NULL) {
    fprintf(stderr, "%s\n", fault);
    abort();
  }
  return 0;
}
