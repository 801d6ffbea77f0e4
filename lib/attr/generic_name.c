/* SPDX-License-Identifier: MIT */
/* The tables of perf(1)'s names for generic events, searched both ways. Whether
 * this machine counts an event is not known here. On hybrid machines the upper
 * half of config holds the type of the PMU. This file does not evaluate it. */
#include "attr/generic_name.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <linux/perf_event.h>

#include "util/ascii.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Headers before Linux 5.13 do not define this number. */
#define SW_CGROUP_SWITCHES 11

/* The spellings of one name, ended by NULL. */
#define SPELLINGS 6

typedef const char *const row_t[SPELLINGS];

static const row_t hardware[] = {
    [PERF_COUNT_HW_CPU_CYCLES] = {"cpu-cycles", "cycles"},
    [PERF_COUNT_HW_INSTRUCTIONS] = {"instructions"},
    [PERF_COUNT_HW_CACHE_REFERENCES] = {"cache-references"},
    [PERF_COUNT_HW_CACHE_MISSES] = {"cache-misses"},
    [PERF_COUNT_HW_BRANCH_INSTRUCTIONS] = {"branch-instructions", "branches"},
    [PERF_COUNT_HW_BRANCH_MISSES] = {"branch-misses"},
    [PERF_COUNT_HW_BUS_CYCLES] = {"bus-cycles"},
    [PERF_COUNT_HW_STALLED_CYCLES_FRONTEND] = {"stalled-cycles-frontend",
                                               "idle-cycles-frontend"},
    [PERF_COUNT_HW_STALLED_CYCLES_BACKEND] = {"stalled-cycles-backend",
                                              "idle-cycles-backend"},
    [PERF_COUNT_HW_REF_CPU_CYCLES] = {"ref-cycles"},
};

static const row_t software[] = {
    [PERF_COUNT_SW_CPU_CLOCK] = {"cpu-clock"},
    [PERF_COUNT_SW_TASK_CLOCK] = {"task-clock"},
    [PERF_COUNT_SW_PAGE_FAULTS] = {"page-faults", "faults"},
    [PERF_COUNT_SW_CONTEXT_SWITCHES] = {"context-switches", "cs"},
    [PERF_COUNT_SW_CPU_MIGRATIONS] = {"cpu-migrations", "migrations"},
    [PERF_COUNT_SW_PAGE_FAULTS_MIN] = {"minor-faults"},
    [PERF_COUNT_SW_PAGE_FAULTS_MAJ] = {"major-faults"},
    [PERF_COUNT_SW_ALIGNMENT_FAULTS] = {"alignment-faults"},
    [PERF_COUNT_SW_EMULATION_FAULTS] = {"emulation-faults"},
    [PERF_COUNT_SW_DUMMY] = {"dummy"},
    [PERF_COUNT_SW_BPF_OUTPUT] = {"bpf-output"},
    [SW_CGROUP_SWITCHES] = {"cgroup-switches"},
};

static const row_t caches[] = {
    [PERF_COUNT_HW_CACHE_L1D] = {"L1-dcache", "l1-d", "l1d", "L1-data"},
    [PERF_COUNT_HW_CACHE_L1I] = {"L1-icache", "l1-i", "l1i", "L1-instruction"},
    [PERF_COUNT_HW_CACHE_LL] = {"LLC", "L2"},
    [PERF_COUNT_HW_CACHE_DTLB] = {"dTLB", "d-tlb", "Data-TLB"},
    [PERF_COUNT_HW_CACHE_ITLB] = {"iTLB", "i-tlb", "Instruction-TLB"},
    [PERF_COUNT_HW_CACHE_BPU] = {"branch", "branches", "bpu", "btb", "bpc"},
    [PERF_COUNT_HW_CACHE_NODE] = {"node"},
};

/* The first spelling is used before a result. The second spelling is used at
 * the end of a name. */
static const row_t operations[] = {
    [PERF_COUNT_HW_CACHE_OP_READ] = {"load", "loads", "read"},
    [PERF_COUNT_HW_CACHE_OP_WRITE] = {"store", "stores", "write"},
    [PERF_COUNT_HW_CACHE_OP_PREFETCH] = {"prefetch", "prefetches",
                                         "speculative-read",
                                         "speculative-load"},
};

static const row_t results[] = {
    [PERF_COUNT_HW_CACHE_RESULT_ACCESS] = {"refs", "Reference", "ops",
                                           "access"},
    [PERF_COUNT_HW_CACHE_RESULT_MISS] = {"misses", "miss"},
};

#define OP_LOAD     (1U << PERF_COUNT_HW_CACHE_OP_READ)
#define OP_STORE    (1U << PERF_COUNT_HW_CACHE_OP_WRITE)
#define OP_PREFETCH (1U << PERF_COUNT_HW_CACHE_OP_PREFETCH)
#define OP_ALL      (OP_LOAD | OP_STORE | OP_PREFETCH)

/* The operations of each cache, as in evsel__is_cache_op_valid() of perf(1). */
static const unsigned int cache_operations[] = {
    [PERF_COUNT_HW_CACHE_L1D] = OP_ALL,
    [PERF_COUNT_HW_CACHE_L1I] = OP_LOAD | OP_PREFETCH,
    [PERF_COUNT_HW_CACHE_LL] = OP_ALL,
    [PERF_COUNT_HW_CACHE_DTLB] = OP_ALL,
    [PERF_COUNT_HW_CACHE_ITLB] = OP_LOAD,
    [PERF_COUNT_HW_CACHE_BPU] = OP_LOAD,
    [PERF_COUNT_HW_CACHE_NODE] = OP_ALL,
};

/* Returns the events of a type, in the order of their configs. Cache events are
 * not among them. */
static const row_t *rows_of(uint32_t type, size_t *nr) {
  static const struct {
    const row_t *rows;
    size_t nr;
  } types[] = {
      [PERF_TYPE_HARDWARE] = {hardware, COUNT_OF(hardware)},
      [PERF_TYPE_SOFTWARE] = {software, COUNT_OF(software)},
  };

  *nr = type < COUNT_OF(types) ? types[type].nr : 0;
  return *nr != 0 ? types[type].rows : NULL;
}

/* If the text begins with a spelling, returns the length of the spelling.
 * Otherwise returns 0. */
static size_t generic_name_match(const char *spelling, const char *text,
                                 size_t length) {
  size_t i;

  for (i = 0; spelling[i] != '\0'; i++)
    if (i == length || uvperf__lower(spelling[i]) != uvperf__lower(text[i]))
      return 0;
  return i;
}

/* Finds the row that has a spelling with which the text begins. A '-' or the
 * end of the text must follow the spelling. The longest such spelling wins.
 * Returns its length, or 0 if no row matches. */
static size_t find_prefix(const row_t *rows, size_t nr, const char *text,
                          size_t length, size_t *row) {
  size_t longest = 0;
  size_t i, j;

  for (i = 0; i < nr; i++)
    for (j = 0; j < SPELLINGS && rows[i][j] != NULL; j++) {
      size_t taken = generic_name_match(rows[i][j], text, length);

      if (taken <= longest || (taken < length && text[taken] != '-'))
        continue;
      longest = taken;
      *row = i;
    }
  return longest;
}

/* Finds an operation and a result, as in "-load-misses". They may come in any
 * order, and each may be missing. Neither may occur twice. */
static int find_operation(const char *text, size_t length, size_t *operation,
                          size_t *result) {
  int has_operation = 0;
  int has_result = 0;
  size_t taken;

  while (length > 0) {
    text += 1; /* '-' */
    length -= 1;
    if (!has_operation && (taken = find_prefix(operations, COUNT_OF(operations),
                                               text, length, operation)) != 0)
      has_operation = 1;
    else if (!has_result && (taken = find_prefix(results, COUNT_OF(results),
                                                 text, length, result)) != 0)
      has_result = 1;
    else
      return -ENOENT;
    text += taken;
    length -= taken;
  }
  return 0;
}

/* Does the same as parse_events__decode_legacy_cache() of perf(1). Without an
 * operation the event is a load. Without a result the event is an access. */
static int find_cache(const char *name, size_t length, uint64_t *config) {
  size_t operation = PERF_COUNT_HW_CACHE_OP_READ;
  size_t result = PERF_COUNT_HW_CACHE_RESULT_ACCESS;
  size_t cache;
  size_t taken = find_prefix(caches, COUNT_OF(caches), name, length, &cache);

  if (taken == 0 ||
      find_operation(name + taken, length - taken, &operation, &result) != 0)
    return -ENOENT;
  if (!(cache_operations[cache] >> operation & 1))
    return -EINVAL;
  *config = cache | operation << 8 | result << 16;
  return 0;
}

int uvperf__generic_find(const char *name, size_t length, uint32_t *type,
                         uint64_t *config) {
  const row_t *rows;
  uint32_t i;
  size_t nr;
  size_t row = 0; /* always set where it is used, but gcc -O3 warns */
  int rc;

  for (i = PERF_TYPE_HARDWARE; i <= PERF_TYPE_SOFTWARE; i++) {
    rows = rows_of(i, &nr);
    if (length == 0 || find_prefix(rows, nr, name, length, &row) != length)
      continue;
    *type = i;
    *config = row;
    return 0;
  }
  rc = find_cache(name, length, config);
  if (rc == 0)
    *type = PERF_TYPE_HW_CACHE;
  return rc;
}

static int name_cache(uint64_t config, char *name, size_t size) {
  uint64_t cache = config & 0xff;
  uint64_t operation = config >> 8 & 0xff;
  uint64_t result = config >> 16;

  if (cache >= COUNT_OF(caches) || operation >= COUNT_OF(operations) ||
      result >= COUNT_OF(results) ||
      !(cache_operations[cache] >> operation & 1))
    return -ENOENT;
  if (result == PERF_COUNT_HW_CACHE_RESULT_ACCESS)
    snprintf(name, size, "%s-%s", caches[cache][0], operations[operation][1]);
  else
    snprintf(name, size, "%s-%s-%s", caches[cache][0], operations[operation][0],
             results[result][0]);
  return 0;
}

int uvperf__generic_name(uint32_t type, uint64_t config, char *name,
                         size_t size) {
  size_t nr;
  const row_t *rows = rows_of(type, &nr);

  if (type == PERF_TYPE_HW_CACHE)
    return name_cache(config, name, size);
  if (config >= nr)
    return -ENOENT;
  snprintf(name, size, "%s", rows[config][0]);
  return 0;
}

const char *uvperf__generic_alias(uint32_t type, uint64_t config) {
  size_t nr;
  const row_t *rows = rows_of(type, &nr);

  return config < nr ? rows[config][1] : NULL;
}

static int each_cache(uvperf__generic_each_fn each, void *data) {
  char name[UVPERF__GENERIC_NAME_BYTES];
  uint64_t cache, operation, result;
  int rc = 0;

  for (cache = 0; cache < COUNT_OF(caches); cache++)
    for (operation = 0; operation < COUNT_OF(operations); operation++)
      for (result = 0; result < COUNT_OF(results) && rc == 0; result++)
        if (name_cache(cache | operation << 8 | result << 16, name,
                       sizeof(name)) == 0)
          rc = each(name, data);
  return rc;
}

/* Calls `each` with a part of each row: the spellings at index `from` and
 * later, but before index `to`. */
static int each_row(uint32_t type, size_t from, size_t to,
                    uvperf__generic_each_fn each, void *data) {
  size_t nr;
  const row_t *rows = rows_of(type, &nr);
  size_t i, j;
  int rc = 0;

  for (i = 0; i < nr; i++)
    for (j = from; j < to && rows[i][j] != NULL && rc == 0; j++)
      rc = each(rows[i][j], data);
  return rc;
}

int uvperf__generic_each(uint32_t type, uvperf__generic_each_fn each,
                         void *data) {
  if (type == PERF_TYPE_HW_CACHE)
    return each_cache(each, data);
  return each_row(type, 0, 1, each, data);
}

int uvperf__generic_each_alias(uint32_t type, uvperf__generic_each_fn each,
                               void *data) {
  return each_row(type, 1, SPELLINGS, each, data);
}
