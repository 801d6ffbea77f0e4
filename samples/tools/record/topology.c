/* SPDX-License-Identifier: MIT */
/* The features that describe the topology of CPUs, caches and memory. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uvperf.h>

#include "common/memory.h"
#include "common/small_file.h"
#include "common/targets.h"
#include "common/topology.h"
#include "record/features.h"

#define CPUS  "/sys/devices/system/cpu"
#define NODES "/sys/devices/system/node"

/* Room for a list of CPUs in sysfs, at most a page. */
#define LIST_BYTES 4096

/* -- CPUs ------------------------------------------------------------------ */

/* Lists of nodes have the format of lists of CPUs. */
static void read_list(common_ids_t *ids, const char *path) {
  char list[LIST_BYTES];

  if (common_file_line(path, list, sizeof(list)) == 0)
    common_cpus_list(ids, list);
}

int record_last_cpu(void) {
  common_ids_t cpus = {NULL, 0, 0};
  int last;

  read_list(&cpus, CPUS "/present");
  last = cpus.nr > 0 ? cpus.ids[cpus.nr - 1] : -1;
  common_ids_free(&cpus);
  return last;
}

static int read_of_cpu(int cpu, const char *name, char list[LIST_BYTES]) {
  char path[128];

  snprintf(path, sizeof(path), CPUS "/cpu%d/%s", cpu, name);
  return common_file_line(path, list, LIST_BYTES);
}

/* Puts the lists of CPUs that belong together, each list once. Older kernels
 * have other names for these files:
 * Documentation/admin-guide/cputopology.rst. */
static size_t put_lists(int last, const char *name, const char *old_name,
                        common_buffer_t *bytes) {
  common_texts_t texts = {NULL, 0, 0};
  char list[LIST_BYTES];
  size_t i, nr;
  int cpu;

  for (cpu = 0; cpu <= last; cpu++) {
    if (read_of_cpu(cpu, name, list) == 0 ||
        read_of_cpu(cpu, old_name, list) == 0)
      common_texts_add(&texts, list, strlen(list));
  }
  record_bytes_put_u32(bytes, (uint32_t)texts.nr);
  for (i = 0; i < texts.nr; i++)
    record_bytes_put_string(bytes, texts.texts[i]);
  nr = texts.nr;
  common_texts_free(&texts);
  return nr;
}

static void put_id(int cpu, const char *name, common_buffer_t *bytes) {
  record_bytes_put_u32(bytes, (uint32_t)common_topology_id(cpu, name));
}

/* perf(1) asks for dies on x86 and s390 only: has_die_topology of
 * tools/perf/util/cputopo.c. */
static int has_dies(void) {
  char line[LIST_BYTES];

#if defined(__x86_64__) || defined(__i386__) || defined(__s390x__)
  return read_of_cpu(0, "topology/die_cpus_list", line) == 0;
#else
  (void)line;
  return 0;
#endif
}

int record_put_cpu_topology(common_buffer_t *bytes) {
  int cpu, last = record_last_cpu();
  size_t nr;

  nr = put_lists(last, "topology/package_cpus_list",
                 "topology/core_siblings_list", bytes);
  nr += put_lists(last, "topology/core_cpus_list",
                  "topology/thread_siblings_list", bytes);
  for (cpu = 0; cpu <= last; cpu++) {
    put_id(cpu, "core_id", bytes);
    put_id(cpu, "physical_package_id", bytes);
  }
  if (nr == 0 || !has_dies())
    return nr > 0;
  put_lists(last, "topology/die_cpus_list", "topology/die_cpus_list", bytes);
  for (cpu = 0; cpu <= last; cpu++)
    put_id(cpu, "die_id", bytes);
  return 1;
}

/* -- memory ---------------------------------------------------------------- */

/* "Node 0 MemTotal:       10315980 kB" */
static uint64_t node_memory(const char *text, const char *name) {
  const char *at = strstr(text, name);

  return at == NULL ? 0 : strtoull(at + strlen(name), NULL, 10);
}

static int put_node(int node, common_buffer_t *bytes) {
  char path[128], cpus[LIST_BYTES], *text;
  size_t size;

  snprintf(path, sizeof(path), NODES "/node%d/cpulist", node);
  if (common_file_line(path, cpus, sizeof(cpus)) != 0)
    return 0;
  snprintf(path, sizeof(path), NODES "/node%d/meminfo", node);
  text = common_file_read(path, &size);
  if (text == NULL)
    return 0;
  record_bytes_put_u32(bytes, (uint32_t)node);
  record_bytes_put_u64(bytes, node_memory(text, "MemTotal:"));
  record_bytes_put_u64(bytes, node_memory(text, "MemFree:"));
  record_bytes_put_string(bytes, cpus);
  free(text);
  return 1;
}

int record_put_numa_topology(common_buffer_t *bytes) {
  common_ids_t nodes = {NULL, 0, 0};
  size_t i, start = bytes->used;
  uint32_t put = 0;

  read_list(&nodes, NODES "/online");
  record_bytes_put_u32(bytes, 0);
  for (i = 0; i < nodes.nr; i++)
    put += (uint32_t)put_node(nodes.ids[i], bytes);
  common_ids_free(&nodes);
  memcpy(bytes->text + start, &put, sizeof(put));
  return put > 0;
}

/* -- caches ---------------------------------------------------------------- */

typedef struct cache_s {
  uint32_t numbers[4]; /* level, bytes of a line, sets, ways */
  char type[32];
  char size[32];
  char map[LIST_BYTES];
} cache_t;

typedef struct caches_s {
  cache_t *caches;
  size_t nr;
  size_t capacity;
} caches_t;

static int read_cache_line(int cpu, int index, const char *name, char *line,
                           size_t size) {
  char path[128];

  snprintf(path, sizeof(path), CPUS "/cpu%d/cache/index%d/%s", cpu, index,
           name);
  return common_file_line(path, line, size);
}

/* Returns 0, or -1 if the CPU has no such cache. */
static int read_cache(int cpu, int index, cache_t *cache) {
  static const char *const names[] = {"level", "coherency_line_size",
                                      "number_of_sets",
                                      "ways_of_associativity"};
  char line[32];
  size_t i;

  memset(cache, 0, sizeof(*cache));
  for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
    if (read_cache_line(cpu, index, names[i], line, sizeof(line)) == 0)
      cache->numbers[i] = (uint32_t)strtoul(line, NULL, 10);
    else if (i == 0)
      return -1;
  }
  return read_cache_line(cpu, index, "type", cache->type,
                         sizeof(cache->type)) == 0 &&
                 read_cache_line(cpu, index, "size", cache->size,
                                 sizeof(cache->size)) == 0 &&
                 read_cache_line(cpu, index, "shared_cpu_list", cache->map,
                                 sizeof(cache->map)) == 0
             ? 0
             : -1;
}

/* Compares like cpu_cache_level__cmp. If CPUs share a cache, each of them lists
 * it. */
static int is_same(const cache_t *a, const cache_t *b) {
  return memcmp(a->numbers, b->numbers, sizeof(a->numbers)) == 0 &&
         strcmp(a->type, b->type) == 0 && strcmp(a->size, b->size) == 0 &&
         strcmp(a->map, b->map) == 0;
}

static void add_cache(caches_t *caches, const cache_t *cache) {
  size_t i;

  for (i = 0; i < caches->nr; i++) {
    if (is_same(&caches->caches[i], cache))
      return;
  }
  *COMMON_ADD(caches->caches, caches->nr, caches->capacity) = *cache;
}

static int by_level(const void *a, const void *b) {
  const cache_t *left = a, *right = b;

  return (left->numbers[0] > right->numbers[0]) -
         (left->numbers[0] < right->numbers[0]);
}

int record_put_cache(common_buffer_t *bytes) {
  caches_t caches = {NULL, 0, 0};
  int cpu, index, last = record_last_cpu();
  cache_t cache;
  size_t i;

  for (cpu = 0; cpu <= last; cpu++) {
    for (index = 0; read_cache(cpu, index, &cache) == 0; index++)
      add_cache(&caches, &cache);
  }
  if (caches.nr > 0)
    qsort(caches.caches, caches.nr, sizeof(*caches.caches), by_level);
  record_bytes_put_u32(bytes, 1); /* the version */
  record_bytes_put_u32(bytes, (uint32_t)caches.nr);
  for (i = 0; i < caches.nr; i++) {
    common_buffer_add(bytes, caches.caches[i].numbers,
                      sizeof(caches.caches[i].numbers));
    record_bytes_put_string(bytes, caches.caches[i].type);
    record_bytes_put_string(bytes, caches.caches[i].size);
    record_bytes_put_string(bytes, caches.caches[i].map);
  }
  free(caches.caches);
  return 1; /* perf writes an empty list too */
}
