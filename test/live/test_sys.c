/* SPDX-License-Identifier: MIT */
/* The system calls, against the real kernel: each gives a result or -errno. */
#include "support.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>

#include "fake_kernel.h"
#include "sys/sys.h"
#include "uvperf/attr.h"

static struct perf_event_attr task_clock(void) {
  struct perf_event_attr attr;

  uvperf_attr_software(&attr, PERF_COUNT_SW_TASK_CLOCK);
  attr.exclude_kernel = 1;
  return attr;
}

static int open_task_clock(void) {
  struct perf_event_attr attr = task_clock();
  int fd;

  fd = uvperf__sys_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  assert_true(fd >= 0);
  return fd;
}

static void open_of_unknown_fields_is_e2big_and_returns_the_size(void **state) {
  union {
    struct perf_event_attr attr;
    uint8_t bytes[4096];
  } large;

  support_need_own_events(__func__);
  memset(&large, 0, sizeof(large));
  large.attr = task_clock();
  large.attr.size = sizeof(large);
  large.bytes[sizeof(large) - 1] = 1;
  assert_int_equal(uvperf__sys_open(&large.attr, 0, -1, -1, 0), -E2BIG);
  /* From Linux 5.10, whose struct has 120 bytes, to long after today. */
  assert_in_range(large.attr.size, 120, 1024);
}

/* Answers the first perf_event_open of another thread by EINTR and lets the
 * second pass. */
static void interrupt_once(void *arg) {
  struct seccomp_notif_resp answer;
  struct seccomp_notif call;
  int listener = *(int *)arg;
  int turn;

  for (turn = 0; turn < 2; turn++) {
    memset(&call, 0, sizeof(call));
    memset(&answer, 0, sizeof(answer));
    if (syscall(SYS_ioctl, listener, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0)
      abort();
    answer.id = call.id;
    answer.error = turn == 0 ? -EINTR : 0;
    answer.flags = turn == 0 ? 0 : (uint32_t)SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    if (syscall(SYS_ioctl, listener, SECCOMP_IOCTL_NOTIF_SEND, &answer) != 0)
      abort();
  }
}

/* A listener for the calls of perf_event_open by this thread, or -1. */
static int listen_for_open(void) {
  struct sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {4, steps};

  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return -1;
  return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                      SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
}

/* 0; 1 and 2 are failures, 77 is a kernel without listeners. */
static int open_with_an_interrupt(void *arg) {
  struct perf_event_attr attr = task_clock();
  uv_thread_t thread;
  int listener = listen_for_open();

  if (listener < 0)
    return 77;
  /* A thread that is made now has the filter too, but opens nothing. */
  if (uv_thread_create(&thread, interrupt_once, &listener) != 0)
    return 1;
  if (uvperf__sys_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC) < 0)
    return 2;
  return uv_thread_join(&thread) != 0;
}

static void open_interrupted_by_a_signal_is_made_again(void **state) {
  int rc;

  support_need_own_events(__func__);
  rc = support_wait(support_fork(open_with_an_interrupt, NULL));
  if (rc == 77)
    support_skip(__func__, "seccomp listeners");
  assert_int_equal(rc, 0);
}

static int is_wiped(void *arg) {
  const uint8_t *memory = arg;

  return *memory == 0 ? 0 : 1;
}

static void mmap_private_maps_memory_that_a_fork_can_wipe(void **state) {
  size_t bytes = support_page_bytes();
  void *address = NULL;
  uint8_t *memory;

  assert_int_equal(uvperf__sys_mmap_private(&address, 0), -EINVAL);
  assert_null(address);
  assert_int_equal(uvperf__sys_mmap_private(&address, bytes), 0);
  memory = address;
  assert_int_equal(*memory, 0);
  *memory = 1;
  assert_int_equal(support_wait(support_fork(is_wiped, memory)), 1);
  assert_int_equal(uvperf__sys_madvise(memory, bytes, MADV_WIPEONFORK), 0);
  assert_int_equal(support_wait(support_fork(is_wiped, memory)), 0);
  assert_int_equal(*memory, 1);
  assert_int_equal(uvperf__sys_madvise(memory, bytes, 12345), -EINVAL);
  assert_int_equal(uvperf__sys_munmap(memory, bytes), 0);
  fake_assert_clean();
}

/* poll(2): EINVAL for more fds than RLIMIT_NOFILE allows. */
static int poll_without_fds(void *arg) {
  const struct rlimit none = {0, 0};

  if (setrlimit(RLIMIT_NOFILE, &none) != 0)
    return 1;
  return uvperf__sys_poll(0, POLLIN) == -EINVAL ? 0 : 2;
}

static void poll_that_fails_returns_the_errno(void **state) {
  assert_int_equal(support_wait(support_fork(poll_without_fds, NULL)), 0);
}

static void read_returns_bytes_or_the_errno(void **state) {
  uint64_t count = UINT64_MAX;
  int fd;

  support_need_own_events(__func__);
  assert_int_equal(uvperf__sys_read(-1, &count, sizeof(count)), -EBADF);
  fd = open_task_clock();
  assert_int_equal(uvperf__sys_read(fd, &count, 4), -ENOSPC);
  assert_true(count == UINT64_MAX);
  assert_int_equal(uvperf__sys_read(fd, &count, sizeof(count)), sizeof(count));
  assert_true(count != UINT64_MAX);
  assert_int_equal(uvperf__sys_close(fd), 0);
}

static int has_another_pid(void *arg) {
  const pid_t *parent = arg;

  return uvperf__sys_getpid() == getpid() && getpid() != *parent ? 0 : 1;
}

static void getpid_of_a_forked_child_is_its_own(void **state) {
  pid_t parent = uvperf__sys_getpid();

  assert_int_equal(parent, getpid());
  assert_int_equal(support_wait(support_fork(has_another_pid, &parent)), 0);
}

static int has_another_thread(void *arg) {
  const int *parent = arg;
  int thread = uvperf__sys_thread();

  return thread != 0 && thread != *parent ? 0 : 1;
}

static void note_thread(void *arg) {
  *(int *)arg = uvperf__sys_thread();
}

static void thread_is_another_in_a_forked_child_and_in_a_thread(void **state) {
  int mine = uvperf__sys_thread();
  uv_thread_t thread;
  int other = 0;

  assert_int_not_equal(mine, 0);
  assert_int_equal(uvperf__sys_thread(), mine);
  assert_int_equal(support_wait(support_fork(has_another_thread, &mine)), 0);
  assert_int_equal(uv_thread_create(&thread, note_thread, &other), 0);
  uv_thread_join(&thread);
  assert_int_not_equal(other, 0);
  assert_int_not_equal(other, mine);
  assert_int_equal(uvperf__sys_thread(), mine);
}

static void note_gettid(void *arg) {
  *(pid_t *)arg = uvperf__sys_gettid();
}

static void gettid_is_of_the_calling_thread(void **state) {
  uv_thread_t thread;
  pid_t other = 0;

  assert_int_equal(uvperf__sys_gettid(), getpid());
  assert_int_equal(uv_thread_create(&thread, note_gettid, &other), 0);
  assert_int_equal(uv_thread_join(&thread), 0);
  assert_true(other > 0);
  assert_int_not_equal(other, getpid());
}

static int end_at_once(void *arg) {
  return 0;
}

static void has_task_until_it_was_waited_for(void **state) {
  siginfo_t info;
  pid_t child;

  assert_int_equal(uvperf__sys_has_task(-1, uvperf__sys_gettid()), 0);
  assert_int_equal(uvperf__sys_has_task(getpid(), uvperf__sys_gettid()), 0);
  assert_int_equal(uvperf__sys_has_task(getppid(), uvperf__sys_gettid()),
                   -ESRCH);
  child = support_fork(end_at_once, NULL);
  assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
  assert_int_equal(uvperf__sys_has_task(-1, child), 0);
  assert_int_equal(support_wait(child), 0);
  assert_int_equal(uvperf__sys_has_task(-1, child), -ESRCH);
}

static int look_as_nobody(void *arg) {
  if (setresuid(65534, 65534, 65534) != 0)
    return 1;
  return uvperf__sys_has_task(-1, getppid()) == -EPERM ? 0 : 2;
}

static void has_task_of_another_user_is_eperm(void **state) {
  support_need_root(__func__);
  assert_int_equal(support_wait(support_fork(look_as_nobody, NULL)), 0);
}

/* -- membarrier ----------------------------------------------------------- */

static void membarrier_is_0_or_einval_if_a_cpu_is_nohz_full(void **state) {
  int rc = uvperf__sys_membarrier();

  if (access("/sys/devices/system/cpu/nohz_full", R_OK) != 0)
    assert_int_equal(rc, 0);
  else
    assert_true(rc == 0 || rc == -EINVAL);
}

static int membarrier_below_a_filter(void *arg) {
  struct sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {4, steps};

  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0)
    return 1;
  return uvperf__sys_membarrier() == -ENOSYS ? 0 : 2;
}

static void membarrier_that_is_filtered_returns_the_errno(void **state) {
  assert_int_equal(support_wait(support_fork(membarrier_below_a_filter, NULL)),
                   0);
}

/* -- uevents -------------------------------------------------------------- */

/* The next one that names this device: its size, and whether the kernel sent
 * it. */
static ssize_t wait_uevent(int fd, const char *device, int *from_kernel) {
  struct pollfd pfd = {fd, POLLIN, 0};
  char text[256];
  ssize_t size;

  for (;;) {
    assert_int_equal(poll(&pfd, 1, 20000), 1);
    size = uvperf__sys_uevents_read(fd, text, sizeof(text) - 1, from_kernel);
    assert_true(size >= 0);
    text[size] = '\0';
    if (strstr(text, device) != NULL)
      return size;
  }
}

static void uevents_of_the_kernel_differ_from_a_processes(void **state) {
  static const char forged[] = "online@/devices/system/cpu/cpu-forged";
  struct sockaddr_nl address;
  socklen_t length = sizeof(address);
  int from_kernel = -1;
  char byte;
  int fd, null;

  support_need_admin(__func__); /* with CAP_NET_ADMIN, to send them */
  null = open("/sys/devices/virtual/mem/null/uevent", O_WRONLY | O_CLOEXEC);
  if (null < 0)
    support_skip(__func__, "sysfs that can be written");
  fd = uvperf__sys_uevents_open();
  assert_true(fd >= 0);
  assert_int_equal(uvperf__sys_uevents_read(fd, &byte, 1, &from_kernel),
                   -EAGAIN);
  assert_int_equal(from_kernel, 0);
  assert_int_equal(write(null, "change", 6), 6);
  wait_uevent(fd, "change@/devices/virtual/mem/null", &from_kernel);
  assert_int_equal(from_kernel, 1);
  assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &length), 0);
  address.nl_groups = 0;
  assert_int_equal(sendto(fd, forged, sizeof(forged), 0,
                          (const struct sockaddr *)&address, length),
                   sizeof(forged));
  assert_int_equal(wait_uevent(fd, "cpu-forged", &from_kernel), sizeof(forged));
  assert_int_equal(from_kernel, 0);
  close(null);
  close(fd);
}

static void uevents_without_an_fd_left_are_emfile(void **state) {
  struct rlimit old, none;

  assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
  none = old;
  none.rlim_cur = 0;
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
  assert_int_equal(uvperf__sys_uevents_open(), -EMFILE);
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(
          open_of_unknown_fields_is_e2big_and_returns_the_size,
          fake_kernel_setup),
      cmocka_unit_test(open_interrupted_by_a_signal_is_made_again),
      cmocka_unit_test_setup(mmap_private_maps_memory_that_a_fork_can_wipe,
                             fake_kernel_setup),
      cmocka_unit_test_setup(poll_that_fails_returns_the_errno,
                             fake_kernel_setup),
      cmocka_unit_test_setup(read_returns_bytes_or_the_errno,
                             fake_kernel_setup),
      cmocka_unit_test_setup(getpid_of_a_forked_child_is_its_own,
                             fake_kernel_setup),
      cmocka_unit_test_setup(
          thread_is_another_in_a_forked_child_and_in_a_thread,
          fake_kernel_setup),
      cmocka_unit_test_setup(gettid_is_of_the_calling_thread,
                             fake_kernel_setup),
      cmocka_unit_test_setup(has_task_until_it_was_waited_for,
                             fake_kernel_setup),
      cmocka_unit_test_setup(has_task_of_another_user_is_eperm,
                             fake_kernel_setup),
      cmocka_unit_test_setup(membarrier_is_0_or_einval_if_a_cpu_is_nohz_full,
                             fake_kernel_setup),
      cmocka_unit_test_setup(membarrier_that_is_filtered_returns_the_errno,
                             fake_kernel_setup),
      cmocka_unit_test(uevents_of_the_kernel_differ_from_a_processes),
      cmocka_unit_test(uevents_without_an_fd_left_are_emfile),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
