/* SPDX-License-Identifier: MIT */
/* For builds with libzstd. */
#include "common/recording/unpack.h"

#include <stdlib.h>

#include <zstd.h>

#include "common/memory.h"

struct recording_unpack_s {
  ZSTD_DStream *stream;
  ZSTD_inBuffer piece;
  int is_pending; /* there may be output without more input */
};

recording_unpack_t *recording_unpack_new(void) {
  recording_unpack_t *unpack = common_calloc(1, sizeof(*unpack));

  unpack->stream = ZSTD_createDStream();
  return unpack;
}

void recording_unpack_free(recording_unpack_t *unpack) {
  if (unpack != NULL)
    ZSTD_freeDStream(unpack->stream);
  free(unpack);
}

void recording_unpack_add(recording_unpack_t *unpack, const void *piece,
                          size_t size) {
  unpack->piece.src = piece;
  unpack->piece.size = size;
  unpack->piece.pos = 0;
}

/* The library itself limits the memory: it refuses windows of more than 128
 * MiB. */
long recording_unpack_more(recording_unpack_t *unpack, void *buffer,
                           size_t size) {
  ZSTD_outBuffer out = {buffer, size, 0};

  while (out.pos == 0 &&
         (unpack->piece.pos < unpack->piece.size || unpack->is_pending)) {
    size_t rc = ZSTD_decompressStream(unpack->stream, &out, &unpack->piece);
    if (ZSTD_isError(rc))
      return -1;
    unpack->is_pending = out.pos == out.size;
  }
  return (long)out.pos;
}
