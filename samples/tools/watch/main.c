/* SPDX-License-Identifier: MIT */
/* watch: prints what happens to processes, live, on a libuv loop. This file is
 * the life-cycle: open, start, read what already runs, run the loop until
 * something ends it, stop. timeline.c follows the records and line.c formats
 * the lines. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "uvperf.h"

#include "common/cpu.h"
#include "common/lost.h"
#include "common/output.h"
#include "common/say.h"
#include "common/session.h"
#include "common/stdio.h"
#include "common/targets.h"
#include "watch/connector.h"
#include "watch/events.h"
#include "watch/notes.h"
#include "watch/options.h"
#include "watch/proc.h"
#include "watch/timeline.h"

#define TICK_MS 50
/* The interval, in ticks, of messages about losses and of the search for
 * processes that have ended. */
#define SLOW_TICKS 20
/* If this much text is not written yet, the program waits for the slow reader,
 * and records wait in the rings. */
#define MAX_TEXT_BYTES ((size_t)16 << 20)
#define WAIT_MS        100

typedef struct watch_s {
  common_session_t session;
  watch_options_t options;
  watch_events_t events;
  watch_timeline_t timeline;
  watch_connector_t connector;
  int connector_status; /* 0, or why exits have no status */
  int32_t command_pid;  /* or 0 */
  common_output_t output;
  uint64_t lost_reported;
  uint64_t ticks;
  int failed;
} watch_t;

static void on_close(common_session_t *session) {
  watch_t *watch = session->data;

  if (watch->events.is_open)
    common_session_close_set(session, &watch->events.set);
  watch_connector_close(&watch->connector);
}

static void end_json(watch_t *watch) {
  const watch_counts_t *counts = &watch->timeline.counts;
  uint64_t now = uv_hrtime();

  common_buffer_print(
      &watch->output.buffer,
      "{\"time\":%" PRIu64 ".%09" PRIu64 ",\"type\":\"end\",\"forks\":%" PRIu64
      ",\"execs\":%" PRIu64,
      now / 1000000000, now % 1000000000, counts->forks, counts->execs);
  common_buffer_print(&watch->output.buffer,
                      ",\"exits\":%" PRIu64 ",\"maps\":%" PRIu64
                      ",\"lost\":%" PRIu64 ",\"late\":%" PRIu64 "}\n",
                      counts->exits, counts->maps, counts->lost, counts->late);
}

static void on_stop(common_session_t *session) {
  watch_t *watch = session->data;

  uvperf_disable(&watch->events.set.handle, UVPERF_ALL, NULL);
  uvperf_stop(&watch->events.set.handle);
  uvperf_flush(&watch->events.set.handle);
  if (session->command.pid == 0)
    watch_connector_await(&watch->connector, watch->command_pid);
  watch_timeline_until(&watch->timeline, UINT64_MAX);
  watch->timeline.counts.lost = common_lost_of_set(&watch->events.set, 1);
  if (watch->options.pid != 0 && watch->timeline.tasks.nr_shown == 0)
    common_say("process %d and its descendants have ended\n",
               watch->options.pid);
  if (watch->options.json)
    end_json(watch);
  watch->failed |= common_output_finish(&watch->output, watch->options.file);
  watch_notes_end(&watch->options, &watch->timeline.counts);
}

/* A reader such as head(1) closes stdout when it has read enough. */
static int has_reader(watch_t *watch) {
  common_output_push(&watch->output, 0);
  if (watch->output.error == 0)
    return 1;
  common_session_stop(&watch->session);
  return 0;
}

static void on_slow_tick(watch_t *watch) {
  /* The timeline's own count is too low while text waits for a reader. */
  common_lost_note(common_lost_of_set(&watch->events.set, 1),
                   &watch->lost_reported);
  watch_connector_sweep(&watch->connector);
  /* While text waits for a reader, the known processes are not up to date. */
  if (watch->output.buffer.used == 0)
    watch_timeline_sweep(&watch->timeline);
}

static void on_tick(common_session_t *session) {
  watch_t *watch = session->data;

  watch_timeline_until(&watch->timeline, uv_hrtime());
  if (!has_reader(watch))
    return;
  if (++watch->ticks % SLOW_TICKS == 0)
    on_slow_tick(watch);
  if (watch->options.pid != 0 && watch->timeline.tasks.nr_shown == 0)
    common_session_stop(session);
}

static void on_broken(watch_t *watch, int status) {
  common_say("cannot read a ring: %s\n", uv_strerror(status));
  watch->failed = 1;
  if (!uvperf_is_active(&watch->events.set.handle))
    common_session_stop_soon(&watch->session);
}

static void on_record(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record) {
  watch_t *watch = handle->data;

  if (status == 0) {
    watch_timeline_record(&watch->timeline, record);
    /* While common_output_push waits, no records are read from the rings. */
    if (watch->output.buffer.used > MAX_TEXT_BYTES && !watch->session.stopping)
      common_output_push(&watch->output, WAIT_MS);
  } else if (status == UV_EOF) {
    /* SIGCHLD reports the end of a command. */
    if (watch->session.command.pid == 0)
      common_session_stop_soon(&watch->session);
  } else if (record->type == UVPERF_RECORD_NONE) {
    on_broken(watch, status);
  }
}

/* Returns the process of -p, or the command; 0 for all processes. */
static int32_t root_of(const watch_t *watch) {
  if (watch->options.all)
    return 0;
  return watch->session.command.pid != 0 ? watch->session.command.pid
                                         : watch->options.pid;
}

/* `tree` has the processes that were in the tree before the events ran. Their
 * names and threads are read after the events have started, because then no
 * change can be missed. */
static void read_running(watch_t *watch, const common_ids_t *tree) {
  watch_tasks_t *tasks = &watch->timeline.tasks;
  watch_process_t *process;
  size_t i;

  tasks->show_all = root_of(watch) == 0;
  watch_proc_scan(tasks);
  for (i = 0; i < tree->nr; i++) {
    process = watch_tasks_find(tasks, (uint32_t)tree->ids[i]);
    if (process != NULL)
      watch_tasks_show(tasks, process);
  }
  watch_tasks_show_children(tasks);
  /* Only tasks of the tree have records, so unknown tasks belong to the
   * tree. */
  tasks->show_all |= watch->events.of_tree;
}

/* Call it before the events start, so that no message is missed. */
static void open_connector(watch_t *watch) {
  watch_timeline_t *timeline = &watch->timeline;

  watch->connector_status = watch_connector_open(
      &watch->connector, &watch->session.loop, watch->options.kinds);
  timeline->arg = &watch->connector;
  timeline->add_args = watch_connector_args;
  if (watch->connector.is_open)
    timeline->add_status = watch_connector_status;
}

static int start(watch_t *watch, const common_ids_t *tree) {
  uvperf_stream_options_t options = UVPERF_STREAM_OPTIONS_INIT;
  uvperf_error_t error;
  int rc;

  options.flush_ms = TICK_MS;
  watch->events.set.handle.data = watch;
  watch->timeline.buffer = &watch->output.buffer;
  watch->command_pid = watch->session.command.pid;
  open_connector(watch);
  common_session_listen(&watch->session);
  uvperf_on_cpu(&watch->events.set.handle, common_cpu_note);
  if (uvperf_start(&watch->events.set.handle, &options, on_record, &error) != 0)
    return common_say_error(&error);
  read_running(watch, tree);
  watch_notes_opened(&watch->options, &watch->events, watch->connector_status);
  rc = common_session_go(&watch->session);
  common_session_start(&watch->session, TICK_MS, watch->options.duration_ms);
  return rc;
}

static int open_and_start(common_session_t *session) {
  watch_t *watch = session->data;
  common_ids_t tree = {NULL, 0, 0};
  uvperf_error_t error;
  int status;

  if (common_process_asked(&watch->options.pid) != 0)
    return 1;
  memset(&error, 0, sizeof(error));
  if (root_of(watch) != 0)
    watch_proc_tree(&tree, root_of(watch));
  watch->events.kinds = watch->options.kinds;
  if (watch_events_open(&watch->events, &watch->session.loop, root_of(watch),
                        watch->options.ring_bytes, &error) != 0)
    status = watch_notes_refused(&watch->options, &error);
  else
    status = start(watch, &tree);
  common_ids_free(&tree);
  return status;
}

static int run(watch_t *watch) {
  common_session_t *session = &watch->session;
  int status;

  session->data = watch;
  session->on_stop = on_stop;
  session->on_tick = on_tick;
  session->on_close = on_close;
  watch->timeline.json = watch->options.json;
  watch->timeline.kinds = watch->options.kinds;
  watch->timeline.is_alive = watch_proc_is_alive;
  status = common_session_main(session, watch->options.command, open_and_start);
  watch_timeline_free(&watch->timeline);
  common_buffer_free(&watch->output.buffer);
  if (status == 0 && watch->failed)
    status = 1;
  return status != 0 ? status : session->command_status;
}

int main(int argc, char **argv) {
  static watch_t watch = {.session = COMMON_SESSION_INIT};
  int status;

  common_signals_take(&watch.session.command.signals);
  common_stdio_init();
  status = watch_options_parse(&watch.options, argc, argv);
  if (status == 0)
    status = common_output_open(&watch.output, watch.options.file);
  return status != 0 ? status : run(&watch);
}
