/* SPDX-License-Identifier: MIT */
/* The mapped objects and their open files: on the loop and on libuv's pool. */
#ifndef SYMBOLS_OBJECTS_H
#define SYMBOLS_OBJECTS_H

#include <stddef.h>
#include <stdint.h>

#include <uv.h>

#include "common/symbols/symbols.h"
#include "common/symbols/worker.h"

typedef struct symbols_object_s {
  uint32_t id;
  char *path;
  symbols_mapping_t mapping; /* with that path; changes under the lock */
  /* On the pool. */
  int fd;      /* -1: not open */
  int process; /* of a JIT: its directory in /proc; or -1 */
  int was_tried;
  int has_bad_dwarf; /* it took too long, or ended the worker */
  uint64_t used;
  char open_reason[SYMBOLS_REASON_BYTES];
  /* Under the lock. */
  struct symbols_object_s *next_to_open;
  int was_added, is_to_open, has_failed;
} symbols_object_t;

/* Past this many there is no room. */
#define SYMBOLS_MAX_OBJECTS 65536

typedef struct symbols_objects_s {
  symbols_object_t **objects; /* by id - 1 */
  size_t nr, capacity;
  uint32_t *buckets; /* id, or 0 */
  size_t nr_buckets;
  uv_mutex_t lock;
  symbols_object_t *to_open;
  /* On the pool. */
  symbols_object_t **open;
  size_t nr_open, max_open;
  uint64_t clock;
} symbols_objects_t;

void symbols_objects_init(symbols_objects_t *objects);
void symbols_objects_free(symbols_objects_t *objects);

/* On the loop: the object of a mapping, or NULL without room. *must_open: its
 * file is to be opened by symbols_objects_open soon. */
symbols_object_t *symbols_objects_get(symbols_objects_t *objects,
                                      const symbols_mapping_t *mapping,
                                      int *must_open);

/* Whether there are such files. */
int symbols_objects_must_open(symbols_objects_t *objects);

/* On the pool: opens the files of objects that were added; keeps a bounded
 * number of them open. */
void symbols_objects_open(symbols_objects_t *objects);

/* On the pool: the object's file, which stays the object's; -1 with
 * open_reason. */
int symbols_objects_file(symbols_objects_t *objects, symbols_object_t *object);

#endif
