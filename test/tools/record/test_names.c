/* SPDX-License-Identifier: MIT */
/* Files that follow each other have names of their own. */
#include <ctype.h>
#include <fcntl.h>
#include <unistd.h>

#include "record/names.h"
#include "record_run.h"

/* Digits of the year, month, day, hour, minute, second and hundredth. */
#define STAMP_DIGITS 16

static void finish(record_names_t *names, char content) {
  int fd = open(record_run_path(), O_WRONLY | O_CREAT | O_EXCL, 0600);

  assert_true(fd >= 0);
  assert_int_equal(write(fd, &content, 1), 1);
  close(fd);
  assert_int_equal(record_names_finish(names, record_run_path()), 0);
}

static void expect_file(const char *path, char content) {
  int fd = open(path, O_RDONLY);
  char found;

  assert_true(fd >= 0);
  assert_int_equal(read(fd, &found, 1), 1);
  close(fd);
  assert_int_equal(found, content);
}

/* More files are finished than hundredths of a second pass, and no file is
 * lost. */
static void files_of_one_moment_have_names_in_their_order(void **state) {
  record_names_t names = {0};
  size_t nr = 30, prefix = strlen(record_run_path()) + 1, i, digit;
  glob_t files;

  for (i = 0; i < nr; i++)
    finish(&names, (char)('a' + i));
  assert_int_equal(record_run_files(&files), nr);
  for (i = 0; i < nr; i++) {
    expect_file(files.gl_pathv[i], (char)('a' + i));
    assert_int_equal(strlen(files.gl_pathv[i]), prefix + STAMP_DIGITS);
    for (digit = 0; digit < STAMP_DIGITS; digit++)
      assert_true(isdigit((unsigned char)files.gl_pathv[i][prefix + digit]));
  }
  assert_string_equal(names.last, files.gl_pathv[nr - 1]);
  globfree(&files);
  record_names_free(&names);
}

static void newest_files_are_kept(void **state) {
  record_names_t names = {.max = 3};
  glob_t files;
  size_t i;

  for (i = 0; i < 8; i++)
    finish(&names, (char)('a' + i));
  assert_int_equal(record_run_files(&files), 3);
  for (i = 0; i < 3; i++)
    expect_file(files.gl_pathv[i], (char)('f' + i));
  globfree(&files);
  record_names_free(&names);
}

static void file_that_is_gone_is_an_error(void **state) {
  record_names_t names = {0};

  assert_int_equal(record_names_finish(&names, record_run_path()), -ENOENT);
  assert_null(names.last);
  record_names_free(&names);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      record_run_test(files_of_one_moment_have_names_in_their_order),
      record_run_test(newest_files_are_kept),
      record_run_test(file_that_is_gone_is_an_error),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
