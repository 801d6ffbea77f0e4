/* SPDX-License-Identifier: MIT */
/* Parses the command line and explains errors in it. Does not check which
 * events exist. */
#include "list/options.h"

#include <string.h>

#include "uvperf.h"

#define ALL_KINDS                                                              \
  (UVPERF_NAME_HARDWARE | UVPERF_NAME_SOFTWARE | UVPERF_NAME_CACHE |           \
   UVPERF_NAME_PMU | UVPERF_NAME_TRACEPOINT)

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

#define AT(field) .offset = offsetof(list_options_t, field)

static const common_option_t list[] = {
    {0, "all", COMMON_FLAG, AT(all)},
    {'v', "details", COMMON_FLAG, AT(details)},
    {'j', "json", COMMON_FLAG, AT(json)},
};

int list_options_parse(list_options_t *options, int argc, char **argv) {
  static const common_options_t of = {list, sizeof(list) / sizeof(*list),
                                      list_help, 1};
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
