/* SPDX-License-Identifier: MIT */
/* Parses the command line and explains errors. Does not look at the machine:
 * only opening an event shows whether it can be counted. Letters and long names
 * are the same as in perf-stat(1). */
#include "stat/options.h"

#include <limits.h>
#include <string.h>

#define MAX_MS   1000000000ul
#define MAX_RUNS 1000000ul

static int parse_runs(void *arg, const char *text) {
  stat_options_t *options = arg;
  uint64_t number = 0;
  int rc = strcmp(text, "0") == 0
               ? 0
               : common_options_count("-r", "0 for no end, or a number of runs",
                                      MAX_RUNS, text, &number);

  options->nr_runs = (uint32_t)number;
  return rc;
}

/* Shells do not expand \t. Like perf-stat(1), this treats the two characters as
 * a tab. */
static int parse_separator(void *arg, const char *text) {
  stat_options_t *options = arg;

  options->separator = strcmp(text, "\\t") == 0 ? "\t" : text;
  if (text[0] == '\0' || strchr(text, '"') != NULL)
    return common_options_bad("-x wants a separator without quotation marks, "
                              "not '%s'",
                              text);
  return 0;
}

static int parse_detailed(void *arg, const char *text) {
  stat_options_t *options = arg;

  (void)text;
  options->detailed++;
  return 0;
}

static const char one_place[] =
    "choose one of --per-cpu (-A), --per-core, --per-die, --per-socket, "
    "--per-node and --per-thread";

#define AT(field) .offset = offsetof(stat_options_t, field)

static const common_option_t list[] = {
    {'a', "all-cpus", COMMON_FLAG, AT(all)},
    {0, "append", COMMON_FLAG, AT(append)},
    {'B', "big-num", .kind = COMMON_IGNORED},
    {'G', "cgroup", COMMON_CGROUPS, AT(cgroups)},
    {0, "control", COMMON_CONTROL, AT(control)},
    {'C', "cpu", COMMON_CPUS, AT(cpus)},
    {'D', "delay", COMMON_DELAY, AT(delay)},
    {'d', "detailed", COMMON_CALL_FLAG, .parse = parse_detailed},
    {0, "duration", COMMON_SECONDS, AT(timeout_ms)},
    {'e', "event", COMMON_EVENTS, AT(events)},
    {'x', "field-separator", COMMON_CALL, .parse = parse_separator},
    {0, "filter", COMMON_FILTER, AT(events)},
    {'G', "for-each-cgroup", COMMON_CGROUPS, AT(cgroups)},
    {0, "interval-count", COMMON_NUMBER, AT(nr_intervals),
     .what = "a number of intervals", .max = UINT32_MAX},
    {'I', "interval-print", COMMON_NUMBER, AT(interval_ms),
     .what = "milliseconds", .max = MAX_MS},
    {'j', "json", COMMON_FLAG, AT(json)},
    {'j', "json-output", COMMON_FLAG, AT(json)},
    {0, "log-fd", COMMON_NUMBER, AT(log_fd), .what = "an open file descriptor",
     .max = INT_MAX},
    {0, "metric-only", COMMON_FLAG, AT(metric_only)},
    {'A', "no-aggr", COMMON_CHOICE, AT(by), .what = one_place,
     .max = STAT_BY_CPU},
    {'i', "no-inherit", COMMON_FLAG, AT(no_inherit)},
    {0, "no-merge", COMMON_FLAG, AT(no_merge)},
    {'n', "null", COMMON_FLAG, AT(null)},
    {'o', "output", COMMON_FILE, AT(file)},
    {0, "per-core", COMMON_CHOICE, AT(by), .what = one_place,
     .max = STAT_BY_CORE},
    {0, "per-cpu", COMMON_CHOICE, AT(by), .what = one_place,
     .max = STAT_BY_CPU},
    {0, "per-die", COMMON_CHOICE, AT(by), .what = one_place,
     .max = STAT_BY_DIE},
    {0, "per-node", COMMON_CHOICE, AT(by), .what = one_place,
     .max = STAT_BY_NODE},
    {0, "per-socket", COMMON_CHOICE, AT(by), .what = one_place,
     .max = STAT_BY_SOCKET},
    {0, "per-thread", COMMON_CHOICE, AT(by), .what = one_place,
     .max = STAT_BY_THREAD},
    {'p', "pid", COMMON_IDS, AT(pids)},
    {'r', "repeat", COMMON_CALL, .parse = parse_runs},
    {0, "summary", COMMON_FLAG, AT(summary)},
    {'t', "tid", COMMON_IDS, AT(tids)},
    {0, "timeout", COMMON_NUMBER, AT(timeout_ms), .what = "milliseconds",
     .max = MAX_MS},
    {'v', "verbose", COMMON_FLAG, AT(verbose)},
};

/* With another target, the command only determines how long to count. */
static int choose_target(stat_options_t *options) {
  int tasks = (options->pids.nr > 0) + (options->tids.nr > 0);
  int places = options->all || options->cpus != NULL || options->cgroups.nr > 0;

  if (tasks + places > 1)
    return common_options_bad("choose one of -p, -t, and -a, -C or -G");
  /* A cgroup is counted on CPUs, but only its own tasks are counted. */
  options->all = options->cgroups.nr == 0 &&
                 (places || (tasks == 0 && options->command == NULL));
  if (options->by != STAT_BY_NONE && options->by != STAT_BY_THREAD &&
      !options->all && options->cgroups.nr == 0)
    return common_options_bad(
        "%s -a, -C or -G: an event of a task follows it from CPU to CPU",
        options->by == STAT_BY_CPU
            ? "--per-cpu needs"
            : "--per-core, --per-die, --per-socket and --per-node need");
  if (options->by == STAT_BY_THREAD &&
      (options->cpus != NULL || options->cgroups.nr > 0))
    return common_options_bad(
        "--per-thread needs -p, -t or -a: -C and -G count "
        "CPUs, not threads");
  if (options->by == STAT_BY_THREAD && tasks + places == 0 &&
      options->command != NULL)
    return common_options_bad(
        "--per-thread needs -p, -t or -a: a command has one thread when "
        "counting begins, and the counts of later threads are added to it");
  if (options->no_inherit && places && options->by != STAT_BY_THREAD)
    return common_options_bad("-i is for a command or -p: -a, -C and -G count "
                              "every task");
  return 0;
}

static int check(stat_options_t *options) {
  if (options->json && options->separator != NULL)
    return common_options_bad("choose one of -x and --json");
  if (options->metric_only && options->nr_runs != 1)
    return common_options_bad("choose one of --metric-only and -r");
  if (options->metric_only && options->by == STAT_BY_THREAD)
    return common_options_bad("choose one of --metric-only and --per-thread");
  if (options->null && (options->events.names != NULL || options->detailed > 0))
    return common_options_bad("choose one of -n and -e or -d");
  if (options->null && options->interval_ms > 0)
    return common_options_bad("choose one of -n, which counts nothing, and -I");
  if (options->file != NULL && options->log_fd > 0)
    return common_options_bad("choose one of -o and --log-fd");
  if (options->append && options->file == NULL)
    return common_options_bad("--append needs -o");
  if (options->nr_intervals > 0 && options->interval_ms == 0)
    return common_options_bad("--interval-count needs -I");
  if (options->delay.is_set && options->delay.nr == 0 &&
      options->control == NULL)
    return common_options_bad("-D -1 leaves the counters off until --control "
                              "turns them on: add --control");
  if (options->summary && options->interval_ms == 0)
    return common_options_bad("--summary needs -I");
  if (options->nr_runs != 1 && options->command == NULL)
    return common_options_bad("-r needs a command to run");
  if (options->nr_runs != 1 && options->interval_ms > 0)
    return common_options_bad("choose one of -r and -I");
  return choose_target(options);
}

int stat_options_parse(stat_options_t *options, int argc, char **argv) {
  static const common_options_t of = {list, sizeof(list) / sizeof(*list),
                                      stat_help, 0};
  int rc;

  memset(options, 0, sizeof(*options));
  options->nr_runs = 1;
  rc = common_options_parse(&of, options, argc, argv, &options->command);
  return rc != 0 ? rc : check(options);
}

void stat_options_free(stat_options_t *options) {
  common_texts_free(&options->cgroups);
  common_events_free(&options->events);
  common_ids_free(&options->pids);
  common_ids_free(&options->tids);
}
