/* SPDX-License-Identifier: MIT */
/* Writes the records of a process into a pipe whose reader may be slow:
 *
 *   backpressure PID page-faults/period=1/u | READER
 *
 * While the reader does not keep up, no records are taken from the rings. The
 * events go on, and the kernel keeps their records in the rings. When a ring is
 * full, the kernel counts the lost records, and the sample prints the number at
 * the end. A process of your own needs no privileges. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <uvperf.h>

#define LINE_BYTES    512
#define SLICE_RECORDS 100          /* are written at once */
#define MOST_QUEUED   (256 * 1024) /* bytes that wait for the reader */

typedef struct chunk_s {
  uv_write_t request;
  unsigned int size;
  char text[SLICE_RECORDS * LINE_BYTES];
} chunk_t;

static uv_pipe_t reader;
static chunk_t *chunk; /* of this slice, or NULL */
static unsigned int pauses;

/* Since Linux 6.0 the counts include all lost records, even those for which the
 * kernel could not write a LOST record before the end. */
static void end(uvperf_set_t *set, const char *why) {
  uvperf_reading_t *reading = NULL;
  uvperf_count_t count;
  char line[128];
  size_t i;

  if (uvperf_is_closing(&set->handle))
    return;
  fprintf(stderr, "%s; %u pauses\n", why, pauses);
  if (uvperf_reading_new(&reading) == 0 &&
      uvperf_set_read(set, reading, NULL) == 0) {
    for (i = 0; uvperf_reading_total(reading, i, &count) == 0; i++) {
      uvperf_count_format(&count, uvperf_set_item(set, i), line, sizeof(line));
      fprintf(stderr, "%s\n", line);
    }
  }
  uvperf_reading_free(reading);
  uvperf_close(&set->handle, NULL);
}

static void on_written(uv_write_t *request, int status);

static void on_record(uvperf_handle_t *base, int status,
                      const uvperf_record_t *record) {
  uvperf_set_t *set = uvperf_handle_set(base);
  size_t size;
  uv_buf_t text;

  if (record->type != UVPERF_RECORD_NONE) {
    if (chunk == NULL && (chunk = calloc(1, sizeof(*chunk))) == NULL) {
      end(set, "out of memory");
      return;
    }
    size = uvperf_record_format(record, status, chunk->text + chunk->size,
                                LINE_BYTES);
    /* A longer line is cut. */
    chunk->size += size < LINE_BYTES ? (unsigned int)size : LINE_BYTES - 1;
    chunk->text[chunk->size++] = '\n';
  } else if (status != 0) {
    end(set, status == UV_EOF ? "end" : uv_strerror(status));
  } else { /* the end of a slice */
    chunk->request.data = set;
    text = uv_buf_init(chunk->text, chunk->size);
    if (uv_write(&chunk->request, (uv_stream_t *)&reader, &text, 1,
                 on_written) != 0) {
      free(chunk);
      end(set, "cannot write");
    } else if (uv_stream_get_write_queue_size((uv_stream_t *)&reader) >
               MOST_QUEUED) {
      uvperf_stop(base);
      pauses++;
    }
    chunk = NULL;
  }
}

/* Stopping does not disable the set: events during a pause are recorded. */
static int start(uvperf_set_t *set, uvperf_error_t *error) {
  uvperf_stream_options_t options = UVPERF_STREAM_OPTIONS_INIT;

  options.flags = UVPERF_START_SLICE_END;
  options.slice_records = SLICE_RECORDS;
  return uvperf_start(&set->handle, &options, on_record, error);
}

static void on_written(uv_write_t *request, int status) {
  size_t queued = uv_stream_get_write_queue_size(request->handle);
  uvperf_set_t *set = request->data;
  uvperf_error_t error;
  int rc;

  free(request); /* the chunk begins with it */
  if (status != 0) {
    end(set, uv_strerror(status)); /* UV_EPIPE: the reader is gone */
  } else if (queued < MOST_QUEUED / 2 && !uvperf_is_closing(&set->handle) &&
             !uvperf_is_active(&set->handle)) {
    rc = start(set, &error);
    if (rc != 0)
      end(set, rc == UV_EOF ? "end" : error.reason);
  }
}

int main(int argc, char **argv) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_target_t process = UVPERF_TARGET_INIT;
  uv_loop_t *loop = uv_default_loop();
  uvperf_error_t error;
  uvperf_set_t set;
  int rc;

  if (argc != 3 || (process.pid = atoi(argv[1])) <= 0 ||
      uv_guess_handle(1) != UV_NAMED_PIPE) {
    fprintf(stderr, "usage: %s PID EVENT | READER\n", argv[0]);
    return 2;
  }
  signal(SIGPIPE, SIG_IGN);
  uv_pipe_init(loop, &reader, 0);
  rc = uv_pipe_open(&reader, 1);
  if (rc != 0) {
    fprintf(stderr, "stdout: %s\n", uv_strerror(rc));
    return 1;
  }
  process.type = UVPERF_TARGET_PROCESS;
  options.targets = &process;
  options.nr_targets = 1;
  options.flags = UVPERF_SET_RECORDS | UVPERF_SET_ENABLED;
  options.names = argv[2];
  if (uvperf_set_init(loop, &set, &options, &error) != 0 ||
      start(&set, &error) != 0) {
    fprintf(stderr, "%s\n", error.reason);
    return 1;
  }
  uv_run(loop, UV_RUN_DEFAULT); /* until the set is closed and all is written */
  uv_close((uv_handle_t *)&reader, NULL);
  uv_run(loop, UV_RUN_DEFAULT);
  return uv_loop_close(loop) != 0;
}
