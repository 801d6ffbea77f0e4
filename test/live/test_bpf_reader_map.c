/* SPDX-License-Identifier: MIT */
/* Live: when the events of a reader are in the map, after start, stop, pause
 * and resume in any order. */
#include "live_bpf_reader.h"

#include <unistd.h>

#include <linux/bpf.h>

#include "live_bpf.h"
#include "sys/sys.h"

/* Whether programs find the events. Counts as sent. */
static int is_in(live_bpf_reader_t *live) {
  int rc = live_bpf_reader_send(live, live_last_cpu(), 24);

  assert_true(rc == 0 || rc == -ENOENT);
  return rc == 0;
}

static void start(live_bpf_reader_t *live, uint32_t flags) {
  uvperf_stream_options_t stream = live_bpf_reader_plain;

  stream.flags = flags;
  live_bpf_reader_start(live, &stream);
}

static void stop(live_bpf_reader_t *live) {
  assert_int_equal(uvperf_stop(&live->reader.handle), 0);
}

static void pause_it(live_bpf_reader_t *live) {
  assert_int_equal(uvperf_bpf_reader_unpublish(&live->reader, NULL), 0);
}

static void resume(live_bpf_reader_t *live) {
  assert_int_equal(uvperf_bpf_reader_publish(&live->reader, NULL), 0);
}

/* -- when the events are in the map --------------------------------------- */

/* s: start, n: start with UVPERF_START_NO_ENABLE, x: stop, p: pause, r: resume;
 * upper case: the events are in the map then. */
static void run_calls(uv_loop_t *loop, const char *test, const char *calls) {
  live_bpf_reader_t live;
  const char *call;

  live_bpf_reader_make(test, &live, 0);
  live_bpf_reader_open(loop, &live, NULL);
  assert_false(is_in(&live));
  for (call = calls; *call != '\0'; call++) {
    switch (*call | 0x20) {
      case 's':
        start(&live, 0);
        break;
      case 'n':
        start(&live, UVPERF_START_NO_ENABLE);
        break;
      case 'x':
        stop(&live);
        break;
      case 'p':
        pause_it(&live);
        break;
      default:
        resume(&live);
        break;
    }
    if (is_in(&live) != !(*call & 0x20))
      fail_msg("%s, at %s", calls, call);
  }
  start(&live, UVPERF_START_NO_ENABLE);
  assert_true(live_run_until(loop, &live.samples, live.sent));
  assert_int_equal(live.strange + live.others + live.faults, 0);
  live_bpf_reader_end(&live);
}

static void events_are_in_the_map_until_they_are_taken_out(void **state) {
  static const char *const scripts[] = {
      "SX",    "SXSXX",   "SpRX",    "SppRRX", "SpxsRX",  "psRX",
      "nx",    "nxSX",    "nRX",     "RSX",    "RSpRX",   "RpsRX",
      "RpR",   "pRXSX",   "SRX",     "SXRX",   "SpxRXSX", "nRpRXpx",
      "RSXpR", "SpxsxRX", "SXpsxRX", "SpRXSX", "psRXSX",  "nRXSXpnxR"};
  size_t i;

  for (i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++)
    run_calls(*state, __func__, scripts[i]);
}

/* -- the effect on samples ------------------------------------------------ */

static void pause_loses_nothing_and_programs_get_enoent(void **state) {
  live_bpf_reader_t live;
  uvperf_stats_t stats;

  live_bpf_reader_begin(__func__, *state, &live);
  live_bpf_reader_send_all(&live, 0, 3);
  pause_it(&live);
  assert_int_equal(live_bpf_reader_send(&live, 0, 24), -ENOENT);
  /* What is in the rings is delivered. */
  assert_true(live_run_until(*state, &live.samples, 3));
  assert_int_equal(uvperf_is_active(&live.reader.handle), 1);
  resume(&live);
  live_bpf_reader_send_all(&live, 0, 3);
  assert_true(live_run_until(*state, &live.samples, 6));
  uvperf_stats(&live.reader.handle, &stats);
  assert_int_equal(stats.lost_records, 0);
  live_bpf_reader_end(&live);
}

static void samples_written_before_start_wait_in_the_rings(void **state) {
  live_bpf_reader_t live;
  int last = live_last_cpu();

  live_bpf_reader_make(__func__, &live, 0);
  live_bpf_reader_open(*state, &live, NULL);
  resume(&live);
  live_bpf_reader_send_all(&live, 0, 3);
  live_bpf_reader_send_all(&live, last, 3);
  live_bpf_reader_start(&live, NULL);
  assert_true(live_run_until(*state, &live.samples, 6));
  stop(&live);
  live_bpf_reader_send_all(&live, last, 3);
  live_run_ms(*state, 5);
  assert_int_equal(live.samples, 6);
  assert_int_equal(uvperf_flush(&live.reader.handle), 0);
  assert_int_equal(live.samples, 9);
  live_bpf_reader_end(&live);
}

static void pause_in_callback(live_bpf_reader_t *live, int status,
                              const uvperf_record_t *sample) {
  if (live->samples % 2 == 0)
    pause_it(live);
  else
    resume(live);
}

static void pause_and_resume_work_in_the_callback(void **state) {
  live_bpf_reader_t live;

  live_bpf_reader_begin(__func__, *state, &live);
  live.on_sample = pause_in_callback;
  live_bpf_reader_send_all(&live, 0, 4);
  assert_true(live_run_until(*state, &live.samples, 4));
  assert_int_equal(live_bpf_reader_send(&live, 0, 24), -ENOENT);
  resume(&live);
  live_bpf_reader_send_all(&live, 0, 1);
  assert_true(live_run_until(*state, &live.samples, 5));
  assert_int_equal(live_bpf_reader_send(&live, 0, 24), 0);
  live_bpf_reader_end(&live);
}

static void count_comms(live_bpf_reader_t *live, int status,
                        const uvperf_record_t *sample) {
  /* Other processes may be called so too. */
  if (sample->type == PERF_RECORD_COMM && sample->comm.tid == live_tid())
    *(uint64_t *)live->hook_data += 1;
}

/* They are the event's, not the map's. */
static void records_beside_samples_go_on_while_paused(void **state) {
  uvperf_bpf_reader_options_t options = live_bpf_reader_options();
  struct perf_event_attr attr;
  live_bpf_reader_t live;
  uint64_t comms = 0;
  uint64_t next = 0;

  uvperf_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT);
  attr.sample_period = 1;
  attr.sample_type = PERF_SAMPLE_RAW;
  attr.comm = 1;
  options.attr = &attr;
  live_bpf_reader_begin_with(__func__, *state, &live, &options);
  live.on_sample = count_comms;
  live.hook_data = &comms;
  pause_it(&live);
  live_comm(&next, 2);
  assert_int_equal(uvperf_flush(&live.reader.handle), 0);
  assert_int_equal(comms, 2);
  stop(&live);
  live_comm(&next, 2);
  assert_int_equal(uvperf_flush(&live.reader.handle), 0);
  assert_int_equal(comms, 4);
  live_bpf_reader_end(&live);
}

/* -- others at the map ---------------------------------------------------- */

static void second_reader_takes_the_place_of_the_first(void **state) {
  live_bpf_reader_t first, second;

  live_bpf_array_need_files(__func__);
  live_bpf_reader_begin(__func__, *state, &first);
  memset(&second, 0, sizeof(second));
  second.array = first.array;
  second.output = first.output;
  live_bpf_reader_open(*state, &second, NULL);
  live_bpf_reader_start(&second, NULL);
  live_bpf_reader_send_all(&second, 0, 2);
  assert_true(live_run_until(*state, &second.samples, 2));
  assert_int_equal(first.records, 0);
  /* Closing the first one does not close the second one's. */
  live_bpf_reader_close(&first);
  live_bpf_reader_send_all(&second, 0, 2);
  assert_true(live_run_until(*state, &second.samples, 4));
  live_bpf_reader_close(&second);
  assert_int_equal(live_bpf_reader_send(&second, 0, 24), -ENOENT);
  live_bpf_reader_unmake(&first);
}

/* A foreign entry, of a CPU that this machine does not have. */
static void entries_of_others_stay(void **state) {
  struct perf_event_attr attr;
  live_bpf_reader_t live;
  int cpu = live_last_cpu();
  int fd;

  live_bpf_reader_make(__func__, &live, 4096);
  uvperf_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT);
  attr.sample_type = PERF_SAMPLE_RAW;
  attr.sample_period = 1;
  fd = uvperf__sys_open(&attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
  assert_true(fd >= 0);
  assert_int_equal(live_bpf_array_put(live.array, 4000, fd), 0);
  live_bpf_reader_open(*state, &live, NULL);
  live_bpf_reader_start(&live, NULL);
  pause_it(&live);
  live_bpf_reader_close(&live);
  assert_int_equal(live_bpf_array_take(live.array, 4000), 0);
  assert_int_equal(live_bpf_array_take(live.array, 0), -ENOENT);
  assert_int_equal(close(fd), 0);
  live_bpf_reader_unmake(&live);
}

/* The file by which they were put there may live on in a child. */
static void entries_are_gone_when_close_returns(void **state) {
  live_bpf_reader_t live;

  live_bpf_reader_begin(__func__, *state, &live);
  assert_true(is_in(&live));
  uvperf_close(&live.reader.handle, live_bpf_reader_on_close);
  assert_false(is_in(&live));
  live_bpf_reader_wait_closed(&live);
  live_bpf_reader_unmake(&live);
}

/* -- a map that cannot be changed ----------------------------------------- */

static void freeze(int array) {
  union bpf_attr attr;

  memset(&attr, 0, sizeof(attr));
  attr.map_fd = (uint32_t)array;
  assert_int_equal(live_bpf_call(BPF_MAP_FREEZE, &attr), 0);
}

static void frozen_map_is_not_started(void **state) {
  live_bpf_reader_t live;
  uvperf_error_t error;

  live_bpf_reader_make(__func__, &live, 0);
  freeze(live.array);
  live_bpf_reader_open(*state, &live, NULL);
  assert_int_equal(uvperf_start(&live.reader.handle, NULL,
                                live_bpf_reader_on_sample, &error),
                   UV_EPERM);
  assert_int_equal(error.cause, UVPERF_CAUSE_PERMISSION);
  assert_non_null(strstr(error.reason, "BPF_MAP_FREEZE"));
  assert_int_equal(uvperf_is_active(&live.reader.handle), 0);
  assert_int_equal(uvperf_bpf_reader_publish(&live.reader, &error), UV_EPERM);
  assert_int_equal(uvperf_bpf_reader_unpublish(&live.reader, NULL), 0);
  live_bpf_reader_end(&live);
}

/* Once it is frozen the events cannot be taken out. */
static void map_frozen_while_started_keeps_its_events(void **state) {
  live_bpf_reader_t live;
  uvperf_error_t error;

  live_bpf_reader_begin(__func__, *state, &live);
  freeze(live.array);
  live_bpf_reader_send_all(&live, 0, 2);
  assert_int_equal(uvperf_bpf_reader_unpublish(&live.reader, &error), UV_EPERM);
  assert_int_equal(error.cause, UVPERF_CAUSE_PERMISSION);
  live_bpf_reader_send_all(&live, 0, 1);
  assert_true(live_run_until(*state, &live.samples, 3));
  stop(&live);
  live_bpf_reader_send_all(&live, 0, 1);
  live_bpf_reader_start(&live, NULL);
  live_bpf_reader_send_all(&live, 0, 1);
  assert_true(live_run_until(*state, &live.samples, 5));
  live_bpf_reader_end(&live);
}

/* A child that never closes, and lives longer than the parent's handle. */
static int wait_for_the_parent(void *arg) {
  char byte;

  return read(*(int *)arg, &byte, 1) == 0 ? 0 : 1;
}

/* It has the file by which the events were put into the map: they are in it as
 * long as the child lives, but they are off. */
static void reader_closed_while_a_child_lives_is_off(void **state) {
  live_bpf_reader_t live;
  int ends[2];
  pid_t pid;

  live_bpf_array_need_files(__func__);
  live_bpf_reader_begin(__func__, *state, &live);
  assert_int_equal(pipe(ends), 0);
  fflush(NULL);
  pid = fork();
  if (pid == 0) {
    close(ends[1]);
    _exit(wait_for_the_parent(&ends[0]));
  }
  assert_true(pid > 0);
  live_bpf_reader_send_all(&live, 0, 1);
  assert_true(live_run_until(*state, &live.samples, 1));
  uvperf_close(&live.reader.handle, live_bpf_reader_on_close);
  assert_int_equal(live_bpf_reader_send(&live, 0, 24), -EOPNOTSUPP);
  live_bpf_reader_wait_closed(&live);
  assert_int_equal(live_bpf_reader_send(&live, 0, 24), -EOPNOTSUPP);
  /* Another reader of the map is not disturbed, nor by the child's end. */
  live_bpf_reader_open(*state, &live, NULL);
  live_bpf_reader_start(&live, NULL);
  live_bpf_reader_send_all(&live, 0, 1);
  assert_true(live_run_until(*state, &live.samples, 2));
  assert_int_equal(close(ends[1]), 0);
  assert_int_equal(support_wait(pid), 0);
  assert_int_equal(close(ends[0]), 0);
  live_bpf_reader_send_all(&live, 0, 1);
  assert_true(live_run_until(*state, &live.samples, 3));
  live_bpf_reader_end(&live);
}

#define LIVE(test) support_loop_test(test)

int main(void) {
  const struct CMUnitTest tests[] = {
      LIVE(events_are_in_the_map_until_they_are_taken_out),
      LIVE(pause_loses_nothing_and_programs_get_enoent),
      LIVE(samples_written_before_start_wait_in_the_rings),
      LIVE(pause_and_resume_work_in_the_callback),
      LIVE(records_beside_samples_go_on_while_paused),
      LIVE(second_reader_takes_the_place_of_the_first),
      LIVE(entries_of_others_stay),
      LIVE(entries_are_gone_when_close_returns),
      LIVE(frozen_map_is_not_started),
      LIVE(map_frozen_while_started_keeps_its_events),
      LIVE(reader_closed_while_a_child_lives_is_off),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
