/* SPDX-License-Identifier: MIT */
/* Rooms are kept once they are there: who delivers inside of a callback does it
 * again. */
#include "ring/scratch.h"

#include <errno.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>

#include "ring/ring.h"
#include "util/alloc.h"

typedef struct room_s room_t;
struct room_s {
  room_t *inner; /* of a delivery inside of this one's; NULL: none yet */
  /* As a record in a ring: on i386 an alignas(uint64_t) is of 4. */
  alignas(8) uint8_t bytes[UVPERF__RING_SCRATCH_BYTES];
};

struct uvperf__scratch_s {
  size_t users;
  /* Deliveries that are going on, each inside of the one before. */
  size_t depth;
  room_t outer;
};

uvperf__scratch_t *uvperf__scratch_new(void) {
  uvperf__scratch_t *scratch = uvperf__calloc(1, sizeof(*scratch));

  if (scratch != NULL)
    scratch->users = 1;
  return scratch;
}

uvperf__scratch_t *uvperf__scratch_share(uvperf__scratch_t *scratch) {
  scratch->users += 1;
  return scratch;
}

void uvperf__scratch_free(uvperf__scratch_t *scratch) {
  room_t *room, *inner;

  if (scratch == NULL || --scratch->users > 0)
    return;
  for (room = scratch->outer.inner; room != NULL; room = inner) {
    inner = room->inner;
    uvperf__free(room);
  }
  uvperf__free(scratch);
}

/* That of the next delivery. */
static room_t *find_room(uvperf__scratch_t *scratch) {
  room_t *room = &scratch->outer;
  size_t depth;

  for (depth = 0; depth < scratch->depth && room != NULL; depth++) {
    if (room->inner == NULL)
      room->inner = uvperf__calloc(1, sizeof(*room));
    room = room->inner;
  }
  return room;
}

void *uvperf__scratch_enter(uvperf__scratch_t *scratch) {
  room_t *room = find_room(scratch);

  if (room == NULL)
    return NULL;
  scratch->depth += 1;
  return room->bytes;
}

void uvperf__scratch_leave(uvperf__scratch_t *scratch) {
  scratch->depth -= 1;
}

int uvperf__scratch_reserve(uvperf__scratch_t *scratch) {
  return find_room(scratch) != NULL ? 0 : -ENOMEM;
}
