/* SPDX-License-Identifier: MIT */
/* Maps of the type BPF_MAP_TYPE_PERF_EVENT_ARRAY, and programs that hand data
 * out by them, made of raw instructions and run by BPF_PROG_TEST_RUN: no clang,
 * no libbpf. Programs run on the CPU of the caller: pin it (live_pin). Those of
 * several CPUs may run at once, each has a state of its own there. */
#ifndef UVPERF_TEST_LIVE_BPF_ARRAY_H
#define UVPERF_TEST_LIVE_BPF_ARRAY_H

#include <stddef.h>
#include <stdint.h>

#include "support.h"

/* The fd of a map with so many entries; 0: as many as there can be CPUs. Skips
 * the test where programs cannot be loaded, CPUs not be measured, or no such
 * map made: call it before anything is opened. */
int live_bpf_array_make(const char *test, uint32_t entries);
/* Skips the test where that is all that this process may have of a map: another
 * file of it takes CAP_SYS_ADMIN. Call it before anything is opened. */
void live_bpf_array_need_files(const char *test);
/* Puts an event into an entry / takes what is there out: 0 or -errno. */
int live_bpf_array_put(int array, uint32_t index, int fd);
int live_bpf_array_take(int array, uint32_t index);

/* -- single payloads ------------------------------------------------------ */

/* A program that hands out a payload of any size up to LIVE_BPF_TOO_MUCH, which
 * no record holds: the kernel writes it over those that are in the ring. */
#define LIVE_BPF_MOST     60000
#define LIVE_BPF_TOO_MUCH 66000
typedef struct live_bpf_output_s {
  int prog;
  int map;     /* of its state */
  void *state; /* that map, mapped */
  size_t state_bytes;
} live_bpf_output_t;

/* One that writes into the entry of the CPU that it runs on. */
void live_bpf_output_open(live_bpf_output_t *output, int array);
void live_bpf_output_close(live_bpf_output_t *output);

/* Runs it once, on the CPU that the caller runs on: what
 * bpf_perf_event_output() gave: 0, -ENOENT, -E2BIG, -ENOSPC… */
int live_bpf_output(const live_bpf_output_t *output, const void *payload,
                    size_t size);
/* The same with the entry's index in place of BPF_F_CURRENT_CPU. */
int live_bpf_output_to(const live_bpf_output_t *output, uint32_t index,
                       const void *payload, size_t size);
/* Runs it on that CPU: pins the caller for the while. */
int live_bpf_output_on(const live_bpf_output_t *output, int cpu,
                       const void *payload, size_t size);

/* -- numbered payloads ---------------------------------------------------- */

/* A program that writes numbered payloads, many in one system call. Each begins
 * with a live_bpf_numbered_t, or with as much of it as its size has room for
 * (8 bytes at least: the number); the bytes behind it are
 * live_bpf_byte(number, i), up to its size. */
typedef struct live_bpf_numbered_s {
  uint64_t number; /* from 0 on, of this CPU; refused ones are numbered too */
  uint32_t cpu;
  uint32_t size; /* of all of the payload, this struct included */
} live_bpf_numbered_t;

typedef struct live_bpf_producer_s {
  live_bpf_output_t output; /* program and state */
  uint32_t least;
  uint32_t most;
  uint8_t *pattern; /* what payloads are cut out of */
} live_bpf_producer_t;

/* Sizes are from least to most, by the number, odd ones too: at least 8, at
 * most LIVE_BPF_MOST. */
void live_bpf_producer_open(live_bpf_producer_t *producer, int array,
                            uint32_t least, uint32_t most);
void live_bpf_producer_close(live_bpf_producer_t *producer);

/* Runs it nr times on the CPU that the caller runs on, where nobody else runs
 * it meanwhile. Fails no test, so that any thread and child may call it: 0 or
 * -errno of bpf(2). */
int live_bpf_producer_run(const live_bpf_producer_t *producer, uint64_t nr);
/* The same on that CPU. */
int live_bpf_producer_run_on(const live_bpf_producer_t *producer, int cpu,
                             uint64_t nr);

/* How often it ran on a CPU, and for how many of these bpf_perf_event_output()
 * gave a code: 0, -ENOENT (no entry), -ENOSPC (the kernel counts it as lost)…
 * May be called while it runs. */
uint64_t live_bpf_producer_runs(const live_bpf_producer_t *producer, int cpu);
uint64_t live_bpf_producer_gave(const live_bpf_producer_t *producer, int cpu,
                                int code);

/* The size of a payload, and what is at i in it, behind the header. */
uint32_t live_bpf_producer_size(const live_bpf_producer_t *producer,
                                uint64_t number);
uint8_t live_bpf_byte(uint64_t number, size_t i);

/* Whether this is, byte by byte, a payload that was written on that CPU, with
 * what the kernel pads it with: 1 and its number, or 0. That the number is the
 * one that was to come is for the caller to look at. */
int live_bpf_producer_check(const live_bpf_producer_t *producer, int cpu,
                            const void *data, size_t size, uint64_t *number);

#endif
