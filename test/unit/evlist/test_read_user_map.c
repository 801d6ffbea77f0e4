/* SPDX-License-Identifier: MIT */
/* UVPERF_SET_USER_READ: which pages are mapped, and which threads read them. */
#include "scripted_pages.h"

#include <errno.h>
#include <unistd.h>

/* -- who reads ------------------------------------------------------------ */

/* cmocka knows one thread: the others assert nothing. */
typedef struct errand_s {
  uvperf__evlist_t *evlist;
  const evlist_make_t *request;
  uvperf_reading_t *reading;
  int rc;
} errand_t;

static void read_for(void *arg) {
  errand_t *errand = arg;

  errand->rc = uvperf__evlist_read(errand->evlist, errand->reading);
}

static void open_for(void *arg) {
  errand_t *errand = arg;

  errand->rc = evlist_try(errand->request, &errand->evlist, NULL);
}

static void run_thread(void (*run)(void *arg), errand_t *errand) {
  uv_thread_t thread;

  errand->rc = -1;
  assert_int_equal(uv_thread_create(&thread, run, errand), 0);
  assert_int_equal(uv_thread_join(&thread), 0);
  assert_int_equal(errand->rc, 0);
}

static void another_thread_reads_by_read(void **state) {
  errand_t errand = {scripted_pages_open(__func__, 1), NULL,
                     scripted_pages_reading(), 0};

  scripted_pages_count(5, 7, 100);
  run_thread(read_for, &errand);
  scripted_pages_assert_total(errand.reading, 0, 1005, 100);
  scripted_pages_assert_total(errand.reading, 1, 2007, 100);
  assert_int_equal(fake_count(FAKE_READ), 1);
  assert_int_equal(fake_count(FAKE_RDPMC), 0);
  scripted_pages_count(5, 7, 100);
  scripted_pages_assert_counts(errand.evlist, 1010, 2014, 200, 0);
  uvperf_reading_free(errand.reading);
  uvperf__evlist_free(errand.evlist);
  fake_assert_clean();
}

/* The second thread may have the pthread_self() of the first, which glibc
 * reuses: the pages say that their thread is on no CPU. */
static void thread_that_ended_is_read_by_read(void **state) {
  uvperf_count_t count;
  evlist_make_t request;
  errand_t errand = {NULL, &request, scripted_pages_reading(), 0};

  scripted_pages_ask(__func__, &request, 1);
  run_thread(open_for, &errand);
  assert_non_null(user_events.fakes[1]->page);
  user_events.is_off[0] = 1;
  user_events.is_off[1] = 1;
  scripted_pages_count(5, 7, 100);
  run_thread(read_for, &errand);
  assert_int_equal(uvperf_reading_total(errand.reading, 1, &count), 0);
  assert_int_equal(count.state, UVPERF_COUNT_GONE);
  assert_int_equal(count.value, 2007);
  assert_int_equal(fake_count(FAKE_RDPMC), 0);
  uvperf_reading_free(errand.reading);
  uvperf__evlist_free(errand.evlist);
  fake_assert_clean();
}

static void add_itself(void *arg) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  errand_t *errand = arg;

  errand->rc = uvperf__evlist_add_target(errand->evlist, &target, NULL, NULL);
}

static void events_of_a_second_thread_are_not_mapped(void **state) {
  errand_t errand = {scripted_pages_open(__func__, 1), NULL, NULL, 0};
  unsigned maps = fake_count(FAKE_MMAP);

  fake_event_add(90);
  fake_event_add(91);
  run_thread(add_itself, &errand);
  assert_int_equal(uvperf__evlist_nr_open(errand.evlist), 2 * USER_PAGE_EVENTS);
  assert_int_equal(fake_count(FAKE_MMAP), maps);
  uvperf__evlist_free(errand.evlist);
  fake_assert_clean();
}

/* A page that is touched there is a SIGSEGV: fake_kernel.c does not let it be
 * inherited either. */
static int use_in_child(void *arg) {
  uvperf__evlist_t *evlist = arg;
  uvperf_reading_t *reading;

  if (uvperf_reading_new(&reading) != 0)
    return 1;
  if (uvperf__evlist_read(evlist, reading) != -EPERM)
    return 2;
  if (uvperf__evlist_reset(evlist) != -EPERM)
    return 3;
  uvperf_reading_free(reading);
  uvperf__evlist_free(evlist);
  return fake_count(FAKE_RDPMC) == 2 ? 0 : 4;
}

static void forked_child_touches_no_page(void **state) {
  uvperf__evlist_t *evlist = scripted_pages_open(__func__, 1);

  scripted_pages_count(5, 7, 100);
  scripted_pages_assert_counts(evlist, 1005, 2007, 100, 0);
  assert_int_equal(support_wait(support_fork(use_in_child, evlist)), 0);
  scripted_pages_count(5, 7, 100);
  scripted_pages_assert_counts(evlist, 1010, 2014, 200, 0);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

/* -- mapping -------------------------------------------------------------- */

static void nothing_is_mapped_without_the_flag(void **state) {
  uvperf__evlist_t *evlist;
  evlist_make_t request;

  scripted_pages_ask(__func__, &request, 0);
  request.options.flags = 0;
  evlist = evlist_open(&request);
  scripted_pages_count(5, 7, 100);
  scripted_pages_assert_counts(evlist, 1005, 2007, 100, 2);
  assert_int_equal(fake_count(FAKE_MMAP), 0);
  uvperf__evlist_free(evlist);
}

static void assert_no_page(const evlist_make_t *request, unsigned reads) {
  uvperf__evlist_t *evlist = evlist_open(request);

  scripted_pages_count(5, 7, 100);
  scripted_pages_assert_counts(evlist, 1005, 2007, 100, reads);
  assert_null(user_events.fakes[0]->page);
  assert_null(user_events.fakes[1]->page);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

static void events_of_other_targets_are_not_mapped(void **state) {
  evlist_make_t request;

  scripted_pages_ask(__func__, &request, 0);
  request.targets[0].type = UVPERF_TARGET_CPUS;
  request.targets[0].cpus = "0";
  assert_no_page(&request, 2);
  scripted_pages_script();
  scripted_pages_ask(__func__, &request, 1);
  request.targets[0].type = UVPERF_TARGET_THREAD;
  request.targets[0].pid = gettid();
  assert_no_page(&request, 1);
  assert_int_equal(fake_count(FAKE_MMAP), 0);
}

static void group_with_one_that_is_inherited_is_not_mapped(void **state) {
  evlist_make_t request;

  scripted_pages_ask(__func__, &request, 1);
  request.attrs[1].inherit = 1;
  assert_no_page(&request, 1);
}

static void group_with_a_page_without_count_is_not_mapped(void **state) {
  evlist_make_t request;

  scripted_pages_ask(__func__, &request, 1);
  user_events.fakes[1]->on_map = scripted_pages_fill_software;
  assert_no_page(&request, 1);
  assert_int_equal(fake_count(FAKE_MMAP), 2);
  assert_int_equal(fake_count(FAKE_MUNMAP), 2);
}

static void without_leave_to_map_read_is_used(void **state) {
  evlist_make_t request;

  scripted_pages_ask(__func__, &request, 1);
  fake_fail(FAKE_MMAP, 2, -EPERM);
  assert_no_page(&request, 1);
  scripted_pages_script();
  fake_fail(FAKE_IS_MARKED, 1, 0);
  assert_no_page(&request, 1);
}

static void page_is_unmapped_before_its_event_is_closed(void **state) {
  uvperf__evlist_t *evlist = scripted_pages_open(__func__, 1);

  fake_log_clear();
  assert_int_equal(uvperf__evlist_remove_target(evlist, 0, NULL, NULL), 0);
  assert_string_equal(fake_log(), "munmap, close, munmap, close");
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

static void memory_that_runs_out_leaves_no_page(void **state) {
  uvperf__evlist_t *evlist = NULL;
  evlist_make_t request;
  unsigned i = 0;
  int rc;

  scripted_pages_ask(__func__, &request, 1);
  do {
    scripted_pages_script();
    fake_fail(FAKE_CALLOC, ++i, 0);
    rc = evlist_try(&request, &evlist, NULL);
    if (fake_failures() != 0)
      assert_int_equal(rc, -ENOMEM);
    uvperf__evlist_free(evlist);
    fake_assert_clean();
  } while (fake_failures() != 0);
  assert_int_equal(rc, 0);
}

static void group_that_is_not_opened_wholly_leaves_no_page(void **state) {
  evlist_make_t request;
  uvperf__evlist_t *evlist;

  scripted_pages_ask(__func__, &request, 1);
  request.options.flags |= UVPERF_SET_STRICT;
  fake_fail(FAKE_OPEN, 2, -ENOENT);
  assert_int_equal(evlist_try(&request, &evlist, NULL), -ENOENT);
  fake_assert_clean();
}

#define scripted(f) cmocka_unit_test_setup(f, scripted_pages_setup)

int main(void) {
  const struct CMUnitTest tests[] = {
      scripted(another_thread_reads_by_read),
      scripted(thread_that_ended_is_read_by_read),
      scripted(events_of_a_second_thread_are_not_mapped),
      scripted(forked_child_touches_no_page),
      scripted(nothing_is_mapped_without_the_flag),
      scripted(events_of_other_targets_are_not_mapped),
      scripted(group_with_one_that_is_inherited_is_not_mapped),
      scripted(group_with_a_page_without_count_is_not_mapped),
      scripted(without_leave_to_map_read_is_used),
      scripted(page_is_unmapped_before_its_event_is_closed),
      scripted(memory_that_runs_out_leaves_no_page),
      scripted(group_that_is_not_opened_wholly_leaves_no_page),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
