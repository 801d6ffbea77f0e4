/* SPDX-License-Identifier: MIT */
/* Reads a perf.data file or perf's stream for pipes, and returns its records in
 * time order. The file may come from another machine, with the other byte order
 * or with events that this kernel does not know. The file may be cut off or
 * damaged, so every offset, size and count is checked. Source:
 * tools/perf/Documentation/perf.data-file-format.txt. */
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

/* Opens a file of either format. For perf's stream, opens "-" (stdin) or a
 * FIFO. Returns 0, or -1 with a message such as "perf.data: not a perf.data
 * file". It does not wait for a pipe, not even for the header. */
int recording_open(recording_t **recording, const char *path, char *message,
                   size_t message_bytes);
void recording_free(recording_t *recording);

/* The events, in the order of the file. A pipe can add more with its
 * records. */
size_t recording_nr_events(const recording_t *recording);
void recording_event(const recording_t *recording, size_t i,
                     recording_event_t *event);

/* A pipe has no data now: wait until recording_fd is readable. */
#define RECORDING_WAIT 2

/* Finds the next record in time order. Returns 1 and *record, which is valid
 * until the next call. Returns 0 at the end. If a file is cut off or damaged,
 * returns all records before that place, then -1. Returns RECORDING_WAIT if a
 * pipe has no data. Records without a time stamp keep their place in the file.
 * perf(1) writes such records about tasks that already run. */
int recording_next(recording_t *recording, const uvperf_record_t **record);

/* Returns a message with the path, or "" if nothing is wrong. After -1 the
 * message is the reason. Otherwise the message can be a remark, for example
 * that a file was not completed. */
const char *recording_message(const recording_t *recording);

/* Returns the fd of a pipe, for poll, or -1 for a file. */
int recording_fd(const recording_t *recording);

/* Returns the event that wrote a record; SIZE_MAX if it is not known. */
size_t recording_event_of(const recording_t *recording,
                          const uvperf_record_t *record);

/* These return features of the header, or NULL or 0 if the file does not have
 * them. */
const char *recording_arch(const recording_t *recording);    /* uname -m */
const char *recording_release(const recording_t *recording); /* uname -r */
const char *recording_hostname(const recording_t *recording);

/* Returns 1 if the file was recorded on a machine of the other byte order. Raw
 * data of samples keep that byte order. */
int recording_is_foreign(const recording_t *recording);

/* The format of a tracepoint, as tracefs had it where the file was recorded. */
typedef struct recording_format_s {
  const char *category;
  const char *text; /* without a NUL at its end */
  size_t bytes;
} recording_format_t;

/* Finds a format by attr->config. Returns 1, or 0 if there is none. The format
 * is valid as long as the recording. A format from a pipe is valid only until
 * the next record. Do not trust it: anyone may have written it. */
int recording_format(const recording_t *recording, uint64_t id,
                     recording_format_t *format);

/* Finds the build id of a mapped path in the table of the header. Returns its
 * size, or 0. The kernel is "[kernel.kallsyms]". */
size_t recording_build_id(recording_t *recording, const char *path,
                          unsigned char build_id[20]);

/* These return the progress: the number of bytes that are read, and the size of
 * the file (0: a pipe). */
uint64_t recording_offset(const recording_t *recording);
uint64_t recording_bytes(const recording_t *recording);

/* Returns the number of records that were left out because they are damaged. */
uint64_t recording_damaged(const recording_t *recording);

/* Returns the number of records that were returned after a later record.
 * perf.data is ordered only within the ring of each CPU, and at most 256 MiB
 * wait to be put in order. */
uint64_t recording_late(const recording_t *recording);

#endif
