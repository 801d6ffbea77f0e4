/* SPDX-License-Identifier: MIT */
/* Opens a perf event array or a ring buffer, as a file of our own if possible.
 * Explains why the map cannot be opened, or an entry cannot be put or deleted.
 * The caller chooses the events. */
#include "ring/bpf_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explain/explain.h"
#include "host/system.h"
#include "sys/bpf.h"
#include "sys/sys.h"
#include "util/error.h"
#include "util/file.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* In <linux/bpf.h>. */
#define PERF_EVENT_ARRAY 4
#define RINGBUF          27
#define F_RDONLY         (1u << 3)
#define F_WRONLY         (1u << 4)
#define F_PRESERVE_ELEMS (1u << 11)
#define F_RB_OVERWRITE   (1u << 19) /* Linux 6.19 */

/* enum bpf_map_type, without BPF_MAP_TYPE_. */
static const char *const type_names[] = {
    "UNSPEC",
    "HASH",
    "ARRAY",
    "PROG_ARRAY",
    "PERF_EVENT_ARRAY",
    "PERCPU_HASH",
    "PERCPU_ARRAY",
    "STACK_TRACE",
    "CGROUP_ARRAY",
    "LRU_HASH",
    "LRU_PERCPU_HASH",
    "LPM_TRIE",
    "ARRAY_OF_MAPS",
    "HASH_OF_MAPS",
    "DEVMAP",
    "SOCKMAP",
    "CPUMAP",
    "XSKMAP",
    "SOCKHASH",
    "CGROUP_STORAGE",
    "REUSEPORT_SOCKARRAY",
    "PERCPU_CGROUP_STORAGE",
    "QUEUE",
    "STACK",
    "SK_STORAGE",
    "DEVMAP_HASH",
    "STRUCT_OPS",
    "RINGBUF",
    "INODE_STORAGE",
    "TASK_STORAGE",
    "BLOOM_FILTER",
    "USER_RINGBUF",
    "CGRP_STORAGE",
    "ARENA",
};

/* -- its type ------------------------------------------------------------- */

/* Writes the name of a map, cut: "map_fd 7" or its path. */
static void name_map(char *text, size_t size, int fd, const char *path) {
  if (path != NULL)
    snprintf(text, size, "%.96s", path);
  else
    snprintf(text, size, "map_fd %d", fd);
}

/* Reads a line of the fdinfo of an fd, only for error texts. */
static int has_line(int fd, const char *key, char *text, size_t size) {
  char path[64];

  snprintf(path, sizeof(path), "/proc/thread-self/fdinfo/%d", fd);
  return uvperf__system_line(path, key, text, size) == 0;
}

static int explain_type(int fd, const char *name, uint32_t type,
                        int may_be_ring, uvperf_error_t *error) {
  const char *known = type < COUNT_OF(type_names) ? type_names[type] : NULL;
  char text[16];

  /* No map has the type 0. An fd of BTF has 0 at the place of the type. */
  if (type == 0 || has_line(fd, "prog_type:", text, sizeof(text)) ||
      has_line(fd, "link_type:", text, sizeof(text)))
    return uvperf__error_set(error, -EINVAL, UVPERF_CAUSE_ARGUMENT,
                             "%s is a BPF program, link or BTF, not a map",
                             name);
  return uvperf__error_set(
      error, -EINVAL, UVPERF_CAUSE_ARGUMENT,
      "%s is a map of type %s%s (%u), not BPF_MAP_TYPE_PERF_EVENT_ARRAY (4)%s",
      name, known != NULL ? "BPF_MAP_TYPE_" : "",
      known != NULL ? known : "number", type,
      may_be_ring ? " or BPF_MAP_TYPE_RINGBUF (27)" : "");
}

/* Other BPF objects are recognized by the sizes of key and value, which are the
 * same in every perf event array (fd_array_map_alloc_check in
 * kernel/bpf/arraymap.c) and every ring buffer. At the place of these sizes, a
 * program has its tag, and a link has 0. */
static int check_info(uvperf__bpf_map_t *map, int fd, const char *name,
                      uvperf__bpf_map_info_t *info, uvperf_error_t *error) {
  int may_be_ring = map->is_ring;
  char what[160];
  uint32_t size;
  int rc = uvperf__sys_bpf_info(fd, info);

  if (rc == -EBADFD || rc == -EBADF)
    return uvperf__error_set(error, -EBADF, UVPERF_CAUSE_ARGUMENT,
                             "%s is not an open fd", name);
  if (rc == -EINVAL)
    return uvperf__error_set(error, rc, UVPERF_CAUSE_ARGUMENT,
                             "%s is not the fd of a BPF map", name);
  if (rc != 0) {
    snprintf(what, sizeof(what), "cannot ask the kernel what %s is", name);
    return uvperf__explain_bpf(error, rc, what);
  }
  map->is_ring = may_be_ring && info->type == RINGBUF;
  size = map->is_ring ? 0 : sizeof(uint32_t);
  if ((info->type != PERF_EVENT_ARRAY && !map->is_ring) ||
      info->key_size != size || info->value_size != size)
    return explain_type(fd, name, info->type, may_be_ring, error);
  map->max_entries = info->max_entries;
  map->keeps = (info->map_flags & F_PRESERVE_ELEMS) != 0;
  map->is_overwritten = map->is_ring && info->map_flags & F_RB_OVERWRITE;
  return 0;
}

/* -- opening -------------------------------------------------------------- */

/* bpf_obj_do_get in kernel/bpf/inode.c. */
static int explain_path(int code, const char *path, uvperf_error_t *error) {
  char what[160];

  snprintf(what, sizeof(what), "cannot open %.96s", path);
  switch (code) {
    case -EACCES:
      return uvperf__error_set(error, code, UVPERF_CAUSE_PERMISSION,
                               "%s: it is not in a bpffs (mount -t bpf), or "
                               "this user may not read and write it",
                               what);
    case -ENOENT:
    case -ENOTDIR:
    case -ELOOP:
    case -ENAMETOOLONG:
    case -EFAULT:
    case -EINVAL:
      return uvperf__error_set(error, code, UVPERF_CAUSE_ARGUMENT,
                               "%s: nothing is pinned there (errno %d)", what,
                               -code);
    default:
      return uvperf__explain_bpf(error, code, what);
  }
}

static int open_path(uvperf__bpf_map_t *map, const char *path,
                     uvperf_error_t *error) {
  uvperf__bpf_map_info_t info;
  char name[112];
  int rc;

  map->fd = uvperf__sys_bpf_pinned(path);
  if (map->fd < 0)
    return explain_path(map->fd, path, error);
  map->is_own = 1;
  name_map(name, sizeof(name), -1, path);
  rc = check_info(map, map->fd, name, &info, error);
  if (rc != 0)
    uvperf__bpf_map_close(map);
  return rc;
}

/* Returns the flags from which bpf_get_file_flag in kernel/bpf/syscall.c made
 * the fd's access. */
static uint32_t flags_of(int fd) {
  switch (uvperf__sys_access(fd)) {
    case O_RDONLY:
      return F_RDONLY;
    case O_WRONLY:
      return F_WRONLY;
    default:
      return 0;
  }
}

/* BPF_MAP_GET_FD_BY_ID needs CAP_SYS_ADMIN. Without this capability we share
 * the caller's file. */
static int open_fd(uvperf__bpf_map_t *map, int fd, uvperf_error_t *error) {
  uvperf__bpf_map_info_t info;
  char name[32];
  int rc;

  name_map(name, sizeof(name), fd, NULL);
  rc = check_info(map, fd, name, &info, error);
  if (rc != 0)
    return rc;
  map->fd = uvperf__sys_bpf_map_by_id(info.id, flags_of(fd));
  map->is_own = map->fd >= 0;
  if (map->fd < 0 && !uvperf__is_shortage(map->fd))
    map->fd = uvperf__sys_dup(fd);
  if (map->fd >= 0)
    return 0;
  return uvperf__explain_bpf(error, map->fd, "cannot duplicate the map's fd");
}

int uvperf__bpf_map_open(uvperf__bpf_map_t *map, int fd, const char *path,
                         int may_be_ring, uvperf_error_t *error) {
  int rc;

  memset(map, 0, sizeof(*map));
  map->is_ring = may_be_ring;
  rc = path != NULL ? open_path(map, path, error) : open_fd(map, fd, error);
  if (rc != 0)
    map->fd = -1;
  return rc;
}

int uvperf__bpf_map_clears(const uvperf__bpf_map_t *map) {
  return map->is_own && !map->keeps;
}

void uvperf__bpf_map_close(uvperf__bpf_map_t *map) {
  if (map->fd >= 0)
    uvperf__sys_close(map->fd);
  map->fd = -1;
}

/* -- entries -------------------------------------------------------------- */

/* map_get_sys_perms in kernel/bpf/syscall.c. */
static int explain_entry(const uvperf__bpf_map_t *map, int code, uint32_t key,
                         const char *what, uvperf_error_t *error) {
  char tried[64], text[16];

  if (error == NULL)
    return code;
  snprintf(tried, sizeof(tried), "cannot %s entry %u of the map", what, key);
  if (code == -EPERM && uvperf__sys_access(map->fd) == O_RDONLY)
    return uvperf__error_set(error, code, UVPERF_CAUSE_PERMISSION,
                             "%s: it was opened for reading only "
                             "(BPF_F_RDONLY); open it for writing too",
                             tried);
  if (code == -EPERM && has_line(map->fd, "frozen:", text, sizeof(text)) &&
      atoi(text) != 0)
    return uvperf__error_set(error, code, UVPERF_CAUSE_PERMISSION,
                             "%s: the map is frozen for good (BPF_MAP_FREEZE); "
                             "do not freeze a map that is to be read",
                             tried);
  if (code == -EOPNOTSUPP)
    return uvperf__error_set(error, code, UVPERF_CAUSE_NOT_SUPPORTED,
                             "%s: the kernel does not put events with "
                             "attr.inherit into maps; clear it",
                             tried);
  return uvperf__explain_bpf(error, code, tried);
}

int uvperf__bpf_map_put(const uvperf__bpf_map_t *map, uint32_t key,
                        int event_fd, uvperf_error_t *error) {
  int rc = uvperf__sys_bpf_update(map->fd, key, (uint32_t)event_fd);

  return rc == 0 ? 0 : explain_entry(map, rc, key, "set", error);
}

int uvperf__bpf_map_take(const uvperf__bpf_map_t *map, uint32_t key,
                         uvperf_error_t *error) {
  int rc = uvperf__sys_bpf_delete(map->fd, key);

  if (rc == 0 || rc == -ENOENT)
    return 0;
  return explain_entry(map, rc, key, "delete", error);
}
