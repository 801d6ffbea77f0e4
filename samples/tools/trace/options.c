/* SPDX-License-Identifier: MIT */
/* Parses the command line and explains errors in it. Does not check the
 * machine: a later step finds out whether an event exists and may be traced. */
#include "trace/options.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

static int parse_names(void *arg, const char *text) {
  trace_options_t *options = arg;

  *COMMON_ADD(options->names, options->nr_names, options->names_capacity) =
      (trace_names_option_t){text, NULL};
  return 0;
}

/* The kernel allows only one filter for each event. */
static int parse_filter(void *arg, const char *text) {
  trace_options_t *options = arg;
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

static int parse_mode(void *arg, const char *text) {
  static const struct {
    const char *name;
    trace_calls_by_t by;
  } modes[] = {{"process", TRACE_CALLS_BY_PROCESS},
               {"thread", TRACE_CALLS_BY_THREAD},
               {"total", TRACE_CALLS_BY_ALL}};
  trace_options_t *options = arg;
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

#define AT(field) .offset = offsetof(trace_options_t, field)

static const common_option_t list[] = {
    {'a', "all-cpus", COMMON_FLAG, AT(all)},
    {'C', "cpu", COMMON_CPUS, AT(cpus)},
    {'D', "delay", COMMON_DELAY, AT(delay)},
    {'d', "duration", COMMON_SECONDS, AT(duration_ms)},
    {'e', "event", COMMON_CALL, .parse = parse_names},
    {0, "filter", COMMON_CALL, .parse = parse_filter},
    {'i', "input", COMMON_FILE, AT(input)},
    {'j', "json", COMMON_FLAG, AT(json)},
    {'l', "limit", COMMON_NUMBER, AT(limit), .what = "a number of hits",
     .max = UINT64_MAX},
    {'m', "mmap-pages", COMMON_RING, AT(ring_bytes)},
    {'o', "output", COMMON_FILE, AT(file)},
    {'p', "pid", COMMON_IDS, AT(pids)},
    {0, "print-fmt", COMMON_FLAG, AT(print_fmt)},
    {0, "self", COMMON_FLAG, AT(self)},
    {'s', "summary", COMMON_FLAG, AT(summary)},
    {0, "summary-mode", COMMON_CALL, .parse = parse_mode},
    {'t', "tid", COMMON_IDS, AT(tids)},
};

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
  return parse_names(options, "raw_syscalls:sys_enter,raw_syscalls:sys_exit");
}

/* All hits of a file are shown, so options that choose hits are refused. */
static int check_input(const trace_options_t *options) {
  const struct {
    int is_set;
    const char *name;
  } others[] = {
      {options->nr_names > 0, "-e"},
      {options->all, "-a"},
      {options->pids.nr > 0, "-p"},
      {options->tids.nr > 0, "-t"},
      {options->cpus != NULL, "-C"},
      {options->delay.is_set, "-D"},
      {options->duration_ms > 0, "-d"},
      {options->ring_bytes > 0, "-m"},
      {options->self, "--self"},
      {options->command != NULL, "the command"},
  };
  size_t i;

  for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
    if (others[i].is_set)
      return common_options_bad("-i prints all hits of a file: leave out %s",
                                others[i].name);
  }
  return 0;
}

/* If there are other targets, a command only determines how long to trace. */
static int check(trace_options_t *options) {
  int rc = 0;

  if (options->delay.is_set && options->delay.nr == 0)
    return common_options_bad(
        "-D -1 would never begin: trace has no --control");
  if (options->input != NULL)
    rc = check_input(options);
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
  static const common_options_t of = {list, sizeof(list) / sizeof(*list),
                                      trace_help, 0};
  int rc;

  memset(options, 0, sizeof(*options));
  rc = common_options_parse(&of, options, argc, argv, &options->command);
  return rc != 0 ? rc : check(options);
}

void trace_options_free(trace_options_t *options) {
  free(options->names);
  common_ids_free(&options->pids);
  common_ids_free(&options->tids);
}
