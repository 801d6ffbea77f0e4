/* SPDX-License-Identifier: MIT */
/* For builds without libzstd. */
#include "common/recording/unpack.h"

recording_unpack_t *recording_unpack_new(void) {
  return NULL;
}

void recording_unpack_free(recording_unpack_t *unpack) {
  (void)unpack;
}

void recording_unpack_add(recording_unpack_t *unpack, const void *piece,
                          size_t size) {
  (void)unpack;
  (void)piece;
  (void)size;
}

long recording_unpack_more(recording_unpack_t *unpack, void *buffer,
                           size_t size) {
  (void)unpack;
  (void)buffer;
  (void)size;
  return -1;
}
