/* SPDX-License-Identifier: MIT */
/* Records come in time order, so each address is turned into an object and an
 * offset at once, and no samples are kept. This file does not depend on
 * function names or on the source of the records. */
#include "profile/account.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "common/memory.h"
#include "common/proc.h"
#include "common/tasks.h"
#include "common/text.h"
#include "profile/unwinding.h"

/* How long a dead task is remembered: with -a it can still be sampled, in the
 * kernel, after its EXIT record. */
#define DEAD_NS UINT64_C(1000000000)

/* The pid in records of the kernel's own mappings. */
#define KERNEL_PID UINT32_MAX

void profile_account_init(profile_account_t *account, stacks_by_t by,
                          symbols_t *symbols) {
  memset(account, 0, sizeof(*account));
  account->by = by;
  account->unit = 1;
  account->symbols = symbols;
  stacks_names_init(&account->names);
  profile_objects_init(&account->objects);
  common_tally_init(&account->whos, sizeof(profile_who_t));
  common_tally_init(&account->stacks, sizeof(profile_frame_t));
  common_tally_init(&account->cgroups, sizeof(uint64_t));
  profile_tasks_name(
      &account->tasks, 0,
      stacks_names_add(&account->names,
                       common_tasks_has_outsiders() ? "[outside]" : "swapper"));
}

void profile_account_free(profile_account_t *account) {
  profile_tasks_free(&account->tasks);
  profile_objects_free(&account->objects);
  common_tally_free(&account->whos);
  common_tally_free(&account->stacks);
  common_tally_free(&account->cgroups);
  stacks_names_free(&account->names);
  free(account->frames);
  memset(account, 0, sizeof(*account));
}

/* -- frames ---------------------------------------------------------------- */

static symbols_mapping_t mapping_of(const profile_account_t *account,
                                    profile_object_t *object, uint32_t pid,
                                    const profile_map_t *map) {
  symbols_mapping_t mapping;

  /* If a record has no build id, the recorded file may have it in a table. */
  if (object->build_id_bytes == 0 && account->build_id != NULL)
    object->build_id_bytes = account->build_id(account->build_id_arg,
                                               object->path, object->build_id);
  memset(&mapping, 0, sizeof(mapping));
  mapping.kind = object->kind;
  /* A child has the memory of its parent's JIT compiler. The parent's map file
   * has the names. */
  mapping.pid = object->kind == SYMBOLS_JIT ? object->pid : pid;
  mapping.image = object->image;
  mapping.start = map->start;
  mapping.end = map->end;
  mapping.path = object->path;
  if (account->is_elsewhere && object->build_id_bytes == 0)
    mapping.path = "";
  mapping.major = object->major;
  mapping.minor = object->minor;
  /* In a recording, a build id is a better check than the inode. */
  if (!account->is_recorded || object->build_id_bytes == 0)
    mapping.inode = object->inode;
  mapping.generation = object->generation;
  mapping.build_id_bytes = object->build_id_bytes;
  memcpy(mapping.build_id, object->build_id, sizeof(mapping.build_id));
  mapping.is_recorded = account->is_recorded;
  mapping.symfs = account->symfs;
  return mapping;
}

/* Its file is opened soon, because the process may end. */
symbols_mapping_t profile_account_object(const profile_account_t *account,
                                         uint32_t pid,
                                         const profile_map_t *map) {
  profile_object_t *object =
      profile_objects_get(&account->objects, map->object);
  symbols_mapping_t mapping = mapping_of(account, object, pid, map);

  /* The map file of the JIT compiler is on the other machine. A map file here
   * with the same pid belongs to another process. */
  if (object->has_symbols || ((account->is_elsewhere || account->is_homeless) &&
                              object->kind == SYMBOLS_JIT))
    return mapping;
  object->symbols = symbols_object(account->symbols, &mapping);
  object->has_symbols = 1;
  return mapping;
}

profile_frame_t profile_account_user_frame(const profile_account_t *account,
                                           uint32_t pid, uint64_t address) {
  profile_frame_t frame = {PROFILE_OBJECT_UNKNOWN, 0};
  profile_object_t *object;
  const profile_map_t *map;

  map = profile_tasks_find(&account->tasks, pid, address);
  if (map == NULL || map->object == PROFILE_OBJECT_UNKNOWN)
    return frame;
  object = profile_objects_get(&account->objects, map->object);
  if (!object->has_symbols)
    profile_account_object(account, pid, map);
  frame.object = map->object;
  frame.offset =
      object->kind == SYMBOLS_JIT ? address : address - map->start + map->pgoff;
  return frame;
}

/* Modules of a recorded kernel, and functions that come and go, are mappings
 * of KERNEL_PID, from the time of their records on. */
static profile_frame_t kernel_frame(const profile_account_t *account,
                                    uint64_t address) {
  profile_frame_t frame = {PROFILE_OBJECT_KERNEL, address};
  const profile_map_t *map = NULL;

  if (address >= account->kernel_maps_start &&
      address < account->kernel_maps_end)
    map = profile_tasks_find(&account->tasks, KERNEL_PID, address);
  if (map != NULL) {
    frame.object = map->object;
    frame.offset = address - map->start + map->pgoff;
  } else if (account->is_recorded && (address < account->kernel_start ||
                                      address >= account->kernel_end)) {
    frame.object = PROFILE_OBJECT_OUTSIDE;
  }
  return frame;
}

static profile_frame_t frame_at(const profile_account_t *account, uint32_t pid,
                                uint64_t context, uint64_t address) {
  profile_frame_t frame = {PROFILE_OBJECT_UNKNOWN, 0};

  if (context == (uint64_t)PERF_CONTEXT_USER)
    return profile_account_user_frame(account, pid, address);
  if (context == (uint64_t)PERF_CONTEXT_KERNEL)
    return kernel_frame(account, address);
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

/* The branch stack of --call-graph lbr has the callers of user code: each
 * branch begins at the call itself. Like perf, use it instead of the call
 * chain, which has them only if there are frame pointers. */
static int has_branch_callers(const uvperf_record_t *record) {
  return (record->present & PERF_SAMPLE_BRANCH_STACK) != 0 &&
         record->source != NULL &&
         (record->source->attr->branch_sample_type &
          PERF_SAMPLE_BRANCH_CALL_STACK) != 0 &&
         record->sample.branch.nr > 0;
}

static size_t take_branches(const profile_account_t *account,
                            const uvperf_record_t *record, size_t nr) {
  const struct perf_branch_entry *entries = record->sample.branch.entries;
  uint64_t i;

  for (i = 0; i < record->sample.branch.nr && entries[i].from != 0; i++)
    account->frames[nr++] =
        profile_account_user_frame(account, record->pid, entries[i].from);
  return nr;
}

/* A frame is the byte before the return address, because this byte is always in
 * the caller. If a call never returns, its return address can be the start of
 * the next function. The first address of each context is no return address:
 * the code was interrupted there. */
static size_t take_frames(profile_account_t *account,
                          const uvperf_record_t *record) {
  const uvperf_sample_t *sample = &record->sample;
  uint64_t context = context_of(record->misc), ip;
  int is_return = 0, has_ip = (record->present & PERF_SAMPLE_IP) != 0;
  int has_branches = has_branch_callers(record);
  uint64_t nr_branches = has_branches ? sample->branch.nr : 0;
  size_t i, nr = 0;

  while (account->frame_capacity < 1 + sample->callchain.nr + nr_branches)
    account->frames = common_grow(account->frames, &account->frame_capacity,
                                  sizeof(*account->frames));
  for (i = 0; i < sample->callchain.nr; i++) {
    ip = sample->callchain.ips[i];
    if (ip >= (uint64_t)PERF_CONTEXT_MAX) {
      context = ip;
      is_return = 0;
      continue;
    }
    if (has_branches && is_return && context == (uint64_t)PERF_CONTEXT_USER)
      continue;
    /* record->ip can be more precise than the chain, and the chain may have
     * only user code. */
    if (nr == 0 && has_ip && context == context_of(record->misc))
      ip = record->ip;
    else if (nr == 0 && has_ip)
      account->frames[nr++] =
          frame_at(account, record->pid, context_of(record->misc), record->ip);
    account->frames[nr++] =
        frame_at(account, record->pid, context, is_return ? ip - 1 : ip);
    is_return = 1;
  }
  if (nr == 0)
    account->frames[nr++] = frame_at(account, record->pid, context, record->ip);
  return has_branches && context == (uint64_t)PERF_CONTEXT_USER
             ? take_branches(account, record, nr)
             : nr;
}

/* -- tasks ----------------------------------------------------------------- */

/* Names a task by its pid if its records were lost. The kernel reports pid -1
 * for a task that has fully exited (see perf_event_pid). */
static uint32_t name_unknown(profile_account_t *account, uint32_t pid) {
  char name[16] = "[exited]";

  if (pid != UINT32_MAX)
    snprintf(name, sizeof(name), ":%" PRIu32, pid);
  return stacks_names_add(&account->names, name);
}

static uint32_t comm_of(profile_account_t *account, uint32_t pid,
                        uint32_t tid) {
  uint32_t comm;

  if (profile_tasks_comm(&account->tasks, pid, tid, &comm) == 0)
    return comm;
  return name_unknown(account, pid);
}

uint32_t profile_account_keep_who(profile_account_t *account,
                                  const profile_who_t *who) {
  const common_entry_t *entry = common_tally_get(&account->whos, 0, who, 1);

  return entry == NULL ? 0 : (uint32_t)entry->index;
}

const profile_who_t *profile_account_get_who(const profile_account_t *account,
                                             uint64_t who) {
  return account->whos.entries[who]->items;
}

uint32_t profile_account_who(profile_account_t *account, uint32_t pid,
                             uint32_t tid, uint64_t cgroup) {
  stacks_by_t by = account->by;
  int all = account->has_ids;
  profile_who_t who;

  memset(&who, 0, sizeof(who));
  who.thread = comm_of(account, pid, tid);
  who.process = comm_of(account, pid, pid);
  if (by == STACKS_BY_THREAD || all)
    who.tid = tid;
  if (by == STACKS_BY_PROCESS || by == STACKS_BY_THREAD || all)
    who.pid = pid;
  if (by == STACKS_BY_CGROUP || all)
    who.cgroup = cgroup;
  return profile_account_keep_who(account, &who);
}

/* -- counting -------------------------------------------------------------- */

void profile_account_stack(profile_account_t *account,
                           const uvperf_record_t *record,
                           profile_stack_t *stack) {
  stack->who = profile_account_who(account, record->pid, record->tid,
                                   record->sample.cgroup);
  stack->nr = take_frames(account, record);
  stack->frames = account->frames;
}

common_entry_t *profile_account_keep(profile_account_t *account,
                                     const profile_stack_t *stack) {
  common_entry_t *entry =
      common_tally_get(&account->stacks, stack->who, stack->frames, stack->nr);

  return entry == NULL ? &account->other : entry;
}

void profile_account_add(profile_account_t *account, common_entry_t *entry,
                         uint64_t samples, uint64_t weight) {
  account->samples += samples;
  account->weight += weight;
  entry->samples += samples * account->unit;
  entry->weight += weight;
}

void profile_account_count(profile_account_t *account,
                           const profile_stack_t *stack, uint64_t samples,
                           uint64_t weight) {
  profile_account_add(account, profile_account_keep(account, stack), samples,
                      weight);
}

void profile_account_restart(profile_account_t *account) {
  common_tally_free(&account->stacks);
  common_tally_init(&account->stacks, sizeof(profile_frame_t));
  memset(&account->other, 0, sizeof(account->other));
  account->samples = account->weight = 0;
  account->nr_restarts++;
}

void profile_account_cgroup(profile_account_t *account, uint64_t id,
                            const char *path) {
  common_entry_t *entry = common_tally_get(&account->cgroups, id, NULL, 0);

  if (entry != NULL)
    entry->weight = stacks_names_add(&account->names, path);
}

/* -- records --------------------------------------------------------------- */

int profile_account_is_core(const uvperf_mmap_t *mmap) {
  const size_t size = strlen(PROFILE_ACCOUNT_KERNEL);

  return mmap->filename_size >= size &&
         memcmp(mmap->filename, PROFILE_ACCOUNT_KERNEL, size) == 0;
}

/* The kernel's own mappings have pid -1. kallsyms covers these mappings, except
 * the modules of a recorded kernel, which may have other addresses now. */
static int is_wanted(const profile_account_t *account,
                     const uvperf_record_t *record) {
  /* perf record --call-graph dwarf also records data mappings. The end of a
   * file's code and the start of its data can share a page, which is then
   * mapped twice. */
  if (uvperf_record_cpu_mode(record->misc) == PERF_RECORD_MISC_USER)
    return common_tasks_has_id(record->mmap.pid) &&
           !uvperf_record_is_mmap_data(record);
  return account->is_recorded && record->mmap.pid == KERNEL_PID &&
         !profile_account_is_core(&record->mmap);
}

void profile_account_kernel_map(profile_account_t *account,
                                const profile_map_t *map) {
  if (account->kernel_maps_end == 0 || map->start < account->kernel_maps_start)
    account->kernel_maps_start = map->start;
  if (map->end > account->kernel_maps_end)
    account->kernel_maps_end = map->end;
  profile_tasks_map(&account->tasks, KERNEL_PID, map);
}

/* Some programs copy their code to huge pages, and map these where the code was
 * (node --use-largepages). Memory between two parts of a file, exactly as large
 * as what is missing there, has that part of the file. */
static void find_copy(const profile_account_t *account, profile_map_t *copy) {
  const profile_map_t *before = copy - 1, *after = copy + 1;
  uint64_t pgoff = before->pgoff + (before->end - before->start);

  if (before->end != copy->start || copy->end != after->start ||
      before->object != after->object ||
      after->pgoff != pgoff + (copy->end - copy->start) ||
      profile_objects_get(&account->objects, copy->object)->kind != SYMBOLS_JIT)
    return;
  copy->object = before->object;
  copy->pgoff = pgoff;
}

/* A new mapping can be the copy, or the part of the file after it. */
static void find_copies(const profile_account_t *account,
                        const profile_task_t *process, uint64_t start) {
  const profile_map_t *map =
      profile_tasks_find(&account->tasks, process->tid, start);
  size_t i = map == NULL ? 0 : (size_t)(map - process->maps), k;

  for (k = i > 0 ? i - 1 : 0; k <= i; k++) {
    if (k > 0 && k + 1 < process->nr_maps)
      find_copy(account, &process->maps[k]);
  }
}

void profile_account_map(profile_account_t *account, uint32_t pid,
                         profile_object_t *object, profile_map_t *map) {
  profile_task_t *process = profile_tasks_get(&account->tasks, pid);

  object->pid = pid;
  object->image = process->image;
  if (profile_objects_kind(object) == SYMBOLS_JIT)
    object->since = process->image_since;
  map->object = profile_objects_add(&account->objects, object);
  process->has_jit |=
      profile_objects_get(&account->objects, map->object)->kind == SYMBOLS_JIT;
  profile_tasks_map(&account->tasks, pid, map);
  find_copies(account, process, map->start);
}

static void follow_map(profile_account_t *account,
                       const uvperf_record_t *record) {
  const uvperf_mmap_t *mmap = &record->mmap;
  profile_object_t object;
  profile_map_t map;
  char path[PATH_MAX];

  if (!is_wanted(account, record))
    return;
  memset(&object, 0, sizeof(object));
  object.path =
      common_text_copy(path, sizeof(path), mmap->filename, mmap->filename_size);
  object.major = mmap->maj;
  object.minor = mmap->min;
  object.inode = mmap->ino;
  object.generation = mmap->ino_generation;
  object.since = record->time;
  object.is_private = (mmap->flags & MAP_PRIVATE) != 0;
  object.build_id_bytes = mmap->build_id_size;
  memcpy(object.build_id, mmap->build_id, mmap->build_id_size);
  map.start = mmap->addr;
  map.end = mmap->addr + mmap->len;
  map.pgoff = mmap->pgoff;
  if (mmap->pid == KERNEL_PID) {
    map.object = profile_objects_add(&account->objects, &object);
    profile_account_kernel_map(account, &map);
  } else {
    profile_account_map(account, mmap->pid, &object, &map);
  }
}

/* Ends the program of a process, before an exec or if its pid is used again. */
static void end_image(profile_account_t *account, uint32_t pid, uint64_t time) {
  const profile_task_t *process = profile_tasks_get(&account->tasks, pid);

  if (process->has_jit)
    profile_objects_end(&account->objects, pid, process->image, time);
}

void profile_account_function(profile_account_t *account,
                              const uvperf_ksymbol_t *function, uint32_t id) {
  profile_object_t object = {.is_function = 1, .inode = id};
  profile_map_t map = {.start = function->addr,
                       .end = function->addr + function->len,
                       .pgoff = function->addr,
                       .object = PROFILE_OBJECT_OUTSIDE};
  char name[PATH_MAX];

  if (!(function->flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER)) {
    object.path = common_text_copy(name, sizeof(name), function->name,
                                   function->name_size);
    map.object = profile_objects_add(&account->objects, &object);
  }
  profile_account_kernel_map(account, &map);
}

static void follow_comm(profile_account_t *account,
                        const uvperf_record_t *record) {
  const uvperf_comm_t *comm = &record->comm;
  char name[COMMON_PROC_COMM_BYTES];

  if (!common_tasks_has_id(comm->tid))
    return;
  if (uvperf_record_is_exec(record)) {
    end_image(account, comm->pid, record->time);
    profile_tasks_exec(&account->tasks, comm->pid, record->time);
  }
  common_text_copy(name, sizeof(name), comm->comm, comm->comm_size);
  profile_tasks_name(&account->tasks, comm->tid,
                     stacks_names_add(&account->names, name));
}

static void follow_cgroup(profile_account_t *account,
                          const uvperf_cgroup_t *cgroup) {
  char path[PATH_MAX];

  common_text_copy(path, sizeof(path), cgroup->path, cgroup->path_size);
  profile_account_cgroup(account, cgroup->id, path);
}

static void follow_fork(profile_account_t *account,
                        const uvperf_record_t *record) {
  if (!common_tasks_has_id(record->task.tid))
    return;
  /* perf(1) synthesized this record for a task that was already running: the
   * task's mappings follow. */
  if (record->task.time == 0) {
    profile_tasks_thread(&account->tasks, record->task.pid, record->task.tid);
    return;
  }
  if (record->task.pid != record->task.ppid)
    end_image(account, record->task.pid, record->time);
  profile_tasks_fork(&account->tasks, record->task.pid, record->task.tid,
                     record->task.ppid, record->task.ptid, record->time);
}

static void count_sample(profile_account_t *account,
                         const uvperf_record_t *record) {
  uint64_t weight = record->period;
  profile_stack_t stack;

  /* A fixed period is not in the samples. */
  if (!(record->present & PERF_SAMPLE_PERIOD) && record->source != NULL)
    weight = record->source->attr->sample_period;
  profile_account_stack(account, record, &stack);
  if (account->unwinding == NULL ||
      profile_unwinding_take(account->unwinding, record, &stack, weight) != 0)
    profile_account_count(account, &stack, 1, weight);
}

void profile_account_record(profile_account_t *account,
                            const uvperf_record_t *record) {
  switch (record->type) {
    case PERF_RECORD_SAMPLE:
      count_sample(account, record);
      break;
    case PERF_RECORD_MMAP:
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
      if (common_tasks_has_id(record->task.tid))
        profile_tasks_exit(&account->tasks, record->task.tid, record->time);
      break;
    case PERF_RECORD_KSYMBOL:
      profile_account_function(account, &record->ksymbol, 0);
      break;
    case PERF_RECORD_CGROUP:
      follow_cgroup(account, &record->cgroup);
      break;
    default:
      break;
  }
}

void profile_account_reap(profile_account_t *account, uint64_t time) {
  if (time > DEAD_NS)
    profile_tasks_reap(&account->tasks, time - DEAD_NS);
}
