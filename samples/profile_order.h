/* SPDX-License-Identifier: MIT */
/* Records of several rings, put into the order of their time. */
#ifndef PROFILE_ORDER_H
#define PROFILE_ORDER_H

#include <stddef.h>
#include <stdint.h>

typedef struct profile_item_s {
  uint64_t time;
  uint64_t sequence; /* of arrival: the order among equal times */
  size_t size;
  uint64_t bytes[]; /* the record as the kernel wrote it */
} profile_item_t;

typedef struct profile_order_s {
  profile_item_t **heap;
  size_t nr;
  size_t capacity;
  size_t bytes;
  uint64_t sequence;
} profile_order_t;

/* Copies a record. */
void profile_order_add(profile_order_t *order, uint64_t time, const void *bytes,
                       size_t size);

/* Takes out the oldest record: one for free(), or NULL if none is as old as
 * `until` and the queue is not too big either. */
profile_item_t *profile_order_take(profile_order_t *order, uint64_t until);

/* Drops what is left. */
void profile_order_free(profile_order_t *order);

#endif
