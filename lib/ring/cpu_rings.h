/* SPDX-License-Identifier: MIT */
/* Rings, one for each CPU, into which any number of events there write
 * their records. No loop, no uv.h.
 *
 * A ring belongs to an event of its own: a dummy on that CPU
 * (perf_event_set_output() in kernel/events/core.c wants the same CPU and
 * clock, not the same task). It counts nothing and writes nothing, can be
 * opened while its CPU is offline, and outlives every target; it needs no
 * privileges.
 *
 * The dummy measures the process's first thread, which mostly lives longest,
 * and hangs up when that thread ends. The ring goes on: others write into it as
 * before, it can be paused, and more can join it. Only the fd to poll must be
 * another then. */
#ifndef UVPERF_LIB_RING_CPU_RINGS_H
#define UVPERF_LIB_RING_CPU_RINGS_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf/error.h"
#include "uvperf/record.h"
#include "uvperf/stream.h"

#include "ring/ring.h"

typedef struct uvperf__cpu_rings_s uvperf__cpu_rings_t;

typedef struct uvperf__cpu_ring_s {
  size_t index; /* a ring keeps it */
  int cpu;
  int fd;        /* of its owner: the one to poll, if there is no spare */
  int spare;     /* -1, or the fd of a dummy that is polled instead */
  int old_spare; /* -1, or the spare before that one */
  uvperf__ring_t ring;
  size_t nr_events; /* that write into it now */
  /* The sources of samples that may be in it: their number, and the exclusive
   * or of their addresses, which is the address if there is one source. */
  size_t nr_sources;
  uintptr_t sources;
  /* Kept by who drains it. */
  uvperf_stats_t stats;
  uint64_t turn; /* uvperf__slice_t.turn of the last that gave something */
  uint64_t mark; /* its head when ends of targets were found */
  uint64_t lost; /* samples that the kernel had lost when it was last asked,
                  * reported by LOST records or not; 0 in a set */
  int status;    /* why nothing more is read from it; 0: it is read */
} uvperf__cpu_ring_t;

typedef struct uvperf__cpu_rings_options_s {
  const char *root;      /* of /proc and /sys; "" is the real one */
  size_t ring_bytes;     /* 0: the default, halved as far as need be */
  uint32_t wakeup_bytes; /* 0: a quarter of the ring; overwritable: nothing */
  int clockid;           /* that of all events; -1: the kernel's own clock */
  int overwrite;         /* overwritable rings: all events write backward */
  size_t above_bytes;    /* a ring has more bytes than that; 0: any will do */
} uvperf__cpu_rings_options_t;

/* 0, or -EINVAL and the error: a ring of ring_bytes cannot be, or is less than
 * twice wakeup_bytes. The names in the error are those of uvperf_set_options_t
 * and uvperf_bpf_reader_options_t. above_bytes is not looked at:
 * uvperf__cpu_rings_fit. */
int uvperf__cpu_rings_check(const uvperf__cpu_rings_options_t *options,
                            uvperf_error_t *error);

/* Whether rings of ring_bytes (or of the default size) have more than
 * above_bytes. */
int uvperf__cpu_rings_fit(const uvperf__cpu_rings_options_t *options);

/* For options that were checked. 0 or -ENOMEM. */
int uvperf__cpu_rings_new(uvperf__cpu_rings_t **rings,
                          const uvperf__cpu_rings_options_t *options);

/* Unmaps and closes all, in this order for each; in a forked child it leaves
 * the mappings, which it has not got, alone. NULL is allowed. */
void uvperf__cpu_rings_free(uvperf__cpu_rings_t *rings);

/* Finds the ring of a CPU, or opens one, which stays. 0 and *ring, which keeps
 * its address; or a code and the error: what opening (EMFILE, ENOSYS, EACCES at
 * paranoid 3…) or mapping gives. */
int uvperf__cpu_rings_get(uvperf__cpu_rings_t *rings, int cpu,
                          uvperf__cpu_ring_t **ring, uvperf_error_t *error);

/* The ring of a CPU, or NULL. */
uvperf__cpu_ring_t *uvperf__cpu_rings_find(const uvperf__cpu_rings_t *rings,
                                           int cpu);

/* Unmaps and closes the rings from the nr-th on, of which nobody has heard:
 * those that a call opened which has failed. */
void uvperf__cpu_rings_cut(uvperf__cpu_rings_t *rings, size_t nr);

/* When nr rings were opened, one more could not be, and they are closed again:
 * 1 if that was for want of locked memory that smaller ones might leave for it.
 * Then the next are opened half as large; else as large as at first. */
int uvperf__cpu_rings_shrink(uvperf__cpu_rings_t *rings, size_t nr);

/* Has an event on the ring's CPU write into it (PERF_EVENT_IOC_SET_OUTPUT), and
 * counts it. 0 or -errno. uvperf__cpu_ring_leave: the event is being closed. */
int uvperf__cpu_ring_join(uvperf__cpu_ring_t *ring, int fd);
void uvperf__cpu_ring_leave(uvperf__cpu_ring_t *ring);

/* Adds a source whose samples may be in the ring from now on. Remove it when
 * none of them is in the ring any more. */
void uvperf__cpu_ring_add_source(uvperf__cpu_ring_t *ring,
                                 const uvperf_source_t *source);
void uvperf__cpu_ring_remove_source(uvperf__cpu_ring_t *ring,
                                    const uvperf_source_t *source);

/* The only source whose samples may be in the ring; or NULL. */
const uvperf_source_t *uvperf__cpu_ring_alone(const uvperf__cpu_ring_t *ring);

/* The thread of the polled dummy has ended: opens another dummy that shares the
 * ring, for uvperf__watch_ops_t.spare. Returns its fd, which the ring owns; or
 * the code of opening it, or -EPERM in a forked child. */
int uvperf__cpu_rings_spare(uvperf__cpu_rings_t *rings, size_t index);

size_t uvperf__cpu_rings_nr(const uvperf__cpu_rings_t *rings);
/* The index-th ring. */
uvperf__cpu_ring_t *uvperf__cpu_rings_at(const uvperf__cpu_rings_t *rings,
                                         size_t index);

#endif
