/* SPDX-License-Identifier: MIT */
#include "common/small_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/memory.h"

char *common_file_read(const char *path, size_t *size) {
  int fd = open(path, O_RDONLY | O_CLOEXEC), error;
  size_t capacity = 4096;
  char *text;
  ssize_t nr;

  if (fd < 0)
    return NULL;
  text = common_calloc(1, capacity);
  *size = 0;
  while ((nr = read(fd, text + *size, capacity - 1 - *size)) != 0) {
    if (nr < 0 && errno == EINTR)
      continue;
    if (nr < 0)
      break;
    *size += (size_t)nr;
    if (*size == capacity - 1)
      text = common_grow(text, &capacity, 1);
  }
  error = errno;
  close(fd);
  text[*size] = '\0';
  if (nr == 0)
    return text;
  free(text);
  errno = error;
  return NULL;
}

int common_file_line(const char *path, char *line, size_t size) {
  char *text;
  size_t nr;

  text = common_file_read(path, &nr);
  if (text == NULL)
    return -1;
  text[strcspn(text, "\n")] = '\0';
  snprintf(line, size, "%s", text);
  free(text);
  return 0;
}

int common_file_number(const char *path, int64_t *number) {
  char line[64];

  return common_file_line(path, line, sizeof(line)) == 0 &&
                 sscanf(line, "%" SCNd64, number) == 1
             ? 0
             : -1;
}
