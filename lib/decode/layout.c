/* SPDX-License-Identifier: MIT */
/* Takes from an attr the values that decide the layout of its event's records.
 * It does not check whether the kernel would accept the attr. */
#include "decode/layout.h"

#include "uvperf/record.h"

#include "attr/attr.h"
#include "util/bytes.h"

/* PERF_SAMPLE_BRANCH_* up to COUNTERS, PERF_FORMAT_* up to LOST. */
#define BRANCH_KNOWN ((UINT64_C(1) << 20) - 1)
#define FORMAT_KNOWN ((UINT64_C(1) << 5) - 1)

/* The bits of sample_type that are in the trailer too: struct sample_id in the
 * comment at PERF_RECORD_MMAP of <linux/perf_event.h>. */
#define SAMPLE_ID_BITS                                                         \
  ((uint64_t)(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |            \
              PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |                        \
              PERF_SAMPLE_IDENTIFIER))

void uvperf__layout_read(uvperf__layout_t *layout,
                         const struct perf_event_attr *attr) {
  layout->sample_type = attr->sample_type;
  layout->read_format = attr->read_format;
  layout->branch_sample_type =
      uvperf__attr_value(attr, UVPERF_ATTR_BRANCH_SAMPLE_TYPE);
  layout->regs_user = uvperf__attr_value(attr, UVPERF_ATTR_SAMPLE_REGS_USER);
  layout->regs_intr = uvperf__attr_value(attr, UVPERF_ATTR_SAMPLE_REGS_INTR);
  layout->nr_regs_user = uvperf__bits(layout->regs_user);
  layout->nr_regs_intr = uvperf__bits(layout->regs_intr);
  layout->trailer_type = 0;
  if (attr->sample_id_all)
    layout->trailer_type = layout->sample_type & SAMPLE_ID_BITS;
  layout->trailer_size = sizeof(uint64_t) * uvperf__bits(layout->trailer_type);
  layout->has_old_mmap2 = 0;
  layout->has_unknown_bits =
      (layout->sample_type & ~UVPERF__SAMPLE_KNOWN) != 0 ||
      (layout->branch_sample_type & ~BRANCH_KNOWN) != 0 ||
      (layout->read_format & ~FORMAT_KNOWN) != 0;
}

int uvperf__layout_is_same(const uvperf__layout_t *layout,
                           const uvperf__layout_t *other, uint32_t type) {
  if (type == PERF_RECORD_SAMPLE)
    return layout->sample_type == other->sample_type &&
           layout->read_format == other->read_format &&
           layout->branch_sample_type == other->branch_sample_type &&
           layout->regs_user == other->regs_user &&
           layout->regs_intr == other->regs_intr;
  return layout->trailer_type == other->trailer_type &&
         (type != PERF_RECORD_READ ||
          layout->read_format == other->read_format) &&
         (type != PERF_RECORD_MMAP2 ||
          layout->has_old_mmap2 == other->has_old_mmap2);
}

size_t uvperf__layout_id_front(const uvperf__layout_t *layout) {
  uint64_t before =
      PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR;

  if (layout->sample_type & PERF_SAMPLE_IDENTIFIER)
    return sizeof(struct perf_event_header);
  if (layout->sample_type & PERF_SAMPLE_ID)
    return sizeof(struct perf_event_header) +
           sizeof(uint64_t) * uvperf__bits(layout->sample_type & before);
  return 0;
}

size_t uvperf__layout_id_back(const uvperf__layout_t *layout) {
  uint64_t after = PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU;

  if (layout->trailer_type & PERF_SAMPLE_IDENTIFIER)
    return sizeof(uint64_t);
  if (layout->trailer_type & PERF_SAMPLE_ID)
    return sizeof(uint64_t) * (1 + uvperf__bits(layout->trailer_type & after));
  return 0;
}

size_t uvperf__layout_time_front(const uvperf__layout_t *layout) {
  uint64_t before = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID;

  if (!(layout->sample_type & PERF_SAMPLE_TIME))
    return 0;
  return sizeof(struct perf_event_header) +
         sizeof(uint64_t) * uvperf__bits(layout->sample_type & before);
}

size_t uvperf__layout_time_back(const uvperf__layout_t *layout) {
  uint64_t after = PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
                   PERF_SAMPLE_IDENTIFIER;

  if (!(layout->trailer_type & PERF_SAMPLE_TIME))
    return 0;
  return sizeof(uint64_t) * (1 + uvperf__bits(layout->trailer_type & after));
}
