/* SPDX-License-Identifier: MIT */
/* Finds tracefs, its tracepoints with their ids, and the tracers. The meaning
 * of a tracepoint's fields is not known here. */
#include "host/tracefs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "host/mounts.h"
#include "host/system.h"
#include "util/file.h"
#include "util/glob.h"
#include "util/line.h"

/* -- its path ------------------------------------------------------------- */

/* The search for a place. */
typedef struct search_s {
  char *path; /* PATH_MAX bytes */
  int rc;     /* the result for the places so far */
} search_t;

/* Accepts a place if it has a directory events/. An empty mount point has no
 * such directory. Returns 1 to end the search. */
static int try_place(search_t *search, const char *place, const char *rest) {
  char path[PATH_MAX];
  int length = snprintf(path, sizeof(path), "%s%s/events", place, rest);
  int fd;

  if (length < 0 || (size_t)length >= sizeof(path))
    return 0;
  fd = uvperf__directory_open(path);
  if (fd < 0) {
    if (search->rc == -ENODEV && fd != -ENOENT && fd != -ENOTDIR)
      search->rc = fd;
    return 0;
  }
  uvperf__file_close(fd);
  snprintf(search->path, PATH_MAX, "%s%s", place, rest);
  search->rc = 0;
  return 1;
}

static int try_mount(const uvperf__mount_t *mount, void *data) {
  if (strcmp(mount->type, "tracefs") == 0)
    return try_place(data, mount->place, "");
  if (strcmp(mount->type, "debugfs") == 0)
    return try_place(data, mount->place, "/tracing");
  return 0;
}

static int find_place(char path[PATH_MAX]) {
  search_t search = {path, -ENODEV};

  /* The first place is used since Linux 4.1, and the second in older kernels.
   * If the file of mounts cannot be read, this error is ignored: without the
   * file nothing is mounted. */
  if (!try_place(&search, "/sys/kernel/tracing", "") &&
      !try_place(&search, "/sys/kernel/debug/tracing", ""))
    uvperf__mounts_each(try_mount, &search);
  return search.rc;
}

int uvperf_tracefs_path(char *path, size_t *size) {
  char place[PATH_MAX];
  int rc;

  if (size == NULL || (path == NULL && *size != 0))
    return -EINVAL;
  rc = find_place(place);
  return rc == 0 ? uvperf__line_give(place, path, size) : rc;
}

/* Builds the path of a file in tracefs. */
static int file_path(const char *file, char path[PATH_MAX]) {
  char place[PATH_MAX];
  int length;
  int rc = find_place(place);

  if (rc != 0)
    return rc;
  length = snprintf(path, PATH_MAX, "%s/%s", place, file);
  return length < 0 || length >= PATH_MAX ? -ENAMETOOLONG : 0;
}

/* -- ids ------------------------------------------------------------------ */

/* For an event that is being removed, event_id_read returns ENODEV, or
 * nothing. */
static int read_id(const char *events, const char *category, const char *name,
                   uint64_t *id) {
  char path[PATH_MAX];
  int64_t number;
  int length =
      snprintf(path, sizeof(path), "%s/%s/%s/id", events, category, name);
  int rc;

  *id = 0;
  if (length < 0 || (size_t)length >= sizeof(path))
    return -ENOENT; /* longer than any name in tracefs */
  rc = uvperf__system_number(path, &number);
  if (rc == -ENOTDIR || rc == -ENODEV || rc == -EINVAL || rc == -ERANGE ||
      rc == -ENAMETOOLONG || (rc == 0 && number < 0))
    return -ENOENT;
  *id = (uint64_t)number;
  return rc;
}

int uvperf_tracefs_id(const char *category, const char *name, uint64_t *id) {
  char events[PATH_MAX];
  int rc;

  if (id != NULL)
    *id = 0;
  if (category == NULL || name == NULL || id == NULL ||
      !uvperf__file_is_name(category) || !uvperf__file_is_name(name))
    return -EINVAL;
  rc = file_path("events", events);
  return rc != 0 ? rc : read_id(events, category, name, id);
}

/* -- walks ---------------------------------------------------------------- */

/* Opens the directory of a category. Returns -ENOENT if there is no such
 * directory: events/ contains files too. */
static int open_category(const char *events, const char *category) {
  char path[PATH_MAX];
  int length = snprintf(path, sizeof(path), "%s/%s", events, category);
  int fd;

  if (length < 0 || (size_t)length >= sizeof(path))
    return -ENOENT;
  fd = uvperf__directory_open(path);
  return fd == -ENOTDIR || fd == -ENAMETOOLONG ? -ENOENT : fd;
}

/* A walk over events. */
typedef struct walk_s {
  char events[PATH_MAX];
  const char *categories; /* the patterns */
  const char *names;
  const char *category; /* the category that is being walked */
  uvperf_tracefs_event_cb each;
  void *data;
  int is_denied; /* permission to read something was missing */
} walk_t;

static int name_fits(const char *pattern, const char *name) {
  return pattern == NULL || uvperf__glob_match(pattern, name);
}

/* Skips an event that is gone or that may not be read: these errors do not end
 * a walk. */
static int pass_over(walk_t *walk, int rc) {
  if (rc == -EACCES)
    walk->is_denied = 1;
  return rc == -EACCES || rc == -ENOENT ? 0 : rc;
}

static int walk_event(const char *name, void *data) {
  walk_t *walk = data;
  uint64_t id;
  int rc;

  if (!name_fits(walk->names, name))
    return 0;
  rc = read_id(walk->events, walk->category, name, &id);
  if (rc != 0)
    return pass_over(walk, rc);
  return walk->each(walk->category, name, id, walk->data);
}

static int walk_category(const char *category, void *data) {
  walk_t *walk = data;
  int fd;

  if (!name_fits(walk->categories, category))
    return 0;
  fd = open_category(walk->events, category);
  if (fd < 0)
    return pass_over(walk, fd);
  walk->category = category;
  return uvperf__directory_each(fd, walk_event, walk);
}

/* Opens events/, and stores its path. */
static int open_events(char events[PATH_MAX]) {
  int rc = file_path("events", events);

  return rc != 0 ? rc : uvperf__directory_open(events);
}

int uvperf_tracefs_walk(const char *category, const char *name,
                        uvperf_tracefs_event_cb cb, void *arg) {
  walk_t walk = {{0}, category, name, NULL, cb, arg, 0};
  int fd = cb != NULL ? open_events(walk.events) : -EINVAL;
  int rc;

  if (fd < 0)
    return fd;
  rc = uvperf__directory_each(fd, walk_category, &walk);
  return rc == 0 && walk.is_denied ? -EACCES : rc;
}

/* A walk over categories. */
typedef struct names_s {
  const char *events;
  uvperf__name_fn each;
  void *data;
} names_t;

static int pass_category(const char *category, void *data) {
  const names_t *names = data;
  int fd = open_category(names->events, category);

  if (fd >= 0)
    uvperf__file_close(fd);
  else if (fd != -EACCES) /* a file, or gone */
    return fd == -ENOENT ? 0 : fd;
  return names->each(category, names->data);
}

int uvperf_tracefs_walk_categories(uvperf_tracefs_name_cb cb, void *arg) {
  char events[PATH_MAX];
  names_t names = {events, cb, arg};
  int fd = cb != NULL ? open_events(events) : -EINVAL;

  return fd < 0 ? fd : uvperf__directory_each(fd, pass_category, &names);
}

/* The search for the name of an id. */
typedef struct wanted_s {
  uint64_t id;
  char *name;
  size_t size;
} wanted_t;

static int compare_id(const char *category, const char *name, uint64_t id,
                      void *data) {
  const wanted_t *wanted = data;

  if (id != wanted->id)
    return 0;
  snprintf(wanted->name, wanted->size, "%s:%s", category, name);
  return 1;
}

int uvperf__tracefs_name(uint64_t id, char *name, size_t size) {
  wanted_t wanted = {id, name, size};
  int rc;

  name[0] = '\0';
  rc = uvperf_tracefs_walk(NULL, NULL, compare_id, &wanted);
  if (rc == 1)
    return 0;
  return rc == 0 ? -ENOENT : rc;
}

/* -- fields ---------------------------------------------------------------- */

/* Finds the name of a field in a text such as "char comm[16]", "const char *
 * filename" or "__data_loc char[] name". The name is the last word, without the
 * brackets after it. Changes the text. */
static const char *field_name(char *declaration) {
  size_t end = strlen(declaration);
  char *space;

  if (end > 0 && declaration[end - 1] == ']')
    end = strcspn(declaration, "[");
  declaration[end] = '\0';
  space = strrchr(declaration, ' ');
  return space != NULL ? space + 1 : declaration;
}

/* f_show in kernel/trace/trace_events.c writes the lines: "\tfield:TYPE
 * NAME;\toffset:…". */
static int each_field(char *format, uvperf__name_fn each, void *data) {
  static const char key[] = "\tfield:";
  char *line, *end;
  int rc = 0;

  for (line = format; rc == 0 && (line = strstr(line, key)) != NULL;) {
    line += sizeof(key) - 1;
    end = strpbrk(line, ";\n");
    if (end == NULL)
      break;
    *end = '\0';
    rc = each(field_name(line), data);
    line = end + 1;
  }
  return rc;
}

int uvperf__tracefs_each_field(const char *tracepoint, uvperf__name_fn each,
                               void *data) {
  const char *colon = strchr(tracepoint, ':');
  char file[512], path[PATH_MAX], format[8192];
  int length, rc;

  if (colon == NULL)
    return -EINVAL;
  length = snprintf(file, sizeof(file), "events/%.*s/%s/format",
                    (int)(colon - tracepoint), tracepoint, colon + 1);
  if (length < 0 || (size_t)length >= sizeof(file))
    return -ENAMETOOLONG;
  rc = file_path(file, path);
  if (rc == 0)
    rc = uvperf__system_text(path, format, sizeof(format));
  return rc == 0 || rc == -EFBIG ? each_field(format, each, data) : rc;
}

/* -- many ids ------------------------------------------------------------- */

#define NR_IDS 65536

static void set_bit(uint64_t *bits, uint64_t id) {
  bits[id / 64] |= UINT64_C(1) << id % 64;
}

static int has_bit(const uint64_t *bits, uint64_t id) {
  return (int)(bits[id / 64] >> id % 64 & 1);
}

static int note_id(const char *category, const char *name, uint64_t id,
                   void *data) {
  uvperf__tracefs_ids_t *ids = data;

  (void)name;
  if (id >= NR_IDS)
    return 0;
  set_bit(ids->all, id);
  if (id < 64 && strcmp(category, "ftrace") == 0)
    set_bit(&ids->ftrace, id);
  return 0;
}

int uvperf__tracefs_find(uvperf__tracefs_ids_t *ids, uint64_t id,
                         int *is_ftrace) {
  if (!ids->is_read)
    ids->code = uvperf_tracefs_walk(NULL, NULL, note_id, ids);
  ids->is_read = 1;
  *is_ftrace = id < 64 && has_bit(&ids->ftrace, id);
  if (id < NR_IDS && has_bit(ids->all, id))
    return 0;
  return ids->code != 0 ? ids->code : -ENOENT;
}

/* -- tracers -------------------------------------------------------------- */

/* Reads the only line of a file. */
static int read_line(const char *file, char text[4096]) {
  char path[PATH_MAX];
  int rc = file_path(file, path);

  if (rc == 0)
    rc = uvperf__system_line(path, "", text, 4096);
  if (rc == 0 && strlen(text) == 4095)
    rc = -EFBIG;
  return rc == -ENODATA ? -ENOENT : rc;
}

int uvperf_tracefs_current_tracer(char *tracer, size_t *size) {
  char text[4096];
  int rc;

  if (size == NULL || (tracer == NULL && *size != 0))
    return -EINVAL;
  rc = read_line("current_tracer", text);
  return rc == 0 ? uvperf__line_give(text, tracer, size) : rc;
}

/* t_show in kernel/trace/trace.c separates tracers by a space. */
int uvperf_tracefs_walk_tracers(uvperf_tracefs_name_cb cb, void *arg) {
  char text[4096];
  char *tracer;
  char *rest;
  int rc = cb != NULL ? read_line("available_tracers", text) : -EINVAL;

  for (tracer = text; rc == 0 && *tracer != '\0'; tracer = rest) {
    rest = tracer + strcspn(tracer, " ");
    if (*rest != '\0')
      *rest++ = '\0';
    if (*tracer != '\0')
      rc = cb(tracer, arg);
  }
  return rc;
}
