/* SPDX-License-Identifier: MIT */
/* Checks what is decoded from the records that make_record.c makes. */
#include "support.h"

#include "check_record.h"
#include "check_bounds.h"

/* Checks that the i-th word at `words` is the builder's. */
static void check_words(const void *words, uint64_t nr, unsigned int tag) {
  uint64_t i, word;

  for (i = 0; i < nr; i++) {
    memcpy(&word, (const uint8_t *)words + 8 * i, 8);
    assert_int_equal(word, record_word(tag, i));
  }
}

static void check_bytes(const void *bytes, size_t size) {
  size_t i;

  for (i = 0; i < size; i++)
    assert_int_equal(((const uint8_t *)bytes)[i], record_byte(i));
}

static uint64_t ask(uint64_t type, uint64_t bit, uint64_t value) {
  return type & bit ? value : 0;
}

static void check_who(const uvperf_record_t *r, uint64_t type,
                      const record_values_t *v) {
  assert_int_equal(r->present, type);
  assert_int_equal(r->pid, ask(type, PERF_SAMPLE_TID, v->pid));
  assert_int_equal(r->tid, ask(type, PERF_SAMPLE_TID, v->tid));
  assert_int_equal(r->time, ask(type, PERF_SAMPLE_TIME, v->time));
  assert_int_equal(r->id,
                   ask(type, PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER, v->id));
  assert_int_equal(r->stream_id,
                   ask(type, PERF_SAMPLE_STREAM_ID, v->stream_id));
  assert_int_equal(r->cpu, ask(type, PERF_SAMPLE_CPU, v->cpu));
  assert_int_equal(r->ip, ask(type, PERF_SAMPLE_IP, v->ip));
  assert_int_equal(r->period, ask(type, PERF_SAMPLE_PERIOD, v->period));
  assert_int_equal(r->addr, ask(type, PERF_SAMPLE_ADDR, v->addr));
}

static void check_read(const uvperf_values_t *read, uint64_t format,
                       const record_values_t *v) {
  const uint64_t times =
      PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  uvperf_count_t count;
  uint64_t i;

  assert_int_equal(read->format, format);
  assert_int_equal(read->nr, format & PERF_FORMAT_GROUP ? v->group_nr : 1);
  assert_int_equal(
      read->time_enabled,
      ask(format, PERF_FORMAT_TOTAL_TIME_ENABLED, record_word(TAG_ENABLED, 0)));
  assert_int_equal(
      read->time_running,
      ask(format, PERF_FORMAT_TOTAL_TIME_RUNNING, record_word(TAG_RUNNING, 0)));
  for (i = 0; i < read->nr; i++) {
    memset(&count, 0xff, sizeof(count));
    assert_int_equal(uvperf_values_get(read, i, &count), 0);
    assert_int_equal(count.flags,
                     (format & times) == times ? 0 : UVPERF_COUNT_UNSCALED);
    assert_int_equal(count.value, record_word(TAG_VALUE, i));
    assert_int_equal(count.time_enabled, read->time_enabled);
    assert_int_equal(count.time_running, read->time_running);
    assert_int_equal(count.id,
                     ask(format, PERF_FORMAT_ID, record_word(TAG_VALUE_ID, i)));
    assert_int_equal(count.lost, ask(format, BUILD_FORMAT_LOST,
                                     record_word(TAG_VALUE_LOST, i)));
  }
  assert_int_equal(uvperf_values_get(read, read->nr, &count), -EINVAL);
}

static void check_sample_read(const uvperf_sample_t *s,
                              const struct perf_event_attr *attr,
                              const record_values_t *v) {
  static const uvperf_values_t none;

  if (attr->sample_type & PERF_SAMPLE_READ)
    check_read(&s->read, attr->read_format, v);
  else
    assert_memory_equal(&s->read, &none, sizeof(none));
}

static void check_callchain(const uvperf_sample_t *s, uint64_t type,
                            const record_values_t *v) {
  uint64_t nr = ask(type, PERF_SAMPLE_CALLCHAIN, v->callchain_nr);

  assert_int_equal(s->callchain.nr, nr);
  assert_int_equal(s->callchain.ips != NULL, nr != 0);
  check_words(s->callchain.ips, nr, TAG_CALLCHAIN);
}

static void check_raw_data(const uvperf_sample_t *s, uint64_t type,
                           const record_values_t *v) {
  size_t size = (size_t)ask(type, PERF_SAMPLE_RAW, v->raw_size);

  assert_int_equal(s->raw.size, size);
  assert_int_equal(s->raw.data != NULL, size != 0);
  check_bytes(s->raw.data, size);
}

static void check_branches(const uvperf_sample_t *s,
                           const struct perf_event_attr *attr,
                           const record_values_t *v) {
  uint64_t asked = attr->branch_sample_type;
  int on = (attr->sample_type & PERF_SAMPLE_BRANCH_STACK) != 0;
  uint64_t nr = on && !v->no_branch_stack ? v->branch_nr : 0;
  uint64_t i, words[3];

  assert_int_equal(s->branch.nr, nr);
  if (!on)
    assert_int_equal(s->branch.hw_idx, 0);
  else if (!(asked & BUILD_BRANCH_HW_INDEX) || v->no_branch_stack)
    assert_int_equal(s->branch.hw_idx, UINT64_MAX);
  else
    assert_int_equal(s->branch.hw_idx, v->hw_idx);
  assert_int_equal(s->branch.entries != NULL, nr != 0);
  for (i = 0; i < nr; i++) {
    memcpy(words, s->branch.entries + i, sizeof(words));
    assert_int_equal(words[0], record_word(TAG_FROM, i));
    assert_int_equal(words[1], record_word(TAG_TO, i));
    assert_int_equal(words[2], record_word(TAG_FLAGS, i));
  }
  if (!(asked & BUILD_BRANCH_COUNTERS) || v->no_counters)
    nr = 0;
  assert_int_equal(s->branch.counters != NULL, nr != 0);
  check_words(s->branch.counters, nr, TAG_COUNTER);
}

static void check_regs(const uvperf_regs_t *regs, int on, uint64_t mask,
                       uint64_t abi, unsigned int tag) {
  uint64_t value, nr = 0;
  unsigned int bit;

  assert_int_equal(regs->abi, on ? abi : 0);
  assert_int_equal(regs->mask, on ? mask : 0);
  for (bit = 0; bit < 64; bit++) {
    if (!on || abi == PERF_SAMPLE_REGS_ABI_NONE || !(mask >> bit & 1)) {
      assert_int_equal(uvperf_sample_regs_get(regs, bit, &value), -ENOENT);
      continue;
    }
    assert_int_equal(uvperf_sample_regs_get(regs, bit, &value), 0);
    assert_int_equal(value, record_word(tag, nr++));
  }
  assert_int_equal(regs->nr, nr);
  assert_int_equal(regs->regs != NULL, nr != 0);
}

static void check_stack(const uvperf_sample_t *s, uint64_t type,
                        const record_values_t *v) {
  uint64_t size = ask(type, PERF_SAMPLE_STACK_USER, v->stack_size);

  assert_int_equal(s->stack_user.size, size);
  assert_int_equal(s->stack_user.dyn_size, size != 0 ? v->dyn_size : 0);
  assert_int_equal(s->stack_user.data != NULL, size != 0);
  check_bytes(s->stack_user.data, (size_t)size);
}

static void check_weight(const uvperf_sample_t *s, uint64_t type,
                         const record_values_t *v) {
  uint64_t either = PERF_SAMPLE_WEIGHT | BUILD_SAMPLE_WEIGHT_STRUCT;
  uint64_t parts = ask(type, BUILD_SAMPLE_WEIGHT_STRUCT, v->weight);

  assert_int_equal(s->weight.full, ask(type, either, v->weight));
  assert_int_equal(s->weight.var1_dw, parts & 0xffffffff);
  assert_int_equal(s->weight.var2_w, parts >> 32 & 0xffff);
  assert_int_equal(s->weight.var3_w, parts >> 48);
}

static void check_scalars(const uvperf_sample_t *s, uint64_t t,
                          const record_values_t *v) {
  assert_int_equal(s->data_src, ask(t, PERF_SAMPLE_DATA_SRC, v->data_src));
  assert_int_equal(s->transaction,
                   ask(t, PERF_SAMPLE_TRANSACTION, v->transaction));
  assert_int_equal(s->phys_addr, ask(t, PERF_SAMPLE_PHYS_ADDR, v->phys_addr));
  assert_int_equal(s->cgroup, ask(t, PERF_SAMPLE_CGROUP, v->cgroup));
  assert_int_equal(s->data_page_size,
                   ask(t, BUILD_SAMPLE_DATA_PAGE_SIZE, v->data_page_size));
  assert_int_equal(s->code_page_size,
                   ask(t, BUILD_SAMPLE_CODE_PAGE_SIZE, v->code_page_size));
}

static void check_sample(const uvperf_sample_t *s,
                         const struct perf_event_attr *attr,
                         const record_values_t *v) {
  uint64_t type = attr->sample_type;
  uint64_t aux_size = ask(type, PERF_SAMPLE_AUX, v->aux_size);

  check_scalars(s, type, v);
  check_sample_read(s, attr, v);
  check_callchain(s, type, v);
  check_raw_data(s, type, v);
  check_branches(s, attr, v);
  check_regs(&s->regs_user, (type & PERF_SAMPLE_REGS_USER) != 0,
             attr->sample_regs_user, v->abi_user, TAG_REGS_USER);
  check_stack(s, type, v);
  check_weight(s, type, v);
  check_regs(&s->regs_intr, (type & PERF_SAMPLE_REGS_INTR) != 0,
             attr->sample_regs_intr, v->abi_intr, TAG_REGS_INTR);
  assert_int_equal(s->aux.size, aux_size);
  assert_int_equal(s->aux.data != NULL, aux_size != 0);
  check_bytes(s->aux.data, (size_t)aux_size);
  assert_int_equal(s->surplus_bytes, v->surplus_bytes);
}

static uint64_t scalar(uint64_t i) {
  return record_word(TAG_BODY, i);
}

static void check_pair(uint32_t first, uint32_t second, uint64_t i) {
  assert_int_equal(first, (uint32_t)scalar(i));
  assert_int_equal(second, (uint32_t)scalar(i) + 1);
}

static void check_text(const char *text, size_t size,
                       const record_values_t *v) {
  assert_string_equal(text, v->text);
  assert_int_equal(size, strlen(v->text));
}

static void check_mmap(const uvperf_record_t *r, const record_values_t *v) {
  static const uint8_t zeros[20];
  const uvperf_mmap_t *m = &r->mmap;
  int two = r->type == PERF_RECORD_MMAP2;
  int by_id = two && (r->misc & BUILD_MISC_BUILD_ID) != 0;
  size_t size = by_id ? v->build_id_size : 0;

  check_pair(m->pid, m->tid, 0);
  assert_int_equal(m->addr, scalar(1));
  assert_int_equal(m->len, scalar(2));
  assert_int_equal(m->pgoff, scalar(3));
  assert_int_equal(m->maj, two && !by_id ? (uint32_t)scalar(4) : 0);
  assert_int_equal(m->min, two && !by_id ? (uint32_t)scalar(4) + 1 : 0);
  assert_int_equal(m->ino, two && !by_id ? scalar(5) : 0);
  assert_int_equal(m->ino_generation, two && !by_id ? scalar(6) : 0);
  assert_int_equal(m->build_id_size, size);
  check_bytes(m->build_id, size);
  assert_memory_equal(m->build_id + size, zeros, 20 - size);
  assert_int_equal(m->prot, two ? (uint32_t)scalar(7) : 0);
  assert_int_equal(m->flags, two ? (uint32_t)scalar(7) + 1 : 0);
  check_text(m->filename, m->filename_size, v);
}

static void check_task(const uvperf_record_t *r) {
  check_pair(r->task.pid, r->task.ppid, 0);
  check_pair(r->task.tid, r->task.ptid, 1);
  assert_int_equal(r->task.time, scalar(2));
}

static void check_throttle(const uvperf_record_t *r) {
  assert_int_equal(r->throttle.time, scalar(0));
  assert_int_equal(r->throttle.id, scalar(1));
  assert_int_equal(r->throttle.stream_id, scalar(2));
}

static void check_aux(const uvperf_record_t *r) {
  assert_int_equal(r->aux.offset, scalar(0));
  assert_int_equal(r->aux.size, scalar(1));
  assert_int_equal(r->aux.flags, scalar(2));
}

static void check_namespaces(const uvperf_record_t *r,
                             const record_values_t *v) {
  uint64_t i, words[2];

  check_pair(r->namespaces.pid, r->namespaces.tid, 0);
  assert_int_equal(r->namespaces.nr, v->nr);
  assert_int_equal(r->namespaces.links != NULL, v->nr != 0);
  for (i = 0; i < v->nr; i++) {
    memcpy(words, r->namespaces.links + i, sizeof(words));
    assert_int_equal(words[0], record_word(TAG_DEV, i));
    assert_int_equal(words[1], record_word(TAG_INODE, i));
  }
}

static void check_ksymbol(const uvperf_record_t *r, const record_values_t *v) {
  assert_int_equal(r->ksymbol.addr, scalar(0));
  assert_int_equal(r->ksymbol.len, (uint32_t)scalar(1));
  assert_int_equal(r->ksymbol.ksym_type, 2);
  assert_int_equal(r->ksymbol.flags, 1);
  check_text(r->ksymbol.name, r->ksymbol.name_size, v);
}

static void check_bpf_event(const uvperf_record_t *r) {
  assert_int_equal(r->bpf_event.type, 2);
  assert_int_equal(r->bpf_event.flags, 3);
  assert_int_equal(r->bpf_event.id, (uint32_t)scalar(0));
  check_bytes(r->bpf_event.tag, 8);
}

static void check_text_poke(const uvperf_record_t *r,
                            const record_values_t *v) {
  size_t i;

  assert_int_equal(r->text_poke.addr, scalar(0));
  assert_int_equal(r->text_poke.old_len, v->old_len);
  assert_int_equal(r->text_poke.new_len, v->new_len);
  check_bytes(r->text_poke.old_bytes, v->old_len);
  for (i = 0; i < v->new_len; i++)
    assert_int_equal(r->text_poke.new_bytes[i], record_byte(v->old_len + i));
}

static void check_comm(const uvperf_record_t *r, const record_values_t *v) {
  check_pair(r->comm.pid, r->comm.tid, 0);
  check_text(r->comm.comm, r->comm.comm_size, v);
}

static void check_cgroup(const uvperf_record_t *r, const record_values_t *v) {
  assert_int_equal(r->cgroup.id, scalar(0));
  check_text(r->cgroup.path, r->cgroup.path_size, v);
}

static void check_deferred(const uvperf_record_t *r, const record_values_t *v) {
  assert_int_equal(r->callchain_deferred.cookie, scalar(0));
  assert_int_equal(r->callchain_deferred.nr, v->nr);
  assert_int_equal(r->callchain_deferred.ips != NULL, v->nr != 0);
  check_words(r->callchain_deferred.ips, v->nr, TAG_IPS);
}

static void check_side_band(const uvperf_record_t *r,
                            const struct perf_event_attr *attr,
                            const record_values_t *v) {
  switch (r->type) {
    case PERF_RECORD_MMAP:
    case PERF_RECORD_MMAP2:
      check_mmap(r, v);
      break;
    case PERF_RECORD_LOST:
      assert_int_equal(r->lost.id, scalar(0));
      assert_int_equal(r->lost.lost, scalar(1));
      break;
    case PERF_RECORD_COMM:
      check_comm(r, v);
      break;
    case PERF_RECORD_EXIT:
    case PERF_RECORD_FORK:
      check_task(r);
      break;
    case PERF_RECORD_THROTTLE:
    case PERF_RECORD_UNTHROTTLE:
      check_throttle(r);
      break;
    case PERF_RECORD_READ:
      check_pair(r->read.pid, r->read.tid, 0);
      check_read(&r->read.values, attr->read_format, v);
      break;
    case PERF_RECORD_AUX:
      check_aux(r);
      break;
    case PERF_RECORD_ITRACE_START:
      check_pair(r->itrace_start.pid, r->itrace_start.tid, 0);
      break;
    case PERF_RECORD_LOST_SAMPLES:
      assert_int_equal(r->lost_samples.lost, scalar(0));
      break;
    case PERF_RECORD_SWITCH:
      break;
    case PERF_RECORD_SWITCH_CPU_WIDE:
      check_pair(r->switch_cpu_wide.next_prev_pid,
                 r->switch_cpu_wide.next_prev_tid, 0);
      break;
    case PERF_RECORD_NAMESPACES:
      check_namespaces(r, v);
      break;
    case PERF_RECORD_KSYMBOL:
      check_ksymbol(r, v);
      break;
    case PERF_RECORD_BPF_EVENT:
      check_bpf_event(r);
      break;
    case PERF_RECORD_CGROUP:
      check_cgroup(r, v);
      break;
    case PERF_RECORD_TEXT_POKE:
      check_text_poke(r, v);
      break;
    case UVPERF_RECORD_AUX_OUTPUT_HW_ID:
      assert_int_equal(r->aux_output_hw_id.hw_id, scalar(0));
      break;
    case UVPERF_RECORD_CALLCHAIN_DEFERRED:
      check_deferred(r, v);
      break;
    default:
      fail_msg("type %u has no check", r->type);
  }
}

void check_record_fields(const uvperf_record_t *r, uint32_t type,
                         const struct perf_event_attr *attr,
                         const record_values_t *v, const void *bytes) {
  const uint64_t trailer = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
                           PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
                           PERF_SAMPLE_IDENTIFIER;

  assert_non_null(r);
  assert_int_equal(r->type, type);
  assert_int_equal(r->misc, v->misc);
  assert_ptr_equal(r->bytes, bytes);
  if (type == PERF_RECORD_SAMPLE) {
    check_who(r, attr->sample_type, v);
    check_sample(&r->sample, attr, v);
  } else {
    check_who(r, attr->sample_id_all ? attr->sample_type & trailer : 0, v);
    check_side_band(r, attr, v);
  }
}

void check_record_raw(const uvperf_record_t *r, const void *bytes,
                      const uvperf_source_t *source) {
  uvperf_record_t raw;
  uint16_t size;

  memcpy(&size, (const uint8_t *)bytes + 6, 2);
  memset(&raw, 0, sizeof(raw));
  memcpy(&raw.type, bytes, 4);
  memcpy(&raw.misc, (const uint8_t *)bytes + 4, 2);
  raw.size = size;
  raw.bytes = bytes;
  raw.source = source;
  assert_non_null(r);
  assert_memory_equal(r, &raw, sizeof(raw));
}

void check_record_bounds(const uvperf_record_t *record) {
  const char *fault = check_bounds_fault(record, 0);

  if (fault != NULL)
    fail_msg("record of type %u: %s", record->type, fault);
}

uvperf_decoder_t *record_decoder(uvperf_source_t *source,
                                 const struct perf_event_attr *attr) {
  const uvperf_source_t *sources[1] = {source};
  uvperf_decoder_t *decoder;

  memset(source, 0, sizeof(*source));
  source->size = sizeof(*source);
  source->attr = attr;
  assert_int_equal(uvperf_decoder_new(&decoder, sources, 1), 0);
  return decoder;
}

void record_one_begin(record_one_t *one, uint64_t sample_type) {
  uvperf_decoder_free(one->decoder);
  one->decoder = NULL;
  memset(&one->attr, 0, sizeof(one->attr));
  one->attr.size = sizeof(one->attr);
  one->attr.sample_type = sample_type;
  one->attr.read_format = BUILD_FORMAT_ALL;
  record_values_init(&one->values);
}

void record_one_open(record_one_t *one) {
  uvperf_decoder_free(one->decoder);
  one->decoder = record_decoder(&one->source, &one->attr);
}

void record_one_build(record_one_t *one, uint32_t type) {
  record_build(&one->builder, type, &one->attr, &one->values);
}

int record_one_decode_cut(record_one_t *one, size_t size) {
  if (one->decoder == NULL)
    record_one_open(one);
  free(one->bytes);
  one->bytes = record_cut(&one->builder, size);
  return uvperf_decode(one->decoder, one->bytes, size, &one->record);
}

int record_one_decode(record_one_t *one) {
  return record_one_decode_cut(one, one->builder.size);
}

void record_one_check(record_one_t *one, uint32_t type) {
  assert_int_equal(record_one_decode(one), 0);
  check_record_fields(one->record, type, &one->attr, &one->values, one->bytes);
  check_record_bounds(one->record);
  assert_int_equal(one->record->size, one->builder.size);
}

void record_one_refused(record_one_t *one, size_t size) {
  assert_int_equal(record_one_decode_cut(one, size), -EPROTO);
  check_record_raw(one->record, one->bytes, &one->source);
}

void record_one_roundtrip(record_one_t *one, uint32_t type) {
  record_one_build(one, type);
  record_one_check(one, type);
}

int check_record_words(const struct perf_event_attr *attr, uint32_t type,
                       uint16_t misc, const uint64_t *words, size_t nr) {
  static record_builder_t builder;
  uvperf_source_t source;
  uvperf_decoder_t *decoder;
  const uvperf_record_t *record;
  void *bytes;
  int rc;

  decoder = record_decoder(&source, attr);
  record_begin(&builder, type, misc);
  record_put(&builder, words, nr * sizeof(*words));
  record_end(&builder);
  bytes = record_cut(&builder, builder.size);
  rc = uvperf_decode(decoder, bytes, builder.size, &record);
  if (rc == 0)
    check_record_bounds(record);
  else
    check_record_raw(record, bytes, &source);
  free(bytes);
  uvperf_decoder_free(decoder);
  return rc;
}
