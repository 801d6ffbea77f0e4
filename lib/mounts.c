/* SPDX-License-Identifier: MIT */
/* Reads /proc/self/mounts, whose lines have no bound: an overlay's options can
 * take pages. What a mount is good for is for the callers. */
#include "mounts.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "file.h"

/* A line as far as it was read: "device place type options …". */
typedef struct line_s {
  int field;     /* from 0 */
  char *text;    /* where the field goes; NULL: nowhere */
  size_t size;   /* of that */
  size_t length; /* of the field, also of what did not fit */
  char place[PATH_MAX];
  char type[32];
} line_t;

static int is_octal(char byte) {
  return byte >= '0' && byte <= '7';
}

/* proc(5), fstab(5): a space, tab, newline or backslash is \ and three octal
 * digits. */
static void unescape(char *text) {
  char *to = text;

  while (*text != '\0') {
    if (text[0] == '\\' && is_octal(text[1]) && is_octal(text[2]) &&
        is_octal(text[3])) {
      *to++ =
          (char)((text[1] - '0') << 6 | (text[2] - '0') << 3 | (text[3] - '0'));
      text += 4;
    } else {
      *to++ = *text++;
    }
  }
  *to = '\0';
}

static void start_field(line_t *line, int field) {
  line->field = field;
  line->text = NULL;
  line->length = 0;
  if (field == 1) {
    line->text = line->place;
    line->size = sizeof(line->place);
  } else if (field == 2) {
    line->text = line->type;
    line->size = sizeof(line->type);
  }
}

static void end_field(line_t *line) {
  if (line->text != NULL)
    line->text[line->length < line->size ? line->length : 0] = '\0';
}

static void start_line(line_t *line) {
  line->place[0] = '\0';
  line->type[0] = '\0';
  start_field(line, 0);
}

static int end_line(line_t *line, uvperf__mounts_each_fn each, void *data) {
  int rc = 0;

  end_field(line);
  unescape(line->place);
  if (line->place[0] == '/' && line->type[0] != '\0')
    rc = each(line->place, line->type, data);
  start_line(line);
  return rc;
}

static int read_byte(line_t *line, char byte, uvperf__mounts_each_fn each,
                     void *data) {
  if (byte == '\n')
    return end_line(line, each, data);
  if (byte == ' ') {
    end_field(line);
    start_field(line, line->field < 3 ? line->field + 1 : 3);
  } else {
    if (line->text != NULL && line->length < line->size)
      line->text[line->length] = byte;
    line->length += 1;
  }
  return 0;
}

static int read_lines(int fd, uvperf__mounts_each_fn each, void *data) {
  char chunk[1024];
  line_t line;
  ssize_t nr;
  ssize_t i;
  int rc = 0;

  start_line(&line);
  while (rc == 0 && (nr = uvperf__file_read(fd, chunk, sizeof(chunk))) > 0)
    for (i = 0; rc == 0 && i < nr; i++)
      rc = read_byte(&line, chunk[i], each, data);
  if (rc != 0)
    return rc;
  /* The last line may have no newline. */
  return nr < 0 ? (int)nr : end_line(&line, each, data);
}

int uvperf__mounts_each(const char *root, uvperf__mounts_each_fn each,
                        void *data) {
  char path[PATH_MAX];
  int length = snprintf(path, sizeof(path), "%s/proc/self/mounts", root);
  int fd;
  int rc;

  if (length < 0 || length >= PATH_MAX)
    return -ENAMETOOLONG;
  fd = uvperf__file_open(path);
  if (fd < 0)
    return fd;
  rc = read_lines(fd, each, data);
  uvperf__file_close(fd);
  return rc;
}
