/* SPDX-License-Identifier: MIT */
/* Files and directories of /proc, /sys and tracefs, without allocating memory.
 * stdio and opendir(3) are not used, because they call malloc and not the
 * allocator that the user chose. */
#ifndef UVPERF_LIB_UTIL_FILE_H
#define UVPERF_LIB_UTIL_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* open(2), for reading. Returns the fd, which is close-on-exec, or -errno. */
int uvperf__file_open(const char *path);

/* read(2). Returns the number of bytes read, 0 at the end, or -errno. */
ssize_t uvperf__file_read(int fd, void *buffer, size_t size);

/* Opens a file that other users may control. Returns the fd or -errno. A
 * directory is -EISDIR. Any other file that is not regular is -ENXIO: opening a
 * pipe, for example, would block. Without /proc the result is -ENOSYS.
 *
 * In "/proc/PID/root/REST", REST is looked up inside that root, even if REST
 * contains links (since Linux 5.6). If there is a link of /proc in REST, the
 * result is -EXDEV. */
int uvperf__file_open_regular(const char *path);

/* Writes a path of an open file that does not depend on the file's present
 * name: "/proc/thread-self/fd/7". /proc/self would be the first thread, which
 * has no fds if it has ended. */
#define UVPERF__FD_PATH_BYTES 40
void uvperf__file_path_by_fd(int fd, char path[UVPERF__FD_PATH_BYTES]);

/* pread(2) at `offset`, in bytes from the beginning of the file. Returns
 * -EOVERFLOW if no file can be that long. */
ssize_t uvperf__file_read_at(int fd, void *buffer, size_t size,
                             uint64_t offset);

void uvperf__file_close(int fd);

/* readlink(2). The text gets an ending NUL and is cut to `size`. Returns 0 or
 * -errno. */
int uvperf__file_link(const char *path, char *text, size_t size);

/* Writes the path of an open file or directory as /proc shows it, cut to
 * `size`. Returns 0 or -errno. */
int uvperf__file_path_of(int fd, char *path, size_t size);

/* Returns another fd of the same file, which is close-on-exec, or -errno. */
int uvperf__file_dup(int fd);

/* Reads the inode number of a file or directory. If the number has changed, the
 * path now leads to another file. Returns 0 or -errno. */
int uvperf__file_inode(const char *path, uint64_t *inode);

/* Reads the kind of file system that an open file is on, a constant of
 * <linux/magic.h>. Returns 0 or -errno. */
int uvperf__file_system(int fd, uint64_t *magic);

/* Whether a code means that the process or the machine has no fds or memory
 * left. Such a code has nothing to do with the file. */
int uvperf__is_shortage(int code);

/* Whether a code means that this process may not read the file: EACCES, or
 * EPERM of procfs, a seccomp filter or a security module. */
int uvperf__is_forbidden(int code);

/* The values of RLIMIT_NOFILE: the limit now, the highest value to which the
 * process may raise it, and the value that is needed for one more fd. */
typedef struct uvperf__fd_limits_s {
  uint64_t soft;
  uint64_t hard;
  uint64_t needed;
} uvperf__fd_limits_t;

void uvperf__fd_limits(uvperf__fd_limits_t *limits);

/* Returns the RLIMIT_NOFILE that is needed to open `more` fds. */
uint64_t uvperf__fds_needed(uint64_t more);

/* Whether a name can only mean an entry of the directory itself: it is not
 * empty, "." or "..", and has no slash. */
int uvperf__file_is_name(const char *name);

/* Opens a directory. Fails for anything else. Returns the fd, which is
 * close-on-exec, or -errno. */
int uvperf__directory_open(const char *path);

/* Called with each name, which is valid during the call. If it returns a value
 * other than 0, the walk ends and returns that value. */
typedef int (*uvperf__name_fn)(const char *name, void *data);

/* Walks over the entries of an open directory, but skips names that begin with
 * a dot. Closes the directory. Returns 0, the result of `each`, or -errno. */
int uvperf__directory_each(int fd, uvperf__name_fn each, void *data);

#endif
