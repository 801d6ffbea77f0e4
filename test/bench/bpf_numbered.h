/* SPDX-License-Identifier: MIT */
/* A BPF program that writes numbered payloads into a map of the type
 * BPF_MAP_TYPE_PERF_EVENT_ARRAY or BPF_MAP_TYPE_RINGBUF, any number in one
 * system call, to compare readers of such maps. Uses bpf(2) by libbpf, which is
 * one of them. Functions return 0 or -errno. */
#ifndef UVPERF_BENCH_BPF_NUMBERED_H
#define UVPERF_BENCH_BPF_NUMBERED_H

#include <stddef.h>
#include <stdint.h>

#define BPF_NUMBERED_BYTES 64

/* Shared by the program and its user, for each CPU. */
typedef struct bpf_numbered_state_s {
  uint64_t next; /* the next payload's number: how many were handed out */
  uint64_t full; /* how often the ring had no room */
  uint8_t payload[BPF_NUMBERED_BYTES]; /* the number first */
} bpf_numbered_state_t;

typedef struct bpf_numbered_s {
  int map;
  int prog;
  int state;                    /* the map of states */
  bpf_numbered_state_t *states; /* by CPU id */
  size_t nr_states;
} bpf_numbered_t;

/* Makes the map, with an entry for each possible CPU, and the program. With
 * ring_bytes above 0 the map is a ring buffer of so many bytes. */
int bpf_numbered_open(bpf_numbered_t *numbered, uint32_t ring_bytes);
void bpf_numbered_close(bpf_numbered_t *numbered);

/* Sends nr payloads on the CPU that the calling thread is pinned to. */
int bpf_numbered_send(const bpf_numbered_t *numbered, uint32_t nr);

#endif
