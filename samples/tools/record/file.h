/* SPDX-License-Identifier: MIT */
/* Writes a perf.data file as perf(1) reads it: header, attrs with ids, records,
 * features. Knows the format and no events, no loop. Source:
 * tools/perf/Documentation/perf.data-file-format.txt. */
#ifndef RECORD_FILE_H
#define RECORD_FILE_H

#include <stddef.h>
#include <stdint.h>

#include <linux/perf_event.h>

typedef struct record_file_s record_file_t;

/* Creates the file; an old one becomes PATH.old, as with perf record. A FIFO, a
 * device such as /dev/null, and "-", which is stdout, get the format of pipes.
 * NULL after a message. SIGPIPE and SIGXFSZ are to be ignored. */
record_file_t *record_file_open(const char *path);

/* An event: its attr (copied, attr->size bytes) and name. Its index: 0, 1,
 * ... */
size_t record_file_add_event(record_file_t *file,
                             const struct perf_event_attr *attr,
                             const char *name);

/* The event leads a group: it and the nr_members - 1 events after it. */
void record_file_set_group(record_file_t *file, size_t leader,
                           size_t nr_members);

/* One more id of an event. Ids may come until close (a CPU that comes back has
 * new ones). In the format of pipes those that come after the first record
 * become an event more, of the same attr and name; but those of tracepoints
 * get lost there, with what has them. */
void record_file_add_id(record_file_t *file, size_t event, uint64_t id);

/* One record, as the kernel wrote it or as it was synthesized. 0, or -errno (of
 * now or of an earlier write: a full disk); nothing more is written then. What
 * has no sound header, as perf(1) would stop there, is -EINVAL and left out. */
int record_file_write(record_file_t *file, const void *bytes, size_t size);

/* A pipe's reader may be slow, or not read at all. What it does not take is
 * kept, and when that is much, each write waits for a moment, so that others
 * come in between. With 1 it does not wait: what comes is not to be lost, or
 * there is no time. At first 0. */
void record_file_hurry(record_file_t *file, int is_hurried);

/* All records that are to come are younger than those that came two rounds
 * before (PERF_RECORD_FINISHED_ROUND). */
int record_file_round(record_file_t *file);

/* Bytes so far. */
uint64_t record_file_bytes(const record_file_t *file);

/* Writes what there is out, so that perf(1) can read the file as it is now,
 * also if this program is killed; but for tracepoints, which it reads by their
 * formats, and these come with the features. */
int record_file_sync(record_file_t *file);

/* Features, attrs, header; closes and frees. argv is the program's own. 0, or
 * -errno of the first failure, -EAGAIN if nobody reads a pipe; what was written
 * before it can be read. */
int record_file_close(record_file_t *file, char **argv);

#endif
