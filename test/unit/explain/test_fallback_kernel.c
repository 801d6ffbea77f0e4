/* SPDX-License-Identifier: MIT */
/* What is changed in an attr that the kernel does not know, with scripted
 * kernels. */
#include "check_fallback.h"
#include "fake_version.h"

#define BIT(position) (UINT64_C(1) << (position))

static void fallback_to_what_the_kernel_knows_clears_all_at_once(void **state) {
  uvperf__fallback_t fallback = fallback_allow(UVPERF_FALLBACK_KERNEL);
  fake_version_t *kernel = fake_version();
  struct perf_event_attr attr;

  kernel->known[UVPERF__WORD_FLAGS] = BIT(34) - 1;
  kernel->known[UVPERF__WORD_SAMPLE_TYPE] = BIT(22) - 1;
  kernel->known[UVPERF__WORD_READ_FORMAT] = BIT(4) - 1;
  kernel->known[UVPERF__WORD_BRANCH_SAMPLE_TYPE] = BIT(17) - 1;
  kernel->known[UVPERF__WORD_AUX_ACTION] = 0;
  uvperf_attr_hardware(&attr, PERF_COUNT_HW_CPU_CYCLES);
  attr.inherit = 1;
  attr.mmap = 1;
  uvperf_attr_set(&attr, UVPERF_ATTR_INHERIT_THREAD, 1);
  uvperf_attr_set(&attr, UVPERF_ATTR_SIGTRAP, 1);
  attr.sample_type = PERF_SAMPLE_BRANCH_STACK | UVPERF_SAMPLE_WEIGHT_STRUCT;
  attr.read_format = PERF_FORMAT_ID | UVPERF_FORMAT_LOST;
  attr.branch_sample_type = 8 | UVPERF_SAMPLE_BRANCH_HW_INDEX;
  uvperf_attr_set(&attr, UVPERF_ATTR_AUX_ACTION, 1);
  assert_int_equal(
      fallback_next(&fallback, &attr, -EINVAL, UVPERF_CAUSE_ARGUMENT), 1);
  fallback_changed(
      &fallback,
      "kernel: inherit_thread 1 to 0, kernel: sigtrap 1 to 0, "
      "kernel: sample_type 16779264 to 2048, kernel: read_format 20 to 4, "
      "kernel: branch_sample_type 131080 to 8, kernel: aux_action 1 to 0");
  assert_int_equal(attr.inherit, 1);
  assert_int_equal(attr.mmap, 1);
  assert_int_equal(
      fallback_next(&fallback, &attr, -EINVAL, UVPERF_CAUSE_ARGUMENT), 0);
}

/* Without a branch stack the kernel does not check it. */
static void fallback_to_what_the_kernel_knows_leaves_the_rest(void **state) {
  uvperf__fallback_t fallback = fallback_allow(UVPERF_FALLBACK_KERNEL);
  fake_version_t *kernel = fake_version();
  struct perf_event_attr attr, before;

  kernel->known[UVPERF__WORD_BRANCH_SAMPLE_TYPE] = 0;
  uvperf_attr_software(&attr, PERF_COUNT_SW_DUMMY);
  attr.branch_sample_type = UVPERF_SAMPLE_BRANCH_HW_INDEX;
  attr.comm = 1;
  before = attr;
  assert_int_equal(
      fallback_next(&fallback, &attr, -EINVAL, UVPERF_CAUSE_UNKNOWN), 0);
  kernel->known[UVPERF__WORD_FLAGS] = 0;
  assert_int_equal(
      fallback_next(&fallback, &attr, -ENOENT, UVPERF_CAUSE_NO_EVENT), 0);
  assert_memory_equal(&attr, &before, sizeof(attr));
}

static void fallback_without_an_answer_clears_nothing(void **state) {
  uvperf__fallback_t fallback = fallback_allow(UVPERF_FALLBACK_KERNEL);
  fake_version_t *kernel = fake_version();
  struct perf_event_attr attr;

  kernel->known[UVPERF__WORD_FLAGS] = 0;
  kernel->denies = -EPERM;
  uvperf_attr_software(&attr, PERF_COUNT_SW_DUMMY);
  attr.comm = 1;
  assert_int_equal(
      fallback_next(&fallback, &attr, -EINVAL, UVPERF_CAUSE_UNKNOWN), 0);
  assert_int_equal(attr.comm, 1);
}

/* An attr of more bytes than most headers have. */
typedef union wide_s {
  struct perf_event_attr attr;
  uint8_t bytes[256];
} wide_t;

static wide_t wide;

/* E2BIG from a kernel whose struct has this size. */
static int too_big(uvperf__fallback_t *fallback, uint32_t known) {
  uint32_t asked_size = wide.attr.size;
  uvperf_error_t failed;

  memset(&failed, 0, sizeof(failed));
  failed.code = -E2BIG;
  failed.cause = UVPERF_CAUSE_OLD_KERNEL;
  wide.attr.size = known;
  return uvperf__fallback_next(fallback, &wide.attr, asked_size, &failed);
}

static void fallback_to_the_kernels_size_clears_the_later_fields(void **state) {
  uvperf__fallback_t fallback = fallback_allow(UVPERF_FALLBACK_KERNEL);
  uint32_t watermark;

  uvperf_attr_init_sized(&wide.attr, sizeof(wide), PERF_TYPE_SOFTWARE, 9);
  uvperf_attr_set(&wide.attr, UVPERF_ATTR_AUX_WATERMARK, 1);
  uvperf_attr_set(&wide.attr, UVPERF_ATTR_SIG_DATA, 2);
  uvperf_attr_set(&wide.attr, UVPERF_ATTR_CONFIG3, 3);
  uvperf_attr_set(&wide.attr, UVPERF_ATTR_CONFIG4, 4);
  assert_int_equal(too_big(&fallback, 128), 1);
  assert_int_equal(wide.attr.size, 128);
  fallback_changed(&fallback, "kernel: config3 3 to 0, kernel: config4 4 to 0");
  assert_int_equal(too_big(&fallback, 112), 1);
  fallback_changed(&fallback,
                   "kernel: config3 3 to 0, "
                   "kernel: config4 4 to 0, kernel: sig_data 2 to 0");
  assert_int_equal(wide.attr.size, 112);
  memcpy(&watermark, wide.bytes + 104, sizeof(watermark));
  assert_int_equal(watermark, 1); /* it lies before the 112th byte */
}

/* A field without a name here could not be reported. */
static void fallback_leaves_fields_that_have_no_name(void **state) {
  uvperf__fallback_t fallback = fallback_allow(UVPERF_FALLBACK_KERNEL);

  uvperf_attr_init_sized(&wide.attr, sizeof(wide), PERF_TYPE_SOFTWARE, 9);
  uvperf_attr_set(&wide.attr, UVPERF_ATTR_CONFIG4, 4);
  wide.bytes[255] = 1;
  assert_int_equal(too_big(&fallback, 136), 0);
  fallback_changed(&fallback, "");
  wide.attr.size = sizeof(wide);
  assert_int_equal(too_big(&fallback, 200), 0);
  wide.bytes[255] = 0;
  wide.bytes[199] = 1; /* a field that the kernel knows */
  wide.attr.size = sizeof(wide);
  assert_int_equal(too_big(&fallback, 200), 1);
  assert_int_equal(wide.attr.size, 200);
  assert_int_equal(wide.bytes[199], 1);
}

/* For a group that is too large, or a uprobe's path: attr.size is as it was. */
static void no_fallback_from_another_e2big(void **state) {
  uvperf__fallback_t fallback = fallback_allow(UVPERF_FALLBACK_ALL);

  uvperf_attr_init_sized(&wide.attr, 144, PERF_TYPE_SOFTWARE, 9);
  uvperf_attr_set(&wide.attr, UVPERF_ATTR_CONFIG4, 4);
  assert_int_equal(too_big(&fallback, 144), 0);
  assert_int_equal(too_big(&fallback, 63), 0);
  fallback_changed(&fallback, "");
}

/* Every field is set, none is known, and everything else was changed before. */
static void fallback_has_room_for_every_change(void **state) {
  uvperf__fallback_t fallback = fallback_allow(UVPERF_FALLBACK_ALL);
  fake_version_t *kernel = fake_version();
  unsigned int field;

  memset(kernel->known, 0, sizeof(kernel->known));
  kernel->known[UVPERF__WORD_FLAGS] = BIT(UVPERF_ATTR_DISABLED) |
                                      BIT(UVPERF_ATTR_EXCLUDE_KERNEL) |
                                      BIT(UVPERF_ATTR_EXCLUDE_HV);
  uvperf_attr_init_sized(&wide.attr, 144, PERF_TYPE_HARDWARE, 0);
  for (field = 0; field <= UVPERF_ATTR_CONFIG4; field++)
    if (field != UVPERF_ATTR_TYPE && field != UVPERF_ATTR_CONFIG &&
        field != UVPERF_ATTR_EXCLUDE_USER &&
        field != UVPERF_ATTR_EXCLUDE_KERNEL &&
        field != UVPERF_ATTR_EXCLUDE_HV && field != UVPERF_ATTR_FREQ)
      uvperf_attr_set(&wide.attr, (enum uvperf_attr_field)field, UINT32_MAX);
  for (field = 0; field <= UVPERF_ATTR_DEFER_OUTPUT; field++)
    if (field != UVPERF_ATTR_EXCLUDE_USER &&
        field != UVPERF_ATTR_EXCLUDE_KERNEL &&
        field != UVPERF_ATTR_EXCLUDE_HV && field != UVPERF_ATTR_FREQ)
      uvperf_attr_set(&wide.attr, (enum uvperf_attr_field)field, 1);
  assert_int_equal(
      fallback_next(&fallback, &wide.attr, -EACCES, UVPERF_CAUSE_PERMISSION),
      1);
  assert_int_equal(
      fallback_next(&fallback, &wide.attr, -ENOENT, UVPERF_CAUSE_NO_EVENT), 1);
  assert_int_equal(
      fallback_next(&fallback, &wide.attr, -ENOENT, UVPERF_CAUSE_NO_EVENT), 1);
  assert_int_equal(
      fallback_next(&fallback, &wide.attr, -EINVAL, UVPERF_CAUSE_UNKNOWN), 1);
  assert_int_equal(too_big(&fallback, 64), 1);
  assert_in_range(fallback.nr, 50, UVPERF__CHANGES_MOST - 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      fake_version_test(fallback_to_what_the_kernel_knows_clears_all_at_once),
      fake_version_test(fallback_to_what_the_kernel_knows_leaves_the_rest),
      fake_version_test(fallback_without_an_answer_clears_nothing),
      fake_version_test(fallback_to_the_kernels_size_clears_the_later_fields),
      fake_version_test(fallback_leaves_fields_that_have_no_name),
      fake_version_test(no_fallback_from_another_e2big),
      fake_version_test(fallback_has_room_for_every_change),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
