/* SPDX-License-Identifier: MIT */
/* Mounts under a scripted root, and those of this process. */
#include "support.h"
#include "make_host.h"

#include <limits.h>

#include "host/mounts.h"

#define MOUNTS "/proc/self/mounts"

/* Writes each mount as "place type;" into a text of 512 bytes. */
static int note(const uvperf__mount_t *mount, void *data) {
  char *text = data;
  size_t length = strlen(text);

  snprintf(text + length, 512 - length, "%s %s;", mount->place, mount->type);
  return 0;
}

/* Writes the options of each mount, and which of some options it has. */
static int note_options(const uvperf__mount_t *mount, void *data) {
  static const char *const some[] = {"perf_event", "rw", "cpu"};
  char *text = data;
  size_t length, i;

  strcat(text, mount->options);
  for (i = 0; i < COUNT_OF(some); i++)
    if (uvperf__mount_has(mount, some[i])) {
      length = strlen(text);
      snprintf(text + length, 1024 - length, " %s", some[i]);
    }
  strcat(text, ";");
  return 0;
}

static int stop_at_proc(const uvperf__mount_t *mount, void *data) {
  *(int *)data += 1;
  return strcmp(mount->place, "/proc") == 0 && strcmp(mount->type, "proc") == 0
             ? -7
             : 0;
}

static void expect(const char *mounts, const char *expected) {
  char text[512] = "";

  make_host_write(MOUNTS, mounts);
  assert_int_equal(uvperf__mounts_each(note, text), 0);
  assert_string_equal(text, expected);
}

static void mounts_come_in_the_order_of_the_file(void **state) {
  expect("sysfs /sys sysfs rw,nosuid 0 0\n"
         "none /mnt tracefs rw 0 0\n"
         "last /last ext4 rw 0 0",
         "/sys sysfs;/mnt tracefs;/last ext4;");
}

static void mounts_escapes_are_undone(void **state) {
  expect("a\\040b /a\\040b\\011c tracefs rw 0 0\n"
         "x /new\\012line\\134040 t rw 0 0\n"
         "x /no\\04escape\\ t rw 0 0\n"
         "x /end\\ t rw 0 0\n",
         "/a b\tc tracefs;/new\nline\\040 t;/no\\04escape\\ t;/end\\ t;");
}

static void lines_that_are_no_mounts_are_skipped(void **state) {
  expect("\n"
         "alone\n"
         "two /fields\n"
         "two /fields \n"
         "not absolute t rw 0 0\n"
         "   \n"
         "good /good t\n"
         "x \\000/nul t rw 0 0\n",
         "/good t;");
  expect("", "");
}

/* The line begins at each place around the end of a read. */
static void mounts_with_long_lines_are_read(void **state) {
  static char mounts[PATH_MAX * 4];
  char *long_place;
  size_t at;

  for (at = 990; at < 1030; at++) {
    memset(mounts, 'o', at);
    memcpy(mounts, "overlay / overlay ", 18);
    strcpy(mounts + at, " 0 0\nt /t tracefs rw 0 0\n");
    expect(mounts, "/ overlay;/t tracefs;");
  }
  strcpy(mounts, "t ");
  long_place = mounts + 2;
  memset(long_place, '/', PATH_MAX + 5);
  strcpy(long_place + PATH_MAX, " tracefs rw 0 0\nt /t tracefs rw 0 0\n");
  expect(mounts, "/t tracefs;");
}

static void mounts_options_are_found_whole(void **state) {
  char text[1024] = "";

  make_host_write(MOUNTS, "c /a cgroup rw,perf_event 0 0\n"
                          "c /b cgroup perf_event,cpuacct,rw 0 0\n"
                          "c /c cgroup ro,perf_event2,xperf_event,cpu,acct=rw\n"
                          "c /d cgroup perf_even,,cpu,\n"
                          "c /e cgroup\n"
                          "c /f cgroup  \n"
                          "c /g cgroup perf_event more perf_event,rw\n");
  assert_int_equal(uvperf__mounts_each(note_options, text), 0);
  assert_string_equal(text, "rw,perf_event perf_event rw;"
                            "perf_event,cpuacct,rw perf_event rw;"
                            "ro,perf_event2,xperf_event,cpu,acct=rw cpu;"
                            "perf_even,,cpu, cpu;;;perf_event perf_event;");
}

/* The most bytes of a line that are read. */
#define LINE_BYTES (2 * PATH_MAX + 511)

static int copy_options(const uvperf__mount_t *mount, void *data) {
  assert_true(uvperf__mount_has(mount, "rw"));
  strcpy(data, mount->options);
  return 0;
}

/* With each length around the size of the buffer. */
static void mounts_long_options_are_cut(void **state) {
  static char mounts[LINE_BYTES + 32], text[LINE_BYTES];
  size_t length;

  for (length = LINE_BYTES - 8; length < LINE_BYTES + 8; length++) {
    memset(mounts, 'l', length);
    memcpy(mounts, "o / overlay rw,", 15);
    strcpy(mounts + length, " 0 0\n");
    make_host_write(MOUNTS, mounts);
    assert_int_equal(uvperf__mounts_each(copy_options, text), 0);
    assert_int_equal(strlen(text),
                     (length < LINE_BYTES ? length : LINE_BYTES) - 12);
  }
}

/* The line is cut at each byte. */
static void mounts_whose_place_or_type_is_cut_are_skipped(void **state) {
  static const char rest[] = " /a/b cgroup2 rw 0 0\nt /t tracefs rw 0 0\n";
  static char mounts[LINE_BYTES + sizeof(rest)];
  size_t kept;

  for (kept = 0; kept < strlen(" /a/b cgroup2 rw 0 0"); kept++) {
    memset(mounts, 'd', LINE_BYTES);
    strcpy(mounts + LINE_BYTES - kept, rest);
    expect(mounts, kept > strlen(" /a/b cgroup2 ") ? "/a/b cgroup2;/t tracefs;"
                                                   : "/t tracefs;");
  }
}

static void mounts_callback_ends_the_walk(void **state) {
  int calls = 0;

  make_host_write(MOUNTS, "s /sys sysfs\np /proc proc\nm /mnt ext4\n");
  assert_int_equal(uvperf__mounts_each(stop_at_proc, &calls), -7);
  assert_int_equal(calls, 2);
}

static void mounts_that_cannot_be_read_are_an_error(void **state) {
  char text[512] = "";

  assert_int_equal(uvperf__mounts_each(note, text), -ENOENT);
  make_host_write(MOUNTS "/is/a/directory", "");
  assert_int_equal(uvperf__mounts_each(note, text), -EISDIR);
}

static void mounts_of_this_process_include_proc(void **state) {
  size_t fds = support_count_fds();
  int calls = 0;

  assert_int_equal(uvperf__mounts_each(stop_at_proc, &calls), -7);
  assert_int_equal(support_count_fds(), fds);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      MAKE_HOST_TEST(mounts_come_in_the_order_of_the_file),
      MAKE_HOST_TEST(mounts_escapes_are_undone),
      MAKE_HOST_TEST(lines_that_are_no_mounts_are_skipped),
      MAKE_HOST_TEST(mounts_with_long_lines_are_read),
      MAKE_HOST_TEST(mounts_options_are_found_whole),
      MAKE_HOST_TEST(mounts_long_options_are_cut),
      MAKE_HOST_TEST(mounts_whose_place_or_type_is_cut_are_skipped),
      MAKE_HOST_TEST(mounts_callback_ends_the_walk),
      MAKE_HOST_TEST(mounts_that_cannot_be_read_are_an_error),
      cmocka_unit_test(mounts_of_this_process_include_proc),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
