/* SPDX-License-Identifier: MIT */
/* The attrs of the evlist. Copies the user's attrs. Takes the item of each
 * attr from a list, or makes it from the attr. For records, sets the fields for
 * the id and the time, and chooses one clock. Opens nothing. */
#include "evlist/attrs.h"
#include "evlist/opening.h"
#include "evlist/reading.h"
#include "evlist/records.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "attr/attr.h"
#include "decode/read_format.h"
#include "host/pmu.h"
#include "host/system.h"
#include "name/list.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/file.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* -- options: attrs -------------------------------------------------------- */

/* Sets which attr an error is about. */
static int error_of_attr(uvperf_error_t *error, size_t attr, int rc) {
  if (error != NULL)
    error->attr_index = (uint32_t)attr;
  return rc;
}

static int check_attrs(const uvperf_set_options_t *options,
                       uvperf_error_t *error) {
  size_t i;

  if (options->names != NULL && options->events != NULL)
    return uvperf__error_argument(
        error, "options has both names and events; set only one");
  if (options->names != NULL || options->events != NULL) {
    if (options->attrs != NULL || options->nr_attrs != 0)
      return uvperf__error_argument(
          error, "options.names and events exclude attrs; add the attrs to a "
                 "list by uvperf_event_list_add");
    return 0;
  }
  if (options->nr_attrs == 0 && options->side_band != 0)
    return 0;
  if (options->attrs == NULL || options->nr_attrs == 0)
    return uvperf__error_argument(
        error, "options has no names, events or attrs; set one of them");
  if (options->nr_attrs > UVPERF__EVENT_LIST_MOST) {
    uvperf__error_set(error, -E2BIG, UVPERF_CAUSE_ARGUMENT,
                      "options.nr_attrs %zu is more than %d; make several sets",
                      options->nr_attrs, UVPERF__EVENT_LIST_MOST);
    return uvperf__error_limit(error, -E2BIG, UVPERF__EVENT_LIST_MOST, 0);
  }
  for (i = 0; i < options->nr_attrs; i++)
    if (options->attrs[i] == NULL)
      return error_of_attr(
          error, i,
          uvperf__error_argument(error, "options.attrs[%zu] is NULL", i));
  return 0;
}

/* -- options: records ------------------------------------------------------ */

static int check_without_records(const uvperf_set_options_t *options,
                                 uvperf_error_t *error) {
  const char *what = NULL;

  if (options->flags & UVPERF_SET_TIME_ORDER)
    what = "UVPERF_SET_TIME_ORDER";
  else if (options->flags & UVPERF_SET_OVERWRITE)
    what = "UVPERF_SET_OVERWRITE";
  else if (options->flags & UVPERF_SET_PERF_CLOCK)
    what = "UVPERF_SET_PERF_CLOCK";
  else if (options->side_band != 0)
    what = "options.side_band";
  else if (options->wakeup_bytes != 0)
    what = "options.wakeup_bytes";
  else if (options->ring_bytes != 0)
    what = "options.ring_bytes";
  return what == NULL ? 0 : uvperf__evlist_need_records(what, error);
}

#define SIDE_BAND_ALL                                                          \
  (UVPERF_SIDE_BAND_TASKS | UVPERF_SIDE_BAND_MMAP |                            \
   UVPERF_SIDE_BAND_MMAP_DATA | UVPERF_SIDE_BAND_BUILD_ID |                    \
   UVPERF_SIDE_BAND_SWITCH | UVPERF_SIDE_BAND_NAMESPACES |                     \
   UVPERF_SIDE_BAND_KSYMBOL | UVPERF_SIDE_BAND_BPF_EVENT |                     \
   UVPERF_SIDE_BAND_CGROUP | UVPERF_SIDE_BAND_TEXT_POKE)

/* Some options have no meaning for an overwritable ring: it wakes no reader,
 * its records stay until they are overwritten, and in a snapshot no record
 * waits for its time. */
int uvperf__evlist_check_records(const uvperf_set_options_t *options,
                                 uvperf_error_t *error) {
  const uvperf__cpu_rings_options_t rings = {
      .ring_bytes = options->ring_bytes,
      .wakeup_bytes = options->wakeup_bytes,
      .clockid = -1,
  };
  int rc;

  if (options->slack_us != 0 && !(options->flags & UVPERF_SET_TIME_ORDER))
    return uvperf__error_argument(
        error, "options.slack_us needs UVPERF_SET_TIME_ORDER in options.flags");
  rc = uvperf__evlist_check_sampling(options, error);
  if (rc != 0)
    return rc;
  if (!(options->flags & UVPERF_SET_RECORDS))
    return check_without_records(options, error);
  if ((options->flags & UVPERF_SET_TIME_ORDER) &&
      (options->flags & UVPERF_SET_PERF_CLOCK))
    return uvperf__error_argument(
        error, "UVPERF_SET_TIME_ORDER needs a clock that this program can "
               "read; leave UVPERF_SET_PERF_CLOCK out");
  if (options->side_band & ~SIDE_BAND_ALL)
    return uvperf__error_bits(error, "options.side_band", options->side_band);
  if ((options->side_band & UVPERF_SIDE_BAND_BUILD_ID) &&
      !(options->side_band &
        (UVPERF_SIDE_BAND_MMAP | UVPERF_SIDE_BAND_MMAP_DATA)))
    return uvperf__error_argument(
        error, "UVPERF_SIDE_BAND_BUILD_ID needs UVPERF_SIDE_BAND_MMAP or "
               "UVPERF_SIDE_BAND_MMAP_DATA in options.side_band");
  if ((options->flags & UVPERF_SET_OVERWRITE) && options->wakeup_bytes != 0)
    return uvperf__error_argument(
        error, "options.wakeup_bytes must be 0 with UVPERF_SET_OVERWRITE, as "
               "an overwritable ring does not wake the loop");
  if ((options->flags & UVPERF_SET_OVERWRITE) && options->slack_us != 0)
    return uvperf__error_argument(
        error, "options.slack_us must be 0 with UVPERF_SET_OVERWRITE, as the "
               "records of a snapshot do not wait");
  return uvperf__cpu_rings_check(&rings, error);
}

/* -- side-band ------------------------------------------------------------ */

/* Makes the attr for UVPERF_SIDE_BAND_* bits. The exclude_* bits do not change
 * the records, because perf_iterate_sb in kernel/events/core.c ignores them.
 * With the exclude_* bits, users without privileges may open the event for
 * their own tasks. On a CPU the kernel reports cgroups and namespaces only to
 * events that have another bit too (is_sb_event). comm_exec is such a bit, and
 * writes nothing by itself. */
static void make_side_band(uint32_t bits, struct perf_event_attr *attr) {
  static const struct {
    uint32_t bit;
    enum uvperf_attr_field field;
  } fields[] = {
      {UVPERF_SIDE_BAND_TASKS, UVPERF_ATTR_TASK},
      {UVPERF_SIDE_BAND_TASKS, UVPERF_ATTR_COMM},
      {UVPERF_SIDE_BAND_MMAP, UVPERF_ATTR_MMAP},
      {UVPERF_SIDE_BAND_MMAP, UVPERF_ATTR_MMAP2},
      {UVPERF_SIDE_BAND_MMAP_DATA, UVPERF_ATTR_MMAP_DATA},
      {UVPERF_SIDE_BAND_MMAP_DATA, UVPERF_ATTR_MMAP2},
      {UVPERF_SIDE_BAND_BUILD_ID, UVPERF_ATTR_BUILD_ID},
      {UVPERF_SIDE_BAND_SWITCH, UVPERF_ATTR_CONTEXT_SWITCH},
      {UVPERF_SIDE_BAND_NAMESPACES, UVPERF_ATTR_NAMESPACES},
      {UVPERF_SIDE_BAND_KSYMBOL, UVPERF_ATTR_KSYMBOL},
      {UVPERF_SIDE_BAND_BPF_EVENT, UVPERF_ATTR_BPF_EVENT},
      {UVPERF_SIDE_BAND_CGROUP, UVPERF_ATTR_CGROUP},
      {UVPERF_SIDE_BAND_TEXT_POKE, UVPERF_ATTR_TEXT_POKE},
  };
  size_t i;

  uvperf_attr_software(attr, PERF_COUNT_SW_DUMMY);
  attr->exclude_kernel = 1;
  attr->exclude_hv = 1;
  attr->comm_exec = 1;
  attr->sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
  for (i = 0; i < COUNT_OF(fields); i++)
    if (bits & fields[i].bit)
      uvperf_attr_set(attr, fields[i].field, 1);
}

/* -- clocks --------------------------------------------------------------- */

static const char *clock_name(char *text, size_t size, int clock) {
  if (clock == -1)
    return "the kernel's own clock";
  snprintf(text, size, "clockid %d", clock);
  return text;
}

/* Chooses the clock of the attrs that write, because the kernel does not
 * redirect an event into a ring with another clock (perf_event_set_output in
 * kernel/events/core.c). Attrs that choose no clock get the same clock. The
 * side-band attr, which is the last attr, also gets it. */
static int choose_clock(uvperf__evlist_t *evlist, size_t nr_given,
                        uvperf_error_t *error) {
  size_t first = nr_given;
  char names[2][24];
  size_t i;
  int clock;

  evlist->records->clockid = -1;
  for (i = 0; i < nr_given; i++) {
    clock = uvperf__attr_clock(evlist->attrs->at[i].asked);
    if (!uvperf__attr_writes_records(evlist->attrs->at[i].asked) ||
        (clock == -1 && !(evlist->flags & UVPERF_SET_PERF_CLOCK)))
      continue;
    if (first == nr_given) {
      first = i;
      evlist->records->clockid = clock;
    } else if (clock != evlist->records->clockid) {
      uvperf__error_argument(
          error,
          "attrs %zu and %zu share a ring but not a clock (%s, %s); use the "
          "same clock in both",
          first, i,
          clock_name(names[0], sizeof(names[0]), evlist->records->clockid),
          clock_name(names[1], sizeof(names[1]), clock));
      return error_of_attr(error, i, -EINVAL);
    }
  }
  if (first == nr_given && !(evlist->flags & UVPERF_SET_PERF_CLOCK))
    evlist->records->clockid = CLOCK_MONOTONIC;
  return 0;
}

/* -- attrs that write records ---------------------------------------------- */

/* Makes each record contain its event's id and its time. */
static int prepare_records(uvperf__evlist_t *evlist, uvperf_error_t *error) {
  const evlist_attrs_t *attrs = evlist->attrs;
  int overwrites = (evlist->flags & UVPERF_SET_OVERWRITE) != 0;
  struct perf_event_attr *asked;
  const char *why;
  size_t i;
  int rc;

  for (i = 0; i < attrs->nr; i++) {
    asked = attrs->at[i].asked;
    why = uvperf__attr_fault(asked);
    /* The READ record of a child is written on the CPU on which the child ends
     * (sync_child_event in kernel/events/core.c checks no CPU). The ring's own
     * CPU may be writing at the same time, and no lock protects against two
     * writers. Records are then lost without a LOST record, headers are torn,
     * and the head may never move again. */
    if (asked->write_backward && !overwrites)
      why = "write_backward; set UVPERF_SET_OVERWRITE in options.flags "
            "instead, which makes all rings of the set overwritable";
    else if (asked->inherit_stat)
      why = "inherit_stat, for which the kernel writes on any CPU into rings "
            "of one CPU and damages them; clear it";
    if (why == NULL)
      continue;
    uvperf__error_argument(error, "attr %zu has %s", i, why);
    return error_of_attr(error, i, -EINVAL);
  }
  rc = choose_clock(evlist, attrs->nr - attrs->has_side_band, error);
  for (i = 0; i < attrs->nr && rc == 0; i++) {
    asked = attrs->at[i].asked;
    asked->sample_type |= PERF_SAMPLE_IDENTIFIER;
    asked->sample_id_all = 1;
    /* Attrs that only count get the clock too, because a group has one clock
     * (perf_event_open() in kernel/events/core.c). */
    uvperf__attr_set_clock(asked, evlist->records->clockid);
    if (!uvperf__attr_writes_records(asked))
      continue;
    if (evlist->flags & UVPERF_SET_TIME_ORDER)
      asked->sample_type |= PERF_SAMPLE_TIME;
    if (!overwrites)
      continue;
    /* The kernel does not redirect an event that writes forward into a ring
     * that is written backward (perf_event_set_output in kernel/events/core.c).
     * The bit is in the first version of the attr. Wakeups would only cost
     * interrupts, because no reader waits for them. */
    asked->write_backward = 1;
    asked->watermark = 0;
    asked->wakeup_events = 0;
  }
  return rc;
}

/* -- copies --------------------------------------------------------------- */

/* The times show whether a count is reliable. The ids show which value of a
 * group belongs to which event. The user's read_format does not matter, because
 * only the library reads these events. PERF_SAMPLE_READ uses the same format.
 * PERF_SAMPLE_READ is cleared for attrs that write no records here, because the
 * kernel refuses it with inherit: EINVAL (has_inherit_and_sample_read in
 * kernel/events/core.c). */
static void choose_read_formats(uvperf__evlist_t *evlist) {
  uint64_t format = PERF_FORMAT_TOTAL_TIME_ENABLED |
                    PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID;
  evlist_attr_t *attrs = evlist->attrs->at;
  size_t i, leader;

  for (i = 0; i < evlist->attrs->nr; i++) {
    leader = attrs[i].item.leader;
    attrs[i].asked->read_format = format;
    if ((evlist->flags & UVPERF_SET_RECORDS) == 0 ||
        !uvperf__attr_writes_records(attrs[i].asked))
      attrs[i].asked->sample_type &= ~(uint64_t)PERF_SAMPLE_READ;
    if (leader == i)
      continue;
    attrs[i].asked->read_format |= PERF_FORMAT_GROUP;
    attrs[leader].asked->read_format |= PERF_FORMAT_GROUP;
  }
}

/* If the kernel cannot be asked (for example EMFILE), PERF_FORMAT_LOST is left
 * out. An array has the user's read_format. With PERF_SAMPLE_READ the number of
 * lost records would be in each sample. */
void uvperf__evlist_ask_formats(uvperf__evlist_t *evlist) {
  const struct perf_event_attr *first = evlist->attrs->at[0].asked;
  size_t i;

  evlist->opening->has_asked = 1;
  if ((evlist->is_array && ((first->sample_type & PERF_SAMPLE_READ) ||
                            (first->read_format & PERF_FORMAT_GROUP))) ||
      !uvperf__system_has_lost(evlist->opening->opener.open == NULL))
    return;
  for (i = 0; i < evlist->attrs->nr; i++) {
    evlist->attrs->at[i].asked->read_format |= UVPERF_FORMAT_LOST;
    evlist->attrs->at[i].attr->read_format |= UVPERF_FORMAT_LOST;
  }
}

/* Copies an attr of the list or of the options. The last attr may be the
 * side-band attr. */
static int copy_attr(uvperf__evlist_t *evlist, size_t index,
                     const uvperf_set_options_t *options,
                     uvperf_error_t *error) {
  evlist_attrs_t *attrs = evlist->attrs;
  evlist_attr_t *own = &attrs->at[index];
  uvperf_event_item_t *item = &own->item;
  const struct perf_event_attr *given;
  struct perf_event_attr side_band;
  size_t bytes = sizeof(*own->asked);
  int rc;

  if (attrs->has_side_band && index == attrs->nr - 1) {
    make_side_band(options->side_band, &side_band);
    given = &side_band;
  } else if (attrs->list != NULL) {
    *item = *uvperf_event_list_get(attrs->list, index);
    given = item->attr;
  } else {
    given = options->attrs[index];
  }
  rc = uvperf__attr_copy(&own->asked, given, error);
  if (rc == 0)
    rc = uvperf__attr_copy(&own->attr, given, error);
  if (rc != 0)
    return rc;
  if (bytes < own->asked->size)
    bytes = own->asked->size;
  if (attrs->bytes < bytes)
    attrs->bytes = bytes;
  own->names_probe =
      own->asked->config1 != 0 && uvperf__pmu_is_probe(own->asked->type) == 1;
  if (item->label == NULL) { /* it is not from a list */
    item->scale = 1;
    item->unit = uvperf__attr_unit(own->asked);
    item->group_name = "";
    item->group = -1;
    item->leader = item->first = index;
    if (uvperf__evlist_brief_label(own) != 0)
      return uvperf__error_shortage(error, -ENOMEM, "cannot copy the attrs");
  }
  item->attr = own->attr;
  if (item->flags & UVPERF_ITEM_SNAPSHOT)
    attrs->flags[index] |= UVPERF__READING_SNAPSHOT;
  if (item->cpus != NULL && (item->flags & UVPERF_ITEM_CPU_WIDE) == 0)
    attrs->flags[index] |= UVPERF__READING_PART_TIME;
  return 0;
}

/* The kernel creates a probe again for each task that inherits it, and reads
 * the probe's name again, by our pointer, in the task that forks. If the name
 * is not at that address, fork(2) and pthread_create(3) fail with EFAULT in
 * that task (perf_uprobe_init in kernel/trace/trace_event_perf.c). All members
 * of a group must have the same inherit.
 *
 * Dummies come first, because they write records about tasks and mappings,
 * which are needed to resolve the samples of other events. Only dummies that
 * lead come first, because the other members of a group must come after their
 * leader. */
static void order_attrs(uvperf__evlist_t *evlist) {
  const evlist_attrs_t *attrs = evlist->attrs;
  evlist_attr_t *attr, *leader;
  size_t nr = 0;
  int is_early;
  size_t i;

  for (i = 0; i < attrs->nr; i++) {
    attr = &attrs->at[i];
    leader = &attrs->at[attr->item.leader];
    leader->stays_alone |= attr->names_probe;
    /* With `end`, reading a group loops over the group's members only, not over
     * all attrs. */
    leader->end = i + 1;
    attr->is_early = (evlist->flags & UVPERF_SET_RECORDS) != 0 &&
                     leader == attr &&
                     attr->asked->type == PERF_TYPE_SOFTWARE &&
                     attr->asked->config == PERF_COUNT_SW_DUMMY;
  }
  for (i = 0; i < attrs->nr; i++)
    attrs->at[i].stays_alone = attrs->at[attrs->at[i].item.leader].stays_alone;
  for (is_early = 1; is_early >= 0; is_early--)
    for (i = 0; i < attrs->nr; i++)
      if (attrs->at[i].is_early == is_early)
        attrs->order[nr++] = i;
}

int uvperf__evlist_make_attrs(uvperf__evlist_t *evlist) {
  evlist_attrs_t *attrs = evlist->attrs;
  size_t i;

  attrs->at = uvperf__calloc(attrs->nr, sizeof(attrs->at[0]));
  attrs->flags = uvperf__calloc(attrs->nr, 1);
  attrs->next_parts = uvperf__calloc(attrs->nr, sizeof(attrs->next_parts[0]));
  attrs->order = uvperf__calloc(attrs->nr, sizeof(attrs->order[0]));
  for (i = 0; attrs->at != NULL && i < attrs->nr; i++)
    attrs->at[i].bpf_fd = -1;
  return attrs->at == NULL || attrs->flags == NULL ||
                 attrs->next_parts == NULL || attrs->order == NULL
             ? -ENOMEM
             : 0;
}

int uvperf__evlist_make_scratch(uvperf__evlist_t *evlist) {
  evlist->opening->scratch = uvperf__calloc(2, evlist->attrs->bytes);
  evlist->reading->words = uvperf__calloc(1, evlist->reading->words_size);
  return evlist->opening->scratch == NULL || evlist->reading->words == NULL
             ? -ENOMEM
             : 0;
}

int uvperf__evlist_copy_attrs(uvperf__evlist_t *evlist,
                              const uvperf_set_options_t *options,
                              uvperf_error_t *error) {
  evlist_attrs_t *attrs = evlist->attrs;
  size_t i;
  int rc = check_attrs(options, error);

  if (rc != 0)
    return rc;
  if (options->names != NULL)
    rc = uvperf_event_list_parse(&attrs->list, options->names, error);
  else if (options->events != NULL)
    attrs->list = uvperf__event_list_hold(options->events);
  if (rc != 0)
    return rc;
  attrs->nr = attrs->list != NULL ? uvperf_event_list_count(attrs->list)
                                  : options->nr_attrs;
  attrs->has_side_band = options->side_band != 0;
  attrs->nr += attrs->has_side_band;
  if (uvperf__evlist_make_attrs(evlist) != 0)
    return uvperf__error_shortage(error, -ENOMEM, "cannot copy the attrs");
  for (i = 0; i < attrs->nr; i++) {
    rc = copy_attr(evlist, i, options, error);
    if (rc != 0)
      return error_of_attr(error, i, rc);
  }
  if (attrs->list != NULL && evlist->flags & UVPERF_SET_RECORDS)
    rc = uvperf__evlist_sample_names(evlist, options, error);
  if (rc == 0)
    rc = uvperf__evlist_find_cores(evlist, error);
  if (rc != 0)
    return rc;
  order_attrs(evlist);
  if (!evlist->is_array)
    choose_read_formats(evlist);
  if (evlist->is_array)
    evlist->records->clockid = uvperf__attr_clock(attrs->at[0].asked);
  else if (evlist->flags & UVPERF_SET_RECORDS)
    rc = prepare_records(evlist, error);
  if (rc != 0)
    return rc;
  /* The most bytes that read(2) can return. A group may have more members than
   * our events, because another process that has the leader's fd can add
   * members. The limit is in perf_event_validate_size in
   * kernel/events/core.c. */
  evlist->reading->words_size = UVPERF__READ_FORMAT_SINGLE * sizeof(uint64_t);
  for (i = 0; i < attrs->nr; i++) {
    uvperf__evlist_attr_restore(&attrs->at[i]);
    if (attrs->at[i].asked->read_format & PERF_FORMAT_GROUP)
      evlist->reading->words_size = 16 * 1024;
  }
  if (uvperf__evlist_make_scratch(evlist) != 0)
    return uvperf__error_shortage(error, -ENOMEM, "cannot copy the attrs");
  return 0;
}

/* -- attrs of one software event ------------------------------------------ */

/* The fields that decide the layout of samples. The bytes of a sample do not
 * show these fields. */
typedef struct fields_s {
  uint64_t sample_type;
  uint64_t read_format;
  uint64_t regs_user;
  uint64_t regs_intr;
  uint32_t stack_user; /* bytes */
} fields_t;

/* Higher than PERF_COUNT_SW_MAX of any kernel. */
#define NR_SOFTWARE 64

/* Whether events of this type and config share one sample in the kernel. Clock
 * events do not, because they take samples with their own timers. The output of
 * a BPF program is not shared either, because it is for one event. */
static int attr_is_shared(const struct perf_event_attr *attr) {
  return attr->type == PERF_TYPE_SOFTWARE && attr->sample_period != 0 &&
         attr->config < NR_SOFTWARE &&
         attr->config != PERF_COUNT_SW_CPU_CLOCK &&
         attr->config != PERF_COUNT_SW_TASK_CLOCK &&
         attr->config != PERF_COUNT_SW_BPF_OUTPUT;
}

/* The copy has room for all fields that any attr has. All attrs get the largest
 * stack size, because perf_output_sample_ustack in kernel/events/core.c writes
 * the first event's size into the records of all events. */
static void attr_set_fields(struct perf_event_attr *attr,
                            const fields_t *fields) {
  attr->sample_type = fields->sample_type;
  attr->read_format = fields->read_format;
  if ((fields->regs_user != 0 || fields->stack_user != 0) &&
      attr->size < PERF_ATTR_SIZE_VER3)
    attr->size = PERF_ATTR_SIZE_VER3;
  if (fields->regs_intr != 0 && attr->size < PERF_ATTR_SIZE_VER4)
    attr->size = PERF_ATTR_SIZE_VER4;
  if (fields->regs_user != 0)
    attr->sample_regs_user = fields->regs_user;
  if (fields->regs_intr != 0)
    attr->sample_regs_intr = fields->regs_intr;
  if (fields->stack_user != 0)
    attr->sample_stack_user = fields->stack_user;
}

/* If several events sample the same software event, do_perf_sw_event in
 * kernel/events/core.c fills one perf_sample_data for all of them, with the id
 * of the first event. So these events get each other's fields. A sample is then
 * decoded as it was written, no matter which event's id it has. */
int uvperf__evlist_unify_software(uvperf__evlist_t *evlist,
                                  uvperf_error_t *error) {
  fields_t all[NR_SOFTWARE];
  struct perf_event_attr *asked;
  fields_t *fields;
  const char *why;
  size_t i;

  memset(all, 0, sizeof(all));
  for (i = 0; i < evlist->attrs->nr; i++) {
    asked = evlist->attrs->at[i].asked;
    if (!attr_is_shared(asked))
      continue;
    fields = &all[asked->config];
    fields->sample_type |= asked->sample_type;
    fields->read_format |= asked->read_format;
    fields->regs_user |=
        uvperf__attr_value(asked, UVPERF_ATTR_SAMPLE_REGS_USER);
    fields->regs_intr |=
        uvperf__attr_value(asked, UVPERF_ATTR_SAMPLE_REGS_INTR);
    if (fields->stack_user < uvperf__attr_stack(asked))
      fields->stack_user = uvperf__attr_stack(asked);
  }
  for (i = 0; i < evlist->attrs->nr; i++) {
    asked = evlist->attrs->at[i].asked;
    if (!attr_is_shared(asked))
      continue;
    attr_set_fields(asked, &all[asked->config]);
    uvperf__evlist_attr_restore(&evlist->attrs->at[i]);
  }
  /* The attrs are checked again, because the set has added fields, and an attr
   * may have fields of another attr. */
  for (i = 0; i < evlist->attrs->nr; i++) {
    why = uvperf__attr_fault(evlist->attrs->at[i].asked);
    if (why == NULL)
      continue;
    uvperf__error_argument(error, "attr %zu gets %s", i, why);
    return error_of_attr(error, i, -EINVAL);
  }
  return 0;
}

int uvperf__evlist_write_records(const uvperf__evlist_t *evlist) {
  size_t i;

  for (i = 0; i < evlist->attrs->nr; i++)
    if (uvperf__attr_writes_records(evlist->attrs->at[i].attr))
      return 1;
  return 0;
}

/* -- freeing --------------------------------------------------------------- */

void uvperf__evlist_free_attrs(uvperf__evlist_t *evlist) {
  evlist_attrs_t *attrs = evlist->attrs;
  evlist_attr_t *attr;
  size_t i;

  for (i = 0; attrs->at != NULL && i < attrs->nr; i++) {
    attr = &attrs->at[i];
    uvperf__free(attr->label);
    uvperf__free(attr->cpus);
    uvperf__free(attr->asked);
    uvperf__free(attr->attr);
    uvperf__free(attr->changes);
    uvperf__free(attr->opened_label);
    uvperf__evlist_shape_release(attr->shape);
    uvperf__free(attr->filter);
    if (attr->bpf_fd >= 0)
      uvperf__file_close(attr->bpf_fd);
    if (attr->map != NULL)
      uvperf__bpf_map_close(attr->map);
    uvperf__free(attr->map);
  }
  uvperf__free(attrs->at);
  uvperf__free(attrs->flags);
  uvperf__free(attrs->next_parts);
  uvperf__free(attrs->order);
  uvperf__free(evlist->opening->scratch);
  uvperf__free(evlist->reading->words);
  uvperf_event_list_free(attrs->list);
}
