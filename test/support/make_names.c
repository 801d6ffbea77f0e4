/* SPDX-License-Identifier: MIT */
#include "make_names.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Makes the directories before the last slash of a path. */
static int make_directories(char *path) {
  char *slash = path;
  int rc = 0;

  while (rc == 0 && (slash = strchr(slash + 1, '/')) != NULL) {
    *slash = '\0';
    if (mkdir(path, 0755) != 0 && errno != EEXIST)
      rc = -1;
    *slash = '/';
  }
  return rc;
}

/* Writes the file of one line, "path text". */
static int plant_line(const char *root, char *line) {
  char *text = strchr(line, ' ');
  char path[PATH_MAX];
  FILE *file;
  int rc;

  if (text == NULL)
    return -1;
  *text = '\0';
  snprintf(path, sizeof(path), "%s/sys/%s", root, line);
  if (make_directories(path) != 0)
    return -1;
  file = fopen(path, "we");
  if (file == NULL)
    return -1;
  rc = fputs(text + 1, file);
  return fclose(file) == 0 && rc >= 0 ? 0 : -1;
}

int make_names_plant(const char *root, const char *file) {
  char path[PATH_MAX], line[512];
  FILE *lines;
  int rc = 0;

  snprintf(path, sizeof(path), UVPERF_TEST_DIR "/support/names/%s", file);
  lines = fopen(path, "re");
  if (lines == NULL)
    rc = -1;
  while (rc == 0 && fgets(line, sizeof(line), lines) != NULL)
    if (line[0] != '#')
      rc = plant_line(root, line);
  if (rc != 0)
    perror(path);
  if (lines != NULL)
    fclose(lines);
  return rc;
}
