/* SPDX-License-Identifier: MIT */
/* uvperf_attr_set and _get, compared with the C members of the installed
 * header, and with raw bytes for fields that the header lacks. */
#include "support.h"

#include <errno.h>

#include "attr/attr.h"

#define WIDE UINT64_C(0x8123456789abcdef)

/* The bytes of a flag word that has one value at one place; bitfields start at
 * the lowest bit on the machines that this test knows. */
static uint64_t flag_word(const struct perf_event_attr *attr) {
  uint64_t word;

  memcpy(&word, (const char *)attr + 40, sizeof(word));
  return word;
}

/* `want` was made through C members and `got` so far through fields. */
static void both(struct perf_event_attr *got,
                 const struct perf_event_attr *want,
                 enum uvperf_attr_field field, uint64_t value) {
  uint64_t read = ~value;

  assert_int_equal(uvperf_attr_set(got, field, value), 0);
  assert_memory_equal(got, want, sizeof(*want));
  assert_int_equal(uvperf_attr_get(want, field, &read), 0);
  assert_int_equal(read, value);
  assert_int_equal(uvperf__attr_value(want, field), value);
}

static void attr_set_wide_field_equals_member(void **state) {
  struct perf_event_attr got, want;

  (void)state;
  uvperf_attr_init(&got, 0, 0);
  memset(&want, 0, sizeof(want));
  want.size = sizeof(want);
  want.config = WIDE + 1;
  both(&got, &want, UVPERF_ATTR_CONFIG, WIDE + 1);
  want.sample_period = WIDE + 2;
  both(&got, &want, UVPERF_ATTR_SAMPLE_PERIOD, WIDE + 2);
  want.sample_freq = WIDE + 3;
  both(&got, &want, UVPERF_ATTR_SAMPLE_PERIOD, WIDE + 3);
  want.sample_type = WIDE + 4;
  both(&got, &want, UVPERF_ATTR_SAMPLE_TYPE, WIDE + 4);
  want.read_format = WIDE + 5;
  both(&got, &want, UVPERF_ATTR_READ_FORMAT, WIDE + 5);
  want.config1 = WIDE + 6;
  both(&got, &want, UVPERF_ATTR_CONFIG1, WIDE + 6);
  want.bp_addr = WIDE + 7;
  both(&got, &want, UVPERF_ATTR_CONFIG1, WIDE + 7);
  want.config2 = WIDE + 8;
  both(&got, &want, UVPERF_ATTR_CONFIG2, WIDE + 8);
  want.bp_len = WIDE + 9;
  both(&got, &want, UVPERF_ATTR_CONFIG2, WIDE + 9);
  want.branch_sample_type = WIDE + 10;
  both(&got, &want, UVPERF_ATTR_BRANCH_SAMPLE_TYPE, WIDE + 10);
  want.sample_regs_user = WIDE + 11;
  both(&got, &want, UVPERF_ATTR_SAMPLE_REGS_USER, WIDE + 11);
  want.sample_regs_intr = WIDE + 12;
  both(&got, &want, UVPERF_ATTR_SAMPLE_REGS_INTR, WIDE + 12);
#ifdef PERF_ATTR_SIZE_VER7
  want.sig_data = WIDE + 13;
  both(&got, &want, UVPERF_ATTR_SIG_DATA, WIDE + 13);
#endif
#ifdef PERF_ATTR_SIZE_VER8
  want.config3 = WIDE + 14;
  both(&got, &want, UVPERF_ATTR_CONFIG3, WIDE + 14);
#endif
}

static void attr_set_narrow_field_equals_member(void **state) {
  struct perf_event_attr got, want;

  (void)state;
  uvperf_attr_init(&got, 0, 0);
  memset(&want, 0, sizeof(want));
  want.size = sizeof(want);
  want.type = 0x87654321;
  both(&got, &want, UVPERF_ATTR_TYPE, 0x87654321);
  want.wakeup_events = 0x87654322;
  both(&got, &want, UVPERF_ATTR_WAKEUP_EVENTS, 0x87654322);
  want.wakeup_watermark = 0x87654323;
  both(&got, &want, UVPERF_ATTR_WAKEUP_EVENTS, 0x87654323);
  want.bp_type = 0x87654324;
  both(&got, &want, UVPERF_ATTR_BP_TYPE, 0x87654324);
  want.sample_stack_user = 0x87654325;
  both(&got, &want, UVPERF_ATTR_SAMPLE_STACK_USER, 0x87654325);
  want.clockid = -7;
  both(&got, &want, UVPERF_ATTR_CLOCKID, (uint64_t)(int64_t)-7);
  want.clockid = INT32_MAX;
  both(&got, &want, UVPERF_ATTR_CLOCKID, INT32_MAX);
  want.clockid = INT32_MIN;
  both(&got, &want, UVPERF_ATTR_CLOCKID, (uint64_t)(int64_t)INT32_MIN);
  want.aux_watermark = 0x87654326;
  both(&got, &want, UVPERF_ATTR_AUX_WATERMARK, 0x87654326);
  want.sample_max_stack = 0x8765;
  both(&got, &want, UVPERF_ATTR_SAMPLE_MAX_STACK, 0x8765);
  want.aux_sample_size = 0x87654327;
  both(&got, &want, UVPERF_ATTR_AUX_SAMPLE_SIZE, 0x87654327);
}

static void attr_set_flag_up_to_sample_id_all_equals_member(void **state) {
  struct perf_event_attr got, want;

  (void)state;
  uvperf_attr_init(&got, 0, 0);
  memset(&want, 0, sizeof(want));
  want.size = sizeof(want);
  want.disabled = 1;
  both(&got, &want, UVPERF_ATTR_DISABLED, 1);
  want.inherit = 1;
  both(&got, &want, UVPERF_ATTR_INHERIT, 1);
  want.pinned = 1;
  both(&got, &want, UVPERF_ATTR_PINNED, 1);
  want.exclusive = 1;
  both(&got, &want, UVPERF_ATTR_EXCLUSIVE, 1);
  want.exclude_user = 1;
  both(&got, &want, UVPERF_ATTR_EXCLUDE_USER, 1);
  want.exclude_kernel = 1;
  both(&got, &want, UVPERF_ATTR_EXCLUDE_KERNEL, 1);
  want.exclude_hv = 1;
  both(&got, &want, UVPERF_ATTR_EXCLUDE_HV, 1);
  want.exclude_idle = 1;
  both(&got, &want, UVPERF_ATTR_EXCLUDE_IDLE, 1);
  want.mmap = 1;
  both(&got, &want, UVPERF_ATTR_MMAP, 1);
  want.comm = 1;
  both(&got, &want, UVPERF_ATTR_COMM, 1);
  want.freq = 1;
  both(&got, &want, UVPERF_ATTR_FREQ, 1);
  want.inherit_stat = 1;
  both(&got, &want, UVPERF_ATTR_INHERIT_STAT, 1);
  want.enable_on_exec = 1;
  both(&got, &want, UVPERF_ATTR_ENABLE_ON_EXEC, 1);
  want.task = 1;
  both(&got, &want, UVPERF_ATTR_TASK, 1);
  want.watermark = 1;
  both(&got, &want, UVPERF_ATTR_WATERMARK, 1);
  want.precise_ip = 2;
  both(&got, &want, UVPERF_ATTR_PRECISE_IP, 2);
  want.precise_ip = 1;
  both(&got, &want, UVPERF_ATTR_PRECISE_IP, 1);
  want.precise_ip = 3;
  both(&got, &want, UVPERF_ATTR_PRECISE_IP, 3);
  want.mmap_data = 1;
  both(&got, &want, UVPERF_ATTR_MMAP_DATA, 1);
  want.sample_id_all = 1;
  both(&got, &want, UVPERF_ATTR_SAMPLE_ID_ALL, 1);
}

static void attr_set_flag_after_sample_id_all_equals_member(void **state) {
  struct perf_event_attr got, want;

  (void)state;
  uvperf_attr_init(&got, 0, 0);
  memset(&want, 0, sizeof(want));
  want.size = sizeof(want);
  want.exclude_host = 1;
  both(&got, &want, UVPERF_ATTR_EXCLUDE_HOST, 1);
  want.exclude_guest = 1;
  both(&got, &want, UVPERF_ATTR_EXCLUDE_GUEST, 1);
  want.exclude_callchain_kernel = 1;
  both(&got, &want, UVPERF_ATTR_EXCLUDE_CALLCHAIN_KERNEL, 1);
  want.exclude_callchain_user = 1;
  both(&got, &want, UVPERF_ATTR_EXCLUDE_CALLCHAIN_USER, 1);
  want.mmap2 = 1;
  both(&got, &want, UVPERF_ATTR_MMAP2, 1);
  want.comm_exec = 1;
  both(&got, &want, UVPERF_ATTR_COMM_EXEC, 1);
  want.use_clockid = 1;
  both(&got, &want, UVPERF_ATTR_USE_CLOCKID, 1);
  want.context_switch = 1;
  both(&got, &want, UVPERF_ATTR_CONTEXT_SWITCH, 1);
  want.write_backward = 1;
  both(&got, &want, UVPERF_ATTR_WRITE_BACKWARD, 1);
  want.namespaces = 1;
  both(&got, &want, UVPERF_ATTR_NAMESPACES, 1);
  want.ksymbol = 1;
  both(&got, &want, UVPERF_ATTR_KSYMBOL, 1);
  want.bpf_event = 1;
  both(&got, &want, UVPERF_ATTR_BPF_EVENT, 1);
  want.aux_output = 1;
  both(&got, &want, UVPERF_ATTR_AUX_OUTPUT, 1);
  want.cgroup = 1;
  both(&got, &want, UVPERF_ATTR_CGROUP, 1);
  want.text_poke = 1;
  both(&got, &want, UVPERF_ATTR_TEXT_POKE, 1);
#ifdef PERF_ATTR_SIZE_VER7
  want.build_id = 1;
  both(&got, &want, UVPERF_ATTR_BUILD_ID, 1);
  want.inherit_thread = 1;
  both(&got, &want, UVPERF_ATTR_INHERIT_THREAD, 1);
  want.remove_on_exec = 1;
  both(&got, &want, UVPERF_ATTR_REMOVE_ON_EXEC, 1);
  want.sigtrap = 1;
  both(&got, &want, UVPERF_ATTR_SIGTRAP, 1);
#endif
}

/* The kernel's own numbers for what no header here names. */
static void attr_set_newer_flags_are_at_kernels_bits(void **state) {
  struct perf_event_attr attr;
  enum uvperf_attr_field field;

  (void)state;
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

static void attr_unknown_flags_are_those_without_a_name(void **state) {
  struct perf_event_attr attr;
  unsigned int i;

  (void)state;
  uvperf_attr_software(&attr, PERF_COUNT_SW_DUMMY);
  for (i = UVPERF_ATTR_DISABLED; i <= UVPERF_ATTR_DEFER_OUTPUT; i++)
    uvperf_attr_set(&attr, i, i == UVPERF_ATTR_PRECISE_IP ? 3 : 1);
  assert_true(uvperf__attr_unknown_flags(&attr) == 0);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  ((uint8_t *)&attr)[45] = 0x81;
  ((uint8_t *)&attr)[47] = 0x80;
  assert_true(uvperf__attr_unknown_flags(&attr) ==
              (UINT64_C(0x81) << 40 | UINT64_C(1) << 63));
#endif
}

static void attr_set_flag_to_0_clears_it_alone(void **state) {
  struct perf_event_attr ones, lone;
  enum uvperf_attr_field field;

  (void)state;
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

  (void)state;
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

  (void)state;
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

  (void)state;
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

  (void)state;
  memset(&attr, 0xff, sizeof(attr));
  attr.size = sizeof(attr);
  for (i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
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

  (void)state;
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

  (void)state;
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

  (void)state;
  set_size(attr, 0);
  assert_int_equal(uvperf__attr_size(attr), 64);
  beyond(attr, 64, UVPERF_ATTR_CONFIG2);
  assert_int_equal(uvperf_attr_set(attr, UVPERF_ATTR_CONFIG1, WIDE), 0);
  assert_int_equal(uvperf__attr_value(attr, UVPERF_ATTR_CONFIG1), WIDE);
  free(attr);
}

static void attr_that_cuts_a_field_has_it_not(void **state) {
  struct perf_event_attr *attr = sized(71);

  (void)state;
  memset((char *)attr + 64, 0xff, 7);
  beyond(attr, 71, UVPERF_ATTR_CONFIG2);
  free(attr);
}

static void attr_of_144_bytes_reaches_config3_and_config4(void **state) {
  struct perf_event_attr *attr = sized(144);
  uint64_t bytes[18];

  (void)state;
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
  (void)state;
  assert_int_equal(uvperf__attr_end(UVPERF_ATTR_SIZE), 8);
  assert_int_equal(uvperf__attr_end(UVPERF_ATTR_DEFER_OUTPUT), 48);
  assert_int_equal(uvperf__attr_end(UVPERF_ATTR_SAMPLE_MAX_STACK), 110);
  assert_int_equal(uvperf__attr_end(UVPERF_ATTR_CONFIG4), 144);
  assert_int_equal(
      uvperf__attr_end((enum uvperf_attr_field)(UVPERF_ATTR_CONFIG4 + 1)), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(attr_set_wide_field_equals_member),
      cmocka_unit_test(attr_set_narrow_field_equals_member),
      cmocka_unit_test(attr_set_flag_up_to_sample_id_all_equals_member),
      cmocka_unit_test(attr_set_flag_after_sample_id_all_equals_member),
      cmocka_unit_test(attr_set_newer_flags_are_at_kernels_bits),
      cmocka_unit_test(attr_unknown_flags_are_those_without_a_name),
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
