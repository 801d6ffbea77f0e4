/* SPDX-License-Identifier: MIT */
/* Writes a perf.data file as perf(1) reads it: header, attrs with ids, records,
 * features. Knows the format, but neither events nor the loop. Source:
 * tools/perf/Documentation/perf.data-file-format.txt. */
#ifndef RECORD_FILE_H
#define RECORD_FILE_H

#include <stddef.h>
#include <stdint.h>

#include <linux/perf_event.h>

typedef struct record_file_s record_file_t;

/* Creates the file. An old file is renamed to PATH.old, as with perf record.
 * The format of pipes is written to a FIFO, to a device such as /dev/null, and
 * to "-" (stdout). Returns NULL after a message. The program must ignore
 * SIGPIPE and SIGXFSZ. */
record_file_t *record_file_open(const char *path);

/* Adds an event: its attr (copied, attr->size bytes) and name. Returns its
 * index: 0, 1, ... */
size_t record_file_add_event(record_file_t *file,
                             const struct perf_event_attr *attr,
                             const char *name);

/* Makes a group of `leader` and the nr_members - 1 events after it. */
void record_file_set_group(record_file_t *file, size_t leader,
                           size_t nr_members);

/* Adds an id of an event. Ids can be added until close, because a CPU that
 * comes back has new ids. In a pipe, an id after the first record makes another
 * event with the same attr and name. But a late id of a tracepoint is dropped
 * in a pipe, and readers cannot use its samples. */
void record_file_add_id(record_file_t *file, size_t event, uint64_t id);

/* Writes one record, from the kernel or synthesized. Returns 0, or -errno of
 * this write or of an earlier write (a full disk, for example). After a failed
 * write, nothing more is written. If a record has no sound header, it is left
 * out and -EINVAL is returned, because perf(1) would stop at this record. */
int record_file_write(record_file_t *file, const void *bytes, size_t size);

/* Chooses whether writes to a pipe wait. Bytes that a slow reader does not take
 * are kept in memory. If there are many such bytes, each write waits for a
 * moment, so that the reader catches up. With 1 writes never wait. Use 1 when
 * waiting would lose records, or when there is no time. Initially 0. */
void record_file_hurry(record_file_t *file, int is_hurried);

/* Ends a round (PERF_RECORD_FINISHED_ROUND): all later records are younger than
 * the records of two rounds before. */
int record_file_round(record_file_t *file);

/* The number of bytes so far. */
uint64_t record_file_bytes(const record_file_t *file);

/* Writes all buffered records, so that perf(1) can read the file now, even if
 * this program is killed. With tracepoints perf(1) cannot read the file before
 * it is closed, because perf(1) needs their formats, which are features. */
int record_file_sync(record_file_t *file);

/* Writes features, attrs and header, closes the file and frees the struct. argv
 * is the program's own. Returns 0, or -errno of the first failure. It is
 * -EAGAIN if the reader of a pipe does not read. Bytes from before the failure
 * can be read. */
int record_file_close(record_file_t *file, char **argv);

#endif
