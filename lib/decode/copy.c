/* SPDX-License-Identifier: MIT */
/* Copies a record with everything it points to into one piece of memory. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "attr/attr.h"
#include "uvperf/record.h"

/* The pointers of a body into the bytes of its record. For a text, the field
 * with its size. */
#define POINTER(type, field)                                                   \
  { type, (uint16_t)offsetof(uvperf_record_t, field), 0 }
#define TEXT(type, field, size)                                                \
  {                                                                            \
    type, (uint16_t)offsetof(uvperf_record_t, field),                          \
        (uint16_t)offsetof(uvperf_record_t, size)                              \
  }
static const struct {
  uint16_t type;
  uint16_t offset;
  uint16_t size; /* 0: no text */
} pointers[] = {
    POINTER(PERF_RECORD_SAMPLE, sample.read.words),
    POINTER(PERF_RECORD_SAMPLE, sample.callchain.ips),
    POINTER(PERF_RECORD_SAMPLE, sample.raw.data),
    POINTER(PERF_RECORD_SAMPLE, sample.branch.entries),
    POINTER(PERF_RECORD_SAMPLE, sample.branch.counters),
    POINTER(PERF_RECORD_SAMPLE, sample.regs_user.regs),
    POINTER(PERF_RECORD_SAMPLE, sample.stack_user.data),
    POINTER(PERF_RECORD_SAMPLE, sample.regs_intr.regs),
    POINTER(PERF_RECORD_SAMPLE, sample.aux.data),
    POINTER(PERF_RECORD_READ, read.values.words),
    POINTER(PERF_RECORD_NAMESPACES, namespaces.links),
    POINTER(PERF_RECORD_TEXT_POKE, text_poke.old_bytes),
    POINTER(PERF_RECORD_TEXT_POKE, text_poke.new_bytes),
    POINTER(UVPERF_RECORD_CALLCHAIN_DEFERRED, callchain_deferred.ips),
    TEXT(PERF_RECORD_MMAP, mmap.filename, mmap.filename_size),
    TEXT(PERF_RECORD_MMAP2, mmap.filename, mmap.filename_size),
    TEXT(PERF_RECORD_COMM, comm.comm, comm.comm_size),
    TEXT(PERF_RECORD_KSYMBOL, ksymbol.name, ksymbol.name_size),
    TEXT(PERF_RECORD_CGROUP, cgroup.path, cgroup.path_size),
};

/* The offsets of the parts in the copy. All are multiples of 8. */
typedef struct copy_plan_s {
  size_t bytes;
  size_t source;
  size_t attr;
  size_t ids;
  size_t end;
} copy_plan_t;

static size_t copy_after(size_t at, size_t size) {
  return (at + size + 7) & ~(size_t)7;
}

static void copy_plan(const uvperf_record_t *record, copy_plan_t *plan) {
  const uvperf_source_t *source = record->source;
  size_t attr;

  plan->bytes = copy_after(0, sizeof(*record));
  plan->source = copy_after(plan->bytes, record->size);
  plan->attr = plan->ids = plan->end = plan->source;
  if (source == NULL)
    return;
  attr = uvperf__attr_size(source->attr);
  if (attr < sizeof(*source->attr))
    attr = sizeof(*source->attr);
  plan->attr = copy_after(plan->source, source->size);
  plan->ids = copy_after(plan->attr, attr);
  plan->end = copy_after(plan->ids, source->nr_ids * sizeof(source->ids[0]));
}

/* Lets a pointer into the record's bytes point into those of the copy. */
static void copy_pointers(const uvperf_record_t *record, uvperf_record_t *copy,
                          char *bytes) {
  const char *pointer;
  char *at;
  size_t i, length;

  for (i = 0; i < sizeof(pointers) / sizeof(pointers[0]); i++) {
    if (record->type != pointers[i].type)
      continue;
    memcpy(&pointer, (const char *)record + pointers[i].offset,
           sizeof(pointer));
    if (pointer == NULL)
      continue;
    at = bytes + (pointer - (const char *)record->bytes);
    memcpy((char *)copy + pointers[i].offset, &at, sizeof(at));
    if (pointers[i].size == 0)
      continue;
    memcpy(&length, (const char *)record + pointers[i].size, sizeof(length));
    at[length] = '\0';
  }
}

static void copy_source(const uvperf_source_t *source, char *memory,
                        const copy_plan_t *plan) {
  uvperf_source_t *copy = (uvperf_source_t *)(void *)(memory + plan->source);

  memcpy(copy, source, source->size);
  memcpy(memory + plan->attr, source->attr, uvperf__attr_size(source->attr));
  copy->attr = (const struct perf_event_attr *)(void *)(memory + plan->attr);
  if (source->nr_ids == 0)
    return;
  memcpy(memory + plan->ids, source->ids,
         source->nr_ids * sizeof(source->ids[0]));
  copy->ids = (const uint64_t *)(void *)(memory + plan->ids);
}

int uvperf_record_copy(const uvperf_record_t *record, uvperf_record_t *copy,
                       size_t *size) {
  char *memory = (char *)copy;
  copy_plan_t plan;

  if (record == NULL || size == NULL || (copy == NULL && *size != 0) ||
      ((uintptr_t)copy & 7) != 0)
    return -EINVAL;
  copy_plan(record, &plan);
  if (*size < plan.end) {
    *size = plan.end;
    return -ENOBUFS;
  }
  *size = plan.end;
  memset(memory, 0, plan.end);
  *copy = *record;
  if (record->bytes != NULL) { /* else UVPERF_RECORD_NONE */
    memcpy(memory + plan.bytes, record->bytes, record->size);
    copy->bytes = memory + plan.bytes;
    copy_pointers(record, copy, memory + plan.bytes);
  }
  if (record->source != NULL) {
    copy_source(record->source, memory, &plan);
    copy->source = (const uvperf_source_t *)(void *)(memory + plan.source);
  }
  return 0;
}
