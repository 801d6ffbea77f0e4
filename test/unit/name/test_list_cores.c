/* SPDX-License-Identifier: MIT */
/* Lists on machines with several kinds of cores: one event for each core PMU,
 * known as parts of one; their groups and labels. */
#include "fake_kernel.h"
#include "check_parse.h"
#include "make_host.h"
#include "make_tree.h"

#include "host/system.h"
#include "name/label.h"
#include "name/list.h"
#include "uvperf/name.h"

#define NONE SIZE_MAX

static void write_pmu(const char *name, const char *type, const char *cpus) {
  char path[128];

  snprintf(path, sizeof(path), CHECK_PARSE_PMUS "/%s/type", name);
  make_host_write(path, type);
  snprintf(path, sizeof(path), CHECK_PARSE_PMUS "/%s/format/event", name);
  make_host_write(path, "config:0-15\n");
  snprintf(path, sizeof(path), CHECK_PARSE_PMUS "/%s/cpus", name);
  if (cpus != NULL)
    make_host_write(path, cpus);
}

static void write_release(const char *release) {
  make_host_write("/proc/sys/kernel/osrelease", release);
}

/* Intel's: the PMUs are written in the other order than their types have. */
static int setup_intel(void **state) {
  if (make_host_setup(state) != 0)
    return -1;
  fake_kernel_reset();
  write_pmu("cpu_atom", "10\n", "2-3\n");
  write_pmu("cpu_core", "4\n", "0-1\n");
  write_pmu("msr", "9\n", NULL);
  write_release("5.13.0\n");
  return 0;
}

static int setup_arm(void **state) {
  if (make_host_setup(state) != 0)
    return -1;
  fake_kernel_reset();
  write_pmu("armv8_cortex_a78", "11\n", "4-6\n");
  write_pmu("armv8_cortex_x1", "12\n", "7\n");
  write_pmu("armv8_cortex_a55", "8\n", "0-3\n");
  write_release("6.6.0-arm64\n");
  return 0;
}

typedef struct wanted_s {
  const char *label;
  const char *part;
  uint32_t type;
  uint64_t config;
  size_t first;
  size_t leader;
  int first_cpu; /* -1: any */
} wanted_t;

static void expect(const char *names, const wanted_t *wanted, size_t nr) {
  uvperf_event_list_t *list = check_parse_list(names);
  const uvperf_event_item_t *item;
  size_t i;

  for (i = 0; i < nr && i < uvperf_event_list_count(list); i++) {
    item = uvperf_event_list_get(list, i);
    assert_string_equal(item->label, wanted[i].label);
    if (wanted[i].part == NULL)
      assert_null(item->part);
    else
      assert_string_equal(item->part, wanted[i].part);
    assert_int_equal(item->attr->type, wanted[i].type);
    assert_int_equal(item->attr->config, wanted[i].config);
    assert_int_equal(item->first,
                     wanted[i].first == NONE ? i : wanted[i].first);
    assert_int_equal(item->leader,
                     wanted[i].leader == NONE ? i : wanted[i].leader);
    assert_int_equal(item->cpus == NULL ? -1 : item->cpus[0],
                     wanted[i].first_cpu);
    assert_int_equal(item->flags & UVPERF_ITEM_CPU_WIDE, 0);
  }
  assert_int_equal(uvperf_event_list_count(list), nr);
  uvperf_event_list_free(list);
}

/* -- Intel ---------------------------------------------------------------- */

static void names_of_hardware_have_a_part_for_each_kind_of_core(void **state) {
  static const wanted_t wanted[] = {
      {"cycles", "cpu_core/cycles/", 0, 0x400000000, NONE, NONE, 0},
      {"page-faults", NULL, 1, 2, NONE, NONE, -1},
      {"LLC-loads:u", "cpu_core/LLC-loads/u", 3, 0x400000002, NONE, NONE, 0},
      {"r1a8", "cpu_core/r1a8/", 4, 0x1a8, NONE, NONE, 0},
      {"branches/period=5/u", "cpu_core/branches,period=5/u", 0, 0x400000004,
       NONE, NONE, 0},
      {"cpu_core/cycles/", NULL, 0, 0x400000000, NONE, NONE, 0},
      {"mine", "cpu_core/mine", 0, 0x400000001, NONE, NONE, 0},
      {"0:1", NULL, 0, 1, NONE, NONE, -1},
      {"cpu_atom/cycles/", "cpu_atom/cycles/", 0, 0xa00000000, 0, NONE, 2},
      {"cpu_atom/LLC-loads/u", "cpu_atom/LLC-loads/u", 3, 0xa00000002, 2, NONE,
       2},
      {"cpu_atom/r1a8/", "cpu_atom/r1a8/", 10, 0x1a8, 3, NONE, 2},
      {"cpu_atom/branches,period=5/u", "cpu_atom/branches,period=5/u", 0,
       0xa00000004, 4, NONE, 2},
      {"cpu_atom/mine", "cpu_atom/mine", 0, 0xa00000001, 6, NONE, 2},
  };

  expect(" cycles,page-faults,LLC-loads:u,r1a8,branches/period=5/u,"
         "cpu_core/cycles/,instructions/name=mine/,0:1",
         wanted, COUNT_OF(wanted));
}

/* Each part has the attr of its own text. */
static void parts_have_the_attr_of_their_text(void **state) {
  static const char *const names[] = {
      "cycles:ukp", "branches/period=5/u", "L1-dcache-load-misses",
      "r3c:D",      "cycles//k",           "instructions/freq=99/"};
  const uvperf_event_item_t *item;
  struct perf_event_attr attr;
  uvperf_event_list_t *list;
  size_t i, part;

  for (i = 0; i < COUNT_OF(names); i++) {
    list = check_parse_list(names[i]);
    assert_int_equal(uvperf_event_list_count(list), 2);
    for (part = 0; part < 2; part++) {
      item = uvperf_event_list_get(list, part);
      assert_int_equal(
          uvperf_attr_parse_sized(&attr, sizeof(attr), item->part, NULL), 0);
      assert_memory_equal(&attr, item->attr, sizeof(attr));
    }
    uvperf_event_list_free(list);
  }
}

static void event_that_both_core_pmus_have_has_parts(void **state) {
  uvperf_event_list_t *list;
  size_t i, nr_first = 0;

  write_pmu("uncore_x", "20\n", NULL);
  make_host_write(CHECK_PARSE_PMUS "/cpu_core/events/mem-stores",
                  "event=0xcd\n");
  make_host_write(CHECK_PARSE_PMUS "/cpu_atom/events/mem-stores",
                  "event=0xd0\n");
  make_host_write(CHECK_PARSE_PMUS "/uncore_x/events/mem-stores", "event=7\n");
  list = check_parse_list("mem-stores:u");
  assert_int_equal(uvperf_event_list_count(list), 3);
  /* The order is the directory's. */
  for (i = 0; i < 3; i++) {
    const uvperf_event_item_t *item = uvperf_event_list_get(list, i);

    if (item->attr->type == 20) {
      assert_null(item->part);
      assert_string_equal(item->label, "uncore_x/mem-stores/:u");
      assert_int_equal(item->first, i);
      continue;
    }
    assert_non_null(item->part);
    nr_first += item->first == i;
    assert_string_equal(item->label,
                        item->first == i ? "mem-stores:u" : item->part);
    assert_true(item->first == i || i == 2);
  }
  assert_int_equal(nr_first, 1);
  assert_int_equal(uvperf__event_list_nr_whole(list), 2);
  uvperf_event_list_free(list);
}

/* -- groups --------------------------------------------------------------- */

static void group_is_one_for_each_kind_of_core(void **state) {
  static const wanted_t wanted[] = {
      {"cycles", "cpu_core/cycles/", 0, 0x400000000, NONE, 0, 0},
      {"instructions:u", "cpu_core/instructions/u", 0, 0x400000001, NONE, 0, 0},
      {"dummy", NULL, 1, 9, NONE, NONE, -1},
      {"cpu_atom/cycles/", "cpu_atom/cycles/", 0, 0xa00000000, 0, 3, 2},
      {"cpu_atom/instructions/u", "cpu_atom/instructions/u", 0, 0xa00000001, 1,
       3, 2},
  };
  uvperf_event_list_t *list;

  expect("{cycles,instructions:u},dummy", wanted, COUNT_OF(wanted));
  list = check_parse_list("a{cycles,instructions}:SD,b{cs,faults}");
  assert_int_equal(uvperf_event_list_count(list), 6);
  assert_int_equal(uvperf_event_list_get(list, 0)->group, 0);
  assert_int_equal(uvperf_event_list_get(list, 1)->group, 0);
  assert_int_equal(uvperf_event_list_get(list, 2)->group, 2);
  assert_int_equal(uvperf_event_list_get(list, 4)->group, 1);
  assert_int_equal(uvperf_event_list_get(list, 5)->group, 1);
  assert_string_equal(uvperf_event_list_get(list, 5)->group_name, "a");
  assert_int_equal(uvperf_event_list_get(list, 4)->attr->read_format,
                   PERF_FORMAT_GROUP | PERF_FORMAT_ID);
  assert_int_equal(uvperf_event_list_get(list, 4)->attr->pinned, 1);
  assert_int_equal(uvperf_event_list_get(list, 5)->attr->pinned, 0);
  assert_int_equal(uvperf_event_list_get(list, 5)->attr->read_format, 0);
  uvperf_event_list_free(list);
}

/* It counts where its group runs: the parts are the whole of it. */
static void other_member_is_in_the_group_of_each_kind_of_core(void **state) {
  static const wanted_t wanted[] = {
      {"task-clock", "cpu_core/task-clock", 1, 1, NONE, 0, 0},
      {"cycles", "cpu_core/cycles/", 0, 0x400000000, NONE, 0, 0},
      {"cpu_atom/event=7/", NULL, 10, 7, NONE, 2, 2},
      {"cpu_atom/cycles/", "cpu_atom/cycles/", 0, 0xa00000000, 1, 2, 2},
      {"cpu_atom/task-clock", "cpu_atom/task-clock", 1, 1, 0, 2, 2},
  };

  expect("{task-clock,cycles,cpu_atom/event=7/}", wanted, COUNT_OF(wanted));
}

static void group_without_generic_events_is_as_written(void **state) {
  static const wanted_t wanted[] = {
      {"cpu_atom/event=7/", NULL, 10, 7, NONE, 0, 2},
      {"page-faults", NULL, 1, 2, NONE, 0, -1},
  };

  expect("{cpu_atom/event=7/,page-faults}", wanted, COUNT_OF(wanted));
}

/* page-faults leads the first group, and follows cycles in the second. */
static void part_that_cannot_be_pinned_is_named_as_its_event(void **state) {
  uvperf_event_list_t *list;
  uvperf_error_t error;

  assert_int_equal(
      uvperf_event_list_parse(&list, "{page-faults:D,cycles}", &error),
      -EINVAL);
  assert_ptr_equal(strstr(error.reason, "'page-faults:D' is not the leader"),
                   error.reason);
}

/* In the directory some other PMUs are between the PMUs of the cores. */
static void parts_are_not_of_other_pmus_with_the_event(void **state) {
  static const char *const pmus[] = {"cpu_atom", "a", "b", "c",       "d",
                                     "e",        "f", "g", "cpu_core"};
  uvperf_event_list_t *list;
  const uvperf_event_item_t *item;
  char path[128];
  size_t i;

  for (i = 0; i < COUNT_OF(pmus); i++) {
    if (strlen(pmus[i]) == 1)
      write_pmu(pmus[i], "30\n", NULL);
    snprintf(path, sizeof(path), CHECK_PARSE_PMUS "/%s/events/both", pmus[i]);
    make_host_write(path, "event=1\n");
  }
  list = check_parse_list("both");
  assert_int_equal(uvperf_event_list_count(list), COUNT_OF(pmus));
  item = uvperf_event_list_get(list, COUNT_OF(pmus) - 1);
  assert_non_null(item->part);
  item = uvperf_event_list_get(list, item->first);
  assert_non_null(item->part);
  assert_int_equal(strncmp(item->part, "cpu_", 4), 0);
  uvperf_event_list_free(list);
}

static void probe_in_a_group_of_parts_has_its_text_in_each(void **state) {
  const struct perf_event_attr *one, *other;
  uvperf_event_list_t *list;

  write_pmu("kprobe", "6\n", NULL);
  list = check_parse_list("{kprobe/func=do_exit/,cycles}");
  assert_int_equal(uvperf_event_list_count(list), 4);
  one = uvperf_event_list_get(list, 0)->attr;
  other = uvperf_event_list_get(list, 3)->attr;
  assert_int_equal(other->type, 6);
  assert_string_equal((const char *)(uintptr_t)one->config1, "do_exit");
  assert_string_equal((const char *)(uintptr_t)other->config1, "do_exit");
  uvperf_event_list_free(list);
}

static void list_of_parts_without_memory_leaves_nothing(void **state) {
  uvperf_event_list_t *list;
  unsigned int nth;
  int rc = -ENOMEM;

  for (nth = 1; rc != 0; nth++) {
    fake_kernel_reset();
    fake_fail(FAKE_CALLOC, nth, 0);
    rc = uvperf_event_list_parse(&list, "x{cycles,page-faults},r1,instructions",
                                 NULL);
    assert_true(rc == 0 || rc == -ENOMEM);
  }
  assert_true(nth > 20);
  uvperf_event_list_free(list);
  fake_assert_clean();
}

/* -- Arm ------------------------------------------------------------------ */

static void three_kinds_of_cores_have_three_parts(void **state) {
  static const wanted_t wanted[] = {
      {"cycles", "armv8_cortex_a55/cycles/", 0, 0x800000000, NONE, 0, 0},
      {"r11", "armv8_cortex_a55/r11/", 8, 0x11, NONE, 0, 0},
      {"armv8_cortex_a78/cycles/", "armv8_cortex_a78/cycles/", 0, 0xb00000000,
       0, 2, 4},
      {"armv8_cortex_x1/cycles/", "armv8_cortex_x1/cycles/", 0, 0xc00000000, 0,
       3, 7},
      {"armv8_cortex_a78/r11/", "armv8_cortex_a78/r11/", 11, 0x11, 1, 2, 4},
      {"armv8_cortex_x1/r11/", "armv8_cortex_x1/r11/", 12, 0x11, 1, 3, 7},
  };

  expect("{cycles,r11}", wanted, COUNT_OF(wanted));
}

/* Raw codes are of each PMU's own type, which every kernel knows. */
static void kernel_without_extended_type_has_one_generic_event(void **state) {
  static const wanted_t wanted[] = {
      {"cycles", NULL, 0, 0, NONE, NONE, -1},
      {"LLC-loads", NULL, 3, 2, NONE, NONE, -1},
      {"r11", "armv8_cortex_a55/r11/", 8, 0x11, NONE, NONE, 0},
      {"armv8_cortex_a78/r11/", "armv8_cortex_a78/r11/", 11, 0x11, 2, NONE, 4},
      {"armv8_cortex_x1/r11/", "armv8_cortex_x1/r11/", 12, 0x11, 2, NONE, 7},
  };

  write_release("6.5.13\n");
  expect("cycles,LLC-loads,r11", wanted, COUNT_OF(wanted));
}

/* -- one kind of cores ---------------------------------------------------- */

static void expect_no_parts(void) {
  static const wanted_t wanted[] = {
      {"cycles", NULL, 0, 0, NONE, 0, -1},
      {"page-faults", NULL, 1, 2, NONE, 0, -1},
      {"LLC-loads", NULL, 3, 2, NONE, NONE, -1},
      {"r11", NULL, 4, 0x11, NONE, NONE, -1},
  };

  expect("{cycles,page-faults},LLC-loads,r11", wanted, COUNT_OF(wanted));
}

static void one_kind_of_cores_has_no_parts(void **state) {
  write_release("6.12.0\n");
  expect_no_parts(); /* no PMU at all */
  write_pmu("armv8_pmuv3", "8\n", "0-3\n");
  write_pmu("uncore_imc_0", "9\n", NULL);
  make_host_write(CHECK_PARSE_PMUS "/uncore_imc_0/cpumask", "0\n");
  expect_no_parts();
}

/* As in tests of other things. */
static void machine_with_a_pmu_cpu_has_no_parts(void **state) {
  write_pmu("cpu", "4\n", NULL);
  expect_no_parts();
}

/* -- back to names -------------------------------------------------------- */

static int check_label(const uvperf_event_name_t *name, void *arg) {
  uvperf_event_list_t *list = check_parse_list(name->name);
  char label[UVPERF__LABEL_BYTES];
  struct perf_event_attr attr;
  size_t i, size;

  assert_int_equal(uvperf_event_list_count(list), 2);
  for (i = 0; i < 2; i++) {
    size = sizeof(label);
    assert_int_equal(
        uvperf_attr_label(uvperf_event_list_get(list, i)->attr, label, &size),
        0);
    assert_non_null(strstr(label, i == 0 ? "cpu_core/" : "cpu_atom/"));
    assert_non_null(strstr(label, name->name));
    assert_int_equal(uvperf_attr_parse_sized(&attr, sizeof(attr), label, NULL),
                     0);
    assert_memory_equal(&attr, uvperf_event_list_get(list, i)->attr,
                        sizeof(attr));
  }
  uvperf_event_list_free(list);
  return 0;
}

static void parts_of_all_names_have_labels_of_their_pmus(void **state) {
  assert_int_equal(
      uvperf_event_name_walk(NULL, UVPERF_NAME_HARDWARE | UVPERF_NAME_CACHE,
                             check_label, *state),
      0);
}

/* The kernel chooses the PMU: on a CPU, the CPU's own. */
static void single_event_is_the_same_on_every_machine(void **state) {
  static const name_good_t good[] = {
      {"cycles", {.type = 0, .config = 0}},
      {"LLC-loads:u",
       {.type = 3, .config = 2, .exclude_kernel = 1, .exclude_hv = 1}},
      {"r1a8", {.type = 4, .config = 0x1a8}},
  };

  check_parse_good(good, COUNT_OF(good));
}

int main(void) {
#define TEST(f, setup)                                                         \
  cmocka_unit_test_setup_teardown(f, setup, make_host_teardown)
  static const struct CMUnitTest tests[] = {
      TEST(names_of_hardware_have_a_part_for_each_kind_of_core, setup_intel),
      TEST(parts_have_the_attr_of_their_text, setup_intel),
      TEST(event_that_both_core_pmus_have_has_parts, setup_intel),
      TEST(group_is_one_for_each_kind_of_core, setup_intel),
      TEST(other_member_is_in_the_group_of_each_kind_of_core, setup_intel),
      TEST(group_without_generic_events_is_as_written, setup_intel),
      TEST(part_that_cannot_be_pinned_is_named_as_its_event, setup_intel),
      TEST(parts_are_not_of_other_pmus_with_the_event, setup_intel),
      TEST(probe_in_a_group_of_parts_has_its_text_in_each, setup_intel),
      TEST(list_of_parts_without_memory_leaves_nothing, setup_intel),
      TEST(three_kinds_of_cores_have_three_parts, setup_arm),
      TEST(kernel_without_extended_type_has_one_generic_event, setup_arm),
      TEST(one_kind_of_cores_has_no_parts, make_host_setup),
      TEST(machine_with_a_pmu_cpu_has_no_parts, setup_intel),
      TEST(parts_of_all_names_have_labels_of_their_pmus, setup_intel),
      TEST(single_event_is_the_same_on_every_machine, setup_intel),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
