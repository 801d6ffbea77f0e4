/* SPDX-License-Identifier: MIT */
/* The layouts are in <linux/perf_event.h>, at enum perf_event_type. Some fields
 * have bytes that a program chose (RAW, the copy of a stack, AUX). These bytes
 * stay as they are. */
#include "common/recording/swap.h"

#include <byteswap.h>
#include <string.h>

#include <uvperf.h>

#define HEADER_BYTES sizeof(struct perf_event_header)

/* Bit fields begin at the lowest bit on a little-endian machine, and at the
 * highest bit on a big-endian one. */
#define IS_LITTLE (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)

/* The rest of a record. */
typedef struct swap_s {
  unsigned char *at;
  unsigned char *end;
} swap_t;

/* Fields that do not fit stay as they are, and so do all fields after them. */
static unsigned char *take(swap_t *swap, size_t size) {
  unsigned char *at = swap->at;

  if ((size_t)(swap->end - at) < size) {
    swap->at = swap->end;
    return NULL;
  }
  swap->at += size;
  return at;
}

/* Exchanges the bytes of a number of 2, 4 or 8 bytes. Returns the number, or 0
 * if it does not fit. */
static uint64_t swap_number(swap_t *swap, size_t size) {
  unsigned char *at = take(swap, size), byte;
  uint64_t value = 0;
  size_t i;

  if (at == NULL)
    return 0;
  for (i = 0; i < size / 2; i++) {
    byte = at[i];
    at[i] = at[size - 1 - i];
    at[size - 1 - i] = byte;
  }
  for (i = 0; i < size; i++)
    value |= (uint64_t)at[IS_LITTLE ? i : size - 1 - i] << 8 * i;
  return value;
}

static uint64_t swap_u64(swap_t *swap) {
  return swap_number(swap, sizeof(uint64_t));
}

static void swap_words(swap_t *swap, uint64_t nr) {
  for (; nr > 0 && swap->at < swap->end; nr--)
    swap_u64(swap);
}

static void skip(swap_t *swap, uint64_t size) {
  take(swap, size > SIZE_MAX ? SIZE_MAX : (size_t)size);
}

static unsigned char reversed(unsigned char byte) {
  unsigned char result = 0;
  int i;

  for (i = 0; i < 8; i++)
    result = (unsigned char)(result | (byte >> i & 1) << (7 - i));
  return result;
}

/* If fields begin at the lowest bit, bits 15 and 16 are one field,
 * precise_ip. */
static void exchange_precise(unsigned char *at) {
  unsigned high = at[1] >> 7, low = at[2] & 1u;

  at[1] = (unsigned char)((at[1] & 0x7fu) | low << 7);
  at[2] = (unsigned char)((at[2] & 0xfeu) | high);
}

/* Converts the flags of an attr. All flags except precise_ip have one bit. */
static void swap_flags(swap_t *swap) {
  unsigned char *at = take(swap, sizeof(uint64_t));
  int i;

  if (at == NULL)
    return;
  if (!IS_LITTLE)
    exchange_precise(at);
  for (i = 0; i < 8; i++)
    at[i] = reversed(at[i]);
  if (IS_LITTLE)
    exchange_precise(at);
}

/* Each character is a field. A digit is a field of that many bytes. 'b' is the
 * flags of an attr, '-' is a word that stays as it is, and '*' means words up
 * to the end. */
static void swap_fields(swap_t *swap, const char *fields) {
  for (; *fields != '\0'; fields++) {
    switch (*fields) {
      case '2':
      case '4':
      case '8':
        swap_number(swap, (size_t)(*fields - '0'));
        break;
      case 'b':
        swap_flags(swap);
        break;
      case '*':
        swap_words(swap, UINT64_MAX);
        break;
      default:
        skip(swap, sizeof(uint64_t));
        break;
    }
  }
}

void recording_swap_attr(unsigned char *bytes, size_t size) {
  swap_t swap = {bytes, bytes + size};

  swap_fields(&swap, "448888b44888844" /* up to clockid */
                     "84224488*");     /* up to config3, and newer ones */
}

/* -- the body of a sample -------------------------------------------------- */

static int bits(uint64_t mask) {
  return __builtin_popcountll(mask);
}

static void swap_read(swap_t *swap, uint64_t format) {
  uint64_t times = format & (PERF_FORMAT_TOTAL_TIME_ENABLED |
                             PERF_FORMAT_TOTAL_TIME_RUNNING);
  uint64_t each =
      1 + (uint64_t)bits(format & (PERF_FORMAT_ID | UVPERF_FORMAT_LOST));
  uint64_t nr = 1;

  if (format & PERF_FORMAT_GROUP)
    nr = swap_u64(swap);
  swap_words(swap, (uint64_t)bits(times));
  for (; nr > 0 && swap->at < swap->end; nr--)
    swap_words(swap, each);
}

/* Converts the flags of a branch: bit fields of these widths. */
static void swap_branch_flags(swap_t *swap) {
  static const unsigned widths[] = {1, 1, 1, 1, 16, 4, 2, 4, 3, 31};
  unsigned char *at = take(swap, sizeof(uint64_t));
  uint64_t value, field, flags = 0;
  unsigned used = 0, high, i;

  if (at == NULL)
    return;
  memcpy(&value, at, sizeof(value));
  value = bswap_64(value);
  for (i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
    high = 64 - used - widths[i];
    field = value >> (IS_LITTLE ? high : used);
    field &= (UINT64_C(1) << widths[i]) - 1;
    flags |= field << (IS_LITTLE ? used : high);
    used += widths[i];
  }
  memcpy(at, &flags, sizeof(flags));
}

/* If nr is 0, hw_idx may be there or not. This code assumes that it is
 * absent. */
static void swap_branches(swap_t *swap, uint64_t type) {
  uint64_t nr = swap_u64(swap);

  if ((type & UVPERF_SAMPLE_BRANCH_HW_INDEX) && nr > 0)
    swap_u64(swap);
  for (; nr > 0 && swap->at < swap->end; nr--) {
    swap_words(swap, 2);
    swap_branch_flags(swap);
  }
}

static void swap_regs(swap_t *swap, uint64_t mask) {
  if (swap_u64(swap) != PERF_SAMPLE_REGS_ABI_NONE)
    swap_words(swap, (uint64_t)bits(mask));
}

static void swap_stack(swap_t *swap) {
  uint64_t size = swap_u64(swap);

  skip(swap, size);
  if (size > 0)
    swap_u64(swap);
}

/* Converts a field of a sample. Most fields are one word. */
static void swap_field(swap_t *swap, uint64_t bit,
                       const struct perf_event_attr *attr) {
  switch (bit) {
    case PERF_SAMPLE_TID:
    case PERF_SAMPLE_CPU:
      swap_fields(swap, "44");
      break;
    case PERF_SAMPLE_READ:
      swap_read(swap, attr->read_format);
      break;
    case PERF_SAMPLE_CALLCHAIN:
      swap_words(swap, swap_u64(swap));
      break;
    case PERF_SAMPLE_RAW:
      skip(swap, swap_number(swap, sizeof(uint32_t)));
      break;
    case PERF_SAMPLE_BRANCH_STACK:
      swap_branches(swap, attr->branch_sample_type);
      break;
    case PERF_SAMPLE_REGS_USER:
      swap_regs(swap, attr->sample_regs_user);
      break;
    case PERF_SAMPLE_STACK_USER:
      swap_stack(swap);
      break;
    case PERF_SAMPLE_REGS_INTR:
      swap_regs(swap, attr->sample_regs_intr);
      break;
    case PERF_SAMPLE_AUX:
      skip(swap, swap_u64(swap));
      break;
    default:
      swap_u64(swap);
      break;
  }
}

static void swap_sample(swap_t *swap, const struct perf_event_attr *attr) {
  /* The fields in the order in which the kernel writes them. */
  static const uint64_t order[] = {PERF_SAMPLE_IDENTIFIER,
                                   PERF_SAMPLE_IP,
                                   PERF_SAMPLE_TID,
                                   PERF_SAMPLE_TIME,
                                   PERF_SAMPLE_ADDR,
                                   PERF_SAMPLE_ID,
                                   PERF_SAMPLE_STREAM_ID,
                                   PERF_SAMPLE_CPU,
                                   PERF_SAMPLE_PERIOD,
                                   PERF_SAMPLE_READ,
                                   PERF_SAMPLE_CALLCHAIN,
                                   PERF_SAMPLE_RAW,
                                   PERF_SAMPLE_BRANCH_STACK,
                                   PERF_SAMPLE_REGS_USER,
                                   PERF_SAMPLE_STACK_USER,
                                   PERF_SAMPLE_WEIGHT |
                                       UVPERF_SAMPLE_WEIGHT_STRUCT,
                                   PERF_SAMPLE_DATA_SRC,
                                   PERF_SAMPLE_TRANSACTION,
                                   PERF_SAMPLE_REGS_INTR,
                                   PERF_SAMPLE_PHYS_ADDR,
                                   PERF_SAMPLE_CGROUP,
                                   UVPERF_SAMPLE_DATA_PAGE_SIZE,
                                   UVPERF_SAMPLE_CODE_PAGE_SIZE,
                                   PERF_SAMPLE_AUX};
  size_t i;

  for (i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
    if (attr->sample_type & order[i])
      swap_field(swap, order[i], attr);
  }
}

/* -- other records --------------------------------------------------------- */

/* Texts and bytes after the fields stay as they are. */
static const char *fields_of(const struct perf_event_header *header) {
  switch (header->type) {
    case PERF_RECORD_MMAP:
      return "44888";
    case PERF_RECORD_MMAP2:
      if (header->misc & UVPERF_RECORD_MISC_MMAP_BUILD_ID)
        return "44888---44";
      return "44888448844";
    case PERF_RECORD_COMM:
    case PERF_RECORD_ITRACE_START:
    case PERF_RECORD_SWITCH_CPU_WIDE:
      return "44";
    case PERF_RECORD_EXIT:
    case PERF_RECORD_FORK:
      return "44448";
    case PERF_RECORD_READ:
      return "44*";
    case PERF_RECORD_NAMESPACES:
      return "44*";
    case PERF_RECORD_CGROUP:
      return "8";
    case PERF_RECORD_KSYMBOL:
      return "8422";
    case PERF_RECORD_BPF_EVENT:
      return "224";
    case PERF_RECORD_TEXT_POKE:
      return "822";
    default:
      return "*"; /* words, or nothing */
  }
}

/* The fields at the end of a record that is not a sample, in the kernel's
 * order. */
static const uint64_t trailer_order[] = {
    PERF_SAMPLE_TID,       PERF_SAMPLE_TIME, PERF_SAMPLE_ID,
    PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_CPU,  PERF_SAMPLE_IDENTIFIER};

static uint64_t trailer_bits(const struct perf_event_attr *attr) {
  uint64_t mask = 0;
  size_t i;

  for (i = 0; attr->sample_id_all && i < 6; i++)
    mask |= attr->sample_type & trailer_order[i];
  return mask;
}

static void swap_other(swap_t *swap, const struct perf_event_header *header,
                       const struct perf_event_attr *attr) {
  uint64_t mask = trailer_bits(attr);
  size_t size = (size_t)bits(mask) * sizeof(uint64_t), i;
  swap_t trailer = {swap->end - size, swap->end};

  if (size > (size_t)(swap->end - swap->at))
    return;
  for (i = 0; i < 6; i++) {
    if (mask & trailer_order[i])
      swap_field(&trailer, trailer_order[i], attr);
  }
  swap->end -= size;
  swap_fields(swap, fields_of(header));
}

/* -- records --------------------------------------------------------------- */

uint64_t recording_swap_id(const struct perf_event_attr *attr,
                           const struct perf_event_header *header) {
  uint64_t type = attr->sample_type, before, behind, id;
  size_t words = 0, nr = header->size / sizeof(uint64_t);

  before =
      PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR;
  behind = PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU;
  if (!(type & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ID)))
    return 0;
  if (header->type == PERF_RECORD_SAMPLE) {
    if (!(type & PERF_SAMPLE_IDENTIFIER))
      words = (size_t)bits(type & before);
    words += 1;
  } else {
    if (!(type & PERF_SAMPLE_IDENTIFIER))
      words = (size_t)bits(type & behind);
    words = nr < words + 1 ? 0 : nr - 1 - words;
  }
  if (words == 0 || words >= nr ||
      (header->type != PERF_RECORD_SAMPLE && !attr->sample_id_all))
    return 0;
  memcpy(&id, (const unsigned char *)header + words * sizeof(id), sizeof(id));
  return bswap_64(id);
}

void recording_swap_record(struct perf_event_header *header,
                           const struct perf_event_attr *attr) {
  unsigned char *bytes = (unsigned char *)header;
  swap_t swap = {bytes + HEADER_BYTES, bytes + header->size};

  if (header->type == PERF_RECORD_SAMPLE)
    swap_sample(&swap, attr);
  else
    swap_other(&swap, header, attr);
}
