/* SPDX-License-Identifier: MIT */
/* A BPF program that writes numbered payloads into one or two maps of the type
 * BPF_MAP_TYPE_PERF_EVENT_ARRAY, any number in one system call, to compare
 * readers of such maps. Uses bpf(2) by libbpf, which every user of this also
 * reads with. Asserts nothing: functions return 0 or -errno. */
#ifndef UVPERF_BENCH_BPF_NUMBERED_H
#define UVPERF_BENCH_BPF_NUMBERED_H

#include <stddef.h>
#include <stdint.h>

#define BPF_NUMBERED_MAPS  2
#define BPF_NUMBERED_LEAST 16
/* More than a record can hold: 65516, if it has only the payload. */
#define BPF_NUMBERED_MOST 72000

/* The program sends the first `size` bytes of it. The bytes after this head are
 * bpf_numbered_byte of their index. */
typedef struct bpf_numbered_payload_s {
  uint64_t number; /* from 0 on, of this CPU */
  uint32_t cpu;
  uint32_t size;
  uint8_t bytes[BPF_NUMBERED_MOST - BPF_NUMBERED_LEAST];
} bpf_numbered_payload_t;

/* Shared by the program and its user, for each CPU. */
typedef struct bpf_numbered_state_s {
  uint64_t next; /* the next payload's number: how many were handed out */
  uint32_t least;
  uint32_t span; /* sizes are below least + span */
  /* For each map: how often the ring had no room, how often
   * bpf_perf_event_output() failed otherwise, and its last such code. */
  struct {
    uint64_t full;
    uint64_t refused;
    int64_t code;
  } to[BPF_NUMBERED_MAPS];
  bpf_numbered_payload_t payload;
} bpf_numbered_state_t;

typedef struct bpf_numbered_s {
  int maps[BPF_NUMBERED_MAPS];
  size_t nr_maps;
  int prog;
  int state;                    /* the map of states */
  bpf_numbered_state_t *states; /* by CPU id */
  size_t nr_states;
} bpf_numbered_t;

/* Makes the maps with this number of entries (0: one for each possible CPU),
 * and the program. Sizes of payloads are from least to most. */
int bpf_numbered_open(bpf_numbered_t *numbered, size_t nr_maps,
                      uint32_t entries, uint32_t least, uint32_t most);
void bpf_numbered_close(bpf_numbered_t *numbered);

/* Sends nr payloads, each to all maps, on the CPU that the calling thread is
 * pinned to. */
int bpf_numbered_send(const bpf_numbered_t *numbered, uint32_t nr);

uint8_t bpf_numbered_byte(size_t index);

/* The number of the payload if it is whole, otherwise UINT64_MAX. `size` is the
 * kernel's, with padding. */
uint64_t bpf_numbered_check(const void *data, size_t size, uint32_t cpu);

#endif
