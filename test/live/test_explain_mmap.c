/* SPDX-License-Identifier: MIT */
/* The rings that this kernel does not map, and the reported cause. */
#include "check_explain.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/system.h"
#include "sys/sys.h"

/* Maps a ring of `bytes` bytes and explains the failure. For children. */
static void map(uvperf_error_t *error, int fd, size_t bytes) {
  struct perf_event_attr attr;
  void *address;
  int rc;

  explain_user_dummy(&attr);
  rc = uvperf__sys_mmap(&address, bytes + support_page_bytes(),
                        PROT_READ | PROT_WRITE, fd, 0);
  if (rc != 0)
    uvperf__explain_map(error, rc, &attr, -1, bytes);
}

static int open_dummy(void) {
  struct perf_event_attr attr;
  int fd;

  explain_user_dummy(&attr);
  fd = uvperf__sys_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (fd < 0)
    _exit(1);
  return fd;
}

static void limit_locked(rlim_t bytes) {
  struct rlimit limits = {bytes, bytes};

  if (setrlimit(RLIMIT_MEMLOCK, &limits) != 0)
    _exit(1);
}

/* The first size that mlock_kb does not allow, in bytes. */
static size_t too_much(void) {
  size_t bytes = support_page_bytes();
  int64_t kb = 0;

  uvperf__system_number(UVPERF__MLOCK_KB, &kb);
  kb *= uvperf__system_online_cpus();
  while (bytes <= (size_t)kb * 1024)
    bytes *= 2;
  return bytes;
}

static void ring_above_mlock_kb(uvperf_error_t *error) {
  explain_drop_privileges();
  limit_locked(0);
  map(error, open_dummy(), too_much());
}

static void live_ring_above_mlock_kb_is_locked_memory(void **state) {
  uvperf_error_t error;
  int64_t kb = 0;

  explain_need_paranoid(__func__, 0, 2);
  uvperf__system_number(UVPERF__MLOCK_KB, &kb);
  kb *= uvperf__system_online_cpus();
  error = explain_in_child(ring_above_mlock_kb);
  explain_check(&error, -EPERM, UVPERF_CAUSE_LOCKED_MEMORY, "RLIMIT_MEMLOCK");
  assert_int_equal(error.limit, kb * 1024);
  assert_int_equal(error.needed, too_much() + support_page_bytes());
}

/* One that fits, then another: the error reports the pages of the first. On
 * many CPUs the limit is above the usual one, so root sets it. */
static void second_ring(uvperf_error_t *error) {
  limit_locked(too_much() + support_page_bytes());
  explain_drop_privileges();
  map(error, open_dummy(), too_much());
  if (error->code == 0)
    map(error, open_dummy(), too_much());
}

static void
live_second_ring_error_counts_the_firsts_pinned_pages(void **state) {
  uvperf_error_t error;
  const char *used;

  explain_need_paranoid(__func__, 0, 2);
  error = explain_in_child(second_ring);
  explain_check(&error, -EPERM, UVPERF_CAUSE_LOCKED_MEMORY, "(RLIMIT_MEMLOCK,");
  used = strstr(error.reason, "(RLIMIT_MEMLOCK,");
  assert_true(strtol(used + strlen("(RLIMIT_MEMLOCK,"), NULL, 10) > 0);
}

static void ring_after_mlockall(uvperf_error_t *error) {
  int fd;

  explain_drop_privileges();
  fd = open_dummy();
  limit_locked(16 * support_page_bytes());
  /* The sanitizer's mlockall() does nothing. */
  if (syscall(SYS_mlockall, MCL_FUTURE) != 0)
    _exit(1);
  map(error, fd, 16 * support_page_bytes());
}

static void live_ring_after_mlockall_is_locked_memory(void **state) {
  uvperf_error_t error;

  explain_need_paranoid(__func__, -1, 2);
  error = explain_in_child(ring_after_mlockall);
  explain_check(&error, -EAGAIN, UVPERF_CAUSE_LOCKED_MEMORY, "mlockall(2)");
  assert_int_equal(error.limit, 16 * support_page_bytes());
  assert_true(error.needed >= 17 * support_page_bytes());
}

static void ring_without_space(uvperf_error_t *error) {
  struct rlimit limits = {1 << 20, 1 << 20};
  int fd = open_dummy();

  if (setrlimit(RLIMIT_AS, &limits) != 0)
    _exit(1);
  map(error, fd, 16 * support_page_bytes());
}

static void live_ring_without_address_space_is_memory(void **state) {
  support_need_own_events(__func__);
  explain_expect(ring_without_space, -ENOMEM, UVPERF_CAUSE_MEMORY, "1048576");
}

static void ring_of_3_pages(uvperf_error_t *error) {
  map(error, open_dummy(), 3 * support_page_bytes());
}

static void live_ring_of_an_odd_size_is_argument(void **state) {
  support_need_own_events(__func__);
  explain_expect(ring_of_3_pages, -EINVAL, UVPERF_CAUSE_ARGUMENT, "");
}

/* The second event writes to the ring of the first. */
static void ring_of_another(uvperf_error_t *error) {
  struct perf_event_attr attr;
  int owner = open_dummy();
  int follower;

  explain_user_dummy(&attr);
  map(error, owner, support_page_bytes());
  follower = uvperf__sys_open(&attr, 0, -1, owner,
                              PERF_FLAG_FD_OUTPUT | PERF_FLAG_FD_NO_GROUP);
  map(error, follower, support_page_bytes());
}

/* Older ones, as Linux 6.1, map the other's ring once more. */
static void live_ring_of_a_redirected_event_is_argument(void **state) {
  uvperf_error_t error;

  support_need_own_events(__func__);
  error = explain_in_child(ring_of_another);
  if (error.code == 0)
    support_skip(__func__, "a kernel that maps a ring by its own event alone");
  explain_check(&error, -EBUSY, UVPERF_CAUSE_ARGUMENT, "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(live_ring_above_mlock_kb_is_locked_memory),
      cmocka_unit_test(live_second_ring_error_counts_the_firsts_pinned_pages),
      cmocka_unit_test(live_ring_after_mlockall_is_locked_memory),
      cmocka_unit_test(live_ring_without_address_space_is_memory),
      cmocka_unit_test(live_ring_of_an_odd_size_is_argument),
      cmocka_unit_test(live_ring_of_a_redirected_event_is_argument),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
