/* SPDX-License-Identifier: MIT */
/* PMUs, their types and CPUs, and the names of their events and terms, in trees
 * like those of real machines and in hostile ones. */
#include "check_pmus.h"
#include "support.h"
#include "make_host.h"

#include <limits.h>

#include "host/pmu.h"

#define PMUS "/sys/bus/event_source/devices"
#define CPU  PMUS "/cpu"

/* -- Walks ---------------------------------------------------------------- */

static int stop_at_second(const char *name, void *data) {
  int *nr = data;

  return ++*nr == 2 ? -ENOENT : 0;
}

static void pmu_each_returns_every_name(void **state) {
  size_t fds = support_count_fds();
  check_pmus_t names = {"", 0};

  assert_int_equal(uvperf__pmu_each(check_pmus_add, &names), -ENOENT);
  make_host_write("/sys/devices/cpu/type", "4\n");
  make_host_link(CPU, "../../../devices/cpu");
  make_host_write(PMUS "/uncore_imc_0/type", "20\n");
  make_host_write(PMUS "/.hidden/type", "21\n");
  assert_int_equal(uvperf__pmu_each(check_pmus_add, &names), 0);
  assert_int_equal(names.nr, 2);
  assert_true(check_pmus_has(&names, "cpu"));
  assert_true(check_pmus_has(&names, "uncore_imc_0"));
  assert_int_equal(support_count_fds(), fds);
}

/* -ENOENT, which the library itself takes for "no such directory". */
static void pmu_each_ends_with_what_the_callback_returns(void **state) {
  size_t fds = support_count_fds();
  int nr = 0;

  make_host_write(CPU "/format/a", "config:0\n");
  make_host_write(CPU "/format/b", "config:1\n");
  make_host_write(CPU "/format/c", "config:2\n");
  assert_int_equal(uvperf__pmu_each_format("cpu", stop_at_second, &nr),
                   -ENOENT);
  assert_int_equal(nr, 2);
  assert_int_equal(support_count_fds(), fds);
}

static void pmu_without_terms_and_events_has_none(void **state) {
  check_pmus_t names = {"", 0};

  make_host_write(CPU "/type", "4\n");
  make_host_write(PMUS "/file", "4\n");
  assert_int_equal(uvperf__pmu_each_format("cpu", check_pmus_add, &names), 0);
  assert_int_equal(uvperf__pmu_each_event("cpu", check_pmus_add, &names), 0);
  assert_int_equal(names.nr, 0);
  assert_int_equal(uvperf__pmu_each_format("gpu", check_pmus_add, &names),
                   -ENOENT);
  assert_int_equal(uvperf__pmu_each_event("file", check_pmus_add, &names),
                   -ENOENT);
  make_host_write(CPU "/events", "a file\n");
  assert_int_equal(uvperf__pmu_each_event("cpu", check_pmus_add, &names),
                   -ENOTDIR);
}

static void pmu_events_leave_out_scale_and_unit_files(void **state) {
  char terms[UVPERF__PMU_TEXT_BYTES];
  check_pmus_t names = {"", 0};

  make_host_write(CPU "/events/energy", "event=0x2\n");
  make_host_write(CPU "/events/energy.scale", "2.3e-10\n");
  make_host_write(CPU "/events/energy.unit", "Joules\n");
  make_host_write(CPU "/events/energy.per-pkg", "1\n");
  make_host_write(CPU "/events/energy.snapshot", "1\n");
  make_host_write(CPU "/events/foo.scale", "1\n"); /* without a foo */
  make_host_write(CPU "/events/mem.scaled", "event=1\n");
  assert_int_equal(uvperf__pmu_each_event("cpu", check_pmus_add, &names), 0);
  assert_int_equal(names.nr, 2);
  assert_true(check_pmus_has(&names, "energy"));
  assert_true(check_pmus_has(&names, "mem.scaled"));
  assert_int_equal(uvperf__pmu_event("cpu", "energy.scale", terms), -ENOENT);
  assert_int_equal(uvperf__pmu_event("cpu", "foo", terms), -ENOENT);
  /* Nothing is before the suffix: an event of that name. */
  make_host_write(CPU "/events/.scale", "event=3\n");
  assert_int_equal(uvperf__pmu_event("cpu", ".scale", terms), 0);
}

/* -- Types ---------------------------------------------------------------- */

static void pmu_type_is_a_number_of_32_bits(void **state) {
  static const struct {
    const char *text;
    int code;
    uint32_t type;
  } types[] = {
      {"4\n", 0, 4},
      {"0", 0, 0},
      {"4294967295\n", 0, UINT32_MAX},
      {"4294967296\n", -EINVAL, 0},
      {"99999999999\n", -EINVAL, 0},
      {"99999999999999999999\n", -EINVAL, 0},
      {"-1\n", -EINVAL, 0},
      {"abc\n", -EINVAL, 0},
      {"4x\n", -EINVAL, 0},
      {"", -EINVAL, 0},
      {"\n", -EINVAL, 0},
  };
  size_t i;

  for (i = 0; i < COUNT_OF(types); i++) {
    uint32_t type = 99;

    make_host_write(CPU "/type", types[i].text);
    assert_int_equal(uvperf_pmu_type("cpu", &type), types[i].code);
    assert_int_equal(type, types[i].type);
  }
}

static void pmu_type_that_cannot_be_read_is_errno(void **state) {
  uint32_t type;

  make_host_write(PMUS "/typeless/format/event", "config:0-7\n");
  make_host_write(PMUS "/file", "4\n");
  make_host_write(PMUS "/directory/type/x", "4\n");
  make_host_link(PMUS "/loop", "loop");
  make_host_link(PMUS "/inner/type", "type");
  make_host_link(PMUS "/dangling", "nowhere");
  assert_int_equal(uvperf_pmu_type("none", &type), -ENOENT);
  assert_int_equal(uvperf_pmu_type("dangling", &type), -ENOENT);
  assert_int_equal(uvperf_pmu_type("file", &type), -ENOENT);
  assert_int_equal(uvperf_pmu_type("typeless", &type), -ENODATA);
  assert_int_equal(uvperf_pmu_type("directory", &type), -EISDIR);
  assert_int_equal(uvperf_pmu_type("loop", &type), -ELOOP);
  assert_int_equal(uvperf_pmu_type("inner", &type), -ELOOP);
}

static void pmu_name_is_found_by_type(void **state) {
  char name[32];

  assert_int_equal(uvperf__pmu_name(8, name, sizeof(name)), -ENOENT);
  make_host_write(CPU "/type", "4\n");
  make_host_write(PMUS "/odd/type", "x\n");
  make_host_write(PMUS "/uprobe/type", "8\n");
  assert_int_equal(uvperf__pmu_name(8, name, sizeof(name)), 0);
  assert_string_equal(name, "uprobe");
  assert_int_equal(uvperf__pmu_name(8, name, 4), 0);
  assert_string_equal(name, "upr");
  assert_int_equal(uvperf__pmu_name(0, name, sizeof(name)), -ENOENT);
  assert_string_equal(name, "");
}

/* More entries than the kernel returns at once. */
static void pmu_name_is_found_among_many(void **state) {
  size_t fds = support_count_fds();
  char path[96], text[16], name[32];
  unsigned type;

  for (type = 100; type < 300; type++) {
    snprintf(path, sizeof(path), PMUS "/uncore_box_%u/type", type);
    snprintf(text, sizeof(text), "%u\n", type);
    make_host_write(path, text);
  }
  for (type = 100; type < 300; type++) {
    snprintf(text, sizeof(text), "uncore_box_%u", type);
    assert_int_equal(uvperf__pmu_name(type, name, sizeof(name)), 0);
    assert_string_equal(name, text);
  }
  assert_int_equal(uvperf__pmu_name(300, name, sizeof(name)), -ENOENT);
  assert_int_equal(support_count_fds(), fds);
}

static void pmu_name_without_directory_is_errno(void **state) {
  char name[32] = "x";

  assert_int_equal(uvperf__pmu_name(1, name, sizeof(name)), -ENOENT);
  assert_string_equal(name, "");
  make_host_write(PMUS, "a file\n");
  assert_int_equal(uvperf__pmu_name(1, name, sizeof(name)), -ENOTDIR);
}

static void pmu_is_the_one_of_a_dynamic_type(void **state) {
  make_host_write(PMUS "/uprobe/type", "8\n");
  make_host_write(PMUS "/software/type", "1\n");
  assert_int_equal(uvperf__pmu_is(8, "uprobe"), 1);
  assert_int_equal(uvperf__pmu_is(9, "uprobe"), 0);
  assert_int_equal(uvperf__pmu_is(8, "kprobe"), 0);
  assert_int_equal(uvperf__pmu_is(1, "software"), 0);
}

/* -- CPUs and skid -------------------------------------------------------- */

static void pmu_cpus_are_a_mask_or_those_of_a_hybrid(void **state) {
  char list[UVPERF__PMU_TEXT_BYTES];
  int is_mask;

  make_host_write(PMUS "/uncore_imc_0/cpumask", "0,18\n");
  make_host_write(PMUS "/cpu_atom/cpus", "16-23\n");
  make_host_write(CPU "/type", "4\n");
  assert_int_equal(uvperf__pmu_cpus("uncore_imc_0", list, &is_mask), 0);
  assert_string_equal(list, "0,18");
  assert_int_equal(is_mask, 1);
  assert_int_equal(uvperf__pmu_cpus("cpu_atom", list, &is_mask), 0);
  assert_string_equal(list, "16-23");
  assert_int_equal(is_mask, 0);
  assert_int_equal(uvperf__pmu_cpus("cpu", list, &is_mask), -ENOENT);
  assert_string_equal(list, "");
}

static void pmu_max_precise_is_in_caps(void **state) {
  uint32_t max;

  make_host_write(CPU "/type", "4\n");
  assert_int_equal(uvperf__pmu_max_precise("cpu", &max), -ENOENT);
  make_host_write(CPU "/caps/max_precise", "3\n");
  assert_int_equal(uvperf__pmu_max_precise("cpu", &max), 0);
  assert_int_equal(max, 3);
  make_host_write(CPU "/caps/max_precise", "-1\n");
  assert_int_equal(uvperf__pmu_max_precise("cpu", &max), -EINVAL);
}

/* -- Hostile names -------------------------------------------------------- */

/* The tree has the files that the paths would lead to. */
static void pmu_name_that_is_a_path_is_einval(void **state) {
  char too_long[NAME_MAX + 2];
  const char *const bad[] = {"", ".", "..", "cpu/", "/cpu", "a/b", too_long};
  char text[UVPERF__PMU_TEXT_BYTES];
  uvperf__pmu_measure_t measure;
  uvperf__pmu_format_t format;
  check_pmus_t names = {"", 0};
  uint32_t number;
  size_t i;
  int is_mask;

  memset(too_long, 'a', sizeof(too_long) - 1);
  too_long[NAME_MAX + 1] = '\0';
  make_host_write(CPU "/type", "4\n");
  make_host_write(CPU "/cpumask", "0\n");
  make_host_write(CPU "/format/a/b", "config:0\n");
  make_host_write(CPU "/events/a/b", "event=1\n");
  for (i = 0; i < COUNT_OF(bad); i++) {
    const char *name = bad[i];

    assert_int_equal(uvperf_pmu_type(name, &number), -EINVAL);
    assert_int_equal(uvperf__pmu_max_precise(name, &number), -EINVAL);
    assert_int_equal(uvperf__pmu_cpus(name, text, &is_mask), -EINVAL);
    assert_int_equal(uvperf__pmu_each_event(name, check_pmus_add, &names),
                     -EINVAL);
    assert_int_equal(uvperf__pmu_each_format(name, check_pmus_add, &names),
                     -EINVAL);
    assert_int_equal(uvperf__pmu_format(name, "a", &format), -EINVAL);
    assert_int_equal(uvperf__pmu_format("cpu", name, &format), -EINVAL);
    assert_int_equal(uvperf__pmu_event(name, "a.unit", text), -EINVAL);
    assert_int_equal(uvperf__pmu_event("cpu", name, text), -EINVAL);
    assert_int_equal(uvperf__pmu_measure("cpu", name, &measure), -EINVAL);
  }
}

/* One file shows that the machine has one PMU "cpu". */
static void pmus_of_cores_have_cpus_and_are_in_order_of_type(void **state) {
  uvperf__core_pmus_t cores;

  assert_int_equal(uvperf__pmu_cores(&cores), 0);
  assert_int_equal(cores.nr, 0);
  make_host_write(PMUS "/b/type", "9\n");
  make_host_write(PMUS "/b/cpus", "0-1\n");
  make_host_write(PMUS "/a/type", "12\n");
  make_host_write(PMUS "/a/cpus", "2\n");
  make_host_write(PMUS "/c/type", "8\n");
  make_host_write(PMUS "/c/cpus", "3\n");
  make_host_write(PMUS "/masked/type", "7\n");
  make_host_write(PMUS "/masked/cpumask", "0\n");
  make_host_write(PMUS "/typeless/cpus", "0\n");
  assert_int_equal(uvperf__pmu_cores(&cores), 0);
  assert_int_equal(cores.nr, 3);
  assert_string_equal(cores.pmus[0].name, "c");
  assert_string_equal(cores.pmus[1].name, "b");
  assert_string_equal(cores.pmus[2].name, "a");
  assert_int_equal(cores.pmus[2].type, 12);
  assert_int_equal(cores.has_extended_type, 0); /* the kernel is not known */
  make_host_write(PMUS "/cpu/type", "4\n");
  assert_int_equal(uvperf__pmu_cores(&cores), 0);
  assert_int_equal(cores.nr, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      MAKE_HOST_TEST(pmu_each_returns_every_name),
      MAKE_HOST_TEST(pmu_each_ends_with_what_the_callback_returns),
      MAKE_HOST_TEST(pmu_without_terms_and_events_has_none),
      MAKE_HOST_TEST(pmu_events_leave_out_scale_and_unit_files),
      MAKE_HOST_TEST(pmu_type_is_a_number_of_32_bits),
      MAKE_HOST_TEST(pmu_type_that_cannot_be_read_is_errno),
      MAKE_HOST_TEST(pmu_name_is_found_by_type),
      MAKE_HOST_TEST(pmu_name_is_found_among_many),
      MAKE_HOST_TEST(pmu_name_without_directory_is_errno),
      MAKE_HOST_TEST(pmu_is_the_one_of_a_dynamic_type),
      MAKE_HOST_TEST(pmu_cpus_are_a_mask_or_those_of_a_hybrid),
      MAKE_HOST_TEST(pmus_of_cores_have_cpus_and_are_in_order_of_type),
      MAKE_HOST_TEST(pmu_max_precise_is_in_caps),
      MAKE_HOST_TEST(pmu_name_that_is_a_path_is_einval),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
