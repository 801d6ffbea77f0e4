/* SPDX-License-Identifier: MIT */
/* Writes a record as a line of text: its type, task, CPU and time, and the
 * fields of its body with their names in <linux/perf_event.h> and
 * perf-script(1). */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "uvperf/attr.h"
#include "uvperf/record.h"

#include "decode/read_format.h"
#include "util/bytes.h"
#include "util/line.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

typedef struct uvperf__line_s line_t;

typedef struct bit_name_s {
  uint64_t bit;
  const char *name;
} bit_name_t;

/* " flags 0x5 (truncated|partial)" */
static void put_bits(line_t *line, const char *field, uint64_t bits,
                     const bit_name_t *names, size_t nr) {
  const char *before = " (";
  size_t i;

  uvperf__line_put(line, " %s 0x%" PRIx64, field, bits);
  for (i = 0; i < nr; i++) {
    if (!(bits & names[i].bit))
      continue;
    uvperf__line_put(line, "%s%s", before, names[i].name);
    before = "|";
  }
  if (*before == '|')
    uvperf__line_put(line, ")");
}

static void put_string(line_t *line, const char *field, const char *text,
                       size_t size) {
  uvperf__line_put(line, " %s ", field);
  uvperf__line_put_text(line, text, size);
}

static void put_task(line_t *line, uint32_t pid, uint32_t tid) {
  uvperf__line_put(line, " pid %" PRIu32 " tid %" PRIu32, pid, tid);
}

/* -- fields of many types -------------------------------------------------- */

static void put_identity(line_t *line, const uvperf_record_t *record) {
  if (record->present & PERF_SAMPLE_TID)
    uvperf__line_put(line, " %" PRIu32 "/%" PRIu32, record->pid, record->tid);
  if (record->present & PERF_SAMPLE_CPU)
    uvperf__line_put(line, " cpu %" PRIu32, record->cpu);
  if (record->present & PERF_SAMPLE_TIME) {
    uvperf__line_put(line, " time ");
    uvperf__line_put_time(line, record->time);
  }
  if (record->present & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER))
    uvperf__line_put(line, " id %" PRIu64, record->id);
  if (record->present & PERF_SAMPLE_STREAM_ID)
    uvperf__line_put(line, " stream_id %" PRIu64, record->stream_id);
}

static void put_values(line_t *line, const uvperf_values_t *values) {
  uvperf__value_t value;
  uint64_t i;

  if (values->format & PERF_FORMAT_TOTAL_TIME_ENABLED)
    uvperf__line_put(line, " time_enabled %" PRIu64, values->time_enabled);
  if (values->format & PERF_FORMAT_TOTAL_TIME_RUNNING)
    uvperf__line_put(line, " time_running %" PRIu64, values->time_running);
  for (i = 0; i < values->nr; i++) {
    uvperf__read_format_get(values, i, &value);
    uvperf__line_put(line, " value %" PRIu64, value.value);
    if (values->format & PERF_FORMAT_ID)
      uvperf__line_put(line, " id %" PRIu64, value.id);
    if (values->format & UVPERF_FORMAT_LOST)
      uvperf__line_put(line, " lost %" PRIu64, value.lost);
  }
}

static void put_chain(line_t *line, const uint64_t *ips, uint64_t nr) {
  static const struct {
    uint64_t mark;
    const char *name;
  } marks[] = {
      {PERF_CONTEXT_HV, "hypervisor"},
      {PERF_CONTEXT_KERNEL, "kernel"},
      {PERF_CONTEXT_USER, "user"},
      {UVPERF_CONTEXT_USER_DEFERRED, "user_deferred"},
      {PERF_CONTEXT_GUEST, "guest"},
      {PERF_CONTEXT_GUEST_KERNEL, "guest_kernel"},
      {PERF_CONTEXT_GUEST_USER, "guest_user"},
  };
  uint64_t i, ip;
  size_t mark;

  uvperf__line_put(line, " nr %" PRIu64, nr);
  for (i = 0; i < nr; i++) {
    ip = uvperf__u64((const uint8_t *)&ips[i]);
    for (mark = 0; mark < LENGTH(marks) && marks[mark].mark != ip; mark++)
      continue;
    if (mark < LENGTH(marks))
      uvperf__line_put(line, " %s:", marks[mark].name);
    else
      uvperf__line_put(line, " 0x%" PRIx64, ip);
  }
}

/* -- samples --------------------------------------------------------------- */

/* The same text as in the field brstack of perf-script(1). */
static void put_branches(line_t *line, const uvperf_sample_t *sample) {
  const struct perf_branch_entry *entry;
  unsigned int type;
  uint64_t i;

  uvperf__line_put(line, " brstack nr %" PRIu64, sample->branch.nr);
  for (i = 0; i < sample->branch.nr; i++) {
    entry = &sample->branch.entries[i];
    uvperf__line_put(line, " 0x%" PRIx64 "/0x%" PRIx64 "/%c/%c/%c/%u",
                     (uint64_t)entry->from, (uint64_t)entry->to,
                     entry->mispred     ? 'M'
                     : entry->predicted ? 'P'
                                        : '-',
                     entry->in_tx ? 'X' : '-', entry->abort ? 'A' : '-',
                     (unsigned int)entry->cycles);
    type = uvperf_sample_branch_type(entry);
    if (type != 0)
      uvperf__line_put(line, "/%s", uvperf_sample_branch_type_name(type));
    if (sample->branch.counters != NULL)
      uvperf__line_put(line, "/0x%" PRIx64, sample->branch.counters[i]);
  }
}

/* Each register is named by its number in asm/perf_regs.h. */
static void put_regs(line_t *line, const char *field,
                     const uvperf_regs_t *regs) {
  unsigned int bit;
  uint64_t value;

  uvperf__line_put(line, " %s abi %" PRIu64, field, regs->abi);
  for (bit = 0; bit < 64; bit++)
    if (uvperf_sample_regs_get(regs, bit, &value) == 0)
      uvperf__line_put(line, " %u:0x%" PRIx64, bit, value);
}

static void put_data_src(line_t *line, uint64_t data_src) {
  static const char *const parts[] = {"OP", "LVL", "SNP", "LCK", "TLB", "BLK"};
  char words[192];
  unsigned int part;

  uvperf__line_put(line, " data_src 0x%" PRIx64, data_src);
  for (part = UVPERF_SAMPLE_MEM_OP; part <= UVPERF_SAMPLE_MEM_BLOCK; part++)
    if (uvperf_sample_mem_describe(data_src, (enum uvperf_sample_mem_part)part,
                                   words, sizeof(words)) != -EINVAL)
      uvperf__line_put(line, " |%s %s", parts[part], words);
}

static void put_transaction(line_t *line, uint64_t transaction) {
  static const bit_name_t names[] = {
      {PERF_TXN_ELISION, "elision"},
      {PERF_TXN_TRANSACTION, "transaction"},
      {PERF_TXN_SYNC, "sync"},
      {PERF_TXN_ASYNC, "async"},
      {PERF_TXN_RETRY, "retry"},
      {PERF_TXN_CONFLICT, "conflict"},
      {PERF_TXN_CAPACITY_WRITE, "capacity_write"},
      {PERF_TXN_CAPACITY_READ, "capacity_read"},
  };

  put_bits(line, "transaction", transaction, names, LENGTH(names));
  if (uvperf_sample_abort_code(transaction) != 0)
    uvperf__line_put(line, " abort_code 0x%" PRIx32,
                     uvperf_sample_abort_code(transaction));
}

static void put_bytes(line_t *line, const char *field, const void *bytes,
                      uint64_t size) {
  uvperf__line_put(line, " %s size %" PRIu64, field, size);
  if (size == 0)
    return;
  uvperf__line_put(line, " ");
  uvperf__line_put_hex(line, bytes, (size_t)size);
}

/* The fields are in the kernel's order, as in perf_event_open(2). */
static void put_sample(line_t *line, const uvperf_record_t *record) {
  const uvperf_sample_t *sample = &record->sample;
  const struct {
    uint64_t bit;
    const char *name;
    uint64_t value;
  } numbers[] = {
      {PERF_SAMPLE_PHYS_ADDR, "phys_addr 0x", sample->phys_addr},
      {PERF_SAMPLE_CGROUP, "cgroup 0x", sample->cgroup},
      {UVPERF_SAMPLE_DATA_PAGE_SIZE, "data_page_size 0x",
       sample->data_page_size},
      {UVPERF_SAMPLE_CODE_PAGE_SIZE, "code_page_size 0x",
       sample->code_page_size},
  };
  uint64_t present = record->present;
  size_t i;

  uvperf__line_put(line, " %s", uvperf_record_cpu_mode_name(record->misc));
  if (present & PERF_SAMPLE_IP)
    uvperf__line_put(line, " ip 0x%" PRIx64, record->ip);
  if (present & PERF_SAMPLE_ADDR)
    uvperf__line_put(line, " addr 0x%" PRIx64, record->addr);
  if (present & PERF_SAMPLE_PERIOD)
    uvperf__line_put(line, " period %" PRIu64, record->period);
  if (present & PERF_SAMPLE_READ)
    put_values(line, &sample->read);
  if (present & PERF_SAMPLE_CALLCHAIN) {
    uvperf__line_put(line, " callchain");
    put_chain(line, sample->callchain.ips, sample->callchain.nr);
  }
  if (present & PERF_SAMPLE_RAW)
    put_bytes(line, "raw", sample->raw.data, sample->raw.size);
  if (present & PERF_SAMPLE_BRANCH_STACK)
    put_branches(line, sample);
  if (present & PERF_SAMPLE_REGS_USER)
    put_regs(line, "regs_user", &sample->regs_user);
  if (present & PERF_SAMPLE_STACK_USER)
    put_bytes(line, "stack_user", sample->stack_user.data,
              sample->stack_user.dyn_size);
  if (present & PERF_SAMPLE_WEIGHT)
    uvperf__line_put(line, " weight %" PRIu64, sample->weight.full);
  else if (present & UVPERF_SAMPLE_WEIGHT_STRUCT)
    uvperf__line_put(line, " weight %u ins_lat %u p_stage_cyc %u",
                     (unsigned int)sample->weight.var1_dw,
                     (unsigned int)sample->weight.var2_w,
                     (unsigned int)sample->weight.var3_w);
  if (present & PERF_SAMPLE_DATA_SRC)
    put_data_src(line, sample->data_src);
  if (present & PERF_SAMPLE_TRANSACTION)
    put_transaction(line, sample->transaction);
  if (present & PERF_SAMPLE_REGS_INTR)
    put_regs(line, "regs_intr", &sample->regs_intr);
  for (i = 0; i < LENGTH(numbers); i++)
    if (present & numbers[i].bit)
      uvperf__line_put(line, " %s%" PRIx64, numbers[i].name, numbers[i].value);
  if (present & PERF_SAMPLE_AUX)
    put_bytes(line, "aux", sample->aux.data, sample->aux.size);
}

/* -- the other types ------------------------------------------------------- */

static void put_mmap(line_t *line, const uvperf_record_t *record) {
  const uvperf_mmap_t *mmap = &record->mmap;

  put_task(line, mmap->pid, mmap->tid);
  uvperf__line_put(line,
                   " addr 0x%" PRIx64 " len 0x%" PRIx64 " pgoff 0x%" PRIx64,
                   mmap->addr, mmap->len, mmap->pgoff);
  if (uvperf_record_has_build_id(record)) {
    uvperf__line_put(line, " build_id ");
    uvperf__line_put_hex(line, mmap->build_id, mmap->build_id_size);
  } else if (record->type == PERF_RECORD_MMAP2) {
    uvperf__line_put(line,
                     " dev %02" PRIx32 ":%02" PRIx32 " ino %" PRIu64
                     " ino_generation %" PRIu64,
                     mmap->maj, mmap->min, mmap->ino, mmap->ino_generation);
  }
  if (record->type == PERF_RECORD_MMAP2)
    uvperf__line_put(line, " prot 0x%" PRIx32 " flags 0x%" PRIx32, mmap->prot,
                     mmap->flags);
  if (uvperf_record_is_mmap_data(record))
    uvperf__line_put(line, " data");
  put_string(line, "filename", mmap->filename, mmap->filename_size);
}

static void put_lost(line_t *line, const uvperf_record_t *record) {
  uvperf__line_put(line, " id %" PRIu64 " lost %" PRIu64, record->lost.id,
                   record->lost.lost);
}

static void put_comm(line_t *line, const uvperf_record_t *record) {
  put_task(line, record->comm.pid, record->comm.tid);
  uvperf__line_put(line, "%s", uvperf_record_is_exec(record) ? " exec" : "");
  put_string(line, "comm", record->comm.comm, record->comm.comm_size);
}

static void put_fork_or_exit(line_t *line, const uvperf_record_t *record) {
  const uvperf_task_t *task = &record->task;

  put_task(line, task->pid, task->tid);
  uvperf__line_put(line, " ppid %" PRIu32 " ptid %" PRIu32 " time ", task->ppid,
                   task->ptid);
  uvperf__line_put_time(line, task->time);
}

static void put_throttle(line_t *line, const uvperf_record_t *record) {
  uvperf__line_put(line, " time ");
  uvperf__line_put_time(line, record->throttle.time);
  uvperf__line_put(line, " id %" PRIu64 " stream_id %" PRIu64,
                   record->throttle.id, record->throttle.stream_id);
}

static void put_read(line_t *line, const uvperf_record_t *record) {
  put_task(line, record->read.pid, record->read.tid);
  put_values(line, &record->read.values);
}

static void put_aux(line_t *line, const uvperf_record_t *record) {
  static const bit_name_t names[] = {
      {PERF_AUX_FLAG_TRUNCATED, "truncated"},
      {PERF_AUX_FLAG_OVERWRITE, "overwrite"},
      {PERF_AUX_FLAG_PARTIAL, "partial"},
      {PERF_AUX_FLAG_COLLISION, "collision"},
  };

  uvperf__line_put(line, " offset 0x%" PRIx64 " size 0x%" PRIx64,
                   record->aux.offset, record->aux.size);
  put_bits(line, "flags", record->aux.flags, names, LENGTH(names));
}

static void put_itrace_start(line_t *line, const uvperf_record_t *record) {
  put_task(line, record->itrace_start.pid, record->itrace_start.tid);
}

static void put_lost_samples(line_t *line, const uvperf_record_t *record) {
  uvperf__line_put(line, " lost %" PRIu64, record->lost_samples.lost);
}

static void put_switch(line_t *line, const uvperf_record_t *record) {
  int is_out = uvperf_record_is_switch_out(record);

  uvperf__line_put(line, " %s%s", is_out ? "out" : "in",
                   uvperf_record_is_preempted(record) ? " preempt" : "");
  if (record->type == PERF_RECORD_SWITCH_CPU_WIDE)
    uvperf__line_put(line, " %s pid %" PRIu32 " tid %" PRIu32,
                     is_out ? "next" : "prev",
                     record->switch_cpu_wide.next_prev_pid,
                     record->switch_cpu_wide.next_prev_tid);
}

static void put_namespaces(line_t *line, const uvperf_record_t *record) {
  /* *_NS_INDEX. */
  static const char *const names[] = {"net",  "uts", "ipc",   "pid",
                                      "user", "mnt", "cgroup"};
  const uvperf_namespaces_t *namespaces = &record->namespaces;
  uint64_t i;

  put_task(line, namespaces->pid, namespaces->tid);
  uvperf__line_put(line, " nr_namespaces %" PRIu64, namespaces->nr);
  for (i = 0; i < namespaces->nr; i++)
    uvperf__line_put(line, " %s %" PRIu64 "/0x%" PRIx64,
                     i < LENGTH(names) ? names[i] : "unknown",
                     namespaces->links[i].dev, namespaces->links[i].inode);
}

static void put_ksymbol(line_t *line, const uvperf_record_t *record) {
  static const bit_name_t names[] = {
      {PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER, "unregister"}};
  const uvperf_ksymbol_t *ksymbol = &record->ksymbol;

  uvperf__line_put(line, " addr 0x%" PRIx64 " len %" PRIu32 " type %u",
                   ksymbol->addr, ksymbol->len,
                   (unsigned int)ksymbol->ksym_type);
  put_bits(line, "flags", ksymbol->flags, names, LENGTH(names));
  put_string(line, "name", ksymbol->name, ksymbol->name_size);
}

static void put_bpf_event(line_t *line, const uvperf_record_t *record) {
  const uvperf_bpf_event_t *event = &record->bpf_event;

  uvperf__line_put(line, " type %u flags 0x%x id %" PRIu32 " tag ",
                   (unsigned int)event->type, (unsigned int)event->flags,
                   event->id);
  uvperf__line_put_hex(line, event->tag, sizeof(event->tag));
}

static void put_cgroup(line_t *line, const uvperf_record_t *record) {
  uvperf__line_put(line, " id %" PRIu64, record->cgroup.id);
  put_string(line, "path", record->cgroup.path, record->cgroup.path_size);
}

static void put_text_poke(line_t *line, const uvperf_record_t *record) {
  const uvperf_text_poke_t *poke = &record->text_poke;

  uvperf__line_put(line, " addr 0x%" PRIx64, poke->addr);
  put_bytes(line, "old", poke->old_bytes, poke->old_len);
  put_bytes(line, "new", poke->new_bytes, poke->new_len);
}

static void put_aux_output_hw_id(line_t *line, const uvperf_record_t *record) {
  uvperf__line_put(line, " hw_id 0x%" PRIx64, record->aux_output_hw_id.hw_id);
}

static void put_callchain_deferred(line_t *line,
                                   const uvperf_record_t *record) {
  const uvperf_callchain_deferred_t *chain = &record->callchain_deferred;

  uvperf__line_put(line, " cookie 0x%" PRIx64, chain->cookie);
  put_chain(line, chain->ips, chain->nr);
}

/* -- every type ------------------------------------------------------------ */

typedef void (*put_fn)(line_t *line, const uvperf_record_t *record);

static const put_fn bodies[] = {
    [PERF_RECORD_MMAP] = put_mmap,
    [PERF_RECORD_LOST] = put_lost,
    [PERF_RECORD_COMM] = put_comm,
    [PERF_RECORD_EXIT] = put_fork_or_exit,
    [PERF_RECORD_THROTTLE] = put_throttle,
    [PERF_RECORD_UNTHROTTLE] = put_throttle,
    [PERF_RECORD_FORK] = put_fork_or_exit,
    [PERF_RECORD_READ] = put_read,
    [PERF_RECORD_SAMPLE] = put_sample,
    [PERF_RECORD_MMAP2] = put_mmap,
    [PERF_RECORD_AUX] = put_aux,
    [PERF_RECORD_ITRACE_START] = put_itrace_start,
    [PERF_RECORD_LOST_SAMPLES] = put_lost_samples,
    [PERF_RECORD_SWITCH] = put_switch,
    [PERF_RECORD_SWITCH_CPU_WIDE] = put_switch,
    [PERF_RECORD_NAMESPACES] = put_namespaces,
    [PERF_RECORD_KSYMBOL] = put_ksymbol,
    [PERF_RECORD_BPF_EVENT] = put_bpf_event,
    [PERF_RECORD_CGROUP] = put_cgroup,
    [PERF_RECORD_TEXT_POKE] = put_text_poke,
    [UVPERF_RECORD_AUX_OUTPUT_HW_ID] = put_aux_output_hw_id,
    [UVPERF_RECORD_CALLCHAIN_DEFERRED] = put_callchain_deferred,
};

size_t uvperf_record_format(const uvperf_record_t *record, int status,
                            char *text, size_t size) {
  const char *name = uvperf_record_type_name(record->type);
  line_t line;

  uvperf__line_begin(&line, text, size);
  if (name != NULL)
    uvperf__line_put(&line, "PERF_RECORD_%s", name);
  else
    uvperf__line_put(&line, "PERF_RECORD_%" PRIu32, record->type);
  put_identity(&line, record);
  uvperf__line_put(&line, ":");
  if (status == 0 && record->type < LENGTH(bodies) &&
      bodies[record->type] != NULL)
    bodies[record->type](&line, record);
  else
    put_bytes(&line, status == 0 ? "unknown" : "damaged", record->bytes,
              record->size);
  return line.length;
}
