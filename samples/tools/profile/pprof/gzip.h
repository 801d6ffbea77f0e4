/* SPDX-License-Identifier: MIT */
/* Writes bytes to a file in gzip format. */
#ifndef PPROF_GZIP_H
#define PPROF_GZIP_H

#include <stddef.h>
#include <stdio.h>
#define ZLIB_CONST
#include <zlib.h>

typedef struct pprof_gzip_s {
  FILE *file;
  z_stream stream;
  int error; /* 0, or the first -errno; nothing is written after it */
  unsigned char out[32768];
} pprof_gzip_t;

void pprof_gzip_init(pprof_gzip_t *gzip, FILE *file);
void pprof_gzip_write(pprof_gzip_t *gzip, const void *bytes, size_t nr);

/* Writes the rest and frees everything. Returns 0, or the first error as
 * -errno. */
int pprof_gzip_end(pprof_gzip_t *gzip);

#endif
