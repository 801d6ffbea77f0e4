/* SPDX-License-Identifier: MIT */
/* A process chooses the paths and links in its own root, and can change them at
 * any time. So each file is first found without opening it (O_PATH), then
 * checked, and then the checked file is opened. This way no FIFO blocks us, and
 * no device has side effects. */
#include "profile/symbols/open.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/fs.h>
#include <linux/magic.h>

#include "common/proc.h"

#define DELETED  " (deleted)"
#define REPLACED "the file was replaced"

/* For openat2(2), Linux 5.6, which not all headers have. */
#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#define IN_ROOT 0x10u

typedef struct open_how_s {
  uint64_t flags, mode, resolve;
} open_how_t;

/* Finds a path inside a root. Links do not lead out of the root. */
static int find_in_root(int root, const char *path, int flags) {
  open_how_t how = {(uint64_t)(O_PATH | O_CLOEXEC | flags), 0, IN_ROOT};

  return (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
}

/* Opens a found file, and closes `found`. Returns an fd, or -1 with errno. */
static int open_found(int found) {
  char path[32];
  int fd, error;

  snprintf(path, sizeof(path), "/proc/self/fd/%d", found);
  fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  error = errno;
  close(found);
  errno = error;
  return fd;
}

/* On these file systems a mapping has the device of the lower file system, but
 * the file has another device. */
static int is_layered(int fd) {
  struct statfs info;

  return fstatfs(fd, &info) == 0 &&
         ((uint32_t)info.f_type == 0x9123683eu /* btrfs */ ||
          (uint32_t)info.f_type == 0x794c7630u /* overlayfs */);
}

static int is_mapped_one(int fd, const struct stat *info,
                         const symbols_mapping_t *mapping) {
  int has_build_id = mapping->build_id_bytes > 0;

  if (mapping->inode == 0)
    return has_build_id;
  if (info->st_ino != mapping->inode)
    return has_build_id && is_layered(fd);
  return (major(info->st_dev) == mapping->major &&
          minor(info->st_dev) == mapping->minor) ||
         has_build_id || is_layered(fd);
}

/* Another file can have the inode's number when the mapped one is deleted. Not
 * all file systems report the generation. */
static int is_of_generation(int fd, const symbols_mapping_t *mapping) {
  uint32_t generation;

  return mapping->generation == 0 || mapping->inode == 0 ||
         mapping->build_id_bytes > 0 ||
         ioctl(fd, FS_IOC_GETVERSION, &generation) != 0 ||
         generation == (uint32_t)mapping->generation;
}

/* Files of the kernel look regular. But reading some of them, such as
 * /proc/kmsg and trace_pipe, removes data for which other programs wait. A
 * recording can name such files. */
static int is_of_kernel(int found) {
  struct statfs system;

  if (fstatfs(found, &system) != 0)
    return 1;
  switch ((unsigned long)system.f_type) {
    case PROC_SUPER_MAGIC:
    case SYSFS_MAGIC:
    case TRACEFS_MAGIC:
    case DEBUGFS_MAGIC:
      return 1;
    default:
      return 0;
  }
}

uint64_t symbols_open_change(int fd, uint64_t *inode) {
  struct stat info;

  if (fstat(fd, &info) != 0)
    return 0;
  if (inode != NULL)
    *inode = info.st_ino;
  return (uint64_t)info.st_mtim.tv_sec * 1000000000 +
         (uint64_t)info.st_mtim.tv_nsec;
}

/* Returns 1 if an fd is of a regular file that begins like an ELF file. */
static int is_elf(int fd) {
  struct stat info;
  char magic[SELFMAG];

  return fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
         pread(fd, magic, SELFMAG, 0) == SELFMAG &&
         memcmp(magic, ELFMAG, SELFMAG) == 0;
}

/* Checks and opens a found file. Without a mapping it may be any regular
 * file. */
static int take(int found, const symbols_mapping_t *mapping,
                char reason[SYMBOLS_REASON_BYTES]) {
  struct stat info;
  const char *why = NULL;
  int fd;

  if (found < 0)
    return -1;
  if (fstat(found, &info) != 0)
    why = strerror(errno);
  else if (!S_ISREG(info.st_mode) || is_of_kernel(found))
    why = "not a regular file";
  else if (mapping != NULL && !is_mapped_one(found, &info, mapping))
    why = REPLACED;
  if (why != NULL) {
    snprintf(reason, SYMBOLS_REASON_BYTES, "%s", why);
    close(found);
    return -1;
  }
  fd = open_found(found);
  if (fd < 0)
    snprintf(reason, SYMBOLS_REASON_BYTES, "%s",
             errno == EACCES ? "permission denied" : strerror(errno));
  else
    reason[0] = '\0';
  if (fd < 0 || mapping == NULL)
    return fd;
  if (is_elf(fd) && is_of_generation(fd, mapping))
    return fd;
  snprintf(reason, SYMBOLS_REASON_BYTES,
           is_elf(fd) ? REPLACED : "not an ELF file");
  close(fd);
  return -1;
}

static int find_mapped(const symbols_mapping_t *mapping) {
  char path[96];

  snprintf(path, sizeof(path), "/proc/%u/map_files/%" PRIx64 "-%" PRIx64,
           mapping->pid, mapping->start, mapping->end);
  return open(path, O_PATH | O_CLOEXEC);
}

/* Finds the mapping's path below another root directory. */
static int find_below(const char *directory, const symbols_mapping_t *mapping) {
  int root = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC), found;

  if (root < 0)
    return -1;
  found = find_in_root(root, mapping->path, 0);
  close(root);
  return found;
}

static int find_in_process(const symbols_mapping_t *mapping) {
  char root[32];

  snprintf(root, sizeof(root), "/proc/%u/root", mapping->pid);
  return find_below(root, mapping);
}

/* perf record and perf buildid-cache keep copies of files there, by their build
 * id. */
static int find_in_cache(const unsigned char *build_id, size_t bytes) {
  const char *home = getenv("HOME");
  char path[512];
  size_t i, used;

  if (home == NULL || bytes == 0)
    return -1;
  used = (size_t)snprintf(path, sizeof(path), "%s/.debug/.build-id/%02x/", home,
                          build_id[0]);
  for (i = 1; i < bytes && used < sizeof(path); i++)
    used +=
        (size_t)snprintf(path + used, sizeof(path) - used, "%02x", build_id[i]);
  if (used + strlen("/elf") >= sizeof(path))
    return -1;
  memcpy(path + used, "/elf", sizeof("/elf"));
  return open(path, O_PATH | O_CLOEXEC);
}

int symbols_open_whole(int fd, const unsigned char *build_id, size_t bytes) {
  char reason[SYMBOLS_REASON_BYTES];
  symbols_mapping_t copy = {.build_id_bytes = bytes};
  int whole = take(find_in_cache(build_id, bytes), &copy, reason);
  struct stat stripped, info;

  if (whole < 0 || (fstat(fd, &stripped) == 0 && fstat(whole, &info) == 0 &&
                    info.st_size > stripped.st_size))
    return whole;
  close(whole);
  return -1;
}

/* Takes a copy of the file. The reader compares its build id. */
static int take_copy(int found, const symbols_mapping_t *mapping,
                     char reason[SYMBOLS_REASON_BYTES]) {
  symbols_mapping_t copy = *mapping;

  copy.inode = 0;
  return take(found, &copy, reason);
}

static int is_deleted(const char *path) {
  size_t size = strlen(path);

  return size > strlen(DELETED) &&
         strcmp(path + size - strlen(DELETED), DELETED) == 0;
}

/* In a copy of another machine's root. */
static int open_in_symfs(const symbols_mapping_t *mapping,
                         char reason[SYMBOLS_REASON_BYTES]) {
  int has_build_id = mapping->build_id_bytes > 0;

  snprintf(reason, SYMBOLS_REASON_BYTES, "%s",
           has_build_id ? "--symfs does not have the file"
                        : "its build id is not known");
  return has_build_id
             ? take_copy(find_below(mapping->symfs, mapping), mapping, reason)
             : -1;
}

int symbols_open_file(const symbols_mapping_t *mapping,
                      char reason[SYMBOLS_REASON_BYTES]) {
  int fd = -1;

  reason[0] = '\0';
  if (mapping->inode == 0 && mapping->build_id_bytes == 0) {
    snprintf(reason, SYMBOLS_REASON_BYTES, "%s",
             "its inode and its build id are not known");
    return -1;
  }
  if (mapping->symfs != NULL)
    return open_in_symfs(mapping, reason);
  if (mapping->pid != 0)
    fd = take(find_mapped(mapping), mapping, reason);
  if (fd < 0 && !mapping->is_recorded && mapping->pid != 0 &&
      mapping->path[0] == '/')
    fd = take(find_in_process(mapping), mapping, reason);
  if (fd < 0 && mapping->path[0] == '/')
    fd = take(open(mapping->path, O_PATH | O_CLOEXEC), mapping, reason);
  if (fd < 0)
    fd = take_copy(find_in_cache(mapping->build_id, mapping->build_id_bytes),
                   mapping, reason);
  if (fd < 0 && reason[0] == '\0')
    snprintf(reason, SYMBOLS_REASON_BYTES, "%s",
             is_deleted(mapping->path)
                 ? "deleted: only root can read it, while it is mapped"
             : mapping->path[0] == '/' ? "the file does not exist"
                                       : "no file");
  return fd;
}

/* -- the vdso -------------------------------------------------------------- */

typedef struct vdso_s {
  uint64_t start, size;
} vdso_t;

static int find_size(void *arg, const common_proc_map_t *map) {
  vdso_t *vdso = arg;

  if (map->start == vdso->start)
    vdso->size = map->end - map->start;
  return vdso->size > 0;
}

int symbols_open_vdso(const symbols_mapping_t *mapping,
                      char reason[SYMBOLS_REASON_BYTES]) {
  vdso_t vdso = {getauxval(AT_SYSINFO_EHDR), 0};
  const char *why = NULL;
  int fd = -1;

  reason[0] = '\0';
  if (mapping->is_recorded && mapping->build_id_bytes == 0)
    why = "it may be the vdso of another kernel";
  else if (sizeof(void *) == 8 && mapping->end <= UINT64_C(1) << 32)
    why = "the vdso of a 32-bit program";
  else if (vdso.start == 0 ||
           common_proc_maps((int32_t)getpid(), find_size, &vdso) <= 0)
    why = "this program has no vdso";
  if (why == NULL) {
    fd = memfd_create("vdso", MFD_CLOEXEC);
    if (fd < 0 || write(fd, (const void *)(uintptr_t)vdso.start,
                        (size_t)vdso.size) != (ssize_t)vdso.size)
      why = "no memory for a copy of the vdso";
  }
  if (why == NULL)
    return fd;
  snprintf(reason, SYMBOLS_REASON_BYTES, "%s", why);
  if (fd >= 0)
    close(fd);
  return -1;
}

/* -- JIT compilers --------------------------------------------------------- */

int symbols_open_process(uint32_t pid) {
  char path[32];

  snprintf(path, sizeof(path), "/proc/%u", pid);
  return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Reads the user of a process, and the process's id in its own pid namespace.
 * Returns 0, or -1 if the process has ended. */
static int read_status(int process, uint32_t *uid, uint32_t *pid) {
  char text[4096], *line, *end;
  int fd = openat(process, "status", O_RDONLY | O_CLOEXEC);
  ssize_t nr;

  if (fd < 0)
    return -1;
  nr = read(fd, text, sizeof(text) - 1);
  close(fd);
  if (nr <= 0)
    return -1;
  text[nr] = '\0';
  /* The line has the real, effective, saved and file system user. */
  line = strstr(text, "\nUid:");
  if (line == NULL || sscanf(line, "\nUid: %*u %" SCNu32, uid) != 1)
    return -1;
  line = strstr(text, "\nNSpid:");
  if (line == NULL)
    line = strstr(text, "\nPid:");
  if (line == NULL)
    return -1;
  /* The last number is the id in the innermost namespace. */
  end = line + 1 + strcspn(line + 1, "\n");
  *end = '\0';
  while (end > line && strchr("0123456789", end[-1]) != NULL)
    end--;
  *pid = (uint32_t)strtoul(end, NULL, 10);
  return 0;
}

static int take_of_user(int found, uint32_t uid, const char *path,
                        char reason[SYMBOLS_REASON_BYTES]) {
  int fd = take(found, NULL, reason);
  struct stat info;

  if (fd < 0 ||
      (fstat(fd, &info) == 0 && (info.st_uid == uid || info.st_uid == 0)))
    return fd;
  snprintf(reason, SYMBOLS_REASON_BYTES,
           "%s: does not belong to the process's user", path);
  close(fd);
  return -1;
}

int symbols_open_perf_map(int process, char reason[SYMBOLS_REASON_BYTES]) {
  uint32_t uid, pid;
  char path[48];
  int root, fd;

  snprintf(reason, SYMBOLS_REASON_BYTES, "%s",
           "the process ended before its /tmp/perf-PID.map was read");
  if (process < 0 || read_status(process, &uid, &pid) != 0)
    return -1;
  snprintf(path, sizeof(path), "/tmp/perf-%" PRIu32 ".map", pid);
  root = openat(process, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (root < 0) {
    snprintf(reason, SYMBOLS_REASON_BYTES, "cannot open its root: %s",
             strerror(errno));
    return -1;
  }
  reason[0] = '\0';
  fd = find_in_root(root, path, O_NOFOLLOW);
  if (fd < 0)
    snprintf(reason, SYMBOLS_REASON_BYTES, "%s: %s", path,
             errno == ENOSYS ? "needs Linux 5.6" : strerror(errno));
  close(root);
  return take_of_user(fd, uid, path, reason);
}

int symbols_open_recorded_map(uint32_t pid, char reason[SYMBOLS_REASON_BYTES]) {
  char path[48];
  int found;

  snprintf(path, sizeof(path), "/tmp/perf-%" PRIu32 ".map", pid);
  found = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  snprintf(reason, SYMBOLS_REASON_BYTES, "%s: %s", path,
           found < 0 ? strerror(errno) : "");
  return take_of_user(found, geteuid(), path, reason);
}
