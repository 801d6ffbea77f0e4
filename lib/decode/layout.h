/* SPDX-License-Identifier: MIT */
/* The parts of an attr that decide the layout of its event's records, and where
 * id and time lie in them. */
#ifndef UVPERF_LIB_DECODE_LAYOUT_H
#define UVPERF_LIB_DECODE_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

struct perf_event_attr;

typedef struct uvperf__layout_s {
  uint64_t sample_type;
  uint64_t read_format;
  uint64_t branch_sample_type;
  uint64_t regs_user; /* attr.sample_regs_user */
  uint64_t regs_intr; /* attr.sample_regs_intr */
  /* The bits in these masks. */
  uint64_t nr_regs_user;
  uint64_t nr_regs_intr;
  /* The PERF_SAMPLE_* bits of the sample_id trailer (0 without sample_id_all),
   * and the size of the trailer in bytes. */
  uint64_t trailer_type;
  size_t trailer_size;
  /* MMAP2 has no prot and flags: UVPERF_SOURCE_OLD_MMAP2. */
  int has_old_mmap2;
  /* Whether the attr has a bit that the library does not know. Then a record
   * may have bytes that the library cannot explain. */
  int has_unknown_bits;
} uvperf__layout_t;

/* All PERF_SAMPLE_* bits that the library knows. */
#define UVPERF__SAMPLE_KNOWN ((UINT64_C(1) << 25) - 1)

/* Reads an attr with attr->size bytes (0 counts as 64). Fields past them are
 * 0. */
void uvperf__layout_read(uvperf__layout_t *layout,
                         const struct perf_event_attr *attr);

/* Whether records of a type have the same layout with both attrs. */
int uvperf__layout_is_same(const uvperf__layout_t *layout,
                           const uvperf__layout_t *other, uint32_t type);

/* Where the event's id lies. The first function returns the bytes from the
 * start of a sample to the id. The second function returns the bytes from the
 * id to the end of any other record, including the id. Both return 0 if there
 * is no id. */
size_t uvperf__layout_id_front(const uvperf__layout_t *layout);
size_t uvperf__layout_id_back(const uvperf__layout_t *layout);

/* Do the same for the time. */
size_t uvperf__layout_time_front(const uvperf__layout_t *layout);
size_t uvperf__layout_time_back(const uvperf__layout_t *layout);

#endif
