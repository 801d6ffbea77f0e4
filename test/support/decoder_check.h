/* SPDX-License-Identifier: MIT */
/* What must hold of the decoder whatever the attrs and the bytes: for the
 * fuzzer, and for the replay of its seeds. Without cmocka. */
#ifndef UVPERF_TEST_DECODER_CHECK_H
#define UVPERF_TEST_DECODER_CHECK_H

#include <stddef.h>
#include <stdint.h>

/* What the bytes begin with: how records are to be read that follow it, one
 * behind the other. Those with the id 100 are the first source's, those with
 * 101 the second's. */
typedef struct decoder_check_s {
  uint64_t sample_type[2];
  uint64_t branch_sample_type;
  uint64_t read_format;
  uint64_t regs_user;
  uint64_t regs_intr;
  uint64_t sample_id_all; /* of the first: its lowest bit */
} decoder_check_t;

/* Decodes the records, each from memory of its own size, by a decoder that
 * knows both sources (where they can be told apart) and by one that knows the
 * first alone. NULL, or what was wrong; *decoded counts those that were
 * right. */
const char *decoder_check(const uint8_t *data, size_t size, unsigned *decoded);

#endif
