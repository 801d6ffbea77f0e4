/* SPDX-License-Identifier: MIT */
/* Asks for the names at some offsets of one object, on libuv's pool. */
#ifndef SYMBOLS_QUESTION_H
#define SYMBOLS_QUESTION_H

#include <stddef.h>
#include <stdint.h>

#include "profile/symbols/kallsyms.h"
#include "profile/symbols/objects.h"
#include "profile/symbols/strings.h"
#include "profile/symbols/symbols.h"
#include "profile/symbols/worker.h"

typedef struct symbols_result_s {
  uint64_t offset;
  symbols_place_t place;
  uint64_t first, end; /* offsets with the same name; end 0: not known */
} symbols_result_t;

/* State that is shared by successive questions. */
typedef struct symbols_asker_s {
  symbols_objects_t objects;
  symbols_strings_t strings; /* of all names */
  symbols_kallsyms_t kernel;
  int has_kernel;
  /* Options. */
  int inlined;
  char *kallsyms, *debug_path;
  uint64_t kernel_shift;
  /* Room. */
  symbols_message_t request, response;
} symbols_asker_t;

/* If this is the only offset, the file is not read, and only its time is
 * answered. */
#define SYMBOLS_NO_OFFSET UINT64_MAX

typedef struct symbols_question_s {
  symbols_object_t *object; /* NULL: the kernel */
  int inlined;
  uint64_t limit_ms;  /* for the answer */
  int kernel_changed; /* kallsyms is read again */
  uint64_t *offsets;
  size_t nr;
  /* The answer. */
  /* Results, sorted by offset, one for each offset. There is room for twice as
   * many results, because the worker can send wrong results. */
  symbols_result_t *results;
  size_t nr_results;
  char reason[SYMBOLS_REASON_BYTES]; /* "" if there are names */
  int is_hopeless;                   /* the object must not be asked again */
  int is_late;                       /* there was no answer in time */
  int is_canceled; /* not answered, but not because of the object */
  int lacks_debug; /* the worker did not find its debug file */
  /* When the file was changed last, in nanoseconds since 1970; 0: it has not
   * been read. */
  uint64_t changed;
  uint64_t inode; /* of the file */
  int is_changed; /* since it was first opened */
  int is_read;    /* the worker has looked at the functions of the file */
  uint64_t used_ms;
  uint64_t begin_ns; /* private */
  unsigned char build_id[20];
  size_t build_id_bytes;
} symbols_question_t;

/* The caller owns the memory of offsets and results. */
void symbols_question_ask(symbols_question_t *question, symbols_asker_t *asker,
                          symbols_worker_t *worker);

#endif
