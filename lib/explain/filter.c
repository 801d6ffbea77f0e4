/* SPDX-License-Identifier: MIT */
/* Finds the fields that a filter names, as parse_pred and predicate_parse in
 * kernel/trace/trace_events_filter.c do. A condition is a field, an operator
 * and a value. Conditions are joined by && and ||. */
#include "explain/internal.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "host/tracefs.h"
#include "util/line.h"

/* How many bytes of a name are shown, and how many names are looked up. */
#define SHOWN      40
#define MOST_NAMES 16

/* Between a condition and the next name. */
#define SEPARATORS "&| \t\n(!"

/* A field that the filter names. */
typedef struct name_s {
  const char *text;
  size_t length;
} name_t;

static int is_of_name(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

/* Skips the rest of a condition. A value in quotation marks may contain
 * anything. */
static const char *skip_condition(const char *at) {
  const char *end;

  while (*at != '\0' && strncmp(at, "&&", 2) != 0 &&
         strncmp(at, "||", 2) != 0) {
    end = *at == '"' || *at == '\'' ? strchr(at + 1, *at) : NULL;
    at = end != NULL ? end + 1 : at + 1;
  }
  return at;
}

static int is_name(const char *field, void *data) {
  const name_t *name = data;

  return strlen(field) == name->length &&
         memcmp(field, name->text, name->length) == 0;
}

/* Whether a field exists. Some are not in any format file: see
 * trace_define_generic_fields in kernel/trace/trace_events.c. Returns 1, 0 or
 * -errno. */
static int has_field(const char *tracepoint, name_t *name) {
  static const char *const generic[] = {"cpu",  "CPU",        "comm",
                                        "COMM", "stacktrace", "STACKTRACE"};
  size_t i;

  for (i = 0; i < sizeof(generic) / sizeof(generic[0]); i++)
    if (is_name(generic[i], name))
      return 1;
  return uvperf__tracefs_each_field(tracepoint, is_name, name);
}

/* Finds the first name that is not a field. Returns 1, 0 or -errno. */
static int find_missing(const char *tracepoint, const char *filter,
                        name_t *name) {
  const char *at = filter + strspn(filter, SEPARATORS);
  int nr = 0;
  int rc;

  while (*at != '\0' && nr < MOST_NAMES) {
    name->text = at;
    while (is_of_name(*at))
      at++;
    name->length = (size_t)(at - name->text);
    nr += name->length > 0;
    rc = name->length > 0 ? has_field(tracepoint, name) : 1;
    if (rc != 1)
      return rc < 0 ? rc : 1;
    at = skip_condition(at);
    at += strspn(at, SEPARATORS);
  }
  return 0;
}

static int list_field(const char *field, void *data) {
  uvperf__line_t *list = data;

  if (strncmp(field, "common_", 7) != 0)
    uvperf__line_put(list, "%s%s", list->length > 0 ? ", " : "", field);
  return 0;
}

int uvperf__filter_describe(const char *tracepoint, const char *filter,
                            char *text, size_t size) {
  char fields[256];
  uvperf__line_t list;
  name_t missing;
  int is_missing = find_missing(tracepoint, filter, &missing);
  int length, rc;

  uvperf__line_begin(&list, fields, sizeof(fields));
  rc = uvperf__tracefs_each_field(tracepoint, list_field, &list);
  if (is_missing < 0 || rc != 0)
    return is_missing < 0 ? is_missing : rc;
  if (is_missing)
    length = snprintf(text, size, "it has no field %.*s; its fields are %s",
                      missing.length < SHOWN ? (int)missing.length : SHOWN,
                      missing.text, fields);
  else
    length = snprintf(text, size,
                      "the filter is not valid; the tracepoint's fields are %s",
                      fields);
  if (length >= (int)size && size >= sizeof("..."))
    memcpy(text + size - sizeof("..."), "...", sizeof("..."));
  return 0;
}
