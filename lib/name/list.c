/* SPDX-License-Identifier: MIT */
/* Lists of events: their memory, and their text. Each event has its own block
 * of memory, so that the memory to which its item points does not move. The
 * text consists of events, commas and groups and is read in one pass; parse.c
 * handles the names of events. */
#include "name/list.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "attr/attr.h"
#include "host/cpu_list.h"
#include "host/pmu.h"
#include "name/label.h"
#include "name/modifier.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/file.h"
#include "util/grow.h"

typedef struct node_s {
  uvperf_event_item_t item;
  uvperf__wide_attr_t wide;
  char unit[sizeof(((uvperf__pmu_measure_t *)0)->unit)];
  struct perf_event_attr *own; /* of uvperf_event_list_add; NULL: wide */
  char *label;
  char *part; /* the name of this part of an event; NULL: whole */
  char *string;
  int file;         /* the fd whose path is the string; or -1 */
  char *group_name; /* in the leader, for its whole group */
  int *cpus;
  char *pmu;        /* the PMU in the name; NULL: none */
  const char *core; /* the core PMU of a member of a group */
  const char *at;   /* place in the text, while that is read */
  /* Indexes are known at the end: */
  size_t index;
  const struct node_s *first;  /* the first of its parts; NULL: itself */
  const struct node_s *leader; /* NULL: itself */
} node_t;

typedef struct nodes_s {
  node_t **all;
  size_t nr;
  size_t room;
} nodes_t;

struct uvperf_event_list_s {
  nodes_t events;
  /* While the text is read: all parts of events except the first ones. These
   * parts come after all events, so that events have the same indexes on every
   * machine. */
  nodes_t parts;
  int nr_groups;
  /* The number of holders: the user and each set. The holders may belong to
   * several threads. */
  atomic_uint holders;
};

static uvperf_event_list_t *new_list(void) {
  uvperf_event_list_t *list = uvperf__calloc(1, sizeof(*list));

  if (list != NULL)
    atomic_init(&list->holders, 1);
  return list;
}

uvperf_event_list_t *uvperf__event_list_hold(const uvperf_event_list_t *list) {
  uvperf_event_list_t *held = (uvperf_event_list_t *)(uintptr_t)list;

  atomic_fetch_add(&held->holders, 1);
  return held;
}

static void free_node(node_t *node) {
  if (node == NULL)
    return;
  uvperf__free(node->own);
  uvperf__free(node->label);
  uvperf__free(node->part);
  uvperf__free(node->string);
  if (node->file >= 0)
    uvperf__file_close(node->file);
  uvperf__free(node->group_name);
  uvperf__free(node->cpus);
  uvperf__free(node->pmu);
  uvperf__free(node);
}

static void free_nodes(nodes_t *nodes) {
  size_t i;

  for (i = 0; i < nodes->nr; i++)
    free_node(nodes->all[i]);
  uvperf__free(nodes->all);
}

void uvperf_event_list_free(uvperf_event_list_t *list) {
  if (list == NULL || atomic_fetch_sub(&list->holders, 1) != 1)
    return;
  free_nodes(&list->events);
  free_nodes(&list->parts);
  uvperf__free(list);
}

size_t uvperf_event_list_count(const uvperf_event_list_t *list) {
  return list->events.nr;
}

size_t uvperf__event_list_nr_whole(const uvperf_event_list_t *list) {
  size_t nr = list->events.nr;

  while (nr > 0 && list->events.all[nr - 1]->first != NULL)
    nr--;
  return nr;
}

const uvperf_event_item_t *
uvperf_event_list_get(const uvperf_event_list_t *list, size_t index) {
  return index < list->events.nr ? &list->events.all[index]->item : NULL;
}

static int out_of_memory(const uvperf__parse_t *parse, const char *at) {
  return uvperf__parse_fail(parse, at, -ENOMEM, UVPERF_CAUSE_MEMORY,
                            "cannot make the list of events: out of memory");
}

/* -- one event ------------------------------------------------------------ */

/* Returns a text as printf(3) writes it, in memory of uvperf__calloc, or
 * NULL. */
static char *list_text(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

static char *list_text(const char *format, ...) {
  va_list args;
  int length;
  char *text;

  va_start(args, format);
  length = vsnprintf(NULL, 0, format, args);
  va_end(args);
  text = length < 0 ? NULL : uvperf__calloc((size_t)length + 1, 1);
  if (text == NULL)
    return NULL;
  va_start(args, format);
  vsnprintf(text, (size_t)length + 1, format, args);
  va_end(args);
  return text;
}

static char *list_span(const char *first, uvperf__span_t second) {
  return list_text("%s%.*s", first, (int)uvperf__span_length(second),
                   second.at);
}

static char *make_expanded(const uvperf__named_event_t *event) {
  uvperf__span_t rest = {event->rest, event->text->whole.end};

  return list_span(event->expanded, rest);
}

static char *make_label(const uvperf__named_event_t *event) {
  if (event->name.at != NULL)
    return list_span("", event->name);
  if (event->expanded == NULL || event->nr_parts > 1)
    return list_span("", event->text->whole);
  return make_expanded(event);
}

/* Makes a text such as "cpu_core/cycles/u", or with name= "cpu_core/mine". */
static char *make_part(const uvperf__named_event_t *event) {
  if (event->name.at == NULL)
    return make_expanded(event);
  return list_text("%s/%.*s", event->pmu, (int)uvperf__span_length(event->name),
                   event->name.at);
}

/* Our header may lack config3 and config4. If both are 0, the struct size of
 * our header is enough, and the kernel need not know these fields. */
static void fit_size(node_t *node) {
  size_t size = sizeof(node->wide);

  while (size > sizeof(node->wide.attr) &&
         node->wide.words[size / sizeof(uint64_t) - 1] == 0)
    size -= sizeof(uint64_t);
  node->wide.attr.size = (uint32_t)size;
}

static int copy_cpus(const uvperf__parse_t *parse, node_t *node,
                     const char *pmu) {
  char list[UVPERF__PMU_TEXT_BYTES];
  size_t nr = 0;
  int is_mask;
  int rc = pmu == NULL ? -ENOENT : uvperf__pmu_cpus(pmu, list, &is_mask);

  if (rc == -ENOENT)
    return 0;
  if (rc == 0)
    rc = uvperf_cpu_list_parse(list, NULL, &nr);
  if (rc == 0) /* an empty list */
    return 0;
  if (uvperf__is_shortage(rc))
    return uvperf__parse_shortage(parse, node->at, rc);
  if (rc != -ENOBUFS)
    return uvperf__parse_fail(parse, node->at, rc, UVPERF_CAUSE_NOT_SUPPORTED,
                              "cannot understand the CPUs of PMU %s in sysfs",
                              pmu);
  node->cpus = uvperf__calloc(nr, sizeof(node->cpus[0]));
  if (node->cpus == NULL)
    return out_of_memory(parse, node->at);
  uvperf_cpu_list_parse(list, node->cpus, &nr);
  node->item.cpus = node->cpus;
  node->item.nr_cpus = nr;
  node->item.flags |= is_mask ? UVPERF_ITEM_CPU_WIDE : 0;
  return 0;
}

static void fill_item(node_t *node, const uvperf__named_event_t *event) {
  uvperf_event_item_t *item = &node->item;

  memcpy(node->unit, event->measure.unit, sizeof(node->unit));
  if (node->unit[0] == '\0')
    strcpy(node->unit, uvperf__attr_unit(&node->wide.attr));
  item->attr = &node->wide.attr;
  item->label = event->part > 0 ? node->part : node->label;
  item->part = node->part;
  item->scale = event->measure.scale;
  item->flags = (event->measure.is_per_package ? UVPERF_ITEM_PER_PACKAGE : 0) |
                (event->measure.is_snapshot ? UVPERF_ITEM_SNAPSHOT : 0) |
                (event->is_precise_max ? UVPERF_ITEM_PRECISE_MAX : 0) |
                (event->is_count ? UVPERF_ITEM_COUNT : 0);
}

/* Applies modifier P of the event or its group. sysfs is read only for this
 * modifier. */
static void set_precise(node_t *node) {
  struct perf_event_attr *attr = &node->wide.attr;

  if (node->item.flags & UVPERF_ITEM_PRECISE_MAX)
    attr->precise_ip = uvperf__precise_max(node->pmu, attr->type) & 3;
}

/* The kernel finds the file by its path at each open. The path of an fd cannot
 * become the path of another file. */
static int keep_file(const uvperf__parse_t *parse, node_t *node, int file) {
  char path[UVPERF__FD_PATH_BYTES];

  node->file = uvperf__file_dup(file);
  if (node->file < 0)
    return uvperf__parse_shortage(parse, node->at, node->file);
  uvperf__file_path_by_fd(node->file, path);
  node->string = list_text("%s", path);
  return node->string == NULL ? out_of_memory(parse, node->at) : 0;
}

/* Copies the texts that must outlive the caller's text. Only the first part of
 * an event has a label, the label of the whole event. */
static int copy_texts(const uvperf__parse_t *parse, node_t *node,
                      const uvperf__named_event_t *event) {
  int has_all = 1;

  if (event->part == 0)
    has_all &= (node->label = make_label(event)) != NULL;
  if (event->string.at != NULL && event->file < 0)
    has_all &= (node->string = list_span("", event->string)) != NULL;
  if (event->pmu != NULL)
    has_all &= (node->pmu = list_text("%s", event->pmu)) != NULL;
  if (event->nr_parts > 1)
    has_all &= (node->part = make_part(event)) != NULL;
  return has_all ? 0 : out_of_memory(parse, node->at);
}

static int fill_node(const uvperf__parse_t *parse, node_t *node,
                     const uvperf__named_event_t *event) {
  int rc;

  node->wide = event->wide;
  rc = copy_texts(parse, node, event);
  if (rc == 0 && event->file >= 0)
    rc = keep_file(parse, node, event->file);
  if (rc != 0)
    return rc;
  if (node->string != NULL)
    node->wide.attr.config1 = (uintptr_t)node->string;
  fit_size(node);
  fill_item(node, event);
  set_precise(node);
  return copy_cpus(parse, node, event->pmu);
}

/* Puts a node, which the array owns from now on, at an index. Returns 0 or
 * -ENOMEM. */
static int insert_node(nodes_t *nodes, size_t at, node_t *node) {
  node_t **all =
      uvperf__grow(nodes->all, nodes->nr, &nodes->room, 8, sizeof(all[0]));

  if (all == NULL)
    return -ENOMEM;
  nodes->all = all;
  memmove(&all[at + 1], &all[at], (nodes->nr - at) * sizeof(all[0]));
  all[at] = node;
  nodes->nr++;
  return 0;
}

static int check_room(const uvperf__parse_t *parse,
                      const uvperf_event_list_t *list, const char *at) {
  if (list->events.nr + list->parts.nr < UVPERF__EVENT_LIST_MOST)
    return 0;
  uvperf__parse_fail(parse, at, -E2BIG, UVPERF_CAUSE_ARGUMENT,
                     "the list has more than %d events; make several lists",
                     UVPERF__EVENT_LIST_MOST);
  return uvperf__error_limit(parse->error, -E2BIG, UVPERF__EVENT_LIST_MOST, 0);
}

static node_t *new_node(void) {
  node_t *node = uvperf__calloc(1, sizeof(*node));

  if (node == NULL)
    return NULL;
  node->file = -1;
  node->item.scale = 1;
  node->item.unit = node->unit;
  node->item.group_name = "";
  node->item.group = -1;
  return node;
}

/* Adds an empty node: a whole event, or with `first` a further part of that
 * event. On failure the reader frees the list with everything in it. */
static int add_node(const uvperf__parse_t *parse, uvperf_event_list_t *list,
                    const char *at, const node_t *first, node_t **node) {
  nodes_t *nodes = first != NULL ? &list->parts : &list->events;
  int rc = check_room(parse, list, at);

  if (rc != 0)
    return rc;
  *node = new_node();
  if (*node == NULL || insert_node(nodes, nodes->nr, *node) != 0) {
    uvperf__free(*node);
    return out_of_memory(parse, at);
  }
  (*node)->at = at;
  (*node)->first = first;
  return 0;
}

static int list_add(const uvperf__parse_t *parse, uvperf_event_list_t *list,
                    const uvperf__named_event_t *event, const node_t **first) {
  node_t *node;
  int rc = add_node(parse, list, event->text->whole.at,
                    event->part > 0 ? *first : NULL, &node);

  if (rc == 0 && event->part == 0 && event->nr_parts > 1)
    *first = node;
  return rc == 0 ? fill_node(parse, node, event) : rc;
}

/* -- groups --------------------------------------------------------------- */

static int join_group(const uvperf__parse_t *parse, node_t *node,
                      const node_t *leader,
                      const uvperf__modifiers_t *modifiers) {
  const char *name = node->first != NULL ? node->first->label : node->label;
  uvperf__span_t label = {name, name + strlen(name)};
  struct perf_event_attr *attr = &node->wide.attr;
  char shown[UVPERF__SHOW_BYTES];
  int rc;

  if (node != leader && (attr->pinned || attr->exclusive))
    return uvperf__parse_bad(parse, node->at,
                             "'%s' is not the leader of its group, and only a "
                             "leader can be pinned or exclusive; write {...}:D",
                             uvperf__span_show(label, shown));
  if (uvperf__modifiers_have(modifiers, 'P'))
    node->item.flags |= UVPERF_ITEM_PRECISE_MAX;
  if (node->item.flags & UVPERF_ITEM_PRECISE_MAX)
    attr->precise_ip = 0;
  rc = uvperf__modifiers_apply_group(parse, modifiers, attr, node == leader);
  if (rc != 0)
    return rc;
  set_precise(node);
  if (uvperf__modifiers_have(modifiers, 'W'))
    node->item.flags |= UVPERF_ITEM_WEAK;
  node->item.group = leader->item.group;
  node->leader = leader;
  node->item.group_name = leader->item.group_name;
  return 0;
}

/* A group that is being read: its members are the last nodes of both arrays. */
typedef struct group_s {
  uvperf_event_list_t *list;
  size_t first;
  size_t first_part;
  uvperf__span_t name;
  const uvperf__modifiers_t *modifiers;
} group_t;

static size_t nr_members(const group_t *group) {
  return group->list->events.nr - group->first + group->list->parts.nr -
         group->first_part;
}

static node_t *list_member(const group_t *group, size_t index) {
  size_t nr_events = group->list->events.nr - group->first;

  return index < nr_events
             ? group->list->events.all[group->first + index]
             : group->list->parts.all[group->first_part + index - nr_events];
}

static int begin_group(const uvperf__parse_t *parse, const group_t *group,
                       node_t *leader) {
  leader->item.group = group->list->nr_groups++;
  if (group->name.at == NULL)
    return 0;
  leader->group_name = list_span("", group->name);
  if (leader->group_name == NULL)
    return out_of_memory(parse, group->name.at);
  leader->item.group_name = leader->group_name;
  return 0;
}

/* Makes a group of all members. If the name of a core PMU is passed, makes a
 * group of the members of that PMU. */
static int make_group(const uvperf__parse_t *parse, const group_t *group,
                      const char *core) {
  node_t *leader = NULL, *node;
  struct perf_event_attr *attr;
  size_t i;
  int rc = 0;

  for (i = 0; i < nr_members(group) && rc == 0; i++) {
    node = list_member(group, i);
    if (core != NULL && (node->core == NULL || strcmp(node->core, core) != 0))
      continue;
    if (leader == NULL) {
      leader = node;
      rc = begin_group(parse, group, leader);
    }
    if (rc == 0)
      rc = join_group(parse, node, leader, group->modifiers);
  }
  if (rc != 0 || leader == NULL)
    return rc;
  /* This is what evsel__config_leader_sampling() of perf(1) does. */
  attr = &leader->wide.attr;
  if (uvperf__modifiers_have(group->modifiers, 'S') ||
      attr->sample_type & PERF_SAMPLE_READ) {
    attr->sample_type |= PERF_SAMPLE_READ;
    attr->read_format |= PERF_FORMAT_GROUP | PERF_FORMAT_ID;
  }
  return 0;
}

/* -- groups on several kinds of cores -------------------------------------- */

/* A group counts only on the CPUs of its core PMU, and each member counts only
 * on these CPUs. An event without a core PMU, such as page-faults, becomes a
 * member of each core PMU's group, and these members are the parts of one
 * event. */

/* Finds the core PMU of each member that has one. */
static void find_cores(const uvperf__core_pmus_t *cores, const group_t *group) {
  node_t *node;
  size_t i, k;

  for (i = 0; i < nr_members(group); i++) {
    node = list_member(group, i);
    for (k = 0; node->pmu != NULL && k < cores->nr; k++)
      if (strcmp(node->pmu, cores->pmus[k].name) == 0)
        node->core = cores->pmus[k].name;
  }
}

/* Makes a node a member of a core PMU's group, with the CPUs of that PMU. */
static int make_of_core(const uvperf__parse_t *parse, node_t *node,
                        const char *label, const char *core) {
  node->core = core;
  node->part = list_text("%s/%s", core, label);
  node->item.part = node->part;
  if (node->part == NULL)
    return out_of_memory(parse, node->at);
  return copy_cpus(parse, node, core);
}

/* The copy's config1 may point to the node's string. */
static int copy_member(const uvperf__parse_t *parse, uvperf_event_list_t *list,
                       const node_t *node, const char *core) {
  node_t *copy;
  int rc = add_node(parse, list, node->at, node, &copy);

  if (rc != 0)
    return rc;
  copy->item = node->item;
  copy->wide = node->wide;
  memcpy(copy->unit, node->unit, sizeof(copy->unit));
  copy->item.attr = &copy->wide.attr;
  copy->item.unit = copy->unit;
  copy->item.cpus = NULL;
  rc = make_of_core(parse, copy, node->label, core);
  copy->item.label = copy->part;
  return rc;
}

/* An event of an uncore PMU cannot be in a group with events of cores. Such an
 * event stays in the first group, and the kernel refuses it there. */
static int share_members(const uvperf__parse_t *parse,
                         const uvperf__core_pmus_t *cores,
                         const group_t *group) {
  size_t nr = group->list->events.nr, i, k;
  node_t *node;
  int rc = 0;

  for (i = group->first; i < nr && rc == 0; i++) {
    node = group->list->events.all[i];
    if (node->core != NULL)
      continue;
    if (node->item.cpus != NULL) {
      node->core = cores->pmus[0].name;
      continue;
    }
    for (k = 1; k < cores->nr && rc == 0; k++)
      rc = copy_member(parse, group->list, node, cores->pmus[k].name);
    if (rc == 0)
      rc = make_of_core(parse, node, node->label, cores->pmus[0].name);
  }
  return rc;
}

/* Makes one group for each core PMU if a name in the group means one event for
 * each core PMU. Otherwise makes one group. */
static int make_groups(const uvperf__parse_t *parse, const group_t *group) {
  const uvperf__core_pmus_t *cores = parse->cores;
  size_t k;
  int rc;

  if (group->list->parts.nr == group->first_part)
    return make_group(parse, group, NULL);
  find_cores(cores, group);
  rc = share_members(parse, cores, group);
  for (k = 0; k < cores->nr && rc == 0; k++)
    rc = make_group(parse, group, cores->pmus[k].name);
  return rc;
}

/* -- the text -------------------------------------------------------------- */

typedef struct reader_s {
  uvperf__parse_t parse;
  uvperf_event_list_t *list;
  const char *at;
  const node_t *first; /* of the parts that are being read */
  uvperf__core_pmus_t cores;
} reader_t;

static void skip_space(reader_t *reader) {
  reader->at = uvperf__skip_space(reader->at, reader->parse.end);
}

static int is_at(const reader_t *reader, char c) {
  return reader->at < reader->parse.end && *reader->at == c;
}

static int add_event(const uvperf__named_event_t *event, void *data) {
  reader_t *reader = data;
  int rc = list_add(&reader->parse, reader->list, event, &reader->first);

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

/* Whether a group begins here; `name` is its name or empty. */
static int is_group(const reader_t *reader, uvperf__span_t *name) {
  *name = uvperf__scan_word(reader->at, reader->parse.end);
  return name->end < reader->parse.end && *name->end == '{';
}

/* Checks that a ',' or `end` follows the event. If `end` is 0, it means the end
 * of the text. Returns 0 or -EINVAL. */
static int need_end(const reader_t *reader, char end) {
  uvperf__span_t rest = {reader->at, reader->parse.end};

  if (is_at(reader, ',') || (end != '\0' && is_at(reader, end)) ||
      (end == '\0' && reader->at == reader->parse.end))
    return 0;
  return uvperf__parse_bad_piece(&reader->parse, rest,
                                 "',' is missing before '%s'");
}

static int read_members(reader_t *reader, const char *begin) {
  uvperf__span_t name;
  int rc;

  for (;;) {
    skip_space(reader);
    if (is_group(reader, &name))
      return uvperf__parse_bad(&reader->parse, name.end,
                               "a group cannot be in another group");
    rc = read_event(reader);
    if (rc != 0)
      return rc;
    skip_space(reader);
    if (reader->at == reader->parse.end)
      return uvperf__parse_bad(&reader->parse, begin,
                               "the group is not closed; write '}' after it");
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
                               "modifiers are missing after ':'");
    reader->at = word.end;
  }
  return uvperf__modifiers_parse(&reader->parse, word, modifiers);
}

static int read_group(reader_t *reader, uvperf__span_t name) {
  uvperf__modifiers_t modifiers;
  group_t group = {reader->list, reader->list->events.nr,
                   reader->list->parts.nr, name, &modifiers};
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
  reader->parse.event = (uint32_t)group.first;
  if (name.at == name.end)
    group.name.at = NULL;
  rc = make_groups(&reader->parse, &group);
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

/* Fills the indexes of all items. */
static void number_nodes(const uvperf_event_list_t *list) {
  node_t *node;
  size_t i;

  for (i = 0; i < list->events.nr; i++)
    list->events.all[i]->index = i;
  for (i = 0; i < list->events.nr; i++) {
    node = list->events.all[i];
    node->item.first = node->first == NULL ? i : node->first->index;
    node->item.leader = node->leader == NULL ? i : node->leader->index;
  }
}

static int end_list(reader_t *reader) {
  nodes_t *events = &reader->list->events, *parts = &reader->list->parts;
  size_t i;

  for (i = 0; i < parts->nr; i++) {
    if (insert_node(events, events->nr, parts->all[i]) != 0)
      return out_of_memory(&reader->parse, reader->parse.text);
    parts->all[i] = NULL;
  }
  parts->nr = 0;
  number_nodes(reader->list);
  return 0;
}

int uvperf_event_list_parse(uvperf_event_list_t **list, const char *names,
                            uvperf_error_t *error) {
  reader_t reader;
  int rc;

  if (list != NULL)
    *list = NULL;
  if (list == NULL || names == NULL)
    return uvperf__error_argument(error, "list and names must not be NULL");
  uvperf__parse_init(&reader.parse, names, error);
  reader.parse.cores = &reader.cores;
  reader.cores.is_read = 0;
  reader.cores.nr = 0;
  reader.at = names;
  reader.list = new_list();
  if (reader.list == NULL)
    return out_of_memory(&reader.parse, names);
  rc = read_all(&reader);
  if (rc == 0)
    rc = end_list(&reader);
  if (rc != 0) {
    uvperf_event_list_free(reader.list);
    return rc;
  }
  *list = reader.list;
  return 0;
}

/* -- attrs ----------------------------------------------------------------- */

static int add_shortage(uvperf_error_t *error) {
  return uvperf__error_shortage(error, -ENOMEM, "cannot add the attr");
}

/* A list without events may be NULL. */
static int check_addition(const uvperf_event_list_t *list, int leader,
                          uvperf_error_t *error) {
  size_t nr = list == NULL ? 0 : uvperf__event_list_nr_whole(list);
  size_t at = leader < 0 ? 0 : (size_t)leader;

  if (leader != -1 &&
      (leader < 0 || at >= nr || list->events.all[at]->item.leader != at))
    return uvperf__error_argument(error,
                                  "leader is %d, but must be the index of an "
                                  "event of the list that has no leader, or -1",
                                  leader);
  if (list == NULL || list->events.nr < UVPERF__EVENT_LIST_MOST)
    return 0;
  uvperf__error_set(error, -E2BIG, UVPERF_CAUSE_ARGUMENT,
                    "the list has more than %d events; make several lists",
                    UVPERF__EVENT_LIST_MOST);
  return uvperf__error_limit(error, -E2BIG, UVPERF__EVENT_LIST_MOST, 0);
}

static int fill_attr_node(node_t *node, const struct perf_event_attr *attr,
                          const char *label, uvperf_error_t *error) {
  char name[UVPERF__LABEL_BYTES];
  size_t size = sizeof(name);
  int rc = uvperf__attr_copy(&node->own, attr, error);

  if (rc != 0)
    return rc;
  if (label == NULL) {
    uvperf_attr_label(node->own, name, &size);
    label = name;
  }
  node->label = list_text("%s", label);
  if (node->label == NULL)
    return add_shortage(error);
  strcpy(node->unit, uvperf__attr_unit(node->own));
  node->item.attr = node->own;
  node->item.label = node->label;
  node->item.flags = UVPERF_ITEM_ATTR;
  return 0;
}

int uvperf_event_list_add(uvperf_event_list_t **list,
                          const struct perf_event_attr *attr, const char *label,
                          int leader, uvperf_error_t *error) {
  uvperf_event_list_t *into;
  node_t *node, *first;
  int rc;

  if (list == NULL || attr == NULL)
    return uvperf__error_argument(error, "list and attr must not be NULL");
  rc = check_addition(*list, leader, error);
  if (rc != 0)
    return rc;
  into = *list != NULL ? *list : new_list();
  node = new_node();
  if (into == NULL || node == NULL)
    rc = add_shortage(error);
  else
    rc = fill_attr_node(node, attr, label, error);
  /* The further parts of events stay at the end. */
  if (rc == 0 &&
      insert_node(&into->events, uvperf__event_list_nr_whole(into), node) != 0)
    rc = add_shortage(error);
  if (rc != 0) {
    free_node(node);
    if (*list == NULL)
      uvperf_event_list_free(into);
    return rc;
  }
  if (leader >= 0) {
    node->leader = first = into->events.all[leader];
    if (first->item.group < 0)
      first->item.group = into->nr_groups++;
    node->item.group = first->item.group;
    node->item.group_name = first->item.group_name;
  }
  number_nodes(into);
  *list = into;
  return (int)node->index;
}
