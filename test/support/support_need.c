/* SPDX-License-Identifier: MIT */
/* Checks for what live tests need. They call the kernel themselves, so that
 * neither the library nor a scripted kernel decides which tests skip. */
#include "support.h"

#include <limits.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/capability.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>

void support_skip(const char *test, const char *what) {
  printf("skipped: %s: needs %s\n", test, what);
  fflush(stdout);
  skip();
}

static struct perf_event_attr software(uint64_t config) {
  struct perf_event_attr attr;

  memset(&attr, 0, sizeof(attr));
  attr.size = sizeof(attr);
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = config;
  attr.disabled = 1;
  return attr;
}

/* Only errors that mean "not allowed" or "not available" may skip. */
static int is_missing(int code) {
  return code == EACCES || code == EPERM || code == ENOSYS || code == ENOENT ||
         code == ENODEV || code == EOPNOTSUPP;
}

static void probe(const char *test, struct perf_event_attr *attr, pid_t pid,
                  int cpu, const char *what) {
  int code;
  int fd;

  fd = (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1,
                    PERF_FLAG_FD_CLOEXEC);
  code = errno;
  if (fd >= 0)
    close(fd);
  else if (is_missing(code))
    support_skip(test, what);
  else
    fail_msg("probe for %s: %s", what, strerror(code));
}

void support_need_own_events(const char *test) {
  struct perf_event_attr attr;

  attr = software(PERF_COUNT_SW_DUMMY);
  attr.exclude_kernel = 1;
  attr.exclude_hv = 1;
  probe(test, &attr, 0, -1, "events of its own tasks");
}

void support_need_kernel_side(const char *test) {
  struct perf_event_attr attr;

  attr = software(PERF_COUNT_SW_DUMMY);
  probe(test, &attr, 0, -1, "events of the kernel side");
}

void support_need_cpu_wide(const char *test) {
  struct perf_event_attr attr;

  attr = software(PERF_COUNT_SW_DUMMY);
  probe(test, &attr, -1, 0, "events of every task on a CPU");
}

/* Whether two breakpoints on one word both count a write. QEMU's x86 reports
 * only one of them to the kernel. */
static int writes_are_counted(struct perf_event_attr *attr,
                              volatile unsigned long *watched) {
  uint64_t counts[2] = {0, 0};
  int fds[2];
  size_t i;

  attr->disabled = 0;
  for (i = 0; i < 2; i++)
    fds[i] = (int)syscall(SYS_perf_event_open, attr, 0, -1, -1, 0);
  *watched = 1;
  for (i = 0; i < 2; i++) {
    if (read(fds[i], &counts[i], sizeof(counts[i])) != sizeof(counts[i]))
      counts[i] = 0;
    close(fds[i]);
  }
  return counts[0] == 1 && counts[1] == 1;
}

#if defined(__arm__)
/* QEMU does not step over breakpoints of 32-bit ARM: the write never completes.
 * So there a child tries it; elsewhere not, because a fork causes further page
 * faults, which tests count. */
static int try_breakpoints(struct perf_event_attr *attr,
                           volatile unsigned long *watched) {
  pid_t pid = fork();
  int status;

  assert_true(pid >= 0);
  if (pid == 0) {
    alarm(2);
    _exit(!writes_are_counted(attr, watched));
  }
  assert_int_equal(waitpid(pid, &status, 0), pid);
  return status == 0;
}
#else
#define try_breakpoints writes_are_counted
#endif

void support_need_breakpoints(const char *test) {
  static volatile unsigned long watched;
  static int counts; /* 1: they do, -1: they do not */
  struct perf_event_attr attr;

  attr = software(0);
  attr.type = PERF_TYPE_BREAKPOINT;
  attr.bp_type = HW_BREAKPOINT_W;
  attr.bp_addr = (uintptr_t)&watched;
  attr.bp_len = sizeof(watched);
  attr.exclude_kernel = 1;
  attr.exclude_hv = 1;
  probe(test, &attr, 0, -1, "breakpoints");
  if (counts == 0)
    counts = try_breakpoints(&attr, &watched) ? 1 : -1;
  if (counts < 0)
    support_skip(test, "breakpoints that count");
}

void support_need_hardware(const char *test, uint64_t config,
                           uint64_t sample_period) {
  struct perf_event_attr attr;

  attr = software(config);
  attr.type = PERF_TYPE_HARDWARE;
  attr.exclude_kernel = 1;
  attr.exclude_hv = 1;
  probe(test, &attr, 0, -1, "a hardware PMU");
  attr.sample_period = sample_period;
  if (sample_period != 0)
    probe(test, &attr, 0, -1, "a hardware PMU with interrupts");
}

static int read_id(const char *tracefs, const char *name, uint64_t *id) {
  unsigned long long value;
  char path[256];
  char *colon;
  FILE *file;
  int found;

  snprintf(path, sizeof(path), "%s/events/%s/id", tracefs, name);
  colon = strchr(path, ':');
  assert_non_null(colon);
  *colon = '/';
  file = fopen(path, "r");
  if (file == NULL)
    return 0;
  found = fscanf(file, "%llu", &value) == 1;
  fclose(file);
  if (found)
    *id = value;
  return found;
}

uint64_t support_need_tracefs(const char *test, const char *name) {
  char what[128];
  uint64_t id;

  id = 0;
  if (!read_id("/sys/kernel/tracing", name, &id) &&
      !read_id("/sys/kernel/debug/tracing", name, &id)) {
    snprintf(what, sizeof(what), "a readable tracefs with %s", name);
    support_skip(test, what);
  }
  return id;
}

uint64_t support_need_tracepoint(const char *test, const char *name) {
  uint64_t id;

  support_need_own_events(test);
  id = support_need_tracefs(test, name);
  /* Root of a user namespace may read tracefs. */
  support_need_kernel_side(test);
  return id;
}

/* perf_uprobe_event_init checks the privilege before the file. */
void support_need_uprobes(const char *test) {
  struct perf_event_attr attr = software(0);
  FILE *file = fopen("/sys/bus/event_source/devices/uprobe/type", "re");
  int found = file != NULL && fscanf(file, "%u", &attr.type) == 1;

  if (file != NULL)
    fclose(file);
  if (!found)
    support_skip(test, "the uprobe PMU");
  attr.config1 = (uintptr_t) "/nonexistent";
  assert_int_equal(syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0), -1);
  if (errno != ENOENT)
    support_skip(test, "the right to uprobes");
}

/* USER_NS_INIT_INO in <linux/nsfs.h>; kernels without user namespaces have no
 * link. */
int support_is_in_user_namespace(void) {
  char link[64];
  ssize_t size = readlink("/proc/self/ns/user", link, sizeof(link) - 1);

  if (size < 0)
    return 0;
  link[size] = '\0';
  return strcmp(link, "user:[4026531837]") != 0;
}

void support_need_root(const char *test) {
  if (geteuid() != 0)
    support_skip(test, "root");
  if (support_is_in_user_namespace())
    support_skip(test, "root outside of user namespaces");
}

void support_need_admin(const char *test) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct caps[2];

  support_need_root(test);
  assert_int_equal(syscall(SYS_capget, &header, caps), 0);
  if (!(caps[0].effective & 1U << CAP_SYS_ADMIN))
    support_skip(test, "CAP_SYS_ADMIN");
}

void support_need_public_build(const char *test) {
  char path[PATH_MAX];
  ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);
  struct stat info;
  char *slash;

  assert_true(size > 0);
  path[size] = '\0';
  while ((slash = strrchr(path, '/')) != NULL && slash != path) {
    *slash = '\0';
    if (stat(path, &info) != 0 || (info.st_mode & S_IXOTH) == 0)
      support_skip(test, "a build directory that every user may enter");
  }
}
