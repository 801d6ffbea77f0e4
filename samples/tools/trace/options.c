/* SPDX-License-Identifier: MIT */
/* Reads the command line and explains what is wrong with it. Does not look at
 * the machine: whether an event is there and may be traced is found out
 * later. */
#include "trace/options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

enum {
  OPTION_FILTER = 256,
  OPTION_PRINT_FMT,
  OPTION_SELF,
};

static const char letters[] = "+:aC:d:e:hjl:m:o:p:";

static const struct option names[] = {
    {"all-cpus", no_argument, NULL, 'a'},
    {"cpu", required_argument, NULL, 'C'},
    {"duration", required_argument, NULL, 'd'},
    {"event", required_argument, NULL, 'e'},
    {"filter", required_argument, NULL, OPTION_FILTER},
    {"help", no_argument, NULL, 'h'},
    {"json", no_argument, NULL, 'j'},
    {"limit", required_argument, NULL, 'l'},
    {"output", required_argument, NULL, 'o'},
    {"pid", required_argument, NULL, 'p'},
    {"print-fmt", no_argument, NULL, OPTION_PRINT_FMT},
    {"self", no_argument, NULL, OPTION_SELF},
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

/* The kernel takes one for each event. */
static int parse_filter(trace_options_t *options, const char *text) {
  trace_names_option_t *last;

  if (options->nr_names == 0)
    return common_options_bad("--filter is for the -e before it, and there is "
                              "none");
  last = &options->names[options->nr_names - 1];
  if (last->filter != NULL)
    return common_options_bad("'%s' has a filter already: join the two by &&",
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
    return common_options_bad("-l wants a number of hits from 1 on, not '%s'",
                              text);
  options->limit = number;
  return 0;
}

static int parse_file(trace_options_t *options, const char *text) {
  options->file = text;
  return text[0] != '\0' ? 0 : common_options_bad("-o wants a file's name");
}

/* Those that take a value: what is left are flags. */
static int parse_value(trace_options_t *options, int option, char **argv) {
  switch (option) {
    case 'e':
      return add_names(options, optarg);
    case OPTION_FILTER:
      return parse_filter(options, optarg);
    case 'p':
      return common_options_ids("-p", optarg, &options->pids);
    case 'C':
      return parse_cpus(options, optarg);
    case 'd':
      return common_options_seconds("-d", optarg, &options->duration_ms);
    case 'l':
      return parse_limit(options, optarg);
    case 'm':
      return common_options_ring(optarg, &options->ring_bytes);
    case 'o':
      return parse_file(options, optarg);
    default:
      return common_options_refused(option, names, argv);
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
    case 'h':
      options->help = 1;
      return 0;
    default:
      return parse_value(options, option, argv);
  }
}

/* A command beside other targets is what says how long to trace. */
static int check(trace_options_t *options) {
  if (options->nr_names == 0)
    return common_options_bad("-e says what to trace: -e 'sched:sched_*' for "
                              "example; uvperf-list\n  tells the names");
  if (options->all && options->pids.nr > 0)
    return common_options_bad("choose one of -a and -p");
  if (!options->all && options->pids.nr == 0 && options->command == NULL)
    options->all = options->all_by_default = 1;
  return 0;
}

int trace_options_parse(trace_options_t *options, int argc, char **argv) {
  int option, rc;

  memset(options, 0, sizeof(*options));
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

void trace_options_free(trace_options_t *options) {
  free(options->names);
  common_ids_free(&options->pids);
}
