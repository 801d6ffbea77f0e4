/* SPDX-License-Identifier: MIT */
/* Follows what the records tell of tasks and mappings, and counts each sample
 * where it was at its time: because records come in the order of time, a place
 * can be named at once, and no raw samples need to be kept. Does not print and
 * does not know where records come from. */
#include "profile/account.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/tasks.h"
#include "common/text.h"
#include "profile/proc.h"

/* How long a dead task is remembered: with -a it is still sampled, in the
 * kernel, after its EXIT record was written. */
#define DEAD_NS UINT64_C(1000000000)

void profile_account_init(profile_account_t *account, int want_stacks) {
  memset(account, 0, sizeof(*account));
  profile_names_init(&account->names);
  profile_tally_init(&account->places);
  profile_tally_init(&account->stacks);
  account->want_stacks = want_stacks;
  account->kernel = profile_names_add(&account->names, "[kernel]");
  account->anon = profile_names_add(&account->names, "[anon]");
  account->unknown = profile_names_add(&account->names, "[unknown]");
  profile_tasks_name(
      &account->tasks, 0,
      profile_names_add(&account->names, common_tasks_has_outsiders()
                                             ? "[outside]"
                                             : "swapper"));
}

void profile_account_free(profile_account_t *account) {
  profile_tasks_free(&account->tasks);
  symbols_kallsyms_free(&account->symbols);
  profile_tally_free(&account->places);
  profile_tally_free(&account->stacks);
  profile_names_free(&account->names);
  free(account->words);
  memset(account, 0, sizeof(*account));
}

static profile_frame_t kernel_frame(const profile_account_t *account,
                                    uint64_t address, int is_caller) {
  const symbols_kallsym_t *symbol;
  profile_frame_t frame = {account->kernel, address};

  /* A return address can be the first of the next function, if the call never
   * returns. */
  symbol = symbols_kallsyms_find(&account->symbols,
                                 is_caller ? address - 1 : address);
  if (symbol != NULL)
    frame.offset = symbol->address;
  return frame;
}

static profile_frame_t user_frame(const profile_account_t *account,
                                  uint32_t pid, uint64_t address) {
  profile_frame_t frame = {account->unknown, 0};
  const profile_map_t *map;

  map = profile_tasks_find(&account->tasks, pid, address);
  if (map == NULL)
    return frame;
  frame.object = map->object;
  if (map->object != account->anon)
    frame.offset = address - map->start + map->pgoff;
  return frame;
}

static profile_frame_t frame_at(const profile_account_t *account, uint32_t pid,
                                uint64_t context, uint64_t address,
                                int is_caller) {
  profile_frame_t frame = {account->unknown, 0};

  if (context == (uint64_t)PERF_CONTEXT_KERNEL)
    return kernel_frame(account, address, is_caller);
  if (context == (uint64_t)PERF_CONTEXT_USER)
    return user_frame(account, pid, address);
  return frame;
}

static uint64_t context_of(uint16_t misc) {
  switch (uvperf_record_cpu_mode(misc)) {
    case PERF_RECORD_MISC_KERNEL:
      return (uint64_t)PERF_CONTEXT_KERNEL;
    case PERF_RECORD_MISC_USER:
      return (uint64_t)PERF_CONTEXT_USER;
    default:
      return 0;
  }
}

static void put_frame(uint64_t *words, const profile_frame_t *frame) {
  words[0] = frame->object;
  words[1] = frame->offset;
}

static void count_stack(profile_account_t *account,
                        const uvperf_record_t *record, uint64_t comm,
                        const profile_frame_t *leaf) {
  const uvperf_sample_t *sample = &record->sample;
  uint64_t context = context_of(record->misc);
  profile_frame_t frame;
  size_t i, nr = 1;

  while (account->word_capacity < 3 + 2 * sample->callchain.nr)
    account->words = common_grow(account->words, &account->word_capacity,
                                 sizeof(*account->words));
  account->words[0] = comm;
  for (i = 0; i < sample->callchain.nr; i++) {
    uint64_t ip = sample->callchain.ips[i];

    if (ip >= (uint64_t)PERF_CONTEXT_MAX) {
      context = ip;
      continue;
    }
    frame = frame_at(account, record->pid, context, ip, nr > 1);
    put_frame(account->words + nr, &frame);
    nr += 2;
  }
  if (nr == 1) {
    put_frame(account->words + nr, leaf);
    nr += 2;
  }
  profile_tally_add(&account->stacks, account->words, nr, record->period);
}

static void count_sample(profile_account_t *account,
                         const uvperf_record_t *record) {
  profile_frame_t leaf;
  uint64_t words[3];
  uint32_t comm;
  char name[16];

  if (profile_tasks_comm(&account->tasks, record->pid, record->tid, &comm)) {
    /* Its records were lost; or it is so dead that the kernel gives -1, as in
     * perf_event_pid. */
    if (record->pid == UINT32_MAX)
      snprintf(name, sizeof(name), "[exited]");
    else
      snprintf(name, sizeof(name), ":%u", record->pid);
    comm = profile_names_add(&account->names, name);
  }
  leaf =
      frame_at(account, record->pid, context_of(record->misc), record->ip, 0);
  words[0] = comm;
  put_frame(words + 1, &leaf);
  profile_tally_add(&account->places, words, 3, record->period);
  if (account->want_stacks)
    count_stack(account, record, comm, &leaf);
}

static void follow_map(profile_account_t *account,
                       const uvperf_record_t *record) {
  profile_map_t map;

  /* Maps of the kernel's own have pid -1; kallsyms covers them. */
  if (uvperf_record_cpu_mode(record->misc) != PERF_RECORD_MISC_USER ||
      !common_tasks_has_id(record->mmap.pid))
    return;
  map.start = record->mmap.addr;
  map.end = record->mmap.addr + record->mmap.len;
  map.pgoff = record->mmap.pgoff;
  map.object = profile_object(&account->names, record->mmap.filename);
  profile_tasks_map(&account->tasks, record->mmap.pid, &map);
}

static void follow_comm(profile_account_t *account,
                        const uvperf_record_t *record) {
  if (!common_tasks_has_id(record->comm.tid))
    return;
  if (uvperf_record_is_exec(record))
    profile_tasks_exec(&account->tasks, record->comm.pid);
  profile_tasks_name(&account->tasks, record->comm.tid,
                     profile_names_add(&account->names, record->comm.comm));
}

static void follow_fork(profile_account_t *account,
                        const uvperf_record_t *record) {
  if (common_tasks_has_id(record->task.tid))
    profile_tasks_fork(&account->tasks, record->task.pid, record->task.tid,
                       record->task.ppid, record->task.ptid);
}

static void follow_exit(profile_account_t *account,
                        const uvperf_record_t *record) {
  if (common_tasks_has_id(record->task.tid))
    profile_tasks_exit(&account->tasks, record->task.tid, record->time);
}

void profile_account_record(profile_account_t *account,
                            const uvperf_record_t *record) {
  switch (record->type) {
    case PERF_RECORD_SAMPLE:
      count_sample(account, record);
      break;
    case PERF_RECORD_MMAP2:
      follow_map(account, record);
      break;
    case PERF_RECORD_COMM:
      follow_comm(account, record);
      break;
    case PERF_RECORD_FORK:
      follow_fork(account, record);
      break;
    case PERF_RECORD_EXIT:
      follow_exit(account, record);
      break;
    default:
      break;
  }
}

void profile_account_reap(profile_account_t *account, uint64_t time) {
  if (time > DEAD_NS)
    profile_tasks_reap(&account->tasks, time - DEAD_NS);
}

void profile_account_frame(const profile_account_t *account,
                           const profile_frame_t *frame, char *text,
                           size_t size) {
  const symbols_kallsym_t *symbol = NULL;
  const char *name;

  if (frame->object == account->kernel)
    symbol = symbols_kallsyms_find(&account->symbols, frame->offset);
  if (symbol != NULL) {
    name = symbols_kallsyms_name(&account->symbols, symbol);
    common_text_clean(text, size, name);
    return;
  }
  name = profile_names_get(&account->names, (uint32_t)frame->object);
  if (frame->object == account->anon || frame->object == account->unknown)
    snprintf(text, size, "%s", name);
  else
    snprintf(text, size, "%s+0x%" PRIx64, name, frame->offset);
}
