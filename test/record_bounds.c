/* SPDX-License-Identifier: MIT */
/* Asserts that a decoded record stays inside of its bytes, whatever these
 * were. */
#include "support.h"

#include "record_check.h"

/* Reads all bytes, so that ASan sees those that are not the record's. */
static void inside(const uvperf_record_t *r, const void *data, uint64_t nr,
                   size_t each) {
  const uint8_t *start = r->bytes;
  const uint8_t *at = data;
  volatile uint8_t sink = 0;
  uint64_t i;

  if (nr == 0)
    return;
  assert_true(at >= start + 8 && at <= start + r->size);
  assert_true(nr <= (uint64_t)(start + r->size - at) / each);
  for (i = 0; i < nr * each; i++)
    sink = (uint8_t)(sink ^ at[i]);
}

static void text_inside(const uvperf_record_t *r, const char *text,
                        size_t size) {
  inside(r, text, size + 1, 1);
  assert_int_equal(strlen(text), size);
}

static void read_inside(const uvperf_record_t *r, const uvperf_read_t *read) {
  uvperf_count_t count;
  uint64_t i;

  if (read->words == NULL)
    return;
  inside(r, read->words, 1, 8);
  for (i = 0; i < read->nr; i++)
    assert_int_equal(uvperf_read_get(read, i, &count), 0);
}

static void sample_inside(const uvperf_record_t *r) {
  const uvperf_sample_t *s = &r->sample;

  read_inside(r, &s->read);
  inside(r, s->callchain.ips, s->callchain.nr, 8);
  inside(r, s->raw.data, s->raw.size, 1);
  inside(r, s->branch.entries, s->branch.nr, sizeof(struct perf_branch_entry));
  if (s->branch.counters != NULL)
    inside(r, s->branch.counters, s->branch.nr, 8);
  inside(r, s->regs_user.regs, s->regs_user.nr, 8);
  inside(r, s->stack_user.data, s->stack_user.size, 1);
  assert_true(s->stack_user.dyn_size <= s->stack_user.size);
  inside(r, s->regs_intr.regs, s->regs_intr.nr, 8);
  inside(r, s->aux.data, s->aux.size, 1);
}

void record_check_bounds(const uvperf_record_t *r) {
  switch (r->type) {
    case PERF_RECORD_SAMPLE:
      sample_inside(r);
      break;
    case PERF_RECORD_MMAP:
    case PERF_RECORD_MMAP2:
      text_inside(r, r->mmap.filename, r->mmap.filename_size);
      assert_true(r->mmap.build_id_size <= sizeof(r->mmap.build_id));
      break;
    case PERF_RECORD_COMM:
      text_inside(r, r->comm.comm, r->comm.comm_size);
      break;
    case PERF_RECORD_READ:
      read_inside(r, &r->read.values);
      break;
    case PERF_RECORD_NAMESPACES:
      inside(r, r->namespaces.links, r->namespaces.nr,
             sizeof(uvperf_namespace_t));
      break;
    case PERF_RECORD_KSYMBOL:
      text_inside(r, r->ksymbol.name, r->ksymbol.name_size);
      break;
    case PERF_RECORD_CGROUP:
      text_inside(r, r->cgroup.path, r->cgroup.path_size);
      break;
    case PERF_RECORD_TEXT_POKE:
      inside(r, r->text_poke.old_bytes, r->text_poke.old_len, 1);
      inside(r, r->text_poke.new_bytes, r->text_poke.new_len, 1);
      break;
    case UVPERF_RECORD_CALLCHAIN_DEFERRED:
      inside(r, r->callchain_deferred.ips, r->callchain_deferred.nr, 8);
      break;
    default: /* no pointers */
      break;
  }
}
