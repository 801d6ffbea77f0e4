/* SPDX-License-Identifier: MIT */
/* Packages of CPUs under a scripted root, and those of this machine. */
#include "support.h"
#include "make_host.h"

#include "host/system.h"

static void write_id(int cpu, const char *name, const char *text) {
  char path[96];

  snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/%s", cpu,
           name);
  make_host_write(path, text);
}

static uint64_t package_of(int cpu) {
  uint64_t package = 4711;

  assert_int_equal(uvperf__cpu_package(cpu, &package), 0);
  return package;
}

static void packages_differ_by_socket_and_die(void **state) {
  static const struct {
    const char *socket;
    const char *die;
  } cpus[] = {{"0\n", "0\n"}, {"0\n", "1\n"}, {"1\n", "0\n"},
              {"1\n", "1\n"}, {"7\n", "0\n"}, {"256\n", "65535\n"}};
  const int nr = (int)(COUNT_OF(cpus));
  int i, j;

  for (i = 0; i < nr; i++) {
    write_id(i, "physical_package_id", cpus[i].socket);
    write_id(i, "die_id", cpus[i].die);
    write_id(nr + i, "physical_package_id", cpus[i].socket);
    write_id(nr + i, "die_id", cpus[i].die);
  }
  for (i = 0; i < nr; i++)
    for (j = 0; j < 2 * nr; j++)
      assert_int_equal(package_of(i) == package_of(j), i == j % nr);
}

static void packages_of_old_kernels_have_one_die(void **state) {
  write_id(0, "physical_package_id", "3\n");
  write_id(1, "physical_package_id", "3\n");
  write_id(1, "die_id", "0\n");
  write_id(2, "physical_package_id", "2\n");
  assert_true(package_of(0) == package_of(1));
  assert_true(package_of(0) != package_of(2));
}

static void packages_that_a_machine_does_not_have_are_the_first(void **state) {
  write_id(0, "physical_package_id", "-1\n");
  write_id(0, "die_id", "-1\n");
  write_id(1, "physical_package_id", "0\n");
  write_id(1, "die_id", "0\n");
  assert_true(package_of(0) == package_of(1));
}

static void packages_that_cannot_be_read_are_an_error(void **state) {
  uint64_t package = 4711;

  assert_int_equal(uvperf__cpu_package(0, &package), -ENOENT);
  assert_int_equal(package, 0);
  write_id(0, "physical_package_id", "x\n");
  assert_int_equal(uvperf__cpu_package(0, &package), -EINVAL);
  write_id(0, "physical_package_id", "0\n");
  write_id(0, "die_id", "");
  assert_int_equal(uvperf__cpu_package(0, &package), -EINVAL);
}

static void packages_of_this_machine_are_read(void **state) {
  size_t nr = 0, i;
  int *cpus;

  assert_int_equal(uvperf__system_cpus("online", NULL, &nr), -ENOBUFS);
  cpus = calloc(nr, sizeof(*cpus));
  assert_non_null(cpus);
  assert_int_equal(uvperf__system_cpus("online", cpus, &nr), 0);
  for (i = 0; i < nr; i++) {
    char path[96];
    int64_t id;
    uint64_t package;

    snprintf(path, sizeof(path),
             "/sys/devices/system/cpu/cpu%d/topology/physical_package_id",
             cpus[i]);
    assert_int_equal(uvperf__system_number(path, &id), 0);
    assert_int_equal(uvperf__cpu_package(cpus[i], &package), 0);
    assert_int_equal(package >> 32, id < 0 ? 0 : id);
  }
  free(cpus);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      MAKE_HOST_TEST(packages_differ_by_socket_and_die),
      MAKE_HOST_TEST(packages_of_old_kernels_have_one_die),
      MAKE_HOST_TEST(packages_that_a_machine_does_not_have_are_the_first),
      MAKE_HOST_TEST(packages_that_cannot_be_read_are_an_error),
      cmocka_unit_test(packages_of_this_machine_are_read),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
