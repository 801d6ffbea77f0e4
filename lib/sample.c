/* SPDX-License-Identifier: MIT */
/* PERF_RECORD_SAMPLE: a plan made once of what sample_type asks for, and its
 * execution. The order of the fields is that of the kernel's
 * perf_output_sample; the header's comment at PERF_RECORD_SAMPLE has the same.
 *
 * Two things in a branch stack are not told by the bytes: where the PMU gave no
 * stack the kernel writes nr = 0 without the hw_idx that BRANCH_HW_INDEX
 * promises, and the counters of BRANCH_COUNTERS follow only where the PMU gave
 * them. The reading that ends exactly at the record's end is the right one; the
 * first has all that was promised, the second lacks it. */
#include "sample.h"

#include <errno.h>

#include "uvperf/attr.h"

#include "bytes.h"
#include "read_format.h"

#define WORD sizeof(uint64_t)

_Static_assert(sizeof(struct perf_branch_entry) == 24, "kernel ABI");
_Static_assert(offsetof(uvperf_record_t, tid) ==
                   offsetof(uvperf_record_t, pid) + 4,
               "pid and tid are copied as one word");

static size_t room(const uvperf__cursor_t *cursor) {
  return (size_t)(cursor->end - cursor->at);
}

static int take_u64(uvperf__cursor_t *cursor, uint64_t *value) {
  if (room(cursor) < WORD)
    return -EPROTO;
  *value = uvperf__u64(cursor->at);
  cursor->at += WORD;
  return 0;
}

/* Takes nr things of `each` bytes; NULL where there are none, so that nothing
 * is left of an earlier sample. */
static int take_array(uvperf__cursor_t *cursor, uint64_t nr, size_t each,
                      const void **array) {
  if (nr > room(cursor) / each)
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

static int step_read(const uvperf__layout_t *layout, uvperf__cursor_t *cursor,
                     uvperf_sample_t *sample) {
  size_t used;
  int rc;

  rc = uvperf__read_format_parse(layout->read_format, cursor->at, room(cursor),
                                 &used, &sample->read);
  if (rc == 0)
    cursor->at += used;
  return rc;
}

static int step_callchain(const uvperf__layout_t *layout,
                          uvperf__cursor_t *cursor, uvperf_sample_t *sample) {
  (void)layout;
  if (take_u64(cursor, &sample->callchain.nr) != 0)
    return -EPROTO;
  return take_words(cursor, sample->callchain.nr, &sample->callchain.ips);
}

/* The kernel pads the payload so that 4 + size is a multiple of 8; where a
 * sample has none it writes size 4 and four zero bytes. */
static int step_raw(const uvperf__layout_t *layout, uvperf__cursor_t *cursor,
                    uvperf_sample_t *sample) {
  uint32_t size;

  (void)layout;
  if (room(cursor) < sizeof(size))
    return -EPROTO;
  size = uvperf__u32(cursor->at);
  if (size > room(cursor) - sizeof(size) || (size + sizeof(size)) % WORD != 0)
    return -EPROTO;
  sample->raw.size = size;
  sample->raw.data = cursor->at + sizeof(size);
  cursor->at += sizeof(size) + size;
  return 0;
}

static int step_branch(const uvperf__layout_t *layout, uvperf__cursor_t *cursor,
                       uvperf_sample_t *sample) {
  uint64_t type = layout->branch_sample_type;
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

static int take_regs(uvperf__cursor_t *cursor, uint64_t nr,
                     uvperf_regs_t *regs) {
  if (take_u64(cursor, &regs->abi) != 0)
    return -EPROTO;
  regs->nr = regs->abi != PERF_SAMPLE_REGS_ABI_NONE ? nr : 0;
  return take_words(cursor, regs->nr, &regs->regs);
}

static int step_regs_user(const uvperf__layout_t *layout,
                          uvperf__cursor_t *cursor, uvperf_sample_t *sample) {
  return take_regs(cursor, layout->nr_regs_user, &sample->regs_user);
}

static int step_regs_intr(const uvperf__layout_t *layout,
                          uvperf__cursor_t *cursor, uvperf_sample_t *sample) {
  return take_regs(cursor, layout->nr_regs_intr, &sample->regs_intr);
}

/* A size of 0 comes alone, without dyn_size: perf_output_sample_ustack. */
static int step_stack_user(const uvperf__layout_t *layout,
                           uvperf__cursor_t *cursor, uvperf_sample_t *sample) {
  uint64_t size, dyn_size = 0;

  (void)layout;
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

static int step_weight(const uvperf__layout_t *layout, uvperf__cursor_t *cursor,
                       uvperf_sample_t *sample) {
  uint64_t full;

  if (take_u64(cursor, &full) != 0)
    return -EPROTO;
  sample->weight.full = full;
  if (layout->sample_type & UVPERF_SAMPLE_WEIGHT_STRUCT) {
    sample->weight.var1_dw = (uint32_t)full;
    sample->weight.var2_w = (uint16_t)(full >> 32);
    sample->weight.var3_w = (uint16_t)(full >> 48);
  }
  return 0;
}

static int step_data_src(const uvperf__layout_t *layout,
                         uvperf__cursor_t *cursor, uvperf_sample_t *sample) {
  (void)layout;
  return take_u64(cursor, &sample->data_src);
}

static int step_transaction(const uvperf__layout_t *layout,
                            uvperf__cursor_t *cursor, uvperf_sample_t *sample) {
  (void)layout;
  return take_u64(cursor, &sample->transaction);
}

static int step_phys_addr(const uvperf__layout_t *layout,
                          uvperf__cursor_t *cursor, uvperf_sample_t *sample) {
  (void)layout;
  return take_u64(cursor, &sample->phys_addr);
}

static int step_cgroup(const uvperf__layout_t *layout, uvperf__cursor_t *cursor,
                       uvperf_sample_t *sample) {
  (void)layout;
  return take_u64(cursor, &sample->cgroup);
}

static int step_data_page_size(const uvperf__layout_t *layout,
                               uvperf__cursor_t *cursor,
                               uvperf_sample_t *sample) {
  (void)layout;
  return take_u64(cursor, &sample->data_page_size);
}

static int step_code_page_size(const uvperf__layout_t *layout,
                               uvperf__cursor_t *cursor,
                               uvperf_sample_t *sample) {
  (void)layout;
  return take_u64(cursor, &sample->code_page_size);
}

static int step_aux(const uvperf__layout_t *layout, uvperf__cursor_t *cursor,
                    uvperf_sample_t *sample) {
  (void)layout;
  if (take_u64(cursor, &sample->aux.size) != 0)
    return -EPROTO;
  return take_array(cursor, sample->aux.size, 1, &sample->aux.data);
}

/* Fields of one word at the front, in the kernel's order. */
static const struct {
  uint64_t bit;
  uint16_t to;
} front_fields[] = {
    {PERF_SAMPLE_IDENTIFIER, offsetof(uvperf_record_t, id)},
    {PERF_SAMPLE_IP, offsetof(uvperf_record_t, sample.ip)},
    {PERF_SAMPLE_TID, offsetof(uvperf_record_t, pid)},
    {PERF_SAMPLE_TIME, offsetof(uvperf_record_t, time)},
    {PERF_SAMPLE_ADDR, offsetof(uvperf_record_t, sample.addr)},
    {PERF_SAMPLE_ID, offsetof(uvperf_record_t, id)},
    {PERF_SAMPLE_STREAM_ID, offsetof(uvperf_record_t, stream_id)},
    {PERF_SAMPLE_CPU, offsetof(uvperf_record_t, cpu)},
    {PERF_SAMPLE_PERIOD, offsetof(uvperf_record_t, sample.period)},
};

/* All that follow, in the kernel's order. */
static const struct {
  uint64_t bits;
  uvperf__sample_step step;
} step_fields[] = {
    {PERF_SAMPLE_READ, step_read},
    {PERF_SAMPLE_CALLCHAIN, step_callchain},
    {PERF_SAMPLE_RAW, step_raw},
    {PERF_SAMPLE_BRANCH_STACK, step_branch},
    {PERF_SAMPLE_REGS_USER, step_regs_user},
    {PERF_SAMPLE_STACK_USER, step_stack_user},
    {PERF_SAMPLE_WEIGHT | UVPERF_SAMPLE_WEIGHT_STRUCT, step_weight},
    {PERF_SAMPLE_DATA_SRC, step_data_src},
    {PERF_SAMPLE_TRANSACTION, step_transaction},
    {PERF_SAMPLE_REGS_INTR, step_regs_intr},
    {PERF_SAMPLE_PHYS_ADDR, step_phys_addr},
    {PERF_SAMPLE_CGROUP, step_cgroup},
    {UVPERF_SAMPLE_DATA_PAGE_SIZE, step_data_page_size},
    {UVPERF_SAMPLE_CODE_PAGE_SIZE, step_code_page_size},
    {PERF_SAMPLE_AUX, step_aux},
};

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static void plan_front(uvperf__sample_plan_t *plan) {
  size_t from = sizeof(struct perf_event_header);
  size_t i;

  plan->nr_copies = 0;
  plan->cpu_from = 0;
  for (i = 0; i < LENGTH(front_fields); i++) {
    if (!(plan->layout.sample_type & front_fields[i].bit))
      continue;
    if (front_fields[i].bit == PERF_SAMPLE_CPU) {
      plan->cpu_from = from; /* 4 bytes, and 4 reserved ones */
    } else {
      plan->copies[plan->nr_copies].from = (uint16_t)from;
      plan->copies[plan->nr_copies++].to = front_fields[i].to;
    }
    from += WORD;
  }
  plan->front_size = from;
}

void uvperf__sample_plan(uvperf__sample_plan_t *plan,
                         const uvperf__layout_t *layout,
                         uvperf_record_t *record) {
  size_t i;

  plan->layout = *layout;
  plan_front(plan);
  plan->nr_steps = 0;
  for (i = 0; i < LENGTH(step_fields); i++)
    if (layout->sample_type & step_fields[i].bits)
      plan->steps[plan->nr_steps++] = step_fields[i].step;
  memset(record, 0, sizeof(*record));
  record->type = PERF_RECORD_SAMPLE;
  record->present = layout->sample_type & UVPERF__SAMPLE_KNOWN;
  if (layout->sample_type & PERF_SAMPLE_REGS_USER)
    record->sample.regs_user.mask = layout->regs_user;
  if (layout->sample_type & PERF_SAMPLE_REGS_INTR)
    record->sample.regs_intr.mask = layout->regs_intr;
}

static int run_steps(const uvperf__sample_plan_t *plan,
                     uvperf__cursor_t *cursor, uvperf_sample_t *sample) {
  size_t i;

  for (i = 0; i < plan->nr_steps; i++)
    if (plan->steps[i](&plan->layout, cursor, sample) != 0)
      return -EPROTO;
  return 0;
}

/* One reading of the fields that vary. With `open_end` bytes may be left over,
 * as those of fields that the library does not know. */
static int attempt(const uvperf__sample_plan_t *plan, const uint8_t *at,
                   const uint8_t *end, int second, int open_end,
                   uvperf_sample_t *sample) {
  uvperf__cursor_t cursor;

  cursor.at = at;
  cursor.end = end;
  cursor.second = second;
  if (run_steps(plan, &cursor, sample) != 0)
    return -EPROTO;
  return cursor.at == end || open_end ? 0 : -EPROTO;
}

/* What to try when the first reading does not end at the record's end. */
static int attempt_others(const uvperf__sample_plan_t *plan, const uint8_t *at,
                          const uint8_t *end, uvperf_sample_t *sample) {
  const uint64_t doubtful =
      UVPERF_SAMPLE_BRANCH_HW_INDEX | UVPERF_SAMPLE_BRANCH_COUNTERS;
  int may_differ = (plan->layout.sample_type & PERF_SAMPLE_BRANCH_STACK) &&
                   (plan->layout.branch_sample_type & doubtful);

  if (may_differ && attempt(plan, at, end, 1, 0, sample) == 0)
    return 0;
  if (!plan->layout.has_unknown_bits)
    return -EPROTO;
  if (attempt(plan, at, end, 0, 1, sample) == 0)
    return 0;
  return may_differ ? attempt(plan, at, end, 1, 1, sample) : -EPROTO;
}

int uvperf__sample_decode(const uvperf__sample_plan_t *plan,
                          const uint8_t *bytes, size_t size,
                          uvperf_record_t *record) {
  const uint8_t *at, *end;
  size_t i;

  if (size < plan->front_size)
    return -EPROTO;
  for (i = 0; i < plan->nr_copies; i++)
    memcpy((uint8_t *)record + plan->copies[i].to, bytes + plan->copies[i].from,
           WORD);
  if (plan->cpu_from != 0)
    record->cpu = uvperf__u32(bytes + plan->cpu_from);
  at = bytes + plan->front_size;
  end = bytes + size;
  if (attempt(plan, at, end, 0, 0, &record->sample) == 0)
    return 0;
  return attempt_others(plan, at, end, &record->sample);
}

int uvperf_regs_get(const uvperf_regs_t *regs, unsigned int bit,
                    uint64_t *value) {
  uint64_t index;

  if (regs->nr == 0 || bit >= 64 || !(regs->mask >> bit & 1))
    return -ENOENT;
  index = uvperf__bits(regs->mask & ((UINT64_C(1) << bit) - 1));
  *value = uvperf__u64((const uint8_t *)regs->regs + index * WORD);
  return 0;
}
