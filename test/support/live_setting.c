/* SPDX-License-Identifier: MIT */
#include "live_setting.h"

#include "host/system.h"
#include "support.h"

static struct {
  const char *path;
  int64_t value;
} was[4];

static size_t nr;

static int put(const char *path, int64_t value) {
  FILE *file = fopen(path, "we");

  if (file == NULL)
    return -1;
  fprintf(file, "%lld\n", (long long)value);
  return fclose(file) == 0 ? 0 : -1;
}

/* The last first: one setting may forbid writing another. */
static void put_back(void) {
  while (nr > 0) {
    nr--;
    put(was[nr].path, was[nr].value);
  }
}

int64_t live_setting(const char *path) {
  int64_t value;

  return uvperf__system_number(path, &value) == 0 ? value : -1;
}

int live_setting_write(const char *path, int64_t value) {
  static int is_registered;
  size_t i;

  for (i = 0; i < nr && strcmp(was[i].path, path) != 0; i++)
    continue;
  if (i == nr) {
    assert_true(nr < COUNT_OF(was));
    was[nr].path = path;
    was[nr].value = live_setting(path);
    nr++;
  }
  if (!is_registered)
    atexit(put_back);
  is_registered = 1;
  return put(path, value);
}
