/* SPDX-License-Identifier: MIT */
/* Reads lists of mounts. The lines can have any length: an overlay's options
 * can need several pages. The callers know the purpose of a mount. */
#include "host/mounts.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "host/system.h"

/* A line "device place type options …", cut to this size. The device and the
 * place have at most PATH_MAX bytes each. */
typedef struct walk_s {
  uvperf__mounts_each_fn each;
  void *data;
  char line[2 * PATH_MAX + 512];
} walk_t;

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

/* Ends the field that begins here, and returns the next one. */
static char *next_field(char *field) {
  field += strcspn(field, " ");
  if (*field != '\0')
    *field++ = '\0';
  return field;
}

/* A place or a type that was cut could be those of another mount, so only
 * options are used if they were cut. */
static int take_line(const char *line, void *data) {
  walk_t *walk = data;
  int is_cut = strlen(line) + 1 == sizeof(walk->line);
  char *place = next_field(walk->line);
  char *type = next_field(place);
  char *options = next_field(type);
  uvperf__mount_t mount = {place, type, options};

  next_field(options);
  mount_unescape(place);
  if (place[0] != '/' || strlen(place) >= PATH_MAX || type[0] == '\0' ||
      (is_cut && options[0] == '\0'))
    return 0;
  return walk->each(&mount, walk->data);
}

/* /proc/self is the first thread. This path shows no mounts after the first
 * thread has ended, and other threads may have mounts of their own. Linux
 * before 3.17 has only /proc/self. */
int uvperf__mounts_each(uvperf__mounts_each_fn each, void *data) {
  walk_t walk = {each, data, ""};
  int rc = uvperf__system_each_line("/proc/thread-self/mounts", "", walk.line,
                                    sizeof(walk.line), take_line, &walk);

  if (rc == -ENOENT)
    rc = uvperf__system_each_line("/proc/self/mounts", "", walk.line,
                                  sizeof(walk.line), take_line, &walk);
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
