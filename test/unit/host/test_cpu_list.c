/* SPDX-License-Identifier: MIT */
/* Lists of CPUs: from the kernel, from users, and invalid ones. */
#include "support.h"

#include <unistd.h>

#include "host/cpu_list.h"
#include "uvperf/system.h"

#define ROOM (UVPERF__MAX_CPU + 1)

static void cpu_list_returns_each_cpu_once_ascending(void **state) {
  static const struct {
    const char *list;
    size_t nr;
    int cpus[8];
  } lists[] = {
      {"0", 1, {0}},
      {"0,2-5\n", 5, {0, 2, 3, 4, 5}},
      {"0-3,2-4", 5, {0, 1, 2, 3, 4}},
      {"7,1,7,0-1", 3, {0, 1, 7}},
      {" 62 - 65 , 127-128\n", 6, {62, 63, 64, 65, 127, 128}},
      {"63", 1, {63}},
      {"64", 1, {64}},
      {"65535", 1, {65535}},
      {"0,18", 2, {0, 18}},
      {"", 0, {0}},
      {"\n", 0, {0}},
  };
  size_t i;

  for (i = 0; i < COUNT_OF(lists); i++) {
    int cpus[8];
    size_t nr = 8;

    assert_int_equal(uvperf_cpu_list_parse(lists[i].list, cpus, &nr), 0);
    assert_int_equal(nr, lists[i].nr);
    assert_memory_equal(cpus, lists[i].cpus, nr * sizeof(int));
  }
}

static void cpu_list_of_garbage_is_einval(void **state) {
  static const char *const bad[] = {
      ",",   "0,",  ",0", "1,,2",  "a",          "1-",      "-1",  "3-1",
      "1 2", "0;1", "+1", "65536", "0-99999999", "0-3:1/2", "0x1", "\xff"};
  size_t i;

  for (i = 0; i < COUNT_OF(bad); i++) {
    int cpus[8];
    size_t nr = 8;

    assert_int_equal(uvperf_cpu_list_parse(bad[i], cpus, &nr), -EINVAL);
    assert_int_equal(nr, 8);
    assert_int_equal(uvperf__cpu_list_has(bad[i], 1), -EINVAL);
  }
}

static void cpu_list_with_too_little_room_reports_the_need(void **state) {
  int cpus[4] = {-1, -1, -1, -1};
  size_t nr = 3;

  assert_int_equal(uvperf_cpu_list_parse("0,2-4", cpus, &nr), -ENOBUFS);
  assert_int_equal(nr, 4);
  assert_int_equal(cpus[0], -1);
  assert_int_equal(uvperf_cpu_list_parse("0,2-4", cpus, &nr), 0);
  assert_int_equal(cpus[3], 4);
  nr = 0;
  assert_int_equal(uvperf_cpu_list_parse("0-65535", NULL, &nr), -ENOBUFS);
  assert_int_equal(nr, ROOM);
}

static void cpu_list_of_all_cpus_is_read_whole(void **state) {
  int *cpus = calloc(ROOM, sizeof(int));
  size_t nr = ROOM, i;

  assert_non_null(cpus);
  assert_int_equal(uvperf_cpu_list_parse("0-65535", cpus, &nr), 0);
  assert_int_equal(nr, ROOM);
  for (i = 0; i < ROOM; i++)
    assert_int_equal(cpus[i], i);
  free(cpus);
}

static void cpu_list_has_what_is_in_it(void **state) {
  static const int has[] = {1, 0, 1, 1, 1, 1, 0, 1, 0};
  int cpu;

  for (cpu = 0; cpu < 9; cpu++)
    assert_int_equal(uvperf__cpu_list_has("0,2-5,7\n", cpu), has[cpu]);
  assert_int_equal(uvperf__cpu_list_has("0-65535", -1), 0);
  assert_int_equal(uvperf__cpu_list_has("0-65535", 65536), 0);
  assert_int_equal(uvperf__cpu_list_has("", 0), 0);
}

static void cpu_list_without_an_argument_is_einval(void **state) {
  size_t nr = 1;
  int cpu;

  assert_int_equal(uvperf_cpu_list_parse(NULL, &cpu, &nr), -EINVAL);
  assert_int_equal(uvperf_cpu_list_parse("0", &cpu, NULL), -EINVAL);
  assert_int_equal(uvperf_cpu_list_parse("0", NULL, &nr), -EINVAL);
  assert_int_equal(uvperf_cpus(UVPERF_CPUS_ONLINE, &cpu, NULL), -EINVAL);
  assert_int_equal(uvperf_cpus(UVPERF_CPUS_ONLINE, NULL, &nr), -EINVAL);
  assert_int_equal(uvperf_cpus(UVPERF_CPUS_POSSIBLE, NULL, &nr), -EINVAL);
  assert_int_equal(uvperf_cpus(0, &cpu, &nr), -EINVAL);
  assert_int_equal(uvperf_cpus(3, &cpu, &nr), -EINVAL);
  assert_int_equal(nr, 1);
  assert_int_equal(uvperf_cpu_list_parse("3", &cpu, &nr), 0);
  assert_int_equal(cpu, 3);
}

/* Calls a function as its documentation has it: once for the need. */
static int *take_cpus(uint32_t which, size_t *nr) {
  int *cpus;

  *nr = 0;
  assert_int_equal(uvperf_cpus(which, NULL, nr), -ENOBUFS);
  cpus = calloc(*nr, sizeof(*cpus));
  assert_non_null(cpus);
  assert_int_equal(uvperf_cpus(which, cpus, nr), 0);
  return cpus;
}

static void live_cpus_online_equal_libcs(void **state) {
  char path[64];
  size_t nr, i;
  int *cpus = take_cpus(UVPERF_CPUS_ONLINE, &nr);

  assert_int_equal(nr, sysconf(_SC_NPROCESSORS_ONLN));
  for (i = 0; i < nr; i++) {
    snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d", cpus[i]);
    assert_int_equal(access(path, F_OK), 0);
    assert_true(i == 0 || cpus[i] > cpus[i - 1]);
  }
  free(cpus);
}

static void live_cpus_possible_contain_the_online_ones(void **state) {
  size_t nr, nr_online, i, j = 0;
  int *cpus = take_cpus(UVPERF_CPUS_POSSIBLE, &nr);
  int *online = take_cpus(UVPERF_CPUS_ONLINE, &nr_online);

  for (i = 0; i < nr && j < nr_online; i++)
    if (cpus[i] == online[j])
      j++;
  assert_int_equal(j, nr_online);
  free(cpus);
  free(online);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cpu_list_returns_each_cpu_once_ascending),
      cmocka_unit_test(cpu_list_of_garbage_is_einval),
      cmocka_unit_test(cpu_list_with_too_little_room_reports_the_need),
      cmocka_unit_test(cpu_list_of_all_cpus_is_read_whole),
      cmocka_unit_test(cpu_list_has_what_is_in_it),
      cmocka_unit_test(cpu_list_without_an_argument_is_einval),
      cmocka_unit_test(live_cpus_online_equal_libcs),
      cmocka_unit_test(live_cpus_possible_contain_the_online_ones),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
