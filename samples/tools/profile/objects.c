/* SPDX-License-Identifier: MIT */
/* Equal mappings of a file in several processes are one object. */
#include "profile/objects.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

static void add_fixed(profile_objects_t *objects, const char *name) {
  profile_object_t *object =
      COMMON_ADD(objects->objects, objects->nr, objects->capacity);

  object->name = stacks_names_get(&objects->names,
                                  stacks_names_add(&objects->names, name));
  object->path = "";
}

void profile_objects_init(profile_objects_t *objects) {
  memset(objects, 0, sizeof(*objects));
  stacks_names_init(&objects->names);
  common_tally_init(&objects->keys, sizeof(uint64_t));
  add_fixed(objects, "[kernel]");
  add_fixed(objects, "[unknown]");
  add_fixed(objects, "[ready to run]");
  add_fixed(objects, "[since before the start]");
  add_fixed(objects, "[kernel]");
}

void profile_objects_free(profile_objects_t *objects) {
  stacks_names_free(&objects->names);
  common_tally_free(&objects->keys);
  free(objects->objects);
  memset(objects, 0, sizeof(*objects));
}

static int begins(const char *text, const char *with) {
  return strncmp(text, with, strlen(with)) == 0;
}

/* Returns 1 for code that the kernel maps into processes, besides the vdso. It
 * has no file, and no JIT compiler wrote it. */
static int is_of_kernel(const char *path) {
  static const char *const paths[] = {"[vsyscall]", "[uprobes]",
                                      "[uprobes-trampoline]", "[vectors]",
                                      "[sigpage]"};
  size_t i;

  for (i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
    if (strcmp(path, paths[i]) == 0)
      return 1;
  }
  return 0;
}

/* "//anon" comes from the kernel's perf_event_mmap_event. /proc/PID/maps has an
 * empty name or "[anon:name]" for such a mapping. Any other mapping without a
 * file on a disk may also have code of a JIT compiler. So may a file of
 * memfd_create(2), or of shm_open(3) that was unlinked: a JIT compiler shares
 * its mapping with one that can be written. Programs are mapped privately. */
symbols_kind_t profile_objects_kind(const profile_object_t *object) {
  static const char deleted[] = " (deleted)";
  const char *path = object->path;
  size_t size = strlen(path);

  if (object->is_function)
    return SYMBOLS_FILE;
  if (strcmp(path, "[vdso]") == 0)
    return SYMBOLS_VDSO;
  if (is_of_kernel(path))
    return SYMBOLS_FILE;
  if (path[0] != '/' || begins(path, "//anon") || begins(path, "/dev/zero") ||
      begins(path, "/anon_hugepage") || begins(path, "/SYSV"))
    return SYMBOLS_JIT;
  if (object->is_private)
    return SYMBOLS_FILE;
  return begins(path, "/memfd:") ||
                 (begins(path, "/dev/shm/") && size >= sizeof(deleted) &&
                  strcmp(path + size - (sizeof(deleted) - 1), deleted) == 0)
             ? SYMBOLS_JIT
             : SYMBOLS_FILE;
}

/* The file's name without its directories and " (deleted)". */
static uint32_t name_of_file(stacks_names_t *names, const char *path) {
  static const char deleted[] = " (deleted)";
  const char *base = strrchr(path, '/');
  char name[256];
  size_t size;

  base = base == NULL || base[1] == '\0' ? path : base + 1;
  size = strnlen(base, sizeof(name) - 1);
  memcpy(name, base, size);
  name[size] = '\0';
  if (size > sizeof(deleted) - 1 &&
      strcmp(name + size - (sizeof(deleted) - 1), deleted) == 0)
    name[size - (sizeof(deleted) - 1)] = '\0';
  return stacks_names_add(names, name);
}

static uint32_t name_of(stacks_names_t *names, const profile_object_t *object,
                        symbols_kind_t kind) {
  const char *path = object->path;

  if (object->is_function)
    return stacks_names_add(names, path);
  if (kind == SYMBOLS_JIT &&
      (path[0] == '\0' || begins(path, "//anon") || begins(path, "[anon")))
    return stacks_names_add(names, "[anon]");
  return name_of_file(names, path);
}

/* A key. It lives as long as its object. The object's path points to the end of
 * the key. */
typedef struct object_key_s {
  uint64_t kind_and_image;
  uint64_t pid;
  uint64_t device;
  uint64_t inode;
  uint64_t generation;
  unsigned char build_id[24];
  char path[4096];
} object_key_t;

static void objects_add(profile_objects_t *objects,
                        const profile_object_t *object,
                        const object_key_t *key) {
  symbols_kind_t kind = profile_objects_kind(object);
  profile_object_t *added;

  added = COMMON_ADD(objects->objects, objects->nr, objects->capacity);
  *added = *object;
  added->kind = kind;
  if (kind != SYMBOLS_JIT)
    added->pid = added->image = 0;
  added->path = key->path;
  added->name =
      stacks_names_get(&objects->names, name_of(&objects->names, object, kind));
  added->has_symbols = 0;
}

/* /proc has no generations. A mapping with one is of the same file, because a
 * deleted file keeps its inode while it is mapped. */
static int is_other_file(const profile_objects_t *objects,
                         const profile_object_t *object, uint64_t index) {
  profile_object_t *known = &objects->objects[index];

  if (known->generation == 0)
    known->generation = object->generation;
  return object->generation != 0 && object->generation != known->generation;
}

uint32_t profile_objects_add(profile_objects_t *objects,
                             const profile_object_t *object) {
  symbols_kind_t kind = profile_objects_kind(object);
  const common_entry_t *entry;
  object_key_t key;
  size_t bytes, i;

  memset(&key, 0, sizeof(key));
  key.kind_and_image = (uint64_t)kind << 32;
  if (kind == SYMBOLS_JIT) {
    key.kind_and_image |= object->image;
    key.pid = object->pid;
  }
  if (object->is_function)
    key.kind_and_image = UINT64_MAX;
  key.device = (uint64_t)object->major << 32 | object->minor;
  key.inode = object->inode;
  memcpy(key.build_id, object->build_id, object->build_id_bytes);
  bytes = strnlen(object->path, sizeof(key.path) - 1);
  memcpy(key.path, object->path, bytes);
  bytes += offsetof(object_key_t, path) + 1;
  entry = common_tally_get(&objects->keys, 0, &key, (bytes + 7) / 8);
  i = entry == NULL ? SIZE_MAX : PROFILE_OBJECTS_FIXED + entry->index;
  if (i < objects->nr && is_other_file(objects, object, i)) {
    key.generation = object->generation;
    entry = common_tally_get(&objects->keys, 0, &key, (bytes + 7) / 8);
  }
  if (entry == NULL)
    return PROFILE_OBJECT_UNKNOWN;
  i = PROFILE_OBJECTS_FIXED + entry->index;
  if (i == objects->nr)
    objects_add(objects, object, entry->items);
  return (uint32_t)i;
}

void profile_objects_end(const profile_objects_t *objects, uint32_t pid,
                         uint32_t image, uint64_t time) {
  profile_object_t *object;
  size_t i;

  for (i = PROFILE_OBJECTS_FIXED; i < objects->nr; i++) {
    object = &objects->objects[i];
    if (object->kind == SYMBOLS_JIT && object->pid == pid &&
        object->image == image)
      object->until = time;
  }
}

profile_object_t *profile_objects_get(const profile_objects_t *objects,
                                      uint32_t i) {
  return &objects->objects[i];
}
