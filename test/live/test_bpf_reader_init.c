/* SPDX-License-Identifier: MIT */
/* Live: which options make a reader, what is reported about its rings, and what
 * is refused, with nothing left. */
#include "live_bpf_reader.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <linux/bpf.h>

#include "fake_kernel.h"
#include "live_bpf.h"
#include "live_bpffs.h"

/* -- maps ----------------------------------------------------------------- */

static void reader_goes_on_when_the_caller_closes_the_map(void **state) {
  live_bpf_reader_t live;
  int i;

  live_bpf_reader_make(__func__, &live, 0);
  live_bpf_reader_open(*state, &live, NULL);
  assert_int_equal(close(live.array), 0);
  live.array = -1;
  for (i = 1; i <= 3; i++) {
    live_bpf_reader_start(&live, NULL);
    live_bpf_reader_send_all(&live, live_last_cpu(), 1);
    assert_true(live_run_until(*state, &live.samples, (uint64_t)i));
    assert_int_equal(uvperf_stop(&live.reader.handle), 0);
    assert_int_equal(uvperf_bpf_reader_unpublish(&live.reader, NULL), 0);
    assert_int_equal(live_bpf_reader_send(&live, 0, 24), -ENOENT);
    assert_int_equal(uvperf_bpf_reader_publish(&live.reader, NULL), 0);
  }
  live_bpf_reader_end(&live);
}

static void reader_of_a_pinned_map_delivers(void **state) {
  uvperf_bpf_reader_options_t options = live_bpf_reader_options();
  live_bpf_reader_t live;
  live_bpffs_t bpffs;
  int array;

  live_bpf_reader_make(__func__, &live, 0);
  if (!live_bpffs_mount(&bpffs)) {
    live_bpf_reader_unmake(&live);
    support_skip(__func__, "mount(2), of a bpffs");
  }
  assert_int_equal(live_bpffs_pin(&bpffs, live.array), 0);
  options.path = bpffs.path;
  array = live.array;
  live.array = -1;
  live_bpf_reader_open(*state, &live, &options);
  /* It is copied, or of no use any more. */
  memset(bpffs.path, 'x', strlen(bpffs.path));
  live_bpf_reader_start(&live, NULL);
  live_bpf_reader_send_all(&live, 0, 2);
  assert_true(live_run_until(*state, &live.samples, 2));
  live.array = array;
  live_bpf_reader_close(&live);
  assert_int_equal(live_bpf_reader_send(&live, 0, 24), -ENOENT);
  live_bpf_reader_unmake(&live);
  live_bpffs_umount(&bpffs);
}

/* Programs on the other CPUs find no entry of theirs. */
static void map_of_one_entry_is_read_on_that_cpu(void **state) {
  live_bpf_reader_t live;
  int last = live_last_cpu();

  live_bpf_reader_make(__func__, &live, 1);
  if (last == 0) {
    live_bpf_reader_unmake(&live);
    support_skip(__func__, "two CPUs");
  }
  live_bpf_reader_open(*state, &live, NULL);
  live_bpf_reader_start(&live, NULL);
  assert_int_equal(uvperf_nr_rings(&live.reader.handle), 1);
  assert_int_equal(uvperf_bpf_reader_cpu_status(&live.reader, 0), 0);
  assert_int_equal(uvperf_bpf_reader_cpu_status(&live.reader, last), UV_E2BIG);
  assert_int_equal(uvperf_bpf_reader_cpu_status(&live.reader, -1), UV_ENOENT);
  live_bpf_reader_send_all(&live, 0, 2);
  assert_int_equal(live_bpf_reader_send(&live, last, 24), -E2BIG);
  assert_true(live_run_until(*state, &live.samples, 2));
  live_bpf_reader_end(&live);
}

static void cpus_of_the_list_alone_are_read(void **state) {
  uvperf_bpf_reader_options_t options = live_bpf_reader_options();
  live_bpf_reader_t live;
  int last = live_last_cpu();
  char list[16];

  live_bpf_reader_make(__func__, &live, 0);
  if (last == 0) {
    live_bpf_reader_unmake(&live);
    support_skip(__func__, "two CPUs");
  }
  snprintf(list, sizeof(list), "%d", last);
  options.cpus = list;
  live_bpf_reader_open(*state, &live, &options);
  live_bpf_reader_start(&live, NULL);
  assert_int_equal(uvperf_bpf_reader_cpu_status(&live.reader, last), 0);
  assert_int_equal(uvperf_bpf_reader_cpu_status(&live.reader, 0), UV_ENOENT);
  live_bpf_reader_send_all(&live, last, 1);
  assert_int_equal(live_bpf_reader_send(&live, 0, 24), -ENOENT);
  assert_true(live_run_until(*state, &live.samples, 1));
  live_bpf_reader_end(&live);
}

/* -- rings ---------------------------------------------------------------- */

static void rings_are_reported(void **state) {
  const size_t sizes[] = {1, support_page_bytes(), 5 * support_page_bytes(), 0};
  const size_t expected[] = {support_page_bytes(), support_page_bytes(),
                             8 * support_page_bytes(), 512 * 1024};
  uvperf_bpf_reader_options_t options = live_bpf_reader_options();
  uvperf_ring_info_t ring;
  live_bpf_reader_t live;
  int cpus[CPU_SETSIZE];
  size_t nr = CPU_SETSIZE;
  size_t i, at;

  assert_int_equal(uvperf_cpus(UVPERF_CPUS_ONLINE, cpus, &nr), 0);
  live_bpf_reader_make(__func__, &live, 0);
  for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
    options.ring_bytes = sizes[i];
    live_bpf_reader_open(*state, &live, &options);
    assert_int_equal(uvperf_nr_rings(&live.reader.handle), nr);
    for (at = 0; at < nr; at++) {
      assert_int_equal(uvperf_ring(&live.reader.handle, at, &ring), 0);
      assert_int_equal(ring.cpu, cpus[at]);
      assert_int_equal(ring.bytes, expected[i]);
      assert_int_equal(ring.nr_events, 1);
      assert_int_equal(ring.waiting, 0);
      assert_true(ring.fd >= 0);
    }
    assert_int_equal(uvperf_ring(&live.reader.handle, nr, &ring), UV_EINVAL);
    live_bpf_reader_close(&live);
  }
  live_bpf_reader_unmake(&live);
}

static void ring_reports_waiting_and_written_bytes(void **state) {
  uvperf_bpf_reader_options_t options = live_bpf_reader_options();
  uvperf_ring_info_t ring;
  live_bpf_reader_t live;

  options.wakeup_events = 1000;
  live_bpf_reader_begin_with(__func__, *state, &live, &options);
  live_run_ms(*state, 5);
  live_bpf_reader_send_all(&live, 0, 4);
  assert_int_equal(uvperf_ring(&live.reader.handle, 0, &ring), 0);
  assert_int_equal(ring.waiting, 4 * 40);
  assert_int_equal(uvperf_flush(&live.reader.handle), 0);
  assert_int_equal(uvperf_ring(&live.reader.handle, 0, &ring), 0);
  assert_int_equal(ring.waiting, 0);
  assert_int_equal(ring.stats.records, 4);
  assert_int_equal(ring.stats.bytes, 4 * 40);
  assert_int_equal(ring.stats.high_water_bytes, 4 * 40);
  assert_int_equal(ring.stats.slices, 0);
  live_bpf_reader_end(&live);
}

/* -- refusals ------------------------------------------------------------- */

typedef struct refused_s {
  int map_fd;
  uvperf_bpf_reader_options_t options;
  int code;
  int cause;
  const char *piece; /* of the reason */
} refused_t;

/* Nothing is left of it, and the memory is the caller's. */
static void expect_refused(uv_loop_t *loop, const refused_t *refused) {
  size_t fds = support_count_fds();
  uvperf_bpf_reader_t reader;
  uvperf_error_t error;
  int rc;

  memset(&error, 0, sizeof(error));
  rc = uvperf_bpf_reader_init(loop, &reader, refused->map_fd, &refused->options,
                              &error);
  if (rc != refused->code || error.cause != refused->cause ||
      strstr(error.reason, refused->piece) == NULL)
    fail_msg("%d (%d): %s; not %d (%d): %s", rc, error.cause, error.reason,
             refused->code, refused->cause, refused->piece);
  assert_int_equal(error.code, rc);
  assert_int_equal(support_count_fds(), fds);
  assert_int_equal(uv_loop_alive(loop), 0);
  fake_assert_clean();
}

static int make_other_map(void) {
  union bpf_attr attr;

  memset(&attr, 0, sizeof(attr));
  attr.map_type = BPF_MAP_TYPE_ARRAY;
  attr.key_size = 4;
  attr.value_size = 4;
  attr.max_entries = 4;
  return live_bpf_call(BPF_MAP_CREATE, &attr);
}

static void init_of_another_kind_of_fd_is_refused(void **state) {
  refused_t refused = {-1, live_bpf_reader_options(), UV_EINVAL,
                       UVPERF_CAUSE_ARGUMENT, ""};
  live_bpf_reader_t live;

  live_bpf_reader_make(__func__, &live, 0);
  expect_refused(*state, &refused); /* neither */
  refused.options.path = "/sys/fs/bpf/events";
  refused.map_fd = live.array;
  expect_refused(*state, &refused); /* both */
  refused = (refused_t){-1, live_bpf_reader_options(), UV_ENOENT,
                        UVPERF_CAUSE_ARGUMENT, "/nonexistent/events"};
  refused.options.path = "/nonexistent/events";
  expect_refused(*state, &refused);
  refused.options.path = NULL;
  refused.code = UV_EINVAL;
  refused.map_fd = make_other_map();
  assert_true(refused.map_fd >= 0);
  refused.piece = "BPF_MAP_TYPE_PERF_EVENT_ARRAY";
  expect_refused(*state, &refused);
  assert_int_equal(close(refused.map_fd), 0);
  refused.code = UV_EBADF;
  refused.piece = "map_fd";
  expect_refused(*state, &refused);
  refused.map_fd = live.output.prog;
  refused.code = UV_EINVAL;
  expect_refused(*state, &refused);
  refused.map_fd = eventfd(0, EFD_CLOEXEC);
  assert_true(refused.map_fd >= 0);
  expect_refused(*state, &refused);
  assert_int_equal(close(refused.map_fd), 0);
  live_bpf_reader_unmake(&live);
}

static void init_of_options_that_cannot_be_is_refused(void **state) {
  static const struct {
    uvperf_bpf_reader_options_t options; /* without a size: it is right */
    const char *piece;
  } cases[] = {
      {{.wakeup_events = 1, .wakeup_bytes = 100}, "wakeup_events"},
      {{.ring_bytes = 64 * 1024, .wakeup_bytes = 40 * 1024}, "wakeup_bytes"},
      {{.ring_bytes = SIZE_MAX}, "ring_bytes"},
      {{.flags = 8}, "flags"},
      {{.size = 1}, "options"},
      {{.cpus = "first"}, "first"},
      {{.cpus = "4000"}, "4000"},
  };
  live_bpf_reader_t live;
  refused_t refused;
  size_t i;

  live_bpf_reader_make(__func__, &live, 0);
  for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    refused = (refused_t){live.array, cases[i].options, UV_EINVAL,
                          UVPERF_CAUSE_ARGUMENT, cases[i].piece};
    if (refused.options.size == 0)
      refused.options.size = sizeof(refused.options);
    expect_refused(*state, &refused);
  }
  live_bpf_reader_unmake(&live);
}

typedef struct newer_s {
  uvperf_bpf_reader_options_t known;
  uint64_t field;
} newer_t;

static void init_of_newer_options_is_refused_unless_0(void **state) {
  newer_t newer;
  live_bpf_reader_t live;
  uvperf_error_t error;

  memset(&newer, 0, sizeof(newer)); /* also what is between the two */
  newer.known = live_bpf_reader_options();
  newer.known.size = sizeof(newer);
  newer.field = 1;
  live_bpf_reader_make(__func__, &live, 0);
  assert_int_equal(uvperf_bpf_reader_init(*state, &live.reader, live.array,
                                          &newer.known, &error),
                   UV_E2BIG);
  newer.field = 0;
  live_bpf_reader_open(*state, &live, &newer.known);
  live_bpf_reader_end(&live);
}

static void init_without_loop_or_handle_is_refused(void **state) {
  uvperf_bpf_reader_t reader;
  uvperf_error_t error;

  assert_int_equal(uvperf_bpf_reader_init(NULL, &reader, 0, NULL, &error),
                   UV_EINVAL);
  assert_int_equal(error.cause, UVPERF_CAUSE_ARGUMENT);
  assert_int_equal(uvperf_bpf_reader_init(*state, NULL, 0, NULL, NULL),
                   UV_EINVAL);
}

static void reader_of_no_options_has_the_defaults(void **state) {
  live_bpf_reader_t live;
  const struct perf_event_attr *attr;

  live_bpf_reader_make(__func__, &live, 0);
  assert_int_equal(
      uvperf_bpf_reader_init(*state, &live.reader, live.array, NULL, NULL), 0);
  live.reader.handle.data = &live;
  attr = uvperf_handle_attr(&live.reader.handle, 0);
  assert_int_equal(attr->type, PERF_TYPE_SOFTWARE);
  assert_int_equal(attr->config, PERF_COUNT_SW_BPF_OUTPUT);
  assert_int_equal(attr->sample_type & PERF_SAMPLE_RAW, PERF_SAMPLE_RAW);
  assert_int_equal(
      uvperf_start(&live.reader.handle, NULL, live_bpf_reader_on_sample, NULL),
      0);
  live_bpf_reader_send_all(&live, 0, 3);
  assert_true(live_run_until(*state, &live.samples, 3));
  live_bpf_reader_end(&live);
}

/* Whichever fd is the first that cannot be had. */
static void init_out_of_fds_says_so(void **state) {
  struct rlimit all, few;
  live_bpf_reader_t live;
  uvperf_error_t error;
  unsigned refused = 0;
  int rc;

  live_bpf_reader_make(__func__, &live, 0);
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &all), 0);
  few = all;
  for (few.rlim_cur = 1, rc = UV_EMFILE; rc != 0; few.rlim_cur++) {
    memset(&error, 0, sizeof(error));
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    rc = uvperf_bpf_reader_init(*state, &live.reader, live.array, NULL, &error);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &all), 0);
    if (rc == 0)
      break;
    assert_int_equal(rc, UV_EMFILE);
    if (error.cause != UVPERF_CAUSE_FILES || error.limit != few.rlim_cur ||
        error.needed <= error.limit)
      fail_msg("%s: %s", uvperf_cause_name(error.cause), error.reason);
    refused++;
  }
  assert_true(refused > 3);
  live.reader.handle.data = &live;
  live_bpf_reader_end(&live);
}

/* perf_event_read_local() cannot read such an event. */
static void inherited_attr_is_taken_into_no_map(void **state) {
  uvperf_bpf_reader_options_t options = live_bpf_reader_options();
  struct perf_event_attr attr;
  live_bpf_reader_t live;
  uvperf_error_t error;

  uvperf_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT);
  attr.sample_period = 1;
  attr.sample_type = PERF_SAMPLE_RAW;
  attr.inherit = 1;
  options.attr = &attr;
  live_bpf_reader_make(__func__, &live, 0);
  assert_int_equal(uvperf_bpf_reader_init(*state, &live.reader, live.array,
                                          &options, &error),
                   UV_EINVAL);
  assert_non_null(strstr(error.reason, "inherit"));
  live_bpf_reader_unmake(&live);
}

#define LIVE(test) support_loop_test(test)

int main(void) {
  const struct CMUnitTest tests[] = {
      LIVE(reader_goes_on_when_the_caller_closes_the_map),
      LIVE(reader_of_a_pinned_map_delivers),
      LIVE(map_of_one_entry_is_read_on_that_cpu),
      LIVE(cpus_of_the_list_alone_are_read),
      LIVE(rings_are_reported),
      LIVE(ring_reports_waiting_and_written_bytes),
      LIVE(init_of_another_kind_of_fd_is_refused),
      LIVE(init_of_options_that_cannot_be_is_refused),
      LIVE(init_of_newer_options_is_refused_unless_0),
      LIVE(init_without_loop_or_handle_is_refused),
      LIVE(reader_of_no_options_has_the_defaults),
      LIVE(init_out_of_fds_says_so),
      LIVE(inherited_attr_is_taken_into_no_map),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
