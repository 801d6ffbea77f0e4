/* SPDX-License-Identifier: MIT */
/* Directories of cgroups: where they are searched for, below a scripted root
 * whose mounts lead to the cgroups of this machine, and which paths are
 * none. */
#include "fake_kernel.h"
#include "live.h"
#include "make_host.h"
#include "make_tree.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/cgroup.h"

#define MOUNTS "/proc/self/mounts"
#define V2     "v2 /cg/v2 cgroup2 rw 0 0\n"
#define PERF   "v1 /cg/perf cgroup rw,perf_event 0 0\n"
#define CPU    "v1 /cg/cpu cgroup rw,cpu,cpuacct 0 0\n"

static void refused(const char *path, int code, int cause, const char *piece) {
  size_t fds = support_count_fds();
  uvperf_error_t error = {0};

  assert_int_equal(uvperf__cgroup_open(path, &error), code);
  assert_int_equal(error.code, code);
  assert_int_equal(error.cause, cause);
  if (strstr(error.reason, piece) == NULL)
    fail_msg("'%s' is not in '%s'", piece, error.reason);
  assert_int_equal(uvperf__cgroup_open(path, NULL), code);
  assert_int_equal(support_count_fds(), fds);
}

/* -- where it is searched for --------------------------------------------- */

/* Each path, and where it is searched for: nothing is there. */
static void cgroup_is_searched_for_in_the_mounts(void **state) {
  static const struct {
    const char *mounts;
    const char *path;
    const char *place;
  } all[] = {
      {V2, "/", ": /cg/v2/"},
      {V2, "/a/b", ": /cg/v2/a/b"},
      {V2, "a/b", ": /cg/v2/a/b"},
      {V2, ".", ": /cg/v2/."},
      {V2, "/cg/v2", ": /cg/v2"},
      {V2, "/cg/v2/", ": /cg/v2/"},
      {V2, "/cg/v2/a", ": /cg/v2/a"},
      {V2, "/cg/v2//a/../b", ": /cg/v2//a/../b"},
      {V2, "/cg/v22", ": /cg/v2/cg/v22"},
      {V2, "/cg", ": /cg/v2/cg"},
      {V2, "/cg/v", ": /cg/v2/cg/v"},
      {V2, "cg/v2/a", ": /cg/v2/cg/v2/a"},
      /* v1 with perf_event goes before v2, the first before the second. */
      {CPU V2 PERF, "/a", ": /cg/perf/a"},
      {PERF V2 CPU, "/a", ": /cg/perf/a"},
      {CPU V2, "/a", ": /cg/v2/a"},
      {V2 "v2 /cg/other cgroup2 rw 0 0\n", "/a", ": /cg/v2/a"},
      {PERF "v1 /cg/other cgroup perf_event 0 0\n", "/a", ": /cg/perf/a"},
      /* A full path may be of any hierarchy. */
      {CPU V2 PERF, "/cg/cpu/a", ": /cg/cpu/a"},
      {PERF V2, "/cg/v2/a", ": /cg/v2/a"},
      {V2 "v2 /cg/other cgroup2 rw 0 0\n", "/cg/other/a", ": /cg/other/a"},
      {"t /cg tmpfs rw,perf_event 0 0\n" V2, "/cg/a", ": /cg/v2/cg/a"},
      {"v2 /a\\040b cgroup2 rw 0 0\n", "/c", ": /a b/c"},
      {V2, "/\x1b[31m\n", ": /cg/v2/?[31m?"},
  };
  uvperf_error_t error;
  const char *at;
  size_t i;

  for (i = 0; i < COUNT_OF(all); i++) {
    make_host_write(MOUNTS, all[i].mounts);
    assert_int_equal(uvperf__cgroup_open(all[i].path, &error), -ENOENT);
    assert_int_equal(error.cause, UVPERF_CAUSE_NO_TASK);
    at = strrchr(error.reason, ':');
    assert_non_null(at);
    assert_string_equal(at, all[i].place);
  }
}

static void cgroup_without_a_hierarchy_is_enoent(void **state) {
  refused("/a", -ENOENT, UVPERF_CAUSE_UNKNOWN, "/proc/self/mounts");
  make_host_write(MOUNTS, "");
  refused("/a", -ENOENT, UVPERF_CAUSE_NOT_SUPPORTED,
          "mount -t cgroup2 none /sys/fs/cgroup");
  make_host_write(MOUNTS, CPU "t /a tmpfs rw 0 0\n");
  refused("/a", -ENOENT, UVPERF_CAUSE_NOT_SUPPORTED,
          "neither cgroup v2 nor v1");
}

/* -- invalid paths -------------------------------------------------------- */

static void directory_that_is_no_cgroup_is_einval(void **state) {
  char path[128];

  make_host_write(MOUNTS, V2);
  make_host_write("/cg/v2/a/file", "");
  refused("/a", -EINVAL, UVPERF_CAUSE_ARGUMENT,
          "not the directory of a cgroup: /cg/v2/a");
  refused("/a/file", -ENOTDIR, UVPERF_CAUSE_ARGUMENT,
          "not the directory of a cgroup: /cg/v2/a/file");
  refused("/a/file/b", -ENOTDIR, UVPERF_CAUSE_ARGUMENT, "/a/file/b");
  /* An open(2) of a pipe would wait for one who writes. */
  snprintf(path, sizeof(path), "%s/cg/v2/a/pipe", make_host_root());
  assert_int_equal(mkfifo(path, 0600), 0);
  refused("/a/pipe", -ENOTDIR, UVPERF_CAUSE_ARGUMENT, "/a/pipe");
  make_host_link("/cg/v2/loop", "loop");
  refused("/loop", -ELOOP, UVPERF_CAUSE_UNKNOWN, "errno 40");
}

static void path_of_any_length_is_an_error_only(void **state) {
  static char path[PATH_MAX + 64];
  uvperf_error_t error;
  size_t length;
  int rc;

  make_host_write(MOUNTS, V2);
  make_host_write("/cg/v2/cgroup.procs", "");
  memset(path, 'a', sizeof(path));
  for (length = PATH_MAX - 80; length < sizeof(path); length++) {
    path[length] = '\0';
    rc = uvperf__cgroup_open(path, &error);
    /* A name of more than 255 bytes, or all of it more than a path's. */
    assert_int_equal(rc, -ENAMETOOLONG);
    assert_int_equal(error.code, rc);
    path[length] = 'a';
  }
}

static int open_as_nobody(void *arg) {
  uvperf_error_t error = {0};

  if (chmod(make_host_root(), 0755) != 0 || setgid(65534) != 0 ||
      setuid(65534) != 0)
    return 1;
  if (uvperf__cgroup_open("/a", &error) != -EACCES)
    return 2;
  return error.cause == UVPERF_CAUSE_PERMISSION &&
                 strstr(error.reason, "/cg/v2/a") != NULL
             ? 0
             : 3;
}

static void cgroup_of_others_is_eacces(void **state) {
  char path[128];

  support_need_root(__func__);
  make_host_write(MOUNTS, V2);
  make_host_write("/cg/v2/a/file", "");
  snprintf(path, sizeof(path), "%s/cg/v2/a", make_host_root());
  assert_int_equal(chmod(path, 0700), 0);
  assert_int_equal(support_wait(support_fork(open_as_nobody, NULL)), 0);
}

static int open_with_few_fds(void *arg) {
  const uint64_t limit = support_limit_fds(0);
  uvperf_error_t error = {0};

  if (uvperf__cgroup_open("/a", &error) != -EMFILE ||
      error.cause != UVPERF_CAUSE_FILES || error.limit != limit ||
      error.needed != limit + 1)
    return 2;
  return 0;
}

static void cgroup_without_fds_is_emfile(void **state) {
  make_host_write(MOUNTS, V2);
  assert_int_equal(support_wait(support_fork(open_with_few_fds, NULL)), 0);
}

/* -- cgroups of this machine ---------------------------------------------- */

/* The fd is one that perf_event_open(2) takes: of the directory with this
 * inode (of which a 32-bit kernel has the lower half), not O_PATH, and not left
 * to a program that is executed. */
static void expect_cgroup(const char *path, uint64_t id) {
  size_t fds = support_count_fds();
  uvperf_error_t error = {0};
  struct stat status;
  int fd = uvperf__cgroup_open(path, &error);

  if (fd < 0)
    fail_msg("%s: %s", path, error.reason);
  assert_int_equal(fstat(fd, &status), 0);
  assert_true(S_ISDIR(status.st_mode));
  assert_true(status.st_ino == id || status.st_ino == (uint32_t)id);
  assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
  assert_int_equal(fcntl(fd, F_GETFL) & O_PATH, 0);
  assert_int_equal(error.code, 0);
  close(fd);
  assert_int_equal(support_count_fds(), fds);
}

/* A program that has a v1 hierarchy with perf_event mounted is led there. */
static void cgroup_of_this_machine_is_opened(void **state) {
  live_cgroup_t cgroup;
  char name[64];

  live_cgroup_make(__func__, &cgroup);
  fake_host_set(NULL);
  expect_cgroup(cgroup.path, cgroup.id);
  fake_host_set(make_host_root());
  snprintf(name, sizeof(name), "%s", strrchr(cgroup.path, '/'));
  *strrchr(cgroup.path, '/') = '\0';
  make_host_write(MOUNTS, CPU V2);
  make_host_link("/cg/v2", cgroup.path);
  strcat(cgroup.path, name);
  expect_cgroup(name, cgroup.id);
  expect_cgroup(name + 1, cgroup.id);
  snprintf(name, sizeof(name), "/cg/v2/uvperf-%d/../uvperf-%d/.", (int)getpid(),
           (int)getpid());
  expect_cgroup(name, cgroup.id);
  refused(strcat(name, "/cgroup.procs"), -ENOTDIR, UVPERF_CAUSE_ARGUMENT,
          "not the directory");
  live_cgroup_remove(&cgroup);
}

static void
cgroup_of_the_calling_process_is_opened_as_proc_names_it(void **state) {
  uint64_t id = live_cgroup_own(__func__);
  FILE *file = fopen("/proc/self/cgroup", "re");
  char line[PATH_MAX] = "", *at = NULL;

  assert_non_null(file);
  while (at == NULL && fgets(line, sizeof(line), file) != NULL) {
    if (strstr(line, "perf_event") != NULL)
      support_skip(__func__, "perf_event on cgroup v2");
    if (strncmp(line, "0::", 3) == 0)
      at = line + 3;
  }
  fclose(file);
  assert_non_null(at);
  at[strcspn(at, "\n")] = '\0';
  expect_cgroup(at, id);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      MAKE_HOST_TEST(cgroup_is_searched_for_in_the_mounts),
      MAKE_HOST_TEST(cgroup_without_a_hierarchy_is_enoent),
      MAKE_HOST_TEST(directory_that_is_no_cgroup_is_einval),
      MAKE_HOST_TEST(path_of_any_length_is_an_error_only),
      MAKE_HOST_TEST(cgroup_of_others_is_eacces),
      MAKE_HOST_TEST(cgroup_without_fds_is_emfile),
      MAKE_HOST_TEST(cgroup_of_this_machine_is_opened),
      cmocka_unit_test(
          cgroup_of_the_calling_process_is_opened_as_proc_names_it),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
