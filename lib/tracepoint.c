/* SPDX-License-Identifier: MIT */
/* Finds tracepoints in tracefs. What their fields mean is not known here. */
#include "tracepoint.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "system.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Since Linux 4.1, and before. */
static const char *const places[] = {
    "/sys/kernel/tracing/events",
    "/sys/kernel/debug/tracing/events",
};

static int find_in_group(const char *root, const char *events,
                         const char *group, uint64_t id, char *name,
                         size_t size) {
  char path[PATH_MAX];
  struct dirent *entry;
  DIR *directory;
  int64_t number;
  int rc = -ENOENT;

  snprintf(path, sizeof(path), "%s%s/%s", root, events, group);
  directory = opendir(path);
  if (directory == NULL) /* events has files too */
    return errno == ENOTDIR ? -ENOENT : -errno;
  while (rc != 0 && (entry = readdir(directory)) != NULL) {
    snprintf(path, sizeof(path), "%s/%s/%.255s/id", events, group,
             entry->d_name);
    if (entry->d_name[0] == '.' ||
        uvperf__system_number(root, path, &number) != 0 ||
        (uint64_t)number != id)
      continue;
    snprintf(name, size, "%s:%s", group, entry->d_name);
    rc = 0;
  }
  closedir(directory);
  return rc;
}

/* -ENODEV where there is no tracefs. */
static int find_in(const char *root, const char *events, uint64_t id,
                   char *name, size_t size) {
  char path[PATH_MAX];
  struct dirent *entry;
  DIR *directory;
  int rc = -ENOENT;

  snprintf(path, sizeof(path), "%s%s", root, events);
  directory = opendir(path);
  if (directory == NULL)
    return errno == ENOENT ? -ENODEV : -errno;
  while (rc == -ENOENT && (entry = readdir(directory)) != NULL)
    if (entry->d_name[0] != '.')
      rc = find_in_group(root, events, entry->d_name, id, name, size);
  closedir(directory);
  return rc;
}

int uvperf__tracepoint_name(const char *root, uint64_t id, char *name,
                            size_t size) {
  int rc = -ENODEV;
  size_t i;

  name[0] = '\0';
  for (i = 0; i < COUNT_OF(places); i++) {
    int found = find_in(root, places[i], id, name, size);

    if (found == 0 || found == -ENOENT)
      return found;
    if (rc == -ENODEV)
      rc = found;
  }
  return rc;
}
