/* SPDX-License-Identifier: MIT */
/* Parses the command line and explains errors. Does not look at the machine:
 * only opening an event shows whether it can be counted. Letters and long names
 * are the same as in perf-stat(1). */
#include "stat/options.h"

#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/control.h"
#include "common/memory.h"

#define MAX_MS   1000000000ul
#define MAX_RUNS 1000000ul

enum {
  OPTION_PER_CPU = 256,
  OPTION_DURATION,
  OPTION_TIMEOUT,
  OPTION_INTERVAL_COUNT,
  OPTION_NO_MERGE,
  OPTION_APPEND,
  OPTION_METRIC_ONLY,
  OPTION_CONTROL,
  OPTION_FILTER,
  OPTION_LOG_FD,
  OPTION_SUMMARY,
  /* In the order of enum stat_by. */
  OPTION_PER_THREAD,
  OPTION_PER_CORE,
  OPTION_PER_DIE,
  OPTION_PER_SOCKET,
  OPTION_PER_NODE,
};

static const char letters[] = "+:aABC:dD:e:G:hiI:jno:p:r:t:vx:";

static const struct option names[] = {
    {"all-cpus", no_argument, NULL, 'a'},
    {"append", no_argument, NULL, OPTION_APPEND},
    {"big-num", no_argument, NULL, 'B'},
    {"cgroup", required_argument, NULL, 'G'},
    {"control", required_argument, NULL, OPTION_CONTROL},
    {"cpu", required_argument, NULL, 'C'},
    {"delay", required_argument, NULL, 'D'},
    {"detailed", no_argument, NULL, 'd'},
    {"duration", required_argument, NULL, OPTION_DURATION},
    {"event", required_argument, NULL, 'e'},
    {"field-separator", required_argument, NULL, 'x'},
    {"filter", required_argument, NULL, OPTION_FILTER},
    {"for-each-cgroup", required_argument, NULL, 'G'},
    {"help", no_argument, NULL, 'h'},
    {"interval-count", required_argument, NULL, OPTION_INTERVAL_COUNT},
    {"interval-print", required_argument, NULL, 'I'},
    {"json", no_argument, NULL, 'j'},
    {"json-output", no_argument, NULL, 'j'},
    {"log-fd", required_argument, NULL, OPTION_LOG_FD},
    {"metric-only", no_argument, NULL, OPTION_METRIC_ONLY},
    {"no-aggr", no_argument, NULL, 'A'},
    {"no-inherit", no_argument, NULL, 'i'},
    {"no-merge", no_argument, NULL, OPTION_NO_MERGE},
    {"null", no_argument, NULL, 'n'},
    {"output", required_argument, NULL, 'o'},
    {"per-core", no_argument, NULL, OPTION_PER_CORE},
    {"per-cpu", no_argument, NULL, OPTION_PER_CPU},
    {"per-die", no_argument, NULL, OPTION_PER_DIE},
    {"per-node", no_argument, NULL, OPTION_PER_NODE},
    {"per-socket", no_argument, NULL, OPTION_PER_SOCKET},
    {"per-thread", no_argument, NULL, OPTION_PER_THREAD},
    {"pid", required_argument, NULL, 'p'},
    {"repeat", required_argument, NULL, 'r'},
    {"summary", no_argument, NULL, OPTION_SUMMARY},
    {"tid", required_argument, NULL, 't'},
    {"timeout", required_argument, NULL, OPTION_TIMEOUT},
    {"verbose", no_argument, NULL, 'v'},
    {"version", no_argument, NULL, COMMON_OPTION_VERSION},
    {NULL, 0, NULL, 0},
};

static int parse_ms(const char *option, const char *text, uint64_t *ms) {
  uint64_t number;

  if (common_options_number(text, MAX_MS, &number) != 0)
    return common_options_bad("%s wants milliseconds, 1 to %lu, not '%s'",
                              option, MAX_MS, text);
  *ms = number;
  return 0;
}

static int parse_runs(stat_options_t *options, const char *text) {
  uint64_t number = 0;

  if (strcmp(text, "0") != 0 &&
      common_options_number(text, MAX_RUNS, &number) != 0)
    return common_options_bad("-r wants the number of runs, 1 to %lu, or 0 for "
                              "no end, not '%s'",
                              MAX_RUNS, text);
  options->nr_runs = (uint32_t)number;
  return 0;
}

static int parse_intervals(stat_options_t *options, const char *text) {
  uint64_t number;

  if (common_options_number(text, UINT32_MAX, &number) != 0)
    return common_options_bad("--interval-count wants a number of intervals, 1 "
                              "or more, not '%s'",
                              text);
  options->nr_intervals = (uint32_t)number;
  return 0;
}

/* Shells do not expand \t. Like perf-stat(1), this treats the two characters as
 * a tab. */
static int parse_separator(stat_options_t *options, const char *text) {
  options->separator = strcmp(text, "\\t") == 0 ? "\t" : text;
  if (text[0] == '\0' || strchr(text, '"') != NULL)
    return common_options_bad("-x wants a separator without quotation marks, "
                              "not '%s'",
                              text);
  return 0;
}

static int parse_file(stat_options_t *options, const char *text) {
  options->file = text;
  return text[0] != '\0' ? 0
                         : common_options_bad("-o wants the name of a file");
}

static int parse_log_fd(stat_options_t *options, const char *text) {
  uint64_t number;

  if (common_options_number(text, INT_MAX, &number) != 0)
    return common_options_bad("--log-fd wants an open file descriptor, 1 or "
                              "more, not '%s'",
                              text);
  options->log_fd = (int)number;
  return 0;
}

/* Parses options with a value. All others are flags. */
static int parse_value(stat_options_t *options, int option, char **argv) {
  switch (option) {
    case 'e':
      return common_filters_events(&options->filters, &options->events, optarg);
    case OPTION_FILTER:
      return common_filters_add(&options->filters, options->events, optarg);
    case 'p':
      return common_options_ids("-p", optarg, &options->pids);
    case 't':
      return common_options_ids("-t", optarg, &options->tids);
    case 'C':
      options->cpus = optarg;
      return common_options_cpus("-C", optarg);
    case 'G':
      return common_options_cgroups(optarg, &options->cgroups);
    case 'I':
      return parse_ms("-I", optarg, &options->interval_ms);
    case OPTION_DURATION:
      return common_options_seconds("--duration", optarg, &options->timeout_ms);
    case OPTION_TIMEOUT:
      return parse_ms("--timeout", optarg, &options->timeout_ms);
    case OPTION_INTERVAL_COUNT:
      return parse_intervals(options, optarg);
    case 'D':
      return common_delay_parse(&options->delay, optarg, 0);
    case 'r':
      return parse_runs(options, optarg);
    case 'x':
      return parse_separator(options, optarg);
    case OPTION_CONTROL:
      options->control = optarg;
      return common_control_check(optarg);
    case OPTION_LOG_FD:
      return parse_log_fd(options, optarg);
    case 'o':
      return parse_file(options, optarg);
    default:
      return common_options_absent(stat_options_absent(), option, names, argv);
  }
}

static int parse_by(stat_options_t *options, enum stat_by by) {
  if (options->by != STAT_BY_NONE && options->by != by)
    return common_options_bad(
        "choose one of --per-cpu (-A), --per-core, --per-die, --per-socket, "
        "--per-node and --per-thread");
  options->by = by;
  return 0;
}

static int parse_option(stat_options_t *options, int option, char **argv) {
  switch (option) {
    case 'a':
      options->all = 1;
      return 0;
    case 'A':
    case OPTION_PER_CPU:
      return parse_by(options, STAT_BY_CPU);
    case OPTION_PER_THREAD:
    case OPTION_PER_CORE:
    case OPTION_PER_DIE:
    case OPTION_PER_SOCKET:
    case OPTION_PER_NODE:
      return parse_by(
          options, (enum stat_by)(option - OPTION_PER_THREAD + STAT_BY_THREAD));
    case OPTION_NO_MERGE:
      options->no_merge = 1;
      return 0;
    case OPTION_SUMMARY:
      options->summary = 1;
      return 0;
    case OPTION_METRIC_ONLY:
      options->metric_only = 1;
      return 0;
    case OPTION_APPEND:
      options->append = 1;
      return 0;
    case 'B': /* tables always have separators, by the locale */
      return 0;
    case 'n':
      options->null = 1;
      return 0;
    case 'd':
      options->detailed++;
      return 0;
    case 'i':
      options->no_inherit = 1;
      return 0;
    case 'j':
      options->json = 1;
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
  if (options->null && (options->events != NULL || options->detailed > 0))
    return common_options_bad("choose one of -n and -e or -d");
  if (options->null && options->interval_ms > 0)
    return common_options_bad("choose one of -n, which counts nothing, and -I");
  if (options->file != NULL && options->log_fd >= 0)
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
  int option, rc;

  memset(options, 0, sizeof(*options));
  options->nr_runs = 1;
  options->log_fd = -1;
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

void stat_options_free(stat_options_t *options) {
  common_texts_free(&options->cgroups);
  free(options->events);
  common_filters_free(&options->filters);
  common_ids_free(&options->pids);
  common_ids_free(&options->tids);
}
