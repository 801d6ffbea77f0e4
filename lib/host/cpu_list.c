/* SPDX-License-Identifier: MIT */
/* Lists of CPUs such as "0,2-5". Handles only text. The callers know where the
 * text comes from, and whether such CPUs exist. */
#include "host/cpu_list.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "util/range_list.h"

#define WORDS (UVPERF__MAX_CPU / 64 + 1)

/* One bit for each CPU. The kernel's lists ascend. Users' lists may not ascend,
 * and may name a CPU twice. */
typedef struct cpu_bits_s {
  uint64_t words[WORDS];
} cpu_bits_t;

/* Sets whole words at a time, so that a list of many wide ranges takes little
 * time. */
static void set_range(cpu_bits_t *bits, unsigned int first, unsigned int last) {
  unsigned int word;

  for (word = first / 64; word <= last / 64; word++) {
    uint64_t mask = UINT64_MAX;

    if (word == first / 64)
      mask &= UINT64_MAX << first % 64;
    if (word == last / 64)
      mask &= UINT64_MAX >> (63 - last % 64);
    bits->words[word] |= mask;
  }
}

static int read_list(cpu_bits_t *bits, const char *list) {
  unsigned int first, last;
  int rc;

  memset(bits, 0, sizeof(*bits));
  list += strspn(list, " \t\n");
  if (*list == '\0')
    return 0;
  do {
    rc = uvperf__range_next(&list, UVPERF__MAX_CPU, &first, &last);
    if (rc < 0)
      return rc;
    set_range(bits, first, last);
  } while (rc > 0);
  return 0;
}

/* Returns the number of CPUs, and lists them if cpus is not NULL. Most words
 * are empty. */
static size_t list_bits(const cpu_bits_t *bits, int *cpus) {
  size_t found = 0;
  uint64_t word;
  int i, cpu;

  for (i = 0; i < WORDS; i++) {
    for (word = bits->words[i], cpu = 64 * i; word != 0; word >>= 1, cpu++) {
      if ((word & 1) == 0)
        continue;
      if (cpus != NULL)
        cpus[found] = cpu;
      found++;
    }
  }
  return found;
}

int uvperf_cpu_list_parse(const char *list, int *cpus, size_t *nr) {
  cpu_bits_t bits;
  size_t room;
  int rc;

  if (list == NULL || nr == NULL || (cpus == NULL && *nr != 0))
    return -EINVAL;
  rc = read_list(&bits, list);
  if (rc != 0)
    return rc;
  room = *nr;
  *nr = list_bits(&bits, NULL);
  if (*nr > room)
    return -ENOBUFS;
  list_bits(&bits, cpus);
  return 0;
}

int uvperf__cpu_list_has(const char *list, int cpu) {
  cpu_bits_t bits;
  int rc = read_list(&bits, list);

  if (rc != 0)
    return rc;
  return cpu >= 0 && cpu <= UVPERF__MAX_CPU &&
         (bits.words[cpu / 64] >> cpu % 64 & 1) != 0;
}
