/* SPDX-License-Identifier: MIT */
/* Names of events that need nothing of the system: generic, raw and numeric
 * ones, breakpoints, modifiers. The forms are those of perf(1)'s
 * tools/perf/tests/parse-events.c, and more. */
#include "name_expect.h"
#include "temp_tree.h"

#include <linux/hw_breakpoint.h>

#include "attr/generic_name.h"
#include "name/parse.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* A root without any file. */
#define NOWHERE "/nonexistent"

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

  (void)state;
  name_expect_good(NOWHERE, good, COUNT_OF(good));
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

  (void)state;
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

  (void)state;
  name_expect_good(NOWHERE, good, COUNT_OF(good));
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

  (void)state;
  name_expect_good(NOWHERE, good, COUNT_OF(good));
}

static void attr_parse_knows_modifiers(void **state) {
  static const name_good_t good[] = {
      {"cycles:u", {HW(CPU_CYCLES), ONLY_USER}},
      {"cycles:k", {HW(CPU_CYCLES), ONLY_KERNEL}},
      {"cycles//u", {HW(CPU_CYCLES), ONLY_USER}},
      {"cycles//:u", {HW(CPU_CYCLES), ONLY_USER}},
      {"instructions:h", {HW(INSTRUCTIONS), ONLY_HV}},
      {"instructions:uk", {HW(INSTRUCTIONS), .exclude_hv = 1}},
      {"instructions:ukh", {HW(INSTRUCTIONS)}},
      {"instructions:G", {HW(INSTRUCTIONS), .exclude_host = 1}},
      {"instructions:H", {HW(INSTRUCTIONS), .exclude_guest = 1}},
      {"instructions:GH", {HW(INSTRUCTIONS)}},
      {"instructions:I", {HW(INSTRUCTIONS), .exclude_idle = 1}},
      {"instructions:kIG",
       {HW(INSTRUCTIONS), ONLY_KERNEL, .exclude_idle = 1, .exclude_host = 1}},
      {"instructions:p", {HW(INSTRUCTIONS), .precise_ip = 1}},
      {"instructions:pp", {HW(INSTRUCTIONS), .precise_ip = 2}},
      {"instructions:pkpp", {HW(INSTRUCTIONS), ONLY_KERNEL, .precise_ip = 3}},
      {"instructions:uDp",
       {HW(INSTRUCTIONS), ONLY_USER, .pinned = 1, .precise_ip = 1}},
      {"instructions:uep",
       {HW(INSTRUCTIONS), ONLY_USER, .exclusive = 1, .precise_ip = 1}},
      {"instructions:S", {HW(INSTRUCTIONS), .sample_type = PERF_SAMPLE_READ}},
      {"task-clock:P", {SW(TASK_CLOCK), .precise_ip = 3}},
      {"cycles:P", {HW(CPU_CYCLES), .precise_ip = 3}},
      {"faults:u", {SW(PAGE_FAULTS), ONLY_USER}},
      {"L1-dcache-load-miss:kp",
       {.type = PERF_TYPE_HW_CACHE,
        .config = 0x10000,
        ONLY_KERNEL,
        .precise_ip = 1}},
  };

  (void)state;
  name_expect_good(NOWHERE, good, COUNT_OF(good));
}

static void attr_parse_takes_the_most_precise_from_sysfs(void **state) {
  static const char path[] =
      "/sys/bus/event_source/devices/cpu/caps/max_precise";
  static const name_good_t at_most_2[] = {
      {"cycles:P", {HW(CPU_CYCLES), .precise_ip = 2}},
      {"LLC-loads:P",
       {.type = PERF_TYPE_HW_CACHE, .config = 2, .precise_ip = 2}},
      {"r1:uP",
       {.type = PERF_TYPE_RAW, .config = 1, ONLY_USER, .precise_ip = 2}},
      {"cs:P", {SW(CONTEXT_SWITCHES), .precise_ip = 3}},
  };
  static const name_good_t at_most_3[] = {
      {"cycles:P", {HW(CPU_CYCLES), .precise_ip = 3}},
  };
  const temp_tree_t *tree = *state;

  temp_tree_write(tree, path, "2\n");
  name_expect_good(tree->root, at_most_2, COUNT_OF(at_most_2));
  temp_tree_write(tree, path, "4\n");
  name_expect_good(tree->root, at_most_3, 1);
  temp_tree_write(tree, path, "-1\n");
  name_expect_good(tree->root, at_most_3, 1);
}

#define ARG  UVPERF_CAUSE_ARGUMENT
#define NONE UVPERF_CAUSE_NO_EVENT

static void attr_parse_points_at_bad_syntax(void **state) {
  static const name_bad_t bad[] = {
      {"", -EINVAL, ARG, 1, "the name of an event is missing"},
      {"   ", -EINVAL, ARG, 4, "the name of an event is missing"},
      {":u", -EINVAL, ARG, 1, "the name of an event is missing"},
      {"/period=1/", -EINVAL, ARG, 1, "the name of an event is missing"},
      {"cycles:", -EINVAL, ARG, 8, "modifiers are missing"},
      {"cycles//:", -EINVAL, ARG, 10, "modifiers are missing"},
      {"cycles:uz", -EINVAL, ARG, 9, "no modifier 'z'"},
      {"cycles:uu", -EINVAL, ARG, 9, "'u' is there twice"},
      {"cycles:pppp", -EINVAL, ARG, 11, "more than three times"},
      {"cycles:PP", -EINVAL, ARG, 9, "'P' is there twice"},
      {"cycles:b", -EINVAL, ARG, 8, "for perf(1) itself"},
      {"cycles:W", -EINVAL, ARG, 8, "for groups"},
      {"cycles:u:k", -EINVAL, ARG, 9, "':k' does not belong"},
      {"cycles u", -EINVAL, ARG, 8, "'u' does not belong"},
      {"cycles,cs", -EINVAL, ARG, 7, "uvperf_event_list_parse"},
      {"cycles , cs", -EINVAL, ARG, 8, "uvperf_event_list_parse"},
      {" {cycles}", -EINVAL, ARG, 2, "uvperf_event_list_parse"},
      {"cycles}", -EINVAL, ARG, 7, "'}' does not belong"},
      {"cycles/period=1", -EINVAL, ARG, 7, "no other '/'"},
      {"cycles/period=/", -EINVAL, ARG, 15, "a value is missing"},
      {"uretprobe/path=/x,offset=1/", -EINVAL, ARG, 16,
       "needs quotation marks"},
      {"cycles/period=x/", -EINVAL, ARG, 15, "'x' is not a number"},
      {"cycles/period=-1/", -EINVAL, ARG, 15, "'-1' is not a number"},
      {"cycles/period=0x/", -EINVAL, ARG, 15, "'0x' is not a number"},
      {"cycles/period='1/", -EINVAL, ARG, 15, "' has no other '"},
      {"cycles/,/", -EINVAL, ARG, 8, "the name of a term is missing"},
      {"cycles/time,/", -EINVAL, ARG, 13, "the name of a term is missing"},
      {"cycles/=1/", -EINVAL, ARG, 8, "the name of a term is missing"},
      {"cycles/time time/", -EINVAL, ARG, 13, "',' or '/' is missing"},
      {"cycles/period='1'2/", -EINVAL, ARG, 18, "',' or '/' is missing"},
      {"cycles/time/u,cs", -EINVAL, ARG, 14, "uvperf_event_list_parse"},
      {"period=5", -EINVAL, ARG, 7, "'period=' is no event"},
      {"type=", -EINVAL, ARG, 6, "a value is missing"},
      {"type=1,config=", -EINVAL, ARG, 15, "a value is missing"},
      {"type=x", -EINVAL, ARG, 6, "'x' is not a number"},
      {"type=1/period=1/", -EINVAL, ARG, 7, "does not belong"},
      {"type=0x100000000", -EINVAL, ARG, 6, "the most is 0xffffffff"},
      {"0x100000000:1", -EINVAL, ARG, 1, "the most is 0xffffffff"},
      {"1:0x10000000000000000", -EINVAL, ARG, 3, "too large"},
      {"1:x", -EINVAL, ARG, 3, "'x' is not a number"},
      {"1:", -EINVAL, ARG, 3, "'' is not a number"},
      {"r10000000000000000", -EINVAL, ARG, 1, "more than 64 bits"},
      {"mem:", -EINVAL, ARG, 5, "'' is not a number"},
      {"mem:x", -EINVAL, ARG, 5, "'x' is not a number"},
      {"mem:0:rr", -EINVAL, ARG, 8, "'r' is there twice"},
      {"mem:0:ru", -EINVAL, ARG, 8, "modifiers need a ':'"},
      {"mem:0/4x", -EINVAL, ARG, 7, "'4x' is not a number"},
      {"mem:0/4/", -EINVAL, ARG, 8, "no other '/'"},
      {"mem:0/config1=5/", -EINVAL, ARG, 7, "said by the event's name"},
      {"cycles/type=1/", -EINVAL, ARG, 8, "said by the event's name"},
      {"cycles/name=x/", -EINVAL, ARG, 13, "uvperf_event_list_parse"},
      {"cycles\x01", -ENOENT, NONE, 1, "'cycles?'"},
      {"cycles\x7f", -ENOENT, NONE, 1, "'cycles?'"},
      {"cycles\xc3\xa4", -ENOENT, NONE, 1, "'cycles?\?'"},
      {"x123456789012345678901234567890123456789012345678901234567890", -ENOENT,
       NONE, 1, "'x12345678901234567890123456789012345678901234567...'"},
  };

  (void)state;
  name_expect_bad(NOWHERE, bad, COUNT_OF(bad));
}

static void attr_parse_says_what_was_probably_meant(void **state) {
  static const name_bad_t bad[] = {
      {"instrutions", -ENOENT, NONE, 1, "did you mean 'instructions'?"},
      {" cycels:u", -ENOENT, NONE, 2, "did you mean 'cycles'?"},
      {"page-fault", -ENOENT, NONE, 1, "did you mean 'page-faults'?"},
      {"LLC-laod-misses", -ENOENT, NONE, 1, "did you mean 'LLC-load-misses'?"},
      {"iTLB-stores", -ENOENT, NONE, 1, "this cache has no such operation"},
      {"cycles/perod=1/", -ENOENT, NONE, 8, "did you mean 'period'?"},
      {"cycles/whatever/", -ENOENT, NONE, 8, "no term 'whatever'"},
      {"cycles/call-graph=dwarv/", -EINVAL, ARG, 19, "no call-graph 'dwarv'"},
      {"cycles/branch_type=any_cal/", -EINVAL, ARG, 20,
       "did you mean 'any_call'?"},
      {"duration_time", -ENOENT, NONE, 1, "perf(1) measures it by itself"},
      {"user_time:u", -ENOENT, NONE, 1, "perf(1) measures it by itself"},
      {"inst_retired.any", -ENOENT, NONE, 1, "JSON files"},
      {"qqqqqq", -ENOENT, NONE, 1, "no event 'qqqqqq'"},
  };

  (void)state;
  name_expect_bad(NOWHERE, bad, COUNT_OF(bad));
}

static void attr_parse_gives_the_limit_of_a_number(void **state) {
  struct perf_event_attr attr;
  uvperf_error_t error;

  (void)state;
  assert_int_equal(uvperf_attr_parse(&attr, "cycles/max-stack=65536/", &error),
                   -EINVAL);
  assert_int_equal(error.limit, 65535);
  assert_int_equal(error.needed, 65536);
  assert_int_equal(error.column, 18);
}

static void attr_parse_writes_no_more_than_the_callers_size(void **state) {
  union {
    struct perf_event_attr attr;
    unsigned char bytes[256];
  } room;
  size_t size;

  (void)state;
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

static void attr_parse_of_a_field_behind_the_struct_is_too_big(void **state) {
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

  (void)state;
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

  (void)state;
  assert_int_equal(uvperf_attr_parse(&attr, NULL, &error), -EINVAL);
  assert_int_equal(error.cause, UVPERF_CAUSE_ARGUMENT);
  assert_int_equal(uvperf_attr_parse(NULL, "cycles", &error), -EINVAL);
  assert_int_equal(uvperf_attr_parse_sized(&attr, 63, "cycles", NULL), -EINVAL);
}

static void attr_parse_of_very_long_names_is_an_error(void **state) {
  static const char *const patterns[] = {
      "a", "a:", "cycles/", "mem:",         "/",
      ",", "1",  "type=",   "cycles/time,", "'"};
  size_t size = 100000;
  char *text = malloc(size + 16);
  struct perf_event_attr attr;
  uvperf_error_t error;
  size_t i, length;

  (void)state;
  assert_non_null(text);
  for (i = 0; i < COUNT_OF(patterns); i++) {
    for (length = 0; length < size; length += strlen(patterns[i]))
      strcpy(text + length, patterns[i]);
    assert_true(uvperf_attr_parse(&attr, text, &error) < 0);
    assert_in_range(error.column, 1, length + 1);
  }
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(attr_parse_knows_generic_names),
      cmocka_unit_test(attr_parse_knows_every_generic_name),
      cmocka_unit_test(attr_parse_knows_raw_events_and_numbers),
      cmocka_unit_test(attr_parse_knows_breakpoints),
      cmocka_unit_test(attr_parse_knows_modifiers),
      cmocka_unit_test_setup_teardown(
          attr_parse_takes_the_most_precise_from_sysfs, temp_tree_setup,
          temp_tree_teardown),
      cmocka_unit_test(attr_parse_points_at_bad_syntax),
      cmocka_unit_test(attr_parse_says_what_was_probably_meant),
      cmocka_unit_test(attr_parse_gives_the_limit_of_a_number),
      cmocka_unit_test(attr_parse_writes_no_more_than_the_callers_size),
      cmocka_unit_test(attr_parse_of_a_field_behind_the_struct_is_too_big),
      cmocka_unit_test(attr_parse_of_bad_arguments_is_an_error),
      cmocka_unit_test(attr_parse_of_very_long_names_is_an_error),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
