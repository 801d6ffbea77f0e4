/* SPDX-License-Identifier: MIT */
/* Parses the command line and reports what is wrong with it. Does not check the
 * machine: opening the events shows whether a target can be measured. */
#include "profile/options.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "profile/unwinding.h"

/* A machine is profiled for minutes, a command may run for a second. */
#define DEFAULT_HZ 99
#define COMMAND_HZ 997
#define MAX_HZ     1000000
#define ROWS       20
#define MAX_ROWS   10000
/* The default of perf(1), and the kernel's maximum. */
#define DEFAULT_STACK_BYTES 8192
#define MAX_STACK_BYTES     65528

/* `what` is the option and what it wants. */
static int parse_number(const char *what, const char *text, uint64_t most,
                        uint64_t *number) {
  return common_options_number(text, most, number) == 0
             ? 0
             : common_options_bad("%s, 1 to %" PRIu64 ", not '%s'", what, most,
                                  text);
}

static int parse_by(profile_options_t *options, const char *text) {
  if (stacks_by_parse(text, &options->view.by) != 0)
    return common_options_bad("--by wants function, thread, process, comm or "
                              "cgroup, not '%s'",
                              text);
  return 0;
}

static int parse_sort(profile_options_t *options, const char *text) {
  if (stacks_sort_parse(text, &options->view.sort) != 0)
    return common_options_bad("--sort wants self, total or samples, not '%s'",
                              text);
  return 0;
}

/* "dwarf" or "dwarf,SIZE". */
static int parse_dwarf(profile_options_t *options, const char *text) {
  uint64_t bytes = DEFAULT_STACK_BYTES;

  if (text[0] == ',' &&
      (common_options_number(text + 1, MAX_STACK_BYTES, &bytes) != 0 ||
       bytes % 8 != 0))
    return common_options_bad("--call-graph dwarf wants a number of bytes, a "
                              "multiple of 8 up to %d, not '%s'",
                              MAX_STACK_BYTES, text + 1);
  if (!profile_unwinding_can(NULL))
    return common_options_bad("--call-graph dwarf works on x86-64 and aarch64 "
                              "only: try fp");
  options->stack_bytes = (uint32_t)bytes;
  return 0;
}

static int parse_call_graph(profile_options_t *options, const char *text) {
  options->stack_bytes = 0;
  options->no_stacks = strcmp(text, "none") == 0;
  if (strncmp(text, "dwarf", 5) == 0 && (text[5] == '\0' || text[5] == ','))
    return parse_dwarf(options, text + 5);
  if (!options->no_stacks && strcmp(text, "fp") != 0)
    return common_options_bad(
        "--call-graph wants fp, dwarf[,SIZE] or none, not '%s'", text);
  return 0;
}

static int parse_file(profile_options_t *options, const char *option,
                      int output) {
  options->outputs[output] = optarg;
  if (optarg[0] == '\0' || optarg[0] == '-')
    return common_options_bad("%s wants the name of a file, not '%s'", option,
                              optarg);
  return 0;
}

#define OPTION_SELF  256
#define OPTION_TOP   257
#define OPTION_ROWS  258
#define OPTION_SORT  259
#define OPTION_SYMFS 260

static const struct option names[] = {
    {"by", required_argument, NULL, 'b'},
    {"call-graph", required_argument, NULL, 'c'},
    {"cgroup", required_argument, NULL, 'G'},
    {"cpu", required_argument, NULL, 'C'},
    {"duration", required_argument, NULL, 'd'},
    {"event", required_argument, NULL, 'e'},
    {"folded", required_argument, NULL, 'f'},
    {"help", no_argument, NULL, 'h'},
    {"html", required_argument, NULL, 'H'},
    {"inline", no_argument, NULL, 'i'},
    {"input", required_argument, NULL, 'I'},
    {"names-time", required_argument, NULL, 'n'},
    {"off-cpu", no_argument, NULL, 'o'},
    {"pid", required_argument, NULL, 'p'},
    {"pprof", required_argument, NULL, 'P'},
    {"quiet", no_argument, NULL, 'q'},
    {"rows", required_argument, NULL, OPTION_ROWS},
    {"self", no_argument, NULL, OPTION_SELF},
    {"sort", required_argument, NULL, OPTION_SORT},
    {"symfs", required_argument, NULL, OPTION_SYMFS},
    {"tid", required_argument, NULL, 't'},
    {"top", no_argument, NULL, OPTION_TOP},
    {"version", no_argument, NULL, COMMON_OPTION_VERSION},
    {NULL, 0, NULL, 0},
};

static int parse_option(profile_options_t *options, int option, char **argv) {
  switch (option) {
    case 'F':
      return parse_number("-F wants samples per second", optarg, MAX_HZ,
                          &options->frequency_hz);
    case 'd':
      return common_options_seconds("-d", optarg, &options->duration_ms);
    case 'm':
      return common_options_ring(optarg, &options->ring_bytes);
    case 'p':
      return common_options_ids("-p", optarg, &options->pids);
    case 't':
      return common_options_ids("-t", optarg, &options->tids);
    case 'G':
      return common_options_cgroups(optarg, &options->cgroups);
    case 'C':
      options->cpus = optarg;
      return common_options_cpus("-C", optarg);
    case 'a':
      options->all = 1;
      return 0;
    case 'g':
      return 0;
    case 'q':
      options->quiet = 1;
      return 0;
    case 'b':
      return parse_by(options, optarg);
    case 'c':
      return parse_call_graph(options, optarg);
    case 'i':
      options->inlined = 1;
      return 0;
    case 'n':
      return common_options_seconds("--names-time", optarg, &options->names_ms);
    case 'o':
      options->off_cpu = 1;
      return 0;
    case 'e':
      options->event = optarg;
      return 0;
    case 'I':
      options->input = optarg;
      return 0;
    case 'f':
      return parse_file(options, "--folded", PROFILE_FOLDED);
    case 'H':
      return parse_file(options, "--html", PROFILE_HTML);
    case 'P':
      return parse_file(options, "--pprof", PROFILE_PPROF);
    case OPTION_ROWS:
      return parse_number("--rows wants a number", optarg, MAX_ROWS,
                          &options->view.rows);
    case OPTION_SORT:
      return parse_sort(options, optarg);
    case OPTION_SYMFS:
      options->symfs = optarg;
      return access(optarg, X_OK) == 0
                 ? 0
                 : common_options_bad("--symfs wants a directory, not '%s'",
                                      optarg);
    case OPTION_SELF:
      options->self = 1;
      return 0;
    case OPTION_TOP:
      options->top = 1;
      return 0;
    case 'h':
      options->help = 1;
      return 0;
    default:
      return common_options_absent(profile_options_absent(), option, names,
                                   argv);
  }
}

static int has_files(const profile_options_t *options) {
  int i;

  for (i = 0; i < PROFILE_NR_OUTPUTS; i++) {
    if (options->outputs[i] != NULL)
      return 1;
  }
  return 0;
}

static int check_top(const profile_options_t *options) {
  if (options->top && options->off_cpu)
    return common_options_bad("choose one of --top and --off-cpu");
  if (options->top && has_files(options))
    return common_options_bad("--top writes no file: choose one of --top and "
                              "--html, --pprof, --folded");
  return 0;
}

/* These options do not apply to a file: they were chosen when it was
 * recorded. */
static int check_input(const profile_options_t *options) {
  const struct {
    int is_set;
    const char *name;
  } others[] = {
      {options->all, "-a"},
      {options->pids.nr > 0, "-p"},
      {options->tids.nr > 0, "-t"},
      {options->cgroups.nr > 0, "-G"},
      {options->cpus != NULL, "-C"},
      {options->command != NULL, "a command"},
      {options->frequency_hz != 0, "-F"},
      {options->duration_ms != 0, "-d"},
      {options->ring_bytes != 0, "-m"},
      {options->no_stacks || options->stack_bytes != 0, "--call-graph"},
      {options->top, "--top"},
      {options->off_cpu, "--off-cpu"},
  };
  size_t i;

  for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
    if (others[i].is_set)
      return common_options_bad("%s does not go with --input: the file is "
                                "already recorded",
                                others[i].name);
  }
  return 0;
}

static int check_off_cpu(const profile_options_t *options) {
  if (options->frequency_hz != 0)
    return common_options_bad("--off-cpu counts all waits: leave out -F");
  if (options->no_stacks)
    return common_options_bad("--off-cpu needs stacks: leave out "
                              "--call-graph none");
  return 0;
}

static int check_targets(profile_options_t *options) {
  int tasks = (options->pids.nr > 0) + (options->tids.nr > 0);
  int places = options->all || options->cpus != NULL;
  int others = (options->tids.nr > 0) + (options->cgroups.nr > 0);

  if (tasks + (options->cgroups.nr > 0) > 1)
    return common_options_bad("choose one of -p, -t and -G");
  if (places && options->tids.nr > 0)
    return common_options_bad("-t follows the threads to all CPUs: leave out "
                              "-a and -C");
  if (options->all && options->cgroups.nr > 0)
    return common_options_bad("-G samples all CPUs, or those of -C: leave out "
                              "-a");
  if (options->off_cpu && tasks + places > 1)
    return common_options_bad(
        "--off-cpu needs no -a with -p: it sees all threads");
  if (options->off_cpu && options->cgroups.nr > 0)
    return common_options_bad("--off-cpu has no -G: try -a --by cgroup");
  if (options->event != NULL)
    return common_options_bad("--event chooses an event of a file: it needs "
                              "--input");
  options->all_by_default =
      tasks + places == 0 && others == 0 && options->command == NULL;
  options->all =
      options->all_by_default || (places && options->cgroups.nr == 0);
  if (options->frequency_hz == 0)
    options->frequency_hz =
        profile_options_is_command(options) ? COMMAND_HZ : DEFAULT_HZ;
  return 0;
}

int profile_options_parse(profile_options_t *options, int argc, char **argv) {
  int option, rc;

  memset(options, 0, sizeof(*options));
  options->view.rows = ROWS;
  opterr = 0;
  /* The + ends the options at the first word that is not an option. The rest of
   * the line is the command, with or without a -- before it. */
  while ((option = getopt_long(argc, argv, "+:C:F:G:d:m:p:t:aghq", names,
                               NULL)) != -1) {
    rc = parse_option(options, option, argv);
    if (rc != 0)
      return rc;
    if (options->help)
      return 0;
  }
  rc = common_options_command(argc, argv, &options->command);
  if (rc == 0)
    rc = check_top(options);
  if (rc == 0 && options->off_cpu && options->input == NULL)
    rc = check_off_cpu(options);
  if (rc == 0)
    rc = options->input != NULL ? check_input(options) : check_targets(options);
  return rc;
}

void profile_options_free(profile_options_t *options) {
  common_ids_free(&options->pids);
  common_ids_free(&options->tids);
  common_texts_free(&options->cgroups);
}

int profile_options_is_command(const profile_options_t *options) {
  return options->command != NULL && !options->all && options->pids.nr == 0 &&
         options->tids.nr == 0 && options->cgroups.nr == 0;
}

int profile_options_is_of_cpus(const profile_options_t *options) {
  return options->all || options->cgroups.nr > 0;
}

int profile_options_has_functions(const profile_options_t *options) {
  return options->view.by == STACKS_BY_FUNCTION || has_files(options);
}

int profile_options_is_of_all(const profile_options_t *options) {
  return options->all && options->cgroups.nr == 0 && options->cpus == NULL;
}
