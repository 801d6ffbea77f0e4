/* SPDX-License-Identifier: MIT */
/* A map of the type BPF_MAP_TYPE_PERF_EVENT_ARRAY, held by an fd, into
 * which events are put.
 *
 * An entry dies with the file by which it was put (perf_event_fd_array_release
 * in kernel/bpf/arraymap.c), unless the map has BPF_F_PRESERVE_ELEMS. By a file
 * of one's own that takes exactly one's own entries out, also where somebody
 * else has replaced some, and by nobody's doing but the last close of it: a
 * child that was forked and still has the fd keeps them. */
#ifndef UVPERF_LIB_RING_BPF_MAP_H
#define UVPERF_LIB_RING_BPF_MAP_H

#include <stdint.h>

#include "uvperf/error.h"

typedef struct uvperf__bpf_map_s {
  const char *root; /* of /proc; "" is the real one; must last */
  int fd;           /* -1: it is closed */
  int is_own;       /* nobody else has the file */
  int keeps;        /* BPF_F_PRESERVE_ELEMS: entries stay when it is closed */
  uint32_t max_entries;
} uvperf__bpf_map_t;

/* By an fd, which is the caller's and may be closed then, or, if that is -1, by
 * the path where it is pinned. A file of one's own has the same access as the
 * caller's: one that may only read makes put fail. 0, or a code and the error,
 * with fd -1. */
int uvperf__bpf_map_open(uvperf__bpf_map_t *map, const char *root, int fd,
                         const char *path, uvperf_error_t *error);

/* Puts an event under a key. 0, or a code and the error. */
int uvperf__bpf_map_put(const uvperf__bpf_map_t *map, uint32_t key,
                        int event_fd, uvperf_error_t *error);

/* Takes out what is under a key; nothing may be there. 0, or a code and the
 * error. */
int uvperf__bpf_map_take(const uvperf__bpf_map_t *map, uint32_t key,
                         uvperf_error_t *error);

/* Whether closing the map takes out what was put by it. */
int uvperf__bpf_map_clears(const uvperf__bpf_map_t *map);

/* Closes it, once or again. */
void uvperf__bpf_map_close(uvperf__bpf_map_t *map);

#endif
