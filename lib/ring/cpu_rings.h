/* SPDX-License-Identifier: MIT */
/* Rings, one for each CPU, into which any number of events write their records.
 * Or the one ring of a BPF ring buffer (bpf_ring.h), for all CPUs.
 *
 * Each ring is owned by an event that does nothing else: a dummy on that CPU.
 * (perf_event_set_output() in kernel/events/core.c requires the same CPU and
 * clock, but not the same task.) The dummy counts nothing, writes nothing, and
 * needs no privileges. It can be opened while its CPU is offline, and it
 * outlives every target.
 *
 * The dummy measures the process's first thread, which usually lives longest,
 * and hangs up when that thread ends. The ring still works: events write into
 * it as before, it can be paused, and more events can join it. But polling the
 * fd of the ring's owner no longer works. So a spare is opened: another dummy
 * that shares the ring. The spare is polled instead. */
#ifndef UVPERF_LIB_RING_CPU_RINGS_H
#define UVPERF_LIB_RING_CPU_RINGS_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf/error.h"
#include "uvperf/record.h"
#include "uvperf/stream.h"

#include "ring/ring.h"
#include "sys/opener.h"

typedef struct uvperf__cpu_rings_s uvperf__cpu_rings_t;

typedef struct uvperf__cpu_ring_s {
  size_t index; /* never changes */
  int cpu;
  int fd;        /* its owner's fd, polled if there is no spare; a BPF map's */
  int spare;     /* fd, or -1 */
  int old_spare; /* fd of the spare before that one, or -1 */
  uvperf__ring_t ring;
  size_t nr_events; /* that write into it now */
  /* The sources whose samples may be in the ring: their number, and the
   * exclusive or of their addresses. If there is only one source, `sources` is
   * its address. */
  size_t nr_sources;
  uintptr_t sources;
  /* Kept by loop/ and the handles. */
  uvperf_stats_t stats;
  uint64_t iteration; /* uvperf__slice_t.iteration of its last record */
  uint64_t mark;      /* its head when ended targets were found */
  /* Records that the kernel had lost at the last read(2), whether or not LOST
   * records report them. */
  uint64_t lost;
  int status; /* 0, or why it is not read any more */
} uvperf__cpu_ring_t;

typedef struct uvperf__cpu_rings_options_s {
  size_t ring_bytes;     /* 0: the default, halved until it can be locked */
  uint32_t wakeup_bytes; /* 0: a quarter of the ring; overwritable: nothing */
  int clockid;           /* of all events; -1: the kernel's own clock */
  int overwrite;         /* overwritable rings: all events write backward */
  size_t above_bytes;    /* a ring must have more bytes; 0: any size */
  uvperf__opener_t opener;
} uvperf__cpu_rings_options_t;

/* Checks the options. Returns 0. If no ring can have ring_bytes, or if
 * ring_bytes is less than twice wakeup_bytes, fills the error and returns
 * -EINVAL. The error uses the names of uvperf_set_options_t and
 * uvperf_bpf_reader_options_t. above_bytes is checked by
 * uvperf__cpu_rings_fit. */
int uvperf__cpu_rings_check(const uvperf__cpu_rings_options_t *options,
                            uvperf_error_t *error);

/* Whether rings of ring_bytes (or of the default size) have more than
 * above_bytes. */
int uvperf__cpu_rings_fit(const uvperf__cpu_rings_options_t *options);

/* Makes the rings from options that were checked. Returns 0 or -ENOMEM. */
int uvperf__cpu_rings_new(uvperf__cpu_rings_t **rings,
                          const uvperf__cpu_rings_options_t *options);

/* Adds the ring of a BPF ring buffer with max_entries of `bytes`, as the ring
 * of CPU -1. The fd of the map is its owner: on success the ring closes it.
 * Returns 0, -ENOMEM, or a code of uvperf__bpf_ring_map. */
int uvperf__cpu_rings_add_map(uvperf__cpu_rings_t *rings, int fd, size_t bytes);

/* Unmaps and closes each ring. In a forked child it only closes the rings,
 * because the child does not have the mappings, except that of a BPF ring
 * buffer. NULL is allowed. */
void uvperf__cpu_rings_free(uvperf__cpu_rings_t *rings);

/* Moves the mappings and fds of all rings to the leftovers. Afterwards the
 * rings can only be freed. */
void uvperf__cpu_rings_give_up(uvperf__cpu_rings_t *rings,
                               uvperf__leftovers_t *leftovers);

/* Finds the ring of a CPU. If there is none, opens one, which stays open.
 * Returns 0 and *ring, whose address never changes. If opening (EMFILE, ENOSYS,
 * EACCES at paranoid 3…) or mapping fails, returns the code and the error. */
int uvperf__cpu_rings_get(uvperf__cpu_rings_t *rings, int cpu,
                          uvperf__cpu_ring_t **ring, uvperf_error_t *error);

/* Returns the ring of a CPU, or NULL. */
uvperf__cpu_ring_t *uvperf__cpu_rings_find(const uvperf__cpu_rings_t *rings,
                                           int cpu);

/* Unmaps and closes the rings from index nr on. Use it for rings that were
 * opened by a call that has failed, and that nothing has used. */
void uvperf__cpu_rings_cut(uvperf__cpu_rings_t *rings, size_t nr);

/* Call it after nr rings were opened, one more failed, and the rings were
 * closed again. Returns 1 if locked memory ran out and smaller rings might fit.
 * In this case the next rings are opened with half the size. Otherwise the next
 * rings are opened with the first size. */
int uvperf__cpu_rings_shrink(uvperf__cpu_rings_t *rings, size_t nr);

/* Makes an event on the ring's CPU write into it (PERF_EVENT_IOC_SET_OUTPUT),
 * and counts it. Returns 0 or -errno. Call uvperf__cpu_ring_leave when the
 * event is being closed. */
int uvperf__cpu_ring_join(uvperf__cpu_ring_t *ring, int fd);
void uvperf__cpu_ring_leave(uvperf__cpu_ring_t *ring);

/* Adds a source whose samples may be in the ring from now on. Remove the source
 * when the ring has no more samples of it. */
void uvperf__cpu_ring_add_source(uvperf__cpu_ring_t *ring,
                                 const uvperf_source_t *source);
void uvperf__cpu_ring_remove_source(uvperf__cpu_ring_t *ring,
                                    const uvperf_source_t *source);

/* Returns the only source whose samples may be in the ring, or NULL if there is
 * no source or more than one. */
const uvperf_source_t *uvperf__cpu_ring_alone(const uvperf__cpu_ring_t *ring);

/* For uvperf__watch_ops_t.spare. Opens a spare after the polled dummy's thread
 * has ended. Returns the spare's fd, which the ring owns. If opening fails,
 * returns its code. In a forked child returns -EPERM. */
int uvperf__cpu_rings_spare(uvperf__cpu_rings_t *rings, size_t index);

/* Finds the next record for a caller that reads records one by one. First reads
 * the ring *index, up to the head that was read before. Then reads the rings
 * after *index, and reads the head of each ring once. So the rings take turns.
 * The tail of a ring is published when all records up to its head have been
 * read. Returns the result of uvperf__ring_next for the ring *index, or 0 if
 * all rings are empty. */
int uvperf__cpu_rings_next(uvperf__cpu_rings_t *rings, size_t *index,
                           void *scratch, const void **bytes, size_t *size);

/* Whether there are rings, and none of them is read any more. */
int uvperf__cpu_rings_have_ended(const uvperf__cpu_rings_t *rings);

size_t uvperf__cpu_rings_nr(const uvperf__cpu_rings_t *rings);
/* Returns the index-th ring. */
uvperf__cpu_ring_t *uvperf__cpu_rings_at(const uvperf__cpu_rings_t *rings,
                                         size_t index);

#endif
