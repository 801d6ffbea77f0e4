/* SPDX-License-Identifier: MIT */
/* Who may read the pages of events, and which are mapped: scripted ones and
 * this kernel's. */
#include "scripted_pages.h"

#include <sys/mman.h>

#include "ring/user_page.h"
#include "sys/sys.h"

/* Before Linux 5.12: up to the reserved bytes after `size`. */
#define OLD_HEAD_SIZE 76

static const struct perf_event_mmap_page untouched;

static void ask_whose(void *arg) {
  const uvperf__user_reader_t *reader = arg;

  if (uvperf__user_reader_is_mine(reader))
    abort();
}

static void reader_is_the_thread_that_made_it_alone(void **state) {
  uvperf__user_reader_t reader;
  uv_thread_t thread;

  uvperf__user_reader_init(&reader);
  assert_true(uvperf__user_reader_is_mine(&reader));
  assert_int_equal(uv_thread_create(&thread, ask_whose, &reader), 0);
  assert_int_equal(uv_thread_join(&thread), 0);
  assert_true(uvperf__user_reader_is_mine(&reader));
}

static void become_reader(void *arg) {
  uvperf__user_reader_t *reader = arg;

  uvperf__user_reader_init(reader);
  if (!uvperf__user_reader_is_mine(reader))
    abort();
}

static void reader_whose_thread_ended_is_not_the_caller(void **state) {
  uvperf__user_reader_t reader;
  uv_thread_t thread;

  assert_int_equal(uv_thread_create(&thread, become_reader, &reader), 0);
  assert_int_equal(uv_thread_join(&thread), 0);
  assert_false(uvperf__user_reader_is_mine(&reader));
}

static void reader_of_all_zero_is_not_mine(void **state) {
  uvperf__user_reader_t reader;

  memset(&reader, 0, sizeof(reader));
  assert_false(uvperf__user_reader_is_mine(&reader));
}

static int is_mine(void *arg) {
  return uvperf__user_reader_is_mine(arg) ? 1 : 0;
}

static void reader_is_not_a_forked_child(void **state) {
  uvperf__user_reader_t reader;

  uvperf__user_reader_init(&reader);
  assert_int_equal(support_wait(support_fork(is_mine, &reader)), 0);
  assert_true(uvperf__user_reader_is_mine(&reader));
}

static void reader_in_a_process_without_mark_is_not_mine(void **state) {
  uvperf__user_reader_t reader;

  fake_fail(FAKE_IS_MARKED, 1, 0);
  uvperf__user_reader_init(&reader);
  assert_false(uvperf__user_reader_is_mine(&reader));
}

/* A scripted event, opened. */
static int open_event(void (*on_map)(fake_event_t *fake)) {
  struct perf_event_attr attr;
  fake_event_t *fake = fake_event_add(1);

  fake->on_map = on_map;
  memset(&attr, 0, sizeof(attr));
  attr.size = sizeof(attr);
  return uvperf__sys_open(&attr, 0, -1, -1, 0);
}

static void fill_mapped(fake_event_t *fake) {
  scripted_pages_fill_page(fake->page, 0);
}

static uint64_t fake_rdpmc(uint32_t counter) {
  assert_int_equal(counter, 0);
  return 42;
}

static void map_returns_a_page_that_is_read(void **state) {
  const struct perf_event_mmap_page *page;
  uvperf__user_count_t count;
  int fd = open_event(fill_mapped);

  scripted_pages_need(__func__);
  fake_on_rdpmc(fake_rdpmc);
  assert_int_equal(uvperf__user_page_map(fd, &page), 0);
  assert_int_equal(uvperf__user_page_read(page, &count), 0);
  assert_int_equal(count.value, 1042);
  uvperf__user_page_unmap(page, NULL);
  uvperf__user_page_unmap(NULL, NULL);
  assert_int_equal(uvperf__sys_close(fd), 0);
  assert_string_equal(fake_log(), "open, mmap, munmap, close");
  fake_assert_clean();
}

static void map_of_a_page_that_never_has_a_count_is_undone(void **state) {
  const struct perf_event_mmap_page *page = &untouched;
  int fd = open_event(scripted_pages_fill_software);

  assert_int_equal(uvperf__user_page_map(fd, &page), -EOPNOTSUPP);
  assert_ptr_equal(page, &untouched);
  assert_int_equal(uvperf__sys_close(fd), 0);
  fake_assert_clean();
}

static void map_that_is_refused_reports_why(void **state) {
  const struct perf_event_mmap_page *page = &untouched;
  int fd = open_event(fill_mapped);

  scripted_pages_need(__func__);
  fake_fail(FAKE_MMAP, 1, -EPERM);
  assert_int_equal(uvperf__user_page_map(fd, &page), -EPERM);
  assert_ptr_equal(page, &untouched);
  assert_int_equal(uvperf__sys_close(fd), 0);
  fake_assert_clean();
}

static int open_software(void) {
  struct perf_event_attr attr;
  int fd;

  memset(&attr, 0, sizeof(attr));
  attr.size = sizeof(attr);
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_PAGE_FAULTS;
  attr.exclude_kernel = 1;
  fd = uvperf__sys_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  assert_true(fd >= 0);
  return fd;
}

static void map_of_a_real_software_event_is_taken_back(void **state) {
  const struct perf_event_mmap_page *page;
  size_t before;
  size_t bytes;
  int fd;

  support_need_own_events(__func__);
  support_count_rings(&before);
  fd = open_software();
  assert_int_equal(uvperf__user_page_map(fd, &page), -EOPNOTSUPP);
  support_count_rings(&bytes);
  assert_int_equal(bytes, before);
  assert_int_equal(uvperf__sys_close(fd), 0);
}

/* Without map, which would undo it: the single real page is as this file
 * expects it. */
static void read_of_a_real_software_event_is_refused(void **state) {
  const struct perf_event_mmap_page *page;
  uvperf__user_count_t count;
  void *address;
  int fd;

  support_need_own_events(__func__);
  fd = open_software();
  assert_int_equal(
      uvperf__sys_mmap(&address, support_page_bytes(), PROT_READ, fd, 0), 0);
  page = address;
  assert_true(page->cap_bit0_is_deprecated);
  assert_in_range(page->size, OLD_HEAD_SIZE, 1024);
  assert_int_equal(page->compat_version, 0);
  assert_int_equal(page->index, 0);
  assert_int_equal(uvperf__user_page_read(page, &count), -EAGAIN);
  assert_int_equal(uvperf__sys_munmap(address, support_page_bytes()), 0);
  assert_int_equal(uvperf__sys_close(fd), 0);
}

#define SCRIPTED(f) cmocka_unit_test_setup(f, fake_kernel_setup)

int main(void) {
  const struct CMUnitTest tests[] = {
      SCRIPTED(reader_is_the_thread_that_made_it_alone),
      SCRIPTED(reader_whose_thread_ended_is_not_the_caller),
      SCRIPTED(reader_of_all_zero_is_not_mine),
      SCRIPTED(reader_is_not_a_forked_child),
      SCRIPTED(reader_in_a_process_without_mark_is_not_mine),
      SCRIPTED(map_returns_a_page_that_is_read),
      SCRIPTED(map_of_a_page_that_never_has_a_count_is_undone),
      SCRIPTED(map_that_is_refused_reports_why),
      SCRIPTED(map_of_a_real_software_event_is_taken_back),
      SCRIPTED(read_of_a_real_software_event_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
