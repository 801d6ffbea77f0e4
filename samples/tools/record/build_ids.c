/* SPDX-License-Identifier: MIT */
/* Each file is read when its name first appears, because later the file may be
 * replaced or its process may be gone. perf record -a reads files at its end,
 * and only files with samples. perf record --buildid-all reads all files, as
 * this does. */
#include "record/build_ids.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/openat2.h>
#include <linux/perf_event.h>

#include "common/elf_note.h"
#include "common/memory.h"
#include "common/small_file.h"
#include "common/tally.h"
#include "record/bytes.h"

#define KERNEL "[kernel.kallsyms]"

/* Bits of misc that older headers lack. */
#define MISC_MMAP_BUILD_ID (1u << 14)
#define MISC_BUILD_ID_SIZE (1u << 15)

/* The offset of the name in MMAP and MMAP2 records, see perf_event_open(2). */
#define MMAP_NAME  40
#define MMAP2_NAME 72

/* File names have at most PATH_MAX bytes; the kernel writes "//toolong" for
 * longer ones. */
#define NAME_BYTES 4096

typedef struct object_s {
  uint16_t misc;
  size_t nr; /* bytes of the id; 0: no id */
  unsigned char id[COMMON_BUILD_ID_BYTES];
} object_t;

struct record_build_ids_s {
  common_tally_t names;
  object_t *objects; /* by the index of the name */
  size_t nr, capacity;
};

typedef struct mapping_s {
  int32_t pid;
  uint16_t misc;
  uint64_t inode; /* 0: not known */
  const char *name;
} mapping_t;

record_build_ids_t *record_build_ids_new(void) {
  record_build_ids_t *ids = common_calloc(1, sizeof(*ids));

  common_tally_init(&ids->names, sizeof(uint64_t));
  return ids;
}

void record_build_ids_free(record_build_ids_t *ids) {
  common_tally_free(&ids->names);
  free(ids->objects);
  free(ids);
}

/* Opens a file that can be a program, with this inode if it is not 0. `found`
 * is an O_PATH fd, which is closed. Returns an fd, or -1.
 *
 * The names come from other processes. In the root of a process that is gone, a
 * name may have been a file, but here it may be a device. Opening a device has
 * effects (a watchdog starts). Reading /proc/kmsg or trace_pipe has effects
 * too; their size is 0. Opening with O_PATH has no effects, and /proc/self/fd
 * leads to the same file. */
static int open_program(int found, uint64_t inode) {
  struct stat stat;
  int opened = -1;
  char link[64];

  if (found < 0)
    return -1;
  snprintf(link, sizeof(link), "/proc/self/fd/%d", found);
  if (fstat(found, &stat) == 0 && S_ISREG(stat.st_mode) && stat.st_size > 0 &&
      (inode == 0 || stat.st_ino == inode))
    opened = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  close(found);
  return opened;
}

static size_t read_file(int found, uint64_t inode,
                        unsigned char id[COMMON_BUILD_ID_BYTES]) {
  int fd = open_program(found, inode);
  size_t nr;

  if (fd < 0)
    return 0;
  nr = common_elf_note_of_file(fd, id);
  close(fd);
  return nr;
}

/* Finds a file in the root of a process, so that links in a container do not
 * lead out of it. Linux before 5.6 does not have this call; then nothing is
 * found. */
static int find_in_root(int32_t pid, const char *name) {
  struct open_how how = {O_PATH | O_CLOEXEC, 0, RESOLVE_IN_ROOT};
  char path[64];
  int root, fd, tries = 1000;

  snprintf(path, sizeof(path), "/proc/%d/root", pid);
  root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (root < 0)
    return -1;
  /* EAGAIN: something was renamed while a ".." was resolved. */
  do
    fd = (int)syscall(SYS_openat2, root, name, &how, sizeof(how));
  while (fd < 0 && errno == EAGAIN && --tries > 0);
  close(root);
  return fd;
}

/* The process may have its own root, as in a container. If the process is gone,
 * the file with this name in our root can be another file. The inode shows
 * whether it is. */
static size_t read_user(const mapping_t *mapping,
                        unsigned char id[COMMON_BUILD_ID_BYTES]) {
  size_t nr;

  if (strcmp(mapping->name, "[vdso]") == 0)
    return common_elf_note_of_vdso(id);
  if (mapping->name[0] != '/' || mapping->name[1] == '/')
    return 0;
  nr = read_file(find_in_root(mapping->pid, mapping->name), 0, id);
  if (nr > 0)
    return nr;
  return read_file(open(mapping->name, O_PATH | O_CLOEXEC), mapping->inode, id);
}

static size_t read_notes(const char *path,
                         unsigned char id[COMMON_BUILD_ID_BYTES]) {
  size_t size, nr;
  char *notes;

  notes = common_file_read(path, &size);
  if (notes == NULL)
    return 0;
  nr = common_elf_note_find(notes, size, id);
  free(notes);
  return nr;
}

/* ".../xfs.ko", ".../xfs.ko.zst" or "[xfs]". In sysfs a dash is an
 * underscore. */
static size_t read_module(const char *name,
                          unsigned char id[COMMON_BUILD_ID_BYTES]) {
  const char *base = strrchr(name, '/');
  char path[NAME_BYTES], module[256], *at;

  base = base == NULL ? name : base + 1;
  base += base[0] == '[';
  snprintf(module, sizeof(module), "%.*s", (int)strcspn(base, ".]"), base);
  for (at = module; *at != '\0'; at++)
    *at = *at == '-' ? '_' : *at;
  snprintf(path, sizeof(path), "/sys/module/%s/notes/.note.gnu.build-id",
           module);
  return read_notes(path, id);
}

static int is_kernel(const char *name) {
  return strncmp(name, KERNEL, strlen(KERNEL)) == 0;
}

static void read_id(const mapping_t *mapping, object_t *object) {
  if (mapping->misc != PERF_RECORD_MISC_KERNEL)
    object->nr = read_user(mapping, object->id);
  else if (is_kernel(mapping->name))
    object->nr = read_notes("/sys/kernel/notes", object->id);
  else
    object->nr = read_module(mapping->name, object->id);
}

/* Returns the object of a mapping if its name is new, otherwise NULL. The name
 * of the kernel's mapping ends with a symbol, which is not part of the object's
 * name. */
static object_t *object_add(record_build_ids_t *ids, const mapping_t *mapping) {
  const char *name = is_kernel(mapping->name) ? KERNEL : mapping->name;
  const common_entry_t *entry = common_tally_text(&ids->names, name);
  object_t *object;

  if (entry == NULL || entry->index < ids->nr)
    return NULL;
  object = COMMON_ADD(ids->objects, ids->nr, ids->capacity);
  *object = (object_t){.misc = mapping->misc};
  return object;
}

/* MMAP2 may contain the id. In that case the kernel has read the id when the
 * file was mapped. */
static int take_id(const unsigned char *record, object_t *object) {
  size_t nr = record[40];

  object->nr = nr < COMMON_BUILD_ID_BYTES ? nr : COMMON_BUILD_ID_BYTES;
  memcpy(object->id, record + 44, object->nr);
  return object->nr > 0;
}

void record_build_ids_map(record_build_ids_t *ids, const void *record,
                          size_t size) {
  struct perf_event_header header;
  const unsigned char *bytes = record;
  mapping_t mapping = {0, 0, 0, NULL};
  object_t *object;
  size_t name;

  memcpy(&header, bytes, sizeof(header));
  name = header.type == PERF_RECORD_MMAP ? MMAP_NAME : MMAP2_NAME;
  if (size <= name || memchr(bytes + name, '\0', size - name) == NULL ||
      (header.misc & PERF_RECORD_MISC_MMAP_DATA) != 0)
    return;
  memcpy(&mapping.pid, bytes + sizeof(header), sizeof(mapping.pid));
  mapping.misc = header.misc & PERF_RECORD_MISC_CPUMODE_MASK;
  mapping.name = (const char *)bytes + name;
  if (header.type == PERF_RECORD_MMAP2 &&
      (header.misc & MISC_MMAP_BUILD_ID) == 0)
    memcpy(&mapping.inode, bytes + 48, sizeof(mapping.inode));
  object = object_add(ids, &mapping);
  if (object == NULL)
    return;
  if (header.type == PERF_RECORD_MMAP2 &&
      (header.misc & MISC_MMAP_BUILD_ID) != 0 && take_id(bytes, object))
    return;
  read_id(&mapping, object);
}

/* struct perf_record_header_build_id of tools/lib/perf/include/perf/event.h.
 * The pid -1 means the host. */
static void put_object(const object_t *object, const char *name,
                       common_buffer_t *bytes) {
  struct perf_event_header header = {0, 0, 0};
  size_t size = strlen(name) + 1;
  size_t padded = (size + 63) / 64 * 64;
  unsigned char id[24] = {0};

  memcpy(id, object->id, object->nr);
  id[COMMON_BUILD_ID_BYTES] = (unsigned char)object->nr;
  header.misc = object->misc | MISC_BUILD_ID_SIZE;
  header.size =
      (uint16_t)(sizeof(header) + sizeof(uint32_t) + sizeof(id) + padded);
  common_buffer_add(bytes, &header, sizeof(header));
  record_bytes_put_u32(bytes, UINT32_MAX);
  common_buffer_add(bytes, id, sizeof(id));
  common_buffer_add(bytes, name, size);
  record_bytes_put_zeros(bytes, padded - size);
}

int record_build_ids_put(const record_build_ids_t *ids,
                         common_buffer_t *bytes) {
  size_t i, nr = 0;

  for (i = 0; i < ids->nr; i++) {
    if (ids->objects[i].nr == 0)
      continue;
    put_object(&ids->objects[i], ids->names.entries[i]->items, bytes);
    nr++;
  }
  return nr > 0;
}
