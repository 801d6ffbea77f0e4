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
  *COMMON_ADD(list->ids, list->nr, list->capacity) = id;
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
  *COMMON_ADD(list->texts, list->nr, list->capacity) = common_copy(text, size);
}

void common_texts_free(common_texts_t *list) {
  size_t i;

  for (i = 0; i < list->nr; i++)
    free(list->texts[i]);
  free(list->texts);
  memset(list, 0, sizeof(*list));
}

/* Tries again if more CPUs came online between the two calls. */
int common_cpus_list(common_ids_t *cpus, const char *list) {
  size_t room = 0, i;
  int rc;

  while ((rc = list == NULL ? uvperf_cpus(UVPERF_CPUS_ONLINE, cpus->ids, &room)
                            : uvperf_cpu_list_parse(list, cpus->ids, &room)) ==
         -ENOBUFS) {
    while (cpus->capacity < room)
      cpus->ids = common_grow(cpus->ids, &cpus->capacity, sizeof(*cpus->ids));
    room = cpus->capacity;
  }
  cpus->nr = 0;
  for (i = 0; rc == 0 && i < room; i++) {
    if (!common_ids_has(cpus, cpus->ids[i]))
      cpus->ids[cpus->nr++] = cpus->ids[i];
  }
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

typedef struct node_s {
  int32_t pid, parent;
  int is_in_tree;
} node_t;

static int compare_nodes(const void *a, const void *b) {
  const node_t *left = a, *right = b;

  return (left->pid > right->pid) - (left->pid < right->pid);
}

/* Returns an array of the processes, by their ids, for free(). */
static node_t *list_nodes(const common_ids_t *roots, size_t *nr) {
  common_ids_t all = {NULL, 0, 0};
  common_proc_stat_t stat;
  node_t *nodes;
  size_t i;

  *nr = 0;
  common_processes(&all);
  nodes = common_calloc(all.nr + 1, sizeof(*nodes));
  for (i = 0; i < all.nr; i++) {
    if (common_proc_stat(all.ids[i], all.ids[i], &stat) != 0)
      continue;
    nodes[*nr].pid = all.ids[i];
    nodes[*nr].parent = (int32_t)stat.ppid;
    nodes[(*nr)++].is_in_tree = common_ids_has(roots, all.ids[i]);
  }
  common_ids_free(&all);
  qsort(nodes, *nr, sizeof(*nodes), compare_nodes);
  return nodes;
}

/* Each pass adds at least a generation. */
void common_tree_of(common_ids_t *processes, const common_ids_t *roots) {
  node_t *nodes, *parent, key;
  size_t i, nr, nr_added;

  nodes = list_nodes(roots, &nr);
  do {
    nr_added = 0;
    for (i = 0; i < nr; i++) {
      key.pid = nodes[i].parent;
      parent = bsearch(&key, nodes, nr, sizeof(*nodes), compare_nodes);
      if (nodes[i].is_in_tree || parent == NULL || !parent->is_in_tree)
        continue;
      nodes[i].is_in_tree = 1;
      nr_added++;
    }
  } while (nr_added > 0);
  for (i = 0; i < nr; i++) {
    if (nodes[i].is_in_tree)
      common_ids_add(processes, nodes[i].pid);
  }
  free(nodes);
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
