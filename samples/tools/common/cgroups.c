/* SPDX-License-Identifier: MIT */
#include "common/cgroups.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/memory.h"

typedef struct walk_s {
  common_cgroup_cb cb;
  void *arg;
  char path[4088]; /* below the mount */
  size_t size;
} walk_t;

static int find_id(int fd, uint64_t *id) {
  union {
    struct file_handle handle;
    char space[sizeof(struct file_handle) + sizeof(*id)];
  } file;
  int mount;

  file.handle.handle_bytes = sizeof(*id);
  if (name_to_handle_at(fd, "", &file.handle, &mount, AT_EMPTY_PATH) != 0 ||
      file.handle.handle_bytes != sizeof(*id))
    return -1;
  memcpy(id, file.handle.f_handle, sizeof(*id));
  return 0;
}

static int show_cgroup(walk_t *walk, int fd) {
  uint64_t id;

  if (find_id(fd, &id) != 0)
    return 0;
  return walk->cb(walk->arg, id, walk->size == 0 ? "/" : walk->path);
}

static int walk_directory(walk_t *walk, int fd);

/* A cgroup that has been removed meanwhile is skipped. */
static int walk_child(walk_t *walk, int parent, const char *name) {
  size_t length = strlen(name), size = walk->size;
  int fd, rc = 0;

  if (name[0] == '.' || size + 1 + length >= sizeof(walk->path))
    return 0;
  fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0)
    return 0;
  walk->path[size] = '/';
  memcpy(walk->path + size + 1, name, length + 1);
  walk->size = size + 1 + length;
  rc = walk_directory(walk, fd);
  walk->size = size;
  walk->path[size] = '\0';
  return rc;
}

/* Closes fd. */
static int walk_directory(walk_t *walk, int fd) {
  struct dirent *entry;
  DIR *directory;
  int rc;

  rc = show_cgroup(walk, fd);
  directory = fdopendir(fd);
  if (directory == NULL) {
    close(fd);
    return rc;
  }
  while (rc == 0 && (entry = readdir(directory)) != NULL) {
    if (entry->d_type == DT_DIR)
      rc = walk_child(walk, dirfd(directory), entry->d_name);
  }
  closedir(directory);
  return rc;
}

/* Opens the mount of "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0", fstab(5).
 * Returns an fd, or -1. */
static int open_mount(void) {
  char line[4096], path[1024], type[64];
  FILE *file = fopen("/proc/self/mounts", "re");
  int fd = -1;

  if (file == NULL)
    return -1;
  while (fd < 0 && fgets(line, sizeof(line), file) != NULL) {
    if (sscanf(line, "%*s %1023s %63s", path, type) == 2 &&
        strcmp(type, "cgroup2") == 0)
      fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  }
  fclose(file);
  return fd;
}

int common_cgroups(common_cgroup_cb cb, void *arg) {
  walk_t *walk;
  int fd, rc;

  fd = open_mount();
  if (fd < 0)
    return 0;
  walk = common_calloc(1, sizeof(*walk));
  walk->cb = cb;
  walk->arg = arg;
  rc = walk_directory(walk, fd);
  free(walk);
  return rc;
}
