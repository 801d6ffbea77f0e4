/* SPDX-License-Identifier: MIT */
/* Lists of events: their memory, in which each event has a block of its own, so
 * that what its item points to stays where it is; and their text, of events,
 * commas and groups, in one pass. What an event's name means is in parse.c. */
#include "name/list.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "host/cpu_list.h"
#include "host/pmu.h"
#include "name/modifier.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/file.h"
#include "util/grow.h"

typedef struct node_s {
  uvperf_event_item_t item;
  uvperf__wide_attr_t wide;
  char unit[sizeof(((uvperf__pmu_measure_t *)0)->unit)];
  char *label;
  char *string;
  int file;         /* an fd that the string is the path of; or -1 */
  char *group_name; /* the leader's, for all of its group */
  int *cpus;
  char *pmu;      /* by which it was named; NULL: by none */
  const char *at; /* in the text, while that is read */
} node_t;

struct uvperf_event_list_s {
  node_t **nodes;
  size_t nr;
  size_t room;
  int nr_groups;
  /* The user, and each set: these may be of several threads. */
  atomic_uint holders;
};

uvperf_event_list_t *uvperf__event_list_hold(const uvperf_event_list_t *list) {
  uvperf_event_list_t *held = (uvperf_event_list_t *)(uintptr_t)list;

  atomic_fetch_add(&held->holders, 1);
  return held;
}

static void free_node(node_t *node) {
  uvperf__free(node->label);
  uvperf__free(node->string);
  if (node->file >= 0)
    uvperf__file_close(node->file);
  uvperf__free(node->group_name);
  uvperf__free(node->cpus);
  uvperf__free(node->pmu);
  uvperf__free(node);
}

void uvperf_event_list_free(uvperf_event_list_t *list) {
  size_t i;

  if (list == NULL || atomic_fetch_sub(&list->holders, 1) != 1)
    return;
  for (i = 0; i < list->nr; i++)
    free_node(list->nodes[i]);
  uvperf__free(list->nodes);
  uvperf__free(list);
}

size_t uvperf_event_list_count(const uvperf_event_list_t *list) {
  return list->nr;
}

const uvperf_event_item_t *
uvperf_event_list_get(const uvperf_event_list_t *list, size_t index) {
  return index < list->nr ? &list->nodes[index]->item : NULL;
}

static int out_of_memory(const uvperf__parse_t *parse, const char *at) {
  return uvperf__parse_fail(parse, at, -ENOMEM, UVPERF_CAUSE_MEMORY,
                            "no memory for the events");
}

/* -- one event ------------------------------------------------------------ */

/* A text of two pieces. */
static char *join(const char *first, uvperf__span_t second) {
  size_t length = strlen(first);
  char *text = uvperf__calloc(1, length + uvperf__span_length(second) + 1);

  if (text == NULL)
    return NULL;
  memcpy(text, first, length);
  memcpy(text + length, second.at, uvperf__span_length(second));
  return text;
}

static char *make_label(const uvperf__named_event_t *event) {
  uvperf__span_t rest = event->text->whole;

  if (event->name.at != NULL)
    return join("", event->name);
  if (event->expanded == NULL)
    return join("", rest);
  rest.at = event->rest;
  return join(event->expanded, rest);
}

/* What a header older than config3 and config4 has is enough without them: a
 * kernel need not know more. */
static void fit_size(node_t *node) {
  struct perf_event_attr *attr = &node->wide.attr;
  uint64_t config3, config4;

  uvperf_attr_get(attr, UVPERF_ATTR_CONFIG3, &config3);
  uvperf_attr_get(attr, UVPERF_ATTR_CONFIG4, &config4);
  attr->size = sizeof(*attr);
  if (config3 != 0 && attr->size < 136)
    attr->size = 136;
  if (config4 != 0 && attr->size < 144)
    attr->size = 144;
}

static int copy_cpus(const uvperf__parse_t *parse, node_t *node,
                     const uvperf__named_event_t *event) {
  char list[UVPERF__PMU_TEXT_BYTES];
  size_t nr = 0;
  int is_mask;
  int rc = event->pmu == NULL
               ? -ENOENT
               : uvperf__pmu_cpus(parse->root, event->pmu, list, &is_mask);

  if (rc == -ENOENT)
    return 0;
  if (rc == 0)
    rc = uvperf__cpu_list_parse(list, NULL, &nr);
  if (rc == 0) /* an empty list */
    return 0;
  if (uvperf__is_shortage(rc))
    return uvperf__parse_shortage(parse, node->at, rc);
  if (rc != -ENOBUFS)
    return uvperf__parse_fail(parse, node->at, rc, UVPERF_CAUSE_NOT_SUPPORTED,
                              "the CPUs of PMU %s in sysfs are not understood",
                              event->pmu);
  node->cpus = uvperf__calloc(nr, sizeof(node->cpus[0]));
  if (node->cpus == NULL)
    return out_of_memory(parse, node->at);
  uvperf__cpu_list_parse(list, node->cpus, &nr);
  node->item.cpus = node->cpus;
  node->item.nr_cpus = nr;
  node->item.flags |= is_mask ? UVPERF_ITEM_CPU_WIDE : 0;
  return 0;
}

static void fill_item(node_t *node, const uvperf__named_event_t *event) {
  uvperf_event_item_t *item = &node->item;

  memcpy(node->unit, event->measure.unit, sizeof(node->unit));
  item->attr = &node->wide.attr;
  item->label = node->label;
  item->scale = event->measure.scale;
  item->unit = node->unit;
  item->group_name = "";
  item->group = -1;
  if (event->measure.is_per_package)
    item->flags |= UVPERF_ITEM_PER_PACKAGE;
  if (event->measure.is_snapshot)
    item->flags |= UVPERF_ITEM_SNAPSHOT;
  if (event->is_precise_max)
    item->flags |= UVPERF_ITEM_PRECISE_MAX;
}

/* Modifier P, which the event or its group has. Only then sysfs is asked. */
static void set_precise(const uvperf__parse_t *parse, node_t *node) {
  struct perf_event_attr *attr = &node->wide.attr;

  if (node->item.flags & UVPERF_ITEM_PRECISE_MAX)
    attr->precise_ip =
        uvperf__precise_max(parse->root, node->pmu, attr->type) & 3;
}

/* What outlives the text. */
static int copy_texts(const uvperf__parse_t *parse, node_t *node,
                      const uvperf__named_event_t *event) {
  uvperf__span_t nothing = {event->text->whole.end, event->text->whole.end};

  node->label = make_label(event);
  if (event->string.at != NULL)
    node->string = join("", event->string);
  if (event->pmu != NULL)
    node->pmu = join(event->pmu, nothing);
  if (node->label == NULL || (event->string.at != NULL && !node->string) ||
      (event->pmu != NULL && !node->pmu))
    return out_of_memory(parse, node->at);
  return 0;
}

/* The kernel finds the file by a path, at each open. This one cannot become
 * that of another file. */
static int keep_file(const uvperf__parse_t *parse, node_t *node, int file) {
  node->file = uvperf__file_dup(file);
  if (node->file < 0)
    return uvperf__parse_shortage(parse, node->at, node->file);
  uvperf__free(node->string);
  node->string = uvperf__calloc(1, UVPERF__FD_PATH_BYTES);
  if (node->string == NULL)
    return out_of_memory(parse, node->at);
  uvperf__file_path_by_fd(node->file, node->string);
  return 0;
}

static int fill_node(const uvperf__parse_t *parse, node_t *node,
                     const uvperf__named_event_t *event) {
  int rc;

  node->at = event->text->whole.at;
  node->wide = event->wide;
  node->file = -1;
  rc = copy_texts(parse, node, event);
  if (rc == 0 && event->file >= 0)
    rc = keep_file(parse, node, event->file);
  if (rc != 0)
    return rc;
  if (node->string != NULL)
    node->wide.attr.config1 = (uintptr_t)node->string;
  fit_size(node);
  fill_item(node, event);
  set_precise(parse, node);
  return copy_cpus(parse, node, event);
}

static int add(const uvperf__parse_t *parse, uvperf_event_list_t *list,
               const uvperf__named_event_t *event) {
  const char *at = event->text->whole.at;
  node_t **nodes;
  node_t *node;
  int rc;

  if (list->nr == UVPERF__EVENT_LIST_MOST) {
    uvperf__parse_fail(parse, at, -E2BIG, UVPERF_CAUSE_ARGUMENT,
                       "these are more than %d events",
                       UVPERF__EVENT_LIST_MOST);
    if (parse->error != NULL)
      parse->error->limit = UVPERF__EVENT_LIST_MOST;
    return -E2BIG;
  }
  nodes = uvperf__grow(list->nodes, list->nr, &list->room, 8, sizeof(nodes[0]));
  if (nodes == NULL)
    return out_of_memory(parse, at);
  list->nodes = nodes;
  node = uvperf__calloc(1, sizeof(*node));
  if (node == NULL)
    return out_of_memory(parse, at);
  rc = fill_node(parse, node, event);
  if (rc != 0) {
    free_node(node);
    return rc;
  }
  node->item.leader = list->nr;
  list->nodes[list->nr++] = node;
  return 0;
}

/* -- groups --------------------------------------------------------------- */

static int join_group(const uvperf__parse_t *parse, node_t *node,
                      const node_t *leader,
                      const uvperf__modifiers_t *modifiers) {
  uvperf__span_t label = {node->label, node->label + strlen(node->label)};
  struct perf_event_attr *attr = &node->wide.attr;
  char shown[UVPERF__SHOW_BYTES];
  int rc;

  if (node != leader && (attr->pinned || attr->exclusive))
    return uvperf__parse_bad(parse, node->at,
                             "'%s' is not the leader of its group: only that "
                             "can be pinned or exclusive, {...}:D",
                             uvperf__span_show(label, shown));
  if (uvperf__modifiers_have(modifiers, 'P'))
    node->item.flags |= UVPERF_ITEM_PRECISE_MAX;
  if (node->item.flags & UVPERF_ITEM_PRECISE_MAX)
    attr->precise_ip = 0;
  rc = uvperf__modifiers_apply_group(parse, modifiers, attr, node == leader);
  if (rc != 0)
    return rc;
  set_precise(parse, node);
  if (uvperf__modifiers_have(modifiers, 'W'))
    node->item.flags |= UVPERF_ITEM_WEAK;
  node->item.group = leader->item.group;
  node->item.leader = leader->item.leader;
  node->item.group_name = leader->item.group_name;
  return 0;
}

static int make_group(const uvperf__parse_t *parse, uvperf_event_list_t *list,
                      size_t first, uvperf__span_t name,
                      const uvperf__modifiers_t *modifiers) {
  node_t *leader = list->nodes[first];
  struct perf_event_attr *attr = &leader->wide.attr;
  size_t i;
  int rc = 0;

  if (name.at != NULL) {
    leader->group_name = join("", name);
    if (leader->group_name == NULL)
      return out_of_memory(parse, name.at);
    leader->item.group_name = leader->group_name;
  }
  leader->item.group = list->nr_groups++;
  for (i = first; i < list->nr && rc == 0; i++)
    rc = join_group(parse, list->nodes[i], leader, modifiers);
  /* As evsel__config_leader_sampling() of perf(1) has it. */
  if (uvperf__modifiers_have(modifiers, 'S') ||
      attr->sample_type & PERF_SAMPLE_READ) {
    attr->sample_type |= PERF_SAMPLE_READ;
    attr->read_format |= PERF_FORMAT_GROUP | PERF_FORMAT_ID;
  }
  return rc;
}

/* -- the text -------------------------------------------------------------- */

typedef struct reader_s {
  uvperf__parse_t parse;
  uvperf_event_list_t *list;
  const char *at;
} reader_t;

static void skip_space(reader_t *reader) {
  reader->at = uvperf__skip_space(reader->at, reader->parse.end);
}

static int is_at(const reader_t *reader, char c) {
  return reader->at < reader->parse.end && *reader->at == c;
}

static int add_event(const uvperf__named_event_t *event, void *data) {
  reader_t *reader = data;
  int rc = add(&reader->parse, reader->list, event);

  reader->parse.event = (uint32_t)uvperf_event_list_count(reader->list);
  return rc;
}

static int read_event(reader_t *reader) {
  uvperf__parse_t parse = reader->parse;
  uvperf__event_text_t text;
  int rc = uvperf__event_text_scan(&parse, reader->at, &text);

  if (rc != 0)
    return rc;
  reader->at = text.whole.end;
  return uvperf__event_name_each(&parse, &text, add_event, reader);
}

/* Whether a group begins here, with its name if it has one. */
static int is_group(const reader_t *reader, uvperf__span_t *name) {
  *name = uvperf__scan_word(reader->at, reader->parse.end);
  return name->end < reader->parse.end && *name->end == '{';
}

/* After an event there must be one of these, 0 being the end: 0 or -EINVAL. */
static int need_end(const reader_t *reader, char end) {
  char shown[UVPERF__SHOW_BYTES];
  uvperf__span_t rest = {reader->at, reader->parse.end};

  if (is_at(reader, ',') || (end != '\0' && is_at(reader, end)) ||
      (end == '\0' && reader->at == reader->parse.end))
    return 0;
  return uvperf__parse_bad(&reader->parse, reader->at,
                           "',' is missing before '%s'",
                           uvperf__span_show(rest, shown));
}

static int read_members(reader_t *reader, const char *begin) {
  uvperf__span_t name;
  int rc;

  for (;;) {
    skip_space(reader);
    if (is_group(reader, &name))
      return uvperf__parse_bad(&reader->parse, name.end,
                               "a group cannot be in a group");
    rc = read_event(reader);
    if (rc != 0)
      return rc;
    skip_space(reader);
    if (reader->at == reader->parse.end)
      return uvperf__parse_bad(&reader->parse, begin,
                               "this '{' has no '}' that ends the group");
    rc = need_end(reader, '}');
    if (rc != 0 || is_at(reader, '}'))
      return rc;
    reader->at += 1;
  }
}

static int read_group_modifiers(reader_t *reader,
                                uvperf__modifiers_t *modifiers) {
  uvperf__span_t word = {reader->at, reader->at};

  if (is_at(reader, ':')) {
    word = uvperf__scan_word(reader->at + 1, reader->parse.end);
    if (word.at == word.end)
      return uvperf__parse_bad(&reader->parse, word.at,
                               "modifiers are missing behind ':'");
    reader->at = word.end;
  }
  return uvperf__modifiers_parse(&reader->parse, word, modifiers);
}

static int read_group(reader_t *reader, uvperf__span_t name) {
  size_t first = uvperf_event_list_count(reader->list);
  uvperf__modifiers_t modifiers;
  int rc;

  reader->at = name.end + 1;
  skip_space(reader);
  if (is_at(reader, '}'))
    return uvperf__parse_bad(&reader->parse, name.end, "the group is empty");
  rc = read_members(reader, name.end);
  if (rc != 0)
    return rc;
  reader->at += 1;
  rc = read_group_modifiers(reader, &modifiers);
  if (rc != 0)
    return rc;
  reader->parse.event = (uint32_t)first;
  if (name.at == name.end)
    name.at = NULL;
  rc = make_group(&reader->parse, reader->list, first, name, &modifiers);
  reader->parse.event = (uint32_t)uvperf_event_list_count(reader->list);
  return rc;
}

static int read_all(reader_t *reader) {
  uvperf__span_t name;
  int rc;

  for (;;) {
    skip_space(reader);
    if (is_group(reader, &name))
      rc = read_group(reader, name);
    else
      rc = read_event(reader);
    if (rc != 0)
      return rc;
    skip_space(reader);
    rc = need_end(reader, '\0');
    if (rc != 0 || reader->at == reader->parse.end)
      return rc;
    reader->at += 1;
  }
}

int uvperf__event_list_parse(const char *root, uvperf_event_list_t **list,
                             const char *names, uvperf_error_t *error) {
  reader_t reader;
  int rc;

  if (list != NULL)
    *list = NULL;
  if (list == NULL || names == NULL)
    return uvperf__error_set(error, -EINVAL, UVPERF_CAUSE_ARGUMENT,
                             "uvperf_event_list_parse needs a list and names");
  uvperf__parse_init(&reader.parse, root, names, error);
  reader.at = names;
  reader.list = uvperf__calloc(1, sizeof(*reader.list));
  if (reader.list == NULL)
    return out_of_memory(&reader.parse, names);
  atomic_init(&reader.list->holders, 1);
  rc = read_all(&reader);
  if (rc != 0) {
    uvperf_event_list_free(reader.list);
    return rc;
  }
  *list = reader.list;
  return 0;
}

int uvperf_event_list_parse(uvperf_event_list_t **list, const char *names,
                            uvperf_error_t *error) {
  return uvperf__event_list_parse("", list, names, error);
}
