/* SPDX-License-Identifier: MIT */
/* Builds records; the order of each body follows its comment in
 * <linux/perf_event.h> line by line. */
#include "make_record.h"

#include <stdlib.h>
#include <string.h>

void record_values_init(record_values_t *v) {
  memset(v, 0, sizeof(*v));
  v->misc = PERF_RECORD_MISC_USER;
  v->pid = 0x1111;
  v->tid = 0x2222;
  v->cpu = 0x3333;
  v->time = UINT64_C(0x4444444444);
  v->id = UINT64_C(0x5555555555);
  v->stream_id = UINT64_C(0x6666666666);
  v->ip = UINT64_C(0x7777777777);
  v->addr = UINT64_C(0x8888888888);
  v->period = UINT64_C(0x9999999999);
  v->group_nr = 3;
  v->callchain_nr = 5;
  v->raw_size = 20;
  v->branch_nr = 4;
  v->hw_idx = 0x1717;
  v->abi_user = PERF_SAMPLE_REGS_ABI_64;
  v->abi_intr = PERF_SAMPLE_REGS_ABI_32;
  v->stack_size = 64;
  v->dyn_size = 40;
  v->weight = UINT64_C(0xfedcba9876543210);
  v->data_src = UINT64_C(0xaaaaaaaaaa);
  v->transaction = UINT64_C(0xbbbbbbbbbb);
  v->phys_addr = UINT64_C(0xcccccccccc);
  v->cgroup = UINT64_C(0xdddddddddd);
  v->data_page_size = 4096;
  v->code_page_size = 2097152;
  v->aux_size = 24;
  v->text = "/usr/lib/libexample.so.1";
  v->nr = 7;
  v->old_len = 5;
  v->new_len = 6;
  v->build_id_size = 20;
}

uint64_t record_word(unsigned int tag, uint64_t i) {
  return ((uint64_t)tag << 40) + (i + 1) * UINT64_C(0x10001);
}

uint8_t record_byte(size_t i) {
  return (uint8_t)(0x80 + i % 127);
}

void record_put(record_builder_t *b, const void *bytes, size_t size) {
  if (size > sizeof(b->words) - b->size)
    abort();
  memcpy((uint8_t *)b->words + b->size, bytes, size);
  b->size += size;
}

static void put_u16(record_builder_t *b, uint16_t value) {
  record_put(b, &value, sizeof(value));
}

void record_put_u32(record_builder_t *b, uint32_t value) {
  record_put(b, &value, sizeof(value));
}

void record_put_u64(record_builder_t *b, uint64_t value) {
  record_put(b, &value, sizeof(value));
}

static void put_bytes(record_builder_t *b, size_t size) {
  uint8_t byte;
  size_t i;

  for (i = 0; i < size; i++) {
    byte = record_byte(i);
    record_put(b, &byte, 1);
  }
}

static void put_words(record_builder_t *b, unsigned int tag, uint64_t nr) {
  uint64_t i;

  for (i = 0; i < nr; i++)
    record_put_u64(b, record_word(tag, i));
}

static void pad(record_builder_t *b) {
  while (b->size % 8 != 0)
    record_put(b, "", 1);
}

static void put_text(record_builder_t *b, const char *text) {
  record_put(b, text, strlen(text) + 1);
  pad(b);
}

void record_begin(record_builder_t *b, uint32_t type, uint16_t misc) {
  b->size = 0;
  record_put_u32(b, type);
  put_u16(b, misc);
  put_u16(b, 0);
}

static void set_size(void *bytes, size_t size) {
  uint16_t value = (uint16_t)size;

  if (size > UINT16_MAX)
    abort();
  memcpy((uint8_t *)bytes + 6, &value, sizeof(value));
}

void record_end(record_builder_t *b) {
  set_size(b->words, b->size);
}

/* struct sample_id */
void record_put_trailer(record_builder_t *b, const struct perf_event_attr *attr,
                        const record_values_t *v) {
  if (!attr->sample_id_all)
    return;
  if (attr->sample_type & PERF_SAMPLE_TID) {
    record_put_u32(b, v->pid);
    record_put_u32(b, v->tid);
  }
  if (attr->sample_type & PERF_SAMPLE_TIME)
    record_put_u64(b, v->time);
  if (attr->sample_type & PERF_SAMPLE_ID)
    record_put_u64(b, v->id);
  if (attr->sample_type & PERF_SAMPLE_STREAM_ID)
    record_put_u64(b, v->stream_id);
  if (attr->sample_type & PERF_SAMPLE_CPU) {
    record_put_u32(b, v->cpu);
    record_put_u32(b, UINT32_MAX); /* reserved */
  }
  if (attr->sample_type & PERF_SAMPLE_IDENTIFIER)
    record_put_u64(b, v->id);
}

/* struct read_format */
static void put_times(record_builder_t *b, uint64_t format) {
  if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
    record_put_u64(b, record_word(TAG_ENABLED, 0));
  if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
    record_put_u64(b, record_word(TAG_RUNNING, 0));
}

static void put_id_and_lost(record_builder_t *b, uint64_t format, uint64_t i) {
  if (format & PERF_FORMAT_ID)
    record_put_u64(b, record_word(TAG_VALUE_ID, i));
  if (format & BUILD_FORMAT_LOST)
    record_put_u64(b, record_word(TAG_VALUE_LOST, i));
}

static void put_read(record_builder_t *b, uint64_t format,
                     const record_values_t *v) {
  uint64_t i;

  if (!(format & PERF_FORMAT_GROUP)) {
    record_put_u64(b, record_word(TAG_VALUE, 0));
    put_times(b, format);
    put_id_and_lost(b, format, 0);
    return;
  }
  record_put_u64(b, v->group_nr);
  put_times(b, format);
  for (i = 0; i < v->group_nr; i++) {
    record_put_u64(b, record_word(TAG_VALUE, i));
    put_id_and_lost(b, format, i);
  }
}

static void put_sample_front(record_builder_t *b, uint64_t type,
                             const record_values_t *v) {
  if (type & PERF_SAMPLE_IDENTIFIER)
    record_put_u64(b, v->id);
  if (type & PERF_SAMPLE_IP)
    record_put_u64(b, v->ip);
  if (type & PERF_SAMPLE_TID) {
    record_put_u32(b, v->pid);
    record_put_u32(b, v->tid);
  }
  if (type & PERF_SAMPLE_TIME)
    record_put_u64(b, v->time);
  if (type & PERF_SAMPLE_ADDR)
    record_put_u64(b, v->addr);
  if (type & PERF_SAMPLE_ID)
    record_put_u64(b, v->id);
  if (type & PERF_SAMPLE_STREAM_ID)
    record_put_u64(b, v->stream_id);
  if (type & PERF_SAMPLE_CPU) {
    record_put_u32(b, v->cpu);
    record_put_u32(b, UINT32_MAX); /* reserved */
  }
  if (type & PERF_SAMPLE_PERIOD)
    record_put_u64(b, v->period);
}

static void put_raw(record_builder_t *b, const record_values_t *v) {
  record_put_u32(b, v->raw_size);
  put_bytes(b, v->raw_size);
}

static void put_branches(record_builder_t *b, uint64_t type,
                         const record_values_t *v) {
  uint64_t i;

  if (v->no_branch_stack) {
    record_put_u64(b, 0);
    return;
  }
  record_put_u64(b, v->branch_nr);
  if (type & BUILD_BRANCH_HW_INDEX)
    record_put_u64(b, v->hw_idx);
  for (i = 0; i < v->branch_nr; i++) {
    record_put_u64(b, record_word(TAG_FROM, i));
    record_put_u64(b, record_word(TAG_TO, i));
    record_put_u64(b, record_word(TAG_FLAGS, i));
  }
  if ((type & BUILD_BRANCH_COUNTERS) && !v->no_counters)
    put_words(b, TAG_COUNTER, v->branch_nr);
}

static void put_regs(record_builder_t *b, unsigned int tag, uint64_t abi,
                     uint64_t mask) {
  unsigned int bit;
  uint64_t i = 0;

  record_put_u64(b, abi);
  for (bit = 0; bit < 64 && abi != PERF_SAMPLE_REGS_ABI_NONE; bit++)
    if (mask >> bit & 1)
      record_put_u64(b, record_word(tag, i++));
}

static void put_stack(record_builder_t *b, const record_values_t *v) {
  record_put_u64(b, v->stack_size);
  put_bytes(b, (size_t)v->stack_size);
  if (v->stack_size != 0)
    record_put_u64(b, v->dyn_size);
}

static void put_sample_back(record_builder_t *b,
                            const struct perf_event_attr *attr,
                            const record_values_t *v) {
  uint64_t type = attr->sample_type;

  if (type & (PERF_SAMPLE_WEIGHT | BUILD_SAMPLE_WEIGHT_STRUCT))
    record_put_u64(b, v->weight);
  if (type & PERF_SAMPLE_DATA_SRC)
    record_put_u64(b, v->data_src);
  if (type & PERF_SAMPLE_TRANSACTION)
    record_put_u64(b, v->transaction);
  if (type & PERF_SAMPLE_REGS_INTR)
    put_regs(b, TAG_REGS_INTR, v->abi_intr, attr->sample_regs_intr);
  if (type & PERF_SAMPLE_PHYS_ADDR)
    record_put_u64(b, v->phys_addr);
  if (type & PERF_SAMPLE_CGROUP)
    record_put_u64(b, v->cgroup);
  if (type & BUILD_SAMPLE_DATA_PAGE_SIZE)
    record_put_u64(b, v->data_page_size);
  if (type & BUILD_SAMPLE_CODE_PAGE_SIZE)
    record_put_u64(b, v->code_page_size);
  if (type & PERF_SAMPLE_AUX) {
    record_put_u64(b, v->aux_size);
    put_bytes(b, (size_t)v->aux_size);
  }
}

/* PERF_RECORD_SAMPLE */
static void put_sample(record_builder_t *b, const struct perf_event_attr *attr,
                       const record_values_t *v) {
  uint64_t type = attr->sample_type;

  put_sample_front(b, type, v);
  if (type & PERF_SAMPLE_READ)
    put_read(b, attr->read_format, v);
  if (type & PERF_SAMPLE_CALLCHAIN) {
    record_put_u64(b, v->callchain_nr);
    put_words(b, TAG_CALLCHAIN, v->callchain_nr);
  }
  if (type & PERF_SAMPLE_RAW)
    put_raw(b, v);
  if (type & PERF_SAMPLE_BRANCH_STACK)
    put_branches(b, attr->branch_sample_type, v);
  if (type & PERF_SAMPLE_REGS_USER)
    put_regs(b, TAG_REGS_USER, v->abi_user, attr->sample_regs_user);
  if (type & PERF_SAMPLE_STACK_USER)
    put_stack(b, v);
  put_sample_back(b, attr, v);
  put_words(b, TAG_SURPLUS, v->surplus_bytes / 8);
}

/* Scalars of a body: u64s are record_word(TAG_BODY, i); a pair of u32 shares
 * one of these words, the first in its low half. */
static void put_pair(record_builder_t *b, uint64_t i) {
  record_put_u32(b, (uint32_t)record_word(TAG_BODY, i));
  record_put_u32(b, (uint32_t)record_word(TAG_BODY, i) + 1);
}

static void put_scalar(record_builder_t *b, uint64_t i) {
  record_put_u64(b, record_word(TAG_BODY, i));
}

static void put_mmap(record_builder_t *b, uint32_t type,
                     const record_values_t *v) {
  put_pair(b, 0);   /* pid, tid */
  put_scalar(b, 1); /* addr */
  put_scalar(b, 2); /* len */
  put_scalar(b, 3); /* pgoff */
  if (type == PERF_RECORD_MMAP2) {
    if (v->misc & BUILD_MISC_BUILD_ID) {
      uint8_t build_id[24] = {v->build_id_size, 0xff, 0xff, 0xff};
      size_t i;

      for (i = 0; i < 20; i++)
        build_id[4 + i] = record_byte(i);
      record_put(b, build_id, sizeof(build_id));
    } else {
      put_pair(b, 4);   /* maj, min */
      put_scalar(b, 5); /* ino */
      put_scalar(b, 6); /* ino_generation */
    }
    put_pair(b, 7); /* prot, flags */
  }
  put_text(b, v->text);
}

static void put_scalars(record_builder_t *b, uint64_t from, uint64_t nr) {
  for (; nr > 0; nr--)
    put_scalar(b, from++);
}

static void put_namespaces(record_builder_t *b, const record_values_t *v) {
  uint64_t i;

  put_pair(b, 0); /* pid, tid */
  record_put_u64(b, v->nr);
  for (i = 0; i < v->nr; i++) {
    record_put_u64(b, record_word(TAG_DEV, i));
    record_put_u64(b, record_word(TAG_INODE, i));
  }
}

static void put_text_poke(record_builder_t *b, const record_values_t *v) {
  put_scalar(b, 0); /* addr */
  put_u16(b, v->old_len);
  put_u16(b, v->new_len);
  put_bytes(b, (size_t)v->old_len + v->new_len);
  pad(b);
}

static void put_ksymbol(record_builder_t *b, const record_values_t *v) {
  put_scalar(b, 0);                                      /* addr */
  record_put_u32(b, (uint32_t)record_word(TAG_BODY, 1)); /* len */
  put_u16(b, 2);                                         /* ksym_type */
  put_u16(b, 1);                                         /* flags */
  put_text(b, v->text);
}

static void put_bpf_event(record_builder_t *b) {
  put_u16(b, 2);                                         /* type */
  put_u16(b, 3);                                         /* flags */
  record_put_u32(b, (uint32_t)record_word(TAG_BODY, 0)); /* id */
  put_bytes(b, 8);                                       /* tag */
}

static void put_texts(record_builder_t *b, uint32_t type,
                      const record_values_t *v) {
  if (type == PERF_RECORD_COMM)
    put_pair(b, 0); /* pid, tid */
  else
    put_scalar(b, 0); /* CGROUP: id */
  put_text(b, v->text);
}

static void put_deferred(record_builder_t *b, const record_values_t *v) {
  put_scalar(b, 0); /* cookie */
  record_put_u64(b, v->nr);
  put_words(b, TAG_IPS, v->nr);
}

static void put_task(record_builder_t *b) {
  put_pair(b, 0); /* pid, ppid */
  put_pair(b, 1); /* tid, ptid */
  put_scalar(b, 2);
}

static void put_side_band(record_builder_t *b, uint32_t type,
                          const struct perf_event_attr *attr,
                          const record_values_t *v) {
  switch (type) {
    case PERF_RECORD_MMAP:
    case PERF_RECORD_MMAP2:
      put_mmap(b, type, v);
      return;
    case PERF_RECORD_LOST: /* id, lost */
      put_scalars(b, 0, 2);
      return;
    case PERF_RECORD_COMM:
    case PERF_RECORD_CGROUP:
      put_texts(b, type, v);
      return;
    case PERF_RECORD_EXIT:
    case PERF_RECORD_FORK:
      put_task(b);
      return;
    case PERF_RECORD_THROTTLE: /* time, id, stream_id */
    case PERF_RECORD_UNTHROTTLE:
    case PERF_RECORD_AUX: /* aux_offset, aux_size, flags */
      put_scalars(b, 0, 3);
      return;
    case PERF_RECORD_READ:
      put_pair(b, 0); /* pid, tid */
      put_read(b, attr->read_format, v);
      return;
    case PERF_RECORD_ITRACE_START:    /* pid, tid */
    case PERF_RECORD_SWITCH_CPU_WIDE: /* next_prev_pid, next_prev_tid */
      put_pair(b, 0);
      return;
    case PERF_RECORD_SWITCH:
      return;
    case PERF_RECORD_NAMESPACES:
      put_namespaces(b, v);
      return;
    case PERF_RECORD_KSYMBOL:
      put_ksymbol(b, v);
      return;
    case PERF_RECORD_BPF_EVENT:
      put_bpf_event(b);
      return;
    case PERF_RECORD_TEXT_POKE:
      put_text_poke(b, v);
      return;
    case 22: /* CALLCHAIN_DEFERRED */
      put_deferred(b, v);
      return;
    default: /* LOST_SAMPLES: lost; 21, AUX_OUTPUT_HW_ID: hw_id */
      put_scalar(b, 0);
  }
}

void record_build(record_builder_t *b, uint32_t type,
                  const struct perf_event_attr *attr,
                  const record_values_t *v) {
  record_begin(b, type, v->misc);
  if (type == PERF_RECORD_SAMPLE) {
    put_sample(b, attr, v);
  } else {
    put_side_band(b, type, attr, v);
    record_put_trailer(b, attr, v);
  }
  record_end(b);
}

void *record_cut(const record_builder_t *b, size_t size) {
  uint8_t *copy = malloc(size != 0 ? size : 1);

  if (copy == NULL || size > b->size)
    abort();
  memcpy(copy, b->words, size);
  if (size >= 8)
    set_size(copy, size);
  return copy;
}

char *record_text(const char *text) {
  size_t size = strlen(text);
  char *copy = malloc(size != 0 ? size : 1);

  if (copy == NULL)
    abort();
  return memcpy(copy, text, size);
}

uint64_t record_random(uint64_t *state) {
  uint64_t x = *state += UINT64_C(0x9E3779B97F4A7C15); /* splitmix64 */

  x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
  return x ^ x >> 31;
}
