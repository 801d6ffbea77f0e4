/* SPDX-License-Identifier: MIT */
/* Reading files under a scripted root, and under the real one. */
#include "support.h"
#include "make_host.h"
#include "make_tree.h"

#include <limits.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/capability.h>

#include "host/system.h"

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"
#define STATUS   "/proc/self/status"
#define UID_MAP  "/proc/self/uid_map"
#define RELEASE  "/proc/sys/kernel/osrelease"
#define ONLINE   "/sys/devices/system/cpu/online"

static void system_number_reads_first_line(void **state) {
  const struct {
    const char *text;
    int64_t value;
  } good[] = {
      {"2\n", 2},
      {"516", 516},
      {"-1\n", -1},
      {" 7 \n", 7},
      {"3\nx\n", 3},
      {"0\n", 0},
      {"9223372036854775807\n", INT64_MAX},
      {"-9223372036854775808\n", INT64_MIN},
  };
  size_t i;

  for (i = 0; i < COUNT_OF(good); i++) {
    int64_t value = 99;

    make_host_write(PARANOID, good[i].text);
    assert_int_equal(uvperf__system_number(PARANOID, &value), 0);
    assert_true(value == good[i].value);
  }
}

static void system_number_of_garbage_is_an_error(void **state) {
  const struct {
    const char *text;
    int code;
  } bad[] = {
      {"", -EINVAL},
      {"\n", -EINVAL},
      {"\n5\n", -EINVAL},
      {"abc\n", -EINVAL},
      {"12abc\n", -EINVAL},
      {"-\n", -EINVAL},
      {"0x10\n", -EINVAL},
      {"9223372036854775808\n", -ERANGE},
      {"-99999999999999999999999\n", -ERANGE},
  };
  size_t i;

  for (i = 0; i < COUNT_OF(bad); i++) {
    int64_t value = 99;

    make_host_write(PARANOID, bad[i].text);
    assert_int_equal(uvperf__system_number(PARANOID, &value), bad[i].code);
    assert_int_equal(value, 0);
  }
}

static void system_number_of_no_file_is_errno(void **state) {
  char long_path[PATH_MAX + 1];
  int64_t value;

  make_host_write(PARANOID, "2\n");
  memset(long_path, 'a', PATH_MAX);
  long_path[0] = '/';
  long_path[PATH_MAX] = '\0';
  assert_int_equal(uvperf__system_number("/missing", &value), -ENOENT);
  assert_int_equal(uvperf__system_number(PARANOID "/x", &value), -ENOTDIR);
  assert_int_equal(uvperf__system_number("/proc", &value), -EISDIR);
  assert_int_equal(uvperf__system_number(long_path, &value), -ENAMETOOLONG);
}

static void expect_number(const char *path, int64_t expected) {
  int64_t value;

  assert_int_equal(uvperf__system_number(path, &value), 0);
  assert_int_equal(value, expected);
}

static void system_limits_come_each_from_their_file(void **state) {
  make_host_write(PARANOID, "-1\n");
  make_host_write("/proc/sys/kernel/perf_event_mlock_kb", "516\n");
  make_host_write("/proc/sys/kernel/perf_event_max_sample_rate", "100000\n");
  make_host_write("/proc/sys/kernel/perf_event_max_stack", "127\n");
  expect_number(UVPERF__PARANOID, -1);
  expect_number(UVPERF__MLOCK_KB, 516);
  expect_number(UVPERF__MAX_SAMPLE_RATE, 100000);
  expect_number(UVPERF__MAX_STACK, 127);
}

/* Reads a line into so many bytes. */
static void expect_line(const char *key, size_t size, int rc,
                        const char *expected) {
  char text[32];

  assert_int_equal(uvperf__system_line(STATUS, key, text, size), rc);
  assert_string_equal(text, expected);
}

static void system_line_starts_with_key(void **state) {
  make_host_write(STATUS, "Name:\tCap: 1\nCap:\t2\nCap:\t3\n");
  expect_line("Cap:", 32, 0, "\t2");
  expect_line("", 8, 0, "Name:\tC");
  expect_line("Uid:", 32, -ENODATA, "");
}

/* Groups: of /proc/self/status can have 65,536 numbers. The key is put at every
 * place of the long line, so also at the start of each read. */
static void system_line_is_not_found_inside_a_long_line(void **state) {
  char content[4100];
  size_t at;

  for (at = 1; at < 3000; at += 7) {
    memset(content, ' ', 4000);
    memcpy(content + at, "Cap:1", 5);
    strcpy(content + 4000, "\nCap:2\n");
    make_host_write(STATUS, content);
    expect_line("Cap:", 32, 0, "2");
  }
}

/* The line begins at every place around the end of a read, with and without a
 * newline at its end. */
static void system_line_across_reads_is_found(void **state) {
  char content[4200];
  size_t at;

  for (at = 1000; at < 1050; at++) {
    memset(content, ' ', at);
    content[at - 1] = '\n';
    strcpy(content + at, "Cap:\t12345678\n");
    make_host_write(STATUS, content);
    expect_line("Cap:", 32, 0, "\t12345678");
    content[strlen(content) - 1] = '\0';
    make_host_write(STATUS, content);
    expect_line("Cap:", 5, 0, "\t123");
    content[at + 3] = '\0';
    make_host_write(STATUS, content);
    expect_line("Cap:", 32, -ENODATA, "");
  }
}

static void system_is_perfmon_checks_two_bits(void **state) {
  const struct {
    const char *text;
    int has;
  } caps[] = {
      {"CapEff:\t0000000000000000\n", 0}, {"CapEff:\t0000004000000000\n", 1},
      {"CapEff:\t0000000000200000\n", 1}, {"CapEff:\tffffffbfffdfffff\n", 0},
      {"CapEff:\t000001ffffffffff\n", 1}, {"CapPrm:\tffff\n", -ENODATA},
      {"CapEff:\tzzz\n", -EINVAL},
  };
  size_t i;

  assert_int_equal(uvperf__system_is_perfmon(), -ENOENT);
  for (i = 0; i < COUNT_OF(caps); i++) {
    make_host_write(STATUS, caps[i].text);
    assert_int_equal(uvperf__system_is_perfmon(), caps[i].has);
  }
}

static void system_cpu_list_with_ranges_is_read(void **state) {
  const int has[] = {1, 0, 1, 1, 1, 1, 0, 1, 0};
  int cpu;

  make_host_write(ONLINE, "0,2-5,7\n");
  for (cpu = 0; cpu < 9; cpu++)
    assert_int_equal(uvperf__system_has_cpu("online", cpu), has[cpu]);
  assert_int_equal(uvperf__system_online_cpus(), 6);
  assert_int_equal(uvperf__system_has_cpu("possible", 0), -ENOENT);
}

static void system_cpu_list_of_garbage_is_einval(void **state) {
  const char *const bad[] = {"x\n",   "0,\n", "3-1\n",
                             "0;1\n", "-2\n", "0-99999999999\n"};
  size_t i;

  for (i = 0; i < COUNT_OF(bad); i++) {
    make_host_write(ONLINE, bad[i]);
    assert_int_equal(uvperf__system_online_cpus(), -EINVAL);
    assert_int_equal(uvperf__system_has_cpu("online", 0), -EINVAL);
  }
  make_host_write(ONLINE, "\n"); /* no CPU at all cannot be */
  assert_int_equal(uvperf__system_online_cpus(), -EINVAL);
}

/* More CPUs than fit into a terminal line, and none. */
static void system_cpu_list_of_any_length_is_read(void **state) {
  char list[4000] = "0";
  size_t nr = 0;
  int cpu;

  for (cpu = 2; cpu < 1400; cpu += 2)
    sprintf(list + strlen(list), ",%d", cpu);
  make_host_write(ONLINE, list);
  assert_int_equal(uvperf__system_online_cpus(), 700);
  assert_int_equal(uvperf__system_has_cpu("online", 1398), 1);
  make_host_write("/sys/devices/system/cpu/offline", "\n");
  assert_int_equal(uvperf__system_has_cpu("offline", 0), 0);
  assert_int_equal(uvperf__system_cpus("offline", NULL, &nr), 0);
  assert_int_equal(nr, 0);
}

/* In a chroot without /sys. */
static void
system_online_cpus_without_sysfs_are_those_of_proc_stat(void **state) {
  static const char stat[] = "cpu  9 0 9\ncpu0 1 2\ncpu2 1\ncpu3 1\ncpu4 2\n"
                             "cpu10 5 5\ncpu12 1\nintr 3 4\nxcpu13 1\n";
  char text[UVPERF__TEXT_BYTES], many[6000];
  size_t i, length = 0;

  make_host_write("/proc/stat", stat);
  assert_int_equal(uvperf__system_cpu_list("online", text), 0);
  assert_string_equal(text, "0,2-4,10,12");
  assert_int_equal(uvperf__system_has_cpu("online", 3), 1);
  assert_int_equal(uvperf__system_has_cpu("online", 1), 0);
  assert_int_equal(uvperf__system_online_cpus(), 6);
  assert_int_equal(uvperf__system_has_cpu("possible", 0), -ENOENT);
  for (i = 0; i < 400; i++)
    length += (size_t)sprintf(many + length, "cpu%zu 1 2 3\n", i);
  make_host_write("/proc/stat", many);
  assert_int_equal(uvperf__system_cpu_list("online", text), 0);
  assert_string_equal(text, "0-399");
  make_host_write("/proc/stat", "cpu  9 0 9\ncpux\nintr 3 4\n");
  assert_int_equal(uvperf__system_cpu_list("online", text), -ENOENT);
  assert_string_equal(text, "");
  make_host_write("/proc/stat", stat);
  make_host_write(ONLINE, "0-1\n");
  assert_int_equal(uvperf__system_online_cpus(), 2);
}

static void system_text_is_the_whole_file(void **state) {
  char content[UVPERF__TEXT_BYTES + 1], text[UVPERF__TEXT_BYTES];

  make_host_write(STATUS, "a\nb\n");
  assert_int_equal(uvperf__system_text(STATUS, text, sizeof(text)), 0);
  assert_string_equal(text, "a\nb");
  memset(content, 'x', sizeof(content));
  make_host_write_bytes(STATUS, content, UVPERF__TEXT_BYTES - 1);
  assert_int_equal(uvperf__system_text(STATUS, text, sizeof(text)), 0);
  assert_int_equal(strlen(text), UVPERF__TEXT_BYTES - 1);
}

static void system_text_that_cannot_be_read_is_errno(void **state) {
  char content[UVPERF__TEXT_BYTES], text[UVPERF__TEXT_BYTES] = "x";

  assert_int_equal(uvperf__system_text(STATUS, text, sizeof(text)), -ENOENT);
  assert_string_equal(text, "");
  memset(content, 'x', sizeof(content));
  make_host_write_bytes(STATUS, content, sizeof(content));
  assert_int_equal(uvperf__system_text(STATUS, text, sizeof(text)), -EFBIG);
  assert_int_equal(strspn(text, "x"), sizeof(text) - 1);
  assert_int_equal(text[sizeof(text) - 1], '\0');
  make_host_write_bytes(STATUS, "a\0b\n", 4);
  assert_int_equal(uvperf__system_text(STATUS, text, sizeof(text)), -EINVAL);
  assert_string_equal(text, "");
}

static void system_capability_is_a_bit_of_its_own(void **state) {
  int i;

  make_host_write(STATUS, "CapEff:\t0000004000204000\n");
  for (i = 0; i < 64; i++)
    assert_int_equal(uvperf__system_has_capability(i),
                     i == UVPERF__CAP_IPC_LOCK || i == UVPERF__CAP_SYS_ADMIN ||
                         i == UVPERF__CAP_PERFMON);
}

static void system_user_namespace_is_detected_by_its_map(void **state) {
  const struct {
    const char *map;
    int is;
  } maps[] = {
      {"         0          0 4294967295\n", 0},
      {"         0       1000          1\n", 1},
      {"0 0 1\n", 1},
      {"", 1},
      {"?\n", -EINVAL},
  };
  size_t i;

  assert_int_equal(uvperf__system_is_user_namespace(), -ENOENT);
  for (i = 0; i < COUNT_OF(maps); i++) {
    make_host_write(UID_MAP, maps[i].map);
    assert_int_equal(uvperf__system_is_user_namespace(), maps[i].is);
  }
}

static void link_to(const char *path, const char *target) {
  char full[PATH_MAX];

  snprintf(full, sizeof(full), "%s%s", make_host_root(), path);
  unlink(full);
  assert_int_equal(symlink(target, full), 0);
}

static void
system_user_namespace_is_detected_by_its_number_first(void **state) {
  make_host_write("/proc/self/ns/other", "");
  make_host_write(UID_MAP, "0 1000 1\n");
  link_to("/proc/self/ns/user", "user:[4026531837]");
  assert_int_equal(uvperf__system_is_user_namespace(), 0);
  make_host_write(UID_MAP, "0 0 4294967295\n");
  link_to("/proc/self/ns/user", "user:[4026532567]");
  assert_int_equal(uvperf__system_is_user_namespace(), 1);
  link_to("/proc/self/ns/user", "user");
  assert_int_equal(uvperf__system_is_user_namespace(), 0);
}

/* Built without CONFIG_USER_NS. */
static void system_user_namespace_without_kernel_support_is_0(void **state) {
  make_host_write(STATUS, "CapEff:\t0000000000000000\n");
  assert_int_equal(uvperf__system_is_user_namespace(), 0);
}

static void expect_ahead(int clockid, int rc, int64_t expected) {
  int64_t ns = 1;

  assert_int_equal(uvperf__system_clock_ahead(clockid, &ns), rc);
  if (rc == 0)
    assert_int_equal(ns, expected);
}

static void system_clock_is_ahead_in_a_time_namespace(void **state) {
  const struct {
    int clockid;
    int64_t ns;
  } clocks[] = {
      {CLOCK_MONOTONIC, INT64_C(99000000005)},
      {CLOCK_MONOTONIC_RAW, INT64_C(99000000005)},
      {CLOCK_BOOTTIME, INT64_C(-1500000000)},
      {CLOCK_REALTIME, 0},
      {CLOCK_TAI, 0},
  };
  size_t i;

  expect_ahead(CLOCK_MONOTONIC, 0, 0);
  make_host_write("/proc/thread-self/ns/other", "");
  make_host_write("/proc/self/timens_offsets",
                  "monotonic          99         5\n"
                  "boottime           -2 500000000\n");
  link_to("/proc/thread-self/ns/time", "time:[4026532567]");
  link_to("/proc/thread-self/ns/time_for_children", "time:[4026532567]");
  for (i = 0; i < COUNT_OF(clocks); i++) {
    expect_ahead(clocks[i].clockid, 0, clocks[i].ns);
  }
}

/* Those offsets are of the children. */
static void system_clock_after_unshare_is_that_of_before(void **state) {
  make_host_write("/proc/self/timens_offsets", "monotonic 99 5\n");
  make_host_write("/proc/thread-self/ns/other", "");
  link_to("/proc/thread-self/ns/time_for_children", "time:[4026532567]");
  link_to("/proc/thread-self/ns/time", "time:[4026531834]");
  expect_ahead(CLOCK_MONOTONIC, 0, 0);
  link_to("/proc/thread-self/ns/time", "time:[4026532568]");
  expect_ahead(CLOCK_MONOTONIC, -ENODATA, 0);
  /* The first thread has ended. */
  link_to("/proc/thread-self/ns/time", "time:[4026532567]");
  make_host_write("/proc/self/timens_offsets", "");
  expect_ahead(CLOCK_MONOTONIC, -ENODATA, 0);
}

static void system_kernel_is_of_two_numbers(void **state) {
  unsigned int major, minor;

  assert_int_equal(uvperf__system_kernel(&major, &minor), -ENOENT);
  make_host_write(RELEASE, "5.10.0-9-amd64\n");
  assert_int_equal(uvperf__system_kernel(&major, &minor), 0);
  assert_int_equal(major, 5);
  assert_int_equal(minor, 10);
  make_host_write(RELEASE, "5\n");
  assert_int_equal(uvperf__system_kernel(&major, &minor), -EINVAL);
}

static void system_is_before_compares_both_numbers(void **state) {
  assert_int_equal(uvperf__system_is_before(1, 0), -ENOENT);
  make_host_write(RELEASE, "5.10.0-9-amd64\n");
  assert_int_equal(uvperf__system_is_before(5, 10), 0);
  assert_int_equal(uvperf__system_is_before(5, 11), 1);
  assert_int_equal(uvperf__system_is_before(5, 9), 0);
  assert_int_equal(uvperf__system_is_before(6, 0), 1);
  assert_int_equal(uvperf__system_is_before(4, 19), 0);
  make_host_write(RELEASE, "unknown\n");
  assert_int_equal(uvperf__system_is_before(4, 19), -EINVAL);
}

static void thread_of_real_root(void *arg) {
  *(int *)arg = uvperf__system_thread() == (int)syscall(SYS_gettid);
}

static void system_thread_is_the_callers(void **state) {
  uv_thread_t thread;
  int right = 0;

  assert_int_equal(uvperf__system_thread(), -ENOENT);
  fake_host_set(NULL);
  assert_int_equal(uvperf__system_thread(), getpid());
  assert_int_equal(uv_thread_create(&thread, thread_of_real_root, &right), 0);
  assert_int_equal(uv_thread_join(&thread), 0);
  assert_int_equal(right, 1);
}

static void system_of_real_root_agrees_with_system_calls(void **state) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct caps[2];
  int64_t level;
  int has;

  assert_int_equal(syscall(SYS_capget, &header, caps), 0);
  has = (caps[0].effective >> 21 & 1) || (caps[1].effective >> 6 & 1);
  assert_int_equal(uvperf__system_is_perfmon(),
                   has && uvperf__system_is_user_namespace() == 0);
  assert_int_equal(uvperf__system_online_cpus(), sysconf(_SC_NPROCESSORS_ONLN));
  assert_int_equal(uvperf__system_has_cpu("possible", 60000), 0);
  assert_int_equal(uvperf__system_number(UVPERF__PARANOID, &level), 0);
  assert_in_range(level + 1, 0, 5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      MAKE_HOST_TEST(system_number_reads_first_line),
      MAKE_HOST_TEST(system_number_of_garbage_is_an_error),
      MAKE_HOST_TEST(system_number_of_no_file_is_errno),
      MAKE_HOST_TEST(system_limits_come_each_from_their_file),
      MAKE_HOST_TEST(system_line_starts_with_key),
      MAKE_HOST_TEST(system_line_is_not_found_inside_a_long_line),
      MAKE_HOST_TEST(system_line_across_reads_is_found),
      MAKE_HOST_TEST(system_is_perfmon_checks_two_bits),
      MAKE_HOST_TEST(system_cpu_list_with_ranges_is_read),
      MAKE_HOST_TEST(system_cpu_list_of_garbage_is_einval),
      MAKE_HOST_TEST(system_cpu_list_of_any_length_is_read),
      MAKE_HOST_TEST(system_online_cpus_without_sysfs_are_those_of_proc_stat),
      MAKE_HOST_TEST(system_text_is_the_whole_file),
      MAKE_HOST_TEST(system_text_that_cannot_be_read_is_errno),
      MAKE_HOST_TEST(system_capability_is_a_bit_of_its_own),
      MAKE_HOST_TEST(system_user_namespace_is_detected_by_its_map),
      MAKE_HOST_TEST(system_user_namespace_is_detected_by_its_number_first),
      MAKE_HOST_TEST(system_clock_is_ahead_in_a_time_namespace),
      MAKE_HOST_TEST(system_clock_after_unshare_is_that_of_before),
      MAKE_HOST_TEST(system_user_namespace_without_kernel_support_is_0),
      MAKE_HOST_TEST(system_kernel_is_of_two_numbers),
      MAKE_HOST_TEST(system_is_before_compares_both_numbers),
      MAKE_HOST_TEST(system_thread_is_the_callers),
      cmocka_unit_test(system_of_real_root_agrees_with_system_calls),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
