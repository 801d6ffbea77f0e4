/* SPDX-License-Identifier: MIT */
/* Puts records into the order of time. perf record goes over all rings again
 * and again, and writes after each round that it is done: what was written
 * after a round is later than all that was written before the round before it.
 * So records wait for two rounds, but at most RECORDING_ORDER_BYTES of them:
 * then the oldest leave early, and others can come too late. */
#ifndef RECORDING_ORDER_H
#define RECORDING_ORDER_H

#include <stddef.h>
#include <stdint.h>

#define RECORDING_ORDER_BYTES ((size_t)256 << 20)

typedef struct recording_order_s {
  uint64_t late; /* records that came after a later one had left */
  /* private */
  struct recording_waiting_s *heap;
  size_t nr, capacity;
  size_t bytes;
  uint64_t serial;
  uint64_t due;      /* what is not later may leave */
  uint64_t greatest; /* time of this round */
  uint64_t before;   /* and of the round before it */
  uint64_t last;     /* time of what has left */
  int is_full;
  unsigned char *taken;
} recording_order_t;

void recording_order_init(recording_order_t *order);
void recording_order_free(recording_order_t *order);

/* Keeps a copy of a record. */
void recording_order_add(recording_order_t *order, const void *record,
                         size_t size, uint64_t time);

void recording_order_round(recording_order_t *order);

/* Nothing comes any more. */
void recording_order_end(recording_order_t *order);

/* The oldest one that may leave, or NULL; valid until the next call. Of equal
 * times the one that was added first. */
const void *recording_order_take(recording_order_t *order);

#endif
