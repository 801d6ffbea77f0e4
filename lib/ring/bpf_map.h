/* SPDX-License-Identifier: MIT */
/* A map of the type BPF_MAP_TYPE_PERF_EVENT_ARRAY, open as an fd, into which
 * events are put; or a BPF_MAP_TYPE_RINGBUF, which has no entries.
 *
 * The kernel deletes an entry when the file that was used to put it is closed
 * (perf_event_fd_array_release in kernel/bpf/arraymap.c), unless the map has
 * BPF_F_PRESERVE_ELEMS. So closing a file of our own deletes exactly our
 * entries. If another process has replaced some of our entries, its entries
 * stay. Only the last close deletes entries, so entries stay while a forked
 * child still has the fd. */
#ifndef UVPERF_LIB_RING_BPF_MAP_H
#define UVPERF_LIB_RING_BPF_MAP_H

#include <stdint.h>

#include "uvperf/error.h"

typedef struct uvperf__bpf_map_s {
  int fd;             /* -1: it is closed */
  int is_own;         /* the file is ours alone */
  int keeps;          /* BPF_F_PRESERVE_ELEMS: entries stay when it is closed */
  int is_ring;        /* BPF_MAP_TYPE_RINGBUF */
  int is_overwritten; /* BPF_F_RB_OVERWRITE: a ring of the newest records */
  uint32_t max_entries; /* of a ring: bytes */
} uvperf__bpf_map_t;

/* Opens a map by the caller's fd, which may be closed afterwards. If that fd is
 * -1, opens the map by the path where it is pinned. Our file has the same
 * access as the caller's file. If the caller's file is read-only, put fails.
 * A ring buffer is refused unless may_be_ring is set. Returns 0. On failure
 * returns a code and the error, and map->fd is -1. */
int uvperf__bpf_map_open(uvperf__bpf_map_t *map, int fd, const char *path,
                         int may_be_ring, uvperf_error_t *error);

/* Puts an event under a key. Returns 0, or a code and the error. */
int uvperf__bpf_map_put(const uvperf__bpf_map_t *map, uint32_t key,
                        int event_fd, uvperf_error_t *error);

/* Deletes the entry of a key, if there is one. Returns 0, or a code and the
 * error. */
int uvperf__bpf_map_take(const uvperf__bpf_map_t *map, uint32_t key,
                         uvperf_error_t *error);

/* Whether closing the map deletes the entries that were put through it. */
int uvperf__bpf_map_clears(const uvperf__bpf_map_t *map);

/* Closes the map, if it is open. */
void uvperf__bpf_map_close(uvperf__bpf_map_t *map);

#endif
