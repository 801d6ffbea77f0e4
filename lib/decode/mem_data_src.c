/* SPDX-License-Identifier: MIT */
/* Describes a union perf_mem_data_src in words, much as perf(1) does. Fields
 * are taken from the value by position, which is the same on all machines. */
#include "uvperf/record.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

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

typedef struct text_s {
  char *at;
  size_t room; /* bytes left, the terminator included */
  int cut;
} text_t;

static void text_add(text_t *text, const char *words) {
  size_t length = strlen(words);

  if (length >= text->room) {
    length = text->room - 1;
    text->cut = 1;
  }
  memcpy(text->at, words, length);
  text->at += length;
  text->room -= length;
  *text->at = '\0';
}

static unsigned int mem_bits(uint64_t data_src, int shift, int nr) {
  return (unsigned int)(data_src >> shift) & ((1u << nr) - 1);
}

/* Adds the names of the bits that are set, with " or " between them, because
 * the PMU does not report which of the cases it was. A bit without a name is
 * left out. Returns how many names were added. */
static int add_bits(text_t *text, unsigned int set, const char *const *names,
                    size_t nr, int already) {
  size_t i;

  for (i = 0; i < nr; i++) {
    if (!(set >> i & 1) || names[i] == NULL)
      continue;
    if (already++ > 0)
      text_add(text, " or ");
    text_add(text, names[i]);
  }
  return already;
}

static void add_hit_or_miss(text_t *text, int hit, int miss) {
  if (hit)
    text_add(text, " hit");
  else if (miss)
    text_add(text, " miss");
}

static void describe_op(text_t *text, uint64_t data_src) {
  static const char *const names[] = {NULL, "load", "store", "prefetch",
                                      "exec"};

  if (add_bits(text, mem_bits(data_src, OP_SHIFT, 5), names, LENGTH(names),
               0) == 0)
    text_add(text, "N/A");
}

/* The numbers of mem_lvl_num. 0 and 15 mean that the level is not known. */
static const char *level_name(unsigned int number) {
  static const char *const names[] = {NULL,
                                      "L1",
                                      "L2",
                                      "L3",
                                      "L4",
                                      "L2 MHB",
                                      "memory-side cache",
                                      NULL,
                                      "uncached",
                                      "CXL",
                                      "I/O",
                                      "any cache",
                                      "LFB/MAB",
                                      "RAM",
                                      "PMEM",
                                      NULL};

  return names[number];
}

static void add_hops(text_t *text, unsigned int hops) {
  static const char *const names[] = {NULL, " (core, same node)",
                                      " (node, same socket)",
                                      " (socket, same board)", " (board)"};

  if (hops < LENGTH(names) && names[hops] != NULL)
    text_add(text, names[hops]);
}

/* Adds the level from mem_lvl_num, mem_remote and mem_hops (Linux 4.14, 5.16).
 * Returns 0 if the PMU did not fill in these fields. */
static int add_level_number(text_t *text, uint64_t data_src) {
  unsigned int number = mem_bits(data_src, LEVEL_NUMBER_SHIFT, 4);
  char other[24];

  if (number == 0 || number == PERF_MEM_LVLNUM_NA)
    return 0;
  if (mem_bits(data_src, REMOTE_SHIFT, 1))
    text_add(text, "remote ");
  if (level_name(number) != NULL) {
    text_add(text, level_name(number));
  } else {
    snprintf(other, sizeof(other), "level %u", number);
    text_add(text, other);
  }
  add_hops(text, mem_bits(data_src, HOPS_SHIFT, 3));
  return 1;
}

/* Adds the level from the older mem_lvl. */
static int add_level_bits(text_t *text, unsigned int level) {
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
  return add_bits(text, level, names, LENGTH(names), 0);
}

/* If both fields for the level are filled in, they mean the same. But only the
 * older field has hit and miss. */
static void describe_level(text_t *text, uint64_t data_src) {
  unsigned int level = mem_bits(data_src, LEVEL_SHIFT, 14);

  if (!add_level_number(text, data_src) && !add_level_bits(text, level)) {
    text_add(text, "N/A");
    return;
  }
  add_hit_or_miss(text, (level & PERF_MEM_LVL_HIT) != 0,
                  (level & PERF_MEM_LVL_MISS) != 0);
}

static void describe_snoop(text_t *text, uint64_t data_src) {
  static const char *const names[] = {NULL, "none", "hit", "miss", "HitM"};
  static const char *const more[] = {"forward", "peer"};
  int added;

  added = add_bits(text, mem_bits(data_src, SNOOP_SHIFT, 5), names,
                   LENGTH(names), 0);
  added = add_bits(text, mem_bits(data_src, SNOOPX_SHIFT, 2), more,
                   LENGTH(more), added);
  if (added == 0)
    text_add(text, "N/A");
}

static void describe_lock(text_t *text, uint64_t data_src) {
  unsigned int lock = mem_bits(data_src, LOCK_SHIFT, 2);

  if (lock & PERF_MEM_LOCK_NA)
    text_add(text, "N/A");
  else
    text_add(text, lock & PERF_MEM_LOCK_LOCKED ? "yes" : "no");
}

static void describe_tlb(text_t *text, uint64_t data_src) {
  static const char *const names[] = {NULL, NULL,     NULL,   "L1",
                                      "L2", "walker", "fault"};
  unsigned int tlb = mem_bits(data_src, TLB_SHIFT, 7);

  if ((tlb & PERF_MEM_TLB_NA) ||
      add_bits(text, tlb, names, LENGTH(names), 0) == 0) {
    text_add(text, "N/A");
    return;
  }
  add_hit_or_miss(text, (tlb & PERF_MEM_TLB_HIT) != 0,
                  (tlb & PERF_MEM_TLB_MISS) != 0);
}

/* PERF_MEM_BLK_*, Linux 5.12. */
static void describe_block(text_t *text, uint64_t data_src) {
  static const char *const names[] = {NULL, "data", "address"};
  unsigned int block = mem_bits(data_src, BLOCK_SHIFT, 3);

  if ((block & 1) || add_bits(text, block, names, LENGTH(names), 0) == 0)
    text_add(text, "N/A");
}

int uvperf_sample_mem_describe(uint64_t data_src,
                               enum uvperf_sample_mem_part part, char *text,
                               size_t size) {
  static void (*const parts[])(text_t *, uint64_t) = {
      [UVPERF_SAMPLE_MEM_OP] = describe_op,
      [UVPERF_SAMPLE_MEM_LEVEL] = describe_level,
      [UVPERF_SAMPLE_MEM_SNOOP] = describe_snoop,
      [UVPERF_SAMPLE_MEM_LOCK] = describe_lock,
      [UVPERF_SAMPLE_MEM_TLB] = describe_tlb,
      [UVPERF_SAMPLE_MEM_BLOCK] = describe_block,
  };
  text_t out;

  if (size == 0 || (size_t)part >= LENGTH(parts))
    return -EINVAL;
  out.at = text;
  out.room = size;
  out.cut = 0;
  *text = '\0';
  parts[part](&out, data_src);
  return out.cut ? -ENOBUFS : 0;
}
