/* SPDX-License-Identifier: MIT */
/* The worker's answer about offsets of an object. Requests for names and for a
 * JIT's names have this response:
 *
 *   text    why there are no names; "" if there are some
 *   bytes   build id
 *   number  1: its debug file is missing; another one may be sent
 *   number  of offsets that the object has, in any order; for each
 *     number  the offset
 *     number  its address, as in the symbol table
 *     number  the first offset of the function that holds it
 *     number  the first one after it; 0: no function holds it
 *     number  of names, the innermost inlined first; for each
 *       text    name, demangled
 *       text    name, as it is linked
 *       text    file of the source
 *       number  line */
#ifndef SYMBOLS_ANSWER_H
#define SYMBOLS_ANSWER_H

#include <stddef.h>
#include <stdint.h>

#include "profile/symbols/wire.h"

/* Names are cut to fit, with a NUL. */
#define SYMBOLS_NAME_BYTES 4096
/* Offsets in one question. */
#define SYMBOLS_MAX_OFFSETS 16384

void symbols_answer_begin(symbols_message_t *response, const char *reason,
                          const void *build_id, size_t build_id_bytes,
                          int lacks_debug, size_t nr_offsets);
void symbols_answer_place(symbols_message_t *response, uint64_t offset,
                          uint64_t address, uint64_t first, uint64_t end,
                          size_t nr_names);
/* Demangles the name, and adds the suffix to both forms of the name. */
void symbols_answer_name(symbols_message_t *response, const char *name,
                         const char *suffix, const char *file, uint32_t line);

#endif
