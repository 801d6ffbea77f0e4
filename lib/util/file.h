/* SPDX-License-Identifier: MIT */
/* Files and directories of /proc, /sys and tracefs, without memory of
 * their own. stdio and opendir(3) take theirs from malloc, past the allocator
 * that the user chose. */
#ifndef UVPERF_LIB_UTIL_FILE_H
#define UVPERF_LIB_UTIL_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* open(2), for reading: the fd, which is close-on-exec, or -errno. */
int uvperf__file_open(const char *path);

/* read(2): the bytes read, 0 at the end, or -errno. */
ssize_t uvperf__file_read(int fd, void *buffer, size_t size);

/* The same for a file that others may control: -EISDIR for a directory, -ENXIO
 * for any other file that is not regular, such as a pipe, whose open would
 * block. In "/proc/PID/root/REST", REST is found inside that root, whatever
 * links are in it (from Linux 5.6 on); -EXDEV for a link of /proc. -ENOSYS
 * without /proc. */
int uvperf__file_open_regular(const char *path);

/* The path of an open file, whatever its name is now:
 * "/proc/thread-self/fd/7". /proc/self is the first thread, which may have
 * ended: then it has no fds. */
#define UVPERF__FD_PATH_BYTES 40
void uvperf__file_path_by_fd(int fd, char path[UVPERF__FD_PATH_BYTES]);

/* pread(2), from so many bytes after the beginning of the file; -EOVERFLOW
 * where no file can have as many. */
ssize_t uvperf__file_read_at(int fd, void *buffer, size_t size,
                             uint64_t offset);

void uvperf__file_close(int fd);

/* readlink(2), with an ending NUL, cut to `size`: 0 or -errno. */
int uvperf__file_link(const char *path, char *text, size_t size);

/* The path of what is open, as /proc tells it, cut to `size`: 0 or -errno. */
int uvperf__file_path_of(int fd, char *path, size_t size);

/* Another fd of the same file, which is close-on-exec; or -errno. */
int uvperf__file_dup(int fd);

/* The number of a file or directory, which another that takes its place does
 * not have: 0, or -errno. */
int uvperf__file_inode(const char *path, uint64_t *inode);

/* Which kind of file system an open file is on, by the number that
 * <linux/magic.h> has for it: 0, or -errno. */
int uvperf__file_system(int fd, uint64_t *magic);

/* Whether a code means that the process or the machine has run out of fds or
 * memory: it says nothing of the file. */
int uvperf__is_shortage(int code);

/* What RLIMIT_NOFILE allows, as far as it may be raised, and what it would have
 * to be for one more fd. */
typedef struct uvperf__fd_limits_s {
  uint64_t soft;
  uint64_t hard;
  uint64_t needed;
} uvperf__fd_limits_t;

void uvperf__fd_limits(uvperf__fd_limits_t *limits);

/* What RLIMIT_NOFILE would have to be for so many more fds. */
uint64_t uvperf__fds_needed(uint64_t more);

/* Whether a name can be that of an entry of a directory, and of no other
 * directory than that: not empty, ".", "..", and without a slash. */
int uvperf__file_is_name(const char *name);

/* Opens a directory, and nothing else: the fd, which is close-on-exec, or
 * -errno. */
int uvperf__directory_open(const char *path);

/* Called with each name, which is valid during the call; what it returns other
 * than 0 ends the walk and is returned. */
typedef int (*uvperf__name_fn)(const char *name, void *data);

/* Walks over the entries of an open directory, but those that begin with a dot,
 * and closes it. 0, what `each` returned, or -errno. */
int uvperf__directory_each(int fd, uvperf__name_fn each, void *data);

#endif
