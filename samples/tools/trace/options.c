/* SPDX-License-Identifier: MIT */
/* Parses the command line and explains errors in it. Does not check the
 * machine: a later step finds out whether an event exists and may be traced. */
#include "trace/options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

enum {
  OPTION_FILTER = 256,
  OPTION_PRINT_FMT,
  OPTION_SELF,
  OPTION_SUMMARY_MODE,
  OPTION_HISTOGRAM,
};

static const char letters[] = "+:aC:D:d:e:hi:jl:m:o:p:st:";

static const struct option names[] = {
    {"all-cpus", no_argument, NULL, 'a'},
    {"cpu", required_argument, NULL, 'C'},
    {"delay", required_argument, NULL, 'D'},
    {"duration", required_argument, NULL, 'd'},
    {"event", required_argument, NULL, 'e'},
    {"filter", required_argument, NULL, OPTION_FILTER},
    {"help", no_argument, NULL, 'h'},
    {"histogram", no_argument, NULL, OPTION_HISTOGRAM},
    {"input", required_argument, NULL, 'i'},
    {"json", no_argument, NULL, 'j'},
    {"limit", required_argument, NULL, 'l'},
    {"mmap-pages", required_argument, NULL, 'm'},
    {"output", required_argument, NULL, 'o'},
    {"pid", required_argument, NULL, 'p'},
    {"print-fmt", no_argument, NULL, OPTION_PRINT_FMT},
    {"self", no_argument, NULL, OPTION_SELF},
    {"summary", no_argument, NULL, 's'},
    {"tid", required_argument, NULL, 't'},
    {"summary-mode", required_argument, NULL, OPTION_SUMMARY_MODE},
    {"version", no_argument, NULL, COMMON_OPTION_VERSION},
    {NULL, 0, NULL, 0},
};

static int add_names(trace_options_t *options, const char *text) {
  if (options->nr_names == options->names_capacity)
    options->names = common_grow(options->names, &options->names_capacity,
                                 sizeof(*options->names));
  options->names[options->nr_names].names = text;
  options->names[options->nr_names].filter = NULL;
  options->nr_names++;
  return 0;
}

/* The kernel allows only one filter for each event. */
static int parse_filter(trace_options_t *options, const char *text) {
  trace_names_option_t *last;

  if (options->nr_names == 0)
    return common_options_bad("--filter applies to the -e before it: write -e "
                              "first");
  last = &options->names[options->nr_names - 1];
  if (last->filter != NULL)
    return common_options_bad("'%s' already has a filter: join the two with &&",
                              last->names);
  if (text[0] == '\0')
    return common_options_bad("--filter wants an expression such as "
                              "'prev_pid == 0'");
  last->filter = text;
  return 0;
}

static int parse_cpus(trace_options_t *options, const char *text) {
  options->cpus = text;
  return common_options_cpus("-C", text);
}

static int parse_limit(trace_options_t *options, const char *text) {
  uint64_t number;

  if (common_options_number(text, UINT64_MAX, &number) != 0)
    return common_options_bad("-l wants a number of hits, 1 or more, not '%s'",
                              text);
  options->limit = number;
  return 0;
}

static int parse_delay(trace_options_t *options, const char *text) {
  int rc = common_delay_parse(&options->delay, text, 0);

  if (rc == 0 && options->delay.is_set && options->delay.nr == 0)
    return common_options_bad(
        "-D -1 would never begin: trace has no --control");
  return rc;
}

static int parse_file(trace_options_t *options, const char *text) {
  options->file = text;
  return text[0] != '\0' ? 0
                         : common_options_bad("-o wants the name of a file");
}

static int parse_mode(trace_options_t *options, const char *text) {
  static const struct {
    const char *name;
    trace_calls_by_t by;
  } modes[] = {{"process", TRACE_CALLS_BY_PROCESS},
               {"thread", TRACE_CALLS_BY_THREAD},
               {"total", TRACE_CALLS_BY_ALL}};
  size_t i;

  for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
    if (strcmp(text, modes[i].name) == 0) {
      options->summary = 1;
      options->summary_mode = modes[i].by;
      return 0;
    }
  }
  return common_options_bad("--summary-mode wants process, thread or total, "
                            "not '%s'",
                            text);
}

/* Parses the options with a value; the others are flags. */
static int parse_value(trace_options_t *options, int option, char **argv) {
  switch (option) {
    case 'e':
      return add_names(options, optarg);
    case OPTION_FILTER:
      return parse_filter(options, optarg);
    case 'p':
      return common_options_ids("-p", optarg, &options->pids);
    case 't':
      return common_options_ids("-t", optarg, &options->tids);
    case 'C':
      return parse_cpus(options, optarg);
    case 'D':
      return parse_delay(options, optarg);
    case 'd':
      return common_options_seconds("-d", optarg, &options->duration_ms);
    case 'l':
      return parse_limit(options, optarg);
    case 'm':
      return common_options_ring(optarg, &options->ring_bytes);
    case OPTION_SUMMARY_MODE:
      return parse_mode(options, optarg);
    case 'i':
      options->input = optarg;
      return optarg[0] != '\0'
                 ? 0
                 : common_options_bad("-i wants the name of a file");
    case 'o':
      return parse_file(options, optarg);
    default:
      return common_options_absent(trace_options_absent(), option, names, argv);
  }
}

static int parse_option(trace_options_t *options, int option, char **argv) {
  switch (option) {
    case 'a':
      options->all = 1;
      return 0;
    case 'j':
      options->json = 1;
      return 0;
    case OPTION_PRINT_FMT:
      options->print_fmt = 1;
      return 0;
    case OPTION_SELF:
      options->self = 1;
      return 0;
    case 's':
      options->summary = 1;
      return 0;
    case OPTION_HISTOGRAM:
      options->summary = options->histogram = 1;
      return 0;
    case 'h':
      options->help = 1;
      return 0;
    default:
      return parse_value(options, option, argv);
  }
}

static int check_summary(trace_options_t *options) {
  if (options->limit > 0)
    return common_options_bad(
        "-s prints no hits that -l could count: leave out "
        "-l, or use -d");
  if (options->cpus != NULL)
    return common_options_bad("-s needs both the begin and the end of calls, "
                              "which can be on\n"
                              "  different CPUs: leave out -C");
  if (options->print_fmt)
    return common_options_bad("-s prints no fields: leave out --print-fmt");
  if (options->nr_names > 0)
    return 0;
  return add_names(options, "raw_syscalls:sys_enter,raw_syscalls:sys_exit");
}

/* All hits of a file are shown, so options that choose hits are refused. */
static int check_input(const trace_options_t *options) {
  const char *extra = NULL;

  if (options->nr_names > 0)
    extra = "-e";
  else if (options->all)
    extra = "-a";
  else if (options->pids.nr > 0)
    extra = "-p";
  else if (options->tids.nr > 0)
    extra = "-t";
  else if (options->cpus != NULL)
    extra = "-C";
  else if (options->delay.is_set)
    extra = "-D";
  else if (options->duration_ms > 0)
    extra = "-d";
  else if (options->ring_bytes > 0)
    extra = "-m";
  else if (options->self)
    extra = "--self";
  else if (options->command != NULL)
    extra = "the command";
  if (extra != NULL)
    return common_options_bad("-i prints all hits of a file: leave out %s",
                              extra);
  return 0;
}

/* If there are other targets, a command only determines how long to trace. */
static int check(trace_options_t *options) {
  int rc = options->input != NULL ? check_input(options) : 0;

  if (rc == 0 && options->summary)
    rc = check_summary(options);
  if (rc != 0 || options->input != NULL)
    return rc;
  if (options->nr_names == 0)
    return common_options_bad(
        "choose events with -e, for example -e openat or -e 'sched:sched_*'\n"
        "  (uvperf-list lists the names), or all system calls with -s");
  if (options->all + (options->pids.nr > 0) + (options->tids.nr > 0) > 1)
    return common_options_bad("choose one of -a, -p and -t");
  if (options->pids.nr == 0 && options->tids.nr == 0 &&
      options->command == NULL)
    options->all = 1;
  return 0;
}

int trace_options_parse(trace_options_t *options, int argc, char **argv) {
  int option, rc;

  memset(options, 0, sizeof(*options));
  opterr = 0;
  /* The + ends the options at the first word that is not an option. The rest of
   * the line is the command, with or without a -- before it. */
  while ((option = getopt_long(argc, argv, letters, names, NULL)) != -1) {
    rc = parse_option(options, option, argv);
    if (rc != 0 || options->help)
      return rc;
  }
  rc = common_options_command(argc, argv, &options->command);
  return rc != 0 ? rc : check(options);
}

void trace_options_free(trace_options_t *options) {
  free(options->names);
  common_ids_free(&options->pids);
  common_ids_free(&options->tids);
}
