/* SPDX-License-Identifier: MIT */
/* Processes and threads: FORK, NAMESPACES, COMM and MMAP2 of each, in the order
 * of __event__synthesize_thread in tools/perf/util/synthetic-events.c. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "common/proc.h"
#include "record/synth.h"
#include "record/synth_build.h"

/* TASK_COMM_LEN. Names in the kernel's records are not longer, but kernel
 * threads can have longer names in /proc. */
#define COMM_BYTES 16

typedef struct task_s {
  record_synth_t *synth;
  int32_t pid;
  int32_t tid;
  int failure; /* of writing a mapping; failures of /proc are ignored */
} task_t;

/* Begins a record that names the thread. */
static common_buffer_t *task_begin(task_t *task, uint32_t type, uint16_t misc) {
  common_buffer_t *build = record_synth_begin(task->synth, type, misc);

  record_bytes_put_u32(build, (uint32_t)task->pid);
  record_bytes_put_u32(build, (uint32_t)task->tid);
  return build;
}

/* /proc does not say which thread created a thread, so the record names the
 * first thread of the process. With PERF_RECORD_MISC_FORK_EXEC, perf(1) does
 * not copy the parent's mappings to the child. All mappings of the child
 * follow. */
static int write_fork(task_t *task, uint32_t ppid) {
  uint32_t parent = task->tid == task->pid ? ppid : (uint32_t)task->pid;
  common_buffer_t *build = record_synth_begin(task->synth, PERF_RECORD_FORK,
                                              PERF_RECORD_MISC_FORK_EXEC);

  record_bytes_put_u32(build, (uint32_t)task->pid);
  record_bytes_put_u32(build, parent);
  record_bytes_put_u32(build, (uint32_t)task->tid);
  record_bytes_put_u32(build, parent);
  record_bytes_put_u64(build, 0); /* the time is not known */
  return record_synth_end(task->synth);
}

/* Writes namespaces in the order of NET_NS_INDEX and so on, see
 * <linux/perf_event.h>. */
static int write_namespaces(task_t *task) {
  static const char *const names[] = {"net",  "uts", "ipc",   "pid",
                                      "user", "mnt", "cgroup"};
  common_buffer_t *build;
  struct stat stat_of;
  char path[64];
  size_t i;

  if (!task->synth->namespaces)
    return 0;
  build = task_begin(task, PERF_RECORD_NAMESPACES, 0);
  record_bytes_put_u64(build, sizeof(names) / sizeof(*names));
  for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
    snprintf(path, sizeof(path), "/proc/%d/ns/%s", task->tid, names[i]);
    if (stat(path, &stat_of) != 0)
      memset(&stat_of, 0, sizeof(stat_of));
    record_bytes_put_u64(build, stat_of.st_dev);
    record_bytes_put_u64(build, stat_of.st_ino);
  }
  return record_synth_end(task->synth);
}

static int write_comm(task_t *task, char *comm) {
  comm[COMM_BYTES - 1] = '\0';
  record_bytes_put_text(task_begin(task, PERF_RECORD_COMM, 0), comm);
  return record_synth_end(task->synth);
}

/* Returns 1 for the mappings that perf(1) uses: executable mappings, and with
 * mmap_data also readable mappings. */
static int is_wanted(const task_t *task, const common_proc_map_t *map) {
  return map->prot[2] == 'x' || (task->synth->mmap_data && map->prot[0] == 'r');
}

static uint32_t protection(const common_proc_map_t *map) {
  return (map->prot[0] == 'r' ? PROT_READ : 0u) |
         (map->prot[1] == 'w' ? PROT_WRITE : 0u) |
         (map->prot[2] == 'x' ? PROT_EXEC : 0u);
}

static int write_map(void *arg, const common_proc_map_t *map) {
  task_t *task = arg;
  uint16_t misc = PERF_RECORD_MISC_USER;
  common_buffer_t *build;

  if (!is_wanted(task, map))
    return 0;
  if (map->prot[2] != 'x')
    misc |= PERF_RECORD_MISC_MMAP_DATA;
  build = task_begin(task, PERF_RECORD_MMAP2, misc);
  record_bytes_put_u64(build, map->start);
  record_bytes_put_u64(build, map->end - map->start);
  record_bytes_put_u64(build, map->pgoff);
  record_bytes_put_u32(build, map->major);
  record_bytes_put_u32(build, map->minor);
  record_bytes_put_u64(build, map->inode);
  record_bytes_put_u64(build, 0); /* its generation is not known */
  record_bytes_put_u32(build, protection(map));
  record_bytes_put_u32(build, map->prot[3] == 's' ? MAP_SHARED : MAP_PRIVATE);
  record_synth_put_path(build, map->path[0] == '\0' ? "//anon" : map->path);
  task->failure = record_synth_end(task->synth);
  return task->failure;
}

static int write_thread(task_t *task) {
  char comm[COMMON_PROC_COMM_BYTES];
  common_proc_stat_t stat = {.ppid = 0};
  int rc;

  if (common_proc_comm(task->pid, task->tid, comm) != 0 ||
      (task->tid == task->pid &&
       common_proc_stat(task->pid, task->tid, &stat) != 0))
    return 0; /* gone */
  rc = write_fork(task, stat.ppid);
  if (rc == 0)
    rc = write_namespaces(task);
  return rc == 0 ? write_comm(task, comm) : rc;
}

static int write_process(task_t *task, int32_t pid) {
  common_ids_t tids = {NULL, 0, 0};
  size_t i;
  int rc = 0;

  task->pid = pid;
  if (common_threads_of(&tids, pid) != 0)
    tids.nr = 0; /* gone */
  for (i = 0; rc == 0 && i < tids.nr; i++) {
    task->tid = tids.ids[i];
    rc = write_thread(task);
    if (rc == 0 && task->tid == pid && pid != task->synth->command) {
      common_proc_maps(pid, write_map, task);
      rc = task->failure;
    }
  }
  common_ids_free(&tids);
  return rc;
}

int record_synth_processes(record_synth_t *synth, const common_ids_t *pids) {
  task_t task = {.synth = synth};
  size_t i;
  int rc = 0;

  for (i = 0; rc == 0 && i < pids->nr; i++)
    rc = write_process(&task, pids->ids[i]);
  return rc;
}

int record_synth_all(record_synth_t *synth) {
  common_ids_t pids = {NULL, 0, 0};
  int rc;

  rc = common_processes(&pids);
  if (rc == 0)
    rc = record_synth_processes(synth, &pids);
  common_ids_free(&pids);
  return rc;
}
