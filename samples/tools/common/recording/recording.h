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

/* Opens "-" (stdin, in perf's pipe format), or a file of either format. 0, or
 * -1 with a message such as "perf.data: not made by perf record". */
int recording_open(recording_t **recording, const char *path, char *message,
                   size_t message_bytes);
void recording_free(recording_t *recording);

/* In the order of the file; more can come with the records of a pipe. */
size_t recording_nr_events(const recording_t *recording);
void recording_event(const recording_t *recording, size_t i,
                     recording_event_t *event);

/* The next record in the order of time: 1, and *record until the next call; 0 at
 * the end; -1 with recording_message. record->source is one of the events
 * (index in source->data is not promised: use recording_event_of). */
int recording_next(recording_t *recording, const uvperf_record_t **record);
const char *recording_message(const recording_t *recording);

/* The event that wrote a record; SIZE_MAX if it is not known. */
size_t recording_event_of(const recording_t *recording,
                          const uvperf_record_t *record);

/* Features of the header, NULL or 0 if the file does not have them. */
const char *recording_arch(const recording_t *recording);    /* uname -m */
const char *recording_release(const recording_t *recording); /* uname -r */
const char *recording_hostname(const recording_t *recording);

/* The build id of a path that was mapped, from the table in the header: its
 * bytes, or 0. pid UINT32_MAX is any; the kernel is "[kernel.kallsyms]". */
size_t recording_build_id(const recording_t *recording, const char *path,
                          unsigned char build_id[20]);

/* How far it is read: bytes of the file, and of how many (0: a pipe). */
uint64_t recording_offset(const recording_t *recording);
uint64_t recording_bytes(const recording_t *recording);

/* What was not used: records of types that are not of the kernel and that do not
 * matter here are not counted. */
uint64_t recording_damaged(const recording_t *recording);

#endif
