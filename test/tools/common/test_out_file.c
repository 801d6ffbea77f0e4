/* SPDX-License-Identifier: MIT */
/* Files that tools write: in their own directories, and in directories where
 * other users have put links and files before. */
#include "common/out_file.h"
#include "make_tree.h"
#include "tool_run.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/auto_fs.h>

#define OTHER 65533
#define USER  65534

static char reason[COMMON_OUT_REASON];
static const make_tree_t *tree;

static int setup(void **state) {
  int rc = make_tree_setup(state);

  tree = *state;
  return rc;
}

/* "@/name" is in the tree. */
static const char *path_in(const char *path) {
  static char paths[2][128];
  static int which;

  which = !which;
  snprintf(paths[which], sizeof(paths[which]), "%s%s",
           *path == '@' ? tree->root : "", path + (*path == '@'));
  return paths[which];
}

static int open_in(const char *path, enum common_out_mode mode) {
  return common_out_file_open(path_in(path), mode, reason);
}

static void expect_text(const char *path, const char *expected) {
  char text[64] = "";
  int fd = open(path_in(path), O_RDONLY | O_NONBLOCK | O_CLOEXEC);

  assert_true(fd >= 0);
  assert_true(read(fd, text, sizeof(text) - 1) >= 0);
  close(fd);
  if (strcmp(text, expected) != 0)
    fail_msg("%s: '%s' is not '%s'", path, text, expected);
}

/* Writes "new" to the path, after which the file `real` has the text. */
static void expect_written(const char *path, enum common_out_mode mode,
                           const char *real, const char *expected) {
  size_t before = support_count_fds();
  int fd = open_in(path, mode);

  if (fd < 0)
    fail_msg("%s: %s", path, reason);
  assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
  assert_int_equal(support_count_fds(), before + 1);
  assert_int_equal(write(fd, "new", 3), 3);
  close(fd);
  expect_text(real, expected);
}

static void expect_refused(const char *path, enum common_out_mode mode,
                           const char *piece) {
  size_t before = support_count_fds();

  assert_int_equal(open_in(path, mode), -1);
  if (strstr(reason, piece) == NULL)
    fail_msg("%s: '%s' is not in '%s'", path, piece, reason);
  assert_int_equal(support_count_fds(), before);
}

static mode_t mode_of(const char *path) {
  struct stat file;

  assert_int_equal(stat(path_in(path), &file), 0);
  return file.st_mode & 07777;
}

/* -- one's own directory --------------------------------------------------- */

static void new_file_is_for_its_owner_alone(void **state) {
  mode_t old = umask(0);

  expect_written("@/new", COMMON_OUT_TRUNCATE, "@/new", "new");
  umask(old);
  assert_int_equal(mode_of("@/new"), 0600);
}

static void file_is_written_as_its_mode_says(void **state) {
  static const struct {
    enum common_out_mode mode;
    const char *expected;
  } modes[] = {
      {COMMON_OUT_TRUNCATE, "new"},      {COMMON_OUT_APPEND, "contentsnew"},
      {COMMON_OUT_KEEP, "newtents"},     {COMMON_OUT_RENAME, "new"},
      {COMMON_OUT_EXISTING, "newtents"},
  };
  size_t i;

  for (i = 0; i < COUNT_OF(modes); i++) {
    make_tree_write(tree, "/file", "contents");
    assert_int_equal(chmod(path_in("@/file"), 0640), 0);
    expect_written("@/file", modes[i].mode, "@/file", modes[i].expected);
    assert_int_equal(mode_of("@/file"),
                     modes[i].mode == COMMON_OUT_RENAME ? 0600 : 0640);
  }
  expect_text("@/file.old", "contents");
  /* An empty file is not kept. */
  make_tree_write(tree, "/file", "");
  expect_written("@/file", COMMON_OUT_RENAME, "@/file", "new");
  expect_text("@/file.old", "contents");
}

static void own_links_are_followed(void **state) {
  static const struct {
    const char *path, *real;
  } paths[] = {
      {"@/to-file", "@/a/b/file"},       {"@/to-dir/file", "@/a/b/file"},
      {"@/to-dir/../c", "@/a/c"},        {"@/a/up/a/b/none", "@/a/b/none"},
      {"@//a///b/./file", "@/a/b/file"}, {"@/dangling", "@/a/made"},
  };
  size_t i;

  for (i = 0; i < COUNT_OF(paths); i++) {
    make_tree_write(tree, "/a/b/file", "contents");
    if (i == 0) {
      make_tree_link(tree, "/to-file", "to-dir/file");
      make_tree_link(tree, "/to-dir", path_in("@/a/b"));
      make_tree_link(tree, "/a/up", "..");
      make_tree_link(tree, "/dangling", "a/made");
    }
    expect_written(paths[i].path, COMMON_OUT_TRUNCATE, paths[i].real, "new");
  }
  assert_int_equal(chdir(tree->root), 0);
  expect_written("to-file", COMMON_OUT_APPEND, "@/a/b/file", "contentsnew");
  assert_int_equal(chdir("/"), 0);
}

typedef struct autofs_s {
  int requests, dir;
} autofs_t;

/* Serves one request of autofs: mounts a file system at the directory. */
static int mount_once(void *arg) {
  union autofs_v5_packet_union packet;
  const autofs_t *autofs = arg;
  int is_mounted;

  if (read(autofs->requests, &packet, sizeof(packet)) <= 0)
    return 1;
  is_mounted = mount("tmpfs", path_in("@/a"), "tmpfs", 0, "") == 0;
  return ioctl(autofs->dir, is_mounted ? AUTOFS_IOC_READY : AUTOFS_IOC_FAIL,
               packet.v5_packet.wait_queue_token);
}

static int write_in_mount(void *arg) {
  /* The group of the process that mounts does not cause a mount. */
  if (setpgid(0, 0) != 0)
    return 2;
  return open_in("@/a/file", COMMON_OUT_TRUNCATE) >= 0 ? 0 : 1;
}

/* Returns 0 if a file was made below a directory that autofs mounts, or 77 if
 * there is no autofs. */
static int write_below_autofs(void *arg) {
  autofs_t autofs;
  char options[80];
  int ends[2], rc;
  pid_t server;

  if (unshare(CLONE_NEWNS) != 0 ||
      mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
      setpgid(0, 0) != 0 || pipe(ends) != 0)
    return 2;
  snprintf(options, sizeof(options),
           "fd=%d,pgrp=%d,minproto=5,maxproto=5,direct", ends[1], getpid());
  if (mount("test", path_in("@/a"), "autofs", 0, options) != 0)
    return 77;
  autofs.requests = ends[0];
  autofs.dir = open(path_in("@/a"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  server = support_fork(mount_once, &autofs);
  rc = support_wait(support_fork(write_in_mount, NULL));
  kill(server, SIGKILL);
  support_wait(server);
  return rc;
}

static void directory_of_the_path_is_mounted_by_autofs(void **state) {
  int rc;

  support_need_admin(__func__);
  make_tree_write(*state, "/a/none", "");
  rc = support_wait(support_fork(write_below_autofs, NULL));
  if (rc == 77)
    support_skip(__func__, "autofs");
  assert_int_equal(rc, 0);
}

static void path_that_is_no_file_has_its_errno(void **state) {
  static const struct {
    const char *path;
    int code;
  } paths[] = {
      {"", ENOENT},         {"@/no/file", ENOENT}, {"@", EISDIR},
      {"@/dir/", EISDIR},   {"/", EISDIR},         {"@/file/x", ENOTDIR},
      {"@/file/", ENOTDIR}, {"@/loop", ELOOP},     {"@/loop/x", ELOOP},
  };
  char name[300];
  size_t i;

  make_tree_write(tree, "/dir/file", "");
  make_tree_write(tree, "/file", "contents");
  make_tree_link(tree, "/loop", "loop");
  for (i = 0; i < COUNT_OF(paths); i++)
    expect_refused(paths[i].path, COMMON_OUT_TRUNCATE, strerror(paths[i].code));
  expect_refused("@/none", COMMON_OUT_EXISTING, strerror(ENOENT));
  snprintf(name, sizeof(name), "%0256d", 0);
  assert_int_equal(common_out_file_open(name, COMMON_OUT_TRUNCATE, reason), -1);
  assert_string_equal(reason, strerror(ENAMETOOLONG));
  expect_text("@/file", "contents");
}

/* -- what the user names --------------------------------------------------- */

static void files_that_the_program_was_given_are_opened(void **state) {
  static const char *const forms[] = {"/dev/fd/%d", "/proc/self/fd/%d",
                                      "@/fds/%d"};
  char path[64], text[8] = "";
  int ends[2], fd;
  size_t i;

  make_tree_link(tree, "/fds", "/dev/fd");
  assert_int_equal(pipe(ends), 0);
  for (i = 0; i < COUNT_OF(forms); i++) {
    snprintf(path, sizeof(path), forms[i], ends[1]);
    fd = open_in(path, COMMON_OUT_TRUNCATE);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "new", 3), 3);
    assert_int_equal(read(ends[0], text, sizeof(text)), 3);
    close(fd);
  }
  close(ends[0]);
  close(ends[1]);
  /* A regular file is truncated, and is not renamed. */
  make_tree_write(tree, "/file", "contents");
  fd = open(path_in("@/file"), O_RDWR | O_CLOEXEC);
  snprintf(path, sizeof(path), "/dev/fd/%d", fd);
  expect_written(path, COMMON_OUT_RENAME, "@/file", "new");
  close(fd);
  /* A file in a directory that the program was given. */
  fd = open(tree->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  snprintf(path, sizeof(path), "/dev/fd/%d/made", fd);
  expect_written(path, COMMON_OUT_TRUNCATE, "@/made", "new");
  close(fd);
  fd = open_in("/dev/null", COMMON_OUT_TRUNCATE);
  assert_true(fd >= 0);
  close(fd);
}

static void fifo_is_opened(void **state) {
  int reader;

  assert_int_equal(mkfifo(path_in("@/fifo"), 0600), 0);
  reader = open(path_in("@/fifo"), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  expect_written("@/fifo", COMMON_OUT_TRUNCATE, "@/fifo", "new");
  close(reader);
  /* Without a reader. */
  reader = open_in("@/fifo", COMMON_OUT_EXISTING);
  assert_true(reader >= 0);
  close(reader);
}

/* -- directories and files of other users ---------------------------------- */

static void give(const char *path, uid_t owner) {
  assert_int_equal(lchown(path_in(path), owner, owner), 0);
}

/* Another user's directory, and one that all users may write to. */
static void prepare(void) {
  make_tree_write(tree, "/secret/file", "contents");
  make_tree_write(tree, "/other/file", "contents");
  make_tree_write(tree, "/tmp/file", "contents");
  make_tree_link(tree, "/other/link", "../secret/file");
  make_tree_link(tree, "/other/dir", "../secret");
  make_tree_link(tree, "/other/new", "../secret/new");
  make_tree_link(tree, "/tmp/link", "../secret/file");
  make_tree_link(tree, "/to-link", "tmp/link");
  assert_int_equal(link(path_in("@/secret/file"), path_in("@/tmp/second")), 0);
  assert_int_equal(link(path_in("@/secret/file"), path_in("@/other/second")),
                   0);
  assert_int_equal(mkfifo(path_in("@/tmp/fifo"), 0666), 0);
  assert_int_equal(mkfifo(path_in("@/other/fifo"), 0666), 0);
  assert_int_equal(chmod(path_in("@/tmp"), 01777), 0);
  give("@/other", OTHER);
  give("@/other/file", OTHER);
  give("@/other/link", OTHER);
  give("@/other/dir", OTHER);
  give("@/other/new", OTHER);
  give("@/other/fifo", OTHER);
  give("@/tmp/file", OTHER);
  give("@/tmp/link", OTHER);
  give("@/tmp/fifo", OTHER);
}

static void links_and_files_of_another_user_are_refused(void **state) {
  static const char *const paths[] = {
      "@/other/file",    "@/other/link", "@/other/dir/file",
      "@/other/dir/new", "@/other/new",  "@/tmp/file",
      "@/tmp/link",      "@/to-link",    "@/tmp/fifo",
  };
  size_t i;

  support_need_root(__func__);
  prepare();
  for (i = 0; i < COUNT_OF(paths); i++)
    expect_refused(paths[i], COMMON_OUT_TRUNCATE, "uid 65533");
  expect_refused("@/tmp/second", COMMON_OUT_TRUNCATE, "two names");
  expect_refused("@/other/second", COMMON_OUT_TRUNCATE, "two names");
  expect_refused("@/other/dir/file", COMMON_OUT_RENAME, "uid 65533");
  expect_refused("@/tmp/link", COMMON_OUT_EXISTING, "uid 65533");
  expect_text("@/secret/file", "contents");
  expect_text("@/other/file", "contents");
  expect_text("@/tmp/file", "contents");
  assert_int_not_equal(access(path_in("@/secret/new"), F_OK), 0);
}

/* The link that another user makes after the tool has found no file, and just
 * before it creates one. */
static struct {
  const char *target;
  const char *path;
} planted;

/* glibc's name of openat(2) with an off_t of 64 bits. */
#ifdef __GLIBC__
#define __real_openat __real_openat64
#define __wrap_openat __wrap_openat64
#endif

int __real_openat(int dir, const char *name, int flags, mode_t mode);

int __wrap_openat(int dir, const char *name, int flags, mode_t mode) {
  if ((flags & O_CREAT) && planted.path != NULL) {
    assert_int_equal(symlink(planted.target, planted.path), 0);
    assert_int_equal(lchown(planted.path, OTHER, OTHER), 0);
    planted.path = NULL;
  }
  return __real_openat(dir, name, flags, mode);
}

static void link_that_comes_meanwhile_is_refused(void **state) {
  support_need_root(__func__);
  prepare();
  planted.target = "../secret/new";
  planted.path = path_in("@/other/race");
  expect_refused("@/other/race", COMMON_OUT_TRUNCATE, "uid 65533");
  assert_null(planted.path);
  assert_int_not_equal(access(path_in("@/secret/new"), F_OK), 0);
}

static void directory_of_another_user_can_be_written_to(void **state) {
  int reader, fd;

  support_need_root(__func__);
  prepare();
  expect_written("@/other/mine", COMMON_OUT_TRUNCATE, "@/other/mine", "new");
  expect_written("@/tmp/mine", COMMON_OUT_TRUNCATE, "@/tmp/mine", "new");
  expect_written("@/tmp/mine", COMMON_OUT_APPEND, "@/tmp/mine", "newnew");
  /* The other user's file is moved away. */
  expect_written("@/other/file", COMMON_OUT_RENAME, "@/other/file", "new");
  expect_text("@/other/file.old", "contents");
  assert_int_equal(mode_of("@/other/file"), 0600);
  /* A FIFO that the user names, and one for commands. */
  reader = open(path_in("@/other/fifo"), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  expect_written("@/other/fifo", COMMON_OUT_TRUNCATE, "@/other/fifo", "new");
  close(reader);
  fd = open_in("@/tmp/fifo", COMMON_OUT_EXISTING);
  assert_true(fd >= 0);
  close(fd);
}

static int open_as_user(void *arg) {
  if (setresgid(USER, USER, USER) != 0 || setresuid(USER, USER, USER) != 0)
    return 1;
  if (open_in("@/tmp/file", COMMON_OUT_TRUNCATE) != -1 ||
      strstr(reason, "uid 65533") == NULL)
    return 2;
  if (open_in("@/tmp/link", COMMON_OUT_TRUNCATE) != -1 ||
      strstr(reason, "uid 65533") == NULL)
    return 3;
  /* As the kernel allows. */
  if (open_in("@/other/file", COMMON_OUT_KEEP) < 0)
    return 4;
  return open_in("@/secret/file", COMMON_OUT_KEEP) >= 0 ? 0 : 5;
}

static void user_without_privileges_is_protected_too(void **state) {
  support_need_root(__func__);
  prepare();
  assert_int_equal(chmod(tree->root, 0755), 0);
  assert_int_equal(chmod(path_in("@/tmp/file"), 0666), 0);
  assert_int_equal(chmod(path_in("@/other/file"), 0666), 0);
  assert_int_equal(chmod(path_in("@/secret/file"), 0666), 0);
  assert_int_equal(unlink(path_in("@/tmp/second")), 0);
  assert_int_equal(unlink(path_in("@/other/second")), 0);
  assert_int_equal(support_wait(support_fork(open_as_user, NULL)), 0);
}

/* -- each tool ------------------------------------------------------------- */

static void all_may_read(void) {
  umask(0);
}

static void each_tool_writes_for_its_owner_alone(void **state) {
  static const char *const tools[][9] = {
      {"profile", "--folded", "@", "--", "/bin/true"},
      {"record", "-o", "@", "-e", "task-clock", "/bin/true"},
      {"stat", "-o", "@", "-e", "task-clock", "/bin/true"},
      {"trace", "-o", "@", "-e", "page-faults:u", "--", "/bin/true"},
      {"watch", "-o", "@", "--", "/bin/true"},
  };
  static tool_run_t run;
  char tool[4096], file[128];
  size_t i, j;

  support_need_root(__func__);
  support_need_kernel_side(__func__);
  for (i = 0; i < COUNT_OF(tools); i++) {
    snprintf(tool, sizeof(tool), "%s/uvperf-%s", TOOLS_DIRECTORY, tools[i][0]);
    if (access(tool, X_OK) != 0)
      continue;
    snprintf(file, sizeof(file), "%s/%s", tree->root, tools[i][0]);
    memset(&run, 0, sizeof(run));
    run.args[0] = tool;
    for (j = 1; j < COUNT_OF(tools[i]) && tools[i][j] != NULL; j++)
      run.args[j] = strcmp(tools[i][j], "@") == 0 ? file : tools[i][j];
    run.prepare = all_may_read;
    tool_run_exits(&run, 0);
    assert_int_equal(mode_of(file), 0600);
    /* A link of another user is refused. */
    assert_int_equal(unlink(file), 0);
    make_tree_link(tree, file + strlen(tree->root), "/dev/null");
    assert_int_equal(lchown(file, OTHER, OTHER), 0);
    tool_run_ends(&run, 1, "uid 65533");
  }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, make_tree_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(new_file_is_for_its_owner_alone),
      TEST(file_is_written_as_its_mode_says),
      TEST(own_links_are_followed),
      TEST(directory_of_the_path_is_mounted_by_autofs),
      TEST(path_that_is_no_file_has_its_errno),
      TEST(files_that_the_program_was_given_are_opened),
      TEST(fifo_is_opened),
      TEST(links_and_files_of_another_user_are_refused),
      TEST(link_that_comes_meanwhile_is_refused),
      TEST(directory_of_another_user_can_be_written_to),
      TEST(user_without_privileges_is_protected_too),
      TEST(each_tool_writes_for_its_owner_alone),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
