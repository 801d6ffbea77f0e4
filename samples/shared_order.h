/* SPDX-License-Identifier: MIT */
/* Records of several rings, put into the order of their time. */
#ifndef SHARED_ORDER_H
#define SHARED_ORDER_H

#include <stddef.h>
#include <stdint.h>

typedef struct shared_item_s {
  uint64_t time;
  uint64_t sequence; /* of arrival: the order among equal times */
  size_t size;
  uint64_t bytes[]; /* the record as the kernel wrote it */
} shared_item_t;

typedef struct shared_order_s {
  shared_item_t **heap;
  size_t nr;
  size_t capacity;
  size_t bytes;
  uint64_t sequence;
} shared_order_t;

/* Copies a record. */
void shared_order_add(shared_order_t *order, uint64_t time, const void *bytes,
                      size_t size);

/* Takes out the oldest record: one for free(), or NULL if none is as old as
 * `until` and the queue is not too big either. */
shared_item_t *shared_order_take(shared_order_t *order, uint64_t until);

/* Drops what is left. */
void shared_order_free(shared_order_t *order);

#endif
