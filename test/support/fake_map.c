/* SPDX-License-Identifier: MIT */
#include "fake_map.h"

#include "support.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fake_script.h"

#define MAPS_MAX 8
#define FDS_MAX  64

/* In <linux/bpf.h>. */
#define PERF_EVENT_ARRAY 4
#define RDONLY           8u
#define WRONLY           16u
#define PRESERVE_ELEMS   0x800u

/* An fd of a map, and the file that it belongs to. */
typedef struct map_fd_s {
  int fd; /* -1: closed */
  int old_fd;
  unsigned file;
  int access;
  fake_map_t *map;
} map_fd_t;

static struct {
  fake_map_t maps[MAPS_MAX];
  size_t added;
  map_fd_t fds[FDS_MAX];
  size_t nr_fds;
  unsigned files;
} bpf;

int __real_uvperf__sys_bpf_info(int fd, uvperf__bpf_map_info_t *info);
int __real_uvperf__sys_bpf_map_by_id(uint32_t id, uint32_t flags);
int __real_uvperf__sys_bpf_pinned(const char *path);
int __real_uvperf__sys_bpf_update(int fd, uint32_t key, uint32_t value);
int __real_uvperf__sys_bpf_delete(int fd, uint32_t key);
int __real_uvperf__sys_bpf_lookup(int fd, const void *key, void *value);
int __real_uvperf__sys_dup(int fd);
int __real_uvperf__sys_access(int fd);

/* -- fds ------------------------------------------------------------------ */

static map_fd_t *by_fd(int fd) {
  size_t i;

  for (i = 0; fd >= 0 && i < bpf.nr_fds; i++)
    if (bpf.fds[i].fd == fd)
      return &bpf.fds[i];
  return NULL;
}

static int give(fake_map_t *map, unsigned file, int access) {
  map_fd_t *given;

  assert_true(bpf.nr_fds < FDS_MAX);
  given = &bpf.fds[bpf.nr_fds++];
  given->fd = eventfd(0, EFD_CLOEXEC);
  assert_true(given->fd >= 0);
  given->old_fd = -1;
  given->file = file;
  given->access = access;
  given->map = map;
  return given->fd;
}

/* A new file has no fd yet. */
static int open_file(fake_map_t *map, int access) {
  map->files++;
  return give(map, ++bpf.files, access);
}

/* bpf_map_release and perf_event_fd_array_release. */
static void release(fake_map_t *map, unsigned file) {
  size_t i;

  map->files--;
  for (i = 0; i < FAKE_MAP_ENTRIES; i++)
    if (map->entries[i].file == file && !(map->info.map_flags & PRESERVE_ELEMS))
      fake_map_clear(map, (uint32_t)i);
}

void fake_map_close_fd(int fd, int in_child) {
  map_fd_t *closed = by_fd(fd);
  size_t i;

  if (closed == NULL)
    return;
  closed->old_fd = fd;
  closed->fd = -1;
  if (in_child)
    return;
  for (i = 0; i < bpf.nr_fds; i++)
    if (bpf.fds[i].fd >= 0 && bpf.fds[i].file == closed->file)
      return;
  release(closed->map, closed->file);
}

int fake_map_was_closed(int fd) {
  size_t i;

  for (i = 0; fd >= 0 && i < bpf.nr_fds; i++)
    if (bpf.fds[i].old_fd == fd)
      return 1;
  return 0;
}

void fake_map_reset(void) {
  size_t i;

  for (i = 0; i < bpf.nr_fds; i++)
    if (bpf.fds[i].fd >= 0)
      close(bpf.fds[i].fd);
  memset(&bpf, 0, sizeof(bpf));
}

void fake_map_assert_clean(void) {
  size_t i;

  for (i = 0; i < bpf.nr_fds; i++)
    if (bpf.fds[i].fd >= 0)
      fail_msg("an fd of a scripted map is still open");
}

/* -- the test's ----------------------------------------------------------- */

fake_map_t *fake_map_add(uint32_t max_entries) {
  fake_map_t *map;
  uint32_t i;

  assert_true(bpf.added < MAPS_MAX && max_entries <= FAKE_MAP_ENTRIES);
  map = &bpf.maps[bpf.added++];
  map->info.type = PERF_EVENT_ARRAY;
  map->info.id = 100 + (uint32_t)bpf.added;
  map->info.key_size = 4;
  map->info.value_size = 4;
  map->info.max_entries = max_entries;
  for (i = 0; i < FAKE_MAP_ENTRIES; i++)
    fake_map_clear(map, i);
  return map;
}

int fake_map_open_as(fake_map_t *map, int access) {
  return open_file(map, access);
}

int fake_map_open(fake_map_t *map) {
  return open_file(map, O_RDWR);
}

void fake_map_close(int fd) {
  assert_non_null(by_fd(fd));
  fake_map_close_fd(fd, 0);
  assert_int_equal(close(fd), 0);
}

int fake_map_at(const fake_map_t *map, uint32_t key) {
  assert_true(key < FAKE_MAP_ENTRIES);
  return map->entries[key].cpu;
}

void fake_map_put_foreign(fake_map_t *map, uint32_t key) {
  assert_true(key < FAKE_MAP_ENTRIES);
  map->entries[key].cpu = FAKE_MAP_FOREIGN;
  map->entries[key].file = 0;
}

void fake_map_clear(fake_map_t *map, uint32_t key) {
  assert_true(key < FAKE_MAP_ENTRIES);
  map->entries[key].cpu = FAKE_MAP_EMPTY;
  map->entries[key].file = 0;
}

unsigned fake_map_count(const fake_map_t *map) {
  unsigned nr = 0;
  size_t i;

  for (i = 0; i < FAKE_MAP_ENTRIES; i++)
    nr += map->entries[i].cpu != FAKE_MAP_EMPTY;
  return nr;
}

/* -- the calls ------------------------------------------------------------ */

int __wrap_uvperf__sys_bpf_info(int fd, uvperf__bpf_map_info_t *info) {
  const map_fd_t *of = by_fd(fd);
  int code = 0;

  if (fake_scripted(FAKE_BPF_INFO, &code))
    ;
  else if (of != NULL)
    *info = of->map->info;
  else
    code = __real_uvperf__sys_bpf_info(fd, info);
  fake_note("bpf info", "", code < 0);
  return code;
}

int __wrap_uvperf__sys_bpf_map_by_id(uint32_t id, uint32_t flags) {
  fake_map_t *map = NULL;
  size_t i;
  int code;

  for (i = 0; i < bpf.added; i++)
    if (bpf.maps[i].info.id == id)
      map = &bpf.maps[i];
  if (fake_scripted(FAKE_BPF_MAP_BY_ID, &code))
    ;
  else if (map != NULL)
    code = open_file(map, flags == RDONLY   ? O_RDONLY
                          : flags == WRONLY ? O_WRONLY
                                            : O_RDWR);
  else
    code = __real_uvperf__sys_bpf_map_by_id(id, flags);
  fake_note("bpf map by id", "", code < 0);
  return code;
}

int __wrap_uvperf__sys_bpf_pinned(const char *path) {
  fake_map_t *map = NULL;
  size_t i;
  int code;

  for (i = 0; i < bpf.added; i++)
    if (bpf.maps[i].path != NULL && strcmp(bpf.maps[i].path, path) == 0)
      map = &bpf.maps[i];
  if (fake_scripted(FAKE_BPF_PINNED, &code))
    ;
  else if (map != NULL)
    code = open_file(map, O_RDWR);
  else
    code = __real_uvperf__sys_bpf_pinned(path);
  fake_note("bpf pinned", "", code < 0);
  return code;
}

/* The errors that bpf_map_update_elem and map_delete_elem in
 * kernel/bpf/syscall.c, and those of arrays, return for any map. */
static int refuse(const map_fd_t *of, uint32_t key) {
  if (of->map->is_no_map)
    return -EINVAL;
  if (of->map->is_frozen || of->access == O_RDONLY)
    return -EPERM;
  return key >= of->map->info.max_entries ? -E2BIG : 0;
}

static int update(map_fd_t *of, uint32_t key, uint32_t value) {
  const fake_event_t *event = fake_event_of((int)value);
  int code = refuse(of, key);

  if (code != 0)
    return code;
  if (event == NULL)
    return -EBADF;
  if (event->attr.inherit)
    return -EOPNOTSUPP;
  of->map->entries[key].cpu = event->cpu;
  of->map->entries[key].file = of->file;
  return 0;
}

int __wrap_uvperf__sys_bpf_update(int fd, uint32_t key, uint32_t value) {
  map_fd_t *of = by_fd(fd);
  char detail[16];
  int code;

  if (fake_scripted(FAKE_BPF_UPDATE, &code))
    ;
  else if (of != NULL)
    code = update(of, key, value);
  else
    code = __real_uvperf__sys_bpf_update(fd, key, value);
  snprintf(detail, sizeof(detail), "%u", key);
  fake_see((fake_seen_t){"bpf update", detail, NULL, 0, code, 0, 0, 0});
  return code;
}

static int delete_entry(map_fd_t *of, uint32_t key) {
  int code = refuse(of, key);

  if (code == 0 && of->map->entries[key].cpu == FAKE_MAP_EMPTY)
    return -ENOENT;
  if (code == 0)
    fake_map_clear(of->map, key);
  return code;
}

int __wrap_uvperf__sys_bpf_delete(int fd, uint32_t key) {
  map_fd_t *of = by_fd(fd);
  char detail[16];
  int code;

  if (fake_scripted(FAKE_BPF_DELETE, &code))
    ;
  else if (of != NULL)
    code = delete_entry(of, key);
  else
    code = __real_uvperf__sys_bpf_delete(fd, key);
  snprintf(detail, sizeof(detail), "%u", key);
  fake_see((fake_seen_t){"bpf delete", detail, NULL, 0, code, 0, 0, 0});
  return code;
}

int __wrap_uvperf__sys_bpf_lookup(int fd, const void *key, void *value) {
  const map_fd_t *of = by_fd(fd);
  int code;

  if (fake_scripted(FAKE_BPF_LOOKUP, &code))
    ;
  else if (of == NULL)
    code = __real_uvperf__sys_bpf_lookup(fd, key, value);
  else
    code = of->map->is_no_map       ? -EINVAL
           : key == NULL            ? -EFAULT
           : of->map->value != NULL ? 0
                                    : -ENOENT;
  if (of != NULL && code == 0)
    memcpy(value, of->map->value, of->map->value_bytes);
  fake_note("bpf lookup", "", code < 0);
  return code;
}

/* The second half of the mapping is the data once more, as in
 * bpf_ringbuf_area_alloc. The first page may be written, and only alone. */
int fake_map_mmap(void **address, size_t size, int prot, int fd, off_t offset,
                  int *code) {
  const map_fd_t *of = by_fd(fd);
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  size_t bytes;
  uint8_t *at;

  if (of == NULL || of->map->memory == 0)
    return 0;
  *code = -EPERM;
  if (prot & PROT_WRITE && (offset != 0 || size != page))
    return 1;
  *code = -EACCES;
  if ((prot & PROT_WRITE && of->access == O_RDONLY) ||
      (prot & PROT_READ && of->access == O_WRONLY))
    return 1;
  bytes = offset == 0 ? 0 : (size - page) / 2;
  assert_true(bytes == 0 || bytes == of->map->info.max_entries);
  at = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(at != MAP_FAILED);
  assert_true(mmap(at, page + bytes, prot, MAP_SHARED | MAP_FIXED,
                   of->map->memory, offset) != MAP_FAILED);
  assert_true(bytes == 0 ||
              mmap(at + page + bytes, bytes, prot, MAP_SHARED | MAP_FIXED,
                   of->map->memory, offset + (off_t)page) != MAP_FAILED);
  *address = at;
  *code = 0;
  return 1;
}

int __wrap_uvperf__sys_dup(int fd) {
  const map_fd_t *of = by_fd(fd);
  int code;

  if (fake_scripted(FAKE_DUP, &code))
    ;
  else if (of != NULL)
    code = give(of->map, of->file, of->access);
  else
    code = __real_uvperf__sys_dup(fd);
  fake_note("dup", "", code < 0);
  return code;
}

int __wrap_uvperf__sys_access(int fd) {
  const map_fd_t *of = by_fd(fd);
  int code;

  if (fake_scripted(FAKE_ACCESS, &code))
    return code;
  return of != NULL ? of->access : __real_uvperf__sys_access(fd);
}
