/* SPDX-License-Identifier: MIT */
/* The file has lines of "START SIZE NAME", with numbers in hexadecimal, and
 * blanks or tabs between. The last line that covers an address counts, because
 * a JIT compiler reuses memory. So only the end of a very long file is read:
 * without it, older lines would name newer functions. */
#include "profile/symbols/perf_map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/memory.h"
#include "profile/symbols/answer.h"

#define MAX_BYTES  ((uint64_t)64 << 20)
#define LINE_BYTES (SYMBOLS_NAME_BYTES + 64)

typedef struct map_s {
  const uint64_t *addresses; /* in ascending order */
  char **names;              /* for each address; NULL: none */
  size_t nr;
  int fd;
  int is_complete;
  uint64_t at, end; /* where the next bytes are read, and no more */
  char buffer[64 << 10];
  size_t used, nr_read;
} map_t;

/* Returns the next byte, or -1. Reads by offset, because the fd is shared with
 * the program. */
static int next_byte(map_t *map) {
  ssize_t nr;

  if (map->used == map->nr_read) {
    if (map->at >= map->end)
      return -1;
    do {
      nr = pread(map->fd, map->buffer, sizeof(map->buffer), (off_t)map->at);
    } while (nr < 0 && errno == EINTR);
    if (nr <= 0)
      return -1;
    map->at += (uint64_t)nr;
    map->used = 0;
    map->nr_read = (size_t)nr;
  }
  return (unsigned char)map->buffer[map->used++];
}

/* Reads a line, cut to fit. Returns 0 at the end. A line without a newline may
 * still be written, so it counts as the end, unless the file is complete. */
static int next_line(map_t *map, char line[LINE_BYTES]) {
  size_t nr = 0;
  int byte;

  while ((byte = next_byte(map)) >= 0) {
    if (byte == '\n') {
      line[nr] = '\0';
      return 1;
    }
    if (nr < LINE_BYTES - 1)
      line[nr++] = (char)byte;
  }
  line[nr] = '\0';
  return map->is_complete && nr > 0;
}

/* The size is that at the start, so that the work ends while the file grows. */
static void find_lines(map_t *map) {
  char line[LINE_BYTES];
  struct stat info;

  if (fstat(map->fd, &info) != 0 || info.st_size <= 0)
    return;
  map->end = (uint64_t)info.st_size;
  if (map->end <= MAX_BYTES)
    return;
  map->at = map->end - MAX_BYTES;
  next_line(map, line);
}

static int compare_numbers(const void *a, const void *b) {
  const uint64_t *left = a, *right = b;

  return (*left > *right) - (*left < *right);
}

static size_t find_first(const map_t *map, uint64_t start) {
  size_t low = 0, high = map->nr, middle;

  while (low < high) {
    middle = low + (high - low) / 2;
    if (map->addresses[middle] < start)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Reads a number and the blanks after it. Returns what follows, or NULL. */
static const char *read_hex(const char *line, uint64_t *number) {
  char *end;

  *number = strtoull(line, &end, 16);
  return end == line || (*end != ' ' && *end != '\t')
             ? NULL
             : end + strspn(end, " \t");
}

static void add_line(map_t *map, const char *line) {
  uint64_t start, size;
  size_t i;

  line = read_hex(line, &start);
  if (line != NULL)
    line = read_hex(line, &size);
  if (line == NULL || line[0] == '\0')
    return;
  for (i = find_first(map, start);
       i < map->nr && map->addresses[i] < start + size; i++) {
    free(map->names[i]);
    map->names[i] = strdup(line);
  }
}

void symbols_perf_map_answer(symbols_message_t *request,
                             symbols_message_t *response) {
  map_t *map = common_calloc(1, sizeof(*map));
  char line[LINE_BYTES];
  uint64_t *addresses;
  const void *bytes;
  size_t i, size;

  map->is_complete = symbols_get_number(request) != 0;
  bytes = symbols_get_bytes(request, &size);
  map->nr = size / sizeof(uint64_t);
  addresses = common_calloc(map->nr + 1, sizeof(uint64_t));
  memcpy(addresses, bytes, map->nr * sizeof(uint64_t));
  qsort(addresses, map->nr, sizeof(*addresses), compare_numbers);
  map->addresses = addresses;
  map->names = common_calloc(map->nr + 1, sizeof(char *));
  map->fd = symbols_get_fd(request);
  find_lines(map);
  while (next_line(map, line))
    add_line(map, line);
  symbols_answer_begin(response, "", NULL, 0, 0, map->nr);
  for (i = 0; i < map->nr; i++) {
    /* The name is valid only for this address, because the compiler may reuse
     * the rest of the entry. */
    symbols_answer_place(response, addresses[i], addresses[i], addresses[i],
                         addresses[i] + 1, map->names[i] != NULL);
    if (map->names[i] != NULL)
      symbols_answer_name(response, map->names[i], "", "", 0);
    free(map->names[i]);
  }
  close(map->fd);
  free(map->names);
  free(addresses);
  free(map);
}
