/* SPDX-License-Identifier: MIT */
/* Describes a union perf_mem_data_src in words, much as perf(1) does. Fields
 * are taken from the value by position, which is the same on all machines. */
#include "uvperf/record.h"

#include <errno.h>

#include "util/line.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* Where the fields start, PERF_MEM_*_SHIFT of Linux 6.19. The numbers are not
 * taken from the header: older headers lack some of them, and have SNOOPX at
 * 37. */
enum {
  OP_SHIFT = 0,
  LEVEL_SHIFT = 5,
  SNOOP_SHIFT = 19,
  LOCK_SHIFT = 24,
  TLB_SHIFT = 26,
  LEVEL_NUMBER_SHIFT = 33,
  REMOTE_SHIFT = 37,
  SNOOPX_SHIFT = 38,
  BLOCK_SHIFT = 40,
  HOPS_SHIFT = 43
};

static unsigned int mem_bits(uint64_t data_src, int shift, int nr) {
  return (unsigned int)(data_src >> shift) & ((1u << nr) - 1);
}

/* Adds the names of the bits that are set, with " or " between them, because
 * the PMU does not report which of the cases it was. A bit without a name is
 * left out. Returns how many names were added. */
static int add_bits(uvperf__line_t *line, unsigned int set,
                    const char *const *names, size_t nr, int already) {
  size_t i;

  for (i = 0; i < nr; i++) {
    if (!(set >> i & 1) || names[i] == NULL)
      continue;
    if (already++ > 0)
      uvperf__line_put(line, " or ");
    uvperf__line_put(line, "%s", names[i]);
  }
  return already;
}

/* Both mem_lvl and mem_dtlb have these bits. */
static void add_hit_or_miss(uvperf__line_t *line, unsigned int bits) {
  if (bits & PERF_MEM_LVL_HIT)
    uvperf__line_put(line, " hit");
  else if (bits & PERF_MEM_LVL_MISS)
    uvperf__line_put(line, " miss");
}

static void describe_op(uvperf__line_t *line, uint64_t data_src) {
  static const char *const names[] = {NULL, "load", "store", "prefetch",
                                      "exec"};

  add_bits(line, mem_bits(data_src, OP_SHIFT, 5), names, LENGTH(names), 0);
}

/* The numbers of mem_lvl_num. 0 and 15 mean that the level is not known. */
static const char *const level_names[16] = {
    [1] = "L1",         [2] = "L2",       [3] = "L3",
    [4] = "L4",         [5] = "L2 MHB",   [6] = "memory-side cache",
    [8] = "uncached",   [9] = "CXL",      [10] = "I/O",
    [11] = "any cache", [12] = "LFB/MAB", [13] = "RAM",
    [14] = "PMEM",
};

static void add_hops(uvperf__line_t *line, unsigned int hops) {
  static const char *const names[] = {NULL, " (core, same node)",
                                      " (node, same socket)",
                                      " (socket, same board)", " (board)"};

  if (hops < LENGTH(names) && names[hops] != NULL)
    uvperf__line_put(line, "%s", names[hops]);
}

/* Adds the level from mem_lvl_num, mem_remote and mem_hops (Linux 4.14, 5.16).
 * Returns 0 if the PMU did not fill in these fields. */
static int add_level_number(uvperf__line_t *line, uint64_t data_src) {
  unsigned int number = mem_bits(data_src, LEVEL_NUMBER_SHIFT, 4);

  if (number == 0 || number == PERF_MEM_LVLNUM_NA)
    return 0;
  if (mem_bits(data_src, REMOTE_SHIFT, 1))
    uvperf__line_put(line, "remote ");
  if (level_names[number] != NULL)
    uvperf__line_put(line, "%s", level_names[number]);
  else
    uvperf__line_put(line, "level %u", number);
  add_hops(line, mem_bits(data_src, HOPS_SHIFT, 3));
  return 1;
}

/* Adds the level from the older mem_lvl. */
static int add_level_bits(uvperf__line_t *line, unsigned int level) {
  static const char *const names[] = {NULL,
                                      NULL, /* hit */
                                      NULL, /* miss */
                                      "L1",
                                      "LFB/MAB",
                                      "L2",
                                      "L3",
                                      "local RAM",
                                      "remote RAM (1 hop)",
                                      "remote RAM (2 hops)",
                                      "remote cache (1 hop)",
                                      "remote cache (2 hops)",
                                      "I/O",
                                      "uncached"};

  if (level & PERF_MEM_LVL_NA)
    return 0;
  return add_bits(line, level, names, LENGTH(names), 0);
}

/* If both fields for the level are filled in, they mean the same. But only the
 * older field has hit and miss. */
static void describe_level(uvperf__line_t *line, uint64_t data_src) {
  unsigned int level = mem_bits(data_src, LEVEL_SHIFT, 14);

  if (add_level_number(line, data_src) || add_level_bits(line, level))
    add_hit_or_miss(line, level);
}

static void describe_snoop(uvperf__line_t *line, uint64_t data_src) {
  static const char *const names[] = {NULL, "none", "hit", "miss", "HitM"};
  static const char *const more[] = {"forward", "peer"};
  int added = add_bits(line, mem_bits(data_src, SNOOP_SHIFT, 5), names,
                       LENGTH(names), 0);

  add_bits(line, mem_bits(data_src, SNOOPX_SHIFT, 2), more, LENGTH(more),
           added);
}

static void describe_lock(uvperf__line_t *line, uint64_t data_src) {
  unsigned int lock = mem_bits(data_src, LOCK_SHIFT, 2);

  if (!(lock & PERF_MEM_LOCK_NA))
    uvperf__line_put(line, lock & PERF_MEM_LOCK_LOCKED ? "yes" : "no");
}

static void describe_tlb(uvperf__line_t *line, uint64_t data_src) {
  static const char *const names[] = {NULL, NULL,     NULL,   "L1",
                                      "L2", "walker", "fault"};
  unsigned int tlb = mem_bits(data_src, TLB_SHIFT, 7);

  if (!(tlb & PERF_MEM_TLB_NA) && add_bits(line, tlb, names, LENGTH(names), 0))
    add_hit_or_miss(line, tlb);
}

/* PERF_MEM_BLK_*, Linux 5.12. */
static void describe_block(uvperf__line_t *line, uint64_t data_src) {
  static const char *const names[] = {NULL, "data", "address"};
  unsigned int block = mem_bits(data_src, BLOCK_SHIFT, 3);

  if (!(block & 1))
    add_bits(line, block, names, LENGTH(names), 0);
}

int uvperf_sample_mem_describe(uint64_t data_src,
                               enum uvperf_sample_mem_part part, char *text,
                               size_t size) {
  static void (*const parts[])(uvperf__line_t * line, uint64_t data_src) = {
      [UVPERF_SAMPLE_MEM_OP] = describe_op,
      [UVPERF_SAMPLE_MEM_LEVEL] = describe_level,
      [UVPERF_SAMPLE_MEM_SNOOP] = describe_snoop,
      [UVPERF_SAMPLE_MEM_LOCK] = describe_lock,
      [UVPERF_SAMPLE_MEM_TLB] = describe_tlb,
      [UVPERF_SAMPLE_MEM_BLOCK] = describe_block,
  };
  uvperf__line_t line;

  if (size == 0 || (size_t)part >= LENGTH(parts))
    return -EINVAL;
  uvperf__line_begin(&line, text, size);
  parts[part](&line, data_src);
  if (line.length == 0)
    uvperf__line_put(&line, "N/A");
  return line.length < size ? 0 : -ENOBUFS;
}
