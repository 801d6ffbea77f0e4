/* SPDX-License-Identifier: MIT */
/* Names of events that need no files of the system: generic, raw and numeric
 * ones, breakpoints. The forms are those of perf(1)'s
 * tools/perf/tests/parse-events.c, and more. */
#include "fake_host.h"
#include "check_parse.h"
#include "make_tree.h"

#include <linux/hw_breakpoint.h>

#include "attr/generic_name.h"
#include "name/parse.h"

#define HW(event) .type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_##event
#define SW(event) .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_##event
#define BP(what, address, length)                                              \
  .type = PERF_TYPE_BREAKPOINT, .bp_type = (what), .bp_addr = (address),       \
  .bp_len = (length)

#define R  HW_BREAKPOINT_R
#define W  HW_BREAKPOINT_W
#define X  HW_BREAKPOINT_X
#define RW HW_BREAKPOINT_RW

#define ONLY_USER   .exclude_kernel = 1, .exclude_hv = 1
#define ONLY_KERNEL .exclude_user = 1, .exclude_hv = 1
#define ONLY_HV     .exclude_user = 1, .exclude_kernel = 1

static void attr_parse_knows_generic_names(void **state) {
  static const name_good_t good[] = {
      {"instructions", {HW(INSTRUCTIONS)}},
      {"cycles", {HW(CPU_CYCLES)}},
      {"cpu-cycles", {HW(CPU_CYCLES)}},
      {"INSTRUCTIONS", {HW(INSTRUCTIONS)}},
      {"faults", {SW(PAGE_FAULTS)}},
      {"cs", {SW(CONTEXT_SWITCHES)}},
      {"cgroup-switches", {.type = PERF_TYPE_SOFTWARE, .config = 11}},
      {"L1-dcache-load-miss", {.type = PERF_TYPE_HW_CACHE, .config = 0x10000}},
      {"L1-dcache-misses", {.type = PERF_TYPE_HW_CACHE, .config = 0x10000}},
      {"LLC-prefetches", {.type = PERF_TYPE_HW_CACHE, .config = 0x202}},
      {"branch-loads", {.type = PERF_TYPE_HW_CACHE, .config = 5}},
      {"branches", {HW(BRANCH_INSTRUCTIONS)}},
      {" cycles\t", {HW(CPU_CYCLES)}},
      {"\ncycles\r\n", {HW(CPU_CYCLES)}},
      {"cycles//", {HW(CPU_CYCLES)}},
      {"cycles/ /", {HW(CPU_CYCLES)}},
  };

  check_parse_good(good, COUNT_OF(good));
}

typedef struct generic_walk_s {
  uint32_t type;
  unsigned int nr;
} generic_walk_t;

static int parse_generic(const char *name, void *data) {
  generic_walk_t *walk = data;
  struct perf_event_attr attr;
  uint64_t config;
  uint32_t type;

  assert_int_equal(uvperf_attr_parse(&attr, name, NULL), 0);
  assert_int_equal(uvperf__generic_find(name, strlen(name), &type, &config), 0);
  assert_int_equal(attr.type, walk->type);
  assert_int_equal(attr.config, config);
  walk->nr += 1;
  return 0;
}

static void attr_parse_knows_every_generic_name(void **state) {
  generic_walk_t walk = {0, 0};

  for (; walk.type <= PERF_TYPE_HW_CACHE; walk.type++) {
    assert_int_equal(uvperf__generic_each(walk.type, parse_generic, &walk), 0);
    assert_int_equal(
        uvperf__generic_each_alias(walk.type, parse_generic, &walk), 0);
  }
  assert_int_equal(walk.nr, 10 + 4 + 12 + 3 + 32);
}

static void attr_parse_knows_raw_events_and_numbers(void **state) {
  static const name_good_t good[] = {
      {"r1a", {.type = PERF_TYPE_RAW, .config = 0x1a}},
      {"r1", {.type = PERF_TYPE_RAW, .config = 1}},
      {"rFFff", {.type = PERF_TYPE_RAW, .config = 0xffff}},
      {"r0x1a8", {.type = PERF_TYPE_RAW, .config = 0x1a8}},
      {"rffffffffffffffff", {.type = PERF_TYPE_RAW, .config = UINT64_MAX}},
      {"r0000000000000000001", {.type = PERF_TYPE_RAW, .config = 1}},
      {"r1a:kp",
       {.type = PERF_TYPE_RAW, .config = 0x1a, ONLY_KERNEL, .precise_ip = 1}},
      {"r1234/period=7/u",
       {.type = PERF_TYPE_RAW,
        .config = 0x1234,
        .sample_period = 7,
        ONLY_USER}},
      {"1:1", {SW(TASK_CLOCK)}},
      {"1:3", {SW(CONTEXT_SWITCHES)}},
      {"1:1:hp", {SW(TASK_CLOCK), ONLY_HV, .precise_ip = 1}},
      {"4:0x6530160", {.type = PERF_TYPE_RAW, .config = 0x6530160}},
      {"4:0x6530160/config1=3/:u",
       {.type = PERF_TYPE_RAW, .config = 0x6530160, .config1 = 3, ONLY_USER}},
      {"0xffffffff:0xFFFFFFFFFFFFFFFF",
       {.type = UINT32_MAX, .config = UINT64_MAX}},
      {"010:010", {.type = 10, .config = 10}},
      {"type=9,config=0x5", {.type = 9, .config = 5}},
      {"type=5,config=0,config1=0x1000,config2=8,bp_type=3",
       {BP(RW, 0x1000, 8)}},
      {" type = 9 , config = 1:u", {.type = 9, .config = 1, ONLY_USER}},
      {"type=9", {.type = 9}},
      {"type=1,config=0,freq=99,inherit=1:k",
       {SW(CPU_CLOCK), .freq = 1, .sample_freq = 99, .inherit = 1,
        ONLY_KERNEL}},
  };

  check_parse_good(good, COUNT_OF(good));
}

static void attr_parse_knows_breakpoints(void **state) {
  static const name_good_t good[] = {
      {"mem:0", {BP(RW, 0, 4)}},
      {"mem:0:x", {BP(X, 0, sizeof(long))}},
      {"mem:0:r", {BP(R, 0, 4)}},
      {"mem:0:w", {BP(W, 0, 4)}},
      {"mem:0:rw", {BP(RW, 0, 4)}},
      {"mem:0:rwx", {BP(RW | X, 0, 4)}},
      {"mem:0:wr", {BP(RW, 0, 4)}},
      {"mem:0/1", {BP(RW, 0, 1)}},
      {"mem:0/2:w", {BP(W, 0, 2)}},
      {"mem:0/8:x", {BP(X, 0, 8)}},
      {"mem:0xffffffff81000000/0x4", {BP(RW, 0xffffffff81000000, 4)}},
      {"mem:0:u", {BP(RW, 0, 4), ONLY_USER}},
      {"mem:0:x:k", {BP(X, 0, sizeof(long)), ONLY_KERNEL}},
      {"mem:0:r:hp", {BP(R, 0, 4), ONLY_HV, .precise_ip = 1}},
      {"mem:0:w:up", {BP(W, 0, 4), ONLY_USER, .precise_ip = 1}},
      {"mem:0:rw:kp", {BP(RW, 0, 4), ONLY_KERNEL, .precise_ip = 1}},
      {"mem:0/4:rw:u", {BP(RW, 0, 4), ONLY_USER}},
      {"mem:0/period=1/u", {BP(RW, 0, 4), .sample_period = 1, ONLY_USER}},
      {"mem:0/8:w/period=1/", {BP(W, 0, 8), .sample_period = 1}},
      {"mem:0//", {BP(RW, 0, 4)}},
  };

  check_parse_good(good, COUNT_OF(good));
}

static void attr_parse_reports_the_limit_of_a_number(void **state) {
  struct perf_event_attr attr;
  uvperf_error_t error;

  assert_int_equal(uvperf_attr_parse(&attr, "cycles/max-stack=65536/", &error),
                   -EINVAL);
  assert_int_equal(error.limit, 65535);
  assert_int_equal(error.needed, 65536);
  assert_int_equal(error.column, 18);
  assert_int_equal(uvperf_attr_parse(
                       &attr, "cycles/max-stack=18446744073709551616/", &error),
                   -EINVAL);
  assert_true(error.needed == UINT64_MAX);
}

static void attr_parse_writes_no_more_than_the_callers_size(void **state) {
  union {
    struct perf_event_attr attr;
    unsigned char bytes[256];
  } room;
  size_t size;

  for (size = PERF_ATTR_SIZE_VER0; size <= 200; size += 8) {
    memset(&room, 0xa5, sizeof(room));
    assert_int_equal(
        uvperf_attr_parse_sized(&room.attr, size, "cs/period=3/u", NULL), 0);
    assert_int_equal(room.attr.size, size);
    assert_int_equal(room.attr.sample_period, 3);
    assert_int_equal(room.bytes[size], 0xa5);
    assert_int_equal(room.bytes[size - 1], 0);
  }
}

static void attr_parse_of_a_field_after_the_struct_is_too_big(void **state) {
  static const struct {
    const char *name;
    size_t least;
  } fields[] = {
      {"cs/config2=1/", 72},
      {"cs/branch_type=any/", 80},
      {"cs/max-stack=1/", 112},
      {"cs/config3=1/", 136},
      {"cs/config4=0xabcdef0123/", 144},
  };
  union {
    struct perf_event_attr attr;
    unsigned char bytes[256];
  } room, before;
  uvperf_error_t error;
  uint64_t value;
  size_t i;

  memset(&before, 0xa5, sizeof(before));
  for (i = 0; i < COUNT_OF(fields); i++) {
    room = before;
    assert_int_equal(uvperf_attr_parse_sized(&room.attr, fields[i].least - 8,
                                             fields[i].name, &error),
                     -E2BIG);
    assert_int_equal(error.cause, UVPERF_CAUSE_ARGUMENT);
    assert_int_equal(error.column, 1);
    assert_memory_equal(&room, &before, sizeof(room));
    assert_int_equal(uvperf_attr_parse_sized(&room.attr, fields[i].least,
                                             fields[i].name, &error),
                     0);
  }
  assert_int_equal(uvperf_attr_get(&room.attr, UVPERF_ATTR_CONFIG4, &value), 0);
  assert_int_equal(value, 0xabcdef0123);
}

static void attr_parse_of_bad_arguments_is_an_error(void **state) {
  struct perf_event_attr attr;
  uvperf_error_t error;

  assert_int_equal(uvperf_attr_parse(&attr, NULL, &error), -EINVAL);
  assert_int_equal(error.cause, UVPERF_CAUSE_ARGUMENT);
  assert_int_equal(uvperf_attr_parse(NULL, "cycles", &error), -EINVAL);
  assert_int_equal(uvperf_attr_parse_sized(&attr, 63, "cycles", NULL), -EINVAL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(attr_parse_knows_generic_names),
      cmocka_unit_test(attr_parse_knows_every_generic_name),
      cmocka_unit_test(attr_parse_knows_raw_events_and_numbers),
      cmocka_unit_test(attr_parse_knows_breakpoints),
      cmocka_unit_test(attr_parse_reports_the_limit_of_a_number),
      cmocka_unit_test(attr_parse_writes_no_more_than_the_callers_size),
      cmocka_unit_test(attr_parse_of_a_field_after_the_struct_is_too_big),
      cmocka_unit_test(attr_parse_of_bad_arguments_is_an_error),
  };

  return cmocka_run_group_tests(tests, fake_host_empty, fake_host_real);
}
