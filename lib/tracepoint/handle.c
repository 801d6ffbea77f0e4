/* SPDX-License-Identifier: MIT */
/* Finds a tracepoint in tracefs, holds its fields, and explains what failed. */
#include "tracepoint/handle.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "uvperf/system.h"

static int tracepoint_explain(uvperf_error_t *error, int code, int cause,
                              const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static int tracepoint_explain(uvperf_error_t *error, int code, int cause,
                              const char *format, ...) {
  va_list arguments;

  if (error == NULL)
    return code;
  memset(error, 0, sizeof(*error));
  error->code = code;
  error->cause = cause;
  va_start(arguments, format);
  vsnprintf(error->reason, sizeof(error->reason), format, arguments);
  va_end(arguments);
  return code;
}

static int explain_memory(uvperf_error_t *error) {
  return tracepoint_explain(error, -ENOMEM, UVPERF_CAUSE_MEMORY,
                            "cannot make the tracepoint: out of memory");
}

static int explain_size(uvperf_error_t *error) {
  tracepoint_explain(error, -EFBIG, UVPERF_CAUSE_NOT_SUPPORTED,
                     "the format of the tracepoint has more than %zu bytes",
                     UVPERF__FORMAT_BYTES);
  if (error != NULL)
    error->limit = UVPERF__FORMAT_BYTES;
  return -EFBIG;
}

/* Makes an expected text readable, because it may contain tabs and line
 * ends. */
static void subsystem_spell(const char *wanted, char *text, size_t size) {
  size_t at = 0;

  for (; *wanted != '\0' && at + 3 < size; wanted++) {
    if (*wanted == '\t' || *wanted == '\n')
      text[at++] = '\\';
    text[at++] = *wanted == '\t' ? 't' : *wanted == '\n' ? 'n' : *wanted;
  }
  text[at] = '\0';
}

static int explain_fault(uvperf_error_t *error,
                         const uvperf__format_fault_t *fault) {
  char wanted[64];

  subsystem_spell(fault->wanted, wanted, sizeof(wanted));
  tracepoint_explain(
      error, -EPROTO, UVPERF_CAUSE_ARGUMENT,
      "this is not the text of a tracepoint's format file; byte %zu should "
      "be \"%s\"",
      fault->at + 1, wanted);
  if (error != NULL)
    error->column = (uint32_t)fault->at + 1;
  return -EPROTO;
}

static char *copy_of(const char *text, size_t bytes) {
  char *copy = malloc(bytes + 1);

  if (copy != NULL) {
    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
  }
  return copy;
}

static int tracepoint_make(uvperf_tracepoint_t **tracepoint,
                           const char *category, size_t category_length,
                           const char *text, size_t bytes,
                           uvperf_error_t *error) {
  uvperf__format_fault_t fault = {0, ""};
  uvperf_tracepoint_t *made;
  int rc;

  made = calloc(1, sizeof(*made));
  if (made == NULL)
    return explain_memory(error);
  rc = uvperf__format_parse(&made->format, text, bytes, &fault);
  if (rc == 0) {
    made->category = copy_of(category, category_length);
    made->text = copy_of(text, bytes);
    made->bytes = bytes;
    made->common_type = uvperf_tracepoint_find(made, "common_type");
    if (made->category == NULL || made->text == NULL)
      rc = -ENOMEM;
  }
  if (rc == 0) {
    made->info.id = made->format.id;
    made->info.name = made->format.name;
    made->info.category = made->category;
    made->info.fields = made->format.fields;
    made->info.nr_fields = made->format.nr_fields;
    *tracepoint = made;
    return 0;
  }
  uvperf_tracepoint_free(made);
  if (rc == -EFBIG)
    return explain_size(error);
  return rc == -EPROTO ? explain_fault(error, &fault) : explain_memory(error);
}

int uvperf_tracepoint_new_from_format(uvperf_tracepoint_t **tracepoint,
                                      const char *category, const char *text,
                                      size_t bytes, uvperf_error_t *error) {
  if (tracepoint == NULL)
    return tracepoint_explain(error, -EINVAL, UVPERF_CAUSE_ARGUMENT,
                              "tracepoint must not be NULL");
  *tracepoint = NULL;
  if (text == NULL)
    return tracepoint_explain(error, -EINVAL, UVPERF_CAUSE_ARGUMENT,
                              "text must not be NULL");
  if (category == NULL)
    category = "";
  return tracepoint_make(tracepoint, category, strlen(category), text, bytes,
                         error);
}

/* Whether the text is one component of a path. */
static int is_component(const char *text, size_t length) {
  if (length == 0 || length > NAME_MAX || memchr(text, '/', length) != NULL)
    return 0;
  return !(text[0] == '.' && (length == 1 || (length == 2 && text[1] == '.')));
}

/* Returns 0 and the contents of the file, or -errno. Reads one byte more than
 * the limit, so that a longer file is noticed. */
static int read_file(const char *path, char **text, size_t *bytes) {
  FILE *file = fopen(path, "re");
  int rc = 0;

  if (file == NULL)
    return -errno;
  *text = malloc(UVPERF__FORMAT_BYTES + 1);
  if (*text == NULL) {
    fclose(file);
    return -ENOMEM;
  }
  errno = 0;
  *bytes = fread(*text, 1, UVPERF__FORMAT_BYTES + 1, file);
  if (ferror(file))
    rc = errno != 0 ? -errno : -EIO;
  fclose(file);
  if (rc != 0)
    free(*text);
  return rc;
}

static int explain_read(uvperf_error_t *error, int rc, const char *path,
                        const char *name) {
  switch (rc) {
    case -ENOENT:
    case -ENOTDIR:
      return tracepoint_explain(error, -ENOENT, UVPERF_CAUSE_NO_EVENT,
                                "this kernel has no tracepoint %.80s", name);
    case -EACCES:
      return tracepoint_explain(
          error, -EACCES, UVPERF_CAUSE_PERMISSION,
          "cannot read %.100s: this process may not; run it as "
          "root, or let root mount tracefs with gid=GROUP,mode=750",
          path);
    case -ENOMEM:
      return explain_memory(error);
    case -EMFILE:
    case -ENFILE:
      return tracepoint_explain(
          error, rc, UVPERF_CAUSE_FILES,
          "cannot read %.120s: too many files are open; raise %s", path,
          rc == -EMFILE ? "RLIMIT_NOFILE" : "fs.file-max");
    default:
      return tracepoint_explain(error, rc, UVPERF_CAUSE_UNKNOWN,
                                "cannot read %.120s: errno %d", path, -rc);
  }
}

int uvperf__handle_new(uvperf_tracepoint_t **tracepoint, const char *tracefs,
                       const char *name, uvperf_error_t *error) {
  const char *colon = strchr(name, ':');
  char path[PATH_MAX];
  char *text = NULL;
  size_t bytes = 0;
  size_t length;
  int rc;

  if (colon == NULL || !is_component(name, (size_t)(colon - name)) ||
      !is_component(colon + 1, strlen(colon + 1)) ||
      strchr(colon + 1, ':') != NULL)
    return tracepoint_explain(
        error, -EINVAL, UVPERF_CAUSE_ARGUMENT,
        "\"%.80s\" is not the name of a tracepoint; write it as in "
        "\"sched:sched_switch\"",
        name);
  length = (size_t)(colon - name);
  snprintf(path, sizeof(path), "%s/events/%.*s/%s/format", tracefs, (int)length,
           name, colon + 1);
  rc = read_file(path, &text, &bytes);
  if (rc != 0)
    return explain_read(error, rc, path, name);
  rc = tracepoint_make(tracepoint, name, length, text, bytes, error);
  free(text);
  return rc;
}

int uvperf_tracepoint_new(uvperf_tracepoint_t **tracepoint, const char *name,
                          uvperf_error_t *error) {
  char path[PATH_MAX / 2];
  size_t size = sizeof(path);
  int rc;

  if (tracepoint == NULL)
    return tracepoint_explain(error, -EINVAL, UVPERF_CAUSE_ARGUMENT,
                              "tracepoint must not be NULL");
  *tracepoint = NULL;
  if (name == NULL)
    return tracepoint_explain(error, -EINVAL, UVPERF_CAUSE_ARGUMENT,
                              "name must not be NULL");
  rc = uvperf_tracefs_path(path, &size);
  if (rc == -ENODEV)
    return tracepoint_explain(
        error, rc, UVPERF_CAUSE_NOT_SUPPORTED,
        "tracefs is not mounted; as root, run mount -t tracefs "
        "tracefs /sys/kernel/tracing");
  if (rc != 0)
    return explain_read(error, rc, "tracefs", name);
  return uvperf__handle_new(tracepoint, path, name, error);
}

void uvperf_tracepoint_free(uvperf_tracepoint_t *tracepoint) {
  if (tracepoint == NULL)
    return;
  uvperf__print_free(tracepoint->program);
  uvperf__format_free(&tracepoint->format);
  free(tracepoint->category);
  free(tracepoint->text);
  free(tracepoint);
}

const uvperf_tracepoint_info_t *
uvperf_tracepoint_info(const uvperf_tracepoint_t *tracepoint) {
  return &tracepoint->info;
}

const uvperf_field_t *
uvperf_tracepoint_find(const uvperf_tracepoint_t *tracepoint,
                       const char *name) {
  size_t i;

  for (i = 0; i < tracepoint->format.nr_fields; i++)
    if (strcmp(tracepoint->format.fields[i].name, name) == 0)
      return &tracepoint->format.fields[i];
  return NULL;
}
