/* SPDX-License-Identifier: MIT */
/* Walks along the path by fds, so that no directory of the path can be replaced
 * between a check and its use. */
#include "common/out_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* As the kernel's MAXSYMLINKS. It also limits how often a file may change under
 * our hands. */
#define MOST_STEPS 40

typedef struct place_s {
  int dir; /* O_PATH */
  char name[NAME_MAX + 1];
  int nr_steps;
  char *reason; /* "": errno is the reason */
} place_t;

static const int flags_of[] = {
    [COMMON_OUT_TRUNCATE] = O_WRONLY,
    [COMMON_OUT_APPEND] = O_WRONLY | O_APPEND,
    [COMMON_OUT_KEEP] = O_WRONLY,
    [COMMON_OUT_RENAME] = O_WRONLY,
    [COMMON_OUT_EXISTING] = O_RDWR | O_NONBLOCK,
};

static int mode_truncates(enum common_out_mode mode) {
  return mode == COMMON_OUT_TRUNCATE || mode == COMMON_OUT_RENAME;
}

static int refuse_other(const place_t *place, const char *what, uid_t owner) {
  snprintf(place->reason, COMMON_OUT_REASON,
           "%s belongs to another user (uid %u): name another file", what,
           (unsigned)owner);
  return -1;
}

/* -- links ----------------------------------------------------------------- */

static int is_trusted(uid_t owner) {
  return owner == 0 || owner == geteuid();
}

static int has_sticky_bit(const place_t *place) {
  struct stat dir;

  return fstat(place->dir, &dir) != 0 || (dir.st_mode & S_ISVTX) != 0;
}

/* In a directory of another user, a second name of a file can lead to any file
 * of its owner (fs.protected_hardlinks is 0). */
static int may_be_planted(const place_t *place, const struct stat *file) {
  struct stat dir;

  return file->st_nlink > 1 &&
         (fstat(place->dir, &dir) != 0 || !is_trusted(dir.st_uid) ||
          (dir.st_mode & S_IWOTH) != 0);
}

/* The links of procfs lead to open files, which their text does not name. */
static int is_proc(const place_t *place) {
  struct statfs system;

  return fstatfs(place->dir, &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
}

static int is_step_too_many(place_t *place) {
  errno = ELOOP;
  return ++place->nr_steps > MOST_STEPS;
}

static int place_set_dir(place_t *place, int fd) {
  if (place->dir >= 0)
    close(place->dir);
  place->dir = fd;
  return fd < 0 ? -1 : 0;
}

static int place_walk(place_t *place, const char *path);

/* Goes where a link leads, up to the last name of its text. */
static int place_follow_link(place_t *place, int link,
                             const struct stat *file) {
  char text[PATH_MAX];
  ssize_t size;

  if (!is_trusted(file->st_uid) || may_be_planted(place, file))
    return refuse_other(place, "a link in the path", file->st_uid);
  if (is_step_too_many(place))
    return -1;
  size = readlinkat(link, "", text, sizeof(text) - 1);
  if (size < 0)
    return -1;
  text[size] = '\0';
  return place_walk(place, text);
}

/* Opens the name as it is, also if it is a link. */
static int look_up(const place_t *place, struct stat *file) {
  int fd = openat(place->dir, place->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

  if (fd >= 0 && fstat(fd, file) == 0)
    return fd;
  if (fd >= 0)
    close(fd);
  return -1;
}

/* O_DIRECTORY also mounts what autofs has there, which O_PATH alone does not
 * do. */
static int place_enter(place_t *place) {
  int follows = is_proc(place);
  int fd =
      openat(place->dir, place->name,
             O_PATH | O_DIRECTORY | O_CLOEXEC | (follows ? 0 : O_NOFOLLOW));
  struct stat file;
  int rc;

  if (fd >= 0 || follows)
    return place_set_dir(place, fd);
  fd = look_up(place, &file);
  if (fd < 0 || !S_ISLNK(file.st_mode))
    return place_set_dir(place, fd);
  rc = place_follow_link(place, fd, &file);
  close(fd);
  return rc != 0 ? rc : place_enter(place);
}

/* Enters all directories of the path. The name is then its last part. */
static int place_walk(place_t *place, const char *path) {
  const char *end;
  size_t size;

  if ((*path == '/' || place->dir < 0) &&
      place_set_dir(place, open(*path == '/' ? "/" : ".",
                                O_PATH | O_DIRECTORY | O_CLOEXEC)) != 0)
    return -1;
  for (;; path = end) {
    path += strspn(path, "/");
    end = path + strcspn(path, "/");
    size = (size_t)(end - path);
    errno = ENAMETOOLONG;
    if (size >= sizeof(place->name))
      return -1;
    snprintf(place->name, sizeof(place->name), "%.*s", size > 0 ? (int)size : 1,
             size > 0 ? path : ".");
    if (*end == '\0')
      return 0;
    if (place_enter(place) != 0)
      return -1;
  }
}

/* -- the file -------------------------------------------------------------- */

static int is_refused(const place_t *place, const struct stat *file,
                      enum common_out_mode mode) {
  int is_file = S_ISREG(file->st_mode), is_fifo = S_ISFIFO(file->st_mode);

  if (mode == COMMON_OUT_EXISTING)
    return 0;
  if (!is_trusted(file->st_uid) &&
      ((is_file && geteuid() == 0) ||
       ((is_file || is_fifo) && has_sticky_bit(place))))
    return refuse_other(place, "it", file->st_uid);
  if (!is_file || !may_be_planted(place, file))
    return 0;
  snprintf(place->reason, COMMON_OUT_REASON,
           "it has two names, and other users can write to its directory: name "
           "another file");
  return -1;
}

/* Returns an fd, -1, or -2 if the name has another file now. */
static int open_existing(const place_t *place, const struct stat *file,
                         enum common_out_mode mode) {
  struct stat opened;
  int fd;

  if (is_refused(place, file, mode))
    return -1;
  fd = openat(place->dir, place->name,
              flags_of[mode] | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
  if (fd < 0)
    return errno == ENOENT || errno == ELOOP ? -2 : -1;
  if (fstat(fd, &opened) != 0 || opened.st_dev != file->st_dev ||
      opened.st_ino != file->st_ino) {
    close(fd);
    return -2;
  }
  if (!mode_truncates(mode) || !S_ISREG(file->st_mode) || ftruncate(fd, 0) == 0)
    return fd;
  close(fd);
  return -1;
}

/* Follows check_backup of tools/perf/util/data.c: an empty file is not worth
 * keeping. */
static int keep_old(const place_t *place) {
  char old[NAME_MAX + sizeof(".old")];

  snprintf(old, sizeof(old), "%s.old", place->name);
  if (renameat(place->dir, place->name, place->dir, old) == 0)
    return -2;
  snprintf(place->reason, COMMON_OUT_REASON, "cannot keep it as %.64s: %s", old,
           strerror(errno));
  return -1;
}

/* These links lead to the files that the program was given. In a user namespace
 * they may seem to belong to another user. */
static int is_given(const char *path) {
  return (strncmp(path, "/dev/std", 8) == 0 ||
          strncmp(path, "/dev/fd/", 8) == 0) &&
         strchr(path + 8, '/') == NULL;
}

static int open_given(int dir, const char *path, enum common_out_mode mode) {
  return openat(dir, path,
                flags_of[mode] | O_NOCTTY | O_CLOEXEC |
                    (mode_truncates(mode) ? O_TRUNC : 0));
}

static int open_name(place_t *place, enum common_out_mode mode) {
  struct stat file;
  int found, fd;

  if (is_proc(place))
    return open_given(place->dir, place->name, mode);
  found = look_up(place, &file);
  if (found < 0) {
    if (errno != ENOENT || mode == COMMON_OUT_EXISTING)
      return -1;
    fd = openat(place->dir, place->name,
                flags_of[mode] | O_CREAT | O_EXCL | O_CLOEXEC,
                S_IRUSR | S_IWUSR);
    return fd < 0 && errno == EEXIST ? -2 : fd;
  }
  if (S_ISLNK(file.st_mode))
    fd = place_follow_link(place, found, &file) == 0 ? -2 : -1;
  else if (mode == COMMON_OUT_RENAME && S_ISREG(file.st_mode) &&
           file.st_size > 0)
    fd = keep_old(place);
  else
    fd = open_existing(place, &file, mode);
  close(found);
  return fd;
}

int common_out_file_open(const char *path, enum common_out_mode mode,
                         char reason[COMMON_OUT_REASON]) {
  place_t place = {-1, "", 0, reason};
  int fd = -1;

  *reason = '\0';
  errno = ENOENT;
  if (is_given(path)) {
    fd = open_given(AT_FDCWD, path, mode);
  } else if (*path != '\0' && place_walk(&place, path) == 0) {
    do
      fd = open_name(&place, mode);
    while (fd == -2 && !is_step_too_many(&place));
  }
  if (fd < 0 && *reason == '\0')
    snprintf(reason, COMMON_OUT_REASON, "%s", strerror(errno));
  if (place.dir >= 0)
    close(place.dir);
  return fd < 0 ? -1 : fd;
}
