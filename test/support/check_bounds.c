/* SPDX-License-Identifier: MIT */
#include "check_bounds.h"

#include <string.h>

/* The record, and the first fault that was found. */
typedef struct bounds_s {
  const uvperf_record_t *record;
  const char *fault;
  int may_change;
} bounds_t;

static void expect(bounds_t *bounds, int is_so, const char *fault) {
  if (!is_so && bounds->fault == NULL)
    bounds->fault = fault;
}

/* Reads all bytes, so that ASan reports those that are not the record's. */
static void inside(bounds_t *bounds, const void *data, uint64_t nr,
                   size_t each) {
  const uint8_t *start = bounds->record->bytes;
  const uint8_t *end = start + bounds->record->size;
  const uint8_t *at = data;
  volatile uint8_t sink = 0;
  uint64_t i;

  if (nr == 0)
    return;
  expect(bounds, at >= start + 8 && at <= end, "a pointer to outside");
  if (bounds->fault == NULL)
    expect(bounds, nr <= (uint64_t)(end - at) / each, "more than there is");
  if (bounds->fault != NULL)
    return;
  for (i = 0; i < nr * each; i++)
    sink = (uint8_t)(sink ^ at[i]);
}

static void text_inside(bounds_t *bounds, const char *text, size_t size) {
  inside(bounds, text, (uint64_t)size + 1, 1);
  if (bounds->fault == NULL && !bounds->may_change)
    expect(bounds, strlen(text) == size, "a text of another length");
}

static void read_inside(bounds_t *bounds, const uvperf_values_t *read) {
  uvperf_count_t count;
  uint64_t i;

  if (read->words == NULL)
    return;
  inside(bounds, read->words, 1, 8);
  for (i = 0; i < read->nr && bounds->fault == NULL; i++)
    expect(bounds, uvperf_values_get(read, i, &count) == 0,
           "a value that cannot be read");
}

static void sample_inside(bounds_t *bounds) {
  const uvperf_sample_t *s = &bounds->record->sample;

  read_inside(bounds, &s->read);
  inside(bounds, s->callchain.ips, s->callchain.nr, 8);
  inside(bounds, s->raw.data, s->raw.size, 1);
  inside(bounds, s->branch.entries, s->branch.nr,
         sizeof(struct perf_branch_entry));
  if (s->branch.counters != NULL)
    inside(bounds, s->branch.counters, s->branch.nr, 8);
  inside(bounds, s->regs_user.regs, s->regs_user.nr, 8);
  inside(bounds, s->stack_user.data, s->stack_user.size, 1);
  expect(bounds, s->stack_user.dyn_size <= s->stack_user.size,
         "a stack larger than its room");
  inside(bounds, s->regs_intr.regs, s->regs_intr.nr, 8);
  inside(bounds, s->aux.data, s->aux.size, 1);
  expect(bounds,
         s->surplus_bytes <= bounds->record->size - 8u &&
             s->surplus_bytes % 8 == 0,
         "more surplus than there is");
}

static void mmap_inside(bounds_t *bounds) {
  const uvperf_mmap_t *mmap = &bounds->record->mmap;

  text_inside(bounds, mmap->filename, mmap->filename_size);
  expect(bounds, mmap->build_id_size <= sizeof(mmap->build_id),
         "a build id that is too long");
}

const char *check_bounds_fault(const uvperf_record_t *r, int may_change) {
  bounds_t bounds = {r, NULL, may_change};

  switch (r->type) {
    case PERF_RECORD_SAMPLE:
      sample_inside(&bounds);
      break;
    case PERF_RECORD_MMAP:
    case PERF_RECORD_MMAP2:
      mmap_inside(&bounds);
      break;
    case PERF_RECORD_COMM:
      text_inside(&bounds, r->comm.comm, r->comm.comm_size);
      break;
    case PERF_RECORD_READ:
      read_inside(&bounds, &r->read.values);
      break;
    case PERF_RECORD_NAMESPACES:
      inside(&bounds, r->namespaces.links, r->namespaces.nr,
             sizeof(uvperf_namespace_t));
      break;
    case PERF_RECORD_KSYMBOL:
      text_inside(&bounds, r->ksymbol.name, r->ksymbol.name_size);
      break;
    case PERF_RECORD_CGROUP:
      text_inside(&bounds, r->cgroup.path, r->cgroup.path_size);
      break;
    case PERF_RECORD_TEXT_POKE:
      inside(&bounds, r->text_poke.old_bytes, r->text_poke.old_len, 1);
      inside(&bounds, r->text_poke.new_bytes, r->text_poke.new_len, 1);
      break;
    case UVPERF_RECORD_CALLCHAIN_DEFERRED:
      inside(&bounds, r->callchain_deferred.ips, r->callchain_deferred.nr, 8);
      break;
    default: /* no pointers */
      break;
  }
  return bounds.fault;
}
