/* SPDX-License-Identifier: MIT */
/* Finds the fields that a filter names, as parse_pred and predicate_parse in
 * kernel/trace/trace_events_filter.c do. A condition is a field, an operator
 * and a value. Conditions are joined by && and ||. */
#include "explain/filter.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "host/tracefs.h"

/* How many bytes of a filter are shown. */
#define SHOWN 40

/* A field that the filter names. */
typedef struct name_s {
  const char *text;
  int length;
} name_t;

typedef struct search_s {
  const char *filter;
  char *list; /* the tracepoint's own fields */
  size_t size;
  size_t used;
  name_t names[16]; /* not found in the format yet */
  size_t nr;
} search_t;

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

static void find_names(search_t *search) {
  const char *at = search->filter + strspn(search->filter, " \t\n(!");
  name_t *name;

  while (*at != '\0' &&
         search->nr < sizeof(search->names) / sizeof(search->names[0])) {
    name = &search->names[search->nr];
    name->text = at;
    while (is_of_name(*at))
      at++;
    name->length = (int)(at - name->text);
    search->nr += name->length > 0;
    at = skip_condition(at);
    at += strspn(at, "&| \t\n(!");
  }
}

static void drop_name(search_t *search, const char *field) {
  size_t nr = 0, i;
  int length = (int)strlen(field);

  for (i = 0; i < search->nr; i++) {
    if (search->names[i].length != length ||
        memcmp(search->names[i].text, field, (size_t)length) != 0)
      search->names[nr++] = search->names[i];
  }
  search->nr = nr;
}

static int take_field(const char *field, void *data) {
  search_t *search = data;

  drop_name(search, field);
  if (strncmp(field, "common_", 7) == 0 || search->used >= search->size)
    return 0;
  search->used +=
      (size_t)snprintf(search->list + search->used, search->size - search->used,
                       "%s%s", search->used > 0 ? ", " : "", field);
  return 0;
}

/* Drops the fields that exist but are not in any format file: see
 * trace_define_generic_fields in kernel/trace/trace_events.c. */
static void drop_generic(search_t *search) {
  static const char *const names[] = {"cpu",  "CPU",        "comm",
                                      "COMM", "stacktrace", "STACKTRACE"};
  size_t i;

  for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
    drop_name(search, names[i]);
}

int uvperf__filter_describe(const char *tracepoint, const char *filter,
                            char *text, size_t size) {
  char list[256] = "";
  search_t search = {.filter = filter, .list = list, .size = sizeof(list)};
  const name_t *missing = &search.names[0];
  int length, rc;

  find_names(&search);
  rc = uvperf__tracefs_each_field(tracepoint, take_field, &search);
  if (rc != 0)
    return rc;
  drop_generic(&search);
  if (search.nr > 0)
    length = snprintf(text, size, "it has no field %.*s; its fields are %s",
                      missing->length < SHOWN ? missing->length : SHOWN,
                      missing->text, list);
  else
    length = snprintf(text, size,
                      "the filter is not valid; the tracepoint's fields are %s",
                      list);
  if (length >= (int)size && size >= sizeof("..."))
    memcpy(text + size - sizeof("..."), "...", sizeof("..."));
  return 0;
}
