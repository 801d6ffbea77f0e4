/* SPDX-License-Identifier: MIT */
/* Parses the command line and explains errors. Does not look at the machine:
 * only opening an event shows whether it can be recorded. Letters and long
 * names are the same as in perf-record(1). */
#include "record/options.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "record/values.h"

#define DEFAULT_FILE        "perf.data"
#define DEFAULT_STACK_BYTES 8192
/* The kernel's field has 16 bits and needs multiples of 8
 * (perf_sample_ustack_size in kernel/events/core.c). */
#define MAX_STACK_BYTES 65528ul

static int parse_frequency(void *arg, const char *text) {
  record_options_t *options = arg;
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

static int parse_stacks(void *arg, const char *text) {
  record_options_t *options = arg;

  (void)text;
  if (options->stack == RECORD_STACK_NONE)
    options->stack = RECORD_STACK_FP;
  return 0;
}

static int parse_max_stack(void *arg, const char *text) {
  record_options_t *options = arg;
  uint64_t number;

  if (common_options_count("--max-stack", "a number of frames", UINT16_MAX,
                           text, &number) != 0)
    return COMMON_EXIT_USAGE;
  options->max_stack = (uint16_t)number;
  return parse_stacks(options, text);
}

static int parse_call_graph(void *arg, const char *text) {
  record_options_t *options = arg;
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

static int parse_any_branch(void *branches, const char *text) {
  (void)text;
  return record_branches_parse(branches, "any");
}

static int parse_exclude_perf(void *arg, const char *text) {
  record_options_t *options = arg;

  (void)text;
  options->excluded_pid = (uint32_t)getpid();
  return 0;
}

#define MAX_FILES 100000u
#define AT(field) .offset = offsetof(record_options_t, field)

static const common_option_t list[] = {
    {'a', "all-cpus", COMMON_FLAG, AT(all)},
    {'b', "branch-any", COMMON_CALL_FLAG, AT(branches), parse_any_branch},
    {'j', "branch-filter", COMMON_CALL, AT(branches), record_branches_parse},
    {'k', "clockid", COMMON_CALL, AT(clock), record_clock_parse},
    {'c', "count", COMMON_NUMBER, AT(period), .what = "a number of events",
     .max = INT64_MAX},
    {'C', "cpu", COMMON_CPUS, AT(cpus)},
    {'d', "data", COMMON_FLAG, AT(data)},
    {'D', "delay", COMMON_DELAY, AT(delay), .max = 1},
    {'e', "event", COMMON_EVENTS, AT(events)},
    {'F', "freq", COMMON_CALL, .parse = parse_frequency},
    {'g', NULL, COMMON_CALL_FLAG, .parse = parse_stacks},
    {'m', "mmap-pages", COMMON_RING, AT(ring_bytes)},
    {'i', "no-inherit", COMMON_FLAG, AT(no_inherit)},
    {'o', "output", COMMON_FILE, AT(file)},
    {'p', "pid", COMMON_IDS, AT(pids)},
    {'q', "quiet", COMMON_FLAG, AT(quiet)},
    {'t', "tid", COMMON_IDS, AT(tids)},
    {'v', "verbose", COMMON_FLAG, AT(verbose)},
    {'W', "weight", COMMON_FLAG, AT(weight)},
    {0, "all-cgroups", COMMON_FLAG, AT(cgroups)},
    {0, "all-kernel", COMMON_FLAG, AT(all_kernel)},
    {0, "all-user", COMMON_FLAG, AT(all_user)},
    {0, "call-graph", COMMON_CALL, .parse = parse_call_graph},
    {0, "code-page-size", COMMON_FLAG, AT(code_page_size)},
    {0, "control", COMMON_CONTROL, AT(control)},
    {0, "data-page-size", COMMON_FLAG, AT(data_page_size)},
    {0, "duration", COMMON_SECONDS, AT(duration_ms)},
    {0, "exclude-perf", COMMON_CALL_FLAG, .parse = parse_exclude_perf},
    {0, "filter", COMMON_FILTER, AT(events)},
    {0, "max-size", COMMON_CALL, AT(limits), record_limits_max_size},
    {0, "max-stack", COMMON_CALL, .parse = parse_max_stack},
    {0, "namespaces", COMMON_FLAG, AT(namespaces)},
    {0, "overwrite", COMMON_FLAG, AT(limits.overwrites)},
    {0, "phys-data", COMMON_FLAG, AT(phys_data)},
    {0, "sample-cpu", COMMON_FLAG, AT(sample_cpu)},
    {0, "switch-events", COMMON_FLAG, AT(switch_events)},
    {0, "switch-max-files", COMMON_NUMBER, AT(limits.max_files),
     .what = "a number of files", .max = MAX_FILES},
    {0, "switch-output", COMMON_CALL_MAYBE, AT(limits), record_limits_switch},
    {0, "timestamp", .kind = COMMON_ABSENT},
    {0, "timestamp-filename", COMMON_FLAG, AT(limits.has_stamp)},
};

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
  static const common_options_t of = {list, sizeof(list) / sizeof(*list),
                                      record_help, 0};
  int rc;

  memset(options, 0, sizeof(*options));
  options->file = DEFAULT_FILE;
  options->clock = CLOCK_MONOTONIC;
  rc = common_options_parse(&of, options, argc, argv, &options->command);
  return rc != 0 ? rc : check(options);
}

int record_options_is_command(const record_options_t *options) {
  return !options->all && options->pids.nr == 0 && options->tids.nr == 0;
}

void record_options_free(record_options_t *options) {
  common_events_free(&options->events);
  common_ids_free(&options->pids);
  common_ids_free(&options->tids);
}
