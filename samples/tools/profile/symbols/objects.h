/* SPDX-License-Identifier: MIT */
/* The mapped objects and their open files. They are used on the loop and on
 * libuv's pool. */
#ifndef SYMBOLS_OBJECTS_H
#define SYMBOLS_OBJECTS_H

#include <stddef.h>
#include <stdint.h>

#include <uv.h>

#include "common/tally.h"
#include "profile/symbols/symbols.h"
#include "profile/symbols/worker.h"

typedef struct symbols_object_s {
  uint32_t id;
  char *path;
  symbols_mapping_t mapping; /* with that path; changes under the lock */
  /* Used on the pool. */
  int fd;      /* -1: not open */
  int debug;   /* its debug file, if the worker found none; or -1 */
  int process; /* for a JIT: its directory in /proc; or -1 */
  int was_tried;
  int has_looked_for_debug; /* which the worker did not find */
  uint64_t changed;  /* when the file had been changed, at the first opening */
  int is_complete;   /* its map file does not change any more */
  int has_bad_dwarf; /* it took too long, or ended the worker */
  uint64_t used;
  char open_reason[SYMBOLS_REASON_BYTES];
  /* Used under the lock. */
  struct symbols_object_s *next_to_open;
  int was_added, is_to_open, has_failed;
} symbols_object_t;

typedef struct symbols_objects_s {
  symbols_object_t **objects; /* by id - 1 */
  size_t nr, capacity;
  common_tally_t keys; /* the weight is the index */
  uv_mutex_t lock;
  symbols_object_t *to_open;
  /* Used on the pool. */
  symbols_object_t **open;
  size_t nr_open, max_open;
  uint64_t clock;
} symbols_objects_t;

void symbols_objects_init(symbols_objects_t *objects);
void symbols_objects_free(symbols_objects_t *objects);

/* Call it on the loop. Returns the object of a mapping, or NULL if there is no
 * room. If *must_open is set, call symbols_objects_open soon to open the
 * object's file. */
symbols_object_t *symbols_objects_get(symbols_objects_t *objects,
                                      const symbols_mapping_t *mapping,
                                      int *must_open);

/* Returns 1 if there are files to open. */
int symbols_objects_must_open(symbols_objects_t *objects);

/* Call it on the pool. Opens the files of new objects. At most a fixed number
 * of files stay open. */
void symbols_objects_open(symbols_objects_t *objects);

/* Call it on the pool. Returns the object's file, which the object owns, or -1
 * with open_reason. */
int symbols_objects_file(symbols_objects_t *objects, symbols_object_t *object);

#endif
