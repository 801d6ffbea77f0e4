/* SPDX-License-Identifier: MIT */
/* Finds and opens the directory of a cgroup. Only the kernel knows whether
 * events can be opened for the cgroup. In a hierarchy without perf_event this
 * is not possible. */
#include "host/cgroup.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <linux/magic.h>

#include "host/mounts.h"
#include "util/ascii.h"
#include "util/error.h"
#include "util/file.h"

/* -- its path ------------------------------------------------------------- */

/* The search for the mount of the cgroup's hierarchy. */
typedef struct search_s {
  const char *path;
  int is_absolute; /* the path is at or below a mount of cgroups */
  int is_v1;       /* the place belongs to v1, with perf_event */
  char place[PATH_MAX];
} search_t;

static int is_at_or_below(const char *path, const char *place) {
  size_t length = strlen(place);

  return strncmp(path, place, length) == 0 &&
         (path[length] == '\0' || path[length] == '/');
}

static int try_mount(const uvperf__mount_t *mount, void *data) {
  search_t *search = data;
  int is_v1 = strcmp(mount->type, "cgroup") == 0;

  if (!is_v1 && strcmp(mount->type, "cgroup2") != 0)
    return 0;
  if (is_at_or_below(search->path, mount->place)) {
    search->is_absolute = 1;
    search->place[0] = '\0';
    return 1;
  }
  if (is_v1 ? search->is_v1 || !uvperf__mount_has(mount, "perf_event")
            : search->place[0] != '\0')
    return 0;
  search->is_v1 = is_v1;
  snprintf(search->place, sizeof(search->place), "%s", mount->place);
  return 0;
}

/* Writes the directory's path to `found`. */
static int cgroup_find(const char *path, char found[PATH_MAX],
                       uvperf_error_t *error) {
  search_t search = {path, 0, 0, ""};
  int length;
  int rc = uvperf__mounts_each(try_mount, &search);

  if (uvperf__is_shortage(rc))
    return uvperf__error_shortage(error, rc, "cannot find the cgroup");
  if (rc < 0)
    return uvperf__error_set(
        error, rc,
        uvperf__is_forbidden(rc) ? UVPERF_CAUSE_PERMISSION
                                 : UVPERF_CAUSE_UNKNOWN,
        "cannot find the cgroup: reading /proc/self/mounts failed (errno %d)",
        -rc);
  if (!search.is_absolute && search.place[0] == '\0')
    return uvperf__error_set(
        error, -ENOENT, UVPERF_CAUSE_NOT_SUPPORTED,
        "cannot find the cgroup: neither cgroup v2 nor v1 with perf_event is "
        "mounted; run mount -t cgroup2 none /sys/fs/cgroup");
  length = snprintf(found, PATH_MAX, "%s%s%s", search.place,
                    search.is_absolute || path[0] == '/' ? "" : "/", path);
  if (length < 0 || length >= PATH_MAX)
    return uvperf__error_set(error, -ENAMETOOLONG, UVPERF_CAUSE_ARGUMENT,
                             "target.cgroup is longer than a path can be");
  return 0;
}

/* -- opening it ----------------------------------------------------------- */

static int cgroup_explain(uvperf_error_t *error, int code, const char *path) {
  char shown[sizeof(error->reason)];
  size_t i;

  if (uvperf__is_shortage(code))
    return uvperf__error_shortage(error, code, "cannot open the cgroup");
  for (i = 0; i + 1 < sizeof(shown) && path[i] != '\0'; i++)
    shown[i] = uvperf__visible(path[i]);
  shown[i] = '\0';
  switch (code) {
    case -ENOENT:
      return uvperf__error_set(error, code, UVPERF_CAUSE_NO_TASK,
                               "this cgroup does not exist (/proc/PID/cgroup "
                               "lists those of a task): %s",
                               shown);
    case -EINVAL:
    case -ENOTDIR:
      return uvperf__error_set(error, code, UVPERF_CAUSE_ARGUMENT,
                               "this is not the directory of a cgroup: %s",
                               shown);
    case -EPERM:
    case -EACCES:
      return uvperf__error_set(
          error, code, UVPERF_CAUSE_PERMISSION,
          "this process may not open the cgroup or a directory above it: %s",
          shown);
    default:
      return uvperf__error_set(error, code, UVPERF_CAUSE_UNKNOWN,
                               "opening the cgroup failed (errno %d): %s",
                               -code, shown);
  }
}

/* Opens a directory, and checks that it is a cgroup's. If it were another one,
 * the kernel would return EBADF for each event. Only directories are opened,
 * because opening another kind of file could block. */
static int cgroup_open(const char *path) {
  int fd = uvperf__directory_open(path);
  uint64_t magic;
  int rc;

  if (fd < 0)
    return fd;
  rc = uvperf__file_system(fd, &magic);
  if (rc == 0 && magic != CGROUP_SUPER_MAGIC && magic != CGROUP2_SUPER_MAGIC)
    rc = -EINVAL;
  if (rc == 0)
    return fd;
  uvperf__file_close(fd);
  return rc;
}

/* A path that leads to a cgroup is opened without reading the mounts, which
 * takes longer than opening an event. */
int uvperf__cgroup_open(const char *path, uvperf_error_t *error) {
  char found[PATH_MAX];
  int fd = path[0] == '/' ? cgroup_open(path) : -ENOENT;
  int rc;

  if (fd >= 0)
    return fd;
  rc = cgroup_find(path, found, error);
  if (rc != 0)
    return rc;
  fd = cgroup_open(found);
  return fd >= 0 ? fd : cgroup_explain(error, fd, found);
}
