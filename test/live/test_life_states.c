/* SPDX-License-Identifier: MIT */
/* The tables of lib/README.md: what each call returns in each state of a
 * handle, and in each state of delivery. */
#include "life.h"

#include <signal.h>

#define CALLS   24
#define COLUMNS 6

/* A line of a table. */
typedef struct row_s {
  const char *text; /* the functions, as in lib/README.md */
  unsigned int kinds;
  /* A code, or what a getter returns: 0, or 1 if there is something. "-" where
   * there is no such state. */
  const char *cells[COLUMNS];
  int (*calls[CALLS])(life_t *life);
} row_t;

/* -- the calls ------------------------------------------------------------- */

#define CALL(name, expression)                                                 \
  static int call_##name(life_t *life) {                                       \
    uvperf_handle_t *handle = life->handle;                                    \
                                                                               \
    return expression;                                                         \
  }
#define EVENT(name, expression)                                                \
  static int call_##name(life_t *life) {                                       \
    uvperf_event_t *event = uvperf_handle_event(life->handle);                 \
                                                                               \
    return expression;                                                         \
  }
#define SET(name, expression)                                                  \
  static int call_##name(life_t *life) {                                       \
    uvperf_set_t *set = uvperf_handle_set(life->handle);                       \
                                                                               \
    return expression;                                                         \
  }
#define READER(name, expression)                                               \
  static int call_##name(life_t *life) {                                       \
    uvperf_bpf_reader_t *reader = uvperf_handle_bpf_reader(life->handle);      \
                                                                               \
    return expression;                                                         \
  }

/* Results that no test looks at. */
static const uvperf_record_t *record;
static uvperf_ring_info_t ring;
static uvperf_count_t count;
static uint64_t id;
static size_t nr;

static int read_set(uvperf_set_t *set) {
  uvperf_reading_t *reading;
  int rc;

  if (uvperf_reading_new(&reading) != 0)
    return UV_ENOMEM;
  rc = uvperf_set_read(set, reading, NULL);
  uvperf_reading_free(reading);
  return rc;
}

static int call_start(life_t *life) {
  return life_try_start(life);
}

static int call_snapshot(life_t *life) {
  return life_snap(life, 0);
}

static int call_snapshot_later(life_t *life) {
  return life_snap_later(life, 0);
}

CALL(stop, uvperf_stop(handle))
CALL(flush, uvperf_flush(handle))
CALL(next, uvperf_next(handle, &record))
CALL(has_record, uvperf_has_record(handle))
CALL(nr_rings, uvperf_nr_rings(handle) > 0)
CALL(ring, uvperf_ring(handle, 0, &ring))
CALL(on_cpu, uvperf_on_cpu(handle, NULL))
CALL(enable, uvperf_enable(handle, UVPERF_ALL, NULL))
CALL(disable, uvperf_disable(handle, UVPERF_ALL, NULL))
CALL(reset, uvperf_reset(handle, UVPERF_ALL, NULL))
CALL(change_period, uvperf_change_period(handle, 0, 1000, NULL))
CALL(apply_filter, uvperf_apply_filter(handle, 0, "fd == 3", NULL))
CALL(attach_bpf, uvperf_attach_bpf(handle, 0, 99, 0, NULL))
CALL(query_bpf, uvperf_query_bpf(handle, 0, NULL, &nr, NULL))
CALL(handle_attr, uvperf_handle_attr(handle, 0) != NULL)
CALL(changes, uvperf_changes(handle, 0, &nr) != NULL || nr > 0)
CALL(is_active, uvperf_is_active(handle))
CALL(is_closing, uvperf_is_closing(handle))
CALL(has_ref, uvperf_has_ref(handle))
EVENT(event_read, uvperf_event_read(event, &count, NULL))
EVENT(event_id, uvperf_event_id(event, &id))
EVENT(event_fd, uvperf_event_fd(event) >= 0)
EVENT(event_set_output, uvperf_event_set_output(event, NULL, NULL))
EVENT(event_refresh, uvperf_event_refresh(event, 1, NULL))
EVENT(event_pause, uvperf_event_pause(event, 0, NULL))
EVENT(event_modify,
      uvperf_event_modify(event, uvperf_handle_attr(life->handle, 0), NULL))
SET(set_read, read_set(set))
SET(set_read_start, uvperf_set_read_start(set, 1000, life_ignore_reading, NULL))
SET(set_read_stop, uvperf_set_read_stop(set))
SET(set_add,
    uvperf_set_add(set, &(uvperf_target_t)UVPERF_TARGET_INIT, NULL, NULL, NULL))
SET(set_remove, uvperf_set_remove(set, 0, NULL, NULL))
SET(set_fill_map, uvperf_set_fill_map(set, 0, 99, NULL))
SET(set_on_end, uvperf_set_on_end(set, NULL))
SET(set_failures, uvperf_set_failures(set, &nr) != NULL || nr > 0)
SET(set_item, uvperf_set_item(set, 0) != NULL)
SET(set_nr_attrs, uvperf_set_nr_attrs(set) > 0)
SET(set_nr_open, uvperf_set_nr_open(set) > 0)
SET(set_fd, uvperf_set_fd(set, 0, 0) >= 0)
READER(publish, uvperf_bpf_reader_publish(reader, NULL))
READER(unpublish, uvperf_bpf_reader_unpublish(reader, NULL))
READER(cpu_status, uvperf_bpf_reader_cpu_status(reader, 0))

/* -- the tables ------------------------------------------------------------ */

static const row_t of_handles[] = {
    /* opening, failed, open, closing, closed, in a forked child */
    {"start, flush, next, snapshot, and all others that return a code",
     LIFE_ANY,
     {"EBUSY", "EBADF", "below", "ECANCELED", "aborts", "EPERM"},
     {call_start, call_flush, call_next, call_snapshot, call_snapshot_later,
      call_enable, call_disable, call_reset, call_change_period,
      call_apply_filter, call_attach_bpf, call_query_bpf}},
    {NULL, /* of these others */
     LIFE_EVENTS,
     {"EBUSY", "EBADF", "below", "ECANCELED", "aborts", "EPERM"},
     {call_event_read, call_event_id, call_event_set_output, call_event_refresh,
      call_event_pause, call_event_modify}},
    {NULL,
     LIFE_SETS,
     {"EBUSY", "EBADF", "below", "ECANCELED", "aborts", "EPERM"},
     {call_set_read, call_set_read_start, call_set_read_stop, call_set_add,
      call_set_remove, call_set_fill_map}},
    {NULL,
     LIFE_READERS,
     {"EBUSY", "EBADF", "below", "ECANCELED", "aborts", "EPERM"},
     {call_publish, call_unpublish}},
    {"stop",
     LIFE_ANY,
     {"EBUSY", "EBADF", "0", "0", "aborts", "EPERM"},
     {call_stop}},
    {"on_cpu with NULL",
     LIFE_ANY,
     {"0", "0", "0", "ECANCELED", "aborts", "EPERM"},
     {call_on_cpu}},
    {"set_on_end with NULL",
     LIFE_SETS,
     {"0", "0", "0", "ECANCELED", "aborts", "EPERM"},
     {call_set_on_end}},
    {"ring",
     LIFE_ANY,
     {"EINVAL", "EINVAL", "0", "ECANCELED", "aborts", "0"},
     {call_ring}},
    {"bpf_reader_cpu_status",
     LIFE_READERS,
     {"EBUSY", "EBADF", "0", "0", "aborts", "0"},
     {call_cpu_status}},
    {"nr_rings",
     LIFE_ANY,
     {"0", "0", "1", "0", "aborts", "1"},
     {call_nr_rings}},
    {"has_record",
     LIFE_ANY,
     {"0", "0", "below", "0", "aborts", "0"},
     {call_has_record}},
    {"handle_attr of an event",
     LIFE_EVENTS,
     {"1", "1", "1", "1", "aborts", "1"},
     {call_handle_attr}},
    {"handle_attr of others",
     LIFE_SETS | LIFE_READERS,
     {"0", "0", "1", "1", "aborts", "1"},
     {call_handle_attr}},
    {"event_fd",
     LIFE_EVENTS,
     {"0", "0", "1", "1", "aborts", "1"},
     {call_event_fd}},
    {"set_item, set_nr_attrs, set_nr_open, set_fd",
     LIFE_SETS,
     {"0", "0", "1", "1", "aborts", "1"},
     {call_set_item, call_set_nr_attrs, call_set_nr_open, call_set_fd}},
    {"changes", LIFE_ANY, {"0", "0", "0", "0", "aborts", "0"}, {call_changes}},
    {"set_failures",
     LIFE_SETS,
     {"0", "0", "0", "0", "aborts", "0"},
     {call_set_failures}},
    {"is_active",
     LIFE_ANY,
     {"1", "0", "below", "0", "0", "below"},
     {call_is_active}},
    {"is_closing", LIFE_ANY, {"0", "0", "0", "1", "1", "0"}, {call_is_closing}},
    {"has_ref", LIFE_ANY, {"1", "1", "1", "1", "0", "1"}, {call_has_ref}},
};

static const row_t of_delivery[] = {
    /* never started, started, stopped, ended, in a callback, snapping */
    {"start",
     LIFE_ANY,
     {"0", "EALREADY", "0", "EINVAL", "EALREADY", "EALREADY"},
     {call_start}},
    {"stop", LIFE_ANY, {"0", "0", "0", "0", "0", "0"}, {call_stop}},
    {"flush",
     LIFE_PLAIN,
     {"EINVAL", "0", "0", "0", "EBUSY", "-"},
     {call_flush}},
    {"flush, overwritable",
     LIFE_FLIGHTS,
     {"EINVAL", "EINVAL", "EINVAL", "-", "EINVAL", "EINVAL"},
     {call_flush}},
    {"next",
     LIFE_PLAIN,
     {"EAGAIN", "EBUSY", "0", "EOF", "EBUSY", "-"},
     {call_next}},
    {"next, overwritable, of an event",
     LIFE_FLIGHT,
     {"EBUSY", "EBUSY", "EBUSY", "-", "EBUSY", "EBUSY"},
     {call_next}},
    {"next, overwritable, of others",
     LIFE_FLIGHTS & ~LIFE_FLIGHT,
     {"EINVAL", "EINVAL", "EINVAL", "-", "EBUSY", "EINVAL"},
     {call_next}},
    {"snapshot",
     LIFE_PLAIN,
     {"EINVAL", "EINVAL", "EINVAL", "EINVAL", "EINVAL", "-"},
     {call_snapshot, call_snapshot_later}},
    {"snapshot, overwritable",
     LIFE_FLIGHTS,
     {"EINVAL", "0", "0", "-", "EBUSY", "EBUSY"},
     {call_snapshot, call_snapshot_later}},
    {"has_record",
     LIFE_PLAIN,
     {"0", "1", "1", "0", "0", "-"},
     {call_has_record}},
    {"has_record, overwritable",
     LIFE_FLIGHTS,
     {"0", "1", "1", "-", "0", "1"},
     {call_has_record}},
    {"is_active", LIFE_PLAIN, {"0", "1", "0", "0", "1", "-"}, {call_is_active}},
    {"is_active, overwritable",
     LIFE_FLIGHTS,
     {"0", "0", "0", "-", "0", "0"},
     {call_is_active}},
    {"enable, disable, reset, change_period, query_bpf",
     LIFE_EVENTS | LIFE_SETS,
     {"0", "0", "0", "0", "0", "0"},
     {call_enable, call_disable, call_reset, call_change_period,
      call_query_bpf}},
    {"the same of a reader",
     LIFE_READERS,
     {"EINVAL", "EINVAL", "EINVAL", "EINVAL", "EINVAL", "EINVAL"},
     {call_enable, call_disable, call_reset, call_change_period,
      call_query_bpf}},
    {"bpf_reader_publish, bpf_reader_unpublish",
     LIFE_READERS,
     {"0", "0", "0", "0", "0", "0"},
     {call_publish, call_unpublish}},
    {"event_pause",
     LIFE_EVENTS,
     {"0", "0", "0", "0", "0", "EBUSY"},
     {call_event_pause}},
};

/* -- checking a table ------------------------------------------------------ */

/* Returns whether a cell allows a result. */
static int allows(const char *cell, int result) {
  return result < 0 ? strcmp(cell, uv_err_name(result)) == 0
                    : strcmp(cell, result == 0 ? "0" : "1") == 0;
}

static void check(life_t *life, const row_t *row, int call, int column,
                  int result) {
  if (!allows(row->cells[column], result))
    fail_msg("%s (call %d), a %s, column %d: %s%d, not %s",
             row->text == NULL ? "of others" : row->text, call, life_name(life),
             column, result < 0 ? uv_err_name(result) : "", result,
             row->cells[column]);
}

typedef int (*run_fn)(life_t *life, int (*call)(life_t *life));

/* Runs each call of a table in one state, which it reaches and leaves. */
static void each_call(life_t *life, const row_t *rows, size_t nr_rows,
                      int column, run_fn run) {
  const char *cell;
  size_t i, call;

  for (i = 0; i < nr_rows; i++) {
    cell = rows[i].cells[column];
    if (!(rows[i].kinds & life->kind) || strcmp(cell, "-") == 0 ||
        strcmp(cell, "below") == 0)
      continue;
    for (call = 0; rows[i].calls[call] != NULL; call++) {
      check(life, &rows[i], (int)call, column, run(life, rows[i].calls[call]));
      life_end(life);
    }
  }
}

#define HANDLES(column, run)                                                   \
  each_call(life, of_handles, sizeof(of_handles) / sizeof(of_handles[0]),      \
            column, run)
#define DELIVERY(column, run)                                                  \
  each_call(life, of_delivery, sizeof(of_delivery) / sizeof(of_delivery[0]),   \
            column, run)

/* -- states of a handle ---------------------------------------------------- */

static int in_opening(life_t *life, int (*call)(life_t *life)) {
  life_reach(life, LIFE_OPENING);
  return call(life);
}

static void handle_being_opened_returns_what_the_table_says(life_t *life) {
  HANDLES(0, in_opening);
}

static int in_failed(life_t *life, int (*call)(life_t *life)) {
  life_reach(life, LIFE_FAILED);
  return call(life);
}

static void handle_that_did_not_open_returns_what_the_table_says(life_t *life) {
  HANDLES(1, in_failed);
}

static int in_open(life_t *life, int (*call)(life_t *life)) {
  life_reach(life, LIFE_OPEN);
  return call(life);
}

static void handle_that_is_open_returns_what_the_table_says(life_t *life) {
  HANDLES(2, in_open);
}

static int (*call_now)(life_t *life);
static int result;

static void make_call(life_t *life) {
  uvperf_stats_t stats;

  uvperf_stats(life->handle, &stats);
  if (uvperf_is_closing(life->handle))
    assert_int_equal(stats.records, life->records);
  result = call_now(life);
}

/* After the call of close, and in the close callback, where it keeps no loop
 * alive any more. */
static int in_closing(life_t *life, int (*call)(life_t *life)) {
  int first;

  life_reach(life, LIFE_STARTED);
  if (life->kind & LIFE_PLAIN)
    assert_int_equal(uvperf_flush(life->handle), 0);
  life_close(life);
  call_now = call;
  make_call(life);
  first = result;
  life_act(life, LIFE_CLOSED, 1, make_call);
  while (life->closed == 0)
    life_turns(life, 1);
  assert_int_equal(result, call == call_has_ref ? 0 : first);
  return first;
}

static void handle_that_closes_returns_what_the_table_says(life_t *life) {
  HANDLES(3, in_closing);
}

/* In a child, whose memory of the handle stays. */
static int be_closed(void *arg) {
  life_t *life = arg;

  uv_loop_fork(life->loop);
  uvperf_close(life->handle, NULL);
  life_turns(life, 10);
  return life->handle->impl != NULL ? 3 : call_now(life) != 0;
}

static int in_closed(life_t *life, int (*call)(life_t *life)) {
  life_reach(life, LIFE_OPEN);
  call_now = call;
  return support_wait(support_fork(be_closed, life));
}

static void handle_that_is_closed_returns_what_the_table_says(life_t *life) {
  size_t i, call;

#ifdef NDEBUG
  support_skip(life->test, "a build with asserts (no NDEBUG)");
#endif
  for (i = 0; i < sizeof(of_handles) / sizeof(of_handles[0]); i++)
    for (call = 0; of_handles[i].calls[call] != NULL; call++) {
      if (!(of_handles[i].kinds & life->kind))
        continue;
      result = in_closed(life, of_handles[i].calls[call]);
      if (result != 128 + SIGABRT)
        check(life, &of_handles[i], (int)call, 4, result);
      else
        assert_string_equal(of_handles[i].cells[4], "aborts");
      life_end(life);
    }
}

static int in_child(life_t *life, int (*call)(life_t *life)) {
  int rc;

  life_reach(life, LIFE_STARTED);
  fake_process(4711);
  rc = call(life);
  fake_process(0);
  return rc;
}

static void handle_of_the_parent_returns_what_the_table_says(life_t *life) {
  HANDLES(5, in_child);
}

/* -- states of delivery ---------------------------------------------------- */

static void handle_never_started_returns_what_the_table_says(life_t *life) {
  DELIVERY(0, in_open);
}

static int in_started(life_t *life, int (*call)(life_t *life)) {
  life_reach(life, LIFE_STARTED);
  return call(life);
}

static void handle_that_is_started_returns_what_the_table_says(life_t *life) {
  DELIVERY(1, in_started);
}

static int in_stopped(life_t *life, int (*call)(life_t *life)) {
  life_reach(life, LIFE_STOPPED);
  return call(life);
}

static void handle_that_is_stopped_returns_what_the_table_says(life_t *life) {
  DELIVERY(2, in_stopped);
}

static int in_ended(life_t *life, int (*call)(life_t *life)) {
  life_reach(life, LIFE_ENDED);
  return call(life);
}

static void handle_that_has_ended_returns_what_the_table_says(life_t *life) {
  DELIVERY(3, in_ended);
}

static int in_callback(life_t *life, int (*call)(life_t *life)) {
  life_reach(life, LIFE_STARTED);
  call_now = call;
  life_act(life, LIFE_RECORD, 2, make_call);
  life_deliver(life, life->kind & LIFE_FLIGHTS ? LIFE_SNAPSHOT : LIFE_TURN);
  while (life->records < 2)
    life_turns(life, 1);
  return result;
}

static void handle_in_its_callback_returns_what_the_table_says(life_t *life) {
  DELIVERY(4, in_callback);
}

static int in_snapshot(life_t *life, int (*call)(life_t *life)) {
  life_reach(life, LIFE_SNAPPING);
  return call(life);
}

static void handle_with_a_snapshot_returns_what_the_table_says(life_t *life) {
  DELIVERY(5, in_snapshot);
}

/* -- the text -------------------------------------------------------------- */

static void find_rows(const char *readme, const row_t *rows, size_t nr_rows) {
  char line[512];
  size_t i, column, used;

  for (i = 0; i < nr_rows; i++) {
    if (rows[i].text == NULL)
      continue;
    used = (size_t)snprintf(line, sizeof(line), "| %s |", rows[i].text);
    for (column = 0; column < COLUMNS; column++)
      used += (size_t)snprintf(line + used, sizeof(line) - used, " %s |",
                               rows[i].cells[column]);
    if (strstr(readme, line) == NULL)
      fail_msg("lib/README.md lacks: %s", line);
  }
}

static void readme_of_the_library_has_the_tables(life_t *life) {
  static char readme[64 * 1024];
  FILE *file = fopen(UVPERF_TEST_DIR "/../lib/README.md", "r");
  size_t size;

  if (file == NULL)
    support_skip(life->test, "the source of the library");
  size = fread(readme, 1, sizeof(readme) - 1, file);
  readme[size] = '\0';
  fclose(file);
  find_rows(readme, of_handles, sizeof(of_handles) / sizeof(of_handles[0]));
  find_rows(readme, of_delivery, sizeof(of_delivery) / sizeof(of_delivery[0]));
}

int main(void) {
  const unsigned int kinds = LIFE_ANY | LIFE_SCRIPTED;
  const life_test_t tests[] = {
      LIFE_TEST(handle_being_opened_returns_what_the_table_says, kinds),
      LIFE_TEST(handle_that_did_not_open_returns_what_the_table_says, kinds),
      LIFE_TEST(handle_that_is_open_returns_what_the_table_says, kinds),
      LIFE_TEST(handle_that_closes_returns_what_the_table_says, kinds),
      LIFE_TEST(handle_that_is_closed_returns_what_the_table_says, kinds),
      LIFE_TEST(handle_of_the_parent_returns_what_the_table_says, kinds),
      LIFE_TEST(handle_never_started_returns_what_the_table_says, kinds),
      LIFE_TEST(handle_that_is_started_returns_what_the_table_says, kinds),
      LIFE_TEST(handle_that_is_stopped_returns_what_the_table_says, kinds),
      LIFE_TEST(handle_that_has_ended_returns_what_the_table_says,
                LIFE_PLAIN | LIFE_SCRIPTED),
      LIFE_TEST(handle_in_its_callback_returns_what_the_table_says, kinds),
      LIFE_TEST(handle_with_a_snapshot_returns_what_the_table_says,
                LIFE_FLIGHTS | LIFE_SCRIPTED),
      LIFE_TEST(readme_of_the_library_has_the_tables,
                LIFE_EVENT | LIFE_SCRIPTED),
  };

  return life_main(tests, sizeof(tests) / sizeof(tests[0]));
}
