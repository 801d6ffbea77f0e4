/* SPDX-License-Identifier: MIT */
/* One ring for each CPU: its owner, its size and when it wakes; scripted. */
#include "make_cpu_rings.h"
#include "fake_kernel.h"
#include "support.h"
#include "make_host.h"
#include "uvperf.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "ring/cpu_rings.h"
#include "sys/sys.h"

/* Asks for a ring on a machine with limits, which must fail like that and leave
 * nothing. */
static void get_fails(const uvperf__cpu_rings_options_t *given, int code,
                      int cause) {
  uvperf__cpu_rings_options_t options = *given;
  uvperf__cpu_rings_t *rings;
  uvperf__cpu_ring_t *ring;
  uvperf_error_t error;
  size_t fds = support_count_fds();

  rings = make_cpu_rings(&options);
  memset(&error, 0, sizeof(error));
  assert_int_equal(uvperf__cpu_rings_get(rings, 1, &ring, &error), code);
  assert_int_equal(error.code, code);
  if (error.cause != cause)
    fail_msg("%s: %s", uvperf_cause_name(error.cause), error.reason);
  assert_int_equal(support_count_fds(), fds);
  assert_int_equal(uvperf__cpu_rings_nr(rings), 0);
  assert_int_equal(uvperf__cpu_rings_get(rings, 1, &ring, NULL), code);
  uvperf__cpu_rings_free(rings);
  fake_assert_clean();
}

/* -- options -------------------------------------------------------------- */

static void check_of_sizes_that_cannot_be_is_einval(void **state) {
  const struct {
    size_t ring_bytes;
    uint32_t wakeup_bytes;
    int code;
  } cases[] = {
      {0, 0, 0},
      {0, UVPERF__RING_DEFAULT_BYTES / 2, 0},
      {0, UVPERF__RING_DEFAULT_BYTES / 2 + 1, -EINVAL},
      {1, (uint32_t)support_page_bytes() / 2, 0},
      {1, (uint32_t)support_page_bytes() / 2 + 1, -EINVAL},
      {SIZE_MAX, 1, -EINVAL},
      {SIZE_MAX / 2 + 2, 1, -EINVAL},
  };
  uvperf__cpu_rings_options_t options = cpu_rings_defaults;
  uvperf_error_t error;
  size_t i;

  for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    memset(&error, 0, sizeof(error));
    options.ring_bytes = cases[i].ring_bytes;
    options.wakeup_bytes = cases[i].wakeup_bytes;
    assert_int_equal(uvperf__cpu_rings_check(&options, &error), cases[i].code);
    assert_int_equal(error.cause,
                     cases[i].code == 0 ? 0 : UVPERF_CAUSE_ARGUMENT);
    assert_int_equal(uvperf__cpu_rings_check(&options, NULL), cases[i].code);
  }
}

/* -- sizes ---------------------------------------------------------------- */

static void rings_fit_if_they_have_more_bytes_than_that(void **state) {
  const size_t page = support_page_bytes();
  uvperf__cpu_rings_options_t options = cpu_rings_defaults;

  assert_true(uvperf__cpu_rings_fit(&options));
  options.above_bytes = UVPERF__RING_DEFAULT_BYTES - 1;
  assert_true(uvperf__cpu_rings_fit(&options));
  options.above_bytes = UVPERF__RING_DEFAULT_BYTES;
  assert_false(uvperf__cpu_rings_fit(&options));
  options.ring_bytes = 1;
  options.above_bytes = page - 8;
  assert_true(uvperf__cpu_rings_fit(&options));
  options.above_bytes = page;
  assert_false(uvperf__cpu_rings_fit(&options));
}

static void ring_is_not_halved_to_what_must_fit(void **state) {
  const size_t page = support_page_bytes();
  uvperf__cpu_rings_options_t options = cpu_rings_defaults;
  uvperf__cpu_rings_t *rings;
  uvperf__cpu_ring_t *ring;
  size_t i;

  for (i = 0; i < 64; i++)
    fake_event_add(i);
  options.overwrite = 1;
  options.above_bytes = 2 * page;
  rings = make_cpu_rings(&options);
  fake_fail_from(FAKE_MMAP, 1, -EPERM);
  assert_int_equal(uvperf__cpu_rings_get(rings, 0, &ring, NULL), -EPERM);
  /* Down to four pages. */
  assert_int_equal(fake_count(FAKE_MMAP),
                   __builtin_ctzl(UVPERF__RING_DEFAULT_BYTES / page) - 1);
  uvperf__cpu_rings_free(rings);
  fake_assert_clean();
}

/* -- owners --------------------------------------------------------------- */

static void ring_of_a_cpu_is_opened_once(void **state) {
  uvperf__cpu_rings_t *rings = make_cpu_rings(&cpu_rings_defaults);
  fake_event_t *owners[6];
  uvperf__cpu_ring_t *found[6];
  int cpu;

  for (cpu = 0; cpu < 6; cpu++)
    owners[cpu] = fake_event_add((uint64_t)cpu);
  for (cpu = 5; cpu >= 0; cpu--) {
    assert_null(uvperf__cpu_rings_find(rings, cpu));
    found[cpu] = cpu_rings_of(rings, cpu);
    assert_ptr_equal(uvperf__cpu_rings_find(rings, cpu), found[cpu]);
  }
  for (cpu = 0; cpu < 6; cpu++) {
    assert_ptr_equal(cpu_rings_of(rings, cpu), found[cpu]);
    assert_int_equal(found[cpu]->cpu, cpu);
    assert_int_equal(found[cpu]->index, 5 - cpu);
    assert_ptr_equal(uvperf__cpu_rings_at(rings, found[cpu]->index),
                     found[cpu]);
    assert_int_equal(found[cpu]->fd, owners[5 - cpu]->fd);
    assert_int_equal(owners[5 - cpu]->cpu, cpu);
  }
  assert_int_equal(uvperf__cpu_rings_nr(rings), 6);
  assert_int_equal(fake_count(FAKE_OPEN), 6);
  uvperf__cpu_rings_free(rings);
  fake_assert_clean();
}

static void owner_is_a_dummy_of_the_first_thread(void **state) {
  uvperf__cpu_rings_options_t options = cpu_rings_defaults;
  uvperf__cpu_rings_t *rings;
  fake_event_t *owner = fake_event_add(1);

  options.clockid = CLOCK_MONOTONIC;
  rings = make_cpu_rings(&options);
  cpu_rings_of(rings, 3);
  assert_int_equal(owner->pid, getpid());
  assert_int_equal(owner->group_fd, -1);
  assert_int_equal(owner->flags, PERF_FLAG_FD_CLOEXEC);
  assert_int_equal(owner->attr.type, PERF_TYPE_SOFTWARE);
  assert_int_equal(owner->attr.config, PERF_COUNT_SW_DUMMY);
  assert_true(owner->attr.disabled);
  assert_true(owner->attr.exclude_kernel);
  assert_true(owner->attr.use_clockid);
  assert_int_equal(owner->attr.clockid, CLOCK_MONOTONIC);
  uvperf__cpu_rings_free(rings);
  fake_assert_clean();
}

static void
owner_of_a_process_without_first_thread_is_the_callers(void **state) {
  uvperf__cpu_rings_t *rings = make_cpu_rings(&cpu_rings_defaults);
  fake_event_t *owner = fake_event_add(1);

  fake_fail(FAKE_OPEN, 1, -ESRCH);
  cpu_rings_of(rings, 3);
  assert_int_equal(owner->pid, 0);
  assert_int_equal(owner->cpu, 3);
  assert_int_equal(fake_count(FAKE_OPEN), 2);
  uvperf__cpu_rings_free(rings);
  fake_assert_clean();
}

static void owner_without_a_clock_has_the_kernels(void **state) {
  uvperf__cpu_rings_t *rings = make_cpu_rings(&cpu_rings_defaults);
  fake_event_t *owner = fake_event_add(1);

  cpu_rings_of(rings, 0);
  assert_false(owner->attr.use_clockid);
  uvperf__cpu_rings_free(rings);
}

/* -- sizes and wakeups ---------------------------------------------------- */

static void ring_wakes_at_a_quarter_by_default(void **state) {
  uvperf__cpu_rings_t *rings = make_cpu_rings(&cpu_rings_defaults);
  fake_event_t *owner = fake_event_add(1);
  uvperf__cpu_ring_t *ring = cpu_rings_of(rings, 0);

  assert_int_equal(ring->ring.size, UVPERF__RING_DEFAULT_BYTES);
  assert_true(owner->attr.watermark);
  assert_int_equal(owner->attr.wakeup_watermark, ring->ring.size / 4);
  uvperf__cpu_rings_free(rings);
}

static void ring_that_can_be_overwritten_does_not_wake(void **state) {
  uvperf__cpu_rings_options_t options = cpu_rings_defaults;
  uvperf__cpu_rings_t *rings;
  fake_event_t *owner = fake_event_add(1);

  options.overwrite = 1;
  rings = make_cpu_rings(&options);
  cpu_rings_of(rings, 0);
  assert_true(owner->attr.watermark);
  assert_int_equal(owner->attr.wakeup_watermark, INT32_MAX);
  uvperf__cpu_rings_free(rings);
}

static void ring_of_a_given_size_is_rounded_up(void **state) {
  uvperf__cpu_rings_options_t options = cpu_rings_defaults;
  uvperf__cpu_rings_t *rings;
  fake_event_t *owner = fake_event_add(1);

  options.ring_bytes = 3 * support_page_bytes();
  options.wakeup_bytes = 1;
  rings = make_cpu_rings(&options);
  assert_int_equal(cpu_rings_of(rings, 0)->ring.size, 4 * support_page_bytes());
  assert_int_equal(owner->attr.wakeup_watermark, 1);
  uvperf__cpu_rings_free(rings);
}

static void ring_that_is_halved_wakes_at_its_own_quarter(void **state) {
  uvperf__cpu_rings_t *rings = make_cpu_rings(&cpu_rings_defaults);
  fake_event_t *owners[3];
  uvperf__cpu_ring_t *ring;
  size_t i;

  for (i = 0; i < 3; i++)
    owners[i] = fake_event_add(i);
  fake_fail(FAKE_MMAP, 1, -EPERM);
  fake_fail(FAKE_MMAP, 2, -EPERM);
  ring = cpu_rings_of(rings, 0);
  assert_string_equal(fake_log(), "open, mmap failed, close, "
                                  "open, mmap failed, close, open, mmap");
  assert_int_equal(ring->ring.size, UVPERF__RING_DEFAULT_BYTES / 4);
  assert_int_equal(owners[2]->attr.wakeup_watermark, ring->ring.size / 4);
  assert_int_equal(ring->fd, owners[2]->fd);
  uvperf__cpu_rings_free(rings);
  fake_assert_clean();
}

static void ring_is_halved_down_to_one_page(void **state) {
  size_t sizes = 1;
  size_t bytes;

  for (bytes = UVPERF__RING_DEFAULT_BYTES; bytes > support_page_bytes();
       bytes /= 2)
    sizes++;
  for (bytes = 0; bytes < 2 * sizes; bytes++)
    fake_event_add(bytes);
  fake_fail_from(FAKE_MMAP, 1, -EPERM);
  get_fails(&cpu_rings_defaults, -EPERM, UVPERF_CAUSE_LOCKED_MEMORY);
  assert_int_equal(fake_count(FAKE_MMAP), 2 * sizes);
}

/* A smaller ring would not wake as requested. */
static void ring_is_not_halved_below_twice_its_wakeup(void **state) {
  uvperf__cpu_rings_options_t options = cpu_rings_defaults;
  size_t i;

  options.wakeup_bytes = UVPERF__RING_DEFAULT_BYTES / 4;
  for (i = 0; i < 4; i++)
    fake_event_add(i);
  fake_fail_from(FAKE_MMAP, 1, -EPERM);
  get_fails(&options, -EPERM, UVPERF_CAUSE_LOCKED_MEMORY);
  assert_int_equal(fake_count(FAKE_MMAP), 4);
}

static void ring_of_a_given_size_is_not_made_smaller(void **state) {
  uvperf__cpu_rings_options_t options = cpu_rings_defaults;

  options.ring_bytes = UVPERF__RING_DEFAULT_BYTES;
  fake_event_add(1);
  fake_event_add(2);
  fake_fail_from(FAKE_MMAP, 1, -EPERM);
  get_fails(&options, -EPERM, UVPERF_CAUSE_LOCKED_MEMORY);
  assert_int_equal(fake_count(FAKE_MMAP), 2);
}

/* -- failures ------------------------------------------------------------- */

static void ring_whose_owner_cannot_be_opened_is_explained(void **state) {
  const struct {
    int code;
    int cause;
  } cases[] = {
      {-EMFILE, UVPERF_CAUSE_FILES},
      {-ENFILE, UVPERF_CAUSE_FILES},
      {-ENOMEM, UVPERF_CAUSE_MEMORY},
      {-ENOSYS, UVPERF_CAUSE_NO_PERF},
  };
  size_t i;

  for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    fake_kernel_reset();
    fake_fail_from(FAKE_OPEN, 1, cases[i].code);
    get_fails(&cpu_rings_defaults, cases[i].code, cases[i].cause);
  }
  /* Another size does not help. */
  fake_kernel_reset();
  fake_fail_from(FAKE_OPEN, 1, -EPERM);
  get_fails(&cpu_rings_defaults, -EPERM, UVPERF_CAUSE_PERMISSION);
  assert_int_equal(fake_count(FAKE_OPEN), 2);
}

static void ring_that_cannot_be_mapped_is_explained(void **state) {
  fake_event_add(1);
  fake_event_add(2);
  fake_fail_from(FAKE_MMAP, 1, -ENOMEM);
  get_fails(&cpu_rings_defaults, -ENOMEM, UVPERF_CAUSE_MEMORY);
  assert_int_equal(fake_count(FAKE_MMAP), 2);
}

/* The room of 4 is used up by the fifth. */
static int get_five(uvperf__cpu_rings_t *rings, uvperf_error_t *error) {
  uvperf__cpu_ring_t *ring;
  int cpu;
  int rc = 0;

  for (cpu = 0; cpu < 5 && rc == 0; cpu++)
    rc = uvperf__cpu_rings_get(rings, cpu, &ring, error);
  return rc;
}

static void rings_without_memory_are_enomem(void **state) {
  uvperf__cpu_rings_t *rings;
  uvperf_error_t error;
  unsigned nth;
  int rc;
  int i;

  for (nth = 1;; nth++) {
    fake_kernel_reset();
    for (i = 0; i < 5; i++)
      fake_event_add((uint64_t)i);
    fake_fail(FAKE_CALLOC, nth, -ENOMEM);
    rc = uvperf__cpu_rings_new(&rings, &cpu_rings_defaults);
    if (rc != 0) {
      assert_null(rings);
    } else {
      error.cause = UVPERF_CAUSE_MEMORY;
      rc = get_five(rings, &error);
      assert_int_equal(error.cause, UVPERF_CAUSE_MEMORY);
      uvperf__cpu_rings_free(rings);
    }
    fake_assert_clean();
    if (fake_failures() == 0)
      break;
    assert_int_equal(rc, -ENOMEM);
  }
  assert_int_equal(rc, 0);
  assert_int_equal(nth, 9);
}

/* -- the end -------------------------------------------------------------- */

static void rings_are_unmapped_then_closed(void **state) {
  uvperf__cpu_rings_t *rings = make_cpu_rings(&cpu_rings_defaults);

  fake_event_add(1);
  fake_event_add(2);
  cpu_rings_of(rings, 0);
  cpu_rings_of(rings, 1);
  fake_log_clear();
  uvperf__cpu_rings_free(rings);
  assert_string_equal(fake_log(), "munmap, close, munmap, close");
  uvperf__cpu_rings_free(NULL);
  fake_assert_clean();
}

static void rings_of_a_call_that_failed_are_cut(void **state) {
  uvperf__cpu_rings_t *rings = make_cpu_rings(&cpu_rings_defaults);
  fake_event_t *kept = fake_event_add(1);
  uvperf__cpu_ring_t *ring;

  fake_event_add(2);
  fake_event_add(3);
  ring = cpu_rings_of(rings, 0);
  cpu_rings_of(rings, 1);
  uvperf__cpu_rings_cut(rings, 1);
  assert_int_equal(uvperf__cpu_rings_nr(rings), 1);
  assert_true(kept->fd >= 0);
  assert_ptr_equal(cpu_rings_of(rings, 0), ring);
  assert_null(uvperf__cpu_rings_find(rings, 1));
  assert_int_equal(cpu_rings_of(rings, 1)->index, 1);
  uvperf__cpu_rings_free(rings);
  fake_assert_clean();
}

static int free_in_child(void *arg) {
  fake_log_clear();
  uvperf__cpu_rings_free(arg);
  return strcmp(fake_log(), "close") != 0;
}

static void rings_in_a_forked_child_are_closed_only(void **state) {
  uvperf__cpu_rings_t *rings = make_cpu_rings(&cpu_rings_defaults);
  uvperf__cpu_ring_t *ring;

  fake_event_add(1);
  ring = cpu_rings_of(rings, 0);
  assert_int_equal(support_wait(support_fork(free_in_child, rings)), 0);
  assert_int_equal(ring->ring.page->data_head, 0);
  uvperf__cpu_rings_free(rings);
  fake_assert_clean();
}

/* -- events --------------------------------------------------------------- */

static int joined_to;

static int on_join(fake_event_t *fake, unsigned long request,
                   uintptr_t argument) {
  (void)fake;
  assert_int_equal(request, PERF_EVENT_IOC_SET_OUTPUT);
  joined_to = (int)argument;
  return 0;
}

static void join_redirects_into_the_owners_ring(void **state) {
  uvperf__cpu_rings_t *rings = make_cpu_rings(&cpu_rings_defaults);
  struct perf_event_attr attr;
  fake_event_t *event;
  uvperf__cpu_ring_t *ring;
  int fd;

  uvperf_attr_software(&attr, PERF_COUNT_SW_DUMMY);
  fake_event_add(1);
  event = fake_event_add(2);
  event->on_ioctl = on_join;
  ring = cpu_rings_of(rings, 0);
  fd = uvperf__sys_open(&attr, 0, 0, -1, 0);
  assert_int_equal(uvperf__cpu_ring_join(ring, fd), 0);
  assert_int_equal(joined_to, ring->fd);
  assert_int_equal(ring->nr_events, 1);
  fake_fail(FAKE_IOCTL, 1, -EINVAL);
  assert_int_equal(uvperf__cpu_ring_join(ring, fd), -EINVAL);
  assert_int_equal(ring->nr_events, 1);
  uvperf__cpu_ring_leave(ring);
  assert_int_equal(ring->nr_events, 0);
  uvperf__sys_close(fd);
  uvperf__cpu_rings_free(rings);
  fake_assert_clean();
}

/* -- spares --------------------------------------------------------------- */

static void spare_shares_the_ring_and_replaces_the_last_but_one(void **state) {
  uvperf__cpu_rings_options_t options = cpu_rings_defaults;
  uvperf__cpu_rings_t *rings;
  uvperf__cpu_ring_t *ring;
  fake_event_t *spares[3];
  size_t i;
  int fd;

  options.clockid = CLOCK_MONOTONIC;
  rings = make_cpu_rings(&options);
  fake_event_add(1);
  ring = cpu_rings_of(rings, 3);
  for (i = 0; i < 3; i++) {
    spares[i] = fake_event_add(2 + i);
    spares[i]->on_ioctl = on_join;
    joined_to = -1;
    fake_fail(FAKE_OPEN, 1, -ESRCH);
    fd = uvperf__cpu_rings_spare(rings, 0);
    assert_true(fd >= 0);
    assert_int_equal(fd, spares[i]->fd);
    assert_int_equal(joined_to, ring->fd);
    assert_int_equal(spares[i]->pid, 0);
    assert_int_equal(spares[i]->cpu, 3);
    assert_int_equal(spares[i]->attr.clockid, CLOCK_MONOTONIC);
    assert_int_equal(spares[i]->flags, PERF_FLAG_FD_CLOEXEC);
  }
  /* The second may still be known to epoll. */
  assert_int_equal(spares[0]->fd, -1);
  assert_true(spares[1]->fd >= 0);
  assert_int_equal(ring->nr_events, 0);
  uvperf__cpu_rings_free(rings);
  fake_assert_clean();
}

static void spare_that_cannot_be_leaves_the_last(void **state) {
  uvperf__cpu_rings_t *rings = make_cpu_rings(&cpu_rings_defaults);
  fake_event_t *spare;

  fake_event_add(1);
  cpu_rings_of(rings, 0);
  spare = fake_event_add(2);
  spare->on_ioctl = on_join;
  assert_true(uvperf__cpu_rings_spare(rings, 0) >= 0);
  fake_fail(FAKE_OPEN, 1, -EMFILE);
  assert_int_equal(uvperf__cpu_rings_spare(rings, 0), -EMFILE);
  fake_event_add(3);
  fake_fail(FAKE_IOCTL, 1, -EINVAL);
  assert_int_equal(uvperf__cpu_rings_spare(rings, 0), -EINVAL);
  fake_process(4711);
  assert_int_equal(uvperf__cpu_rings_spare(rings, 0), -EPERM);
  fake_process(0);
  assert_true(spare->fd >= 0);
  uvperf__cpu_rings_free(rings);
  fake_assert_clean();
}

static int setup_limits(void **state) {
  fake_kernel_reset();
  return make_host_machine_setup(state);
}

#define scripted(f) cmocka_unit_test_setup(f, fake_kernel_setup)
#define limited(f)                                                             \
  cmocka_unit_test_setup_teardown(f, setup_limits, make_host_teardown)

int main(void) {
  static const struct CMUnitTest tests[] = {
      scripted(check_of_sizes_that_cannot_be_is_einval),
      scripted(rings_fit_if_they_have_more_bytes_than_that),
      limited(ring_is_not_halved_to_what_must_fit),
      scripted(ring_of_a_cpu_is_opened_once),
      scripted(owner_is_a_dummy_of_the_first_thread),
      scripted(owner_of_a_process_without_first_thread_is_the_callers),
      scripted(owner_without_a_clock_has_the_kernels),
      scripted(ring_wakes_at_a_quarter_by_default),
      scripted(ring_that_can_be_overwritten_does_not_wake),
      scripted(ring_of_a_given_size_is_rounded_up),
      scripted(ring_that_is_halved_wakes_at_its_own_quarter),
      limited(ring_is_halved_down_to_one_page),
      limited(ring_is_not_halved_below_twice_its_wakeup),
      limited(ring_of_a_given_size_is_not_made_smaller),
      limited(ring_whose_owner_cannot_be_opened_is_explained),
      limited(ring_that_cannot_be_mapped_is_explained),
      scripted(rings_without_memory_are_enomem),
      scripted(rings_are_unmapped_then_closed),
      scripted(rings_of_a_call_that_failed_are_cut),
      scripted(rings_in_a_forked_child_are_closed_only),
      scripted(join_redirects_into_the_owners_ring),
      scripted(spare_shares_the_ring_and_replaces_the_last_but_one),
      scripted(spare_that_cannot_be_leaves_the_last),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
