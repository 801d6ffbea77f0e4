/* SPDX-License-Identifier: MIT */
/* Limits below a scripted root, and those of this process compared with what
 * the test finds itself. */
#include "support.h"
#include "make_host.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <linux/capability.h>

#include "host/system.h"

#define KERNEL  "/proc/sys/kernel/"
#define STATUS  "/proc/self/status"
#define LIMITS  "/proc/self/limits"
#define UID_MAP "/proc/self/uid_map"
#define INITIAL "         0          0 4294967295\n"

/* -- under a scripted root ------------------------------------------------ */

static uvperf_limits_t limits;

/* Nothing is known until a test sets it. */
static uvperf_limits_t unknown(void) {
  int64_t values[sizeof(limits) / sizeof(int64_t)];
  size_t i;

  for (i = 0; i < sizeof(limits) / sizeof(int64_t); i++)
    values[i] = UVPERF_LIMIT_UNKNOWN;
  memcpy(&limits, values, sizeof(limits));
  return limits;
}

/* The struct is nothing but numbers. */
static void expect(const uvperf_limits_t *expected) {
  memset(&limits, 0, sizeof(limits));
  uvperf_system_limits(&limits);
  assert_memory_equal(&limits, expected, sizeof(limits));
}

static void limits_of_sysctl_come_each_from_its_file(void **state) {
  uvperf_limits_t expected = unknown();

  make_host_write(KERNEL "perf_event_paranoid", "-1\n");
  make_host_write(KERNEL "perf_event_mlock_kb", "516\n");
  make_host_write(KERNEL "perf_event_max_sample_rate", "50000\n");
  make_host_write(KERNEL "perf_event_max_stack", "127\n");
  make_host_write(KERNEL "perf_event_max_contexts_per_stack", "8\n");
  make_host_write(KERNEL "perf_cpu_time_max_percent", "25\n");
  make_host_write(KERNEL "nmi_watchdog", "1\n");
  make_host_write(KERNEL "kptr_restrict", "2\n");
  make_host_write(KERNEL "osrelease", "6.18.0-rc1\n");
  make_host_write("/proc/sys/fs/file-max", "99999\n");
  expected.has_perf = 1;
  expected.perf_event_paranoid = -1;
  expected.perf_event_mlock_kb = 516;
  expected.perf_event_max_sample_rate = 50000;
  expected.perf_event_max_stack = 127;
  expected.perf_event_max_contexts_per_stack = 8;
  expected.perf_cpu_time_max_percent = 25;
  expected.nmi_watchdog = 1;
  expected.kptr_restrict = 2;
  expected.kernel_major = 6;
  expected.kernel_minor = 18;
  expected.file_max = 99999;
  expect(&expected);
}

static void limits_of_capabilities_are_a_bit_each(void **state) {
  uvperf_limits_t expected = unknown();

  make_host_write(UID_MAP, INITIAL);
  make_host_write(STATUS, "CapEff:\t0000004400004000\n");
  expected.is_user_namespace = 0;
  expected.has_perfmon = 1;
  expected.cap_perfmon = expected.cap_syslog = expected.cap_ipc_lock = 1;
  expected.cap_bpf = expected.cap_sys_admin = expected.cap_sys_ptrace = 0;
  expect(&expected);
  make_host_write(UID_MAP, "0 1000 1\n");
  make_host_write(STATUS, "CapEff:\t0000008000280000\n");
  expected.is_user_namespace = 1;
  expected.has_perfmon = 0;
  expected.cap_perfmon = expected.cap_syslog = expected.cap_ipc_lock = 0;
  expected.cap_bpf = expected.cap_sys_admin = expected.cap_sys_ptrace = 1;
  expect(&expected);
}

static void limits_of_the_process_are_soft_and_hard(void **state) {
  uvperf_limits_t expected = unknown();

  make_host_write(LIMITS,
                  "Limit                     Soft Limit  Hard Limit  Units\n"
                  "Max open files            1024        4096        files\n"
                  "Max locked memory         8192        unlimited   bytes\n");
  expected.open_files = 1024;
  expected.open_files_max = 4096;
  expected.memlock_bytes = 8192;
  expected.memlock_bytes_max = UVPERF_LIMIT_NONE;
  expect(&expected);
  make_host_write(LIMITS,
                  "Max open files  9223372036854775806 9223372036854775807\n"
                  "Max locked memory  18446744073709551614 0 bytes\n");
  expected.open_files = INT64_MAX - 1;
  expected.open_files_max = UVPERF_LIMIT_NONE;
  expected.memlock_bytes = UVPERF_LIMIT_NONE;
  expected.memlock_bytes_max = 0;
  expect(&expected);
}

static void limits_of_garbage_are_unknown(void **state) {
  uvperf_limits_t expected = unknown();

  expect(&expected);
  make_host_write(KERNEL "perf_event_paranoid", "low\n");
  make_host_write(KERNEL "perf_event_mlock_kb", "\n");
  make_host_write(KERNEL "nmi_watchdog/is/a/directory", "");
  make_host_write(KERNEL "osrelease", "five\n");
  make_host_write(UID_MAP, "?\n");
  make_host_write(STATUS, "Name:\tx\n");
  make_host_write(LIMITS, "Max open files\nMax locked memory -1 unlim\n");
  expect(&expected);
  make_host_write(LIMITS, "Max open files 12x unlimited_\n");
  expect(&expected);
}

static void limits_of_a_kernel_without_perf_say_so(void **state) {
  uvperf_limits_t expected = unknown();

  make_host_write(KERNEL "osrelease", "5.4\n");
  expected.has_perf = 0;
  expected.kernel_major = 5;
  expected.kernel_minor = 4;
  expect(&expected);
  make_host_write(KERNEL "perf_event_paranoid", "low\n");
  expected.has_perf = UVPERF_LIMIT_UNKNOWN;
  expect(&expected);
}

static void perfmon_counts_in_the_initial_namespace_only(void **state) {
  assert_int_equal(uvperf__system_is_perfmon(), -ENOENT);
  make_host_write(STATUS, "CapEff:\t0000004000000000\n");
  make_host_write(UID_MAP, INITIAL);
  assert_int_equal(uvperf__system_is_perfmon(), 1);
  make_host_write(UID_MAP, "0 1000 1\n");
  assert_int_equal(uvperf__system_is_perfmon(), 0);
  make_host_write(UID_MAP, "?\n");
  assert_int_equal(uvperf__system_is_perfmon(), -EINVAL);
  make_host_write(STATUS, "CapEff:\t0000000000000000\n");
  assert_int_equal(uvperf__system_is_perfmon(), 0);
}

/* -- of this process ------------------------------------------------------ */

static void limits_null_is_einval(void **state) {
  assert_int_equal(uvperf_system_limits(NULL), -EINVAL);
}

static int64_t read_number(const char *path) {
  FILE *file = fopen(path, "re");
  long long value;
  int nr;

  if (file == NULL)
    return UVPERF_LIMIT_UNKNOWN;
  nr = fscanf(file, "%lld", &value);
  fclose(file);
  return nr == 1 ? value : UVPERF_LIMIT_UNKNOWN;
}

/* perf_event_max_sample_rate is left out, because the kernel sometimes lowers
 * it. */
static void limits_of_this_system_are_its_files(void **state) {
  struct utsname name;
  char version[64];

  assert_int_equal(uvperf_system_limits(&limits), 0);
  assert_true(limits.has_perf ==
              (access(KERNEL "perf_event_paranoid", F_OK) == 0));
  assert_true(limits.perf_event_paranoid ==
              read_number(KERNEL "perf_event_paranoid"));
  assert_true(limits.perf_event_mlock_kb ==
              read_number(KERNEL "perf_event_mlock_kb"));
  assert_true(limits.perf_event_max_contexts_per_stack ==
              read_number(KERNEL "perf_event_max_contexts_per_stack"));
  assert_true(limits.kptr_restrict == read_number(KERNEL "kptr_restrict"));
  assert_true(limits.file_max == read_number("/proc/sys/fs/file-max"));
  assert_int_equal(uname(&name), 0);
  snprintf(version, sizeof(version), "%lld.%lld",
           (long long)limits.kernel_major, (long long)limits.kernel_minor);
  assert_memory_equal(name.release, version, strlen(version));
}

static int64_t of_rlimit(rlim_t value) {
  return value == RLIM_INFINITY ? UVPERF_LIMIT_NONE : (int64_t)value;
}

static void limits_of_this_process_equal_getrlimit(void **state) {
  struct rlimit files, memory, lower;

  assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
  assert_int_equal(getrlimit(RLIMIT_MEMLOCK, &memory), 0);
  lower = memory;
  lower.rlim_cur = 4096;
  assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &lower), 0);
  assert_int_equal(uvperf_system_limits(&limits), 0);
  assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &memory), 0);
  assert_true(limits.memlock_bytes == 4096);
  assert_true(limits.memlock_bytes_max == of_rlimit(memory.rlim_max));
  assert_true(limits.open_files == of_rlimit(files.rlim_cur));
  assert_true(limits.open_files_max == of_rlimit(files.rlim_max));
}

static int64_t has(int capability) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct caps[2];

  assert_int_equal(syscall(SYS_capget, &header, caps), 0);
  return caps[capability / 32].effective >> capability % 32 & 1;
}

static void limits_of_this_process_have_its_capabilities(void **state) {
  assert_int_equal(uvperf_system_limits(&limits), 0);
  assert_true(limits.cap_perfmon == has(38));
  assert_true(limits.cap_sys_admin == has(CAP_SYS_ADMIN));
  assert_true(limits.cap_ipc_lock == has(CAP_IPC_LOCK));
  assert_true(limits.cap_bpf == has(39));
  assert_true(limits.cap_syslog == has(CAP_SYSLOG));
  assert_true(limits.cap_sys_ptrace == has(CAP_SYS_PTRACE));
  assert_int_equal(limits.has_perfmon, limits.is_user_namespace == 0 &&
                                           (has(38) || has(CAP_SYS_ADMIN)));
}

/* -- in a user namespace -------------------------------------------------- */

/* Two pipes, by which a child asks for the map of the initial namespace. */
typedef struct namespace_s {
  int is_ready[2];
  int go_on[2];
} namespace_t;

/* The exit status says which check failed. */
static int look_in_namespace(void *arg) {
  const namespace_t *pipes = arg;
  char byte = '!';

  if (unshare(CLONE_NEWUSER) != 0)
    byte = '?';
  if (write(pipes->is_ready[1], &byte, 1) != 1 || byte == '?')
    return 77;
  if (read(pipes->go_on[0], &byte, 1) != 1)
    return 1;
  if (uvperf_system_limits(&limits) != 0 || limits.is_user_namespace != 1)
    return 2;
  if (limits.cap_sys_admin != 1)
    return 3;
  return limits.has_perfmon != 0 ? 4 : 0;
}

/* This needs CAP_SETUID outside of the namespace. */
static void give_initial_map(pid_t pid) {
  char path[64];
  int fd;

  snprintf(path, sizeof(path), "/proc/%d/uid_map", (int)pid);
  fd = open(path, O_WRONLY | O_CLOEXEC);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, "0 0 4294967295", 14), 14);
  close(fd);
}

static void live_user_namespace_is_detected_with_any_map(void **state) {
  namespace_t pipes;
  char byte = '?';
  int status;
  pid_t pid;

  support_need_root(__func__);
  assert_int_equal(pipe2(pipes.is_ready, O_CLOEXEC), 0);
  assert_int_equal(pipe2(pipes.go_on, O_CLOEXEC), 0);
  pid = support_fork(look_in_namespace, &pipes);
  assert_int_equal(read(pipes.is_ready[0], &byte, 1), 1);
  if (byte == '!')
    give_initial_map(pid);
  assert_int_equal(write(pipes.go_on[1], &byte, 1), 1);
  status = support_wait(pid);
  close(pipes.is_ready[0]);
  close(pipes.is_ready[1]);
  close(pipes.go_on[0]);
  close(pipes.go_on[1]);
  if (status == 77)
    support_skip(__func__, "user namespaces, which a chroot does not have");
  assert_int_equal(status, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      MAKE_HOST_TEST(limits_of_sysctl_come_each_from_its_file),
      MAKE_HOST_TEST(limits_of_capabilities_are_a_bit_each),
      MAKE_HOST_TEST(limits_of_the_process_are_soft_and_hard),
      MAKE_HOST_TEST(limits_of_garbage_are_unknown),
      MAKE_HOST_TEST(limits_of_a_kernel_without_perf_say_so),
      MAKE_HOST_TEST(perfmon_counts_in_the_initial_namespace_only),
      cmocka_unit_test(limits_null_is_einval),
      cmocka_unit_test(limits_of_this_system_are_its_files),
      cmocka_unit_test(limits_of_this_process_equal_getrlimit),
      cmocka_unit_test(limits_of_this_process_have_its_capabilities),
      cmocka_unit_test(live_user_namespace_is_detected_with_any_map),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
