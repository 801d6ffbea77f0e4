/* SPDX-License-Identifier: MIT */
/* Parses the command line and explains errors in it. Does not check which
 * events exist. */
#include "list/options.h"

#include <string.h>

#include "uvperf.h"

#define ALL_KINDS                                                              \
  (UVPERF_NAME_HARDWARE | UVPERF_NAME_SOFTWARE | UVPERF_NAME_CACHE |           \
   UVPERF_NAME_PMU | UVPERF_NAME_TRACEPOINT)

static const char help_text[] =
    "Usage: uvperf-list [-v] [--all] [--json] [kind | pattern]...\n"
    "\n"
    "Lists the names of events. uvperf_attr_parse and the other tools accept\n"
    "them. Hardware and cache events that do not open on this machine are "
    "left\n"
    "out.\n"
    "\n"
    "Examples:\n"
    "\n"
    "  uvperf-list\n"
    "  uvperf-list hw sw\n"
    "  uvperf-list 'sched:*_exit' clock\n"
    "  uvperf-list --all -v cache\n"
    "\n"
    "Kinds and patterns:\n"
    "\n"
    "  hw, sw, cache, pmu, tracepoint   events of a kind; also hardware,\n"
    "                 software and hwcache\n"
    "  forms          forms without a name: raw events, terms, breakpoints,\n"
    "                 probes, modifiers\n"
    "  sched:*_exit   a pattern with *, ? or []. It must match the whole "
    "name,\n"
    "                 the name after OR, or the part after the PMU or "
    "category.\n"
    "  clock          any other word: it must be part of one of these\n"
    "\n"
    "With such words, an event is listed if it matches any of them. Upper and\n"
    "lower case are the same in patterns.\n"
    "\n"
    "Options:\n"
    "\n"
    "  -v, --details  print the type, config and terms of each event\n"
    "  --all          also list hardware and cache events that do not open\n"
    "                 here, with -v the reason. Many virtual machines have no\n"
    "                 such events.\n"
    "  -j, --json     print an array with an object for each event\n"
    "  -h, --help     print this help\n"
    "  --version      print the version\n"
    "\n"
    "The objects of --json have name, alias, kind (hardware, software, cache,\n"
    "pmu, tracepoint), type, config, config1, config2 (hex, strings), pmu,\n"
    "event, terms, unit, scale, cpus, per_package, snapshot and needs_value.\n"
    "A member that the event does not have is null.\n"
    "\n"
    "Exit status: 0, or 1 if nothing is listed or list failed; 2 for a wrong\n"
    "command line.\n";

static uint32_t kind_of(const char *word) {
  static const struct {
    const char *word;
    uint32_t kind;
  } words[] = {
      {"hw", UVPERF_NAME_HARDWARE}, {"hardware", UVPERF_NAME_HARDWARE},
      {"sw", UVPERF_NAME_SOFTWARE}, {"software", UVPERF_NAME_SOFTWARE},
      {"cache", UVPERF_NAME_CACHE}, {"hwcache", UVPERF_NAME_CACHE},
      {"pmu", UVPERF_NAME_PMU},     {"tracepoint", UVPERF_NAME_TRACEPOINT},
  };
  size_t i;

  for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
    if (strcmp(word, words[i].word) == 0)
      return words[i].kind;
  return 0;
}

/* A word that is not a kind is a pattern. Patterns move to the front of the
 * rest of argv. */
static int parse_words(list_options_t *options, int argc, char **argv) {
  uint32_t kind;

  options->patterns = argv + optind;
  for (; optind < argc; optind++) {
    kind = kind_of(argv[optind]);
    if (argv[optind][0] == '\0')
      return common_options_bad("a pattern is empty");
    options->kinds |= kind;
    if (strcmp(argv[optind], "forms") == 0)
      options->forms = 1;
    else if (kind == 0)
      options->patterns[options->nr_patterns++] = argv[optind];
  }
  if (options->kinds == 0 && options->nr_patterns == 0 && !options->forms) {
    options->kinds = ALL_KINDS;
    options->forms = 1;
  }
  return 0;
}

#define AT(field) offsetof(list_options_t, field)

static const common_option_t list[] = {
    {0, "all", COMMON_FLAG, AT(all), NULL},
    {'v', "details", COMMON_FLAG, AT(details), NULL},
    {'j', "json", COMMON_FLAG, AT(json), NULL},
};

int list_options_parse(list_options_t *options, int argc, char **argv) {
  static const char *const help[] = {help_text, NULL};
  static const common_options_t of = {list, sizeof(list) / sizeof(*list), help,
                                      NULL, 1};
  int rc;

  memset(options, 0, sizeof(*options));
  rc = common_options_parse(&of, options, argc, argv, NULL);
  if (rc == 0)
    rc = parse_words(options, argc, argv);
  if (rc == 0 && options->json && options->kinds == 0 &&
      options->nr_patterns == 0)
    rc =
        common_options_bad("forms are not events, so --json cannot print them");
  return rc;
}
