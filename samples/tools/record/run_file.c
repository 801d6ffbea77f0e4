/* SPDX-License-Identifier: MIT */
/* Each file begins with the running tasks and ends with the losses. So each
 * file can be read without the other files. */
#include "record/run_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/say.h"
#include "record/ids.h"
#include "record/running.h"

/* perf(1) holds back two rounds. So perf(1) can still put a record into its
 * place if the record is late by up to this time. */
#define ROUND_MS 100
/* The number of synthesized records between two flushes of the rings. */
#define FLUSH_RECORDS 64

/* Keeps the records that were written, and ends the recording. */
static void stop_writing(record_run_t *run, int code) {
  if (run->write_error == 0)
    run->write_error = code;
  common_session_stop_soon(&run->session);
}

static void take_totals(record_run_t *run) {
  uvperf_stats_t stats;

  uvperf_stats(&run->set.handle, &stats);
  run->totals.lost.reported = stats.lost_records;
  run->totals.unsound = stats.corrupt;
  run->totals.late = stats.late_records;
  run->totals.bytes = run->bytes_before;
  if (run->file != NULL)
    run->totals.bytes += record_file_bytes(run->file);
}

/* -- records --------------------------------------------------------------- */

static int can_write(const record_run_t *run) {
  return run->file != NULL && run->write_error == 0 && !run->is_full;
}

/* Readers take the names of tasks, programs and symbols from these records. */
static int is_side_band(uint32_t type) {
  switch (type) {
    case PERF_RECORD_MMAP:
    case PERF_RECORD_MMAP2:
    case PERF_RECORD_COMM:
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
    case PERF_RECORD_NAMESPACES:
    case PERF_RECORD_KSYMBOL:
    case PERF_RECORD_BPF_EVENT:
    case PERF_RECORD_CGROUP:
      return 1;
    default:
      return 0;
  }
}

static int is_excluded(const record_run_t *run, const uvperf_record_t *record) {
  return run->options->excluded_pid != 0 &&
         record->type == PERF_RECORD_SAMPLE &&
         record->pid == run->options->excluded_pid;
}

static int is_full(record_run_t *run, size_t more) {
  uint64_t max = run->options->limits.max_bytes;
  uint64_t bytes = record_file_bytes(run->file);

  if (max == 0 || bytes + more <= max)
    return 0;
  run->is_full = 1;
  record_messages_full(run->options, bytes);
  common_session_stop_soon(&run->session);
  return 1;
}

static void note(record_run_t *run, uint32_t type) {
  run->totals.records++;
  run->totals.samples += type == PERF_RECORD_SAMPLE;
}

static void on_switch_time(uv_timer_t *timer) {
  record_run_file_switch(timer->data);
}

void record_run_file_write(record_run_t *run, const uvperf_record_t *record) {
  uint64_t switch_bytes = run->options->limits.switch_bytes;
  int rc;

  if (!can_write(run) || is_excluded(run, record))
    return;
  if (run->side.has_set) {
    common_buffer_add(&run->taken, record->bytes, record->size);
    note(run, record->type);
    return;
  }
  if (is_full(run, record->size))
    return;
  rc = record_file_write(run->file, record->bytes, record->size);
  if (rc != 0) {
    stop_writing(run, rc);
    return;
  }
  if (run->is_ahead && is_side_band(record->type))
    common_buffer_add(&run->ahead, record->bytes, record->size);
  if (run->options->limits.switches && !run->options->all)
    record_running_born(&run->born, record);
  note(run, record->type);
  if (switch_bytes > 0 && record_file_bytes(run->file) >= switch_bytes &&
      !run->session.stopping)
    uv_timer_start(&run->switching, on_switch_time, 0, 0);
}

/* perf(1) sorts the records of two rounds by time. Older records stay in the
 * order of the file. */
void record_run_file_round(record_run_t *run) {
  uint64_t now = uv_now(&run->session.loop);
  int rc;

  if (now - run->round_ms < ROUND_MS || !can_write(run))
    return;
  run->round_ms = now;
  rc = record_file_round(run->file);
  if (rc != 0)
    stop_writing(run, rc);
}

/* -- the beginning --------------------------------------------------------- */

int record_run_file_add_ids(record_run_t *run) {
  int rc = uvperf_set_read(&run->set, run->reading, NULL);

  if (rc != 0)
    return common_say_code("cannot read the events", rc);
  if (run->file == NULL)
    return 0;
  record_ids_add(&run->ids, &run->set, run->reading, run->file, 0);
  if (!run->side.has_set)
    return 0;
  rc = uvperf_set_read(&run->side.set, run->side.reading, NULL);
  if (rc != 0)
    return common_say_code("cannot read the events", rc);
  record_ids_add(&run->ids, &run->side.set, run->side.reading, run->file,
                 uvperf_set_nr_attrs(&run->set));
  return 0;
}

static void add_groups(record_run_t *run) {
  size_t nr = run->attrs->nr, first, next;

  for (first = 0; first < nr; first = next) {
    next = first + 1;
    while (next < nr &&
           uvperf_event_list_get(run->attrs->events, next)->leader == first)
      next++;
    if (next > first + 1)
      record_file_set_group(run->file, first, next - first);
  }
}

/* Refuses a device, because renaming it would take it away from the whole
 * machine. */
static int check_file(const record_run_t *run) {
  struct stat stat_of;

  if (!run->options->limits.has_stamp ||
      stat(run->options->file, &stat_of) != 0 || S_ISREG(stat_of.st_mode))
    return 0;
  common_say("%s: %s needs a regular file, which it renames\n",
             run->options->file,
             run->options->limits.switches ? "--switch-output"
                                           : "--timestamp-filename");
  return 1;
}

int record_run_file_open(record_run_t *run) {
  size_t attr;
  char *name;

  if (check_file(run) != 0)
    return 1;
  run->file = record_file_open(run->options->file);
  if (run->file == NULL)
    return 1;
  for (attr = 0; attr < uvperf_set_nr_attrs(&run->set); attr++) {
    name = record_attrs_name(run->attrs, &run->set, attr);
    record_file_add_event(run->file, uvperf_set_item(&run->set, attr)->attr,
                          name);
    free(name);
  }
  if (run->side.has_set)
    record_file_add_event(run->file, uvperf_set_item(&run->side.set, 0)->attr,
                          uvperf_set_item(&run->side.set, 0)->label);
  add_groups(run);
  common_tally_free(&run->ids);
  return record_run_file_add_ids(run);
}

/* Flushes the rings that would fill. */
static void flush(record_run_t *run) {
  uvperf_flush(&(run->side.has_set ? &run->side.set : &run->set)->handle);
}

/* Takes a synthesized record. The rings fill while thousands of files are read,
 * so the rings are flushed in between. No round ends before all tasks are
 * written. So perf(1) sees the running tasks before their records. */
static int write_running(void *arg, const void *bytes, size_t size) {
  record_run_t *run = arg;

  if (++run->nr_running % FLUSH_RECORDS == 0)
    flush(run);
  if (!run->is_ahead)
    return record_file_write(run->file, bytes, size);
  common_buffer_add(&run->ahead, bytes, size);
  return 0;
}

static int find_running(record_run_t *run) {
  return record_running_write(run->options, run->session.command.pid,
                              run->has_begun ? &run->born : NULL,
                              uvperf_set_item(&run->set, 0)->attr,
                              write_running, run);
}

static int begin(record_run_t *run, int rc) {
  if (rc == 0)
    rc = record_file_sync(run->file);
  if (rc != 0 && run->write_error == 0)
    run->write_error = rc;
  return run->write_error != 0;
}

int record_run_file_begin(record_run_t *run) {
  int rc;

  run->is_ahead = run->side.has_set;
  record_file_hurry(run->file, 1); /* the loop does not run yet */
  rc = find_running(run);
  record_file_hurry(run->file, 0);
  return begin(run, rc);
}

void record_run_file_sync(record_run_t *run) {
  int rc = can_write(run) ? record_file_sync(run->file) : 0;

  if (rc != 0)
    stop_writing(run, rc);
  if (run->side.has_set && record_side_is_long(&run->side)) {
    find_running(run);
    record_side_allow(&run->side);
  }
  take_totals(run);
}

/* -- the end --------------------------------------------------------------- */

static int read_losses(record_run_t *run) {
  int rc = 0;

  if (run->losses == NULL)
    rc = uvperf_reading_new(&run->losses);
  if (rc == 0 && run->before == NULL)
    rc = uvperf_reading_new(&run->before);
  if (rc == 0)
    rc = uvperf_set_read(&run->set, run->reading, NULL);
  if (rc == 0)
    rc = uvperf_reading_delta(run->losses, run->before, run->reading);
  return rc == 0 ? uvperf_reading_copy(run->before, run->reading) : rc;
}

/* Losses after the last record are only in the counts. Each file gets only the
 * losses of its own time. */
static void write_losses(record_run_t *run) {
  uint64_t lost;
  int rc;

  if (run->write_error != 0 || run->file == NULL)
    return;
  rc = read_losses(run);
  if (rc != 0) {
    run->failed = common_say_code("cannot read the losses", rc);
    return;
  }
  rc = record_lost_write(run->file, &run->set, run->losses, &lost);
  run->totals.lost.counted += lost;
  if (rc != 0)
    stop_writing(run, rc);
}

static int write_records(record_run_t *run, const common_buffer_t *records) {
  struct perf_event_header header;
  size_t used;
  int rc = 0;

  for (used = 0; rc == 0 && used < records->used; used += header.size) {
    memcpy(&header, records->text + used, sizeof(header));
    rc = record_file_write(run->file, records->text + used, header.size);
  }
  return rc;
}

/* Names and mappings are read after the snapshot, so that none is missing. In
 * the file, names and mappings come before the snapshot. */
static void dump(record_run_t *run) {
  uvperf_error_t error;
  int rc;

  run->taken.used = 0;
  if (uvperf_snapshot(&run->set.handle, 0, NULL, &error) != 0)
    run->failed = common_say_error(&error);
  flush(run);
  if (!can_write(run))
    return;
  rc = write_records(run, &run->ahead);
  if (rc == 0)
    rc = write_records(run, &run->taken);
  if (rc != 0)
    stop_writing(run, rc);
}

void record_run_file_stop(record_run_t *run) {
  if (run->file != NULL)
    record_file_hurry(run->file, 1);
  if (run->side.has_set)
    dump(run);
  uvperf_disable(&run->set.handle, UVPERF_ALL, NULL);
  if (!run->side.has_set)
    uvperf_flush(&run->set.handle);
  uvperf_stop(&run->set.handle);
  if (run->side.has_set)
    record_side_stop(&run->side);
  write_losses(run);
  take_totals(run);
}

/* Closes and renames the file, even after a failure: the records from before
 * the failure can be read. */
static void finish(record_run_t *run) {
  int rc;

  run->bytes_before += record_file_bytes(run->file);
  rc = record_file_close(run->file, run->argv);
  run->file = NULL;
  if (run->write_error == 0)
    run->write_error = rc;
  if (!run->options->limits.has_stamp || !run->has_begun)
    return;
  rc = record_names_finish(&run->names, run->options->file);
  if (rc == 0)
    record_messages_dump(run->options, run->names.last);
  else if (run->write_error == 0)
    run->write_error = rc;
}

void record_run_file_close(record_run_t *run) {
  if (run->file != NULL)
    finish(run);
  if (run->write_error == 0)
    return;
  common_say("%s: %s\n", run->options->file,
             run->write_error == -EAGAIN
                 ? "the reader has stopped reading: the end was not written"
                 : strerror(-run->write_error));
  run->failed = 1;
}

/* -- the next file --------------------------------------------------------- */

void record_run_file_wait(record_run_t *run) {
  uint64_t ms = run->options->limits.switch_ms;

  uv_timer_stop(&run->switching);
  uv_update_time(&run->session.loop);
  if (ms > 0)
    uv_timer_start(&run->switching, on_switch_time, ms, 0);
}

/* While /proc is read, records go to the old file. Records of tasks and
 * mappings go to both files. So the new file has the name of each task that it
 * samples, and no record is missed. */
static void write_last(record_run_t *run) {
  run->ahead.used = 0;
  run->is_ahead = 1;
  find_running(run);
  flush(run);
  run->is_ahead = 0;
}

static void switch_file(record_run_t *run) {
  if (run->side.has_set)
    dump(run);
  else
    write_last(run);
  if (!can_write(run))
    return;
  write_losses(run);
  finish(run);
  if (run->write_error != 0 || record_run_file_open(run) != 0)
    run->failed = 1;
  else if (run->side.has_set)
    begin(run, 0);
  else
    begin(run, write_records(run, &run->ahead));
}

void record_run_file_switch(record_run_t *run) {
  if (run->session.stopping || !can_write(run))
    return;
  switch_file(run);
  if (run->file == NULL || run->write_error != 0)
    common_session_stop_soon(&run->session);
  record_run_file_wait(run);
}
