/* SPDX-License-Identifier: MIT */
/* Reads the command line and explains what is wrong with it. Does not look at
 * the machine: whether an event or a target can be had is found out by opening
 * it. Letters and long names are those of perf-record(1). */
#include "record/options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "common/list.h"
#include "common/memory.h"

#define DEFAULT_FILE        "perf.data"
#define DEFAULT_STACK_BYTES 8192
/* The kernel's field is 16 bits wide, and wants multiples of 8
 * (perf_sample_ustack_size in kernel/events/core.c). */
#define MAX_STACK_BYTES 65528ul

enum {
  OPTION_CALL_GRAPH = 256,
  OPTION_CGROUPS,
  OPTION_DURATION,
  OPTION_FILTER,
  OPTION_MAX_STACK,
  OPTION_NAMESPACES,
  OPTION_SAMPLE_CPU,
  OPTION_SWITCH_EVENTS,
};

static const char letters[] = "+:aC:c:e:F:ghim:o:p:qt:v";

static const struct option names[] = {
    {"all-cgroups", no_argument, NULL, OPTION_CGROUPS},
    {"all-cpus", no_argument, NULL, 'a'},
    {"call-graph", required_argument, NULL, OPTION_CALL_GRAPH},
    {"count", required_argument, NULL, 'c'},
    {"cpu", required_argument, NULL, 'C'},
    {"duration", required_argument, NULL, OPTION_DURATION},
    {"event", required_argument, NULL, 'e'},
    {"filter", required_argument, NULL, OPTION_FILTER},
    {"freq", required_argument, NULL, 'F'},
    {"help", no_argument, NULL, 'h'},
    {"max-stack", required_argument, NULL, OPTION_MAX_STACK},
    {"namespaces", no_argument, NULL, OPTION_NAMESPACES},
    {"no-inherit", no_argument, NULL, 'i'},
    {"output", required_argument, NULL, 'o'},
    {"pid", required_argument, NULL, 'p'},
    {"quiet", no_argument, NULL, 'q'},
    {"sample-cpu", no_argument, NULL, OPTION_SAMPLE_CPU},
    {"switch-events", no_argument, NULL, OPTION_SWITCH_EVENTS},
    {"tid", required_argument, NULL, 't'},
    {"verbose", no_argument, NULL, 'v'},
    {NULL, 0, NULL, 0},
};

static int add_events(record_options_t *options, const char *text) {
  options->events_last =
      options->events == NULL ? 0 : strlen(options->events) + 1;
  common_list_add(&options->events, text);
  return 0;
}

/* The kernel takes one filter for each event. */
static int add_filter(record_options_t *options, const char *text) {
  record_filter_t *filter;

  if (options->events == NULL)
    return common_options_bad("--filter goes behind the -e whose events it "
                              "is for");
  if (options->nr_filters > 0 &&
      options->filters[options->nr_filters - 1].begin == options->events_last)
    return common_options_bad("one --filter for each -e: join conditions by "
                              "&& and ||");
  if (options->nr_filters == options->filters_capacity)
    options->filters = common_grow(options->filters, &options->filters_capacity,
                                   sizeof(*options->filters));
  filter = &options->filters[options->nr_filters++];
  filter->text = text;
  filter->begin = options->events_last;
  filter->end = strlen(options->events);
  return 0;
}

static int parse_frequency(record_options_t *options, const char *text) {
  uint64_t number;

  options->frequency_hz = UINT64_MAX;
  if (strcmp(text, "max") == 0)
    return 0;
  if (common_options_number(text, UINT32_MAX, &number) != 0)
    return common_options_bad("-F wants samples a second, or max, not '%s'",
                              text);
  options->frequency_hz = number;
  return 0;
}

/* The kernel refuses a period with the highest bit. */
static int parse_period(record_options_t *options, const char *text) {
  uint64_t number;

  if (common_options_number(text, INT64_MAX, &number) != 0)
    return common_options_bad("-c wants a number of events from 1 on, not '%s'",
                              text);
  options->period = number;
  return 0;
}

static int parse_max_stack(record_options_t *options, const char *text) {
  uint64_t number;

  if (common_options_number(text, UINT16_MAX, &number) != 0)
    return common_options_bad("--max-stack wants frames, 1 to %u, not '%s'",
                              UINT16_MAX, text);
  options->max_stack = (uint16_t)number;
  if (options->stack == RECORD_STACK_NONE)
    options->stack = RECORD_STACK_FP;
  return 0;
}

static int parse_call_graph(record_options_t *options, const char *text) {
  uint64_t bytes = DEFAULT_STACK_BYTES;
  const char *comma = strchr(text, ',');

  options->stack = RECORD_STACK_FP;
  if (strcmp(text, "fp") == 0)
    return 0;
  options->stack = RECORD_STACK_DWARF;
  if (strcmp(text, "dwarf") != 0 && strncmp(text, "dwarf,", 6) != 0)
    return common_options_bad("--call-graph wants fp, dwarf or dwarf,SIZE, not "
                              "'%s'",
                              text);
  if (comma != NULL &&
      common_options_number(comma + 1, MAX_STACK_BYTES, &bytes) != 0)
    return common_options_bad("--call-graph dwarf,SIZE wants bytes of stack, 8 "
                              "to %lu, not '%s'",
                              MAX_STACK_BYTES, comma + 1);
  options->stack_bytes = (uint32_t)((bytes + 7) & ~7ul);
  return 0;
}

static int parse_file(record_options_t *options, const char *text) {
  options->file = text;
  return text[0] != '\0' ? 0 : common_options_bad("-o wants a file's name");
}

/* Those that take a value: what is left are flags. */
static int parse_value(record_options_t *options, int option, char **argv) {
  switch (option) {
    case 'e':
      return add_events(options, optarg);
    case OPTION_FILTER:
      return add_filter(options, optarg);
    case 'F':
      return parse_frequency(options, optarg);
    case 'c':
      return parse_period(options, optarg);
    case OPTION_CALL_GRAPH:
      return parse_call_graph(options, optarg);
    case OPTION_MAX_STACK:
      return parse_max_stack(options, optarg);
    case 'p':
      return common_options_ids("-p", optarg, &options->pids);
    case 't':
      return common_options_ids("-t", optarg, &options->tids);
    case 'C':
      options->cpus = optarg;
      return common_options_cpus("-C", optarg);
    case OPTION_DURATION:
      return common_options_seconds("--duration", optarg,
                                    &options->duration_ms);
    case 'm':
      return common_options_ring(optarg, &options->ring_bytes);
    case 'o':
      return parse_file(options, optarg);
    default:
      return common_options_refused(option, names, argv);
  }
}

static int parse_option(record_options_t *options, int option, char **argv) {
  switch (option) {
    case 'a':
      options->all = 1;
      return 0;
    case 'g':
      if (options->stack == RECORD_STACK_NONE)
        options->stack = RECORD_STACK_FP;
      return 0;
    case 'i':
      options->no_inherit = 1;
      return 0;
    case OPTION_SAMPLE_CPU:
      options->sample_cpu = 1;
      return 0;
    case OPTION_SWITCH_EVENTS:
      options->switch_events = 1;
      return 0;
    case OPTION_NAMESPACES:
      options->namespaces = 1;
      return 0;
    case OPTION_CGROUPS:
      options->cgroups = 1;
      return 0;
    case 'q':
      options->quiet = 1;
      return 0;
    case 'v':
      options->verbose = 1;
      return 0;
    case 'h':
      options->help = 1;
      return 0;
    default:
      return parse_value(options, option, argv);
  }
}

/* A command beside other targets is what says how long to record. */
static int check(record_options_t *options) {
  int tasks = (options->pids.nr > 0) + (options->tids.nr > 0);
  int places = options->all || options->cpus != NULL;

  if (options->frequency_hz != 0 && options->period != 0)
    return common_options_bad("choose one of -F and -c");
  if (options->quiet && options->verbose)
    return common_options_bad("choose one of -q and -v");
  if (tasks + places > 1)
    return common_options_bad("choose one of -p, -t, and -a or -C");
  if (options->no_inherit && places)
    return common_options_bad("-i is for tasks: -a and -C record every task "
                              "anyway");
  options->all_by_default = tasks + places == 0 && options->command == NULL;
  options->all = places || options->all_by_default;
  return 0;
}

int record_options_parse(record_options_t *options, int argc, char **argv) {
  int option, rc;

  memset(options, 0, sizeof(*options));
  options->file = DEFAULT_FILE;
  opterr = 0;
  /* The + ends the options with the first word that is none: all that follows
   * belongs to the command, with or without a -- before it. */
  while ((option = getopt_long(argc, argv, letters, names, NULL)) != -1) {
    rc = parse_option(options, option, argv);
    if (rc != 0 || options->help)
      return rc;
  }
  rc = common_options_command(argc, argv, &options->command);
  return rc != 0 ? rc : check(options);
}

int record_options_is_command(const record_options_t *options) {
  return !options->all && options->pids.nr == 0 && options->tids.nr == 0;
}

void record_options_free(record_options_t *options) {
  free(options->events);
  free(options->filters);
  common_ids_free(&options->pids);
  common_ids_free(&options->tids);
}
