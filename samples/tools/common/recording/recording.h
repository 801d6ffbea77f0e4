/* SPDX-License-Identifier: MIT */
/* Reads a perf.data file, or one that comes through a pipe, and gives its
 * records in the order of time. It may be of another machine: of the other byte
 * order, or with events that this kernel does not know. It may be cut off or
 * damaged: every offset, size and count is checked. Source: tools/perf/
 * Documentation/perf.data-file-format.txt. */
#ifndef RECORDING_RECORDING_H
#define RECORDING_RECORDING_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf.h"

typedef struct recording_s recording_t;

typedef struct recording_event_s {
  const struct perf_event_attr *attr; /* attr->size bytes */
  const char *name;                   /* "cycles:P"; "" if not in the file */
  const uint64_t *ids;
  size_t nr_ids;
} recording_event_t;

/* Opens a file of either format, or "-" (stdin) or a FIFO with perf's format of
 * pipes. 0, or -1 with a message such as "perf.data: not made by perf record".
 * Nothing waits for a pipe, not even for its header. */
int recording_open(recording_t **recording, const char *path, char *message,
                   size_t message_bytes);
void recording_free(recording_t *recording);

/* In the order of the file; more can come with the records of a pipe. */
size_t recording_nr_events(const recording_t *recording);
void recording_event(const recording_t *recording, size_t i,
                     recording_event_t *event);

/* A pipe has nothing now: wait until recording_fd can be read. */
#define RECORDING_WAIT 2

/* The next record in the order of time: 1, and *record until the next call; 0
 * at the end; -1 where a file is cut off or damaged, after all that came
 * before; RECORDING_WAIT. Records without a time stamp, as perf(1) makes them
 * of what runs already, come where they are in the file. */
int recording_next(recording_t *recording, const uvperf_record_t **record);

/* What is wrong, with the path before it; "" if nothing is. After -1 it says
 * why; but it can also say that a file was not ended. */
const char *recording_message(const recording_t *recording);

/* The fd of a pipe, for poll; -1 of a file. */
int recording_fd(const recording_t *recording);

/* The event that wrote a record; SIZE_MAX if it is not known. */
size_t recording_event_of(const recording_t *recording,
                          const uvperf_record_t *record);

/* Features of the header, NULL or 0 if the file does not have them. */
const char *recording_arch(const recording_t *recording);    /* uname -m */
const char *recording_release(const recording_t *recording); /* uname -r */
const char *recording_hostname(const recording_t *recording);

/* Whether it was recorded by a machine of the other byte order. The raw data of
 * samples are still in that order. */
int recording_is_foreign(const recording_t *recording);

/* The format of a tracepoint, as tracefs had it where the file was recorded. */
typedef struct recording_format_s {
  const char *category;
  const char *text; /* of so many bytes; does not end in NUL */
  size_t bytes;
} recording_format_t;

/* Finds it by attr->config: 1, and it lives as long as the recording or, of a
 * pipe, until the next record; or 0. Anyone may have written it. */
int recording_format(const recording_t *recording, uint64_t id,
                     recording_format_t *format);

/* The build id of a path that was mapped, from the table in the header: its
 * bytes, or 0. The kernel is "[kernel.kallsyms]". */
size_t recording_build_id(recording_t *recording, const char *path,
                          unsigned char build_id[20]);

/* How far it is read: bytes of the file, and of how many (0: a pipe). */
uint64_t recording_offset(const recording_t *recording);
uint64_t recording_bytes(const recording_t *recording);

/* Records that were left out because they make no sense. */
uint64_t recording_damaged(const recording_t *recording);

/* Records that came after a later one. perf.data is ordered by the rings of
 * CPUs only, and at most 256 MiB wait to be put in order. */
uint64_t recording_late(const recording_t *recording);

#endif
