/* SPDX-License-Identifier: MIT */
/* The objects that contain code: files, the vdso, memory of JIT compilers. */
#ifndef PROFILE_OBJECTS_H
#define PROFILE_OBJECTS_H

#include <stddef.h>
#include <stdint.h>

#include "common/tally.h"
#include "profile/stacks/names.h"
#include "profile/symbols/symbols.h"

/* These objects always exist. */
#define PROFILE_OBJECT_KERNEL  0u
#define PROFILE_OBJECT_UNKNOWN 1u
#define PROFILE_OBJECT_READY   2u /* preempted: waits for a CPU */
#define PROFILE_OBJECT_BEFORE  3u /* has waited since before the start */
/* A kernel address in no known range. Its offset is the address. */
#define PROFILE_OBJECT_OUTSIDE 4u
#define PROFILE_OBJECTS_FIXED  5u

typedef struct profile_object_s {
  const char *name; /* for display: without directories */
  const char *path; /* as the kernel reports it; "": none */
  symbols_kind_t kind;
  int is_function; /* of the kernel: the object is a function, `path` its name;
                      its offsets are addresses, its inode is the number of
                      a BPF program, or 0 */
  int is_gone;     /* the function, without a record of when */
  uint32_t pid, image; /* of a JIT: its program; else 0 */
  /* In the time of the records, 0: not known. When the program of a JIT began
   * and ended; for a file, when it was first mapped. */
  uint64_t since, until;
  uint32_t major, minor;
  uint64_t inode;
  uint64_t generation; /* of the inode; 0: not known */
  unsigned char build_id[20];
  size_t build_id_bytes;
  int is_private;   /* mapped with MAP_PRIVATE */
  int has_symbols;  /* `symbols` is valid */
  uint32_t symbols; /* id in symbols_t */
} profile_object_t;

typedef struct profile_objects_s {
  stacks_names_t names;
  common_tally_t keys;
  profile_object_t *objects;
  size_t nr, capacity;
} profile_objects_t;

void profile_objects_init(profile_objects_t *objects);
void profile_objects_free(profile_objects_t *objects);

/* Returns what a mapping is, by its path and is_private. */
symbols_kind_t profile_objects_kind(const profile_object_t *object);

/* Returns the index of an object, and adds the object if it is new. Set its
 * path, device, inode, build id, is_private and is_function, and pid, image and
 * since of the process that mapped it. The function finds the other fields. */
uint32_t profile_objects_add(profile_objects_t *objects,
                             const profile_object_t *object);

/* A program of a process has ended, at a time. */
void profile_objects_end(const profile_objects_t *objects, uint32_t pid,
                         uint32_t image, uint64_t time);

/* The pointer is valid until an object is added. */
profile_object_t *profile_objects_get(const profile_objects_t *objects,
                                      uint32_t i);

#endif
