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

/* The usual fronts. Any other set of fields is tested field by field. */
enum {
  UVPERF__FRONT_NONE = 0,
  UVPERF__FRONT_USUAL = 1,      /* IP, TID, TIME, CPU and PERIOD */
  UVPERF__FRONT_WITH_ID = 2,    /* these and ID */
  UVPERF__FRONT_IDENTIFIED = 3, /* these and IDENTIFIER */
  UVPERF__FRONT_OTHER = 4
};

/* The tail: the fields after the front. */
enum {
  UVPERF__TAIL_NONE = 0,
  UVPERF__TAIL_RAW = 1,   /* PERF_SAMPLE_RAW alone */
  UVPERF__TAIL_CHAIN = 2, /* PERF_SAMPLE_CALLCHAIN alone */
  UVPERF__TAIL_OTHER = 3
};

/* The form of a sample: its front and its tail. Functions with a form as
 * parameter are inlined, so that testing a constant form costs nothing. */
#define UVPERF__FORM(front, tail) ((unsigned int)(front) << 2 | (tail))
#define UVPERF__FORM_FRONT(form)  ((form) >> 2)
#define UVPERF__FORM_TAIL(form)   ((form)&3)

/* The usual forms of samples that have one source, and of samples whose source
 * is found by the id. There is code for each of them. */
#define UVPERF__FORMS_OF_ONE(X)                                                \
  X(UVPERF__FORM(UVPERF__FRONT_NONE, UVPERF__TAIL_RAW))                        \
  X(UVPERF__FORM(UVPERF__FRONT_USUAL, UVPERF__TAIL_NONE))                      \
  X(UVPERF__FORM(UVPERF__FRONT_USUAL, UVPERF__TAIL_RAW))                       \
  X(UVPERF__FORM(UVPERF__FRONT_USUAL, UVPERF__TAIL_CHAIN))                     \
  X(UVPERF__FORM(UVPERF__FRONT_WITH_ID, UVPERF__TAIL_NONE))                    \
  X(UVPERF__FORM(UVPERF__FRONT_WITH_ID, UVPERF__TAIL_RAW))                     \
  X(UVPERF__FORM(UVPERF__FRONT_WITH_ID, UVPERF__TAIL_CHAIN))
#define UVPERF__FORMS_BY_ID(X)                                                 \
  X(UVPERF__FORM(UVPERF__FRONT_IDENTIFIED, UVPERF__TAIL_NONE))                 \
  X(UVPERF__FORM(UVPERF__FRONT_IDENTIFIED, UVPERF__TAIL_RAW))                  \
  X(UVPERF__FORM(UVPERF__FRONT_IDENTIFIED, UVPERF__TAIL_CHAIN))

#define UVPERF__FORM_OTHER UVPERF__FORM(UVPERF__FRONT_OTHER, UVPERF__TAIL_OTHER)

/* Returns the number of bytes up to the tail, header included. Must not be
 * called with UVPERF__FRONT_OTHER. */
static inline size_t uvperf__form_front_size(unsigned int form) {
  const unsigned int front = UVPERF__FORM_FRONT(form);
  size_t words = front == UVPERF__FRONT_NONE    ? 0
                 : front == UVPERF__FRONT_USUAL ? 5
                                                : 6;

  return sizeof(struct perf_event_header) + words * sizeof(uint64_t);
}

/* How to decode the samples of one event. The plan is made once. */
typedef struct uvperf__sample_plan_s {
  uint32_t front; /* the bits of UVPERF__SAMPLE_FRONT */
  unsigned int form;
  size_t front_size; /* bytes up to the tail, header included */
  uvperf__layout_t layout;
} uvperf__sample_plan_t;

/* Makes the plan, and prepares the record into which the samples will be
 * decoded. The record is all 0 except the fields that are the same in all
 * samples of the event (type, present, masks). */
void uvperf__sample_plan(uvperf__sample_plan_t *plan,
                         const uvperf__layout_t *layout,
                         uvperf_record_t *record);

/* Decodes the tail of a sample into a record that was prepared with this plan.
 * Returns 0, or -EPROTO. */
int uvperf__sample_decode_tail(const uvperf__sample_plan_t *plan,
                               const uint8_t *bytes, size_t size,
                               uvperf_record_t *record);

/* Decodes a whole sample. If the sample is longer than its fields, sets
 * surplus_bytes, which is 0 in the prepared record. Returns 0, or -EPROTO. */
int uvperf__sample_decode_longer(const uvperf__sample_plan_t *plan,
                                 const uint8_t *bytes, size_t size,
                                 uvperf_record_t *record);

/* Copies the usual front. The fields of the usual front lie in a record as the
 * kernel writes them, so this takes three or four wide moves. */
__attribute__((always_inline)) static inline void
uvperf__sample_copy_usual(unsigned int form, const uint8_t *at,
                          uvperf_record_t *record) {
  const size_t word = sizeof(uint64_t);
  uint8_t *ip = (uint8_t *)record + offsetof(uvperf_record_t, ip);
  uint8_t *cpu = (uint8_t *)record + offsetof(uvperf_record_t, cpu);

  if (UVPERF__FORM_FRONT(form) == UVPERF__FRONT_IDENTIFIED) {
    record->id = uvperf__u64(at);
    at += word;
  }
  if (UVPERF__FORM_FRONT(form) == UVPERF__FRONT_WITH_ID) {
    memcpy(ip, at, 4 * word);
    at += 4 * word;
  } else {
    memcpy(ip, at, 3 * word);
    at += 3 * word;
  }
  memcpy(cpu, at, 2 * word);
}

/* Copies the fields at the front to their places in the record, in the kernel's
 * order. `front` is the plan's. */
__attribute__((always_inline)) static inline void
uvperf__sample_copy_front(unsigned int form, uint32_t front, const uint8_t *at,
                          uvperf_record_t *record) {
  const size_t word = sizeof(uint64_t);

  if (UVPERF__FORM_FRONT(form) == UVPERF__FRONT_NONE)
    return;
  if (UVPERF__FORM_FRONT(form) != UVPERF__FRONT_OTHER) {
    uvperf__sample_copy_usual(form, at, record);
    return;
  }
  if (front & PERF_SAMPLE_IDENTIFIER) {
    record->id = uvperf__u64(at);
    at += word;
  }
  if (front & PERF_SAMPLE_IP) {
    record->ip = uvperf__u64(at);
    at += word;
  }
  if (front & PERF_SAMPLE_TID) {
    record->pid = uvperf__u32(at);
    record->tid = uvperf__u32(at + sizeof(uint32_t));
    at += word;
  }
  if (front & PERF_SAMPLE_TIME) {
    record->time = uvperf__u64(at);
    at += word;
  }
  if (front & PERF_SAMPLE_ADDR) {
    record->addr = uvperf__u64(at);
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
    record->period = uvperf__u64(at);
}

/* Decodes a sample of `size` bytes, header included, into a record that was
 * prepared with this plan. Writes all requested fields and no others. Returns
 * 0, or -EPROTO (also if size is not a multiple of 8). Form and front_size come
 * from the plan. If a payload or a call chain at the end is the only field of
 * varying size, the sample is decoded without a call. */
__attribute__((always_inline)) static inline int
uvperf__sample_decode(const uvperf__sample_plan_t *plan, unsigned int form,
                      size_t front_size, const uint8_t *bytes, size_t size,
                      uvperf_record_t *record) {
  const unsigned int tail = UVPERF__FORM_TAIL(form);
  const uint8_t *front = bytes + sizeof(struct perf_event_header);
  const uint8_t *at = bytes + front_size;
  size_t prefix = tail == UVPERF__TAIL_RAW     ? sizeof(uint32_t)
                  : tail == UVPERF__TAIL_CHAIN ? sizeof(uint64_t)
                                               : 0;
  /* Bytes after the front and the length of a payload or a chain. `rest` is
   * signed: its sign shows whether they fit. */
  int64_t rest = (int64_t)size - (int64_t)(front_size + prefix);
  uint64_t nr;

  if (tail == UVPERF__TAIL_NONE) {
    if (size != front_size)
      return -EPROTO;
    uvperf__sample_copy_front(form, plan->front, front, record);
    return 0;
  }
  if (rest < 0 || size % sizeof(uint64_t) != 0)
    return -EPROTO;
  uvperf__sample_copy_front(form, plan->front, front, record);
  if (tail == UVPERF__TAIL_RAW) {
    if (uvperf__u32(at) != (uint32_t)rest)
      return -EPROTO;
    record->sample.raw.size = (uint32_t)rest;
    record->sample.raw.data = at + prefix;
    return 0;
  }
  if (tail == UVPERF__TAIL_CHAIN) {
    nr = (uint64_t)rest / sizeof(nr);
    if (uvperf__u64(at) != nr)
      return -EPROTO;
    record->sample.callchain.nr = nr;
    record->sample.callchain.ips = nr > 0 ? (const void *)(at + prefix) : NULL;
    return 0;
  }
  return uvperf__sample_decode_tail(plan, bytes, size, record);
}

#endif
