/* SPDX-License-Identifier: MIT */
/* Properties of the decoder that hold for any attrs and bytes, for the fuzzer
 * and for the replay of its seeds. Does not need cmocka. */
#ifndef UVPERF_TEST_CHECK_DECODER_H
#define UVPERF_TEST_CHECK_DECODER_H

#include <stddef.h>
#include <stdint.h>

/* The input begins with this: how to read the records that follow it. Records
 * with id 100 are the first source's, those with 101 the second's. */
typedef struct check_decoder_s {
  uint64_t sample_type[2];
  uint64_t branch_sample_type;
  uint64_t read_format;
  uint64_t regs_user;
  uint64_t regs_intr;
  uint64_t sample_id_all; /* of the first source: the lowest bit */
} check_decoder_t;

/* Decodes the records, each from memory of its exact size, with a decoder that
 * knows both sources (if they can be distinguished) and with one that knows
 * only the first. Returns NULL, or a description of the fault; *decoded counts
 * the records that were right. */
const char *check_decoder(const uint8_t *data, size_t size, unsigned *decoded);

#endif
