/* SPDX-License-Identifier: MIT */
/* Parses the command line and explains errors. Does not look at the machine:
 * only opening an event shows whether it can be recorded. Letters and long
 * names are the same as in perf-record(1). */
#include "record/options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/control.h"
#include "record/branches.h"
#include "record/clocks.h"

#define DEFAULT_FILE        "perf.data"
#define DEFAULT_STACK_BYTES 8192
/* The kernel's field has 16 bits and needs multiples of 8
 * (perf_sample_ustack_size in kernel/events/core.c). */
#define MAX_STACK_BYTES 65528ul

enum {
  OPTION_ALL_KERNEL = 256,
  OPTION_ALL_USER,
  OPTION_CALL_GRAPH,
  OPTION_CGROUPS,
  OPTION_CONTROL,
  OPTION_CODE_PAGE_SIZE,
  OPTION_DATA_PAGE_SIZE,
  OPTION_DURATION,
  OPTION_EXCLUDE_PERF,
  OPTION_FILTER,
  OPTION_MAX_SIZE,
  OPTION_MAX_STACK,
  OPTION_NAMESPACES,
  OPTION_OVERWRITE,
  OPTION_PHYS_DATA,
  OPTION_SAMPLE_CPU,
  OPTION_SWITCH_EVENTS,
  OPTION_SWITCH_MAX_FILES,
  OPTION_SWITCH_OUTPUT,
  OPTION_TIMESTAMP_FILENAME,
};

static const char letters[] = "+:abC:c:dD:e:F:ghij:k:m:o:p:qt:vW";

static const struct option names[] = {
    {"all-cgroups", no_argument, NULL, OPTION_CGROUPS},
    {"all-cpus", no_argument, NULL, 'a'},
    {"all-kernel", no_argument, NULL, OPTION_ALL_KERNEL},
    {"all-user", no_argument, NULL, OPTION_ALL_USER},
    {"branch-any", no_argument, NULL, 'b'},
    {"branch-filter", required_argument, NULL, 'j'},
    {"call-graph", required_argument, NULL, OPTION_CALL_GRAPH},
    {"clockid", required_argument, NULL, 'k'},
    {"code-page-size", no_argument, NULL, OPTION_CODE_PAGE_SIZE},
    {"control", required_argument, NULL, OPTION_CONTROL},
    {"count", required_argument, NULL, 'c'},
    {"cpu", required_argument, NULL, 'C'},
    {"data", no_argument, NULL, 'd'},
    {"data-page-size", no_argument, NULL, OPTION_DATA_PAGE_SIZE},
    {"delay", required_argument, NULL, 'D'},
    {"duration", required_argument, NULL, OPTION_DURATION},
    {"event", required_argument, NULL, 'e'},
    {"exclude-perf", no_argument, NULL, OPTION_EXCLUDE_PERF},
    {"filter", required_argument, NULL, OPTION_FILTER},
    {"freq", required_argument, NULL, 'F'},
    {"help", no_argument, NULL, 'h'},
    {"max-size", required_argument, NULL, OPTION_MAX_SIZE},
    {"max-stack", required_argument, NULL, OPTION_MAX_STACK},
    {"mmap-pages", required_argument, NULL, 'm'},
    {"namespaces", no_argument, NULL, OPTION_NAMESPACES},
    {"no-inherit", no_argument, NULL, 'i'},
    {"output", required_argument, NULL, 'o'},
    {"overwrite", no_argument, NULL, OPTION_OVERWRITE},
    {"phys-data", no_argument, NULL, OPTION_PHYS_DATA},
    {"pid", required_argument, NULL, 'p'},
    {"quiet", no_argument, NULL, 'q'},
    {"sample-cpu", no_argument, NULL, OPTION_SAMPLE_CPU},
    {"switch-events", no_argument, NULL, OPTION_SWITCH_EVENTS},
    {"switch-max-files", required_argument, NULL, OPTION_SWITCH_MAX_FILES},
    {"switch-output", optional_argument, NULL, OPTION_SWITCH_OUTPUT},
    {"tid", required_argument, NULL, 't'},
    {"timestamp", no_argument, NULL, '?'}, /* absent, and no short form */
    {"timestamp-filename", no_argument, NULL, OPTION_TIMESTAMP_FILENAME},
    {"verbose", no_argument, NULL, 'v'},
    {"weight", no_argument, NULL, 'W'},
    {"version", no_argument, NULL, COMMON_OPTION_VERSION},
    {NULL, 0, NULL, 0},
};

static int parse_frequency(record_options_t *options, const char *text) {
  uint64_t number;

  options->frequency_hz = UINT64_MAX;
  if (strcmp(text, "max") == 0)
    return 0;
  if (common_options_number(text, UINT32_MAX, &number) != 0)
    return common_options_bad("-F wants samples per second, or max, not '%s'",
                              text);
  options->frequency_hz = number;
  return 0;
}

/* The kernel refuses a period with the highest bit. */
static int parse_period(record_options_t *options, const char *text) {
  uint64_t number;

  if (common_options_number(text, INT64_MAX, &number) != 0)
    return common_options_bad(
        "-c wants a number of events, 1 or more, not '%s'", text);
  options->period = number;
  return 0;
}

static int parse_max_stack(record_options_t *options, const char *text) {
  uint64_t number;

  if (common_options_number(text, UINT16_MAX, &number) != 0)
    return common_options_bad(
        "--max-stack wants a number of frames, 1 to %u, not '%s'", UINT16_MAX,
        text);
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
  return text[0] != '\0' ? 0
                         : common_options_bad("-o wants the name of a file");
}

static int parse_branches(record_options_t *options, const char *text) {
  if (options->branches != 0)
    return common_options_bad("choose one of -b and -j, once");
  return record_branches_parse(text, &options->branches);
}

/* Parses options with a value. All others are flags. */
static int parse_value(record_options_t *options, int option, char **argv) {
  switch (option) {
    case 'e':
      return common_filters_events(&options->filters, &options->events, optarg);
    case OPTION_FILTER:
      return common_filters_add(&options->filters, options->events, optarg);
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
    case 'D':
      return common_delay_parse(&options->delay, optarg, 1);
    case OPTION_CONTROL:
      options->control = optarg;
      return common_control_check(optarg);
    case OPTION_DURATION:
      return common_options_seconds("--duration", optarg,
                                    &options->duration_ms);
    case 'j':
      return parse_branches(options, optarg);
    case 'k':
      return record_clock_parse(optarg, &options->clock);
    case 'm':
      return common_options_ring(optarg, &options->ring_bytes);
    case OPTION_MAX_SIZE:
      return record_limits_max_size(&options->limits, optarg);
    case OPTION_SWITCH_OUTPUT:
      return record_limits_switch(&options->limits, optarg);
    case OPTION_SWITCH_MAX_FILES:
      return record_limits_max_files(&options->limits, optarg);
    case 'o':
      return parse_file(options, optarg);
    default:
      return common_options_absent(record_options_absent(), option, names,
                                   argv);
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
    case 'b':
      return parse_branches(options, "any");
    case 'd':
      options->data = 1;
      return 0;
    case 'W':
      options->weight = 1;
      return 0;
    case OPTION_PHYS_DATA:
      options->phys_data = 1;
      return 0;
    case OPTION_DATA_PAGE_SIZE:
      options->data_page_size = 1;
      return 0;
    case OPTION_CODE_PAGE_SIZE:
      options->code_page_size = 1;
      return 0;
    case OPTION_ALL_USER:
      options->all_user = 1;
      return 0;
    case OPTION_ALL_KERNEL:
      options->all_kernel = 1;
      return 0;
    case OPTION_EXCLUDE_PERF:
      options->excluded_pid = (uint32_t)getpid();
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
    case OPTION_OVERWRITE:
      options->limits.overwrites = 1;
      return 0;
    case OPTION_TIMESTAMP_FILENAME:
      options->limits.has_stamp = 1;
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

/* With another target, the command only determines how long to record. */
static int check(record_options_t *options) {
  int tasks = (options->pids.nr > 0) + (options->tids.nr > 0);
  int places = options->all || options->cpus != NULL;

  if (options->frequency_hz != 0 && options->period != 0)
    return common_options_bad("choose one of -F and -c");
  if (options->quiet && options->verbose)
    return common_options_bad("choose one of -q and -v");
  if (options->all_user && options->all_kernel)
    return common_options_bad("choose one of --all-user and --all-kernel");
  if (tasks + places > 1)
    return common_options_bad("choose one of -p, -t, and -a or -C");
  if (options->no_inherit && places)
    return common_options_bad("-i is for a command, -p or -t: -a and -C record "
                              "every task");
  options->all = places || (tasks == 0 && options->command == NULL);
  if (options->limits.overwrites && options->clock != CLOCK_MONOTONIC)
    return common_options_bad("choose one of -k and --overwrite, whose clock "
                              "is monotonic");
  return record_limits_check(&options->limits, options->file);
}

int record_options_parse(record_options_t *options, int argc, char **argv) {
  int option, rc;

  memset(options, 0, sizeof(*options));
  options->file = DEFAULT_FILE;
  options->clock = CLOCK_MONOTONIC;
  opterr = 0;
  /* The + ends the options at the first word that is not an option. The rest is
   * the command, with or without -- before it. */
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
  common_filters_free(&options->filters);
  common_ids_free(&options->pids);
  common_ids_free(&options->tids);
}
