/* SPDX-License-Identifier: MIT */
/* Overwritable rings that the test writes into, and snapshots of them. */
#ifndef UVPERF_TEST_SCRIPTED_SNAPSHOT_H
#define UVPERF_TEST_SCRIPTED_SNAPSHOT_H

#include "support.h"

#include "fake_kernel.h"
#include "ring/snapshot.h"

#define SCRIPTED_SNAPSHOT_RINGS 3

/* A record's type is its number; the kernel uses none of these types. */
#define SCRIPTED_SNAPSHOT_TYPE(number) (100 + (number))

typedef struct scripted_snapshot_s {
  fake_event_t *fakes[SCRIPTED_SNAPSHOT_RINGS];
  uvperf__ring_t rings[SCRIPTED_SNAPSHOT_RINGS];
  uvperf__snapshot_t list[SCRIPTED_SNAPSHOT_RINGS];
  int paused[SCRIPTED_SNAPSHOT_RINGS]; /* as set by ioctls */
} scripted_snapshot_t;

extern scripted_snapshot_t shots;

/* New rings of `bytes` bytes, to which no other CPU writes; or one ring of one
 * page. */
void scripted_snapshot_map(size_t nr, size_t bytes);
void scripted_snapshot_map_page(void);

/* For events of the rings, which can be paused and resumed. */
int scripted_snapshot_on_ioctl(fake_event_t *fake, unsigned long request,
                               uintptr_t argument);

/* For fake_on_membarrier: no writer was interrupted. */
void scripted_snapshot_no_writers(void);

/* Writes a record into a ring, or several into the first one. */
void scripted_snapshot_write(size_t ring, uint32_t number, size_t size);
void scripted_snapshot_write_records(uint32_t first, uint32_t last,
                                     size_t size);

/* Overwrites the header of the nth newest of records of 64 bytes. */
void scripted_snapshot_spoil(uint32_t nth, uint16_t size);

/* Begins, copies and installs snapshots: as uvperf__snapshots_copy. */
int scripted_snapshot_take(uvperf__snapshot_t *snapshots, size_t nr,
                           uint32_t flags);

/* Consumes one record of an image, which must be whole, and returns its type; 0
 * if there is none. */
uint32_t scripted_snapshot_take_record(uvperf__ring_t *image);

/* An image must have exactly these records, from the first to the last, up or
 * down; 0 for none. */
void scripted_snapshot_expect_image(size_t ring, uint32_t first, uint32_t last);

/* A snapshot of the first ring must have exactly these records, with this
 * number counted as cut. */
void scripted_snapshot_expect(uint32_t flags, uint32_t first, uint32_t last,
                              uint64_t cut);

#endif
