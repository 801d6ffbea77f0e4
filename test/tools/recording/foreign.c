/* SPDX-License-Identifier: MIT */
#include "foreign.h"

#include <byteswap.h>

#include "perf_data.h"
#include "support.h"

#define FINISHED_ROUND 68

typedef struct copy_s {
  unsigned char *bytes;
  size_t size;
} copy_t;

/* -- numbers --------------------------------------------------------------- */

static void swap_u16(unsigned char *at) {
  uint16_t value;

  memcpy(&value, at, sizeof(value));
  value = bswap_16(value);
  memcpy(at, &value, sizeof(value));
}

static void swap_u32(unsigned char *at) {
  uint32_t value;

  memcpy(&value, at, sizeof(value));
  value = bswap_32(value);
  memcpy(at, &value, sizeof(value));
}

static void swap_u64(unsigned char *at) {
  uint64_t value;

  memcpy(&value, at, sizeof(value));
  value = bswap_64(value);
  memcpy(at, &value, sizeof(value));
}

/* Swaps two numbers of 32 bits that were swapped as one number of 64 bits. */
static void swap_pair(unsigned char *at) {
  swap_u64(at);
  swap_u32(at);
  swap_u32(at + 4);
}

/* Corrects bit fields of these widths that were swapped as one number of 64
 * bits. The other byte order has the first field in the highest bits if this
 * machine has it in the lowest. */
static void swap_bits(unsigned char *at, const unsigned *widths, size_t nr) {
  uint64_t value, result = 0;
  unsigned first = 0, bit, from, to;
  const int is_little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
  size_t i;

  swap_u64(at);
  memcpy(&value, at, sizeof(value));
  for (i = 0; i < nr; i++) {
    for (bit = 0; bit < widths[i]; bit++) {
      from = is_little ? first + bit : 64 - first - widths[i] + bit;
      to = is_little ? 64 - first - widths[i] + bit : first + bit;
      result |= (value >> from & 1) << to;
    }
    first += widths[i];
  }
  assert_int_equal(first, 64);
  memcpy(at, &result, sizeof(result));
  swap_u64(at);
}

static unsigned char *put(copy_t *copy, const void *bytes, size_t size) {
  copy->bytes = realloc(copy->bytes, copy->size + size);
  assert_non_null(copy->bytes);
  memcpy(copy->bytes + copy->size, bytes, size);
  copy->size += size;
  return copy->bytes + copy->size - size;
}

static void put_u32(copy_t *copy, uint32_t value) {
  swap_u32(put(copy, &value, sizeof(value)));
}

static void put_u64(copy_t *copy, uint64_t value) {
  swap_u64(put(copy, &value, sizeof(value)));
}

static void put_words(copy_t *copy, const void *bytes, size_t size) {
  unsigned char *at = put(copy, bytes, size);
  size_t i;

  assert_int_equal(size % 8, 0);
  for (i = 0; i < size; i += 8)
    swap_u64(at + i);
}

/* -- attrs ----------------------------------------------------------------- */

static void put_attr(copy_t *copy, const struct perf_event_attr *attr) {
  static const size_t pairs[] = {0, 48, 88, 112};
  unsigned widths[64];
  unsigned char *at;
  size_t i;

  for (i = 0; i < 63; i++)
    widths[i] = i == 15 ? 2 : 1; /* precise_ip */
  put_words(copy, attr, attr->size);
  at = copy->bytes + copy->size - attr->size;
  swap_bits(at + 40, widths, 63);
  for (i = 0; i < 4 && pairs[i] + 8 <= attr->size; i++)
    swap_pair(at + pairs[i]);
  if (attr->size < 112)
    return;
  swap_u64(at + 104);
  swap_u32(at + 104);
  swap_u16(at + 108);
  swap_u16(at + 110);
}

/* -- records --------------------------------------------------------------- */

/* Restores the bytes that a program chose, because they are never swapped. */
static void restore(unsigned char *at, const uvperf_record_t *record,
                    const void *bytes, size_t size) {
  size_t offset;

  if (size == 0)
    return;
  offset = (size_t)((const char *)bytes - (const char *)record->bytes);
  memcpy(at + offset, bytes, size);
}

static void fix_sample(unsigned char *at, const uvperf_record_t *record) {
  static const unsigned flags[] = {1, 1, 1, 1, 16, 4, 2, 4, 3, 31};
  const uvperf_sample_t *sample = &record->sample;
  uint64_t type = record->source->attr->sample_type, i;
  size_t words = 1, offset;

  words += (type & PERF_SAMPLE_IDENTIFIER) != 0;
  words += (type & PERF_SAMPLE_IP) != 0;
  if (type & PERF_SAMPLE_TID)
    swap_pair(at + 8 * words++);
  words += (type & PERF_SAMPLE_TIME) != 0;
  words += (type & PERF_SAMPLE_ADDR) != 0;
  words += (type & PERF_SAMPLE_ID) != 0;
  words += (type & PERF_SAMPLE_STREAM_ID) != 0;
  if (type & PERF_SAMPLE_CPU)
    swap_pair(at + 8 * words);
  if (type & PERF_SAMPLE_RAW) {
    offset =
        (size_t)((const char *)sample->raw.data - (const char *)record->bytes);
    restore(at, record, (const char *)sample->raw.data - 4,
            sample->raw.size + 4);
    swap_u32(at + offset - 4);
  }
  for (i = 0; i < sample->branch.nr; i++) {
    offset = (size_t)((const char *)&sample->branch.entries[i] -
                      (const char *)record->bytes);
    swap_bits(at + offset + 16, flags, 10);
  }
  restore(at, record, sample->stack_user.data, (size_t)sample->stack_user.size);
  restore(at, record, sample->aux.data, (size_t)sample->aux.size);
}

/* The header of 8 bytes is before the body. */
static void fix_body(unsigned char *at, const uvperf_record_t *record,
                     size_t trailer) {
  const char *bytes = record->bytes;
  size_t text = 0;

  switch (record->type) {
    case PERF_RECORD_MMAP:
      text = 40;
      break;
    case PERF_RECORD_MMAP2:
      text = 72;
      swap_pair(at + 64);
      if (uvperf_record_has_build_id(record))
        memcpy(at + 40, bytes + 40, 24);
      else
        swap_pair(at + 40);
      break;
    case PERF_RECORD_COMM:
      text = 16;
      break;
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
      swap_pair(at + 16);
      break;
    case PERF_RECORD_KSYMBOL:
      text = 24;
      swap_u64(at + 16);
      swap_u32(at + 16);
      swap_u16(at + 20);
      swap_u16(at + 22);
      break;
    case PERF_RECORD_BPF_EVENT:
      memcpy(at + 8, bytes + 8, 16);
      swap_u16(at + 8);
      swap_u16(at + 10);
      swap_u32(at + 12);
      break;
    case PERF_RECORD_TEXT_POKE:
      text = 20;
      memcpy(at + 16, bytes + 16, 4);
      swap_u16(at + 16);
      swap_u16(at + 18);
      break;
    case PERF_RECORD_CGROUP:
      text = 16;
      break;
    default:
      break;
  }
  if (text > 0)
    memcpy(at + text, bytes + text, record->size - trailer - text);
}

static int begins_with_a_pair(uint32_t type) {
  return type == PERF_RECORD_MMAP || type == PERF_RECORD_MMAP2 ||
         type == PERF_RECORD_COMM || type == PERF_RECORD_FORK ||
         type == PERF_RECORD_EXIT || type == PERF_RECORD_READ ||
         type == PERF_RECORD_NAMESPACES || type == PERF_RECORD_ITRACE_START ||
         type == PERF_RECORD_SWITCH_CPU_WIDE;
}

static void fix_other(unsigned char *at, const uvperf_record_t *record) {
  const struct perf_event_attr *attr = record->source->attr;
  uint64_t type = attr->sample_id_all ? attr->sample_type : 0;
  size_t trailer = 0, end = record->size;

  type &= PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
          PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
  trailer = 8 * (size_t)__builtin_popcountll(type);
  if (begins_with_a_pair(record->type))
    swap_pair(at + 8);
  fix_body(at, record, trailer);
  if (type & PERF_SAMPLE_TID)
    swap_pair(at + end - trailer);
  if (type & PERF_SAMPLE_CPU)
    swap_pair(at + end - (type & PERF_SAMPLE_IDENTIFIER ? 16 : 8));
}

static void put_record(void *arg, const perf_data_record_t *record) {
  struct perf_event_header header = {record->type, 0, record->size};
  unsigned char *at;
  copy_t *copy = arg;

  if (record->record == NULL) {
    if (record->type != FINISHED_ROUND)
      return;
    at = put(copy, &header, sizeof(header));
  } else {
    put_words(copy, record->record->bytes, record->size);
    at = copy->bytes + copy->size - record->size;
    memcpy(at, record->record->bytes, sizeof(header));
    assert_non_null(record->record->source);
    if (record->type == PERF_RECORD_SAMPLE)
      fix_sample(at, record->record);
    else
      fix_other(at, record->record);
  }
  swap_u32(at);
  swap_u16(at + 4);
  swap_u16(at + 6);
}

/* -- features -------------------------------------------------------------- */

static void put_string(copy_t *copy, const char *text) {
  uint32_t size = (uint32_t)(strlen(text) + 64) / 64 * 64;
  char padded[512] = "";

  assert_true(size <= sizeof(padded));
  memcpy(padded, text, strlen(text));
  put_u32(copy, size);
  put(copy, padded, size);
}

static void put_event_desc(copy_t *copy, const perf_data_t *data) {
  size_t i;

  put_u32(copy, (uint32_t)data->nr);
  put_u32(copy, data->sources[0].attr->size);
  for (i = 0; i < data->nr; i++) {
    put_attr(copy, data->sources[i].attr);
    put_u32(copy, (uint32_t)data->sources[i].nr_ids);
    put_string(copy, data->names[i]);
    put_words(copy, data->sources[i].ids, data->sources[i].nr_ids * 8);
  }
}

static void put_build_ids(copy_t *copy, const unsigned char *bytes,
                          size_t size) {
  unsigned char *at;
  uint16_t entry;

  for (; size > 0; size -= entry, bytes += entry) {
    memcpy(&entry, bytes + 6, sizeof(entry));
    at = put(copy, bytes, entry);
    swap_u32(at);
    swap_u16(at + 4);
    swap_u16(at + 6);
    swap_u32(at + 8);
  }
}

static void put_feature(copy_t *copy, const perf_data_t *data,
                        unsigned feature) {
  const unsigned char *bytes, *next;
  size_t size;

  bytes = data_file_feature(&data->file, feature, &size);
  if (feature == 2)
    put_build_ids(copy, bytes, size);
  else if (feature == 12)
    put_event_desc(copy, data);
  else
    put_string(copy, data_file_string(bytes, &next));
}

/* Writes the table `base` bytes into the file, and its contents after it. */
static uint64_t put_features(copy_t *copy, const perf_data_t *data,
                             uint64_t base) {
  static const unsigned features[] = {2, 3, 4, 6, 12};
  copy_t table = {NULL, 0}, all = {NULL, 0};
  uint64_t bits = 0, offset;
  size_t i, nr = 0;

  for (i = 0; i < 5; i++)
    nr += perf_data_has(data, features[i]) != 0;
  for (i = 0; i < 5; i++) {
    if (!perf_data_has(data, features[i]))
      continue;
    bits |= UINT64_C(1) << features[i];
    offset = all.size;
    put_feature(&all, data, features[i]);
    put_u64(&table, base + nr * 16 + offset);
    put_u64(&table, all.size - offset);
  }
  if (nr > 0) {
    put(copy, table.bytes, table.size);
    put(copy, all.bytes, all.size);
  }
  free(table.bytes);
  free(all.bytes);
  return bits;
}

/* -- the file -------------------------------------------------------------- */

static void write_file(const char *path, const copy_t *parts, size_t nr) {
  FILE *file = fopen(path, "we");
  size_t i;

  assert_non_null(file);
  for (i = 0; i < nr; i++) {
    if (parts[i].size > 0)
      assert_int_equal(fwrite(parts[i].bytes, parts[i].size, 1, file), 1);
  }
  assert_int_equal(fclose(file), 0);
}

void foreign_copy(const char *from, const char *to) {
  enum {
    HEADER,
    IDS,
    ATTRS,
    RECORDS,
    FEATURES,
    NR
  };
  copy_t parts[NR] = {{NULL, 0}};
  size_t i, attr_size, offset = 104;
  perf_data_t data;
  uint64_t bits;

  perf_data_open(&data, from);
  attr_size = data.sources[0].attr->size;
  for (i = 0; i < data.nr; i++)
    put_words(&parts[IDS], data.sources[i].ids, data.sources[i].nr_ids * 8);
  for (i = 0; i < data.nr; i++) {
    put_attr(&parts[ATTRS], data.sources[i].attr);
    put_u64(&parts[ATTRS], offset);
    put_u64(&parts[ATTRS], data.sources[i].nr_ids * 8);
    offset += data.sources[i].nr_ids * 8;
  }
  perf_data_walk(&data, put_record, &parts[RECORDS]);
  offset += parts[ATTRS].size;
  bits = put_features(&parts[FEATURES], &data, offset + parts[RECORDS].size);
  put_u64(&parts[HEADER], DATA_FILE_MAGIC);
  put_u64(&parts[HEADER], 104);
  put_u64(&parts[HEADER], attr_size + 16);
  put_u64(&parts[HEADER], offset - parts[ATTRS].size);
  put_u64(&parts[HEADER], parts[ATTRS].size);
  put_u64(&parts[HEADER], offset);
  put_u64(&parts[HEADER], parts[RECORDS].size);
  put_u64(&parts[HEADER], 0);
  put_u64(&parts[HEADER], 0);
  put_u64(&parts[HEADER], bits);
  for (i = 0; i < 3; i++)
    put_u64(&parts[HEADER], 0);
  write_file(to, parts, NR);
  for (i = 0; i < NR; i++)
    free(parts[i].bytes);
  perf_data_close(&data);
}
