/* SPDX-License-Identifier: MIT */
/* Knows nothing of events or records. */
#include "profile/proc.h"

#include <errno.h>
#include <string.h>

#include "common/proc.h"
#include "common/targets.h"

uint32_t profile_object(profile_names_t *names, const char *filename) {
  static const char deleted[] = " (deleted)";
  char name[256];
  const char *base;
  size_t size;

  /* "//anon" comes from the kernel's perf_event_mmap_event; /proc/PID/maps
   * leaves the name empty or says "[anon:name]". */
  if (filename[0] == '\0' || strcmp(filename, "//anon") == 0 ||
      strncmp(filename, "[anon:", 6) == 0)
    return profile_names_add(names, "[anon]");
  base = strrchr(filename, '/');
  base = base == NULL || base[1] == '\0' ? filename : base + 1;
  size = strnlen(base, sizeof(name) - 1);
  memcpy(name, base, size);
  name[size] = '\0';
  if (size > sizeof(deleted) - 1 &&
      strcmp(name + size - (sizeof(deleted) - 1), deleted) == 0)
    name[size - (sizeof(deleted) - 1)] = '\0';
  return profile_names_add(names, name);
}

typedef struct process_s {
  profile_tasks_t *tasks;
  profile_names_t *names;
  int32_t pid;
} process_t;

static int add_map(void *arg, const common_proc_map_t *line) {
  const process_t *process = arg;
  profile_map_t map;

  if (line->prot[2] != 'x')
    return 0;
  map.start = line->start;
  map.end = line->end;
  map.pgoff = line->pgoff;
  map.object = profile_object(process->names, line->path);
  profile_tasks_map(process->tasks, (uint32_t)process->pid, &map);
  return 0;
}

static void read_comm(const process_t *process, int32_t tid) {
  char comm[COMMON_PROC_COMM_BYTES];

  if (common_proc_comm(process->pid, tid, comm) == 0)
    profile_tasks_name(process->tasks, (uint32_t)tid,
                       profile_names_add(process->names, comm));
}

int profile_proc_read(profile_tasks_t *tasks, profile_names_t *names,
                      int32_t pid) {
  process_t process = {tasks, names, pid};
  common_ids_t threads = {NULL, 0, 0};
  size_t i;

  if (common_threads_of(&threads, pid) == 0) {
    for (i = 0; i < threads.nr; i++)
      read_comm(&process, threads.ids[i]);
  }
  common_ids_free(&threads);
  return common_proc_maps(pid, add_map, &process);
}

size_t profile_proc_read_all(profile_tasks_t *tasks, profile_names_t *names) {
  common_ids_t processes = {NULL, 0, 0};
  size_t i, refused = 0;
  int rc;

  common_processes(&processes);
  for (i = 0; i < processes.nr; i++) {
    rc = profile_proc_read(tasks, names, processes.ids[i]);
    if (rc == -EACCES || rc == -EPERM)
      refused++;
  }
  common_ids_free(&processes);
  return refused;
}
