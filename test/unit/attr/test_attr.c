/* SPDX-License-Identifier: MIT */
/* uvperf_attr_set and _get, compared with the C members of the installed
 * header, and with raw bytes for fields that the header lacks. */
#include "support.h"

#include "attr/attr.h"

#define WIDE UINT64_C(0x8123456789abcdef)

/* The bytes of a flag word that has one value at one place; bitfields start at
 * the lowest bit on the machines that this test knows. */
static uint64_t flag_word(const struct perf_event_attr *attr) {
  uint64_t word;

  memcpy(&word, (const char *)attr + 40, sizeof(word));
  return word;
}

/* `want` is made through C members, and `got` through fields. */
static struct perf_event_attr got, want;

static void both(enum uvperf_attr_field field, uint64_t value,
                 const char *member) {
  uint64_t read = ~value;

  if (uvperf_attr_set(&got, field, value) != 0 ||
      memcmp(&got, &want, sizeof(want)) != 0 ||
      uvperf_attr_get(&want, field, &read) != 0 || read != value ||
      uvperf__attr_value(&want, field) != value)
    fail_msg("%s: %llx", member, (unsigned long long)read);
}

#define SAME(member, field, value)                                             \
  (want.member = (value), both(UVPERF_ATTR_##field, (uint64_t)(value), #member))

static void attr_set_of_each_field_equals_its_member(void **state) {
  uvperf_attr_init(&got, 0, 0);
  memset(&want, 0, sizeof(want));
  want.size = sizeof(want);
  SAME(config, CONFIG, WIDE + 1);
  SAME(sample_period, SAMPLE_PERIOD, WIDE + 2);
  SAME(sample_freq, SAMPLE_PERIOD, WIDE + 3);
  SAME(sample_type, SAMPLE_TYPE, WIDE + 4);
  SAME(read_format, READ_FORMAT, WIDE + 5);
  SAME(config1, CONFIG1, WIDE + 6);
  SAME(bp_addr, CONFIG1, WIDE + 7);
  SAME(config2, CONFIG2, WIDE + 8);
  SAME(bp_len, CONFIG2, WIDE + 9);
  SAME(branch_sample_type, BRANCH_SAMPLE_TYPE, WIDE + 10);
  SAME(sample_regs_user, SAMPLE_REGS_USER, WIDE + 11);
  SAME(sample_regs_intr, SAMPLE_REGS_INTR, WIDE + 12);
#ifdef PERF_ATTR_SIZE_VER7
  SAME(sig_data, SIG_DATA, WIDE + 13);
#endif
#ifdef PERF_ATTR_SIZE_VER8
  SAME(config3, CONFIG3, WIDE + 14);
#endif
  SAME(type, TYPE, 0x87654321);
  SAME(wakeup_events, WAKEUP_EVENTS, 0x87654322);
  SAME(wakeup_watermark, WAKEUP_EVENTS, 0x87654323);
  SAME(bp_type, BP_TYPE, 0x87654324);
  SAME(sample_stack_user, SAMPLE_STACK_USER, 0x87654325);
  SAME(clockid, CLOCKID, -7);
  SAME(clockid, CLOCKID, INT32_MAX);
  SAME(clockid, CLOCKID, INT32_MIN);
  SAME(aux_watermark, AUX_WATERMARK, 0x87654326);
  SAME(sample_max_stack, SAMPLE_MAX_STACK, 0x8765);
  SAME(aux_sample_size, AUX_SAMPLE_SIZE, 0x87654327);
  SAME(disabled, DISABLED, 1);
  SAME(inherit, INHERIT, 1);
  SAME(pinned, PINNED, 1);
  SAME(exclusive, EXCLUSIVE, 1);
  SAME(exclude_user, EXCLUDE_USER, 1);
  SAME(exclude_kernel, EXCLUDE_KERNEL, 1);
  SAME(exclude_hv, EXCLUDE_HV, 1);
  SAME(exclude_idle, EXCLUDE_IDLE, 1);
  SAME(mmap, MMAP, 1);
  SAME(comm, COMM, 1);
  SAME(freq, FREQ, 1);
  SAME(inherit_stat, INHERIT_STAT, 1);
  SAME(enable_on_exec, ENABLE_ON_EXEC, 1);
  SAME(task, TASK, 1);
  SAME(watermark, WATERMARK, 1);
  SAME(precise_ip, PRECISE_IP, 2);
  SAME(precise_ip, PRECISE_IP, 1);
  SAME(precise_ip, PRECISE_IP, 3);
  SAME(mmap_data, MMAP_DATA, 1);
  SAME(sample_id_all, SAMPLE_ID_ALL, 1);
  SAME(exclude_host, EXCLUDE_HOST, 1);
  SAME(exclude_guest, EXCLUDE_GUEST, 1);
  SAME(exclude_callchain_kernel, EXCLUDE_CALLCHAIN_KERNEL, 1);
  SAME(exclude_callchain_user, EXCLUDE_CALLCHAIN_USER, 1);
  SAME(mmap2, MMAP2, 1);
  SAME(comm_exec, COMM_EXEC, 1);
  SAME(use_clockid, USE_CLOCKID, 1);
  SAME(context_switch, CONTEXT_SWITCH, 1);
  SAME(write_backward, WRITE_BACKWARD, 1);
  SAME(namespaces, NAMESPACES, 1);
  SAME(ksymbol, KSYMBOL, 1);
  SAME(bpf_event, BPF_EVENT, 1);
  SAME(aux_output, AUX_OUTPUT, 1);
  SAME(cgroup, CGROUP, 1);
  SAME(text_poke, TEXT_POKE, 1);
#ifdef PERF_ATTR_SIZE_VER7
  SAME(build_id, BUILD_ID, 1);
  SAME(inherit_thread, INHERIT_THREAD, 1);
  SAME(remove_on_exec, REMOVE_ON_EXEC, 1);
  SAME(sigtrap, SIGTRAP, 1);
#endif
}

/* The kernel's own numbers for what no header here names. */
static void attr_set_newer_flags_are_at_kernels_bits(void **state) {
  struct perf_event_attr attr;
  enum uvperf_attr_field field;

  for (field = UVPERF_ATTR_BUILD_ID; field <= UVPERF_ATTR_DEFER_OUTPUT;
       field++) {
    uvperf_attr_init(&attr, 0, 0);
    assert_int_equal(uvperf_attr_set(&attr, field, 1), 0);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    assert_int_equal(flag_word(&attr), UINT64_C(1) << (63 - (unsigned)field));
#else
    assert_int_equal(flag_word(&attr), UINT64_C(1) << (unsigned)field);
#endif
  }
}

static void attr_flags_are_those_that_are_set(void **state) {
  struct perf_event_attr attr;
  uint64_t flags = 0;
  unsigned int i;

  memset(&attr, 0, sizeof(attr));
  attr.size = sizeof(attr);
  assert_true(uvperf__attr_flags(&attr) == 0);
  for (i = UVPERF_ATTR_DISABLED; i <= UVPERF_ATTR_DEFER_OUTPUT; i++) {
    if (uvperf_attr_set(&attr, i, i == UVPERF_ATTR_PRECISE_IP ? 2 : 1) != 0)
      continue;
    flags |= UINT64_C(1) << i;
    assert_true(uvperf__attr_flags(&attr) == flags);
  }
  assert_true((flags & ~UVPERF__ATTR_NAMED_FLAGS) == 0);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  ((uint8_t *)&attr)[45] = 0x81;
  ((uint8_t *)&attr)[47] = 0x80;
  assert_true((uvperf__attr_flags(&attr) & ~UVPERF__ATTR_NAMED_FLAGS) ==
              (UINT64_C(0x81) << 40 | UINT64_C(1) << 63));
#endif
}

static void attr_set_flag_to_0_clears_it_alone(void **state) {
  struct perf_event_attr ones, lone;
  enum uvperf_attr_field field;

  for (field = 0; field <= UVPERF_ATTR_DEFER_OUTPUT; field++) {
    if (field == UVPERF_ATTR_PRECISE_IP + 1)
      continue;
    memset(&ones, 0xff, sizeof(ones));
    ones.size = sizeof(ones);
    uvperf_attr_init(&lone, 0, 0);
    assert_int_equal(uvperf_attr_set(&ones, field, 0), 0);
    assert_int_equal(
        uvperf_attr_set(&lone, field, field == UVPERF_ATTR_PRECISE_IP ? 3 : 1),
        0);
    assert_int_equal(flag_word(&ones), ~flag_word(&lone));
  }
}

static void attr_set_aux_action_is_after_aux_sample_size(void **state) {
  struct perf_event_attr attr;
  uint32_t words[2];

  uvperf_attr_init(&attr, 0, 0);
  assert_int_equal(uvperf_attr_set(&attr, UVPERF_ATTR_AUX_ACTION, 0x87654321),
                   0);
  memcpy(words,
         (char *)&attr + offsetof(struct perf_event_attr, aux_sample_size),
         sizeof(words));
  assert_int_equal(words[0], 0);
  assert_int_equal(words[1], 0x87654321);
}

static void attr_field_name_of_each_field_is_its_own(void **state) {
  unsigned int one, other;
  uint64_t value;
  struct perf_event_attr attr;

  uvperf_attr_init(&attr, 0, 0);
  assert_string_equal(uvperf__attr_field_name(UVPERF_ATTR_SIGTRAP), "sigtrap");
  assert_string_equal(uvperf__attr_field_name(UVPERF_ATTR_CLOCKID), "clockid");
  for (one = 0; one <= UVPERF_ATTR_CONFIG4 + 1; one++) {
    if (uvperf_attr_get(&attr, (enum uvperf_attr_field)one, &value) != 0) {
      assert_string_equal(uvperf__attr_field_name(one), "?");
      continue;
    }
    assert_string_not_equal(uvperf__attr_field_name(one), "?");
    for (other = 0; other < one; other++)
      assert_string_not_equal(uvperf__attr_field_name(one),
                              uvperf__attr_field_name(other));
  }
}

static void refuse(struct perf_event_attr *attr, unsigned int field,
                   uint64_t value) {
  struct perf_event_attr before = *attr;

  assert_int_equal(uvperf_attr_set(attr, (enum uvperf_attr_field)field, value),
                   -EINVAL);
  assert_memory_equal(attr, &before, sizeof(before));
}

static void attr_set_value_too_wide_is_einval(void **state) {
  struct perf_event_attr attr;

  uvperf_attr_init(&attr, 1, 2);
  refuse(&attr, UVPERF_ATTR_DISABLED, 2);
  refuse(&attr, UVPERF_ATTR_SIGTRAP, UINT64_MAX);
  refuse(&attr, UVPERF_ATTR_PRECISE_IP, 4);
  refuse(&attr, UVPERF_ATTR_TYPE, UINT64_C(1) << 32);
  refuse(&attr, UVPERF_ATTR_SAMPLE_MAX_STACK, 65536);
  refuse(&attr, UVPERF_ATTR_CLOCKID, (uint64_t)INT32_MAX + 1);
  refuse(&attr, UVPERF_ATTR_CLOCKID, (uint64_t)((int64_t)INT32_MIN - 1));
}

static void attr_field_unknown_is_einval(void **state) {
  const unsigned int unknown[] = {16, 40, 41, 63, 86, 1000, UINT32_MAX};
  struct perf_event_attr attr;
  uint64_t value;
  size_t i;

  memset(&attr, 0xff, sizeof(attr));
  attr.size = sizeof(attr);
  for (i = 0; i < COUNT_OF(unknown); i++) {
    value = 7;
    refuse(&attr, unknown[i], 0);
    assert_int_equal(
        uvperf_attr_get(&attr, (enum uvperf_attr_field)unknown[i], &value),
        -EINVAL);
    assert_int_equal(value, 0);
  }
}

static void attr_size_is_only_read(void **state) {
  struct perf_event_attr attr;
  uint64_t value = 0;

  uvperf_attr_init(&attr, 1, 2);
  refuse(&attr, UVPERF_ATTR_SIZE, sizeof(attr));
  assert_int_equal(uvperf_attr_get(&attr, UVPERF_ATTR_SIZE, &value), 0);
  assert_int_equal(value, sizeof(attr));
}

/* A heap block of exactly `size` bytes, so that the sanitizer sees more. */
static struct perf_event_attr *sized(size_t size) {
  struct perf_event_attr *attr = malloc(size);

  assert_non_null(attr);
  memset(attr, 0xff, size);
  uvperf_attr_init_sized(attr, size, 7, WIDE);
  return attr;
}

static void beyond(struct perf_event_attr *attr, size_t size,
                   enum uvperf_attr_field field) {
  uint8_t before[256];
  uint64_t value = 7;

  memcpy(before, attr, size);
  assert_int_equal(uvperf_attr_set(attr, field, 1), -E2BIG);
  assert_int_equal(uvperf_attr_set(attr, field, 0), 0);
  assert_memory_equal(attr, before, size);
  assert_int_equal(uvperf_attr_get(attr, field, &value), 0);
  assert_int_equal(value, 0);
}

static void attr_of_64_bytes_has_no_later_field(void **state) {
  struct perf_event_attr *attr = sized(64);
  enum uvperf_attr_field field;

  for (field = UVPERF_ATTR_CONFIG2; field <= UVPERF_ATTR_CONFIG4; field++)
    beyond(attr, 64, field);
  assert_int_equal(uvperf_attr_set(attr, UVPERF_ATTR_CONFIG1, WIDE), 0);
  assert_int_equal(uvperf__attr_value(attr, UVPERF_ATTR_CONFIG1), WIDE);
  assert_int_equal(uvperf_attr_set(attr, UVPERF_ATTR_DEFER_OUTPUT, 1), 0);
  assert_int_equal(uvperf__attr_value(attr, UVPERF_ATTR_DEFER_OUTPUT), 1);
  free(attr);
}

/* Through bytes, as compilers warn of a struct in a block smaller than it. */
static void set_size(void *attr, uint32_t size) {
  memcpy((char *)attr + 4, &size, sizeof(size));
}

static void attr_of_size_0_counts_as_64(void **state) {
  struct perf_event_attr *attr = sized(64);

  set_size(attr, 0);
  assert_int_equal(uvperf__attr_size(attr), 64);
  beyond(attr, 64, UVPERF_ATTR_CONFIG2);
  assert_int_equal(uvperf_attr_set(attr, UVPERF_ATTR_CONFIG1, WIDE), 0);
  assert_int_equal(uvperf__attr_value(attr, UVPERF_ATTR_CONFIG1), WIDE);
  free(attr);
}

static void attr_that_cuts_a_field_has_it_not(void **state) {
  struct perf_event_attr *attr = sized(71);

  memset((char *)attr + 64, 0xff, 7);
  beyond(attr, 71, UVPERF_ATTR_CONFIG2);
  free(attr);
}

static void attr_of_144_bytes_reaches_config3_and_config4(void **state) {
  struct perf_event_attr *attr = sized(144);
  uint64_t bytes[18];

  assert_int_equal(uvperf_attr_set(attr, UVPERF_ATTR_CONFIG3, WIDE + 3), 0);
  assert_int_equal(uvperf_attr_set(attr, UVPERF_ATTR_CONFIG4, WIDE + 4), 0);
  memcpy(bytes, attr, sizeof(bytes));
  assert_int_equal(bytes[15], 0);
  assert_int_equal(bytes[16], WIDE + 3);
  assert_int_equal(bytes[17], WIDE + 4);
  assert_int_equal(uvperf__attr_value(attr, UVPERF_ATTR_CONFIG3), WIDE + 3);
  assert_int_equal(uvperf__attr_value(attr, UVPERF_ATTR_CONFIG4), WIDE + 4);
  free(attr);
}

static void attr_end_of_a_field_is_where_the_next_begins(void **state) {
  assert_int_equal(uvperf__attr_end(UVPERF_ATTR_SIZE), 8);
  assert_int_equal(uvperf__attr_end(UVPERF_ATTR_DEFER_OUTPUT), 48);
  assert_int_equal(uvperf__attr_end(UVPERF_ATTR_SAMPLE_MAX_STACK), 110);
  assert_int_equal(uvperf__attr_end(UVPERF_ATTR_CONFIG4), 144);
  assert_int_equal(
      uvperf__attr_end((enum uvperf_attr_field)(UVPERF_ATTR_CONFIG4 + 1)), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(attr_set_of_each_field_equals_its_member),
      cmocka_unit_test(attr_set_newer_flags_are_at_kernels_bits),
      cmocka_unit_test(attr_flags_are_those_that_are_set),
      cmocka_unit_test(attr_set_flag_to_0_clears_it_alone),
      cmocka_unit_test(attr_set_aux_action_is_after_aux_sample_size),
      cmocka_unit_test(attr_field_name_of_each_field_is_its_own),
      cmocka_unit_test(attr_set_value_too_wide_is_einval),
      cmocka_unit_test(attr_field_unknown_is_einval),
      cmocka_unit_test(attr_size_is_only_read),
      cmocka_unit_test(attr_of_64_bytes_has_no_later_field),
      cmocka_unit_test(attr_of_size_0_counts_as_64),
      cmocka_unit_test(attr_that_cuts_a_field_has_it_not),
      cmocka_unit_test(attr_of_144_bytes_reaches_config3_and_config4),
      cmocka_unit_test(attr_end_of_a_field_is_where_the_next_begins),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
