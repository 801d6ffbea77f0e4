/* SPDX-License-Identifier: MIT */
/* Sets how events by name are sampled in a set with records: in the same way as
 * perf record. Opens nothing. */
#include "set/counters_internal.h"

#include <errno.h>
#include <string.h>

#include "attr/attr.h"
#include "host/pmu.h"
#include "host/system.h"
#include "util/error.h"

#define DEFAULT_HZ 4000
#define DEFAULT_FIELDS                                                         \
  (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |     \
   PERF_SAMPLE_PERIOD)

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Fields of the options that only have a meaning with a bit of sample_type. */
static const struct {
  const char *name;
  size_t offset;
  size_t size;
  uint64_t bit; /* 0: no bit is needed */
  const char *bit_name;
} fields[] = {
#define FIELD(name, bit)                                                       \
  {                                                                            \
    "options." #name, offsetof(uvperf_set_options_t, name),                    \
        sizeof(((uvperf_set_options_t *)0)->name), bit, #bit                   \
  }
    FIELD(sample_type, 0),
    FIELD(sample_period, 0),
    FIELD(sample_freq, 0),
    FIELD(branch_sample_type, PERF_SAMPLE_BRANCH_STACK),
    FIELD(sample_regs_user, PERF_SAMPLE_REGS_USER),
    FIELD(sample_regs_intr, PERF_SAMPLE_REGS_INTR),
    FIELD(sample_stack_user, PERF_SAMPLE_STACK_USER),
    FIELD(sample_max_stack, PERF_SAMPLE_CALLCHAIN),
#undef FIELD
};

static int is_set(const uvperf_set_options_t *options, size_t field) {
  static const uint64_t none;

  return memcmp((const char *)options + fields[field].offset, &none,
                fields[field].size) != 0;
}

static int bad(uvperf_error_t *error, const char *what) {
  return uvperf__error_set(error, -EINVAL, UVPERF_CAUSE_ARGUMENT, "%s", what);
}

int uvperf__counters_check_sampling(const uvperf_set_options_t *options,
                                    uvperf_error_t *error) {
  size_t i;

  for (i = 0; i < COUNT_OF(fields); i++) {
    if (!is_set(options, i))
      continue;
    if (!(options->flags & UVPERF_SET_RECORDS))
      return uvperf__counters_need_records(fields[i].name, error);
    if (options->names == NULL && options->events == NULL)
      return uvperf__error_set(error, -EINVAL, UVPERF_CAUSE_ARGUMENT,
                               "%s is for names of events; with options.attrs "
                               "set that field of each attr",
                               fields[i].name);
  }
  if (options->sample_period != 0 && options->sample_freq != 0)
    return bad(error,
               "options has both sample_period and sample_freq; set only one");
  if (options->sample_max_stack > UINT16_MAX)
    return bad(error, "options.sample_max_stack is more than 65535; lower it");
  return 0;
}

/* Whether each occurrence of the event is worth a sample. */
static int is_moment(const uvperf__counters_t *counters,
                     const struct perf_event_attr *attr) {
  switch (attr->type) {
    case PERF_TYPE_TRACEPOINT:
    case PERF_TYPE_BREAKPOINT:
      return 1;
    case PERF_TYPE_SOFTWARE:
      return attr->config == PERF_COUNT_SW_BPF_OUTPUT;
    default:
      return uvperf__counters_is_probe(counters, attr);
  }
}

/* Returns the highest allowed frequency up to the default, as in perf record.
 * The user requested no number, so a lower frequency is not an error. */
static uint64_t default_frequency(const uvperf__counters_t *counters) {
  int64_t most;

  if (uvperf__system_max_sample_rate(counters->root, &most) == 0 && most > 0 &&
      most < DEFAULT_HZ)
    return (uint64_t)most;
  return DEFAULT_HZ;
}

static void set_period(const uvperf__counters_t *counters, size_t index,
                       const uvperf_set_options_t *options) {
  const counter_attr_t *own = &counters->attrs[index];
  const counter_attr_t *leader = &counters->attrs[own->item.leader];
  struct perf_event_attr *attr = own->asked;

  if (attr->sample_period != 0 || (own->item.flags & UVPERF_ITEM_COUNT) ||
      (attr->type == PERF_TYPE_SOFTWARE &&
       attr->config == PERF_COUNT_SW_DUMMY) ||
      (leader != own && (leader->asked->sample_type & PERF_SAMPLE_READ)))
    return;
  if (options->sample_period != 0)
    uvperf_attr_set_period(attr, options->sample_period);
  else if (options->sample_freq != 0)
    uvperf_attr_set_frequency(attr, options->sample_freq);
  else if (is_moment(counters, attr))
    uvperf_attr_set_period(attr, 1);
  else
    uvperf_attr_set_frequency(attr, default_frequency(counters));
}

static void add_fields(struct perf_event_attr *attr,
                       const uvperf_set_options_t *options) {
  uint64_t raw = attr->type == PERF_TYPE_TRACEPOINT ||
                         (attr->type == PERF_TYPE_SOFTWARE &&
                          attr->config == PERF_COUNT_SW_BPF_OUTPUT)
                     ? PERF_SAMPLE_RAW
                     : 0;

  attr->sample_type |=
      options->sample_type != 0 ? options->sample_type : DEFAULT_FIELDS | raw;
  attr->branch_sample_type |= options->branch_sample_type;
  attr->sample_regs_user |= options->sample_regs_user;
  attr->sample_regs_intr |= options->sample_regs_intr;
  if (attr->sample_stack_user == 0)
    attr->sample_stack_user = options->sample_stack_user;
  if (attr->sample_max_stack == 0)
    attr->sample_max_stack = (uint16_t)options->sample_max_stack;
}

int uvperf__counters_sample_names(uvperf__counters_t *counters,
                                  const uvperf_set_options_t *options,
                                  uvperf_error_t *error) {
  uint64_t have = 0;
  size_t i;

  for (i = 0; i < uvperf_event_list_count(counters->list); i++) {
    if (counters->attrs[i].item.flags & UVPERF_ITEM_ATTR)
      continue;
    set_period(counters, i, options);
    if (counters->attrs[i].asked->sample_period == 0)
      continue;
    add_fields(counters->attrs[i].asked, options);
    have |= counters->attrs[i].asked->sample_type;
  }
  for (i = 0; i < COUNT_OF(fields); i++)
    if (fields[i].bit != 0 && is_set(options, i) && !(have & fields[i].bit))
      return uvperf__error_set(
          error, -EINVAL, UVPERF_CAUSE_ARGUMENT,
          "%s has no effect; set %s in options.sample_type", fields[i].name,
          fields[i].bit_name);
  return 0;
}
