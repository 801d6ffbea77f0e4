/* SPDX-License-Identifier: MIT */
/* Finds CPUs in /sys and threads in /proc. Opens no events. */
#include "common/targets.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/proc.h"
#include "common/say.h"
#include "uvperf/system.h"

void common_ids_add(common_ids_t *list, int32_t id) {
  if (list->nr == list->capacity)
    list->ids = common_grow(list->ids, &list->capacity, sizeof(*list->ids));
  list->ids[list->nr++] = id;
}

int common_ids_has(const common_ids_t *list, int32_t id) {
  size_t i;

  for (i = 0; i < list->nr; i++) {
    if (list->ids[i] == id)
      return 1;
  }
  return 0;
}

void common_ids_free(common_ids_t *list) {
  free(list->ids);
  memset(list, 0, sizeof(*list));
}

void common_texts_add(common_texts_t *list, const char *text, size_t size) {
  size_t i;

  for (i = 0; i < list->nr; i++) {
    if (strlen(list->texts[i]) == size &&
        memcmp(list->texts[i], text, size) == 0)
      return;
  }
  if (list->nr == list->capacity)
    list->texts =
        common_grow(list->texts, &list->capacity, sizeof(*list->texts));
  list->texts[list->nr] = common_calloc(1, size + 1);
  memcpy(list->texts[list->nr++], text, size);
}

void common_texts_free(common_texts_t *list) {
  size_t i;

  for (i = 0; i < list->nr; i++)
    free(list->texts[i]);
  free(list->texts);
  memset(list, 0, sizeof(*list));
}

/* Tries again if more CPUs came online between the two calls. */
int common_cpus_online(common_ids_t *cpus) {
  size_t room = 0;
  int rc;

  while ((rc = uvperf_cpus_online(cpus->ids, &room)) == -ENOBUFS) {
    while (cpus->capacity < room)
      cpus->ids = common_grow(cpus->ids, &cpus->capacity, sizeof(*cpus->ids));
    room = cpus->capacity;
  }
  cpus->nr = rc == 0 ? room : 0;
  return rc;
}

/* Adds the names in a directory that are numbers. Returns 0 or -errno. */
static int list_numbers(common_ids_t *list, const char *path) {
  struct dirent *entry;
  DIR *directory = opendir(path);

  if (directory == NULL)
    return -errno;
  while ((entry = readdir(directory)) != NULL) {
    if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
      common_ids_add(list, (int32_t)strtol(entry->d_name, NULL, 10));
  }
  closedir(directory);
  return 0;
}

int common_threads_of(common_ids_t *threads, int32_t pid) {
  char path[64];
  int rc;

  snprintf(path, sizeof(path), "/proc/%d/task", pid);
  rc = list_numbers(threads, path);
  if (rc != 0)
    return rc;
  return threads->nr > 0 ? 0 : -ESRCH;
}

int common_processes(common_ids_t *processes) {
  return list_numbers(processes, "/proc");
}

/* Adds the children of processes that are in the tree. Returns how many. */
static size_t add_children(common_ids_t *tree, const common_ids_t *all,
                           const common_ids_t *parents) {
  size_t i, before = tree->nr;

  for (i = 0; i < all->nr; i++) {
    if (common_ids_has(tree, parents->ids[i]) &&
        !common_ids_has(tree, all->ids[i]))
      common_ids_add(tree, all->ids[i]);
  }
  return tree->nr - before;
}

void common_tree_of(common_ids_t *processes, const common_ids_t *roots) {
  common_ids_t all = {NULL, 0, 0}, parents = {NULL, 0, 0};
  common_proc_stat_t stat;
  size_t i;

  common_processes(&all);
  for (i = 0; i < all.nr; i++) {
    int is_there = common_proc_stat(all.ids[i], all.ids[i], &stat) == 0;

    common_ids_add(&parents, is_there ? (int32_t)stat.ppid : -1);
    if (is_there && common_ids_has(roots, all.ids[i]))
      common_ids_add(processes, all.ids[i]);
  }
  while (add_children(processes, &all, &parents) > 0)
    ;
  common_ids_free(&all);
  common_ids_free(&parents);
}

int32_t common_process_of(int32_t tid) {
  char path[64], line[256];
  int32_t process = -ESRCH;
  FILE *file;

  snprintf(path, sizeof(path), "/proc/%d/status", tid);
  file = fopen(path, "re");
  if (file == NULL)
    return errno == ENOENT ? -ESRCH : -errno;
  while (fgets(line, sizeof(line), file) != NULL) {
    if (strncmp(line, "Tgid:", 5) == 0)
      process = (int32_t)strtol(line + 5, NULL, 10);
  }
  fclose(file);
  return process;
}

int common_process_asked(int32_t *pid) {
  int32_t asked = *pid;

  if (asked == 0)
    return 0;
  *pid = common_process_of(asked);
  if (*pid > 0)
    return 0;
  if (*pid == -ESRCH)
    common_say("process %d does not exist\n", asked);
  else
    common_say("process %d: %s\n", asked, strerror(-*pid));
  return 1;
}
