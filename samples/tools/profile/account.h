/* SPDX-License-Identifier: MIT */
/* Turns records, in time order, into counts of stacks of addresses. */
#ifndef PROFILE_ACCOUNT_H
#define PROFILE_ACCOUNT_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf.h"

#include "profile/objects.h"
#include "profile/stacks/rank.h"
#include "profile/tasks.h"

/* A place in code: an address in the kernel, an offset in a file, or an address
 * in a JIT's memory. For a caller, the place is the byte before the return
 * address. */
typedef struct profile_frame_s {
  uint64_t object; /* index in objects */
  uint64_t offset; /* 0 if the object is not known */
} profile_frame_t;

/* A task that ran. Equal tasks are counted together. The ids are 0, except if
 * `by` needs them or has_ids is set. */
typedef struct profile_who_s {
  uint32_t thread, process; /* ids of their names, in names */
  uint32_t pid, tid;
  uint64_t cgroup; /* its id */
} profile_who_t;

struct profile_unwinding_s;

/* A stack of one task: the key of a tally. */
typedef struct profile_stack_s {
  uint32_t who; /* index in whos */
  const profile_frame_t *frames;
  size_t nr;
} profile_stack_t;

typedef struct profile_account_s {
  stacks_names_t names; /* of threads, and paths of cgroups */
  profile_objects_t objects;
  profile_tasks_t tasks;
  stacks_by_t by;
  int has_ids;   /* keep the ids for every `by` */
  uint64_t unit; /* the count of one sample: 1, or as in fade.h */
  symbols_t *symbols;
  /* These are for a recorded file; otherwise they are 0. */
  int is_recorded;
  const char *symfs; /* the directory of all files, or NULL */
  int is_elsewhere;  /* of another machine: paths need a build id */
  int is_homeless;   /* the file does not name its machine */
  uint64_t kernel_start, kernel_end; /* without its modules */
  size_t (*build_id)(void *arg, const char *path, unsigned char build_id[20]);
  void *build_id_arg;
  /* The addresses of all mappings of the kernel; private. */
  uint64_t kernel_maps_start, kernel_maps_end;
  struct profile_unwinding_s *unwinding; /* NULL: no stacks are copied */
  common_tally_t whos;
  common_tally_t stacks;  /* the number is a who, the items are frames */
  common_tally_t cgroups; /* by id; the weight is the newest path in `names` */
  common_entry_t other;   /* all stacks that did not fit */
  uint64_t samples, weight;
  size_t nr_refused; /* processes whose mappings may not be read */
  uint32_t nr_restarts;
  /* For the times of map files: added to a record's time, this is the time
   * since 1970, except for the error. 0: not known. */
  uint64_t epoch_ns, error_ns;
  uint64_t recorded_ns;    /* when the recording ended, since 1970; or 0 */
  profile_frame_t *frames; /* room for one stack */
  size_t frame_capacity;
} profile_account_t;

/* Each object in which code runs is added to `symbols`. */
void profile_account_init(profile_account_t *account, stacks_by_t by,
                          symbols_t *symbols);
void profile_account_free(profile_account_t *account);

/* Processes the next record, in time order. Samples are counted; other records
 * update names and mappings. */
void profile_account_record(profile_account_t *account,
                            const uvperf_record_t *record);

/* The path of the kernel's own mapping. perf(1) appends the symbol at its
 * start. */
#define PROFILE_ACCOUNT_KERNEL "[kernel.kallsyms]"
int profile_account_is_core(const uvperf_mmap_t *mmap);

/* Addresses of the kernel from now on belong to another object. */
void profile_account_kernel_map(profile_account_t *account,
                                const profile_map_t *map);

/* Processes a KSYMBOL record (id 0), or a function of a BPF program that was
 * loaded before the first record. */
void profile_account_function(profile_account_t *account,
                              const uvperf_ksymbol_t *function, uint32_t id);

/* Returns the frame of an address in a process, by the process's current
 * mappings. */
profile_frame_t profile_account_user_frame(const profile_account_t *account,
                                           uint32_t pid, uint64_t address);

/* Adds a mapping of a process. Its object's path, device, inode, build id
 * and is_private are set. */
void profile_account_map(profile_account_t *account, uint32_t pid,
                         profile_object_t *object, profile_map_t *map);

/* Starts looking up the symbols of a mapping, and returns its description. */
symbols_mapping_t profile_account_object(const profile_account_t *account,
                                         uint32_t pid,
                                         const profile_map_t *map);

/* Finds the stack of a sample, by the current mappings. Frames are valid until
 * the next call. */
void profile_account_stack(profile_account_t *account,
                           const uvperf_record_t *record,
                           profile_stack_t *stack);

/* Returns the entry of a stack, which can be counted later. The entry is valid
 * until stacks are forgotten by profile_fade, a restart or
 * profile_account_free. */
common_entry_t *profile_account_keep(profile_account_t *account,
                                     const profile_stack_t *stack);
void profile_account_add(profile_account_t *account, common_entry_t *entry,
                         uint64_t samples, uint64_t weight);

/* Both return an index in `whos`: for a thread, or for a task that the caller
 * has filled in. */
uint32_t profile_account_who(profile_account_t *account, uint32_t pid,
                             uint32_t tid, uint64_t cgroup);
uint32_t profile_account_keep_who(profile_account_t *account,
                                  const profile_who_t *who);

/* Returns the task of such an index. */
const profile_who_t *profile_account_get_who(const profile_account_t *account,
                                             uint64_t who);

/* Adds samples and weight to a stack. */
void profile_account_count(profile_account_t *account,
                           const profile_stack_t *stack, uint64_t samples,
                           uint64_t weight);

/* Forgets all stacks, but keeps names and mappings. */
void profile_account_restart(profile_account_t *account);

/* Adds a cgroup's path, by its id. */
void profile_account_cgroup(profile_account_t *account, uint64_t id,
                            const char *path);

/* Forgets tasks that died so long before `time` that no samples of these tasks
 * can still come. */
void profile_account_reap(profile_account_t *account, uint64_t time);

#endif
