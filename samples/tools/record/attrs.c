/* SPDX-License-Identifier: MIT */
/* Makes attrs from names and options, as perf record does. Opens nothing. */
#include "record/attrs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/list.h"
#include "common/memory.h"
#include "common/say.h"

#define DEFAULT_EVENT "cycles:P"
#define DEFAULT_HZ    4000

/* -- how often ------------------------------------------------------------- */

/* Returns the highest frequency that is allowed, or 0 if it cannot be read.
 * Then the kernel refuses a frequency that is too high. */
static uint64_t max_frequency(void) {
  uvperf_limits_t limits;

  if (uvperf_system_limits(&limits) != 0 ||
      limits.perf_event_max_sample_rate == UVPERF_LIMIT_UNKNOWN ||
      limits.perf_event_max_sample_rate <= 0)
    return 0;
  return (uint64_t)limits.perf_event_max_sample_rate;
}

static int choose_frequency(record_attrs_t *attrs,
                            const record_options_t *options) {
  uint64_t max = max_frequency(), asked = options->frequency_hz;

  attrs->frequency_hz = asked == 0 ? DEFAULT_HZ : asked;
  if (asked == UINT64_MAX && max == 0)
    return common_options_bad("-F max: kernel.perf_event_max_sample_rate "
                              "cannot be read; choose a number");
  if (max == 0 || attrs->frequency_hz <= max)
    return 0;
  attrs->frequency_hz = max;
  if (asked == UINT64_MAX)
    return 0;
  if (asked != 0)
    return common_options_bad("-F %" PRIu64 " is more than "
                              "kernel.perf_event_max_sample_rate, %" PRIu64
                              "; choose that or -F max",
                              asked, max);
  if (options->period == 0 && !options->quiet)
    common_say("sampling at %" PRIu64 " Hz, not %d: "
               "kernel.perf_event_max_sample_rate allows no more\n",
               max, DEFAULT_HZ);
  return 0;
}

/* The event's own terms, "cycles/period=1000/", come first. By default each hit
 * of a tracepoint or breakpoint is a sample. The options can change this. */
static void set_period(struct perf_event_attr *attr,
                       const record_attrs_t *attrs,
                       const record_options_t *options) {
  int counts_hits =
      attr->type == PERF_TYPE_TRACEPOINT || attr->type == PERF_TYPE_BREAKPOINT;

  if (attr->sample_period == 0) {
    if (options->period != 0)
      uvperf_attr_set_period(attr, options->period);
    else if (counts_hits && options->frequency_hz == 0)
      uvperf_attr_set_period(attr, 1);
    else
      uvperf_attr_set_frequency(attr, attrs->frequency_hz);
  }
  if (attr->freq)
    attr->sample_type |= PERF_SAMPLE_PERIOD;
}

/* -- what ------------------------------------------------------------------ */

/* Prefers the newer bit, whose field has more information. */
static uint64_t weight_bit(void) {
  return uvperf_kernel_knows(UVPERF_ATTR_SAMPLE_TYPE,
                             UVPERF_SAMPLE_WEIGHT_STRUCT) == 1
             ? UVPERF_SAMPLE_WEIGHT_STRUCT
             : PERF_SAMPLE_WEIGHT;
}

static void set_fields(struct perf_event_attr *attr,
                       const record_options_t *options) {
  attr->sample_type |= PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  if (options->all || options->sample_cpu)
    attr->sample_type |= PERF_SAMPLE_CPU;
  if (options->cgroups)
    attr->sample_type |= PERF_SAMPLE_CGROUP;
  if (attr->type == PERF_TYPE_TRACEPOINT)
    attr->sample_type |= PERF_SAMPLE_RAW | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
  if (attr->type == PERF_TYPE_BREAKPOINT)
    attr->sample_type |= PERF_SAMPLE_ADDR;
  if (options->data)
    attr->sample_type |= PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC;
  if (options->phys_data)
    attr->sample_type |= PERF_SAMPLE_PHYS_ADDR;
  if (options->data_page_size)
    attr->sample_type |= UVPERF_SAMPLE_DATA_PAGE_SIZE;
  if (options->code_page_size)
    attr->sample_type |= UVPERF_SAMPLE_CODE_PAGE_SIZE;
  if (options->weight)
    attr->sample_type |= weight_bit();
  if (options->branches != 0) {
    attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
    attr->branch_sample_type = options->branches;
  }
}

/* Parses --call-graph with the parser of the event term call-graph=, which
 * knows the registers of this machine. An event with its own term call-graph=
 * keeps it. */
static int parse_stack(struct perf_event_attr *stack,
                       const record_options_t *options) {
  uvperf_error_t error;
  char name[64];

  if (options->stack == RECORD_STACK_DWARF)
    snprintf(name, sizeof(name),
             "dummy/call-graph=dwarf,stack-size=%" PRIu32 "/",
             options->stack_bytes);
  else
    snprintf(name, sizeof(name), "dummy/call-graph=%s/",
             options->stack == RECORD_STACK_FP ? "fp" : "no");
  if (uvperf_attr_parse(stack, name, &error) == 0)
    return 0;
  common_say("--call-graph: %s\n", error.reason);
  return 1;
}

static void set_stack(struct perf_event_attr *attr,
                      const struct perf_event_attr *stack,
                      const record_options_t *options) {
  if (!(attr->sample_type & PERF_SAMPLE_CALLCHAIN)) {
    attr->sample_type |= stack->sample_type;
    attr->sample_regs_user |= stack->sample_regs_user;
    attr->sample_stack_user |= stack->sample_stack_user;
    attr->exclude_callchain_user |= stack->exclude_callchain_user;
  }
  if ((attr->sample_type & PERF_SAMPLE_CALLCHAIN) &&
      attr->sample_max_stack == 0)
    attr->sample_max_stack = options->max_stack;
}

/* -- the attrs ------------------------------------------------------------- */

static void fill(record_attrs_t *attrs, const record_options_t *options,
                 const struct perf_event_attr *stack, size_t index) {
  const uvperf_event_item_t *item = uvperf_event_list_get(attrs->list, index);
  const struct perf_event_attr *leader;
  struct perf_event_attr *attr = common_copy(item->attr, item->attr->size);

  attrs->attrs[index] = attr;
  leader = attrs->attrs[item->leader];
  /* With :S only the leader of a group samples. perf(1) expects that all events
   * of the group have the same fields in their samples. */
  if (leader->sample_type & PERF_SAMPLE_READ) {
    attrs->reads_groups = 1;
    attr->sample_type |= PERF_SAMPLE_READ;
  }
  if (leader == attr || !(leader->sample_type & PERF_SAMPLE_READ))
    set_period(attr, attrs, options);
  set_fields(attr, options);
  /* --all-user and --all-kernel override an event's own modifiers, as with perf
   * record. */
  if (options->all_user || options->all_kernel) {
    attr->exclude_kernel = options->all_user != 0;
    attr->exclude_user = options->all_kernel != 0;
  }
  set_stack(attr, stack, options);
  if (leader != attr && attr->sample_period == 0)
    attr->sample_type = leader->sample_type;
  /* All events have one clock, because rings are merged in time order, and
   * because a group has only one clock. */
  attr->use_clockid = 1;
  attr->clockid = options->clock;
  attr->disabled = leader == attr;
  attr->enable_on_exec = leader == attr && !options->delay.is_set &&
                         record_options_is_command(options);
}

/* Puts the attrs into a list, with the groups of the names. Returns 0, or the
 * exit status after a message. */
static int list_events(record_attrs_t *attrs) {
  uvperf_error_t error;
  size_t i, leader;

  for (i = 0; i < attrs->nr; i++) {
    leader = uvperf_event_list_get(attrs->list, i)->leader;
    if (uvperf_event_list_add(&attrs->events, attrs->attrs[i],
                              record_attrs_label(attrs, i),
                              leader == i ? -1 : (int)leader, &error) >= 0)
      continue;
    return common_say_error(&error);
  }
  return 0;
}

int record_attrs_make(record_attrs_t *attrs, const record_options_t *options) {
  const char *names = options->events.names;
  struct perf_event_attr stack;
  size_t i;
  int rc;

  memset(attrs, 0, sizeof(*attrs));
  rc = choose_frequency(attrs, options);
  if (rc == 0)
    rc = parse_stack(&stack, options);
  if (rc == 0)
    rc = common_list_parse(&attrs->list, names ? names : DEFAULT_EVENT);
  if (rc != 0)
    return rc;
  attrs->nr = uvperf_event_list_count(attrs->list);
  attrs->attrs = common_calloc(attrs->nr, sizeof(*attrs->attrs));
  for (i = 0; i < attrs->nr; i++)
    fill(attrs, options, &stack, i);
  /* The values of a group in a sample belong to one task. perf(1) before 6.12
   * takes these values for sums. Kernels before 6.12 refuse such samples
   * together with inherit. */
  if (!options->all && !options->no_inherit && !attrs->reads_groups)
    for (i = 0; i < attrs->nr; i++)
      attrs->attrs[i]->inherit = 1;
  return list_events(attrs);
}

uint32_t record_attrs_side_band(const record_options_t *options) {
  uint32_t side_band = UVPERF_SIDE_BAND_TASKS | UVPERF_SIDE_BAND_MMAP |
                       UVPERF_SIDE_BAND_KSYMBOL | UVPERF_SIDE_BAND_BPF_EVENT;

  /* Unwind tables and data may be in mappings that are not executable. */
  if (options->stack == RECORD_STACK_DWARF || options->data)
    side_band |= UVPERF_SIDE_BAND_MMAP_DATA;
  if (options->switch_events)
    side_band |= UVPERF_SIDE_BAND_SWITCH;
  if (options->namespaces)
    side_band |= UVPERF_SIDE_BAND_NAMESPACES;
  if (options->cgroups)
    side_band |= UVPERF_SIDE_BAND_CGROUP;
  return side_band;
}

/* -- names ----------------------------------------------------------------- */

const char *record_attrs_label(const record_attrs_t *attrs, size_t index) {
  const uvperf_event_item_t *item = uvperf_event_list_get(attrs->list, index);

  if (index >= attrs->nr)
    return "records of tasks and mappings";
  return item->part != NULL ? item->part : item->label;
}

char *record_attrs_name(const record_attrs_t *attrs, const uvperf_set_t *set,
                        size_t index) {
  const uvperf_event_item_t *item = uvperf_set_item(set, index);
  char opened[256];
  const char *label;

  if (index >= attrs->nr)
    return common_copy_text(item->label);
  if (common_list_has_change(set, index, UVPERF_FALLBACK_CLOCK)) {
    if (common_list_label(item->attr, opened, sizeof(opened)) != 0)
      snprintf(opened, sizeof(opened), "clock");
    return common_copy_text(opened);
  }
  label = record_attrs_label(attrs, index);
  if (common_list_has_change(set, index, UVPERF_FALLBACK_USER))
    return common_list_user_label(label,
                                  item->attr->type == PERF_TYPE_TRACEPOINT);
  return common_copy_text(label);
}

void record_attrs_free(record_attrs_t *attrs) {
  size_t i;

  for (i = 0; attrs->attrs != NULL && i < attrs->nr; i++)
    free(attrs->attrs[i]);
  free(attrs->attrs);
  uvperf_event_list_free(attrs->events);
  uvperf_event_list_free(attrs->list);
  memset(attrs, 0, sizeof(*attrs));
}
