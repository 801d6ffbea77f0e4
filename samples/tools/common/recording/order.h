/* SPDX-License-Identifier: MIT */
/* Puts records in time order. perf record reads all rings in rounds and marks
 * the end of each round. Records that it writes after the end of a round are
 * later than all records that it wrote before the end of the previous round. So
 * records wait for two rounds. If more than RECORDING_ORDER_BYTES wait, the
 * oldest records leave early. Then other records can come too late. */
#ifndef RECORDING_ORDER_H
#define RECORDING_ORDER_H

#include <stddef.h>
#include <stdint.h>

#define RECORDING_ORDER_BYTES ((size_t)256 << 20)

typedef struct recording_order_s {
  uint64_t late; /* records that came after a later record had left */
  /* private */
  struct recording_waiting_s *heap;
  size_t nr, capacity;
  size_t bytes;
  uint64_t serial;
  uint64_t due;      /* records up to this time may leave */
  uint64_t greatest; /* latest time of this round */
  uint64_t before;   /* latest time of the round before */
  uint64_t last;     /* latest time that has left */
  int is_full;
  unsigned char *taken;
} recording_order_t;

void recording_order_init(recording_order_t *order);
void recording_order_free(recording_order_t *order);

/* Keeps a copy of a record. */
void recording_order_add(recording_order_t *order, const void *record,
                         size_t size, uint64_t time);

void recording_order_round(recording_order_t *order);

/* Call it when no more records will come. */
void recording_order_end(recording_order_t *order);

/* Returns the oldest record that may leave, or NULL. The record is valid until
 * the next call. Records with the same time leave in the order in which they
 * were added. */
const void *recording_order_take(recording_order_t *order);

#endif
