/* SPDX-License-Identifier: MIT */
#include "fake_version.h"

#include "attr/attr.h"

static fake_version_t current;

static void forget(void) {
  size_t i;

  for (i = 0; i < UVPERF__WORDS; i++) {
    atomic_store(&uvperf__known[i].yes, 0);
    atomic_store(&uvperf__known[i].no, 0);
  }
}

static int has_unknown(const struct perf_event_attr *attr) {
  uint64_t words[UVPERF__WORDS] = {0};
  size_t i;

  words[UVPERF__WORD_FLAGS] = uvperf__attr_flags(attr);
  words[UVPERF__WORD_SAMPLE_TYPE] = attr->sample_type;
  words[UVPERF__WORD_READ_FORMAT] = attr->read_format;
  if (attr->sample_type & PERF_SAMPLE_BRANCH_STACK)
    words[UVPERF__WORD_BRANCH_SAMPLE_TYPE] =
        uvperf__attr_value(attr, UVPERF_ATTR_BRANCH_SAMPLE_TYPE);
  words[UVPERF__WORD_AUX_ACTION] =
      uvperf__attr_value(attr, UVPERF_ATTR_AUX_ACTION);
  for (i = 0; i < UVPERF__WORDS; i++)
    if (words[i] & ~current.known[i])
      return 1;
  return 0;
}

/* perf_copy_attr(), after the check for unknown bits. */
static int contradicts(const struct perf_event_attr *attr) {
  uint64_t flags = uvperf__attr_flags(attr);
  uint64_t branches = uvperf__attr_value(attr, UVPERF_ATTR_BRANCH_SAMPLE_TYPE);

  return ((attr->sample_type & PERF_SAMPLE_BRANCH_STACK) && branches < 8) ||
         ((attr->sample_type & PERF_SAMPLE_REGS_USER) &&
          uvperf__attr_value(attr, UVPERF_ATTR_SAMPLE_REGS_USER) == 0) ||
         ((attr->sample_type & PERF_SAMPLE_REGS_INTR) &&
          uvperf__attr_value(attr, UVPERF_ATTR_SAMPLE_REGS_INTR) == 0) ||
         ((flags >> UVPERF_ATTR_INHERIT_THREAD & 1) && !attr->inherit) ||
         ((flags >> UVPERF_ATTR_SIGTRAP & 1) &&
          !(flags >> UVPERF_ATTR_REMOVE_ON_EXEC & 1));
}

static int is_cut(const struct perf_event_attr *attr) {
  const uint8_t *bytes = (const uint8_t *)attr;
  uint32_t i;

  for (i = current.attr_size; i < uvperf__attr_size(attr); i++)
    if (bytes[i] != 0)
      return 1;
  return 0;
}

static int find_event(const struct perf_event_attr *attr) {
  if (attr->type == PERF_TYPE_SOFTWARE &&
      (attr->sample_type & PERF_SAMPLE_BRANCH_STACK))
    return -EOPNOTSUPP;
  if (attr->type == PERF_TYPE_SOFTWARE)
    return attr->config <= PERF_COUNT_SW_BPF_OUTPUT ? 0 : -ENOENT;
  if (current.cycles != 0)
    return current.cycles;
  return attr->precise_ip > current.precise_ip ? current.imprecise : 0;
}

static int open_as_kernel(struct perf_event_attr *attr) {
  if (current.denies != 0)
    return current.denies;
  if (attr == NULL)
    return -EFAULT;
  if (is_cut(attr)) {
    attr->size = current.attr_size;
    return -E2BIG;
  }
  if (has_unknown(attr) || contradicts(attr))
    return -EINVAL;
  if (current.allows_user_only &&
      (!attr->exclude_kernel ||
       uvperf__attr_value(attr, UVPERF_ATTR_NAMESPACES)))
    return -EACCES;
  return find_event(attr);
}

fake_version_t *fake_version(void) {
  static const fake_version_t latest = {
      .attr_size = 144,
      .known = {[UVPERF__WORD_FLAGS] = (UINT64_C(1) << 40) - 1,
                [UVPERF__WORD_SAMPLE_TYPE] = (UINT64_C(1) << 25) - 1,
                [UVPERF__WORD_READ_FORMAT] = (UINT64_C(1) << 5) - 1,
                [UVPERF__WORD_BRANCH_SAMPLE_TYPE] = (UINT64_C(1) << 20) - 1,
                [UVPERF__WORD_AUX_ACTION] = 7},
      .precise_ip = 3,
      .imprecise = -EOPNOTSUPP,
  };

  current = latest;
  forget();
  fake_on_open(open_as_kernel);
  return &current;
}

int fake_version_setup(void **state) {
  forget();
  return fake_kernel_setup(state);
}

int fake_version_teardown(void **state) {
  fake_kernel_reset();
  forget();
  return 0;
}

int fake_version_loop_setup(void **state) {
  forget();
  return fake_kernel_loop_setup(state);
}

int fake_version_loop_teardown(void **state) {
  forget();
  return fake_kernel_loop_teardown(state);
}
