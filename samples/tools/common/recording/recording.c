/* SPDX-License-Identifier: MIT */
#include "common/recording/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/memory.h"
#include "common/recording/internal.h"

static void set_message(recording_t *recording, const char *format,
                        va_list args) {
  int size = snprintf(recording->message, sizeof(recording->message),
                      "%.256s: ", recording->path);

  vsnprintf(recording->message + size,
            sizeof(recording->message) - (size_t)size, format, args);
}

int recording_fail(recording_t *recording, const char *format, ...) {
  va_list args;

  va_start(args, format);
  if (!recording->is_error)
    set_message(recording, format, args);
  va_end(args);
  recording->is_error = 1;
  return -1;
}

void recording_remark(recording_t *recording, const char *format, ...) {
  va_list args;

  va_start(args, format);
  if (recording->message[0] == '\0')
    set_message(recording, format, args);
  va_end(args);
}

/* -- opening --------------------------------------------------------------- */

static int refuse_directory(recording_t *recording) {
  if (faccessat(recording->fd, "data.0", F_OK, 0) == 0)
    return recording_fail(recording,
                          "it is a directory of perf record --threads, which "
                          "cannot be read yet: record without --threads");
  return recording_fail(recording, "it is a directory");
}

static int open_fd(recording_t *recording) {
  int is_stdin = strcmp(recording->path, "-") == 0;
  struct stat stat;

  if (is_stdin) {
    free(recording->path);
    recording->path = strdup("stdin");
    recording->fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
  } else {
    recording->fd = open(recording->path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  }
  if (recording->fd < 0 || fstat(recording->fd, &stat) != 0)
    return recording_fail(recording, "%s", strerror(errno));
  if (S_ISDIR(stat.st_mode))
    return refuse_directory(recording);
  if (isatty(recording->fd))
    return recording_fail(recording, "it is a terminal: pipe from perf record "
                                     "-o -, or give the name of a file");
  recording_input_init(&recording->input, recording->fd,
                       !S_ISREG(stat.st_mode));
  if (!S_ISREG(stat.st_mode))
    return 0;
  recording->file_bytes = (uint64_t)stat.st_size;
  recording->input.end = recording->file_bytes;
  return recording_header_read(recording);
}

int recording_open(recording_t **recording, const char *path, char *message,
                   size_t message_bytes) {
  recording_t *made = common_calloc(1, sizeof(*made));

  made->path = common_copy_text(path);
  made->fd = -1;
  recording_order_init(&made->order);
  if (open_fd(made) == 0) {
    *recording = made;
    return 0;
  }
  snprintf(message, message_bytes, "%s", made->message);
  recording_free(made);
  *recording = NULL;
  return -1;
}

void recording_free(recording_t *recording) {
  if (recording == NULL)
    return;
  recording_input_free(&recording->input);
  recording_events_free(&recording->events);
  recording_features_free(&recording->features);
  recording_formats_free(&recording->formats);
  free(recording->tracing);
  recording_order_free(&recording->order);
  recording_unpack_free(recording->unpack);
  free(recording->unpacked);
  if (recording->fd >= 0)
    close(recording->fd);
  free(recording->path);
  free(recording);
}

/* -- records --------------------------------------------------------------- */

static int take_ordered(recording_t *recording,
                        const uvperf_record_t **record) {
  const struct perf_event_header *header;
  uvperf_decoder_t *decoder;

  while ((header = recording_order_take(&recording->order)) != NULL) {
    decoder = recording_events_decoder(&recording->events);
    if (decoder != NULL &&
        uvperf_decode(decoder, header, header->size, record) == 0)
      return 1;
    recording->damaged++;
  }
  return 0;
}

int recording_next(recording_t *recording, const uvperf_record_t **record) {
  int rc;

  *record = NULL;
  if (!recording->has_header && !recording->has_ended) {
    rc = recording_header_read(recording);
    if (rc == RECORDING_WAIT)
      return rc;
    recording->has_ended = rc != 0;
  }
  for (;;) {
    if (take_ordered(recording, record))
      return 1;
    if (recording->has_ended)
      return recording->is_error ? -1 : 0;
    rc = recording_records_read(recording, record);
    if (rc == 1 || rc == RECORDING_WAIT)
      return rc;
    if (rc < 0) {
      recording_order_end(&recording->order);
      recording->has_ended = 1;
    }
  }
}

const char *recording_message(const recording_t *recording) {
  return recording->message;
}

size_t recording_event_of(const recording_t *recording,
                          const uvperf_record_t *record) {
  (void)recording;
  return record->source == NULL ? SIZE_MAX : record->source->attr_index;
}

/* -- contents -------------------------------------------------------------- */

size_t recording_nr_events(const recording_t *recording) {
  return recording->events.nr;
}

void recording_event(const recording_t *recording, size_t i,
                     recording_event_t *event) {
  const recording_source_t *source = recording->events.events[i];

  event->attr = source->attr;
  event->name = source->name == NULL ? "" : source->name;
  event->ids = source->ids;
  event->nr_ids = source->source.nr_ids;
}

const char *recording_arch(const recording_t *recording) {
  return recording->features.arch;
}

const char *recording_release(const recording_t *recording) {
  return recording->features.release;
}

const char *recording_hostname(const recording_t *recording) {
  return recording->features.hostname;
}

int recording_is_foreign(const recording_t *recording) {
  return recording->is_foreign;
}

int recording_format(const recording_t *recording, uint64_t id,
                     recording_format_t *format) {
  return recording_formats_find(&recording->formats, id, format);
}

size_t recording_build_id(recording_t *recording, const char *path,
                          unsigned char build_id[20]) {
  return recording_features_build_id(&recording->features, path, build_id);
}

int recording_fd(const recording_t *recording) {
  return recording->input.is_pipe ? recording->fd : -1;
}

uint64_t recording_offset(const recording_t *recording) {
  return recording->input.offset;
}

uint64_t recording_bytes(const recording_t *recording) {
  return recording->file_bytes;
}

uint64_t recording_damaged(const recording_t *recording) {
  return recording->damaged;
}

uint64_t recording_late(const recording_t *recording) {
  return recording->order.late;
}
