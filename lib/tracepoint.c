/* SPDX-License-Identifier: MIT */
/* Finds tracepoints in tracefs. What their fields mean is not known here. */
#include "tracepoint.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "file.h"
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
  uvperf__directory_t directory;
  char path[PATH_MAX];
  const char *entry;
  int64_t number;
  int rc;

  snprintf(path, sizeof(path), "%s%s/%s", root, events, group);
  rc = uvperf__directory_open(&directory, path);
  if (rc != 0) /* events has files too */
    return rc == -ENOTDIR ? -ENOENT : rc;
  rc = -ENOENT;
  while (rc != 0 && uvperf__directory_next(&directory, &entry) > 0) {
    snprintf(path, sizeof(path), "%s/%s/%.255s/id", events, group, entry);
    if (entry[0] == '.' || uvperf__system_number(root, path, &number) != 0 ||
        (uint64_t)number != id)
      continue;
    snprintf(name, size, "%s:%s", group, entry);
    rc = 0;
  }
  uvperf__file_close(directory.fd);
  return rc;
}

/* -ENODEV where there is no tracefs. */
static int find_in(const char *root, const char *events, uint64_t id,
                   char *name, size_t size) {
  uvperf__directory_t directory;
  char path[PATH_MAX];
  const char *entry;
  int rc;

  snprintf(path, sizeof(path), "%s%s", root, events);
  rc = uvperf__directory_open(&directory, path);
  if (rc != 0)
    return rc == -ENOENT ? -ENODEV : rc;
  rc = -ENOENT;
  while (rc == -ENOENT && uvperf__directory_next(&directory, &entry) > 0)
    if (entry[0] != '.')
      rc = find_in_group(root, events, entry, id, name, size);
  uvperf__file_close(directory.fd);
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
