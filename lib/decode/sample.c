/* SPDX-License-Identifier: MIT */
/* PERF_RECORD_SAMPLE: the plan that is made once for a sample_type, and the
 * fields of varying size. The kernel writes them in the order of
 * perf_output_sample; the comment at PERF_RECORD_SAMPLE in linux/perf_event.h
 * has the same order.
 *
 * A branch stack can be read in two ways. BRANCH_HW_INDEX promises hw_idx, but
 * without a stack from the PMU the kernel writes nr = 0 and no hw_idx.
 * BRANCH_COUNTERS promises counters, but they follow only if the PMU has them.
 * The first reading has all promised fields. The second reading has no
 * counters, and has hw_idx only if nr is not 0. The reading that ends exactly
 * at the record's end is right.
 *
 * A sample can be longer than its fields. If several events sample one software
 * event, do_perf_sw_event in kernel/events/core.c fills one perf_sample_data
 * for all of them, one after the other. perf_prepare_sample skips the fields
 * that an earlier event has filled, and adds to their dyn_size, so header.size
 * counts all fields of varying length that any of the events requested.
 * perf_output_sample then writes the fields of the sample's own event, and
 * nothing into the rest. */
#include "decode/sample.h"

#include <errno.h>
#include <string.h>

#include "uvperf/attr.h"

#include "decode/read_format.h"
#include "util/bytes.h"

#define WORD sizeof(uint64_t)

_Static_assert(sizeof(struct perf_branch_entry) == 24, "kernel ABI");

#define FOLLOWS(field, earlier, bytes)                                         \
  (offsetof(uvperf_record_t, field) ==                                         \
   offsetof(uvperf_record_t, earlier) + (bytes))
_Static_assert(FOLLOWS(pid, ip, 8) && FOLLOWS(tid, pid, 4) &&
                   FOLLOWS(time, tid, 4) && FOLLOWS(id, time, 8) &&
                   FOLLOWS(reserved, cpu, 4) && FOLLOWS(period, reserved, 4),
               "these lie in a record as they do in a sample");

/* Where decoding stands in a sample. */
typedef struct uvperf__cursor_s {
  const uint8_t *at;
  const uint8_t *end;
  /* Whether the branch stack gets the second reading: see above. */
  int second;
} uvperf__cursor_t;

static size_t cursor_room(const uvperf__cursor_t *cursor) {
  return (size_t)(cursor->end - cursor->at);
}

static int take_u64(uvperf__cursor_t *cursor, uint64_t *value) {
  if (cursor_room(cursor) < WORD)
    return -EPROTO;
  *value = uvperf__u64(cursor->at);
  cursor->at += WORD;
  return 0;
}

/* Takes an array of nr elements of `each` bytes. If nr is 0, sets the array to
 * NULL, to clear the array of an earlier sample. */
static int take_array(uvperf__cursor_t *cursor, uint64_t nr, size_t each,
                      const void **array) {
  if (nr > cursor_room(cursor) / each)
    return -EPROTO;
  *array = nr != 0 ? cursor->at : NULL;
  cursor->at += (size_t)nr * each;
  return 0;
}

static int take_words(uvperf__cursor_t *cursor, uint64_t nr,
                      const uint64_t **words) {
  const void *array;
  int rc;

  rc = take_array(cursor, nr, WORD, &array);
  if (rc == 0)
    *words = array;
  return rc;
}

static int take_read(const uvperf__layout_t *layout, uvperf__cursor_t *cursor,
                     uvperf_sample_t *sample) {
  size_t used;
  int rc;

  rc = uvperf__read_format_parse(layout->read_format, cursor->at,
                                 cursor_room(cursor), &used, &sample->read);
  if (rc == 0)
    cursor->at += used;
  return rc;
}

static int take_callchain(uvperf__cursor_t *cursor, uvperf_sample_t *sample) {
  if (take_u64(cursor, &sample->callchain.nr) != 0)
    return -EPROTO;
  return take_words(cursor, sample->callchain.nr, &sample->callchain.ips);
}

/* The kernel pads the payload so that 4 + size is a multiple of 8. For a sample
 * without payload it writes size 4 and four zero bytes. */
static int take_raw(uvperf__cursor_t *cursor, uvperf_sample_t *sample) {
  uint32_t size;

  if (cursor_room(cursor) < sizeof(size))
    return -EPROTO;
  size = uvperf__u32(cursor->at);
  if (size > cursor_room(cursor) - sizeof(size) ||
      (size + sizeof(size)) % WORD != 0)
    return -EPROTO;
  sample->raw.size = size;
  sample->raw.data = cursor->at + sizeof(size);
  cursor->at += sizeof(size) + size;
  return 0;
}

static int take_branch(uint64_t type, uvperf__cursor_t *cursor,
                       uvperf_sample_t *sample) {
  const void *entries;
  uint64_t nr;

  sample->branch.hw_idx = UINT64_MAX;
  sample->branch.counters = NULL;
  if (take_u64(cursor, &nr) != 0)
    return -EPROTO;
  if ((type & UVPERF_SAMPLE_BRANCH_HW_INDEX) && (nr > 0 || !cursor->second) &&
      take_u64(cursor, &sample->branch.hw_idx) != 0)
    return -EPROTO;
  if (take_array(cursor, nr, sizeof(struct perf_branch_entry), &entries) != 0)
    return -EPROTO;
  sample->branch.nr = nr;
  sample->branch.entries = entries;
  if ((type & UVPERF_SAMPLE_BRANCH_COUNTERS) && !cursor->second)
    return take_words(cursor, nr, &sample->branch.counters);
  return 0;
}

/* Inline, because gcc would make a call of it. */
static inline int take_regs(uvperf__cursor_t *cursor, uint64_t nr,
                            uvperf_regs_t *regs) {
  if (take_u64(cursor, &regs->abi) != 0)
    return -EPROTO;
  regs->nr = regs->abi != PERF_SAMPLE_REGS_ABI_NONE ? nr : 0;
  return take_words(cursor, regs->nr, &regs->regs);
}

/* If the size is 0, no dyn_size follows it: see perf_output_sample_ustack. */
static int take_stack_user(uvperf__cursor_t *cursor, uvperf_sample_t *sample) {
  uint64_t size, dyn_size = 0;

  if (take_u64(cursor, &size) != 0 || size % WORD != 0)
    return -EPROTO;
  if (take_array(cursor, size, 1, &sample->stack_user.data) != 0)
    return -EPROTO;
  if (size != 0 && (take_u64(cursor, &dyn_size) != 0 || dyn_size > size))
    return -EPROTO;
  sample->stack_user.size = size;
  sample->stack_user.dyn_size = dyn_size;
  return 0;
}

static int take_weight(uint64_t type, uvperf__cursor_t *cursor,
                       uvperf_sample_t *sample) {
  uint64_t full;

  if (take_u64(cursor, &full) != 0)
    return -EPROTO;
  sample->weight.full = full;
  if (type & UVPERF_SAMPLE_WEIGHT_STRUCT) {
    sample->weight.var1_dw = (uint32_t)full;
    sample->weight.var2_w = (uint16_t)(full >> 32);
    sample->weight.var3_w = (uint16_t)(full >> 48);
  }
  return 0;
}

static int take_aux(uvperf__cursor_t *cursor, uvperf_sample_t *sample) {
  if (take_u64(cursor, &sample->aux.size) != 0)
    return -EPROTO;
  return take_array(cursor, sample->aux.size, 1, &sample->aux.data);
}

static unsigned int front_of(uint64_t front) {
  const uint64_t usual = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                         PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;

  if (front == 0)
    return UVPERF__FRONT_NONE;
  if (front == usual)
    return UVPERF__FRONT_USUAL;
  if (front == (usual | PERF_SAMPLE_ID))
    return UVPERF__FRONT_WITH_ID;
  if (front == (usual | PERF_SAMPLE_IDENTIFIER))
    return UVPERF__FRONT_IDENTIFIED;
  return UVPERF__FRONT_OTHER;
}

static unsigned int tail_of(uint64_t varying) {
  switch (varying) {
    case 0:
      return UVPERF__TAIL_NONE;
    case PERF_SAMPLE_RAW:
      return UVPERF__TAIL_RAW;
    case PERF_SAMPLE_CALLCHAIN:
      return UVPERF__TAIL_CHAIN;
    default:
      return UVPERF__TAIL_OTHER;
  }
}

void uvperf__sample_plan(uvperf__sample_plan_t *plan,
                         const uvperf__layout_t *layout,
                         uvperf_record_t *record) {
  uint64_t front = layout->sample_type & UVPERF__SAMPLE_FRONT;
  uint64_t varying = layout->sample_type & ~UVPERF__SAMPLE_FRONT;

  plan->layout = *layout;
  plan->front = (uint32_t)front;
  plan->form = UVPERF__FORM(front_of(front), tail_of(varying));
  plan->front_size =
      sizeof(struct perf_event_header) + WORD * uvperf__bits(front);
  memset(record, 0, sizeof(*record));
  record->type = PERF_RECORD_SAMPLE;
  record->present = layout->sample_type & UVPERF__SAMPLE_KNOWN;
  if (layout->sample_type & PERF_SAMPLE_REGS_USER)
    record->sample.regs_user.mask = layout->regs_user;
  if (layout->sample_type & PERF_SAMPLE_REGS_INTR)
    record->sample.regs_intr.mask = layout->regs_intr;
}

/* Takes the first fields of the tail, which can have any length, in the
 * kernel's order. */
static int take_first(const uvperf__layout_t *layout, uvperf__cursor_t *cursor,
                      uvperf_sample_t *sample) {
  uint64_t type = layout->sample_type;

  if ((type & PERF_SAMPLE_READ) && take_read(layout, cursor, sample) != 0)
    return -EPROTO;
  if ((type & PERF_SAMPLE_CALLCHAIN) && take_callchain(cursor, sample) != 0)
    return -EPROTO;
  if ((type & PERF_SAMPLE_RAW) && take_raw(cursor, sample) != 0)
    return -EPROTO;
  if ((type & PERF_SAMPLE_BRANCH_STACK) &&
      take_branch(layout->branch_sample_type, cursor, sample) != 0)
    return -EPROTO;
  if ((type & PERF_SAMPLE_REGS_USER) &&
      take_regs(cursor, layout->nr_regs_user, &sample->regs_user) != 0)
    return -EPROTO;
  if ((type & PERF_SAMPLE_STACK_USER) && take_stack_user(cursor, sample) != 0)
    return -EPROTO;
  return 0;
}

/* Takes a field of one word, if it was requested. */
static int take_word(uint64_t is_there, uvperf__cursor_t *cursor,
                     uint64_t *value) {
  return is_there ? take_u64(cursor, value) : 0;
}

/* Takes all other fields of the tail. */
static int take_rest(const uvperf__layout_t *layout, uvperf__cursor_t *cursor,
                     uvperf_sample_t *sample) {
  uint64_t type = layout->sample_type;

  if ((type & (PERF_SAMPLE_WEIGHT | UVPERF_SAMPLE_WEIGHT_STRUCT)) &&
      take_weight(type, cursor, sample) != 0)
    return -EPROTO;
  if (take_word(type & PERF_SAMPLE_DATA_SRC, cursor, &sample->data_src) != 0 ||
      take_word(type & PERF_SAMPLE_TRANSACTION, cursor, &sample->transaction) !=
          0)
    return -EPROTO;
  if ((type & PERF_SAMPLE_REGS_INTR) &&
      take_regs(cursor, layout->nr_regs_intr, &sample->regs_intr) != 0)
    return -EPROTO;
  if (take_word(type & PERF_SAMPLE_PHYS_ADDR, cursor, &sample->phys_addr) !=
          0 ||
      take_word(type & PERF_SAMPLE_CGROUP, cursor, &sample->cgroup) != 0 ||
      take_word(type & UVPERF_SAMPLE_DATA_PAGE_SIZE, cursor,
                &sample->data_page_size) != 0 ||
      take_word(type & UVPERF_SAMPLE_CODE_PAGE_SIZE, cursor,
                &sample->code_page_size) != 0)
    return -EPROTO;
  return type & PERF_SAMPLE_AUX ? take_aux(cursor, sample) : 0;
}

/* Tries one reading of the tail. Returns the number of bytes after it, or
 * -EPROTO. */
static int sample_try_size(const uvperf__sample_plan_t *plan, const uint8_t *at,
                           const uint8_t *end, int second,
                           uvperf_sample_t *sample) {
  uvperf__cursor_t cursor;

  cursor.at = at;
  cursor.end = end;
  cursor.second = second;
  if (take_first(&plan->layout, &cursor, sample) != 0 ||
      take_rest(&plan->layout, &cursor, sample) != 0)
    return -EPROTO;
  return cursor_room(&cursor) % WORD == 0 ? (int)cursor_room(&cursor) : -EPROTO;
}

/* Whether there is a second reading. */
static int may_differ(const uvperf__layout_t *layout) {
  const uint64_t doubtful =
      UVPERF_SAMPLE_BRANCH_HW_INDEX | UVPERF_SAMPLE_BRANCH_COUNTERS;

  return (layout->sample_type & PERF_SAMPLE_BRANCH_STACK) &&
         (layout->branch_sample_type & doubtful);
}

int uvperf__sample_decode_tail(const uvperf__sample_plan_t *plan,
                               const uint8_t *bytes, size_t size,
                               uvperf_record_t *record) {
  const uint8_t *at = bytes + plan->front_size;
  const uint8_t *end = bytes + size;

  if (sample_try_size(plan, at, end, 0, &record->sample) == 0)
    return 0;
  if (may_differ(&plan->layout) &&
      sample_try_size(plan, at, end, 1, &record->sample) == 0)
    return 0;
  return -EPROTO;
}

/* A sample with a branch stack comes from the PMU and is not shared with other
 * events. So a reading should end at the record's end. If neither reading does,
 * the reading without the promised fields is accepted only if the attr has bits
 * that are unknown here. */
int uvperf__sample_decode_longer(const uvperf__sample_plan_t *plan,
                                 const uint8_t *bytes, size_t size,
                                 uvperf_record_t *record) {
  const uint8_t *at = bytes + plan->front_size;
  const uint8_t *end = bytes + size;
  int left, second;

  if (at > end)
    return -EPROTO;
  uvperf__sample_copy_front(plan->form, plan->front,
                            bytes + sizeof(struct perf_event_header), record);
  left = sample_try_size(plan, at, end, 0, &record->sample);
  if (left != 0 && may_differ(&plan->layout)) {
    second = sample_try_size(plan, at, end, 1, &record->sample);
    if (second == 0 || (left < 0 && plan->layout.has_unknown_bits))
      left = second;
    else if (left > 0)
      left = sample_try_size(plan, at, end, 0, &record->sample);
  }
  if (left < 0)
    return -EPROTO;
  record->sample.surplus_bytes = (uint64_t)left;
  return 0;
}

/* -- registers and branches ----------------------------------------------- */

int uvperf_sample_regs_get(const uvperf_regs_t *regs, unsigned int bit,
                           uint64_t *value) {
  uint64_t index;

  if (regs->nr == 0 || bit >= 64 || !(regs->mask >> bit & 1))
    return -ENOENT;
  index = uvperf__bits(regs->mask & ((UINT64_C(1) << bit) - 1));
  *value = uvperf__u64((const uint8_t *)regs->regs + index * WORD);
  return 0;
}

const char *uvperf_sample_branch_type_name(unsigned int type) {
  static const char *const names[] = {
      "unknown",  "COND",       "UNCOND",     "IND",        "CALL",
      "IND_CALL", "RET",        "SYSCALL",    "SYSRET",     "COND_CALL",
      "COND_RET", "ERET",       "IRQ",        "SERROR",     "NO_TX",
      "unknown",  "FAULT_ALGN", "FAULT_DATA", "FAULT_INST", "ARCH_1",
      "ARCH_2",   "ARCH_3",     "ARCH_4",     "ARCH_5",
  };

  return type < sizeof(names) / sizeof(names[0]) ? names[type] : "unknown";
}
