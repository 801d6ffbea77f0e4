/* SPDX-License-Identifier: MIT */
/* The system calls on files and directories, and how many files the process may
 * still open. The callers know the meaning of a file's contents. */
#define _GNU_SOURCE 1
#include "util/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/openat2.h>

/* The offsets of d_reclen and d_name in an entry of getdents64(2): struct
 * linux_dirent64, which no header declares. */
#define RECLEN_AT 16
#define NAME_AT   19

/* Each try takes some microseconds. */
#define OPEN_TRIES 1000

static int open_path(const char *path, int flags) {
  int fd = open(path, flags | O_CLOEXEC);

  return fd < 0 ? -errno : fd;
}

int uvperf__file_open(const char *path) {
  return open_path(path, O_RDONLY);
}

ssize_t uvperf__file_read(int fd, void *buffer, size_t size) {
  ssize_t rc;

  do
    rc = read(fd, buffer, size);
  while (rc < 0 && errno == EINTR);
  return rc < 0 ? -errno : rc;
}

/* Returns the part of the path after "/proc/PID/root/", or NULL if the path
 * begins with something else. */
static const char *behind_root(const char *path) {
  if (strncmp(path, "/proc/", 6) != 0)
    return NULL;
  path += 6;
  path += strncmp(path, "self/", 5) == 0 ? 4 : strspn(path, "0123456789");
  return strncmp(path, "/root/", 6) == 0 ? path + 6 : NULL;
}

/* While anything in the system is renamed or mounted, a ".." in the path or in
 * a link fails with EAGAIN. The lookup is tried again, but not for ever,
 * because other processes could go on renaming. */
static int open_in_root(int root, const char *rest) {
  struct open_how how = {O_PATH | O_CLOEXEC, 0, RESOLVE_IN_ROOT};
  int left = OPEN_TRIES;
  int fd;

  do
    fd = (int)syscall(SYS_openat2, root, rest, &how, sizeof(how));
  while (fd < 0 && errno == EAGAIN && --left > 0);
  return fd < 0 ? -errno : fd;
}

/* Finds a file below another root. No link in the path can lead out of that
 * root. This needs openat2(2). Before Linux 5.6, or if an old seccomp filter
 * forbids this call, links lead to our own root. */
static int find_in_root(const char *path, const char *rest) {
  char root[32];
  int root_fd, fd;

  snprintf(root, sizeof(root), "%.*s", (int)(rest - path), path);
  root_fd = open_path(root, O_PATH | O_DIRECTORY);
  if (root_fd < 0)
    return root_fd;
  fd = open_in_root(root_fd, rest);
  close(root_fd);
  return fd == -ENOSYS || fd == -EPERM ? open_path(path, O_PATH) : fd;
}

/* Opens with O_PATH first, because opening a device can have effects and
 * opening a pipe waits. The second open uses that fd and not the path, because
 * the path may name another file by now. */
int uvperf__file_open_regular(const char *path) {
  char link[UVPERF__FD_PATH_BYTES];
  const char *rest = behind_root(path);
  int found = rest != NULL ? find_in_root(path, rest) : open_path(path, O_PATH);
  struct stat status;
  int fd;

  if (found < 0)
    return found;
  if (fstat(found, &status) != 0) {
    fd = -errno;
  } else if (!S_ISREG(status.st_mode)) {
    fd = S_ISDIR(status.st_mode) ? -EISDIR : -ENXIO;
  } else {
    uvperf__file_path_by_fd(found, link);
    fd = open_path(link, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (fd == -ENOENT)
      fd = -ENOSYS;
  }
  close(found);
  return fd;
}

void uvperf__file_path_by_fd(int fd, char path[UVPERF__FD_PATH_BYTES]) {
  snprintf(path, UVPERF__FD_PATH_BYTES, "/proc/thread-self/fd/%d", fd);
}

ssize_t uvperf__file_read_at(int fd, void *buffer, size_t size,
                             uint64_t offset) {
  ssize_t rc;

  if ((off_t)offset < 0 || (uint64_t)(off_t)offset != offset)
    return -EOVERFLOW;
  do
    rc = pread(fd, buffer, size, (off_t)offset);
  while (rc < 0 && errno == EINTR);
  return rc < 0 ? -errno : rc;
}

void uvperf__file_close(int fd) {
  close(fd);
}

int uvperf__file_inode(const char *path, uint64_t *inode) {
  struct stat status;

  if (stat(path, &status) != 0)
    return -errno;
  *inode = status.st_ino;
  return 0;
}

int uvperf__file_system(int fd, uint64_t *magic) {
  struct statfs status;
  int rc;

  do
    rc = fstatfs(fd, &status);
  while (rc < 0 && errno == EINTR);
  /* f_type has 32 bits, in a type that is signed on some architectures. */
  *magic = rc < 0 ? 0 : (uint32_t)status.f_type;
  return rc < 0 ? -errno : 0;
}

int uvperf__file_dup(int fd) {
  int rc = fcntl(fd, F_DUPFD_CLOEXEC, 0);

  return rc < 0 ? -errno : rc;
}

static int file_read_link(const char *path, char *text, size_t size) {
  ssize_t length = readlink(path, text, size - 1);

  if (length < 0)
    return -errno;
  text[length] = '\0';
  return 0;
}

int uvperf__file_link(const char *path, char *text, size_t size) {
  return file_read_link(path, text, size);
}

int uvperf__file_path_of(int fd, char *path, size_t size) {
  char link[UVPERF__FD_PATH_BYTES];

  uvperf__file_path_by_fd(fd, link);
  return file_read_link(link, path, size);
}

int uvperf__is_shortage(int code) {
  return code == -EMFILE || code == -ENFILE || code == -ENOMEM;
}

int uvperf__is_forbidden(int code) {
  return code == -EPERM || code == -EACCES;
}

/* Finds the limits without opening a file, because there may be no fd left. The
 * lowest free number may be above the limit, if the limit was lowered. */
void uvperf__fd_limits(uvperf__fd_limits_t *limits) {
  struct rlimit files = {0, 0};
  rlim_t fd;

  getrlimit(RLIMIT_NOFILE, &files);
  for (fd = files.rlim_cur; fcntl((int)fd, F_GETFD) >= 0; fd++)
    continue;
  limits->soft = files.rlim_cur;
  limits->hard = files.rlim_max;
  limits->needed = (uint64_t)fd + 1;
}

/* An fd gets the lowest free number. No fd is above INT_MAX. */
uint64_t uvperf__fds_needed(uint64_t more) {
  int fd = 0;

  for (; more > 0 && fd < INT_MAX; fd++)
    more -= fcntl(fd, F_GETFD) < 0;
  return (uint64_t)fd + more;
}

int uvperf__file_is_name(const char *name) {
  return name[0] != '\0' && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
         strchr(name, '/') == NULL;
}

int uvperf__directory_open(const char *path) {
  return open_path(path, O_RDONLY | O_DIRECTORY);
}

int uvperf__directory_each(int fd, uvperf__name_fn each, void *data) {
  char bytes[2048];
  uint16_t length;
  long nr = 0;
  long at;
  int rc = 0;

  /* glibc has getdents64(3) only since 2.30. The function of musl has another
   * name. */
  while (rc == 0 &&
         (nr = syscall(SYS_getdents64, fd, bytes, sizeof(bytes))) > 0)
    for (at = 0; rc == 0 && at < nr; at += length) {
      memcpy(&length, bytes + at + RECLEN_AT, sizeof(length));
      if (bytes[at + NAME_AT] != '.')
        rc = each(bytes + at + NAME_AT, data);
    }
  if (rc == 0 && nr < 0)
    rc = -errno;
  close(fd);
  return rc;
}
