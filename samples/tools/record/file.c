/* SPDX-License-Identifier: MIT */
/* The file begins with the header, followed by the data. perf(1) expects the
 * table of features right after the data, and attrs and ids where the header
 * points.
 *
 * While data still come, the attrs and ids are some distance after the data.
 * Before the data reach them, or when there are new attrs or ids, all are
 * written again further back. Then one write(2) makes the header point to the
 * new place. So the file can be read even if the program is killed at any
 * moment. Closing puts features, attrs and ids right after the data, and
 * truncates the file there. */
#include "record/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/memory.h"
#include "record/features.h"
#include "record/output.h"
#include "record/state.h"

/* struct perf_file_section and struct perf_file_header of
 * tools/perf/util/header.h. */
typedef struct section_s {
  uint64_t offset;
  uint64_t size;
} section_t;

typedef struct header_s {
  uint64_t magic;
  uint64_t size;
  uint64_t attr_size; /* with the section_t of its ids */
  section_t attrs;
  section_t data;
  section_t event_types;
  uint64_t features[4];
} header_t;

/* PERF_RECORD_FINISHED_ROUND of tools/lib/perf/include/perf/event.h. */
#define FINISHED_ROUND 68

/* The distance of the attrs from the data. If the distance is too large, a
 * limit of the file's size is reached early. If the distance is too small, the
 * attrs are moved often. */
#define LEAST_GAP ((uint64_t)64 << 10)
#define MOST_GAP  ((uint64_t)64 << 20)

record_file_t *record_file_open(const char *path) {
  record_file_t *file;
  int fd, is_pipe;

  fd = record_output_open(path, &is_pipe);
  if (fd < 0)
    return NULL;
  file = common_calloc(1, sizeof(*file));
  file->fd = fd;
  file->is_pipe = is_pipe;
  file->output.fd = fd;
  file->buffer = common_calloc(1, RECORD_BUFFER_BYTES);
  file->end = is_pipe ? 0 : sizeof(header_t);
  file->attrs_changed = 1;
  file->first_time = UINT64_MAX;
  file->build_ids = record_build_ids_new();
  return file;
}

static int fail(record_file_t *file, int rc) {
  if (file->error == 0)
    file->error = rc;
  return rc;
}

/* -- the header, attrs and ids --------------------------------------------- */

static int write_header(record_file_t *file, uint64_t features) {
  header_t header;
  size_t done;

  memset(&header, 0, sizeof(header));
  header.magic = RECORD_MAGIC;
  header.size = sizeof(header);
  header.attr_size = file->attr_size + sizeof(section_t);
  header.attrs.offset = file->attrs_offset;
  header.attrs.size = file->attrs_bytes;
  header.data.offset = sizeof(header);
  header.data.size = file->end - sizeof(header);
  header.features[0] = features;
  return record_output_at(file->fd, 0, &header, sizeof(header), &done);
}

/* Sets the place of attrs and ids. */
static void place_attrs(record_file_t *file, uint64_t offset,
                        uint64_t attrs_bytes, uint64_t end) {
  file->attrs_offset = offset;
  file->attrs_bytes = attrs_bytes;
  file->attrs_end = end;
  file->attr_size = record_events_attr_size(&file->events);
  file->attrs_changed = 0;
}

static int write_attrs_at(record_file_t *file, uint64_t offset) {
  common_buffer_t bytes = {NULL, 0, 0};
  size_t attrs_bytes, done;
  int rc;

  attrs_bytes = record_events_put(&file->events, offset, &bytes);
  rc = record_output_at(file->fd, offset, bytes.text, bytes.used, &done);
  if (rc == 0)
    place_attrs(file, offset, attrs_bytes, offset + bytes.used);
  common_buffer_free(&bytes);
  return rc;
}

/* Finds a place after `least` that does not overlap the current attrs, which
 * are valid until the header is written. */
static uint64_t free_place(const record_file_t *file, uint64_t least,
                           uint64_t gap) {
  uint64_t size = record_events_bytes(&file->events);
  uint64_t place = (least + gap + 7) / 8 * 8;

  if (place + size <= file->attrs_offset || place >= file->attrs_end)
    return place;
  return (file->attrs_end + gap + 7) / 8 * 8;
}

/* The file's size may be limited, so this tries smaller gaps until the attrs
 * fit. */
static int move_attrs(record_file_t *file, uint64_t least) {
  uint64_t gap = least / 4 + 4 * record_events_bytes(&file->events);
  int rc;

  gap = gap < LEAST_GAP ? LEAST_GAP : gap > MOST_GAP ? MOST_GAP : gap;
  for (;;) {
    rc = write_attrs_at(file, free_place(file, least, gap));
    if (rc != -EFBIG || gap == 0)
      return rc == 0 ? write_header(file, 0) : rc;
    gap /= 2;
  }
}

/* -- records --------------------------------------------------------------- */

/* The number of bytes that are whole records. */
static size_t whole_records(const unsigned char *bytes, size_t size) {
  struct perf_event_header header;
  size_t used = 0;

  while (size - used >= sizeof(header)) {
    memcpy(&header, bytes + used, sizeof(header));
    if (header.size > size - used)
      break;
    used += header.size;
  }
  return used;
}

/* Appends whole records to the data, after moving the attrs if necessary. */
static int append(record_file_t *file, const unsigned char *bytes,
                  size_t size) {
  uint64_t end = file->end + size;
  size_t done;
  int rc = 0;

  if (file->attrs_changed || end > file->attrs_offset)
    rc = move_attrs(file, end);
  if (rc != 0)
    return rc;
  rc = record_output_at(file->fd, file->end, bytes, size, &done);
  file->end += whole_records(bytes, done);
  if (rc == 0)
    return write_header(file, 0);
  write_header(file, 0); /* covers the bytes that were written */
  return rc;
}

/* If the file's size is limited and not all records fit, writes as many records
 * as fit. */
static int flush_file(record_file_t *file) {
  size_t done = 0, size = file->used;
  uint64_t start = file->end;
  int rc;

  do {
    rc = append(file, file->buffer + done, size);
    done = (size_t)(file->end - start);
    size = size / 2 < file->used - done ? size / 2 : file->used - done;
    size =
        rc == 0 ? file->used - done : whole_records(file->buffer + done, size);
  } while (size > 0 && (rc == 0 || rc == -EFBIG));
  file->used = 0;
  return rc;
}

static int flush(record_file_t *file) {
  int rc;

  if (file->error != 0)
    return file->error;
  rc = file->is_pipe ? record_pipe_push(file) : flush_file(file);
  return fail(file, rc);
}

/* A pipe begins with the contents of a file's header. */
static int begin_pipe(record_file_t *file) {
  file->has_begun = 1;
  return fail(file, record_pipe_begin(file));
}

static void inspect(record_file_t *file, const struct perf_event_header *header,
                    const void *bytes) {
  uint64_t time;

  if (header->type == PERF_RECORD_MMAP || header->type == PERF_RECORD_MMAP2)
    record_build_ids_map(file->build_ids, bytes, header->size);
  if (header->type != PERF_RECORD_SAMPLE || !file->has_time ||
      file->time_offset + sizeof(time) > header->size)
    return;
  memcpy(&time, (const char *)bytes + file->time_offset, sizeof(time));
  file->first_time = time < file->first_time ? time : file->first_time;
  file->last_time = time > file->last_time ? time : file->last_time;
}

/* Buffers a record until a system call is worth it. */
static int put(record_file_t *file, const void *bytes, size_t size) {
  int rc;

  if (file->is_pipe)
    return fail(file, record_pipe_write(file, bytes, size));
  if (RECORD_BUFFER_BYTES - file->used < size) {
    rc = flush(file);
    if (rc != 0)
      return rc;
  }
  memcpy(file->buffer + file->used, bytes, size);
  file->used += size;
  return 0;
}

int record_file_write(record_file_t *file, const void *bytes, size_t size) {
  struct perf_event_header header;
  int rc;

  if (file->error != 0)
    return file->error;
  if (size < sizeof(header))
    return -EINVAL;
  memcpy(&header, bytes, sizeof(header));
  if (header.size != size || size % sizeof(uint64_t) != 0)
    return -EINVAL;
  if (file->is_pipe && !file->has_begun) {
    rc = begin_pipe(file);
    if (rc != 0)
      return rc;
  }
  rc = put(file, bytes, size);
  if (rc == 0)
    inspect(file, &header, bytes);
  return rc;
}

void record_file_hurry(record_file_t *file, int is_hurried) {
  file->is_hurried = is_hurried;
}

int record_file_round(record_file_t *file) {
  struct perf_event_header header = {FINISHED_ROUND, 0, sizeof(header)};

  return record_file_write(file, &header, sizeof(header));
}

uint64_t record_file_bytes(const record_file_t *file) {
  return file->end + file->used;
}

int record_file_sync(record_file_t *file) {
  int rc = file->error;

  if (rc == 0 && file->is_pipe && !file->has_begun)
    rc = begin_pipe(file);
  return rc == 0 ? flush(file) : rc;
}

/* -- events ---------------------------------------------------------------- */

size_t record_file_add_event(record_file_t *file,
                             const struct perf_event_attr *attr,
                             const char *name) {
  size_t index = record_events_add(&file->events, attr, name);

  file->attrs_changed = 1;
  file->has_time = record_events_time(&file->events, &file->time_offset) == 0;
  return index;
}

void record_file_set_group(record_file_t *file, size_t leader,
                           size_t nr_members) {
  file->events.events[leader].nr_members = nr_members;
}

void record_file_add_id(record_file_t *file, size_t event, uint64_t id) {
  record_event_t *of = &file->events.events[event];

  *COMMON_ADD(of->ids, of->nr_ids, of->id_capacity) = id;
  if (file->has_begun)
    fail(file, record_pipe_add_id(file, event, id));
  else
    file->attrs_changed = 1;
}

/* -- the end --------------------------------------------------------------- */

/* Writes features, attrs and ids in one piece. The header is changed only
 * afterwards. So if there is no room, the old attrs and ids remain valid. */
static int finish_file(record_file_t *file) {
  common_buffer_t bytes = {NULL, 0, 0};
  uint64_t features, end, attrs;
  size_t attrs_bytes, done;
  int rc = 0;

  features = record_features_put(file, file->end, &bytes);
  record_bytes_align(&bytes, sizeof(uint64_t));
  attrs = file->end + bytes.used;
  attrs_bytes = record_events_put(&file->events, attrs, &bytes);
  end = file->end + bytes.used;
  if (end > file->attrs_offset)
    rc = move_attrs(file, end);
  if (rc == 0)
    rc = record_output_at(file->fd, file->end, bytes.text, bytes.used, &done);
  common_buffer_free(&bytes);
  if (rc == 0) {
    place_attrs(file, attrs, attrs_bytes, end);
    rc = write_header(file, features);
  }
  if (rc == 0 && ftruncate(file->fd, (off_t)end) != 0)
    rc = -errno;
  return rc;
}

int record_file_close(record_file_t *file, char **argv) {
  int rc;

  file->argv = argv;
  rc = record_file_sync(file);
  if (rc == 0)
    rc = file->is_pipe ? record_pipe_end(file) : finish_file(file);
  if (rc == 0 && file->is_pipe)
    rc = record_pipe_drain(file);
  if (close(file->fd) != 0 && rc == 0 && errno != EINTR)
    rc = -errno;
  record_events_free(&file->events);
  record_build_ids_free(file->build_ids);
  free(file->buffer);
  common_buffer_free(&file->output.buffer);
  free(file);
  return rc;
}
