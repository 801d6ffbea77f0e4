/* SPDX-License-Identifier: MIT */
/* Maps of the type BPF_MAP_TYPE_PERF_EVENT_ARRAY, and programs that write into
 * them, made of raw instructions and run by BPF_PROG_TEST_RUN: no clang, no
 * libbpf. Programs run on the caller's CPU: pin it (live_pin). They may run on
 * several CPUs at once; each CPU has a state of its own. */
#ifndef UVPERF_TEST_LIVE_BPF_ARRAY_H
#define UVPERF_TEST_LIVE_BPF_ARRAY_H

#include <stddef.h>
#include <stdint.h>

#include "support.h"

/* Returns the fd of a map with this number of entries; 0 means one for each
 * possible CPU. Skips the test if programs cannot be loaded, CPUs cannot be
 * measured, or the map cannot be made: call it before anything is opened. */
int live_bpf_array_make(const char *test, uint32_t entries);
/* Skips the test if this process cannot open a second file of a map, which
 * needs CAP_SYS_ADMIN. Call it before anything is opened. */
void live_bpf_array_need_files(const char *test);
/* Puts an event into an entry; removes the entry. Both return 0 or -errno. */
int live_bpf_array_put(int array, uint32_t index, int fd);
int live_bpf_array_take(int array, uint32_t index);

/* -- single payloads ------------------------------------------------------ */

/* A program that sends a payload of any size up to LIVE_BPF_TOO_MUCH, which no
 * record holds: the kernel writes it over records in the ring. */
#define LIVE_BPF_MOST     60000
#define LIVE_BPF_TOO_MUCH 66000
typedef struct live_bpf_output_s {
  int prog;
  int map;     /* holds its state */
  void *state; /* that map, mapped */
  size_t state_bytes;
} live_bpf_output_t;

/* Opens a program that writes into the entry of the CPU it runs on. */
void live_bpf_output_open(live_bpf_output_t *output, int array);
void live_bpf_output_close(live_bpf_output_t *output);

/* Runs it once, on the caller's CPU. Returns what bpf_perf_event_output()
 * returned: 0, -ENOENT, -E2BIG, -ENOSPC… */
int live_bpf_output(const live_bpf_output_t *output, const void *payload,
                    size_t size);
/* The same with this index instead of BPF_F_CURRENT_CPU. */
int live_bpf_output_to(const live_bpf_output_t *output, uint32_t index,
                       const void *payload, size_t size);
/* Runs it on this CPU, to which it pins the caller meanwhile. */
int live_bpf_output_on(const live_bpf_output_t *output, int cpu,
                       const void *payload, size_t size);

/* Sends nr numbers, each an unsigned int, from CPU 0 as soon as there is a
 * reader. For a child: 0, or 1 if that fails. */
int live_bpf_output_numbers(const live_bpf_output_t *output, unsigned int first,
                            unsigned int nr);

/* -- numbered payloads ---------------------------------------------------- */

/* A program that writes numbered payloads, many in one system call. Each begins
 * with a live_bpf_numbered_t, or with the part of it that fits into the
 * payload's size (at least 8 bytes: the number). The bytes after it are
 * live_bpf_byte(number, i). */
typedef struct live_bpf_numbered_s {
  uint64_t number; /* from 0 on, for each CPU; refused ones are numbered too */
  uint32_t cpu;
  uint32_t size; /* of the whole payload, this struct included */
} live_bpf_numbered_t;

typedef struct live_bpf_producer_s {
  live_bpf_output_t output; /* program and state */
  int is_ring;              /* it writes into a BPF ring buffer */
  uint32_t least;
  uint32_t most;
  uint8_t *pattern; /* payloads are copied from it */
} live_bpf_producer_t;

/* Sizes go from least to most, depending on the number, and may be odd: at
 * least 8, at most LIVE_BPF_MOST. */
void live_bpf_producer_open(live_bpf_producer_t *producer, int array,
                            uint32_t least, uint32_t most);
/* The same for a BPF ring buffer (live_bpf_ring.h), by bpf_ringbuf_output(),
 * with any size from 1 on: payloads below 8 bytes have no number. What it
 * returns is counted in the same way: -EAGAIN if there was no room. */
void live_bpf_producer_open_ring(live_bpf_producer_t *producer, int ring,
                                 uint32_t least, uint32_t most);
/* Sets the flags of the calls from now on: BPF_RB_NO_WAKEUP and others. */
void live_bpf_producer_set_flags(const live_bpf_producer_t *producer,
                                 uint64_t flags);
void live_bpf_producer_close(live_bpf_producer_t *producer);

/* Runs it nr times on the caller's CPU, where no other thread may run it
 * meanwhile. Never fails the test, so any thread and child may call it. Returns
 * 0 or -errno of bpf(2). */
int live_bpf_producer_run(const live_bpf_producer_t *producer, uint64_t nr);
/* The same on this CPU. */
int live_bpf_producer_run_on(const live_bpf_producer_t *producer, int cpu,
                             uint64_t nr);

/* How often it ran on a CPU, and how often bpf_perf_event_output() returned
 * this code: 0, -ENOENT (no entry), -ENOSPC (the kernel counts it as lost)… May
 * be called while it runs. */
uint64_t live_bpf_producer_runs(const live_bpf_producer_t *producer, int cpu);
uint64_t live_bpf_producer_gave(const live_bpf_producer_t *producer, int cpu,
                                int code);

/* The size of a payload, and its i-th byte, counted after the header. */
uint32_t live_bpf_producer_size(const live_bpf_producer_t *producer,
                                uint64_t number);
uint8_t live_bpf_byte(uint64_t number, size_t i);

/* Returns 1 and its number if this is, byte for byte, a payload that was
 * written on this CPU, with the kernel's padding; otherwise 0. The caller
 * checks that the number is the expected one. With a ring buffer the payloads
 * have at least 16 bytes and no padding, and name their CPU. */
int live_bpf_producer_check(const live_bpf_producer_t *producer, int cpu,
                            const void *data, size_t size, uint64_t *number);

#endif
