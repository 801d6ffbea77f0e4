/* SPDX-License-Identifier: MIT */
/* The bpf(2) part of the scripted kernel: maps of the type
 * BPF_MAP_TYPE_PERF_EVENT_ARRAY, whose entries are scripted events. Without a
 * scripted map each call goes to the real kernel.
 *
 *   map = fake_map_add(4);
 *   fd = fake_map_open(map);          a caller's fd
 *   ... call the library ...
 *   fake_map_close(fd);
 *   fake_assert_clean();
 *
 * As in the kernel, each entry belongs to the file that put it there, and goes
 * when that file is closed, unless the map has BPF_F_PRESERVE_ELEMS. The
 * scripted kernel knows which fds share a file. */
#ifndef UVPERF_TEST_FAKE_MAP_H
#define UVPERF_TEST_FAKE_MAP_H

#include <stdint.h>

#include "fake_kernel.h"
#include "sys/bpf.h"

#define FAKE_MAP_ENTRIES 128

/* An entry that another process has put. */
#define FAKE_MAP_FOREIGN (-2)
/* No entry. */
#define FAKE_MAP_EMPTY (-1)

typedef struct fake_map_s {
  /* Set by the test, at any time. */
  uvperf__bpf_map_info_t info; /* as the kernel reports it */
  const char *path;            /* where it is pinned, or NULL */
  int is_frozen;               /* BPF_MAP_FREEZE */
  int is_no_map;               /* another BPF object: every call but info
                                * fails */
  int memory;                  /* of a ring buffer (fake_ringbuf.h), or 0 */
  const uint8_t *value;        /* what a look-up copies, or NULL: -ENOENT */
  size_t value_bytes;

  /* Noted by the fake kernel. */
  unsigned files; /* open files, the caller's too */

  /* Private. */
  struct {
    int cpu;
    unsigned file;
  } entries[FAKE_MAP_ENTRIES];
} fake_map_t;

/* Scripts a map. At most 8. */
fake_map_t *fake_map_add(uint32_t max_entries);

/* Opens an fd for the caller, with a file of its own; with O_RDONLY or O_RDWR,
 * for example. */
int fake_map_open_as(fake_map_t *map, int access);
int fake_map_open(fake_map_t *map);
/* Closes the caller's fd, without a line in the log. */
void fake_map_close(int fd);

/* The CPU of the event in an entry, or FAKE_MAP_FOREIGN or FAKE_MAP_EMPTY. */
int fake_map_at(const fake_map_t *map, uint32_t key);
/* Another process puts an event into the map, or removes an entry. */
void fake_map_put_foreign(fake_map_t *map, uint32_t key);
void fake_map_clear(fake_map_t *map, uint32_t key);
/* The number of entries. */
unsigned fake_map_count(const fake_map_t *map);

#endif
