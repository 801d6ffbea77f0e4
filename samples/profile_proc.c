/* SPDX-License-Identifier: MIT */
/* Reads /proc/PID/maps and /proc/PID/task/TID/comm. Knows nothing of events or
 * records. */
#include "profile_proc.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared_targets.h"

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

/* "start-end rwxp pgoff major:minor inode     path", proc(5). */
static void add_line(profile_tasks_t *tasks, profile_names_t *names,
                     int32_t pid, char *line) {
  profile_map_t map;
  char prot[5];
  int path = 0;

  if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s%n",
             &map.start, &map.end, prot, &map.pgoff, &path) < 4 ||
      path == 0 || strlen(prot) != 4 || prot[2] != 'x')
    return;
  line += path;
  line += strspn(line, " \t");
  line[strcspn(line, "\n")] = '\0';
  map.object = profile_object(names, line);
  profile_tasks_map(tasks, (uint32_t)pid, &map);
}

static int read_maps(profile_tasks_t *tasks, profile_names_t *names,
                     int32_t pid) {
  char path[64], *line = NULL;
  size_t size = 0;
  FILE *file;
  int rc;

  snprintf(path, sizeof(path), "/proc/%d/maps", pid);
  file = fopen(path, "re");
  if (file == NULL)
    return -errno;
  errno = 0;
  while (getline(&line, &size, file) > 0)
    add_line(tasks, names, pid, line);
  rc = ferror(file) ? -errno : 0;
  free(line);
  fclose(file);
  return rc;
}

static void read_comm(profile_tasks_t *tasks, profile_names_t *names,
                      int32_t pid, int32_t tid) {
  char path[64], comm[64];
  FILE *file;
  size_t nr;

  snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", pid, tid);
  file = fopen(path, "re");
  if (file == NULL)
    return;
  nr = fread(comm, 1, sizeof(comm) - 1, file);
  fclose(file);
  /* A name may hold newlines; the last one is the kernel's. */
  if (nr == 0 || comm[nr - 1] != '\n')
    return;
  comm[nr - 1] = '\0';
  profile_tasks_name(tasks, (uint32_t)tid, profile_names_add(names, comm));
}

int profile_proc_read(profile_tasks_t *tasks, profile_names_t *names,
                      int32_t pid) {
  shared_ids_t threads = {NULL, 0, 0};
  size_t i;

  if (shared_threads_of(&threads, pid) == 0) {
    for (i = 0; i < threads.nr; i++)
      read_comm(tasks, names, pid, threads.ids[i]);
  }
  shared_ids_free(&threads);
  return read_maps(tasks, names, pid);
}

size_t profile_proc_read_all(profile_tasks_t *tasks, profile_names_t *names) {
  shared_ids_t processes = {NULL, 0, 0};
  size_t i, refused = 0;
  int rc;

  shared_processes(&processes);
  for (i = 0; i < processes.nr; i++) {
    rc = profile_proc_read(tasks, names, processes.ids[i]);
    if (rc == -EACCES || rc == -EPERM)
      refused++;
  }
  shared_ids_free(&processes);
  return refused;
}
