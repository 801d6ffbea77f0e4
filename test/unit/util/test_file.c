/* SPDX-License-Identifier: MIT */
/* Files other than system files: which kinds may be opened, and reading from
 * any place of them. */
#include "support.h"
#include "make_tree.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/file.h"

static void open_regular_takes_no_other_kind_of_file(void **state) {
  const make_tree_t *tree = *state;
  char path[PATH_MAX];
  int fd;

  assert_int_equal(uvperf__file_open_regular(tree->root), -EISDIR);
  assert_int_equal(uvperf__file_open_regular("/dev/null"), -ENXIO);
  snprintf(path, sizeof(path), "%s/pipe", tree->root);
  assert_int_equal(uvperf__file_open_regular(path), -ENOENT);
  /* Its open would wait for a writer. */
  assert_int_equal(mkfifo(path, 0600), 0);
  assert_int_equal(uvperf__file_open_regular(path), -ENXIO);
  make_tree_write(tree, "/file", "text");
  snprintf(path, sizeof(path), "%s/file", tree->root);
  fd = uvperf__file_open_regular(path);
  assert_true(fd >= 0);
  uvperf__file_close(fd);
}

/* A process whose root is the tree. */
static pid_t live_in(const char *root, int gone[2]) {
  char byte;
  pid_t pid;

  assert_int_equal(pipe(gone), 0);
  pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) {
    close(gone[0]);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || chroot(root) != 0 ||
        write(gone[1], "", 1) != 1)
      _exit(1);
    for (;;)
      pause();
  }
  assert_int_equal(read(gone[0], &byte, 1), 1);
  return pid;
}

static void expect_in_root(pid_t pid, const char *path, const char *text) {
  char whole[PATH_MAX], bytes[16] = "";
  int fd;

  snprintf(whole, sizeof(whole), "/proc/%d/root/%s", pid, path);
  fd = uvperf__file_open_regular(whole);
  if (text == NULL) {
    assert_int_equal(fd, -ENOENT);
    return;
  }
  assert_true(fd >= 0);
  assert_true(uvperf__file_read(fd, bytes, sizeof(bytes) - 1) > 0);
  assert_string_equal(bytes, text);
  uvperf__file_close(fd);
}

static void open_regular_stays_in_the_root_of_a_process(void **state) {
  const make_tree_t *tree = *state;
  int gone[2];
  pid_t pid;

  support_need_root(__func__);
  make_tree_write(tree, "/inside", "inside");
  make_tree_link(tree, "/link", "/inside");
  make_tree_link(tree, "/up", "../../../../../inside");
  make_tree_link(tree, "/out", "/etc/passwd");
  make_tree_link(tree, "/proc/out", "../../../../../../etc/passwd");
  pid = live_in(tree->root, gone);
  expect_in_root(pid, "inside", "inside");
  expect_in_root(pid, "link", "inside");
  expect_in_root(pid, "up", "inside");
  expect_in_root(pid, "out", NULL);
  expect_in_root(pid, "proc/out", NULL);
  expect_in_root(pid, "nothing", NULL);
  assert_int_equal(uvperf__file_open_regular("/proc/self/root/proc/self/exe"),
                   -EXDEV);
  kill(pid, SIGKILL);
  assert_int_equal(waitpid(pid, NULL, 0), pid);
  close(gone[0]);
  close(gone[1]);
}

static int open_without_proc(void *arg) {
  if (unshare(CLONE_NEWNS) != 0 ||
      mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
      umount2("/proc", MNT_DETACH) != 0)
    return 1;
  return uvperf__file_open_regular("/etc/passwd") == -ENOSYS ? 0 : 2;
}

static void open_regular_without_proc_is_enosys(void **state) {
  support_need_root(__func__);
  assert_int_equal(support_wait(support_fork(open_without_proc, NULL)), 0);
}

typedef struct renamer_s {
  char from[PATH_MAX];
  char to[PATH_MAX];
  atomic_int is_over;
} renamer_t;

static void *rename_on(void *data) {
  renamer_t *renamer = data;

  while (!atomic_load(&renamer->is_over)) {
    rename(renamer->from, renamer->to);
    rename(renamer->to, renamer->from);
  }
  return NULL;
}

/* The kernel follows no ".." in the root of a process while a file is renamed,
 * wherever that is. */
static void open_regular_in_a_root_beside_a_renamer_succeeds(void **state) {
  const make_tree_t *tree = *state;
  char path[PATH_MAX];
  renamer_t renamer;
  pthread_t thread;
  int i, fd;

  make_tree_write(tree, "/file", "text");
  make_tree_write(tree, "/a", "");
  snprintf(path, sizeof(path), "/proc/self/root/%s/../../%s/file", tree->root,
           tree->root);
  snprintf(renamer.from, sizeof(renamer.from), "%s/a", tree->root);
  snprintf(renamer.to, sizeof(renamer.to), "%s/b", tree->root);
  atomic_init(&renamer.is_over, 0);
  assert_int_equal(pthread_create(&thread, NULL, rename_on, &renamer), 0);
  for (i = 0, fd = 0; i < 20000 && fd >= 0; i++) {
    fd = uvperf__file_open_regular(path);
    if (fd >= 0)
      uvperf__file_close(fd);
  }
  atomic_store(&renamer.is_over, 1);
  pthread_join(thread, NULL);
  assert_true(fd >= 0);
}

static void read_at_reads_from_any_place(void **state) {
  const make_tree_t *tree = *state;
  char path[PATH_MAX], bytes[8];
  int fd;

  make_tree_write(tree, "/file", "0123456789");
  snprintf(path, sizeof(path), "%s/file", tree->root);
  fd = uvperf__file_open(path);
  assert_true(fd >= 0);
  assert_int_equal(uvperf__file_read_at(fd, bytes, 3, 4), 3);
  assert_memory_equal(bytes, "456", 3);
  assert_int_equal(uvperf__file_read_at(fd, bytes, 8, 7), 3);
  assert_memory_equal(bytes, "789", 3);
  assert_int_equal(uvperf__file_read_at(fd, bytes, 8, 10), 0);
  assert_int_equal(uvperf__file_read_at(fd, bytes, 8, INT64_MAX - 8), 0);
  assert_int_equal(uvperf__file_read_at(fd, bytes, 8, UINT64_MAX), -EOVERFLOW);
  assert_int_equal(uvperf__file_read(fd, bytes, 1), 1);
  assert_int_equal(bytes[0], '0');
  uvperf__file_close(fd);
  assert_int_equal(uvperf__file_read_at(fd, bytes, 8, 0), -EBADF);
}

static void names_lead_to_no_other_directory(void **state) {
  static const char *const none[] = {"",   ".",    "..",   "/",
                                     "a/", "../a", "a/..", "/a"};
  static const char *const names[] = {"a", "...", ".a", "a..", "a b", "*"};
  size_t i;

  for (i = 0; i < COUNT_OF(none); i++)
    assert_int_equal(uvperf__file_is_name(none[i]), 0);
  for (i = 0; i < COUNT_OF(names); i++)
    assert_int_equal(uvperf__file_is_name(names[i]), 1);
}

static void inode_is_of_what_is_there_now(void **state) {
  const make_tree_t *tree = *state;
  uint64_t inode, other;
  char path[128];

  snprintf(path, sizeof(path), "%s/a", tree->root);
  assert_int_equal(uvperf__file_inode(path, &inode), -ENOENT);
  make_tree_write(tree, "/a", "");
  assert_int_equal(uvperf__file_inode(path, &inode), 0);
  assert_int_equal(uvperf__file_inode(tree->root, &other), 0);
  assert_true(inode != other);
  assert_int_equal(uvperf__file_inode(path, &other), 0);
  assert_true(inode == other);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      MAKE_TREE_TEST(open_regular_takes_no_other_kind_of_file),
      MAKE_TREE_TEST(open_regular_stays_in_the_root_of_a_process),
      cmocka_unit_test(open_regular_without_proc_is_enosys),
      MAKE_TREE_TEST(open_regular_in_a_root_beside_a_renamer_succeeds),
      MAKE_TREE_TEST(read_at_reads_from_any_place),
      MAKE_TREE_TEST(inode_is_of_what_is_there_now),
      cmocka_unit_test(names_lead_to_no_other_directory),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
