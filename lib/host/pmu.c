/* SPDX-License-Identifier: MIT */
/* Reads the files that the kernel's
 * Documentation/ABI/testing/sysfs-bus-event_source-* describe: PMUs, their
 * types, terms, named events and CPUs. name/ decides which of these files an
 * event needs. */
#define _GNU_SOURCE 1
#include "host/pmu.h"

#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attr/attr.h"
#include "util/file.h"
#include "util/range_list.h"

#define PMUS "/sys/bus/event_source/devices"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* -- Paths ---------------------------------------------------------------- */

static int is_component(const char *name) {
  return uvperf__file_is_name(name) && strlen(name) <= NAME_MAX;
}

/* Writes the path of a file of a PMU: the file "cpumask", the
 * file "tsc" in the directory "events", or the file next to "tsc" with the
 * suffix ".scale". */
static int file_path(char path[PATH_MAX], const char *pmu, const char *part,
                     const char *name, const char *suffix) {
  if (!is_component(pmu) || (name != NULL && !is_component(name)))
    return -EINVAL;
  if (name == NULL)
    snprintf(path, PATH_MAX, PMUS "/%s/%s", pmu, part);
  else
    snprintf(path, PATH_MAX, PMUS "/%s/%s/%s%s", pmu, part, name, suffix);
  return 0;
}

/* Reads such a file. */
static int read_text(const char *pmu, const char *part, const char *name,
                     const char *suffix, char text[UVPERF__PMU_TEXT_BYTES]) {
  char path[PATH_MAX];
  int rc = file_path(path, pmu, part, name, suffix);

  text[0] = '\0';
  if (rc != 0)
    return rc;
  rc = uvperf__system_text(path, text, UVPERF__PMU_TEXT_BYTES);
  /* If the PMU exists but the directory does not, the file does not exist
   * either. */
  return rc == -ENOTDIR ? -ENOENT : rc;
}

/* Reads a file that contains a number from 0 to UINT32_MAX. */
static int read_u32(const char *pmu, const char *part, uint32_t *value) {
  char path[PATH_MAX];
  int64_t number;
  int rc = file_path(path, pmu, part, NULL, NULL);

  *value = 0;
  if (rc != 0)
    return rc;
  rc = uvperf__system_number(path, &number);
  if (rc == -ENOTDIR)
    return -ENOENT;
  if (rc == -ERANGE || (rc == 0 && (number < 0 || number > UINT32_MAX)))
    return -EINVAL;
  *value = (uint32_t)number;
  return rc;
}

/* -- Directories ---------------------------------------------------------- */

static int open_directory(const char *pmu, const char *part) {
  char path[PATH_MAX];

  snprintf(path, PATH_MAX, PMUS "/%s/%s", pmu, part);
  return uvperf__directory_open(path);
}

/* Checks that the PMU exists. Returns 0 or -errno. */
static int find_pmu(const char *pmu) {
  int fd = open_directory(pmu, "");

  if (fd >= 0)
    uvperf__file_close(fd);
  return fd >= 0 ? 0 : uvperf__is_shortage(fd) ? fd : -ENOENT;
}

/* Calls `each` with each entry of a directory that a PMU may have. */
static int each_part(const char *pmu, const char *part, uvperf__name_fn each,
                     void *data) {
  int fd, found;

  if (!is_component(pmu))
    return -EINVAL;
  fd = open_directory(pmu, part);
  if (fd >= 0)
    return uvperf__directory_each(fd, each, data);
  if (fd != -ENOENT && fd != -ENOTDIR)
    return fd;
  found = find_pmu(pmu);
  return found != 0 || fd == -ENOENT ? found : fd;
}

/* The same check as pmu_alias_info_file() of perf(1). */
static int is_event(const char *name) {
  static const char *const suffixes[] = {".scale", ".unit", ".per-pkg",
                                         ".snapshot"};
  size_t length = strlen(name), i;

  for (i = 0; i < COUNT_OF(suffixes); i++) {
    size_t suffix = strlen(suffixes[i]);

    if (length > suffix && strcmp(name + length - suffix, suffixes[i]) == 0)
      return 0;
  }
  return 1;
}

int uvperf__pmu_each(uvperf__name_fn each, void *data) {
  int fd = open_directory("", "");

  return fd < 0 ? fd : uvperf__directory_each(fd, each, data);
}

int uvperf__pmu_each_format(const char *pmu, uvperf__name_fn each, void *data) {
  return each_part(pmu, "format", each, data);
}

typedef struct events_s {
  uvperf__name_fn each;
  void *data;
} events_t;

static int pass_event(const char *name, void *data) {
  const events_t *events = data;

  return is_event(name) ? events->each(name, events->data) : 0;
}

int uvperf__pmu_each_event(const char *pmu, uvperf__name_fn each, void *data) {
  events_t events = {each, data};

  return each_part(pmu, "events", pass_event, &events);
}

/* -- Types ---------------------------------------------------------------- */

int uvperf_pmu_type(const char *pmu, uint32_t *type) {
  int rc;

  if (type != NULL)
    *type = 0;
  if (pmu == NULL || type == NULL)
    return -EINVAL;
  rc = read_u32(pmu, "type", type);
  if (rc != -ENOENT)
    return rc;
  rc = find_pmu(pmu);
  return rc == 0 ? -ENODATA : rc;
}

typedef struct search_s {
  uint32_t type;
  char *name;
  size_t size;
} search_t;

static int search_pmu(const char *name, void *data) {
  search_t *search = data;
  uint32_t type;

  if (uvperf_pmu_type(name, &type) != 0 || type != search->type)
    return 0;
  snprintf(search->name, search->size, "%s", name);
  return 1;
}

int uvperf__pmu_name(uint32_t type, char *name, size_t size) {
  search_t search = {type, name, size};
  int rc;

  name[0] = '\0';
  rc = uvperf__pmu_each(search_pmu, &search);
  if (rc < 0)
    return rc;
  return rc > 0 ? 0 : -ENOENT;
}

int uvperf__pmu_is(uint32_t type, const char *pmu) {
  uint32_t its;

  /* Types below PERF_TYPE_MAX are fixed. */
  return type >= PERF_TYPE_MAX && uvperf_pmu_type(pmu, &its) == 0 &&
         its == type;
}

int uvperf__pmu_is_probe(uint32_t type) {
  static const char *const probes[] = {"uprobe", "kprobe"};
  uint32_t its;
  size_t i;
  int rc;

  for (i = 0; i < COUNT_OF(probes) && type >= PERF_TYPE_MAX; i++) {
    rc = uvperf_pmu_type(probes[i], &its);
    if (uvperf__is_shortage(rc))
      return rc;
    if (rc == 0 && its == type)
      return 1;
  }
  return 0;
}

/* -- Terms ---------------------------------------------------------------- */

static int parse_field(const char **text, enum uvperf_attr_field *field) {
  const char *name;
  size_t length, i;

  *text += strspn(*text, " \t\n");
  length = strcspn(*text, ": \t\n");
  for (i = 0; i < UVPERF__ATTR_CONFIGS; i++) {
    *field = uvperf__attr_configs[i];
    name = uvperf__attr_field_name(*field);
    if (strlen(name) == length && strncmp(*text, name, length) == 0) {
      *text += length;
      *text += strspn(*text, " \t\n");
      return 0;
    }
  }
  return -EINVAL;
}

/* Parses the text of a term. Returns -EINVAL if the text is not a format, or
 * names a field or bit that no attr has. */
static int parse_format(const char *text, uvperf__pmu_format_t *format) {
  unsigned int first, last;
  int rc;

  format->mask = 0;
  if (parse_field(&text, &format->field) != 0 || *text != ':')
    return -EINVAL;
  text += 1;
  do {
    rc = uvperf__range_next(&text, 63, &first, &last);
    if (rc < 0)
      return rc;
    format->mask |= UINT64_MAX << first & UINT64_MAX >> (63 - last);
  } while (rc > 0);
  return 0;
}

int uvperf__pmu_format(const char *pmu, const char *term,
                       uvperf__pmu_format_t *format) {
  char text[UVPERF__PMU_TEXT_BYTES];
  int rc = read_text(pmu, "format", term, "", text);

  return rc != 0 ? rc : parse_format(text, format);
}

/* Returns the lowest set bit. */
static uint64_t lowest_bit(uint64_t word) {
  return word & (~word + 1);
}

int uvperf__pmu_spread(uint64_t mask, uint64_t value, uint64_t *bits) {
  *bits = 0;
  for (; mask != 0; mask &= mask - 1, value >>= 1)
    if (value & 1)
      *bits |= lowest_bit(mask);
  return value != 0 ? -ERANGE : 0;
}

uint64_t uvperf__pmu_gather(uint64_t mask, uint64_t bits) {
  uint64_t value = 0, bit = 1;

  for (; mask != 0; mask &= mask - 1, bit <<= 1)
    if (bits & lowest_bit(mask))
      value |= bit;
  return value;
}

/* -- Named events --------------------------------------------------------- */

int uvperf__pmu_event(const char *pmu, const char *event,
                      char terms[UVPERF__PMU_TEXT_BYTES]) {
  int rc;

  terms[0] = '\0';
  if (is_component(event) && !is_event(event))
    return is_component(pmu) ? -ENOENT : -EINVAL;
  rc = read_text(pmu, "events", event, "", terms);
  if (rc != 0)
    return rc;
  return terms[0] == '\0' ? -EINVAL : 0;
}

/* Changes the upper-case letters (`first` is 'A') or the lower-case letters
 * ('a') to the other case, independent of the locale. Returns 1 if there were
 * such letters. */
static int swap_case(char *name, char first) {
  int turned = 0;

  for (; *name != '\0'; name++)
    if (*name >= first && *name <= first + ('z' - 'a')) {
      *name ^= 'a' ^ 'A';
      turned = 1;
    }
  return turned;
}

/* According to sysfs-bus-event_source-devices-events a name is all lower case
 * or all upper case, so that perf(1), which accepts any case, need not
 * search. */
int uvperf__pmu_event_of_any_case(const char *pmu,
                                  char event[UVPERF__PMU_NAME_BYTES],
                                  char terms[UVPERF__PMU_TEXT_BYTES]) {
  int rc = uvperf__pmu_event(pmu, event, terms);

  if (rc == -ENOENT && swap_case(event, 'A'))
    rc = uvperf__pmu_event(pmu, event, terms);
  if (rc == -ENOENT && swap_case(event, 'a'))
    rc = uvperf__pmu_event(pmu, event, terms);
  return rc;
}

/* Reads a file next to an event. *is_there becomes 1 if the file exists.
 * Returns 0 or -errno. */
static int read_beside(const char *pmu, const char *event, const char *suffix,
                       char text[UVPERF__PMU_TEXT_BYTES], int *is_there) {
  int rc = read_text(pmu, "events", event, suffix, text);

  *is_there = rc == 0;
  /* The name of an event may be so long that there is no room for the
   * suffix. */
  return rc == -ENOENT || rc == -ENAMETOOLONG ? 0 : rc;
}

/* Uses the kernel's locale and not the program's: strtod(3) would expect a
 * decimal comma in most of Europe. newlocale(3) needs no memory for "C", which
 * is built in. */
static int parse_scale(const char *text, double *scale) {
  locale_t kernels = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  char *end;

  if (kernels == (locale_t)0)
    return -ENOMEM;
  *scale = strtod_l(text, &end, kernels);
  freelocale(kernels);
  if (end == text || end[strspn(end, " \t\n")] != '\0' || !isfinite(*scale))
    return -EINVAL;
  return 0;
}

int uvperf__pmu_measure(const char *pmu, const char *event,
                        uvperf__pmu_measure_t *measure) {
  char text[UVPERF__PMU_TEXT_BYTES];
  int rc = uvperf__pmu_event(pmu, event, text);
  int is_there;

  memset(measure, 0, sizeof(*measure));
  measure->scale = 1;
  if (rc == 0)
    rc = read_beside(pmu, event, ".scale", text, &is_there);
  if (rc == 0 && is_there)
    rc = parse_scale(text, &measure->scale);
  if (rc == 0)
    rc = read_beside(pmu, event, ".unit", text, &is_there);
  if (rc == 0 && strlen(text) >= sizeof(measure->unit))
    rc = -EINVAL;
  if (rc != 0)
    return rc;
  strcpy(measure->unit, text);
  /* The file's existence is enough, as for perf(1). */
  rc = read_beside(pmu, event, ".per-pkg", text, &measure->is_per_package);
  if (rc == 0)
    rc = read_beside(pmu, event, ".snapshot", text, &measure->is_snapshot);
  return rc;
}

/* -- CPUs and skid -------------------------------------------------------- */

int uvperf__pmu_cpus(const char *pmu, char list[UVPERF__PMU_TEXT_BYTES],
                     int *is_mask) {
  int rc = read_text(pmu, "cpumask", NULL, NULL, list);

  *is_mask = rc == 0;
  return rc != -ENOENT ? rc : read_text(pmu, "cpus", NULL, NULL, list);
}

int uvperf__pmu_max_precise(const char *pmu, uint32_t *max) {
  return read_u32(pmu, "caps/max_precise", max);
}

/* -- PMUs of cores -------------------------------------------------------- */

/* Sorts the PMUs by type, because the kernel tries them in this order. */
static int add_core(const char *name, void *data) {
  char list[UVPERF__PMU_TEXT_BYTES];
  uvperf__core_pmus_t *cores = data;
  uint32_t type;
  int is_mask;
  size_t at = cores->nr;
  int rc = uvperf__pmu_cpus(name, list, &is_mask);

  if (rc == 0 && !is_mask)
    rc = uvperf_pmu_type(name, &type);
  if (rc != 0 || is_mask || cores->nr == UVPERF__CORE_PMUS)
    return uvperf__is_shortage(rc) ? rc : 0;
  for (; at > 0 && cores->pmus[at - 1].type > type; at--)
    cores->pmus[at] = cores->pmus[at - 1];
  snprintf(cores->pmus[at].name, sizeof(cores->pmus[at].name), "%s", name);
  cores->pmus[at].type = type;
  cores->nr++;
  return 0;
}

/* x86 has had extended types since it had several PMUs ("cpu_core", Linux
 * 5.13): init_hybrid in arch/x86/events/core.c. Arm's PMU driver has had them
 * since Linux 6.6 (PERF_PMU_CAP_EXTENDED_HW_TYPE in drivers/perf/arm_pmu.c). */
static int has_extended_type(const uvperf__core_pmus_t *cores) {
  return strncmp(cores->pmus[0].name, "cpu_", 4) == 0 ||
         uvperf__system_is_before(6, 6) == 0;
}

int uvperf__pmu_cores(uvperf__core_pmus_t *cores) {
  uint32_t type;
  int rc = uvperf_pmu_type("cpu", &type);

  memset(cores, 0, sizeof(*cores));
  if (rc != 0)
    rc = uvperf__is_shortage(rc) ? rc : uvperf__pmu_each(add_core, cores);
  if (uvperf__is_shortage(rc))
    return rc;
  cores->is_read = 1;
  if (cores->nr > 1)
    cores->has_extended_type = has_extended_type(cores);
  return 0;
}

/* -- The public functions: a walk over all of it --------------------------- */

/* An unusable file is left out and does not hide the others. The exception is a
 * shortage in this process, because it would make all files look unusable. */
static int leave_out(int code) {
  return uvperf__is_shortage(code) ? code : 0;
}

typedef struct walk_s {
  const char *pmu; /* of terms and events */
  uvperf_pmu_cb pmu_cb;
  uvperf_pmu_format_cb format_cb;
  uvperf_pmu_event_cb event_cb;
  void *arg;
} walk_t;

static int show_pmu(const char *name, void *data) {
  char cpus[UVPERF__PMU_TEXT_BYTES];
  const walk_t *walk = data;
  uvperf_pmu_t pmu;
  uint32_t max;
  int rc;

  memset(&pmu, 0, sizeof(pmu));
  pmu.name = name;
  rc = uvperf_pmu_type(name, &pmu.type);
  if (rc != 0)
    return leave_out(rc);
  rc = uvperf__pmu_cpus(name, cpus, &pmu.is_cpumask);
  if (rc != 0 && rc != -ENOENT)
    return leave_out(rc);
  if (rc == 0)
    pmu.cpus = cpus;
  rc = uvperf__pmu_max_precise(name, &max);
  if (leave_out(rc) != 0)
    return rc;
  pmu.max_precise = rc == 0 && max <= INT_MAX ? (int)max : -1;
  return walk->pmu_cb(&pmu, walk->arg);
}

static int show_format(const char *name, void *data) {
  char text[UVPERF__PMU_TEXT_BYTES];
  uvperf__pmu_format_t parsed;
  uvperf_pmu_format_t format;
  const walk_t *walk = data;
  int rc = read_text(walk->pmu, "format", name, "", text);

  if (rc == 0)
    rc = parse_format(text, &parsed);
  if (rc != 0)
    return leave_out(rc);
  memset(&format, 0, sizeof(format));
  format.name = name;
  format.text = text;
  format.field = parsed.field;
  format.mask = parsed.mask;
  return walk->format_cb(&format, walk->arg);
}

static int show_event(const char *name, void *data) {
  char terms[UVPERF__PMU_TEXT_BYTES];
  uvperf__pmu_measure_t measure;
  uvperf_pmu_event_t event;
  const walk_t *walk = data;
  int rc = uvperf__pmu_event(walk->pmu, name, terms);

  if (rc == 0)
    rc = uvperf__pmu_measure(walk->pmu, name, &measure);
  if (rc != 0)
    return leave_out(rc);
  memset(&event, 0, sizeof(event));
  event.name = name;
  event.terms = terms;
  event.unit = measure.unit;
  event.scale = measure.scale;
  event.is_per_package = measure.is_per_package;
  event.is_snapshot = measure.is_snapshot;
  return walk->event_cb(&event, walk->arg);
}

int uvperf_pmu_walk(uvperf_pmu_cb cb, void *arg) {
  walk_t walk = {NULL, cb, NULL, NULL, arg};

  return cb == NULL ? -EINVAL : uvperf__pmu_each(show_pmu, &walk);
}

int uvperf_pmu_walk_formats(const char *pmu, uvperf_pmu_format_cb cb,
                            void *arg) {
  walk_t walk = {pmu, NULL, cb, NULL, arg};

  if (pmu == NULL || cb == NULL)
    return -EINVAL;
  return uvperf__pmu_each_format(pmu, show_format, &walk);
}

int uvperf_pmu_walk_events(const char *pmu, uvperf_pmu_event_cb cb, void *arg) {
  walk_t walk = {pmu, NULL, NULL, cb, arg};

  if (pmu == NULL || cb == NULL)
    return -EINVAL;
  return uvperf__pmu_each_event(pmu, show_event, &walk);
}
