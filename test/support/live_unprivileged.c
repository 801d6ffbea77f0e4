/* SPDX-License-Identifier: MIT */
#include "live_unprivileged.h"

#include <sys/mman.h>

#include "host/system.h"

typedef struct errand_s {
  const live_unprivileged_line_t *lines;
  live_unprivileged_report_t *reports;
  size_t nr;
  void (*drop)(void);
} errand_t;

static int run_lines(void *arg) {
  errand_t *errand = arg;
  size_t i;

  errand->drop();
  for (i = 0; i < errand->nr; i++) {
    errand->lines[i].run(&errand->reports[i]);
    errand->reports[i].has_run = 1;
  }
  return 0;
}

static size_t count_complaints(const errand_t *errand) {
  size_t complaints = 0;
  size_t i;

  for (i = 0; i < errand->nr; i++) {
    const live_unprivileged_report_t *report = &errand->reports[i];
    const char *name = errand->lines[i].name;

    if (!report->has_run)
      print_error("%s: did not end: %s\n", name, report->wrong);
    else if (report->wrong[0] != '\0')
      print_error("%s: %s\n", name, report->wrong);
    else if (report->absent[0] != '\0')
      print_message("%s: not here: %s\n", name, report->absent);
    complaints += !report->has_run || report->wrong[0] != '\0';
  }
  return complaints;
}

static void run(const live_unprivileged_line_t *lines, size_t nr,
                void (*drop)(void)) {
  size_t size = nr * sizeof(live_unprivileged_report_t);
  errand_t errand = {lines, NULL, nr, drop};
  size_t complaints;
  void *shared;
  int status;

  shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                -1, 0);
  assert_ptr_not_equal(shared, MAP_FAILED);
  errand.reports = shared;
  status = support_wait(support_fork(run_lines, &errand));
  complaints = count_complaints(&errand);
  assert_int_equal(munmap(shared, size), 0);
  assert_int_equal(complaints, 0);
  assert_int_equal(status, 0);
}

void live_unprivileged_run(const char *test,
                           const live_unprivileged_line_t *lines, size_t nr) {
  explain_need_paranoid(test, 2, 2);
  run(lines, nr, explain_drop_privileges);
}

void live_unprivileged_run_with_perfmon(const char *test,
                                        const live_unprivileged_line_t *lines,
                                        size_t nr) {
  support_need_root(test);
  explain_need_paranoid(test, 2, 2);
  if (uvperf__system_is_before(5, 8) != 0)
    support_skip(test, "Linux 5.8, for CAP_PERFMON");
  run(lines, nr, explain_drop_all_but_perfmon);
}

void live_unprivileged_wrong(live_unprivileged_report_t *report,
                             const char *format, ...) {
  va_list args;

  if (report->wrong[0] != '\0')
    return;
  va_start(args, format);
  vsnprintf(report->wrong, sizeof(report->wrong), format, args);
  va_end(args);
}

void live_unprivileged_absent(live_unprivileged_report_t *report,
                              const char *what) {
  snprintf(report->absent, sizeof(report->absent), "%s", what);
}

typedef struct tally_s {
  const live_unprivileged_stream_t *stream;
  uint64_t right;
  uint64_t wrong;
  uint32_t wrong_type;
} tally_t;

static void on_record(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record) {
  tally_t *tally = handle->data;
  int verdict = -1;

  if (status == 0 && record->type != UVPERF_RECORD_NONE &&
      tally->stream->is_expected != NULL)
    verdict = tally->stream->is_expected(record);
  if (verdict > 0)
    tally->right += 1;
  if (verdict >= 0)
    return;
  tally->wrong += 1;
  tally->wrong_type = record->type == UVPERF_RECORD_NONE ? 0 : record->type;
}

static void close_all(live_unprivileged_report_t *report, uv_loop_t *loop,
                      uvperf_event_t *event) {
  if (event != NULL)
    uvperf_close(&event->handle, NULL);
  uv_run(loop, UV_RUN_DEFAULT);
  if (uv_loop_close(loop) != 0)
    live_unprivileged_wrong(report, "the loop was not empty");
}

/* Returns what came. Does not wait for records that were not provoked. */
static void deliver(live_unprivileged_report_t *report, uv_loop_t *loop,
                    uvperf_event_t *event, tally_t *tally) {
  const live_unprivileged_stream_t *stream = tally->stream;
  int rc;

  event->handle.data = tally;
  rc = uvperf_start(&event->handle, NULL, on_record, NULL);
  if (rc != 0)
    live_unprivileged_wrong(report, "start returned %d", rc);
  if (stream->provoke != NULL)
    stream->provoke();
  uvperf_disable(&event->handle, 0, NULL);
  live_run_until(loop, &tally->right, stream->least);
  uvperf_flush(&event->handle);
}

void live_unprivileged_stream(live_unprivileged_report_t *report,
                              const live_unprivileged_stream_t *stream) {
  tally_t tally = {stream, 0, 0, 0};
  uvperf_event_t event;
  uvperf_error_t error;
  uv_loop_t loop;

  uv_loop_init(&loop);
  if (uvperf_event_init(&loop, &event, &stream->attr, NULL, &error) != 0) {
    live_unprivileged_wrong(report, "%d: %s", error.code, error.reason);
    close_all(report, &loop, NULL);
    return;
  }
  deliver(report, &loop, &event, &tally);
  close_all(report, &loop, &event);
  if (tally.wrong != 0)
    live_unprivileged_wrong(report,
                            "%d records were wrong, the last of type %d",
                            (int)tally.wrong, (int)tally.wrong_type);
  if (tally.right < stream->least ||
      (stream->most != 0 && tally.right > stream->most))
    live_unprivileged_wrong(report, "%d records came", (int)tally.right);
}

void live_unprivileged_count(live_unprivileged_report_t *report,
                             const struct perf_event_attr *attr,
                             void (*provoke)(void), uint64_t least,
                             uint64_t most) {
  uvperf_count_t count = {0};
  uvperf_event_t event;
  uvperf_error_t error;
  uv_loop_t loop;
  int rc;

  uv_loop_init(&loop);
  if (uvperf_event_init(&loop, &event, attr, NULL, &error) != 0) {
    live_unprivileged_wrong(report, "%d: %s", error.code, error.reason);
    close_all(report, &loop, NULL);
    return;
  }
  rc = uvperf_start(&event.handle, NULL, NULL, NULL);
  provoke();
  uvperf_disable(&event.handle, 0, NULL);
  if (rc == 0)
    rc = uvperf_event_read(&event, &count, NULL);
  close_all(report, &loop, &event);
  if (rc != 0 || count.value < least || count.value > most)
    live_unprivileged_wrong(report,
                            "start and read returned %d, %llu were counted", rc,
                            (unsigned long long)count.value);
}

void live_unprivileged_opens(live_unprivileged_report_t *report,
                             const struct perf_event_attr *attr, int pid,
                             int cpu) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  uvperf_event_t event;
  uvperf_error_t error;
  uv_loop_t loop;
  int rc;

  options.pid = pid;
  options.cpu = cpu;
  if (cpu >= 0)
    options.flags |= UVPERF_EVENT_CPU;
  uv_loop_init(&loop);
  rc = uvperf_event_init(&loop, &event, attr, &options, &error);
  if (rc != 0)
    live_unprivileged_wrong(report, "%d: %s", error.code, error.reason);
  close_all(report, &loop, rc == 0 ? &event : NULL);
}

void live_unprivileged_refused(live_unprivileged_report_t *report,
                               const struct perf_event_attr *attr, int pid,
                               int cpu, int code, const char *piece) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  uvperf_event_t event;
  uvperf_error_t error;
  uv_loop_t loop;
  int rc;

  memset(&error, 0, sizeof(error));
  options.pid = pid;
  options.cpu = cpu;
  if (cpu >= 0)
    options.flags |= UVPERF_EVENT_CPU;
  uv_loop_init(&loop);
  rc = uvperf_event_init(&loop, &event, attr, &options, &error);
  if (rc == 0)
    live_unprivileged_wrong(report, "was not refused");
  else if (rc != code || error.code != code ||
           error.cause != UVPERF_CAUSE_PERMISSION ||
           strstr(error.reason, piece) == NULL)
    live_unprivileged_wrong(report, "%d, %s, without \"%s\": %s", rc,
                            uvperf_cause_name(error.cause), piece,
                            error.reason);
  close_all(report, &loop, rc == 0 ? &event : NULL);
}
