/* SPDX-License-Identifier: MIT */
/* Events that share a ring, with the running kernel: which event each record
 * belongs to, and what happens to records, rings and polled fds when events
 * come and go. */
#include "live.h"

#include <linux/hw_breakpoint.h>

/* A second word, for a second breakpoint. */
static volatile uint64_t other_word;

static void write_other(uint64_t nr) {
  uint64_t i;

  for (i = 0; i < nr; i++)
    other_word = i;
}

/* The records received, by writer. */
typedef struct tally_s {
  uvperf_event_t owner;
  uvperf_event_t writer;
  uint64_t records;
  uint64_t own;
  uint64_t written;
  uint64_t nobodys; /* source->data was NULL */
  uint64_t wrong;   /* not what its event writes */
  uint64_t corrupt;
  uint64_t ends;
  int end_status;
  void (*hook)(struct tally_s *tally, const uvperf_record_t *record);
} tally_t;

static int is_of_owner(const uvperf_record_t *record) {
  return record->type == PERF_RECORD_SAMPLE &&
         record->addr == (uintptr_t)&live_word &&
         record->source->attr->bp_addr == (uintptr_t)&live_word;
}

/* Its attr has a period and a time, and no address. */
static int is_of_writer(const uvperf_record_t *record) {
  return record->type == PERF_RECORD_SAMPLE && record->addr == 0 &&
         record->period == 1 && record->time != 0 &&
         record->source->attr->bp_addr == (uintptr_t)&other_word;
}

static void on_record(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record) {
  tally_t *tally = handle->data;
  int is_own;

  if (record->type == UVPERF_RECORD_NONE) {
    tally->ends += status != 0;
    tally->end_status = status;
    return;
  }
  if (tally->hook != NULL)
    tally->hook(tally, record);
  tally->records += 1;
  if (status != 0) {
    tally->corrupt += 1;
    return;
  }
  is_own = is_of_owner(record);
  tally->wrong += !is_own && !is_of_writer(record);
  tally->own += is_own && record->source->data == &tally->owner;
  tally->written += !is_own && record->source->data == &tally->writer;
  tally->nobodys += record->source->data == NULL;
}

static void owner_attr(struct perf_event_attr *attr) {
  live_write_attr(attr, PERF_SAMPLE_ADDR | PERF_SAMPLE_TID);
}

static void writer_attr(struct perf_event_attr *attr) {
  live_write_attr(attr,
                  PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD | PERF_SAMPLE_TID);
  attr->bp_addr = (uintptr_t)&other_word;
}

static void init(uv_loop_t *loop, uvperf_event_t *event,
                 const struct perf_event_attr *attr, uint32_t flags) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  uvperf_error_t error = {0};

  options.flags = flags;
  if (uvperf_event_init(loop, event, attr, &options, &error) != 0)
    fail_msg("init: %s", error.reason);
}

static void init_owner(uv_loop_t *loop, tally_t *tally) {
  struct perf_event_attr attr;

  memset(tally, 0, sizeof(*tally));
  owner_attr(&attr);
  init(loop, &tally->owner, &attr, UVPERF_EVENT_IDENTIFY);
  tally->owner.handle.data = tally;
}

static void init_writer(uv_loop_t *loop, uvperf_event_t *writer) {
  struct perf_event_attr attr;

  writer_attr(&attr);
  init(loop, writer, &attr, UVPERF_EVENT_IDENTIFY | UVPERF_EVENT_NO_RING);
}

static void start(tally_t *tally) {
  uvperf_stream_options_t options = UVPERF_STREAM_OPTIONS_INIT;

  options.flush_ms = -1;
  options.slice_us = LIVE_SLICE_US;
  assert_int_equal(
      uvperf_start(&tally->owner.handle, &options, on_record, NULL), 0);
}

static void redirect(uvperf_event_t *writer, uvperf_event_t *owner) {
  uvperf_error_t error = {0};

  if (uvperf_event_set_output(writer, owner, &error) != 0)
    fail_msg("set_output: %s", error.reason);
}

/* An owner and a writer that writes into its ring, both running. */
static void share(uv_loop_t *loop, tally_t *tally) {
  init_owner(loop, tally);
  init_writer(loop, &tally->writer);
  redirect(&tally->writer, &tally->owner);
  start(tally);
  assert_int_equal(uvperf_start(&tally->writer.handle, NULL, NULL, NULL), 0);
}

static void run(uv_loop_t *loop, tally_t *tally, uint64_t records) {
  live_run_until(loop, &tally->records, records);
  live_run_ms(loop, 1);
  assert_int_equal(tally->records, records);
  assert_int_equal(tally->wrong, 0);
  assert_int_equal(tally->corrupt, 0);
}

static void close_both(uv_loop_t *loop, tally_t *tally) {
  uvperf_close(&tally->owner.handle, NULL);
  uvperf_close(&tally->writer.handle, NULL);
  live_run_ms(loop, 1);
}

static void output_moved_to_another_ring_leaves_the_first(void **state) {
  tally_t first, second;

  support_need_breakpoints(__func__);
  share(*state, &first);
  init_owner(*state, &second);
  start(&second);
  write_other(3);
  redirect(&first.writer, &second.owner);
  write_other(4);
  live_write(1);
  run(*state, &first, 4);
  assert_int_equal(first.written, 3);
  assert_int_equal(first.own, 1);
  live_run_until(*state, &second.records, 5);
  assert_int_equal(second.own, 1);
  assert_int_equal(second.records, 5);
  assert_int_equal(second.wrong, 0);
  uvperf_close(&second.owner.handle, NULL);
  close_both(*state, &first);
}

/* The writer has lost its ring, and takes another. */
static void output_of_a_closed_owner_can_be_set_again(void **state) {
  tally_t first, second;

  support_need_breakpoints(__func__);
  share(*state, &first);
  uvperf_close(&first.owner.handle, NULL);
  write_other(1);
  live_run_ms(*state, 1);
  write_other(1);
  assert_int_equal(first.records, 0);
  init_owner(*state, &second);
  start(&second);
  redirect(&first.writer, &second.owner);
  write_other(2);
  live_run_until(*state, &second.records, 2);
  assert_int_equal(second.records, 2);
  assert_int_equal(second.wrong, 0);
  uvperf_close(&second.owner.handle, NULL);
  uvperf_close(&first.writer.handle, NULL);
  live_run_ms(*state, 1);
}

/* The output's output is meant. */
static void output_of_an_event_that_is_redirected_is_the_owners(void **state) {
  uvperf_event_t third;
  tally_t tally;

  support_need_breakpoints(__func__);
  share(*state, &tally);
  init_writer(*state, &third);
  redirect(&third, &tally.writer);
  assert_int_equal(uvperf_start(&third.handle, NULL, NULL, NULL), 0);
  write_other(1);
  run(*state, &tally, 2);
  assert_int_equal(tally.written, 1);
  uvperf_close(&third.handle, NULL);
  close_both(*state, &tally);
}

/* -- in a callback -------------------------------------------------------- */

/* The record must not change while its decoder is replaced, twice. */
static void redirect_once(tally_t *tally, const uvperf_record_t *record) {
  uvperf_record_t before = *record;

  if (tally->records != 0)
    return;
  redirect(&tally->writer, &tally->owner);
  redirect(&tally->writer, NULL);
  redirect(&tally->writer, &tally->owner);
  tally->wrong += memcmp(&before, record, sizeof(before)) != 0;
}

static void output_set_in_a_callback_keeps_the_record(void **state) {
  tally_t tally;

  support_need_breakpoints(__func__);
  init_owner(*state, &tally);
  init_writer(*state, &tally.writer);
  tally.hook = redirect_once;
  start(&tally);
  assert_int_equal(uvperf_start(&tally.writer.handle, NULL, NULL, NULL), 0);
  live_write(3);
  run(*state, &tally, 3);
  write_other(2);
  run(*state, &tally, 5);
  assert_int_equal(tally.own, 3);
  assert_int_equal(tally.written, 2);
  close_both(*state, &tally);
}

static void close_writer(tally_t *tally, const uvperf_record_t *record) {
  if (tally->records == 1)
    uvperf_close(&tally->writer.handle, NULL);
}

static void close_owner(tally_t *tally, const uvperf_record_t *record) {
  if (tally->records == 1)
    uvperf_close(&tally->owner.handle, NULL);
}

/* -- by next -------------------------------------------------------------- */

static void output_shared_ring_is_read_by_next(void **state) {
  const uvperf_record_t *record;
  uint64_t own = 0, written = 0;
  tally_t tally;
  int rc;

  support_need_breakpoints(__func__);
  init_owner(*state, &tally);
  init_writer(*state, &tally.writer);
  redirect(&tally.writer, &tally.owner);
  assert_int_equal(uvperf_enable(&tally.owner.handle, 0, NULL), 0);
  assert_int_equal(uvperf_enable(&tally.writer.handle, 0, NULL), 0);
  live_write(2);
  write_other(3);
  while ((rc = uvperf_next(&tally.owner.handle, &record)) == 0) {
    own += (uint64_t)is_of_owner(record);
    written += (uint64_t)is_of_writer(record);
    /* A new decoder while the user has a record of the old one. */
    redirect(&tally.writer, own == 1 ? NULL : &tally.owner);
    assert_true(is_of_owner(record) || is_of_writer(record));
  }
  assert_int_equal(rc, UV_EAGAIN);
  assert_int_equal(own, 2);
  assert_int_equal(written, 3);
  close_both(*state, &tally);
}

/* -- other records -------------------------------------------------------- */

/* Registers of each event by its own mask (go-perf TestSampleUserRegisters, in
 * one ring). */
static void count_registers(tally_t *tally, const uvperf_record_t *record) {
  const uvperf_regs_t *regs = &record->sample.regs_user;
  uint64_t nr = record->source->data == &tally->owner ? 1 : 3;

  tally->wrong += regs->nr != nr;
  tally->wrong += regs->mask != (nr == 1 ? 2u : 7u);
}

static void output_each_event_has_its_own_registers(void **state) {
  struct perf_event_attr attr;
  tally_t tally;

  support_need_breakpoints(__func__);
  memset(&tally, 0, sizeof(tally));
  owner_attr(&attr);
  attr.sample_type |= PERF_SAMPLE_REGS_USER;
  attr.sample_regs_user = 2;
  init(*state, &tally.owner, &attr, UVPERF_EVENT_IDENTIFY);
  tally.owner.handle.data = &tally;
  writer_attr(&attr);
  attr.sample_type |= PERF_SAMPLE_REGS_USER;
  attr.sample_regs_user = 7;
  init(*state, &tally.writer, &attr,
       UVPERF_EVENT_IDENTIFY | UVPERF_EVENT_NO_RING);
  redirect(&tally.writer, &tally.owner);
  tally.hook = count_registers;
  start(&tally);
  assert_int_equal(uvperf_start(&tally.writer.handle, NULL, NULL, NULL), 0);
  live_write(2);
  write_other(2);
  run(*state, &tally, 4);
  assert_int_equal(tally.own, 2);
  assert_int_equal(tally.written, 2);
  close_both(*state, &tally);
}

/* Side-band records of a writer wake no process if the ring has no watermark:
 * the flush timer is needed once such an event writes there. */
static void output_of_sideband_comes_by_the_default_flush(void **state) {
  live_collector_t owner;
  struct perf_event_attr attr;
  uvperf_event_t writer;
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  uint64_t next = 0;

  support_need_own_events(__func__);
  live_touch_attr(&attr, PERF_SAMPLE_TID);
  attr.watermark = 0;
  uvperf_attr_set_wakeup_events(&attr, 1);
  options.flags = UVPERF_EVENT_IDENTIFY;
  live_init(*state, &owner, &attr, &options);
  assert_int_equal(
      uvperf_start(&owner.event.handle, NULL, live_on_record, NULL), 0);
  assert_int_equal(uvperf_disable(&owner.event.handle, 0, NULL), 0);
  live_run_ms(*state, 1);
  owner.records = 0;
  live_comm_attr(&attr);
  init(*state, &writer, &attr, UVPERF_EVENT_IDENTIFY | UVPERF_EVENT_NO_RING);
  redirect(&writer, &owner.event);
  assert_int_equal(uvperf_start(&writer.handle, NULL, NULL, NULL), 0);
  live_comm(&next, 2);
  assert_true(live_run_until(*state, &owner.comms, 2));
  uvperf_close(&writer.handle, NULL);
  live_close(&owner);
}

/* -- leaks ---------------------------------------------------------------- */

static void output_1000_cycles_leave_nothing(void **state) {
  size_t fds, rings, bytes;
  tally_t tally;
  int i;

  support_need_breakpoints(__func__);
  init_owner(*state, &tally);
  start(&tally);
  live_run_ms(*state, 1);
  fds = support_count_fds();
  rings = support_count_rings(&bytes);
  for (i = 0; i < 1000; i++) {
    init_writer(*state, &tally.writer);
    redirect(&tally.writer, &tally.owner);
    assert_int_equal(uvperf_enable(&tally.writer.handle, 0, NULL), 0);
    write_other(1);
    uvperf_close(&tally.writer.handle, NULL);
    uv_run(*state, UV_RUN_NOWAIT);
  }
  run(*state, &tally, 1000);
  assert_int_equal(support_count_fds(), fds);
  assert_int_equal(support_count_rings(&bytes), rings);
  uvperf_close(&tally.owner.handle, NULL);
  live_run_ms(*state, 1);
}

/* -- rows ------------------------------------------------------------------ */

typedef struct row_s {
  const char *name;
  void (*hook)(tally_t *tally, const uvperf_record_t *record);
  const char *steps;
  uint64_t own, written, nobodys;
} row_t;

/* l, o: so many writes to the owner's word, and to the writer's
 * n: the writer goes to no ring   r: to the owner's   w: it is closed
 * =: so many records have come */
static const row_t rows[] = {
    /* go-perf TestReadRecord/RedirectedOutput, with any number of events. */
    {"output_shared_ring_decodes_each_by_its_own_attr", NULL,
     "l1 o1 l20 o30 =52", 21, 31, 0},
    {"output_none_stops_records_and_keeps_written_ones", NULL, "o3 n o5 l2 =5",
     2, 3, 0},
    {"output_of_a_closed_writer_is_still_delivered", NULL, "o3 w l2 o5 =5", 2,
     0, 3},
    /* At the end its earlier records are forgotten. */
    {"output_set_again_goes_on", NULL, "o1 n o10 r r o2 =3 n r o2 =5", 0, 5, 0},
    {"output_closed_in_a_callback_delivers_the_rest", close_writer, "o4 l1 =5",
     1, 1, 3},
    {"output_owner_closed_in_a_callback_delivers_no_more", close_owner, "o4 =2",
     0, 2, 0},
};

static void check_count(uvperf_event_t *event, uint64_t expected) {
  uvperf_count_t count;

  if (uvperf_is_closing(&event->handle))
    return;
  assert_int_equal(uvperf_event_read(event, &count, NULL), 0);
  assert_int_equal(count.value, expected);
  uvperf_close(&event->handle, NULL);
}

static void run_row(void **state) {
  uv_loop_t *loop = state[0];
  const row_t *row = state[1];
  uint64_t nr, own = 0, others = 0;
  const char *steps;
  tally_t tally;
  char *end, what;

  support_need_breakpoints(row->name);
  share(loop, &tally);
  tally.hook = row->hook;
  for (steps = row->steps; *steps != '\0'; steps = end + strspn(end, " ")) {
    what = *steps++;
    nr = strtoull(steps, &end, 10);
    if (what == 'l') {
      live_write(nr);
      own += nr;
    } else if (what == 'o') {
      write_other(nr);
      others += nr;
    } else if (what == '=') {
      run(loop, &tally, nr);
    } else if (what == 'w') {
      uvperf_close(&tally.writer.handle, NULL);
    } else {
      redirect(&tally.writer, what == 'r' ? &tally.owner : NULL);
    }
  }
  assert_int_equal(tally.own, row->own);
  assert_int_equal(tally.written, row->written);
  assert_int_equal(tally.nobodys, row->nobodys);
  check_count(&tally.owner, own);
  check_count(&tally.writer, others);
  live_run_ms(loop, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(output_moved_to_another_ring_leaves_the_first),
      support_loop_test(output_of_a_closed_owner_can_be_set_again),
      support_loop_test(output_of_an_event_that_is_redirected_is_the_owners),
      support_loop_test(output_set_in_a_callback_keeps_the_record),
      support_loop_test(output_shared_ring_is_read_by_next),
      support_loop_test(output_each_event_has_its_own_registers),
      support_loop_test(output_of_sideband_comes_by_the_default_flush),
      support_loop_test(output_1000_cycles_leave_nothing),
  };

  return SUPPORT_RUN_LOOP_ROWS_AND_TESTS(rows, run_row, tests);
}
