/* SPDX-License-Identifier: MIT */
/* Runs samples with bad input. Does not know what they are for. */
#include "tool_usage.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

void tool_usage_refused(const char *path, const tool_usage_t *cases,
                        size_t nr) {
  size_t i;

  for (i = 0; i < nr; i++) {
    tool_run_t run = {.args = {path}};

    memcpy(run.args + 1, cases[i].args, sizeof(cases[i].args));
    tool_run(&run);
    tool_run_expect_status(&run, 2);
    tool_run_expect_text(run.err, cases[i].message);
    tool_run_expect_text(run.err, "--help");
    assert_string_equal(run.out, "");
  }
}

/* The first --nonsense may be the option's value, the second is none. */
void tool_usage_knows(const char *path, const char *options) {
  char option[32], message[64];
  int size;

  for (; sscanf(options, "%31s%n", option, &size) == 1; options += size) {
    tool_run_t run = {.args = {path, option, "--nonsense", "--nonsense"}};

    tool_run(&run);
    tool_run_expect_status(&run, 2);
    snprintf(message, sizeof(message), "unknown option '%s'", option);
    if (strstr(run.err, message) != NULL)
      fail_msg("%s", run.err);
  }
}

void tool_usage_in_help(const char *path, const char *parts) {
  static tool_run_t run;
  char part[64];
  int size;

  memset(&run, 0, sizeof(run));
  run.args[0] = path;
  run.args[1] = "--help";
  tool_run(&run);
  for (; sscanf(parts, "%63[^|]|%n", part, &size) == 1; parts += size)
    tool_run_expect_text(run.out, part);
}

/* First, as whatever follows may be a command. */
static void insert_file(tool_run_t *run, const char *file) {
  assert_null(run->args[TOOL_RUN_ARGS - 3]);
  memmove(run->args + 3, run->args + 1,
          (TOOL_RUN_ARGS - 3) * sizeof(run->args[0]));
  run->args[1] = "-o";
  run->args[2] = file;
}

void tool_usage_bad_file(const tool_run_t *with, const char *name) {
  static const struct {
    const char *file;
    int error;
  } cases[] = {{"/dev/full", ENOSPC}, {"/nonexistent/file", ENOENT}};
  char message[64];
  size_t i;

  for (i = 0; i < COUNT_OF(cases); i++) {
    tool_run_t run = *with;

    insert_file(&run, cases[i].file);
    snprintf(message, sizeof(message), "%s: %s: ", name, cases[i].file);
    tool_run_ends(&run, 1, message);
    tool_run_expect_text(run.err, strerror(cases[i].error));
  }
}

/* What it wrote is in `text`, empty if that is nothing. */
static void run_with_file(tool_run_t *run, char *text, size_t size) {
  char path[] = "/tmp/uvperf-usage-XXXXXX";
  int fd = mkstemp(path);

  assert_true(fd >= 0);
  insert_file(run, path);
  tool_run(run);
  (void)tool_run_append(fd, text, size);
  close(fd);
  unlink(path);
}

void tool_usage_good_file(tool_run_t *run, char *text, size_t size) {
  run_with_file(run, text, size);
  tool_run_expect_status(run, 0);
  assert_string_equal(run->out, "hello\n");
}

/* In the child that becomes the sample. */
static void limit_files(void) {
  const struct rlimit limit = {1024, 1024};

  setrlimit(RLIMIT_FSIZE, &limit);
}

void tool_usage_limited_file(tool_run_t *run) {
  char text[2048] = "";

  run->prepare = limit_files;
  run_with_file(run, text, sizeof(text));
  tool_run_expect_status(run, 1);
  tool_run_expect_text(run->err, strerror(EFBIG));
  assert_int_equal(strlen(text), 1024);
}

void tool_usage_never_read(tool_run_t *run) {
  static const char *const shell[] = {
      "/bin/sh", "-c",
      "fifo=$0; { \"$@\"; echo $? >&2; echo >$fifo; } | read end <$fifo"};
  char directory[] = "/tmp/uvperf-usage-XXXXXX", fifo[64];

  assert_null(run->args[TOOL_RUN_ARGS - 5]);
  memmove(run->args + 4, run->args, (TOOL_RUN_ARGS - 4) * sizeof(run->args[0]));
  memcpy(run->args, shell, sizeof(shell));
  run->args[3] = fifo;
  assert_non_null(mkdtemp(directory));
  snprintf(fifo, sizeof(fifo), "%s/end", directory);
  assert_int_equal(mkfifo(fifo, 0600), 0);
  tool_run(run);
  unlink(fifo);
  rmdir(directory);
  tool_run_expect_text(run->err, " lost\n1\n");
}
