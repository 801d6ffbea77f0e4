/* SPDX-License-Identifier: MIT */
/* PERF_RECORD_SAMPLE: the plan by which the samples of an event are decoded,
 * and the inline part that decodes most of them. */
#ifndef UVPERF_LIB_DECODE_SAMPLE_H
#define UVPERF_LIB_DECODE_SAMPLE_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "uvperf/record.h"

#include "decode/layout.h"
#include "util/bytes.h"

/* The fields of one word each at the front of a sample. */
#define UVPERF__SAMPLE_FRONT                                                   \
  ((uint64_t)(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |      \
              PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |           \
              PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD))

/* Which fields vary in size, after the front. */
enum {
  UVPERF__SAMPLE_FIXED = 0,
  UVPERF__SAMPLE_ENDS_WITH_RAW = 1,
  UVPERF__SAMPLE_ENDS_WITH_CHAIN = 2,
  UVPERF__SAMPLE_VARIES = 3
};

/* How to decode the samples of one event, made once. */
typedef struct uvperf__sample_plan_s {
  /* Three things that each sample needs, in one word, as a load costs more than
   * a shift: the bits of UVPERF__SAMPLE_FRONT; from bit 32 on the bytes up to
   * the fields that vary, with the header; from bit 48 on
   * UVPERF__SAMPLE_FIXED… */
  uint64_t shape;
  uvperf__layout_t layout;
} uvperf__sample_plan_t;

static inline size_t
uvperf__sample_front_size(const uvperf__sample_plan_t *plan) {
  return (size_t)(plan->shape >> 32 & 0xffff);
}

/* Makes the plan, and prepares the record that it is used with: all 0 except
 * what is the same in all samples of the event (type, present, masks). */
void uvperf__sample_plan(uvperf__sample_plan_t *plan,
                         const uvperf__layout_t *layout,
                         uvperf_record_t *record);

/* Decodes the fields that vary, which lie between `at` and `end`, into a record
 * that was prepared with this plan. 0, or -EPROTO. */
int uvperf__sample_decode_varying(const uvperf__sample_plan_t *plan,
                                  const uint8_t *at, const uint8_t *end,
                                  uvperf_record_t *record);

/* Decodes a whole sample. If it is longer than its fields, it sets
 * surplus_bytes, which is 0 in the prepared record. 0, or -EPROTO. */
int uvperf__sample_decode_longer(const uvperf__sample_plan_t *plan,
                                 const uint8_t *bytes, size_t size,
                                 uvperf_record_t *record);

/* Copies the fields at the front to their places in the record, in the kernel's
 * order. The usual set of fields is copied without a test for each. The time
 * follows pid and tid in both. */
static inline void uvperf__sample_copy_front(uint32_t front, const uint8_t *at,
                                             uvperf_record_t *record) {
  const uint32_t usual = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                         PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
  const uint32_t unusual = PERF_SAMPLE_ADDR | PERF_SAMPLE_STREAM_ID;
  const size_t word = sizeof(uint64_t);

  if (__builtin_expect((front & (usual | unusual)) == usual, 1)) {
    if (front & PERF_SAMPLE_IDENTIFIER) {
      record->id = uvperf__u64(at);
      at += word;
    }
    record->sample.ip = uvperf__u64(at);
    memcpy(&record->pid, at + word, 2 * word);
    at += 3 * word;
    if (front & PERF_SAMPLE_ID) {
      record->id = uvperf__u64(at);
      at += word;
    }
    record->cpu = uvperf__u32(at);
    record->sample.period = uvperf__u64(at + word);
    return;
  }
  if (front & PERF_SAMPLE_IDENTIFIER) {
    record->id = uvperf__u64(at);
    at += word;
  }
  if (front & PERF_SAMPLE_IP) {
    record->sample.ip = uvperf__u64(at);
    at += word;
  }
  if (front & PERF_SAMPLE_TID) {
    memcpy(&record->pid, at, word);
    at += word;
  }
  if (front & PERF_SAMPLE_TIME) {
    record->time = uvperf__u64(at);
    at += word;
  }
  if (front & PERF_SAMPLE_ADDR) {
    record->sample.addr = uvperf__u64(at);
    at += word;
  }
  if (front & PERF_SAMPLE_ID) {
    record->id = uvperf__u64(at);
    at += word;
  }
  if (front & PERF_SAMPLE_STREAM_ID) {
    record->stream_id = uvperf__u64(at);
    at += word;
  }
  if (front & PERF_SAMPLE_CPU) {
    record->cpu = uvperf__u32(at);
    at += word;
  }
  if (front & PERF_SAMPLE_PERIOD)
    record->sample.period = uvperf__u64(at);
}

/* Takes the payload of a sample that ends with it. Returns 1, or 0 if it does
 * not end there. */
static inline int uvperf__sample_take_last_raw(const uint8_t *at, size_t room,
                                               uvperf_record_t *record) {
  uint32_t size;

  if (room < sizeof(size))
    return 0;
  size = uvperf__u32(at);
  if (size != room - sizeof(size))
    return 0;
  record->sample.raw.size = size;
  record->sample.raw.data = at + sizeof(size);
  return 1;
}

/* The same for a call chain that has frames. */
static inline int uvperf__sample_take_last_chain(const uint8_t *at, size_t room,
                                                 uvperf_record_t *record) {
  size_t nr = room / sizeof(uint64_t) - 1;
  const void *ips = at + sizeof(uint64_t);

  if (room <= sizeof(uint64_t) || uvperf__u64(at) != nr)
    return 0;
  record->sample.callchain.nr = nr;
  record->sample.callchain.ips = ips;
  return 1;
}

/* Decodes a sample of `size` bytes, header included and a multiple of 8, into a
 * record that was prepared with this plan. Writes all requested fields and no
 * others. Returns 0, or -EPROTO. Inline, because it is called for each sample:
 * one in which nothing varies but a payload or a call chain at its end is
 * decoded without a call. */
static inline int uvperf__sample_decode(const uvperf__sample_plan_t *plan,
                                        const uint8_t *bytes, size_t size,
                                        uvperf_record_t *record) {
  const uint8_t *body = bytes + sizeof(struct perf_event_header);
  uint64_t shape = plan->shape;
  uint32_t front = (uint32_t)shape;
  size_t front_size, room;
  const uint8_t *at;

  if (__builtin_expect(shape >> 32 == size, 1)) {
    uvperf__sample_copy_front(front, body, record);
    return 0;
  }
  front_size = uvperf__sample_front_size(plan);
  if (size < front_size)
    return -EPROTO;
  if (front != 0)
    uvperf__sample_copy_front(front, body, record);
  at = bytes + front_size;
  room = size - front_size;
  switch (shape >> 48) {
    case UVPERF__SAMPLE_ENDS_WITH_RAW:
      if (uvperf__sample_take_last_raw(at, room, record))
        return 0;
      break;
    case UVPERF__SAMPLE_ENDS_WITH_CHAIN:
      if (uvperf__sample_take_last_chain(at, room, record))
        return 0;
      break;
    default:
      break;
  }
  return uvperf__sample_decode_varying(plan, at, at + room, record);
}

#endif
