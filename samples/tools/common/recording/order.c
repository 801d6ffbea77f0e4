/* SPDX-License-Identifier: MIT */
/* A heap of copies. */
#include "common/recording/order.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

typedef struct recording_waiting_s {
  uint64_t time;
  uint64_t serial;
  unsigned char *record;
  size_t size;
} waiting_t;

/* The memory that a record takes besides its own bytes. */
#define COST (sizeof(waiting_t) + 16)

void recording_order_init(recording_order_t *order) {
  memset(order, 0, sizeof(*order));
}

void recording_order_free(recording_order_t *order) {
  size_t i;

  for (i = 0; i < order->nr; i++)
    free(order->heap[i].record);
  free(order->heap);
  free(order->taken);
  memset(order, 0, sizeof(*order));
}

static int is_before(const waiting_t *a, const waiting_t *b) {
  if (a->time != b->time)
    return a->time < b->time;
  return a->serial < b->serial;
}

/* Adds an item at the end of the heap. */
static void sift_up(waiting_t *heap, size_t at, const waiting_t *item) {
  while (at > 0 && is_before(item, &heap[(at - 1) / 2])) {
    heap[at] = heap[(at - 1) / 2];
    at = (at - 1) / 2;
  }
  heap[at] = *item;
}

/* Adds an item at the front of a heap of `nr` items. */
static void sift_down(waiting_t *heap, size_t nr, const waiting_t *item) {
  size_t at = 0, child;

  while ((child = 2 * at + 1) < nr) {
    if (child + 1 < nr && is_before(&heap[child + 1], &heap[child]))
      child++;
    if (!is_before(&heap[child], item))
      break;
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = *item;
}

void recording_order_add(recording_order_t *order, const void *record,
                         size_t size, uint64_t time) {
  waiting_t item = {time, order->serial++, common_copy(record, size), size};

  COMMON_ADD(order->heap, order->nr, order->capacity);
  sift_up(order->heap, order->nr - 1, &item);
  order->bytes += size + COST;
  order->late += time < order->last;
  if (time > order->greatest)
    order->greatest = time;
  if (order->bytes > RECORDING_ORDER_BYTES)
    order->is_full = 1;
}

/* Uses the times of one round, not of all rounds, so that a single wrong time
 * far in the future does not end the order for the rest of the file. */
void recording_order_round(recording_order_t *order) {
  order->due = order->before;
  order->before = order->greatest;
  order->greatest = 0;
}

void recording_order_end(recording_order_t *order) {
  order->due = UINT64_MAX;
}

const void *recording_order_take(recording_order_t *order) {
  waiting_t first;

  free(order->taken);
  order->taken = NULL;
  if (order->bytes <= RECORDING_ORDER_BYTES / 2)
    order->is_full = 0;
  if (order->nr == 0 || (order->heap[0].time > order->due && !order->is_full))
    return NULL;
  first = order->heap[0];
  order->nr--;
  if (order->nr > 0)
    sift_down(order->heap, order->nr, &order->heap[order->nr]);
  order->bytes -= first.size + COST;
  if (first.time > order->last)
    order->last = first.time;
  order->taken = first.record;
  return first.record;
}
