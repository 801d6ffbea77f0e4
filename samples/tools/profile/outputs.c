/* SPDX-License-Identifier: MIT */
/* Files are opened first, so that a wrong path is reported before the
 * measurement. */
#include "profile/outputs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/buffer.h"
#include "common/out_file.h"
#include "common/say.h"
#include "common/stdio.h"
#include "profile/page/page.h"
#include "profile/pprof/pprof.h"
#include "profile/profile.h"
#include "profile/stacks/text.h"

/* "uvperf-profile -a -d 5 on host". */
static char *make_title(const profile_options_t *options, int argc,
                        char **argv) {
  common_buffer_t buffer = {NULL, 0, 0};
  char host[256] = "";
  int i;

  common_buffer_text(&buffer, "uvperf-profile");
  for (i = 1; i < argc; i++) {
    common_buffer_text(&buffer, " ");
    common_buffer_text(&buffer, argv[i]);
  }
  if (options->input == NULL && gethostname(host, sizeof(host) - 1) == 0) {
    common_buffer_text(&buffer, " on ");
    common_buffer_text(&buffer, host);
  }
  common_buffer_add(&buffer, "", 1);
  return buffer.text;
}

/* An existing file keeps its contents until the new ones are written. */
static FILE *open_file(const char *path) {
  char reason[COMMON_OUT_REASON];
  int fd = common_out_file_open(path, COMMON_OUT_KEEP, reason);
  FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

  if (file != NULL)
    return file;
  common_say("%s: %s\n", path, fd < 0 ? reason : strerror(errno));
  if (fd >= 0)
    close(fd);
  return NULL;
}

/* Two outputs must not have the same file, because the second output would
 * replace the first. */
static int is_same(int fd, const struct stat *other) {
  struct stat info;

  return fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
         info.st_dev == other->st_dev && info.st_ino == other->st_ino;
}

static int is_input(int fd, const char *input) {
  struct stat info;
  int rc =
      strcmp(input, "-") == 0 ? fstat(STDIN_FILENO, &info) : stat(input, &info);

  return rc == 0 && is_same(fd, &info);
}

/* Two different paths can be one file: a link, or a second name. */
static int check_file(const profile_outputs_t *outputs,
                      const profile_options_t *options, int output) {
  int i, fd = fileno(outputs->files[output]);
  const char *path = options->outputs[output];
  struct stat info;

  if (options->input != NULL && is_input(fd, options->input)) {
    common_say("%s is the recording: name another file\n", path);
    return 1;
  }
  for (i = 0; i < output; i++) {
    if (outputs->files[i] != NULL &&
        fstat(fileno(outputs->files[i]), &info) == 0 && is_same(fd, &info)) {
      common_say("%s is named for two outputs: name two files\n", path);
      return 1;
    }
  }
  return 0;
}

int profile_outputs_open(profile_outputs_t *outputs,
                         const profile_options_t *options, int argc,
                         char **argv) {
  int i;

  memset(outputs, 0, sizeof(*outputs));
  for (i = 0; i < PROFILE_NR_OUTPUTS; i++) {
    if (options->outputs[i] == NULL)
      continue;
    outputs->files[i] = open_file(options->outputs[i]);
    if (outputs->files[i] == NULL || check_file(outputs, options, i) != 0)
      return 1;
  }
  outputs->title = make_title(options, argc, argv);
  return 0;
}

static void write_table(const stacks_t *stacks,
                        const profile_options_t *options,
                        const profile_totals_t *totals) {
  stacks_view_t view = options->view;
  struct winsize size;

  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
    view.columns = size.ws_col;
  if (stacks->samples > 0)
    stacks_text_table(stdout, stacks, &view);
  else if (options->off_cpu)
    puts("no waits: no thread was switched out");
  else
    puts(
        options->pids.nr > 0 && !options->all
            ? "no samples: it did not run, or only in short-lived threads; try "
              "-a with -p"
            : "no samples: nothing ran, or not for long enough; try a higher "
              "-F");
  if (options->off_cpu)
    printf("%.3f s off the CPU in %" PRIu64 " waits\n",
           (double)stacks->weight / 1e9, stacks->samples);
  printf("%" PRIu64 " samples, %" PRIu64 " records in %.1f s, %" PRIu64
         " lost\n",
         totals->samples, totals->records, totals->seconds,
         common_lost_total(&totals->lost));
  fflush(stdout);
}

/* Removes the old contents. For a pipe or a device this fails, which does no
 * harm. */
static void write_file(const profile_outputs_t *outputs, int output,
                       const stacks_t *stacks) {
  FILE *file = outputs->files[output];
  int rc = ftruncate(fileno(file), 0);

  (void)rc;
  switch (output) {
    case PROFILE_FOLDED:
      stacks_text_folded(file, stacks);
      break;
    case PROFILE_PPROF:
      pprof_write(file, stacks);
      break;
    case PROFILE_HTML:
      page_write(file, stacks, outputs->title);
      break;
    default:
      break;
  }
  fflush(file);
}

void profile_outputs_write(profile_outputs_t *outputs, const stacks_t *stacks,
                           const profile_options_t *options,
                           const profile_totals_t *totals) {
  int i;

  write_table(stacks, options, totals);
  for (i = 0; i < PROFILE_NR_OUTPUTS; i++) {
    if (outputs->files[i] != NULL)
      write_file(outputs, i, stacks);
  }
}

int profile_outputs_close(profile_outputs_t *outputs,
                          const profile_options_t *options) {
  int i, rc = 0;

  for (i = 0; i < PROFILE_NR_OUTPUTS; i++) {
    if (outputs->files[i] != NULL)
      rc |= common_stdio_close(outputs->files[i], options->outputs[i]);
  }
  free(outputs->title);
  return rc;
}
