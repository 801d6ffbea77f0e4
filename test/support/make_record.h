/* SPDX-License-Identifier: MIT */
/* Builds records as the kernel writes them, from nothing but the comments of
 * enum perf_event_type in <linux/perf_event.h> of Linux 6.19. It shares no code
 * with lib/. An attr and a record_values_t determine every byte, so that
 * check_record.h knows the expected result. */
#ifndef UVPERF_TEST_MAKE_RECORD_H
#define UVPERF_TEST_MAKE_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include <linux/perf_event.h>

/* Bits that older headers lack. */
#define BUILD_SAMPLE_DATA_PAGE_SIZE (UINT64_C(1) << 22)
#define BUILD_SAMPLE_CODE_PAGE_SIZE (UINT64_C(1) << 23)
#define BUILD_SAMPLE_WEIGHT_STRUCT  (UINT64_C(1) << 24)
#define BUILD_SAMPLE_ALL            ((UINT64_C(1) << 25) - 1)
#define BUILD_BRANCH_HW_INDEX       (UINT64_C(1) << 17)
#define BUILD_BRANCH_COUNTERS       (UINT64_C(1) << 19)
#define BUILD_FORMAT_LOST           (UINT64_C(1) << 4)
#define BUILD_FORMAT_ALL            UINT64_C(0x1f)
#define BUILD_MISC_BUILD_ID         (1u << 14)

/* Types go from 1 to 22. */
#define BUILD_TYPES 22

/* What varies between records of one type and attr. */
typedef struct record_values_s {
  uint16_t misc;
  uint32_t pid, tid, cpu;
  uint64_t time, id, stream_id;
  /* For a sample. */
  uint64_t ip, addr, period;
  uint64_t group_nr; /* values in a group, also for READ */
  uint64_t callchain_nr;
  uint32_t raw_size; /* a multiple of 8, plus 4 */
  uint64_t branch_nr;
  uint64_t hw_idx;
  int no_branch_stack; /* only nr = 0: the PMU recorded none */
  int no_counters;     /* although BRANCH_COUNTERS was requested */
  uint64_t abi_user, abi_intr;
  uint64_t stack_size, dyn_size;
  uint64_t weight, data_src, transaction, phys_addr, cgroup;
  uint64_t data_page_size, code_page_size;
  uint64_t aux_size;
  uint64_t surplus_bytes; /* after the last field; 0 at first */
  /* For the others. */
  const char *text; /* of COMM, MMAP, MMAP2, KSYMBOL and CGROUP */
  uint64_t nr;      /* of NAMESPACES and CALLCHAIN_DEFERRED */
  uint16_t old_len, new_len;
  uint8_t build_id_size;
} record_values_t;

/* The record. `words` makes it 8-byte aligned. */
typedef struct record_builder_s {
  uint64_t words[8192];
  size_t size;
} record_builder_t;

/* Sets every field, each to a different value. */
void record_values_init(record_values_t *values);

/* The value of the i-th word of an array, and of the scalars of a side-band
 * body, counted from 0. */
uint64_t record_word(unsigned int tag, uint64_t i);
enum {
  TAG_VALUE = 1,
  TAG_VALUE_ID,
  TAG_VALUE_LOST,
  TAG_ENABLED,
  TAG_RUNNING,
  TAG_CALLCHAIN,
  TAG_FROM,
  TAG_TO,
  TAG_FLAGS,
  TAG_COUNTER,
  TAG_REGS_USER,
  TAG_REGS_INTR,
  TAG_BODY,
  TAG_DEV,
  TAG_INODE,
  TAG_IPS,
  TAG_SURPLUS
};
uint8_t record_byte(size_t i); /* for raw, stack, aux, build id, text_poke */

/* Builds a complete record of any type, with the trailer that the attr asks
 * for. A type above 22 gets one word of body. */
void record_build(record_builder_t *builder, uint32_t type,
                  const struct perf_event_attr *attr,
                  const record_values_t *values);

/* Parts, for records that record_build does not make. */
void record_begin(record_builder_t *builder, uint32_t type, uint16_t misc);
void record_put(record_builder_t *builder, const void *bytes, size_t size);
void record_put_u32(record_builder_t *builder, uint32_t value);
void record_put_u64(record_builder_t *builder, uint64_t value);
void record_put_trailer(record_builder_t *builder,
                        const struct perf_event_attr *attr,
                        const record_values_t *values);
/* Sets header.size; call it last. */
void record_end(record_builder_t *builder);

/* Returns a copy of the first `size` bytes in memory of exactly that size, for
 * ASan to guard; header.size is set to `size` if that is at least 8. The caller
 * frees it. */
void *record_cut(const record_builder_t *builder, size_t size);

/* Returns a copy of a text in memory of exactly its size, without a NUL. (The
 * NUL of a text in a ring can be overwritten.) The caller frees it. */
char *record_text(const char *text);

/* A pseudo-random number, the same in each run. */
uint64_t record_random(uint64_t *state);

#endif
