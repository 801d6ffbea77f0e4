/* SPDX-License-Identifier: MIT */
/* Finds the functions that were inlined at an address, from DWARF. */
#ifndef SYMBOLS_INLINED_H
#define SYMBOLS_INLINED_H

#include <stddef.h>
#include <stdint.h>

#include "profile/symbols/elf_file.h"

/* If more functions are inlined into each other, the inner functions are left
 * out. */
#define SYMBOLS_MAX_INLINED 64

typedef struct symbols_frame_s {
  const char *name; /* in the file's memory; NULL: not known */
  const char *file; /* of its source at this address, or NULL */
  uint32_t line;
} symbols_frame_t;

typedef struct symbols_frames_s {
  symbols_frame_t *frames; /* the innermost first; the last one is the function
                              into which the others are inlined */
  size_t nr;               /* 0: nothing is known of this address */
} symbols_frames_t;

/* Fills frames[i] for each address. The addresses must be in ascending
 * order. */
void symbols_inlined_find(symbols_elf_file_t *file, const uint64_t *addresses,
                          size_t nr, symbols_frames_t *frames);
void symbols_inlined_free(symbols_frames_t *frames, size_t nr);

#endif
