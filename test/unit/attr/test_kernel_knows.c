/* SPDX-License-Identifier: MIT */
/* What a kernel knows of struct perf_event_attr: scripted kernels, and the
 * running one, which must open what it is said to know. */
#include "fake_version.h"

#include <sys/mman.h>

#include "check_explain.h"
#include "sys/sys.h"
#include "uvperf/attr.h"

#define BIT(position) (UINT64_C(1) << (position))

/* -- scripted ------------------------------------------------------------ */

static void kernel_knows_the_bits_that_it_takes(void **state) {
  fake_version_t *kernel = fake_version();

  kernel->known[UVPERF__WORD_FLAGS] &= ~BIT(UVPERF_ATTR_TEXT_POKE);
  kernel->known[UVPERF__WORD_SAMPLE_TYPE] &= ~UVPERF_SAMPLE_CODE_PAGE_SIZE;
  kernel->known[UVPERF__WORD_READ_FORMAT] &= ~UVPERF_FORMAT_LOST;
  kernel->known[UVPERF__WORD_BRANCH_SAMPLE_TYPE] &=
      ~UVPERF_SAMPLE_BRANCH_COUNTERS;
  kernel->known[UVPERF__WORD_AUX_ACTION] = 3;
  assert_int_equal(uvperf_kernel_knows(UVPERF_ATTR_TEXT_POKE, 1), 0);
  assert_int_equal(uvperf_kernel_knows(UVPERF_ATTR_CGROUP, 1), 1);
  assert_int_equal(uvperf_kernel_knows(UVPERF_ATTR_SAMPLE_TYPE,
                                       UVPERF_SAMPLE_CODE_PAGE_SIZE),
                   0);
  assert_int_equal(
      uvperf_kernel_knows(UVPERF_ATTR_SAMPLE_TYPE, UVPERF_SAMPLE_WEIGHT_STRUCT),
      1);
  assert_int_equal(
      uvperf_kernel_knows(UVPERF_ATTR_READ_FORMAT, UVPERF_FORMAT_LOST), 0);
  assert_int_equal(
      uvperf_kernel_knows(UVPERF_ATTR_READ_FORMAT, PERF_FORMAT_GROUP), 1);
  assert_int_equal(uvperf_kernel_knows(UVPERF_ATTR_BRANCH_SAMPLE_TYPE,
                                       UVPERF_SAMPLE_BRANCH_COUNTERS),
                   0);
  assert_int_equal(uvperf_kernel_knows(UVPERF_ATTR_BRANCH_SAMPLE_TYPE,
                                       UVPERF_SAMPLE_BRANCH_PRIV_SAVE),
                   1);
  assert_int_equal(uvperf_kernel_knows(UVPERF_ATTR_AUX_ACTION, 4), 0);
  assert_int_equal(uvperf_kernel_knows(UVPERF_ATTR_AUX_ACTION, 3), 1);
}

static void kernel_knows_only_if_it_knows_all_the_bits(void **state) {
  fake_version_t *kernel = fake_version();

  kernel->known[UVPERF__WORD_SAMPLE_TYPE] = BIT(20) - 1;
  assert_int_equal(uvperf_kernel_knows(UVPERF_ATTR_SAMPLE_TYPE, BIT(20) - 1),
                   1);
  assert_int_equal(
      uvperf_kernel_knows(UVPERF_ATTR_SAMPLE_TYPE, BIT(3) | BIT(20)), 0);
}

/* Each is EINVAL without another flag, even if it is known. */
static void kernel_knows_flags_that_need_another(void **state) {
  static const enum uvperf_attr_field flags[] = {UVPERF_ATTR_INHERIT_THREAD,
                                                 UVPERF_ATTR_SIGTRAP};
  size_t i;

  for (i = 0; i < 2; i++) {
    fake_version_t *kernel = fake_version();

    assert_int_equal(uvperf_kernel_knows(flags[i], 1), 1);
    kernel = fake_version();
    kernel->known[UVPERF__WORD_FLAGS] &= ~BIT(flags[i]);
    assert_int_equal(uvperf_kernel_knows(flags[i], 1), 0);
  }
}

static void kernel_knows_the_fields_of_its_struct(void **state) {
  fake_version_t *kernel = fake_version();

  kernel->attr_size = 112;
  assert_int_equal(uvperf_kernel_knows(UVPERF_ATTR_SAMPLE_MAX_STACK, 127), 1);
  assert_int_equal(uvperf_kernel_knows(UVPERF_ATTR_AUX_SAMPLE_SIZE, 1), 0);
  assert_int_equal(uvperf_kernel_knows(UVPERF_ATTR_AUX_ACTION, 1), 0);
  assert_int_equal(uvperf_kernel_knows(UVPERF_ATTR_SIG_DATA, 1), 0);
  assert_int_equal(uvperf_kernel_knows(UVPERF_ATTR_CONFIG4, 1), 0);
  kernel = fake_version();
  kernel->attr_size = 136;
  assert_int_equal(uvperf_kernel_knows(UVPERF_ATTR_CONFIG3, UINT64_MAX), 1);
  assert_int_equal(uvperf_kernel_knows(UVPERF_ATTR_CONFIG4, UINT64_MAX), 0);
}

/* The first 64 bytes are in every kernel's. */
static void kernel_knows_the_first_fields_without_a_call(void **state) {
  fake_version();
  assert_int_equal(uvperf_kernel_knows(UVPERF_ATTR_TYPE, 1), 1);
  assert_int_equal(uvperf_kernel_knows(UVPERF_ATTR_SIZE, 1), 1);
  assert_int_equal(uvperf_kernel_knows(UVPERF_ATTR_CONFIG1, 1), 1);
  assert_int_equal(fake_count(FAKE_OPEN), 0);
  assert_int_equal(uvperf_kernel_knows(UVPERF_ATTR_CONFIG2, 1), 1);
  assert_int_equal(fake_count(FAKE_OPEN), 2);
}

static void kernel_knows_of_an_invalid_field_is_einval(void **state) {
  fake_version();
  assert_int_equal(
      uvperf_kernel_knows((enum uvperf_attr_field)(UVPERF_ATTR_CONFIG4 + 1), 1),
      -EINVAL);
  assert_int_equal(
      uvperf_kernel_knows(
          (enum uvperf_attr_field)(UVPERF_ATTR_DEFER_OUTPUT + 1), 1),
      -EINVAL);
  assert_int_equal(uvperf_kernel_knows(
                       (enum uvperf_attr_field)(UVPERF_ATTR_PRECISE_IP + 1), 1),
                   -EINVAL);
  assert_int_equal(uvperf_kernel_knows(UVPERF_ATTR_MMAP, 0), -EINVAL);
  assert_int_equal(uvperf_kernel_knows(UVPERF_ATTR_AUX_ACTION, BIT(32)),
                   -EINVAL);
  assert_int_equal(fake_count(FAKE_OPEN), 0);
}

/* Once to see that there are answers at all, and once for each bit. */
static void kernel_knows_asks_for_each_bit_once(void **state) {
  fake_version_t *kernel = fake_version();

  kernel->known[UVPERF__WORD_SAMPLE_TYPE] &= ~BIT(1);
  assert_int_equal(uvperf_kernel_knows(UVPERF_ATTR_SAMPLE_TYPE, 3), 0);
  assert_int_equal(fake_count(FAKE_OPEN), 3);
  assert_int_equal(uvperf_kernel_knows(UVPERF_ATTR_SAMPLE_TYPE, 1), 1);
  assert_int_equal(uvperf_kernel_knows(UVPERF_ATTR_SAMPLE_TYPE, 2), 0);
  assert_int_equal(fake_count(FAKE_OPEN), 3);
  assert_int_equal(uvperf_kernel_knows(UVPERF_ATTR_SAMPLE_TYPE, 7), 0);
  assert_int_equal(fake_count(FAKE_OPEN), 5);
}

/* Without privileges the kernel refuses them, but only after it has checked
 * whether it knows them. */
static void kernel_knows_what_it_does_not_allow(void **state) {
  fake_version_t *kernel = fake_version();

  kernel->allows_user_only = 1;
  assert_int_equal(uvperf_kernel_knows(UVPERF_ATTR_NAMESPACES, 1), 1);
  assert_int_equal(uvperf_kernel_knows(UVPERF_ATTR_COMM, 1), 1);
  assert_int_equal(uvperf_kernel_knows(UVPERF_ATTR_SAMPLE_TYPE, BIT(25)), 0);
}

/* EACCES is an answer if only the bit is refused. Architectures can lack branch
 * stacks (EOPNOTSUPP) and user stacks (ENOSYS). */
static void kernel_knows_what_it_refuses_for_another_reason(void **state) {
  static const int codes[] = {-EACCES, -EOPNOTSUPP, -ENOSYS};
  size_t i;

  for (i = 0; i < COUNT_OF(codes); i++) {
    fake_version();
    fake_fail(FAKE_OPEN, 2, codes[i]);
    assert_int_equal(
        uvperf_kernel_knows(UVPERF_ATTR_SAMPLE_TYPE, PERF_SAMPLE_STACK_USER),
        1);
  }
}

/* An answer that means nothing is not remembered. */
static void kernel_knows_without_an_answer_is_the_errno(void **state) {
  static const int denials[] = {-EPERM,  -EACCES, -ENOSYS,
                                -EINVAL, -EMFILE, -EOPNOTSUPP};
  fake_version_t *kernel = fake_version();
  size_t i;

  for (i = 0; i < COUNT_OF(denials); i++) {
    kernel->denies = denials[i];
    assert_int_equal(uvperf_kernel_knows(UVPERF_ATTR_COMM, 1), denials[i]);
  }
  kernel->denies = 0;
  assert_int_equal(uvperf_kernel_knows(UVPERF_ATTR_COMM, 1), 1);
}

static void kernel_knows_that_runs_out_of_fds_is_emfile(void **state) {
  fake_version();
  fake_fail(FAKE_OPEN, 2, -EMFILE);
  assert_int_equal(uvperf_kernel_knows(UVPERF_ATTR_COMM, 1), -EMFILE);
  assert_int_equal(uvperf_kernel_knows(UVPERF_ATTR_COMM, 1), 1);
}

/* One bit that is known to be unknown is enough for a no. */
static void kernel_knows_says_no_though_the_rest_has_no_answer(void **state) {
  fake_version_t *kernel = fake_version();

  kernel->known[UVPERF__WORD_SAMPLE_TYPE] = 3;
  assert_int_equal(uvperf_kernel_knows(UVPERF_ATTR_SAMPLE_TYPE, 4), 0);
  kernel->denies = -EPERM;
  assert_int_equal(uvperf_kernel_knows(UVPERF_ATTR_SAMPLE_TYPE, 5), 0);
  assert_int_equal(uvperf_kernel_knows(UVPERF_ATTR_SAMPLE_TYPE, 1), -EPERM);
}

/* In case there is ever such an event. */
static void kernel_knows_closes_the_fd_that_it_opened(void **state) {
  fake_version();
  fake_on_open(NULL);
  fake_event_add(1);
  fake_event_add(2);
  assert_int_equal(uvperf_kernel_knows(UVPERF_ATTR_COMM, 1), 1);
  assert_string_equal(fake_log(), "open, close, open, close");
  fake_assert_clean();
}

/* -- live ----------------------------------------------------------------- */

static int is_opened(struct perf_event_attr *attr) {
  int fd;

  attr->disabled = 1;
  attr->exclude_kernel = 1;
  fd = uvperf__sys_open(attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (fd >= 0)
    assert_int_equal(uvperf__sys_close(fd), 0);
  return fd >= 0;
}

/* A dummy event can have nearly every bit. Bits that are refused for another
 * reason are distinguished from unknown ones by the others. */
static void live_kernel_knows_the_flags_that_it_opens(void **state) {
  unsigned int opened = 0;
  unsigned int i;

  support_need_own_events(__func__);
  for (i = 0; i <= UVPERF_ATTR_DEFER_OUTPUT; i++) {
    enum uvperf_attr_field flag = (enum uvperf_attr_field)i;
    struct perf_event_attr attr;

    if (i == UVPERF_ATTR_PRECISE_IP + 1)
      continue;
    uvperf_attr_software(&attr, PERF_COUNT_SW_DUMMY);
    attr.inherit = i == UVPERF_ATTR_INHERIT_THREAD;
    uvperf_attr_set(&attr, UVPERF_ATTR_REMOVE_ON_EXEC,
                    i == UVPERF_ATTR_SIGTRAP);
    uvperf_attr_set(&attr, flag, 1);
    if (is_opened(&attr))
      assert_int_equal(uvperf_kernel_knows(flag, 1), 1);
    else if (i == UVPERF_ATTR_DEFER_CALLCHAIN || i == UVPERF_ATTR_DEFER_OUTPUT)
      assert_int_equal(uvperf_kernel_knows(flag, 1), 0);
    opened += uvperf_kernel_knows(flag, 1) == 1;
  }
  assert_in_range(opened, UVPERF_ATTR_NAMESPACES - 1,
                  UVPERF_ATTR_DEFER_OUTPUT + 1);
}

static void live_kernel_knows_the_samples_that_it_opens(void **state) {
  struct perf_event_attr attr;
  unsigned int i;

  support_need_own_events(__func__);
  for (i = 0; i < 64; i++) {
    uvperf_attr_software(&attr, PERF_COUNT_SW_DUMMY);
    attr.sample_type = BIT(i);
    attr.sample_regs_user = 1;
    attr.sample_regs_intr = 1;
    if (is_opened(&attr))
      assert_int_equal(uvperf_kernel_knows(UVPERF_ATTR_SAMPLE_TYPE, BIT(i)), 1);
    else if (i >= 30)
      assert_int_equal(uvperf_kernel_knows(UVPERF_ATTR_SAMPLE_TYPE, BIT(i)), 0);
  }
  for (i = 0; i < 64; i++) {
    uvperf_attr_software(&attr, PERF_COUNT_SW_DUMMY);
    attr.read_format = BIT(i);
    assert_int_equal(uvperf_kernel_knows(UVPERF_ATTR_READ_FORMAT, BIT(i)),
                     is_opened(&attr));
  }
}

/* No PMU is needed for that. */
static void
live_kernel_knows_branches_and_aux_of_old_and_none_of_never(void **state) {
  support_need_own_events(__func__);
  assert_int_equal(
      uvperf_kernel_knows(UVPERF_ATTR_SAMPLE_TYPE, PERF_SAMPLE_BRANCH_STACK),
      1);
  assert_int_equal(
      uvperf_kernel_knows(UVPERF_ATTR_BRANCH_SAMPLE_TYPE,
                          PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_COND),
      1);
  assert_int_equal(uvperf_kernel_knows(UVPERF_ATTR_BRANCH_SAMPLE_TYPE, BIT(50)),
                   0);
  assert_int_equal(uvperf_kernel_knows(UVPERF_ATTR_AUX_OUTPUT, 1), 1);
  assert_int_equal(uvperf_kernel_knows(UVPERF_ATTR_AUX_ACTION, BIT(30)), 0);
  assert_int_equal(uvperf_kernel_knows(UVPERF_ATTR_SAMPLE_MAX_STACK, 1), 1);
}

static void live_kernel_knows_and_opens_nothing(void **state) {
  size_t before = support_count_fds();

  support_need_own_events(__func__);
  assert_int_equal(uvperf_kernel_knows(UVPERF_ATTR_COMM, 1), 1);
  assert_string_equal(fake_log(), "open failed, open failed");
  assert_int_equal(support_count_fds(), before);
}

/* All there is to ask for. */
static void ask_all(int *answers) {
  unsigned int i;

  for (i = 0; i < 64; i++) {
    *answers++ = uvperf_kernel_knows((enum uvperf_attr_field)i, 1);
    *answers++ = uvperf_kernel_knows((enum uvperf_attr_field)(i + 64), 1);
    *answers++ = uvperf_kernel_knows(UVPERF_ATTR_SAMPLE_TYPE, BIT(i));
    *answers++ = uvperf_kernel_knows(UVPERF_ATTR_READ_FORMAT, BIT(i));
    *answers++ = uvperf_kernel_knows(UVPERF_ATTR_BRANCH_SAMPLE_TYPE, BIT(i));
    *answers++ = uvperf_kernel_knows(UVPERF_ATTR_AUX_ACTION, BIT(i));
  }
}

#define ALL_ANSWERS (64 * 6)

static int ask_as_nobody(void *arg) {
  explain_drop_privileges();
  ask_all(arg);
  return 0;
}

static void live_kernel_knows_the_same_without_privileges(void **state) {
  size_t size = ALL_ANSWERS * sizeof(int);
  int own[ALL_ANSWERS];
  void *shared;

  support_need_own_events(__func__);
  explain_need_paranoid(__func__, -1, 2);
  shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                -1, 0);
  assert_ptr_not_equal(shared, MAP_FAILED);
  assert_int_equal(support_wait(support_fork(ask_as_nobody, shared)), 0);
  ask_all(own);
  assert_memory_equal(own, shared, size);
  assert_int_equal(munmap(shared, size), 0);
}

static int ask_filtered(void *arg) {
  explain_filter(EPERM);
  return uvperf_kernel_knows(UVPERF_ATTR_COMM, 1) == -EPERM ? 0 : 1;
}

static void live_kernel_knows_under_a_seccomp_filter_is_eperm(void **state) {
  assert_int_equal(support_wait(support_fork(ask_filtered, NULL)), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      fake_version_test(kernel_knows_the_bits_that_it_takes),
      fake_version_test(kernel_knows_only_if_it_knows_all_the_bits),
      fake_version_test(kernel_knows_flags_that_need_another),
      fake_version_test(kernel_knows_the_fields_of_its_struct),
      fake_version_test(kernel_knows_the_first_fields_without_a_call),
      fake_version_test(kernel_knows_of_an_invalid_field_is_einval),
      fake_version_test(kernel_knows_asks_for_each_bit_once),
      fake_version_test(kernel_knows_what_it_does_not_allow),
      fake_version_test(kernel_knows_what_it_refuses_for_another_reason),
      fake_version_test(kernel_knows_without_an_answer_is_the_errno),
      fake_version_test(kernel_knows_that_runs_out_of_fds_is_emfile),
      fake_version_test(kernel_knows_says_no_though_the_rest_has_no_answer),
      fake_version_test(kernel_knows_closes_the_fd_that_it_opened),
      fake_version_test(live_kernel_knows_the_flags_that_it_opens),
      fake_version_test(live_kernel_knows_the_samples_that_it_opens),
      fake_version_test(
          live_kernel_knows_branches_and_aux_of_old_and_none_of_never),
      fake_version_test(live_kernel_knows_and_opens_nothing),
      fake_version_test(live_kernel_knows_the_same_without_privileges),
      fake_version_test(live_kernel_knows_under_a_seccomp_filter_is_eperm),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
