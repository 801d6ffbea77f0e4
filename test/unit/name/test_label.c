/* SPDX-License-Identifier: MIT */
/* Labels of events, on the sysfs and tracefs of names/tree.txt.
 * test_label_terms.c tests that they parse to the same event. */
#include "support.h"
#include "make_host.h"
#include "make_tree.h"

#include <linux/hw_breakpoint.h>

#include "attr/attr.h"
#include "check_name.h"
#include "name/label.h"
#include "name/parse.h"
#include "make_names.h"

static int tree_setup(void **state) {
  if (make_host_setup(state) != 0)
    return -1;
  return make_names_plant(make_host_root(), "tree.txt");
}

static int hybrid_tree_setup(void **state) {
  if (make_host_setup(state) != 0)
    return -1;
  return make_names_plant(make_host_root(), "hybrid_tree.txt");
}

/* The label of an attr; parsing it may return another attr. */
static void expect_text(const struct perf_event_attr *it, const char *wanted) {
  char label[UVPERF__LABEL_BYTES];
  size_t size = sizeof(label);

  assert_int_equal(uvperf_attr_label(it, label, &size), 0);
  assert_string_equal(label, wanted);
  assert_int_equal(size, strlen(wanted) + 1);
}

/* The label of an attr that is a name's. */
static void expect(const struct perf_event_attr *it, const char *wanted) {
  const char *fault = event_label_check(it);

  expect_text(it, wanted);
  if (fault != NULL)
    fail_msg("%s: %s", wanted, fault);
}

typedef struct pair_s {
  const char *name;
  const char *label;
} pair_t;

static void expect_pairs(void **state, const pair_t *pairs, size_t nr) {
  uvperf__wide_attr_t wide;
  uvperf_error_t error;
  size_t i;

  for (i = 0; i < nr; i++) {
    if (uvperf_attr_parse_sized(&wide.attr, sizeof(wide), pairs[i].name,
                                &error) != 0)
      fail_msg("%s: %s", pairs[i].name, error.reason);
    expect(&wide.attr, pairs[i].label);
  }
}

static void label_of_generic_event_is_its_first_spelling(void **state) {
  static const pair_t pairs[] = {
      {"cycles", "cpu-cycles"},
      {"CPU-Cycles", "cpu-cycles"},
      {"idle-cycles-frontend", "stalled-cycles-frontend"},
      {"faults", "page-faults"},
      {"cs", "context-switches"},
      {"1:11", "cgroup-switches"},
      {"l1d", "L1-dcache-loads"},
      {"LLC-write-miss", "LLC-store-misses"},
      {"l1d-speculative-read", "L1-dcache-prefetches"},
      {"node-prefetches", "node-prefetches"},
  };

  expect_pairs(state, pairs, COUNT_OF(pairs));
}

static void label_of_number_without_name_is_the_number(void **state) {
  static const pair_t pairs[] = {
      {"0:10", "type=0,config=0xa"},
      {"1:0x20", "type=1,config=0x20"},
      {"1:0x100000002", "type=1,config=0x100000002"},
      {"3:0x30000", "type=3,config=0x30000"},
      {"99:5", "type=99,config=0x5"},
      {"4294967295:0xffffffffffffffff",
       "type=4294967295,config=0xffffffffffffffff"},
      {"type=99,config=0,config1=1,config2=2,config3=3,config4=4,bp_type=5",
       "type=99,config=0x0,config1=0x1,config2=0x2,config3=0x3,config4=0x4,"
       "bp_type=0x5"},
      {"type=1,config=2,config1=3:u", "type=1,config=0x2,config1=0x3:u"},
      {"type=99,config=0,period=7,inherit=1,time=1:S",
       "type=99,config=0x0,period=7,inherit=1,time=1:S"},
  };

  expect_pairs(state, pairs, COUNT_OF(pairs));
}

static struct perf_event_attr attr;

static void label_of_breakpoint_has_its_length_and_access(void **state) {
  static const pair_t pairs[] = {
      {"mem:4096", "mem:0x1000/4:rw"},
      {"mem:0x1000/8:x", "mem:0x1000/8:x"},
      {"mem:0xffffffff81000000/1:wr:k", "mem:0xffffffff81000000/1:rw:k"},
      {"mem:0/0:rwx", "mem:0x0/0:rwx"},
      {"mem:0x10:w/period=1/u", "mem:0x10/4:w/period=1/u"},
  };

  expect_pairs(state, pairs, COUNT_OF(pairs));
  uvperf_attr_breakpoint(&attr, HW_BREAKPOINT_EMPTY, 0x1000, 4);
  expect(&attr, "type=5,config=0x0,config1=0x1000,config2=0x4");
}

static void label_has_the_modifiers_that_parse_to_the_bits(void **state) {
  static const pair_t pairs[] = {
      {"cycles:u", "cpu-cycles:u"},
      {"cycles:kh", "cpu-cycles:kh"},
      {"cycles:ukh", "cpu-cycles"},
      {"cycles:G", "cpu-cycles:G"},
      {"cycles:H", "cpu-cycles:H"},
      {"cycles:GH", "cpu-cycles"},
      {"cycles:ppp", "cpu-cycles:ppp"},
      {"cycles:P", "cpu-cycles:ppp"},
      {"cycles:eDSpIHu", "cpu-cycles:uHpIDeS"},
      {"cpu/event=1/pk", "cpu/event=0x1/kp"},
      {"cs/period=1/D", "context-switches/period=1/D"},
  };

  expect_pairs(state, pairs, COUNT_OF(pairs));
}

static void label_leaves_out_that_all_is_excluded(void **state) {
  uvperf_attr_hardware(&attr, PERF_COUNT_HW_INSTRUCTIONS);
  attr.exclude_kernel = 1;
  expect(&attr, "instructions:uh");
  attr.exclude_user = attr.exclude_hv = 1;
  expect_text(&attr, "instructions");
  attr.exclude_host = attr.exclude_guest = 1;
  attr.pinned = 1;
  expect_text(&attr, "instructions:D");
}

static void label_has_the_terms_that_parse_to_the_fields(void **state) {
  static const pair_t pairs[] = {
      {"cycles/period=1000/u", "cpu-cycles/period=1000/u"},
      {"cpu-clock/freq=99/", "cpu-clock/freq=99/"},
      {"cpu-clock/freq=0/", "cpu-clock/freq=0/"},
      {"dummy/inherit,overwrite,aux-output/",
       "dummy/inherit,overwrite,aux-output/"},
      {"cs/time,max-stack=5/",
       "context-switches/max-stack=5,time,call-graph=fp/"},
      {"cs/call-graph=no,max-stack=5/",
       "context-switches/max-stack=5,call-graph=no/"},
      {"cs/call-graph=fp/S", "context-switches/call-graph=fp/S"},
      {"cs/call-graph=dwarf/",
       "context-switches/call-graph=dwarf,stack-size=8192/"},
      {"cs/call-graph=dwarf,stack-size=0/",
       "context-switches/call-graph=dwarf,stack-size=0/"},
      {"cycles/call-graph=lbr/", "cpu-cycles/call-graph=lbr/"},
      {"cycles/branch_type=u/", "cpu-cycles/branch_type=u/"},
      {"cycles/branch_type=any,call-graph=fp/",
       "cpu-cycles/call-graph=fp,branch_type=any/"},
      {"cycles/aux-sample-size=4096/", "cpu-cycles/aux-sample-size=4096/"},
      {"cpu/event=1,period=5,time/", "cpu/event=0x1,period=5,time/"},
  };

  expect_pairs(state, pairs, COUNT_OF(pairs));
}

static void label_is_silent_on_a_sample_type_that_no_terms_say(void **state) {
  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  uvperf_attr_set_frequency(&attr, 99);
  attr.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN;
  expect(&attr, "cpu-clock/freq=99,time,call-graph=fp/");
  attr.sample_type |= PERF_SAMPLE_TID;
  expect_text(&attr, "cpu-clock/freq=99/");
  attr.sample_type = PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_STACK_USER;
  expect_text(&attr, "cpu-clock/freq=99/");
  attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
  attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_COND;
  expect_text(&attr, "cpu-clock/freq=99/");
  attr.mmap = attr.comm = attr.disabled = 1;
  attr.wakeup_events = 7;
  attr.read_format = PERF_FORMAT_ID;
  expect_text(&attr, "cpu-clock/freq=99/");
  uvperf_attr_set_period(&attr, UINT64_MAX); /* which no kernel takes */
  expect_text(&attr, "cpu-clock");
}

static void label_of_tracepoint_is_its_category_and_name(void **state) {
  static const pair_t pairs[] = {
      {"sched:sched_switch", "sched:sched_switch"},
      {"syscalls:sys_enter_openat:u", "syscalls:sys_enter_openat:u"},
      {"2:318", "sched:sched_wakeup"},
      {"2:319", "type=2,config=0x13f"},
      {"sched:sched_switch/period=1/", "sched:sched_switch/period=1/"},
  };

  expect_pairs(state, pairs, COUNT_OF(pairs));
}

static void label_without_sysfs_and_tracefs_is_numbers(void **state) {
  static const pair_t pairs[] = {
      {"2:316", "type=2,config=0x13c"},
      {"9:0", "type=9,config=0x0"},
      {"0:0x400000001", "type=0,config=0x400000001"},
      {"4:0x1a8", "r1a8"},
  };

  expect_pairs(state, pairs, COUNT_OF(pairs));
}

static void label_of_pmu_event_is_its_shortest_name(void **state) {
  static const pair_t pairs[] = {
      {"msr/event=0/", "msr/tsc/"},
      {"9:1", "msr/aperf/"},
      {"cpu/event=0x3c/", "cpu/cpu-cycles/"},
      {"cpu/topdown-total-slots/u", "cpu/slots/u"},
      {"cpu/mem-loads/pp", "cpu/mem-loads/pp"},
      {"uncore_imc_1/clockticks/", "uncore_imc_1/clockticks/"},
      {"uncore_imc_0/match=0x42,event=0x21/", "uncore_imc_0/matched/"},
  };

  expect_pairs(state, pairs, COUNT_OF(pairs));
}

/* The order of the directory does not matter. */
static void label_of_two_names_of_one_length_is_the_first(void **state) {
  static const char *const names[] = {"abd", "abc", "abe"};
  static const pair_t pair = {"msr/event=0x77/", "msr/abc/"};
  char path[96];
  size_t i;

  for (i = 0; i < COUNT_OF(names); i++) {
    snprintf(path, sizeof(path), "/sys/bus/event_source/devices/msr/events/%s",
             names[i]);
    make_host_write(path, "event=0x77\n");
    if (i > 0)
      expect_pairs(state, &pair, 1);
  }
}

static void label_of_pmu_event_without_name_is_its_terms(void **state) {
  static const pair_t pairs[] = {
      {"cpu/r13b/", "cpu/event=0x3b,umask=0x1/"},
      {"4:0x2a4013c", "cpu/event=0x3c,umask=0x1,edge,any,inv,cmask=0x2/"},
      {"cpu//", "cpu//"},
      {"cpu/mem-loads,ldlat=30/", "cpu/event=0xcd,umask=0x1,ldlat=0x1e/"},
      {"uncore_imc_0/event=0xfff,umask=0xffff/",
       "uncore_imc_0/event=0xfff,umask=0xffff/"},
      {"uncore_imc_0/event=0x300/", "uncore_imc_0/event=0x300/"},
      {"uncore_imc_0/opcode=0x123456789abcdef,match=0xabc/",
       "uncore_imc_0/match=0xabc,opcode=0x123456789abcdef/"},
      {"msr/event=0xffffffffffffffff/", "msr/event=0xffffffffffffffff/"},
  };

  expect_pairs(state, pairs, COUNT_OF(pairs));
}

static void label_takes_one_of_the_terms_that_overlap(void **state) {
  static const pair_t pairs[] = {
      {"cpu/offcore_rsp=0x1/", "cpu/ldlat=0x1/"},
      {"cpu/offcore_rsp=0x10001/", "cpu/frontend=0x10001/"},
      {"cpu/offcore_rsp=0x100000001/", "cpu/offcore_rsp=0x100000001/"},
  };

  expect_pairs(state, pairs, COUNT_OF(pairs));
}

/* "low" has the lowest bit, and "middle" shares a bit with it. */
static void label_needs_terms_that_do_not_overlap(void **state) {
  make_host_write("/sys/bus/event_source/devices/a/type", "90\n");
  make_host_write("/sys/bus/event_source/devices/a/format/low", "config:0-7\n");
  make_host_write("/sys/bus/event_source/devices/a/format/middle",
                  "config:4-11\n");
  uvperf_attr_init(&attr, 90, 0x181);
  expect(&attr, "type=90,config=0x181");
  uvperf_attr_init(&attr, 90, 0x180);
  expect(&attr, "a/middle=0x18/");
}

static void label_of_bits_without_terms_is_raw_or_numbers(void **state) {
  static const pair_t pairs[] = {
      {"r1003c", "r1003c"},
      {"cpu/config=0x100000,config1=1/", "type=4,config=0x100000,config1=0x1"},
      {"uncore_imc_1/config=0x1000000000/", "type=21,config=0x1000000000"},
      {"msr/config1=1/", "type=9,config=0x0,config1=0x1"},
      {"r1003c/period=9/k", "r1003c/period=9/k"},
  };

  expect_pairs(state, pairs, COUNT_OF(pairs));
}

/* Such a name would be a pattern, which only lists accept. */
static void label_avoids_names_that_are_patterns(void **state) {
  make_host_write("/sys/bus/event_source/devices/a*/type", "90\n");
  make_host_write("/sys/bus/event_source/devices/a*/format/event",
                  "config:0-7\n");
  make_host_write("/sys/kernel/tracing/events/sched/x?/id", "77\n");
  uvperf_attr_init(&attr, 90, 1);
  expect(&attr, "type=90,config=0x1");
  uvperf_attr_tracepoint(&attr, 77);
  expect(&attr, "type=2,config=0x4d");
}

static void label_of_hybrid_event_names_its_pmu(void **state) {
  static const pair_t pairs[] = {
      {"cpu_atom/cycles/u", "cpu_atom/cpu-cycles/u"},
      {"cpu_core/branches,period=5/", "cpu_core/branch-instructions,period=5/"},
      {"cpu_core/l1d-misses/", "cpu_core/L1-dcache-load-misses/"},
      {"cycles", "cpu-cycles"},
      {"0:0x500000000", "type=0,config=0x500000000"},
      {"cpu_atom/mem-stores/", "cpu_atom/mem-stores/"},
      {"10:0x1a8", "cpu_atom/event=0xa8,umask=0x1/"},
  };

  expect_pairs(state, pairs, COUNT_OF(pairs));
}

static void label_of_hybrid_event_avoids_the_names_of_the_pmu(void **state) {
  static const pair_t pairs[] = {
      {"0:0xa00000000", "cpu_atom/cycles/"},
      {"0:0xa00000001", "type=0,config=0xa00000001"},
      {"10:0x3c", "cpu_atom/cpu-cycles/"},
  };

  make_host_write("/sys/bus/event_source/devices/cpu_atom/events/"
                  "cpu-cycles",
                  "event=0x3c\n");
  make_host_write("/sys/bus/event_source/devices/cpu_atom/events/"
                  "instructions",
                  "event=0xc0\n");
  expect_pairs(state, pairs, COUNT_OF(pairs));
}

/* A uprobe of the tree's PMU of type 8. */
static void make_uprobe(struct perf_event_attr *it, const char *path,
                        uint64_t config) {
  uvperf_attr_init(it, 8, config);
  it->config1 = (uintptr_t)path;
  it->config2 = 0x1234;
}

static void label_of_uprobe_has_path_and_offset(void **state) {
  make_uprobe(&attr, "/usr/bin/x", 0);
  expect(&attr, "uprobe/path=\"/usr/bin/x\",offset=0x1234/");
  attr.config2 = 0;
  expect(&attr, "uprobe/path=\"/usr/bin/x\",offset=0x0/");
  make_uprobe(&attr, "/tmp/a \"b\", c/d", 0x1000000001);
  attr.exclude_kernel = attr.exclude_hv = 1;
  expect(&attr, "uprobe/path='/tmp/a \"b\", c/d',offset=0x1234,retprobe,"
                "ref_ctr_offset=0x10/u");
}

/* They do not parse: a text may not contain the value of a pointer. */
static void label_of_uprobe_that_cannot_be_written_is_numbers(void **state) {
  char path[UVPERF__LABEL_BYTES], wanted[128];

  make_uprobe(&attr, "/tmp/\"'", 0);
  snprintf(wanted, sizeof(wanted),
           "type=8,config=0x0,config1=0x%llx,config2=0x1234",
           (unsigned long long)attr.config1);
  expect_text(&attr, wanted);
  memset(path, 'x', sizeof(path) - 1);
  path[sizeof(path) - 1] = '\0';
  make_uprobe(&attr, path, 0);
  snprintf(wanted, sizeof(wanted),
           "type=8,config=0x0,config1=0x%llx,config2=0x1234",
           (unsigned long long)attr.config1);
  expect_text(&attr, wanted);
  make_uprobe(&attr, NULL, 0);
  expect(&attr, "type=8,config=0x0,config2=0x1234");
}

static void label_of_kprobe_has_function_or_address(void **state) {
  uvperf_attr_init(&attr, 6, 1);
  attr.config1 = (uintptr_t) "do_sys_openat2";
  expect(&attr, "kprobe/func=\"do_sys_openat2\",retprobe/");
  attr.config2 = 4;
  attr.config = 0;
  expect(&attr, "kprobe/func=\"do_sys_openat2\",offset=0x4/");
  attr.config1 = 0;
  attr.config2 = UINT64_C(0xffffffff81000000);
  expect(&attr, "kprobe/addr=0xffffffff81000000/");
}

/* The sanitizer watches the end of the memory. */
static void label_of_short_attr_reads_nothing_after_it(void **state) {
  void *memory = malloc(PERF_ATTR_SIZE_VER0);

  assert_non_null(memory);
  uvperf_attr_breakpoint(&attr, HW_BREAKPOINT_W, 0x1000, 4);
  attr.size = PERF_ATTR_SIZE_VER0; /* bp_len is after it */
  memcpy(memory, &attr, PERF_ATTR_SIZE_VER0);
  expect(memory, "mem:0x1000/0:w");
  attr.size = 0; /* counts as 64 */
  memcpy(memory, &attr, PERF_ATTR_SIZE_VER0);
  expect_text(memory, "mem:0x1000/0:w");
  free(memory);
}

static void label_with_too_little_room_is_enobufs(void **state) {
  char label[16] = "untouched";
  size_t size = 10;

  uvperf_attr_hardware(&attr, PERF_COUNT_HW_CPU_CYCLES);
  assert_int_equal(uvperf_attr_label(&attr, label, &size), -ENOBUFS);
  assert_int_equal(size, sizeof("cpu-cycles"));
  assert_string_equal(label, "untouched");
  size = 0;
  assert_int_equal(uvperf_attr_label(&attr, NULL, &size), -ENOBUFS);
  assert_int_equal(uvperf_attr_label(&attr, label, &size), 0);
  assert_string_equal(label, "cpu-cycles");
}

static void label_of_bad_arguments_is_einval(void **state) {
  char label[16] = "untouched";
  size_t size = sizeof(label);

  uvperf_attr_hardware(&attr, 0);
  assert_int_equal(uvperf_attr_label(NULL, label, &size), -EINVAL);
  assert_int_equal(uvperf_attr_label(&attr, label, NULL), -EINVAL);
  assert_int_equal(uvperf_attr_label(&attr, NULL, &size), -EINVAL);
  attr.size = 63;
  assert_int_equal(uvperf_attr_label(&attr, label, &size), -EINVAL);
  assert_int_equal(size, sizeof(label));
  assert_string_equal(label, "untouched");
  attr.size = 64;
  assert_int_equal(uvperf_attr_label(&attr, label, &size), 0);
  assert_string_equal(label, "cpu-cycles");
}

#define ON_TREE(f)                                                             \
  cmocka_unit_test_setup_teardown(f, tree_setup, make_host_teardown)
#define ON_HYBRID_TREE(f)                                                      \
  cmocka_unit_test_setup_teardown(f, hybrid_tree_setup, make_host_teardown)

int main(void) {
  static const struct CMUnitTest tests[] = {
      ON_TREE(label_of_generic_event_is_its_first_spelling),
      ON_TREE(label_of_number_without_name_is_the_number),
      ON_TREE(label_of_breakpoint_has_its_length_and_access),
      ON_TREE(label_has_the_modifiers_that_parse_to_the_bits),
      ON_TREE(label_leaves_out_that_all_is_excluded),
      ON_TREE(label_has_the_terms_that_parse_to_the_fields),
      ON_TREE(label_is_silent_on_a_sample_type_that_no_terms_say),
      ON_TREE(label_of_tracepoint_is_its_category_and_name),
      MAKE_HOST_TEST(label_without_sysfs_and_tracefs_is_numbers),
      ON_TREE(label_of_pmu_event_is_its_shortest_name),
      ON_TREE(label_of_two_names_of_one_length_is_the_first),
      ON_TREE(label_of_pmu_event_without_name_is_its_terms),
      ON_TREE(label_takes_one_of_the_terms_that_overlap),
      ON_TREE(label_needs_terms_that_do_not_overlap),
      ON_TREE(label_of_bits_without_terms_is_raw_or_numbers),
      ON_TREE(label_avoids_names_that_are_patterns),
      ON_HYBRID_TREE(label_of_hybrid_event_names_its_pmu),
      ON_HYBRID_TREE(label_of_hybrid_event_avoids_the_names_of_the_pmu),
      ON_TREE(label_of_uprobe_has_path_and_offset),
      ON_TREE(label_of_uprobe_that_cannot_be_written_is_numbers),
      ON_TREE(label_of_kprobe_has_function_or_address),
      ON_TREE(label_of_short_attr_reads_nothing_after_it),
      ON_TREE(label_with_too_little_room_is_enobufs),
      cmocka_unit_test(label_of_bad_arguments_is_einval),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
