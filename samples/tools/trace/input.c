/* SPDX-License-Identifier: MIT */
/* Reads a file. The file may come from another machine, so formats are taken
 * from the file. The file may be hostile. */
#include "trace/input.h"

#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "common/lost.h"
#include "common/memory.h"
#include "common/recording/recording.h"
#include "common/say.h"
#include "common/text.h"
#include "trace/syscalls.h"

#define WRITE_BYTES ((size_t)64 << 10)
#define WAIT_MS     1000
/* The name of a tracepoint or its category; longer names are cut. */
#define NAME_BYTES 64

typedef struct input_s {
  trace_hits_t *hits;
  recording_t *recording;
  const char *path; /* for messages */
  uint64_t first;   /* time of a record; 0: none so far */
  common_lost_t lost;
  int has_raw; /* raw_syscalls:*, which include all calls */
  int has_begins, has_ends;
} input_t;

/* -- events ---------------------------------------------------------------- */

/* Reads the name from the first line of a format: "name: sched_switch". */
static void name_of(const recording_format_t *format, char name[NAME_BYTES]) {
  static const char key[] = "name: ";
  const size_t key_bytes = sizeof(key) - 1;
  char copy[NAME_BYTES] = "";
  size_t i;

  if (format->bytes >= key_bytes && memcmp(format->text, key, key_bytes) == 0) {
    for (i = 0; i + 1 < sizeof(copy) && key_bytes + i < format->bytes &&
                format->text[key_bytes + i] != '\n';
         i++)
      copy[i] = format->text[key_bytes + i];
  }
  common_text_clean(name, NAME_BYTES, copy);
}

static void add_tracepoint(input_t *input, trace_event_t *event) {
  char name[NAME_BYTES] = "", category[NAME_BYTES] = "";
  recording_format_t format;
  trace_event_call_t call;
  uvperf_error_t error;

  memset(&error, 0, sizeof(error));
  memset(&format, 0, sizeof(format));
  if (!recording_is_foreign(input->recording) &&
      recording_format(input->recording, event->attr->config, &format)) {
    name_of(&format, name);
    common_text_clean(category, sizeof(category), format.category);
  }
  trace_fields_of_text(&event->fields, format.text, format.bytes, &error);
  if (error.reason[0] != '\0')
    common_say("%s:%s: cannot use its format in the file: %s; its fields are "
               "printed as bytes\n",
               category, name, error.reason);
  if (name[0] == '\0')
    return;
  event->name = common_calloc(2, NAME_BYTES);
  snprintf(event->name, (size_t)2 * NAME_BYTES, "%s:%s", category, name);
  call = input->hits->options->summary ? trace_event_find_call(event)
                                       : TRACE_EVENT_NO_CALL;
  input->has_raw |= call != TRACE_EVENT_NO_CALL && event->call == NULL;
  input->has_begins |= call == TRACE_EVENT_BEGIN;
  input->has_ends |= call == TRACE_EVENT_END;
}

/* Adds the events that were read since. In a pipe, an event comes before its
 * samples. */
static void add_events(input_t *input) {
  trace_events_t *events = &input->hits->events;
  const char *machine = recording_arch(input->recording);
  recording_event_t found;
  trace_event_t *event;

  /* For another machine, calls are shown by number, which is always right. */
  input->hits->calls.is_foreign =
      machine == NULL || !trace_syscalls_are_of(machine);
  while (events->nr < recording_nr_events(input->recording)) {
    recording_event(input->recording, events->nr, &found);
    event = COMMON_ADD(events->events, events->nr, events->capacity);
    event->attr = common_copy(found.attr, found.attr->size);
    event->label = found.name[0] != '\0' ? found.name : "?";
    if (event->attr->type == PERF_TYPE_TRACEPOINT)
      add_tracepoint(input, event);
    if (found.name[0] == '\0' && event->name != NULL)
      event->label = event->name;
  }
}

/* -- records --------------------------------------------------------------- */

/* Returns 1 if the limit of hits is reached. */
static int take(input_t *input, const uvperf_record_t *record) {
  size_t event = recording_event_of(input->recording, record);
  const trace_events_t *events = &input->hits->events;
  int is_full;

  if (record->type == PERF_RECORD_SAMPLE && event >= events->nr)
    add_events(input);
  common_lost_record(&input->lost, record);
  /* If a call is in the file twice (raw and by its name), it is counted
   * once. */
  if (record->type == PERF_RECORD_SAMPLE && input->has_raw &&
      event < events->nr && events->events[event].call != NULL)
    return 0;
  is_full = trace_hits_record(input->hits, record, event);
  if (input->first == 0)
    input->first = input->hits->newest;
  return is_full;
}

/* Ctrl-C also reaches perf record, which still writes its last records. */
static void on_interrupt(int number) {
  (void)number;
}

static int read_all(input_t *input) {
  struct pollfd pipe_fd = {recording_fd(input->recording), POLLIN, 0};
  common_output_t *output = &input->hits->output;
  const uvperf_record_t *record;
  int rc = 1;

  while (rc > 0 && output->error == 0) {
    rc = recording_next(input->recording, &record);
    if (rc == RECORDING_WAIT) {
      common_output_push(output, WAIT_MS);
      poll(&pipe_fd, 1, -1);
    } else if (rc == 1) {
      if (take(input, record))
        rc = 0;
      while (output->buffer.used >= WRITE_BYTES &&
             !common_output_push(output, WAIT_MS))
        continue;
    }
  }
  if (recording_message(input->recording)[0] != '\0')
    common_say("%s\n", recording_message(input->recording));
  return rc < 0;
}

/* -- from the file's start to its end -------------------------------------- */

static int have_calls(const input_t *input) {
  if (input->has_begins && input->has_ends)
    return 1;
  common_say("%s: "
             "-s needs the begin and end of system calls with their "
             "formats: record\n"
             "  raw_syscalls:sys_enter and raw_syscalls:sys_exit",
             input->path);
  return 0;
}

int trace_input_run(trace_hits_t *hits, trace_sums_t *sums) {
  struct sigaction leave_to_writer = {.sa_handler = on_interrupt,
                                      .sa_flags = (int)SA_RESETHAND};
  const char *path = hits->options->input;
  input_t input = {.hits = hits,
                   .path = strcmp(path, "-") == 0 ? "stdin" : path};
  char message[512];
  int failed, has_calls = 1;

  if (recording_open(&input.recording, path, message, sizeof(message)) != 0) {
    common_say("%s\n", message);
    return 1;
  }
  hits->is_recorded = 1;
  if (recording_fd(input.recording) >= 0)
    sigaction(SIGINT, &leave_to_writer, NULL);
  failed = read_all(&input);
  add_events(&input);
  if (recording_is_foreign(input.recording))
    common_say("%s: recorded with the other byte order, so fields are printed "
               "as bytes\n",
               input.path);
  if (hits->options->summary)
    has_calls = have_calls(&input);
  sums->lost = common_lost_total(&input.lost);
  sums->late = recording_late(input.recording);
  sums->corrupt = recording_damaged(input.recording);
  sums->elapsed_ns = hits->newest - input.first;
  trace_hits_finish(hits, hits->newest, sums->lost, sums->late);
  failed |= common_output_finish(&hits->output, hits->options->file);
  sums->hits = hits->nr;
  sums->outsiders = hits->calls.outsiders;
  if (has_calls)
    trace_notes_end(hits->options, sums);
  recording_free(input.recording);
  return failed || !has_calls;
}
