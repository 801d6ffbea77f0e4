/* SPDX-License-Identifier: MIT */
/* UVPERF_SET_USER_READ: scripted events, whose pages and whose read(2) tell the
 * same count, so that it does not matter which is asked; and this kernel's. */
#include "live.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "counters.h"
#include "fake_kernel.h"
#include "uvperf/attr.h"

#define EVENTS    2
#define HEAD_SIZE 96

/* What two events have counted, and for how long: the truth, which the kernel
 * tells in two ways. Every cycle is a nanosecond. */
static struct {
  fake_event_t *fakes[EVENTS];
  uint64_t counts[EVENTS];
  uint64_t now;
  int is_off[EVENTS]; /* on no counter: the page cannot tell */
  uint64_t words[EVENTS][16];
} world;

/* The counter n holds what event n has counted beyond 1000 * (n + 1). */
static uint64_t play_rdpmc(uint32_t counter) {
  assert_true(counter < EVENTS);
  return world.counts[counter] - 1000 * (counter + 1);
}

static uint64_t play_cycles(void) {
  return world.now;
}

static size_t number_of(const fake_event_t *fake) {
  return fake == world.fakes[0] ? 0 : 1;
}

static void fill_page(fake_event_t *fake) {
  size_t nr = number_of(fake);
  struct perf_event_mmap_page *page = fake->page;

  page->cap_bit0_is_deprecated = 1;
  page->size = HEAD_SIZE;
  page->cap_user_rdpmc = 1;
  page->cap_user_time = 1;
  page->pmc_width = 48;
  page->time_mult = 1024;
  page->time_shift = 10;
  page->index = (uint32_t)nr + 1;
  page->offset = 1000 * ((int64_t)nr + 1);
}

static void fill_software(fake_event_t *fake) {
  fake->page->cap_bit0_is_deprecated = 1;
  fake->page->size = HEAD_SIZE;
}

/* The format of an event whose group has so many members. */
static size_t put_words(uint64_t *words, uint64_t format, size_t first,
                        size_t members) {
  size_t nr = 0;
  size_t i;

  if (format & PERF_FORMAT_GROUP)
    words[nr++] = members;
  else
    words[nr++] = world.counts[first];
  words[nr++] = world.now;
  words[nr++] = world.now;
  for (i = first; i < first + members; i++) {
    if (format & PERF_FORMAT_GROUP)
      words[nr++] = world.counts[i];
    words[nr++] = world.fakes[i]->id;
    if (format & UVPERF_FORMAT_LOST)
      words[nr++] = 0;
  }
  return nr * sizeof(uint64_t);
}

/* Lets time pass: both events count, and the kernel tells it both ways. */
static void count_on(uint64_t first, uint64_t second, uint64_t ns) {
  fake_event_t *fake;
  uint64_t format;
  size_t i;

  world.counts[0] += first;
  world.counts[1] += second;
  world.now += ns;
  for (i = 0; i < EVENTS; i++) {
    fake = world.fakes[i];
    format = fake->attr.read_format;
    fake->read_data = world.words[i];
    fake->read_size =
        put_words(world.words[i], format, i,
                  format & PERF_FORMAT_GROUP && fake->group_fd < 0 ? 2 : 1);
    if (fake->page != NULL)
      fake->page->index = world.is_off[i] ? 0 : (uint32_t)i + 1;
  }
}

static void script(void) {
  size_t i;

  fake_kernel_reset();
  memset(&world, 0, sizeof(world));
  for (i = 0; i < EVENTS; i++) {
    world.fakes[i] = fake_event_add(70 + i);
    world.fakes[i]->on_map = fill_page;
    world.counts[i] = 1000 * (i + 1);
  }
  fake_on_rdpmc(play_rdpmc);
  fake_on_cycles(play_cycles);
}

/* What is asked of the real kernel is asked before any event is scripted. */
static int setup(void **state) {
  (void)state;
  fake_kernel_reset();
  uvperf_kernel_knows(UVPERF_ATTR_READ_FORMAT, UVPERF_FORMAT_LOST);
  script();
  return 0;
}

/* Two hardware events of the calling thread, as a group or not. */
typedef struct request_s {
  struct perf_event_attr attrs[EVENTS];
  const struct perf_event_attr *pointers[EVENTS];
  size_t leaders[EVENTS];
  uvperf_target_t target;
  uvperf_set_options_t options;
} request_t;

static void ask(request_t *request, int group) {
#if !defined(__x86_64__) && !defined(__i386__) && !defined(__aarch64__)
  support_skip("test_counters_user",
               "an architecture with user_page.c's counters");
#endif
  static const uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  static const uvperf_target_t target = UVPERF_TARGET_INIT;
  size_t i;

  memset(request, 0, sizeof(*request));
  request->options = options;
  request->target = target;
  for (i = 0; i < EVENTS; i++) {
    request->attrs[i].size = sizeof(request->attrs[i]);
    request->attrs[i].type = PERF_TYPE_HARDWARE;
    request->attrs[i].config = i;
    request->pointers[i] = &request->attrs[i];
    request->leaders[i] = group ? 0 : i;
  }
  request->options.attrs = request->pointers;
  request->options.nr_attrs = EVENTS;
  request->options.leaders = request->leaders;
  request->options.targets = &request->target;
  request->options.nr_targets = 1;
  request->options.flags = UVPERF_SET_USER_READ;
}

static uvperf__counters_t *open_request(const request_t *request) {
  uvperf__counters_t *counters;
  uvperf_error_t error;
  int rc;

  error.reason[0] = '\0';
  rc = uvperf__counters_new(&counters, &request->options, &error);
  if (rc != 0)
    fail_msg("%d: %s", rc, error.reason);
  return counters;
}

static uvperf__counters_t *open_events(int group) {
  uvperf__counters_t *counters;
  request_t request;

  ask(&request, group);
  counters = open_request(&request);
  assert_int_equal(uvperf__counters_nr_open(counters), EVENTS);
  return counters;
}

static uvperf_reading_t *new_reading(void) {
  uvperf_reading_t *reading;

  assert_int_equal(uvperf_reading_new(&reading), 0);
  return reading;
}

static void assert_total(const uvperf_reading_t *reading, size_t attr,
                         uint64_t value, uint64_t ns) {
  uvperf_set_count_t count;

  assert_int_equal(uvperf_reading_total(reading, attr, &count), 0);
  assert_int_equal(count.state, UVPERF_COUNT_COUNTING);
  assert_int_equal(count.code, 0);
  assert_int_equal(count.value, value);
  assert_int_equal(count.time_enabled, ns);
  assert_int_equal(count.time_running, ns);
}

/* Reads, and checks what and by how many read(2). */
static void assert_counts(uvperf__counters_t *counters, uint64_t first,
                          uint64_t second, uint64_t ns, unsigned reads) {
  uvperf_reading_t *reading = new_reading();
  unsigned before = fake_count(FAKE_READ);

  assert_int_equal(uvperf__counters_read(counters, reading), 0);
  assert_total(reading, 0, first, ns);
  assert_total(reading, 1, second, ns);
  assert_int_equal(fake_count(FAKE_READ) - before, reads);
  uvperf_reading_free(reading);
}

static void own_events_are_read_without_a_call(void **state) {
  uvperf__counters_t *counters = open_events(0);
  uvperf_reading_t *reading = new_reading();
  unsigned pids;

  (void)state;
  count_on(5, 7, 100);
  assert_int_equal(uvperf__counters_read(counters, reading), 0);
  assert_total(reading, 0, 1005, 100);
  assert_total(reading, 1, 2007, 100);
  count_on(1, 2, 50);
  fake_log_clear();
  pids = fake_count(FAKE_GETPID);
  assert_int_equal(uvperf__counters_read(counters, reading), 0);
  assert_total(reading, 0, 1006, 150);
  assert_total(reading, 1, 2009, 150);
  assert_string_equal(fake_log(), "");
  assert_int_equal(fake_count(FAKE_GETPID), pids);
  assert_int_equal(fake_count(FAKE_RDPMC), 4);
  uvperf_reading_free(reading);
  uvperf__counters_free(counters);
  fake_assert_clean();
}

static void group_is_read_without_a_call(void **state) {
  uvperf__counters_t *counters = open_events(1);

  (void)state;
  count_on(5, 7, 100);
  assert_counts(counters, 1005, 2007, 100, 0);
  uvperf__counters_free(counters);
  fake_assert_clean();
}

/* Each page is read a little later than the one before. */
static uint64_t cycles_that_pass(void) {
  return world.now++;
}

static void group_has_the_times_of_its_leader(void **state) {
  uvperf__counters_t *counters = open_events(1);

  (void)state;
  fake_on_cycles(cycles_that_pass);
  count_on(5, 7, 100);
  assert_counts(counters, 1005, 2007, 100, 0);
  uvperf__counters_free(counters);
}

static void group_with_one_on_no_counter_is_read_by_one_call(void **state) {
  uvperf__counters_t *counters = open_events(1);

  (void)state;
  world.is_off[1] = 1;
  count_on(5, 7, 100);
  assert_counts(counters, 1005, 2007, 100, 1);
  world.is_off[0] = 1;
  count_on(5, 7, 100);
  assert_counts(counters, 1010, 2014, 200, 1);
  uvperf__counters_free(counters);
}

static void single_events_are_read_each_in_its_way(void **state) {
  uvperf__counters_t *counters = open_events(0);

  (void)state;
  world.is_off[0] = 1;
  count_on(5, 7, 100);
  assert_counts(counters, 1005, 2007, 100, 1);
  uvperf__counters_free(counters);
}

static void assert_delta(uvperf__counters_t *counters, uvperf_reading_t **older,
                         uint64_t first, uint64_t second, uint64_t ns) {
  uvperf_reading_t *newer = new_reading();
  uvperf_reading_t *delta = new_reading();

  assert_int_equal(uvperf__counters_read(counters, newer), 0);
  assert_int_equal(uvperf_reading_delta(delta, *older, newer), 0);
  assert_total(delta, 0, first, ns);
  assert_total(delta, 1, second, ns);
  uvperf_reading_free(delta);
  uvperf_reading_free(*older);
  *older = newer;
}

/* The events leave and enter the counters between the readings. */
static void check_deltas(int group) {
  uvperf__counters_t *counters = open_events(group);
  uvperf_reading_t *older = new_reading();
  int turn;

  count_on(5, 7, 100);
  assert_int_equal(uvperf__counters_read(counters, older), 0);
  for (turn = 0; turn < 8; turn++) {
    world.is_off[0] = turn & 1;
    world.is_off[1] = turn >> 1 & 1;
    count_on(3, 4, 50);
    assert_delta(counters, &older, 3, 4, 50);
  }
  assert_in_range(fake_count(FAKE_READ), 6, 8);
  uvperf_reading_free(older);
  uvperf__counters_free(counters);
  fake_assert_clean();
}

static void deltas_go_on_between_pages_and_read(void **state) {
  (void)state;
  check_deltas(0);
  script();
  check_deltas(1);
}

static void reset_by_pages_holds_for_read_and_back(void **state) {
  uvperf__counters_t *counters = open_events(1);

  (void)state;
  count_on(5, 7, 100);
  assert_int_equal(uvperf__counters_reset(counters), 0);
  assert_int_equal(fake_count(FAKE_READ), 0);
  world.is_off[0] = 1;
  count_on(10, 20, 30);
  assert_counts(counters, 10, 20, 30, 1);
  assert_int_equal(uvperf__counters_reset(counters), 0);
  world.is_off[0] = 0;
  count_on(1, 2, 3);
  assert_counts(counters, 1, 2, 3, 0);
  uvperf__counters_free(counters);
}

/* PERF_EVENT_IOC_RESET by somebody else: the page tells it, but so it would
 * tell what cannot be. */
static void page_with_less_than_before_is_left_to_read(void **state) {
  uvperf__counters_t *counters = open_events(0);
  struct perf_event_mmap_page *page;

  (void)state;
  count_on(5, 7, 100);
  assert_counts(counters, 1005, 2007, 100, 0);
  page = world.fakes[0]->page;
  page->offset = 0;
  count_on(5, 7, 100);
  assert_counts(counters, 1010, 2014, 200, 1);
  page->offset = 1000;
  page->time_enabled = (uint64_t)-150;
  count_on(5, 7, 100);
  assert_counts(counters, 1015, 2021, 300, 1);
  page->time_enabled = 0;
  page->time_running = (uint64_t)-150;
  count_on(5, 7, 100);
  assert_counts(counters, 1020, 2028, 400, 1);
  page->time_running = 0;
  count_on(5, 7, 100);
  assert_counts(counters, 1025, 2035, 500, 0);
  uvperf__counters_free(counters);
}

static void page_tells_again_after_read_has_failed(void **state) {
  uvperf__counters_t *counters = open_events(1);
  uvperf_reading_t *reading = new_reading();
  uvperf_set_count_t count;

  (void)state;
  world.is_off[1] = 1;
  count_on(5, 7, 100);
  fake_fail(FAKE_READ, 1, -EIO);
  assert_int_equal(uvperf__counters_read(counters, reading), 0);
  assert_int_equal(uvperf_reading_total(reading, 0, &count), 0);
  assert_int_equal(count.state, UVPERF_COUNT_ERROR);
  assert_int_equal(count.code, -EIO);
  world.is_off[1] = 0;
  count_on(5, 7, 100);
  assert_counts(counters, 1010, 2014, 200, 0);
  uvperf_reading_free(reading);
  uvperf__counters_free(counters);
}

/* -- who reads ------------------------------------------------------------ */

/* cmocka knows one thread: the others assert nothing. */
typedef struct errand_s {
  uvperf__counters_t *counters;
  const request_t *request;
  uvperf_reading_t *reading;
  int rc;
} errand_t;

static void read_for(void *arg) {
  errand_t *errand = arg;

  errand->rc = uvperf__counters_read(errand->counters, errand->reading);
}

static void open_for(void *arg) {
  errand_t *errand = arg;

  errand->rc =
      uvperf__counters_new(&errand->counters, &errand->request->options, NULL);
}

static void run_thread(void (*run)(void *arg), errand_t *errand) {
  uv_thread_t thread;

  errand->rc = -1;
  assert_int_equal(uv_thread_create(&thread, run, errand), 0);
  assert_int_equal(uv_thread_join(&thread), 0);
  assert_int_equal(errand->rc, 0);
}

static void another_thread_reads_by_read(void **state) {
  errand_t errand = {open_events(1), NULL, new_reading(), 0};

  (void)state;
  count_on(5, 7, 100);
  run_thread(read_for, &errand);
  assert_total(errand.reading, 0, 1005, 100);
  assert_total(errand.reading, 1, 2007, 100);
  assert_int_equal(fake_count(FAKE_READ), 1);
  assert_int_equal(fake_count(FAKE_RDPMC), 0);
  count_on(5, 7, 100);
  assert_counts(errand.counters, 1010, 2014, 200, 0);
  uvperf_reading_free(errand.reading);
  uvperf__counters_free(errand.counters);
  fake_assert_clean();
}

/* The second thread may have the pthread_self() of the first, which glibc gives
 * again: the pages say that their thread is on no CPU. */
static void thread_that_ended_is_read_by_read(void **state) {
  uvperf_set_count_t count;
  request_t request;
  errand_t errand = {NULL, &request, new_reading(), 0};

  (void)state;
  ask(&request, 1);
  run_thread(open_for, &errand);
  assert_non_null(world.fakes[1]->page);
  world.is_off[0] = 1;
  world.is_off[1] = 1;
  count_on(5, 7, 100);
  run_thread(read_for, &errand);
  assert_int_equal(uvperf_reading_total(errand.reading, 1, &count), 0);
  assert_int_equal(count.state, UVPERF_COUNT_GONE);
  assert_int_equal(count.value, 2007);
  assert_int_equal(fake_count(FAKE_RDPMC), 0);
  uvperf_reading_free(errand.reading);
  uvperf__counters_free(errand.counters);
  fake_assert_clean();
}

static void add_itself(void *arg) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  errand_t *errand = arg;

  errand->rc =
      uvperf__counters_add_target(errand->counters, &target, NULL, NULL);
}

static void events_of_a_second_thread_are_not_mapped(void **state) {
  errand_t errand = {open_events(1), NULL, NULL, 0};
  unsigned maps = fake_count(FAKE_MMAP);

  (void)state;
  fake_event_add(90);
  fake_event_add(91);
  run_thread(add_itself, &errand);
  assert_int_equal(uvperf__counters_nr_open(errand.counters), 2 * EVENTS);
  assert_int_equal(fake_count(FAKE_MMAP), maps);
  uvperf__counters_free(errand.counters);
  fake_assert_clean();
}

/* A page that is touched there is a SIGSEGV: fake_kernel.c does not let it be
 * inherited either. */
static int use_in_child(void *arg) {
  uvperf__counters_t *counters = arg;
  uvperf_reading_t *reading;

  if (uvperf_reading_new(&reading) != 0)
    return 1;
  if (uvperf__counters_read(counters, reading) != -EPERM)
    return 2;
  if (uvperf__counters_reset(counters) != -EPERM)
    return 3;
  uvperf_reading_free(reading);
  uvperf__counters_free(counters);
  return fake_count(FAKE_RDPMC) == 2 ? 0 : 4;
}

static void forked_child_touches_no_page(void **state) {
  uvperf__counters_t *counters = open_events(1);

  (void)state;
  count_on(5, 7, 100);
  assert_counts(counters, 1005, 2007, 100, 0);
  assert_int_equal(support_wait(support_fork(use_in_child, counters)), 0);
  count_on(5, 7, 100);
  assert_counts(counters, 1010, 2014, 200, 0);
  uvperf__counters_free(counters);
  fake_assert_clean();
}

/* -- what is mapped ------------------------------------------------------- */

static void nothing_is_mapped_without_the_flag(void **state) {
  uvperf__counters_t *counters;
  request_t request;

  (void)state;
  ask(&request, 0);
  request.options.flags = 0;
  counters = open_request(&request);
  count_on(5, 7, 100);
  assert_counts(counters, 1005, 2007, 100, 2);
  assert_int_equal(fake_count(FAKE_MMAP), 0);
  assert_int_equal(fake_count(FAKE_MMAP_PRIVATE), 0);
  uvperf__counters_free(counters);
}

static void assert_no_page(const request_t *request, unsigned reads) {
  uvperf__counters_t *counters = open_request(request);

  count_on(5, 7, 100);
  assert_counts(counters, 1005, 2007, 100, reads);
  assert_null(world.fakes[0]->page);
  assert_null(world.fakes[1]->page);
  uvperf__counters_free(counters);
  fake_assert_clean();
}

static void events_of_other_targets_are_not_mapped(void **state) {
  request_t request;

  (void)state;
  ask(&request, 0);
  request.target.type = UVPERF_TARGET_CPUS;
  request.target.cpus = "0";
  assert_no_page(&request, 2);
  script();
  ask(&request, 1);
  request.target.type = UVPERF_TARGET_THREAD;
  request.target.pid = gettid();
  assert_no_page(&request, 1);
  assert_int_equal(fake_count(FAKE_MMAP), 0);
}

static void group_with_one_that_is_inherited_is_not_mapped(void **state) {
  request_t request;

  (void)state;
  ask(&request, 1);
  request.attrs[1].inherit = 1;
  assert_no_page(&request, 1);
}

static void group_with_one_that_never_tells_is_not_mapped(void **state) {
  request_t request;

  (void)state;
  ask(&request, 1);
  world.fakes[1]->on_map = fill_software;
  assert_no_page(&request, 1);
  assert_int_equal(fake_count(FAKE_MMAP), 2);
  assert_int_equal(fake_count(FAKE_MUNMAP), 3); /* and the reader's memory */
}

static void without_leave_to_map_read_is_used(void **state) {
  request_t request;

  (void)state;
  ask(&request, 1);
  fake_fail(FAKE_MMAP, 2, -EPERM);
  assert_no_page(&request, 1);
  script();
  fake_fail(FAKE_MMAP_PRIVATE, 1, -ENOMEM);
  assert_no_page(&request, 1);
  script();
  fake_fail(FAKE_MADVISE, 1, -EINVAL);
  assert_no_page(&request, 1);
}

static void page_is_unmapped_before_its_event_is_closed(void **state) {
  uvperf__counters_t *counters = open_events(1);

  (void)state;
  fake_log_clear();
  assert_int_equal(uvperf__counters_remove_target(counters, 0), 0);
  assert_string_equal(fake_log(), "munmap, close, munmap, close");
  fake_log_clear();
  uvperf__counters_free(counters);
  assert_string_equal(fake_log(), "munmap");
  fake_assert_clean();
}

static void memory_that_runs_out_leaves_no_page(void **state) {
  uvperf__counters_t *counters = NULL;
  request_t request;
  unsigned i = 0;
  int rc;

  (void)state;
  ask(&request, 1);
  do {
    script();
    fake_fail(FAKE_CALLOC, ++i, 0);
    rc = uvperf__counters_new(&counters, &request.options, NULL);
    if (fake_failures() != 0)
      assert_int_equal(rc, -ENOMEM);
    uvperf__counters_free(counters);
    fake_assert_clean();
  } while (fake_failures() != 0);
  assert_int_equal(rc, 0);
}

static void group_that_is_not_opened_wholly_leaves_no_page(void **state) {
  request_t request;
  uvperf__counters_t *counters;

  (void)state;
  ask(&request, 1);
  request.options.flags |= UVPERF_SET_STRICT;
  fake_fail(FAKE_OPEN, 2, -ENOENT);
  assert_int_equal(uvperf__counters_new(&counters, &request.options, NULL),
                   -ENOENT);
  fake_assert_clean();
}

/* -- this kernel ---------------------------------------------------------- */

/* Counts a syscall in a group with page faults: neither has a counter. */
static uvperf_set_count_t count_syscalls(const char *test, uint32_t flags) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_target_t target = UVPERF_TARGET_INIT;
  const struct perf_event_attr *attrs[2];
  struct perf_event_attr attr, faults;
  size_t leaders[2] = {0, 0};
  uvperf__counters_t *counters;
  uvperf_set_count_t count;
  uvperf_reading_t *reading = new_reading();

  live_syscall_attr(&attr, support_need_tracepoint(test, LIVE_SYSCALL), 0);
  attr.sample_period = 0;
  live_touch_attr(&faults, 0);
  faults.sample_period = 0;
  attrs[0] = &attr;
  attrs[1] = &faults;
  options.attrs = attrs;
  options.leaders = leaders;
  options.nr_attrs = 2;
  options.targets = &target;
  options.nr_targets = 1;
  options.flags = flags;
  assert_int_equal(uvperf__counters_new(&counters, &options, NULL), 0);
  assert_int_equal(uvperf__counters_enable(counters, NULL), 0);
  live_syscall(11);
  assert_int_equal(uvperf__counters_read(counters, reading), 0);
  live_syscall(6);
  assert_int_equal(uvperf__counters_read(counters, reading), 0);
  assert_int_equal(uvperf_reading_total(reading, 0, &count), 0);
  uvperf_reading_free(reading);
  uvperf__counters_free(counters);
  return count;
}

static void live_events_without_a_counter_count_as_ever(void **state) {
  uvperf_set_count_t with, without;
  size_t fds = support_count_fds();
  size_t before, after;

  (void)state;
  support_need_own_events(__func__);
  fake_kernel_reset();
  support_count_rings(&before);
  with = count_syscalls(__func__, UVPERF_SET_USER_READ);
  without = count_syscalls(__func__, 0);
  assert_int_equal(with.value, 17);
  assert_int_equal(with.value, without.value);
  assert_int_equal(with.state, without.state);
  assert_int_equal(support_count_fds(), fds);
  support_count_rings(&after);
  assert_int_equal(after, before);
  fake_assert_clean();
}

#define scripted(f) cmocka_unit_test_setup(f, setup)

int main(void) {
  const struct CMUnitTest tests[] = {
      scripted(own_events_are_read_without_a_call),
      scripted(group_is_read_without_a_call),
      scripted(group_has_the_times_of_its_leader),
      scripted(group_with_one_on_no_counter_is_read_by_one_call),
      scripted(single_events_are_read_each_in_its_way),
      scripted(deltas_go_on_between_pages_and_read),
      scripted(reset_by_pages_holds_for_read_and_back),
      scripted(page_with_less_than_before_is_left_to_read),
      scripted(page_tells_again_after_read_has_failed),
      scripted(another_thread_reads_by_read),
      scripted(thread_that_ended_is_read_by_read),
      scripted(events_of_a_second_thread_are_not_mapped),
      scripted(forked_child_touches_no_page),
      scripted(nothing_is_mapped_without_the_flag),
      scripted(events_of_other_targets_are_not_mapped),
      scripted(group_with_one_that_is_inherited_is_not_mapped),
      scripted(group_with_one_that_never_tells_is_not_mapped),
      scripted(without_leave_to_map_read_is_used),
      scripted(page_is_unmapped_before_its_event_is_closed),
      scripted(memory_that_runs_out_leaves_no_page),
      scripted(group_that_is_not_opened_wholly_leaves_no_page),
      scripted(live_events_without_a_counter_count_as_ever),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
