/* SPDX-License-Identifier: MIT */
/* This file does not depend on events or records. */
#include "profile/proc.h"

#include <errno.h>
#include <string.h>

#include "common/proc.h"
#include "common/targets.h"

typedef struct process_s {
  profile_account_t *account;
  uint32_t pid;
} process_t;

static int add_map(void *arg, const common_proc_map_t *line) {
  const process_t *process = arg;
  profile_object_t object;
  profile_map_t map;

  if (line->prot[2] != 'x')
    return 0;
  memset(&object, 0, sizeof(object));
  object.path = line->path;
  object.major = line->major;
  object.minor = line->minor;
  object.inode = line->inode;
  object.is_private = line->prot[3] == 'p';
  map.start = line->start;
  map.end = line->end;
  map.pgoff = line->pgoff;
  profile_account_map(process->account, process->pid, &object, &map);
  return 0;
}

static void read_comm(const process_t *process, int32_t tid) {
  profile_account_t *account = process->account;
  uint32_t pid = process->pid;
  char comm[COMMON_PROC_COMM_BYTES];

  if (common_proc_comm((int32_t)pid, tid, comm) != 0)
    return;
  profile_tasks_name(&account->tasks, (uint32_t)tid,
                     stacks_names_add(&account->names, comm));
  profile_tasks_thread(&account->tasks, pid, (uint32_t)tid);
}

/* The start of the program may be later, after an exec. */
static void read_start(profile_account_t *account, uint32_t pid) {
  uint64_t start;

  if (account->epoch_ns != 0 && common_proc_start((int32_t)pid, &start) == 0 &&
      start > account->epoch_ns)
    profile_tasks_get(&account->tasks, pid)->image_since =
        start - account->epoch_ns;
}

/* Returns 0, or -errno if the mappings cannot be read: the process belongs to
 * another user, or has ended. */
static int read_process(profile_account_t *account, int32_t pid) {
  process_t process = {account, (uint32_t)pid};
  common_ids_t threads = {NULL, 0, 0};
  size_t i;

  if (common_threads_of(&threads, pid) == 0) {
    for (i = 0; i < threads.nr; i++)
      read_comm(&process, threads.ids[i]);
  }
  common_ids_free(&threads);
  read_start(account, process.pid);
  return common_proc_maps(pid, add_map, &process);
}

size_t profile_proc_read_list(profile_account_t *account,
                              const common_ids_t *processes) {
  size_t i, refused = 0;
  int rc;

  for (i = 0; i < processes->nr; i++) {
    rc = read_process(account, processes->ids[i]);
    if (rc == -EACCES || rc == -EPERM)
      refused++;
  }
  return refused;
}

size_t profile_proc_read_all(profile_account_t *account) {
  common_ids_t processes = {NULL, 0, 0};
  size_t refused;

  common_processes(&processes);
  refused = profile_proc_read_list(account, &processes);
  common_ids_free(&processes);
  return refused;
}
