/* SPDX-License-Identifier: MIT */
/* The part of the scripted kernel that is bpf(2): maps of the type
 * BPF_MAP_TYPE_PERF_EVENT_ARRAY, whose entries are scripted events. Without a
 * scripted map each call goes on to the real kernel.
 *
 *   map = fake_map_add(4);
 *   fd = fake_map_open(map);          a caller's fd
 *   ... call the library ...
 *   fake_map_close(fd);
 *   fake_assert_clean();
 *
 * As in the kernel each entry belongs to the file by which it was put, and goes
 * when that file is closed, unless the map has BPF_F_PRESERVE_ELEMS: the
 * scripted kernel knows which fds are of one file. */
#ifndef UVPERF_TEST_FAKE_MAP_H
#define UVPERF_TEST_FAKE_MAP_H

#include <stdint.h>

#include "fake_kernel.h"
#include "sys/bpf.h"

#define FAKE_MAP_ENTRIES 128

/* An entry of somebody else's. */
#define FAKE_MAP_FOREIGN (-2)
/* None. */
#define FAKE_MAP_EMPTY (-1)

typedef struct fake_map_s {
  /* Set by the test, at any time. */
  uvperf__bpf_map_info_t info; /* what the kernel tells of it */
  const char *path;            /* where it is pinned, or NULL */
  int is_frozen;               /* BPF_MAP_FREEZE */
  int is_no_map;               /* another BPF object: no call but info works */

  /* Noted by the fake. */
  unsigned files; /* that are open, the caller's too */

  /* Private. */
  struct {
    int cpu;
    unsigned file;
  } entries[FAKE_MAP_ENTRIES];
} fake_map_t;

/* Scripts a map. Room for 8. */
fake_map_t *fake_map_add(uint32_t max_entries);

/* A caller's fd of it, in a file of its own; with O_RDONLY, say, or O_RDWR. */
int fake_map_open_as(fake_map_t *map, int access);
int fake_map_open(fake_map_t *map);
/* The caller closes it: not in the log. */
void fake_map_close(int fd);

/* The CPU of the event in an entry, FAKE_MAP_FOREIGN or FAKE_MAP_EMPTY. */
int fake_map_at(const fake_map_t *map, uint32_t key);
/* Somebody else puts an event into it, or takes out what is there. */
void fake_map_put_foreign(fake_map_t *map, uint32_t key);
void fake_map_clear(fake_map_t *map, uint32_t key);
/* How many entries there are. */
unsigned fake_map_count(const fake_map_t *map);

#endif
