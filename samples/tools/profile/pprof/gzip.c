/* SPDX-License-Identifier: MIT */
/* A gzip stream, by zlib. */
#include "profile/pprof/gzip.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

/* The largest window, and a header of gzip instead of zlib's own. */
#define WINDOW_BITS (15 + 16)
#define MEMORY      8

void pprof_gzip_init(pprof_gzip_t *gzip, FILE *file) {
  memset(&gzip->stream, 0, sizeof(gzip->stream));
  gzip->file = file;
  gzip->error = 0;
  if (deflateInit2(&gzip->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
                   WINDOW_BITS, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
    gzip->error = -ENOMEM;
}

static void run(pprof_gzip_t *gzip, int flush) {
  size_t nr;

  do {
    gzip->stream.next_out = gzip->out;
    gzip->stream.avail_out = sizeof(gzip->out);
    deflate(&gzip->stream, flush);
    nr = sizeof(gzip->out) - gzip->stream.avail_out;
    if (fwrite(gzip->out, 1, nr, gzip->file) != nr)
      gzip->error = errno != 0 ? -errno : -EIO;
  } while (gzip->error == 0 && gzip->stream.avail_out == 0);
}

void pprof_gzip_write(pprof_gzip_t *gzip, const void *bytes, size_t nr) {
  if (gzip->error != 0)
    return;
  if (nr > UINT_MAX) {
    gzip->error = -EFBIG;
    return;
  }
  gzip->stream.next_in = bytes;
  gzip->stream.avail_in = (uInt)nr;
  run(gzip, Z_NO_FLUSH);
}

int pprof_gzip_end(pprof_gzip_t *gzip) {
  if (gzip->error == 0)
    run(gzip, Z_FINISH);
  if (gzip->error == 0 && fflush(gzip->file) != 0)
    gzip->error = -errno;
  deflateEnd(&gzip->stream);
  return gzip->error;
}
