/* SPDX-License-Identifier: MIT */
/* Sets how events by name are sampled in a set with records: in the same way as
 * perf record. Opens nothing. */
#include "evlist/attrs.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "attr/attr.h"
#include "host/pmu.h"
#include "host/system.h"
#include "util/bytes.h"
#include "util/error.h"

#define DEFAULT_HZ 4000
#define DEFAULT_FIELDS                                                         \
  (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |     \
   PERF_SAMPLE_PERIOD)

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static const struct perf_event_attr nothing;

/* Fields of the template that only have a meaning with a bit of sample_type. */
static const struct {
  const char *name;
  size_t offset;
  size_t size;
  uint64_t bit;
  const char *bit_name;
} fields[] = {
#define FIELD(name, bit)                                                       \
  {                                                                            \
#name, offsetof(struct perf_event_attr, name), sizeof(nothing.name), bit,  \
        #bit                                                                   \
  }
    FIELD(branch_sample_type, PERF_SAMPLE_BRANCH_STACK),
    FIELD(sample_regs_user, PERF_SAMPLE_REGS_USER),
    FIELD(sample_regs_intr, PERF_SAMPLE_REGS_INTR),
    FIELD(sample_stack_user, PERF_SAMPLE_STACK_USER),
    FIELD(sample_max_stack, PERF_SAMPLE_CALLCHAIN),
#undef FIELD
};

/* The caller's header may be older or newer. */
static void read_template(struct perf_event_attr *to,
                          const struct perf_event_attr *sample) {
  *to = nothing;
  if (sample != NULL)
    memcpy(to, sample, sample->size < sizeof(*to) ? sample->size : sizeof(*to));
}

/* Whether it has nothing but what says how to sample. */
static int is_template(const struct perf_event_attr *sample) {
  struct perf_event_attr rest;
  size_t i;

  read_template(&rest, sample);
  rest.size = 0;
  rest.freq = 0;
  rest.sample_period = 0;
  rest.sample_type = 0;
  for (i = 0; i < COUNT_OF(fields); i++)
    memset((char *)&rest + fields[i].offset, 0, fields[i].size);
  return uvperf__is_zero(&rest, sizeof(rest)) &&
         (sample->size <= sizeof(rest) ||
          uvperf__is_zero((const char *)sample + sizeof(rest),
                          sample->size - sizeof(rest)));
}

int uvperf__evlist_check_sampling(const uvperf_set_options_t *options,
                                  uvperf_error_t *error) {
  const struct perf_event_attr *sample = options->sample;

  if (sample == NULL)
    return 0;
  if (!(options->flags & UVPERF_SET_RECORDS))
    return uvperf__evlist_need_records("options.sample", error);
  if (options->names == NULL && options->events == NULL)
    return uvperf__error_argument(error,
                                  "options.sample is for names of events; with "
                                  "options.attrs set the fields of each attr");
  if (sample->size < PERF_ATTR_SIZE_VER0 ||
      sample->size > (size_t)sysconf(_SC_PAGESIZE))
    return uvperf__error_argument(
        error, "the size in options.sample is %u; use sizeof", sample->size);
  if (!is_template(sample))
    return uvperf__error_argument(error,
                                  "options.sample has a field that does not "
                                  "say how to sample; set it in the names");
  return 0;
}

/* Returns the highest allowed frequency up to the default, as in perf record.
 * The user requested no number, so a lower frequency is not an error. */
static uint64_t default_frequency(void) {
  int64_t most;

  if (uvperf__system_number(UVPERF__MAX_SAMPLE_RATE, &most) == 0 && most > 0 &&
      most < DEFAULT_HZ)
    return (uint64_t)most;
  return DEFAULT_HZ;
}

static int is_software(const struct perf_event_attr *attr, uint64_t config) {
  return attr->type == PERF_TYPE_SOFTWARE && attr->config == config;
}

/* Sets the period of an attr, unless its name has set it or it only counts.
 * Each occurrence of a tracepoint, a breakpoint, a probe or an output of a BPF
 * program is worth a sample. */
static void attr_set_period(const uvperf__evlist_t *evlist,
                            const evlist_attr_t *own,
                            const struct perf_event_attr *template) {
  const evlist_attr_t *leader = &evlist->attrs->at[own->item.leader];
  struct perf_event_attr *attr = own->asked;

  if (attr->sample_period != 0 || (own->item.flags & UVPERF_ITEM_COUNT) ||
      is_software(attr, PERF_COUNT_SW_DUMMY) ||
      (leader != own && (leader->asked->sample_type & PERF_SAMPLE_READ)))
    return;
  if (template->sample_period != 0 && template->freq)
    uvperf_attr_set_frequency(attr, template->sample_freq);
  else if (template->sample_period != 0)
    uvperf_attr_set_period(attr, template->sample_period);
  else if (attr->type == PERF_TYPE_TRACEPOINT ||
           attr->type == PERF_TYPE_BREAKPOINT ||
           is_software(attr, PERF_COUNT_SW_BPF_OUTPUT) ||
           uvperf__pmu_is_probe(attr->type) == 1)
    uvperf_attr_set_period(attr, 1);
  else
    uvperf_attr_set_frequency(attr, default_frequency());
}

static void attr_add_fields(struct perf_event_attr *attr,
                            const struct perf_event_attr *template) {
  uint64_t type =
      template->sample_type != 0 ? template->sample_type : DEFAULT_FIELDS;

  if (template->sample_type == 0 &&
      (attr->type == PERF_TYPE_TRACEPOINT ||
       is_software(attr, PERF_COUNT_SW_BPF_OUTPUT)))
    type |= PERF_SAMPLE_RAW;
  attr->sample_type |= type;
  attr->branch_sample_type |= template->branch_sample_type;
  attr->sample_regs_user |= template->sample_regs_user;
  attr->sample_regs_intr |= template->sample_regs_intr;
  if (attr->sample_stack_user == 0)
    attr->sample_stack_user = template->sample_stack_user;
  if (attr->sample_max_stack == 0)
    attr->sample_max_stack = template->sample_max_stack;
}

int uvperf__evlist_sample_names(uvperf__evlist_t *evlist,
                                const uvperf_set_options_t *options,
                                uvperf_error_t *error) {
  struct perf_event_attr template;
  uint64_t have = 0;
  size_t i;

  read_template(&template, options->sample);
  for (i = 0; i < uvperf_event_list_count(evlist->attrs->list); i++) {
    if (evlist->attrs->at[i].item.flags & UVPERF_ITEM_ATTR)
      continue;
    attr_set_period(evlist, &evlist->attrs->at[i], &template);
    if (evlist->attrs->at[i].asked->sample_period == 0)
      continue;
    attr_add_fields(evlist->attrs->at[i].asked, &template);
    have |= evlist->attrs->at[i].asked->sample_type;
  }
  for (i = 0; i < COUNT_OF(fields); i++)
    if (!(have & fields[i].bit) &&
        !uvperf__is_zero((const char *)&template + fields[i].offset,
                         fields[i].size))
      return uvperf__error_argument(
          error, "%s has no effect; set %s in sample_type of options.sample",
          fields[i].name, fields[i].bit_name);
  return 0;
}
