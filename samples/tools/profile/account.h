/* SPDX-License-Identifier: MIT */
/* Turns records, in the order of time, into counts of stacks of addresses. */
#ifndef PROFILE_ACCOUNT_H
#define PROFILE_ACCOUNT_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf.h"

#include "common/stacks/rank.h"
#include "profile/objects.h"
#include "profile/tasks.h"

/* Where code runs: an address of the kernel, bytes into a file, an address in
 * memory of a JIT. Of a caller, the byte before the one it returns to. */
typedef struct profile_frame_s {
  uint64_t object; /* index in objects */
  uint64_t offset; /* 0 if the object is not known */
} profile_frame_t;

/* Who ran; equal ones are counted together. What is not told apart is 0, unless
 * all of it is wanted. */
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
  stacks_names_t names; /* of threads */
  profile_objects_t objects;
  profile_tasks_t tasks;
  stacks_by_t by;
  int has_ids;   /* those of all that `by` can be */
  uint64_t unit; /* what a sample counts: 1, or see fade.h */
  symbols_t *symbols;
  /* Of a recorded file, else 0. */
  int is_recorded;
  int is_elsewhere; /* of another machine: paths say nothing without build id */
  int has_modules;  /* their mappings are known, and kallsyms is not of them */
  uint64_t kernel_start, kernel_end; /* with has_modules: what kallsyms is of */
  size_t (*build_id)(void *arg, const char *path, unsigned char build_id[20]);
  void *build_id_arg;
  struct profile_unwinding_s *unwinding; /* or NULL: no stacks are copied */
  stacks_tally_t who_keys;               /* the weight is the index in whos */
  profile_who_t *whos;
  size_t who_capacity;
  stacks_tally_t stacks;  /* the number is a who, the items are frames */
  stacks_tally_t cgroups; /* by id; the weight is the newest path in `names` */
  stacks_entry_t other;   /* stacks that were not kept: there are too many */
  uint64_t samples, weight;
  size_t nr_refused; /* processes whose mappings may not be read */
  uint32_t nr_restarts;
  profile_frame_t *frames; /* room for a stack */
  size_t frame_capacity;
} profile_account_t;

/* symbols is told of each object that runs. */
void profile_account_init(profile_account_t *account, stacks_by_t by,
                          symbols_t *symbols);
void profile_account_free(profile_account_t *account);

/* Takes in a record, in the order of time: samples are counted, the others say
 * what runs where. */
void profile_account_record(profile_account_t *account,
                            const uvperf_record_t *record);

/* Where an address of a process is now. */
profile_frame_t profile_account_user_frame(const profile_account_t *account,
                                           uint32_t pid, uint64_t address);

/* Has the names of what is mapped looked for, and returns what it is. */
symbols_mapping_t profile_account_object(const profile_account_t *account,
                                         uint32_t pid,
                                         const profile_map_t *map);

/* The stack of a sample as of now; frames are valid until the next call. */
void profile_account_stack(profile_account_t *account,
                           const uvperf_record_t *record,
                           profile_stack_t *stack);

/* The entry of a stack, to be counted later; valid until the end. */
stacks_entry_t *profile_account_keep(profile_account_t *account,
                                     const profile_stack_t *stack);
void profile_account_add(profile_account_t *account, stacks_entry_t *entry,
                         uint64_t samples, uint64_t weight);

/* The index in whos for a thread, and for what is told apart of one. */
uint32_t profile_account_who(profile_account_t *account, uint32_t pid,
                             uint32_t tid, uint64_t cgroup);
uint32_t profile_account_keep_who(profile_account_t *account,
                                  const profile_who_t *who);

/* Counts a stack once more. */
void profile_account_count(profile_account_t *account,
                           const profile_stack_t *stack, uint64_t samples,
                           uint64_t weight);

/* Forgets all stacks, but not what is mapped where. */
void profile_account_restart(profile_account_t *account);

/* Adds a cgroup's path, by its id. */
void profile_account_cgroup(profile_account_t *account, uint64_t id,
                            const char *path);

/* Forgets tasks that died so long before a time that no more samples of them
 * come. */
void profile_account_reap(profile_account_t *account, uint64_t time);

#endif
