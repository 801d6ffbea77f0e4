/* SPDX-License-Identifier: MIT */
/* Reads lists of mounts. The lines can have any length: an overlay's options
 * can need several pages. The callers know the purpose of a mount. */
#include "host/mounts.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "util/file.h"

/* A line "device place type options …", as far as it was read. */
typedef struct line_s {
  unsigned int field; /* from 0 */
  size_t length;      /* of the whole field, even if it does not fit */
  char place[PATH_MAX];
  char type[32];
  char options[512];
} line_t;

/* Where a field is stored; of size 0: nowhere. */
typedef struct room_s {
  char *text;
  size_t size;
} room_t;

static room_t room_of(line_t *line) {
  const room_t rooms[] = {{NULL, 0},
                          {line->place, sizeof(line->place)},
                          {line->type, sizeof(line->type)},
                          {line->options, sizeof(line->options)}};

  return rooms[line->field < 4 ? line->field : 0];
}

static int is_octal(char byte) {
  return byte >= '0' && byte <= '7';
}

/* In lists of mounts a space, tab, newline or backslash is written as \ and
 * three octal digits: see proc(5) and fstab(5). */
static void mount_unescape(char *text) {
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

/* Ends the field, and begins the next one. A place that was cut could be the
 * place of another mount, so only options are used if they were cut. */
static void end_field(line_t *line) {
  room_t room = room_of(line);

  if (line->length < room.size)
    room.text[line->length] = '\0';
  else if (room.size > 0)
    room.text[line->field == 3 ? room.size - 1 : 0] = '\0';
  line->field += line->field < 4;
  line->length = 0;
}

static void start_line(line_t *line) {
  line->field = 0;
  line->length = 0;
  line->place[0] = '\0';
  line->type[0] = '\0';
  line->options[0] = '\0';
}

static int end_line(line_t *line, uvperf__mounts_each_fn each, void *data) {
  uvperf__mount_t mount = {line->place, line->type, line->options};
  int rc = 0;

  end_field(line);
  mount_unescape(line->place);
  if (line->place[0] == '/' && line->type[0] != '\0')
    rc = each(&mount, data);
  start_line(line);
  return rc;
}

static int read_byte(line_t *line, char byte, uvperf__mounts_each_fn each,
                     void *data) {
  room_t room = room_of(line);

  if (byte == '\n')
    return end_line(line, each, data);
  if (byte == ' ')
    end_field(line);
  else if (line->length++ < room.size)
    room.text[line->length - 1] = byte;
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

/* /proc/self is the first thread. This path shows no mounts after the first
 * thread has ended, and other threads may have mounts of their own. Linux
 * before 3.17 has only /proc/self. */
int uvperf__mounts_each(uvperf__mounts_each_fn each, void *data) {
  int fd = uvperf__file_open("/proc/thread-self/mounts");
  int rc;

  if (fd == -ENOENT)
    fd = uvperf__file_open("/proc/self/mounts");
  if (fd < 0)
    return fd;
  rc = read_lines(fd, each, data);
  uvperf__file_close(fd);
  return rc;
}

int uvperf__mount_has(const uvperf__mount_t *mount, const char *option) {
  size_t length = strlen(option);
  const char *at = mount->options;

  while (strncmp(at, option, length) != 0 ||
         (at[length] != '\0' && at[length] != ',')) {
    at = strchr(at, ',');
    if (at == NULL)
      return 0;
    at += 1;
  }
  return 1;
}
