/* SPDX-License-Identifier: MIT */
/* A heap of records by time. Each CPU has a ring of its own, and they are
 * drained one after the other: the mapping of a library on one CPU can arrive
 * after the samples in it on another. So records wait here until all the rings
 * have surely been looked at. Does not look into the records. */
#include "shared_order.h"

#include <stdlib.h>
#include <string.h>

#include "shared_memory.h"

/* Past this the oldest go at once: at extreme rates a few samples may then meet
 * the mappings of a moment ago, but none is lost and memory stays bounded. */
#define MAX_BYTES ((size_t)64 << 20)

static int is_before(const shared_item_t *a, const shared_item_t *b) {
  if (a->time != b->time)
    return a->time < b->time;
  return a->sequence < b->sequence;
}

static void swap(shared_order_t *order, size_t i, size_t j) {
  shared_item_t *item = order->heap[i];

  order->heap[i] = order->heap[j];
  order->heap[j] = item;
}

void shared_order_add(shared_order_t *order, uint64_t time, const void *bytes,
                      size_t size) {
  shared_item_t *item = shared_calloc(1, sizeof(*item) + size);
  size_t i, parent;

  item->time = time;
  item->sequence = order->sequence++;
  item->size = size;
  memcpy(item->bytes, bytes, size);
  if (order->nr == order->capacity)
    order->heap =
        shared_grow(order->heap, &order->capacity, sizeof(*order->heap));
  i = order->nr++;
  order->heap[i] = item;
  order->bytes += sizeof(*item) + size;
  for (; i > 0; i = parent) {
    parent = (i - 1) / 2;
    if (!is_before(order->heap[i], order->heap[parent]))
      break;
    swap(order, i, parent);
  }
}

static void sink(shared_order_t *order, size_t i) {
  size_t child;

  while ((child = 2 * i + 1) < order->nr) {
    if (child + 1 < order->nr &&
        is_before(order->heap[child + 1], order->heap[child]))
      child++;
    if (!is_before(order->heap[child], order->heap[i]))
      break;
    swap(order, i, child);
    i = child;
  }
}

shared_item_t *shared_order_take(shared_order_t *order, uint64_t until) {
  shared_item_t *item;

  if (order->nr == 0)
    return NULL;
  item = order->heap[0];
  if (item->time > until && order->bytes <= MAX_BYTES)
    return NULL;
  order->heap[0] = order->heap[--order->nr];
  order->bytes -= sizeof(*item) + item->size;
  sink(order, 0);
  return item;
}

void shared_order_free(shared_order_t *order) {
  size_t i;

  for (i = 0; i < order->nr; i++)
    free(order->heap[i]);
  free(order->heap);
  memset(order, 0, sizeof(*order));
}
