/* SPDX-License-Identifier: MIT */
/* The commands of bpf(2) that perf events need, one function for each. Each
 * argument is only the beginning of a struct in union bpf_attr, so older
 * headers are enough. bpf_check_uarg_tail_zero in kernel/bpf/syscall.c lets the
 * kernel treat the rest as 0. */
#define _GNU_SOURCE 1
#include "sys/bpf.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* enum bpf_cmd in <linux/bpf.h>; LINK_CREATE is new in Linux 5.7. */
#define MAP_LOOKUP_ELEM    1
#define MAP_UPDATE_ELEM    2
#define MAP_DELETE_ELEM    3
#define OBJ_GET            7
#define MAP_GET_FD_BY_ID   14
#define OBJ_GET_INFO_BY_FD 15
#define LINK_CREATE        28

/* enum bpf_attach_type; new in Linux 5.15. */
#define PERF_EVENT 41

static int sys_bpf(int command, void *argument, size_t size) {
  long rc;

  do
    rc = syscall(SYS_bpf, command, argument, size);
  while (rc < 0 && errno == EINTR);
  return rc < 0 ? -errno : (int)rc;
}

static uint64_t address_of(const void *pointer) {
  return (uint64_t)(uintptr_t)pointer;
}

int uvperf__sys_bpf_link(int prog_fd, int event_fd, uint64_t cookie) {
  struct {
    uint32_t prog_fd;
    uint32_t target_fd;
    uint32_t attach_type;
    uint32_t flags;
    uint64_t cookie;
  } create = {(uint32_t)prog_fd, (uint32_t)event_fd, PERF_EVENT, 0, cookie};

  return sys_bpf(LINK_CREATE, &create, sizeof(create));
}

int uvperf__sys_bpf_info(int fd, uvperf__bpf_map_info_t *info) {
  struct {
    uint32_t bpf_fd;
    uint32_t info_len;
    uint64_t info;
  } get = {(uint32_t)fd, sizeof(*info), address_of(info)};

  memset(info, 0, sizeof(*info));
  return sys_bpf(OBJ_GET_INFO_BY_FD, &get, sizeof(get));
}

int uvperf__sys_bpf_map_by_id(uint32_t id, uint32_t flags) {
  struct {
    uint32_t map_id;
    uint32_t next_id;
    uint32_t open_flags;
    uint32_t unused;
  } get = {id, 0, flags, 0};

  return sys_bpf(MAP_GET_FD_BY_ID, &get, sizeof(get));
}

int uvperf__sys_bpf_pinned(const char *path) {
  struct {
    uint64_t pathname;
    uint32_t bpf_fd;
    uint32_t file_flags;
  } get = {address_of(path), 0, 0};

  return sys_bpf(OBJ_GET, &get, sizeof(get));
}

static int sys_bpf_element(int command, int fd, const void *key,
                           const void *value) {
  struct {
    uint32_t map_fd;
    uint32_t unused;
    uint64_t key;
    uint64_t value;
    uint64_t flags;
  } element = {(uint32_t)fd, 0, address_of(key), address_of(value), 0};

  return sys_bpf(command, &element, sizeof(element));
}

int uvperf__sys_bpf_update(int fd, uint32_t key, uint32_t value) {
  return sys_bpf_element(MAP_UPDATE_ELEM, fd, &key, &value);
}

int uvperf__sys_bpf_lookup(int fd, const void *key, void *value) {
  return sys_bpf_element(MAP_LOOKUP_ELEM, fd, key, value);
}

int uvperf__sys_bpf_delete(int fd, uint32_t key) {
  return sys_bpf_element(MAP_DELETE_ELEM, fd, &key, NULL);
}

int uvperf__sys_dup(int fd) {
  int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);

  return copy < 0 ? -errno : copy;
}

int uvperf__sys_access(int fd) {
  int flags = fcntl(fd, F_GETFL);

  return flags < 0 ? -errno : flags & O_ACCMODE;
}
