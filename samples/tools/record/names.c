/* SPDX-License-Identifier: MIT */
/* Renames and removes files. Does not read them. */
#include "record/names.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/memory.h"

#define STAMP_BYTES 24
/* The number of names to try: all names of one second. */
#define MOST_TRIES 100

static void put_stamp(char stamp[STAMP_BYTES], uint64_t hundredths) {
  time_t seconds = (time_t)(hundredths / 100);
  struct tm parts;
  size_t used;

  localtime_r(&seconds, &parts);
  used = strftime(stamp, STAMP_BYTES, "%Y%m%d%H%M%S", &parts);
  snprintf(stamp + used, STAMP_BYTES - used, "%02u",
           (unsigned)(hundredths % 100));
}

/* Not every file system supports RENAME_NOREPLACE. */
static int rename_to_new(const char *from, const char *to) {
  if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
    return 0;
  if (errno != EINVAL && errno != ENOSYS)
    return -errno;
  if (access(to, F_OK) == 0)
    return -EEXIST;
  return rename(from, to) == 0 ? 0 : -errno;
}

static void keep(record_names_t *names, const char *name) {
  char **slot;

  if (names->max == 0)
    return;
  if (names->kept == NULL)
    names->kept = common_calloc(names->max, sizeof(*names->kept));
  slot = &names->kept[names->next];
  names->next = (names->next + 1) % names->max;
  if (*slot != NULL)
    unlink(*slot);
  free(*slot);
  *slot = common_copy_text(name);
}

int record_names_finish(record_names_t *names, const char *path) {
  size_t size = strlen(path) + 1 + STAMP_BYTES, tries;
  char stamp[STAMP_BYTES], *name = common_calloc(1, size);
  struct timespec now;
  uint64_t hundredths;
  int rc = -EEXIST;

  clock_gettime(CLOCK_REALTIME, &now);
  hundredths = (uint64_t)now.tv_sec * 100 + (uint64_t)now.tv_nsec / 10000000;
  for (tries = 0; rc == -EEXIST && tries < MOST_TRIES; tries++) {
    put_stamp(stamp, hundredths + tries);
    snprintf(name, size, "%s.%s", path, stamp);
    rc = rename_to_new(path, name);
  }
  if (rc != 0) {
    free(name);
    return rc;
  }
  keep(names, name);
  free(names->last);
  names->last = name;
  return 0;
}

void record_names_free(record_names_t *names) {
  size_t i;

  for (i = 0; names->kept != NULL && i < names->max; i++)
    free(names->kept[i]);
  free(names->kept);
  free(names->last);
}
