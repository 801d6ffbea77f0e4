/* SPDX-License-Identifier: MIT */
/* Computes the edit distance of names: how many bytes must be inserted,
 * deleted, replaced or swapped with their neighbour to make the names equal.
 * Ignores case. The work for one name is bounded by the square of the longest
 * length. */
#include "util/near_miss.h"

#include <string.h>

#include "util/ascii.h"

static size_t least_of(size_t a, size_t b) {
  return a < b ? a : b;
}

void uvperf__near_miss_init(uvperf__near_miss_t *miss, const char *wanted,
                            size_t length) {
  memset(miss, 0, sizeof(*miss));
  if (length > UVPERF__NEAR_MISS_MOST)
    return;
  memcpy(miss->wanted, wanted, length);
  miss->length = length;
  /* One error in three bytes is still a typing error. More errors would suggest
   * names that have nothing in common. */
  miss->distance = (length < 3 ? 0 : (length + 1) / 3) + 1;
}

/* Computes one row of the table of distances from the two rows before. */
static void next_row(const char *a, size_t i, const char *b, size_t nr,
                     size_t *const rows[3]) {
  size_t j;

  rows[0][0] = i;
  for (j = 1; j <= nr; j++) {
    size_t cost = uvperf__lower(a[i - 1]) != uvperf__lower(b[j - 1]);

    rows[0][j] = least_of(least_of(rows[1][j], rows[0][j - 1]) + 1,
                          rows[1][j - 1] + cost);
    if (i > 1 && j > 1 && uvperf__lower(a[i - 1]) == uvperf__lower(b[j - 2]) &&
        uvperf__lower(a[i - 2]) == uvperf__lower(b[j - 1]))
      rows[0][j] = least_of(rows[0][j], rows[2][j - 2] + 1);
  }
}

static size_t edit_distance(const char *a, size_t length, const char *b,
                            size_t nr) {
  size_t room[3][UVPERF__NEAR_MISS_MOST + 1];
  size_t *rows[3] = {room[0], room[1], room[2]};
  size_t i;

  for (i = 0; i <= nr; i++)
    rows[0][i] = i;
  for (i = 1; i <= length; i++) {
    size_t *oldest = rows[2];

    rows[2] = rows[1];
    rows[1] = rows[0];
    rows[0] = oldest;
    next_row(a, i, b, nr, rows);
  }
  return rows[0][nr];
}

/* Returns the number of leading bytes that `name` has in common with the wanted
 * name. */
static size_t common_prefix(const uvperf__near_miss_t *miss, const char *name) {
  size_t i = 0;

  while (i < miss->length && name[i] != '\0' &&
         uvperf__lower(name[i]) == uvperf__lower(miss->wanted[i]))
    i++;
  return i;
}

/* Among equally near names, prefers the name with the same beginning: a user
 * who writes "syscall" means "syscalls" rather than "vsyscall". */
static int is_nearer(const uvperf__near_miss_t *miss, const char *name,
                     size_t found) {
  if (found != miss->distance)
    return found < miss->distance;
  return miss->best[0] != '\0' &&
         common_prefix(miss, name) > common_prefix(miss, miss->best);
}

int uvperf__near_miss_each(const char *name, void *data) {
  uvperf__near_miss_t *miss = data;
  size_t length = strnlen(name, UVPERF__NEAR_MISS_MOST + 1);
  size_t gap =
      length > miss->length ? length - miss->length : miss->length - length;
  size_t found;

  if (length > UVPERF__NEAR_MISS_MOST || gap > miss->distance)
    return 0;
  found = edit_distance(miss->wanted, miss->length, name, length);
  if (!is_nearer(miss, name, found))
    return 0;
  miss->distance = found;
  memcpy(miss->best, name, length + 1);
  return 0;
}
