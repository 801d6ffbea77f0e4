/* SPDX-License-Identifier: MIT */
/* The file has lines of "START SIZE NAME", with numbers in hexadecimal, and
 * blanks or tabs between. The last line that covers an address counts, because
 * a JIT compiler reuses memory. So only the end of a very long file is read:
 * without it, older lines would name newer functions. */
#include "profile/symbols/perf_map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/memory.h"
#include "common/sorted.h"
#include "profile/symbols/answer.h"

#define MAX_BYTES ((off_t)64 << 20)

typedef struct map_s {
  const uint64_t *addresses; /* in ascending order */
  char **names;              /* for each address; NULL: none */
  size_t nr;
} map_t;

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
  for (i = common_sorted_below(map->addresses, map->nr, sizeof(*map->addresses),
                               start);
       i < map->nr && map->addresses[i] < start + size; i++) {
    free(map->names[i]);
    map->names[i] = strndup(line, SYMBOLS_NAME_BYTES);
  }
}

/* The size is that at the start, so that the work ends while the file grows. A
 * line without a newline may still be written, so it counts only if the file is
 * complete. The fd has the offset of an earlier request. */
static void read_lines(map_t *map, FILE *file, int is_complete) {
  char *line = NULL;
  size_t room = 0;
  struct stat info;
  off_t left;
  ssize_t nr;

  if (fstat(fileno(file), &info) != 0)
    return;
  left = info.st_size < MAX_BYTES ? info.st_size : MAX_BYTES;
  fseeko(file, info.st_size - left, SEEK_SET);
  if (info.st_size > MAX_BYTES && (nr = getline(&line, &room, file)) > 0)
    left -= nr;
  for (; left > 0 && (nr = getline(&line, &room, file)) > 0; left -= nr) {
    if (line[nr - 1] == '\n')
      line[nr - 1] = '\0';
    else if (!is_complete)
      break;
    add_line(map, line);
  }
  free(line);
}

void symbols_perf_map_answer(symbols_message_t *request,
                             symbols_message_t *response) {
  int is_complete = symbols_get_number(request) != 0, fd;
  uint64_t *addresses;
  const void *bytes;
  map_t map = {0};
  FILE *file;
  size_t i;

  bytes = symbols_get_bytes(request, &i);
  map.nr = i / sizeof(uint64_t);
  addresses = common_calloc(map.nr + 1, sizeof(uint64_t));
  memcpy(addresses, bytes, map.nr * sizeof(uint64_t));
  qsort(addresses, map.nr, sizeof(*addresses), common_sorted_compare);
  map.addresses = addresses;
  map.names = common_calloc(map.nr + 1, sizeof(char *));
  fd = symbols_get_fd(request);
  file = fd < 0 ? NULL : fdopen(fd, "r");
  if (file != NULL)
    read_lines(&map, file, is_complete);
  symbols_answer_begin(response, "", NULL, 0, 0, map.nr);
  for (i = 0; i < map.nr; i++) {
    /* The name is valid only for this address, because the compiler may reuse
     * the rest of the entry. */
    symbols_answer_place(response, addresses[i], addresses[i], addresses[i],
                         addresses[i] + 1, map.names[i] != NULL);
    if (map.names[i] != NULL)
      symbols_answer_name(response, map.names[i], "", "", 0);
    free(map.names[i]);
  }
  if (file != NULL)
    fclose(file);
  free(map.names);
  free(addresses);
}
