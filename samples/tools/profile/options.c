/* SPDX-License-Identifier: MIT */
/* Parses the command line and reports what is wrong with it. Does not check the
 * machine: opening the events shows whether a target can be measured. */
#include "profile/options.h"

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

static int parse_by(void *by, const char *text) {
  return stacks_by_parse(text, by) == 0
             ? 0
             : common_options_bad("--by wants function, thread, process, comm "
                                  "or cgroup, not '%s'",
                                  text);
}

static int parse_sort(void *sort, const char *text) {
  return stacks_sort_parse(text, sort) == 0
             ? 0
             : common_options_bad("--sort wants self, total or samples, not "
                                  "'%s'",
                                  text);
}

static int parse_symfs(void *symfs, const char *text) {
  *(const char **)symfs = text;
  return access(text, X_OK) == 0
             ? 0
             : common_options_bad("--symfs wants a directory, not '%s'", text);
}

static int parse_output(const char *option, const char **file,
                        const char *text) {
  *file = text;
  if (text[0] == '\0' || text[0] == '-')
    return common_options_bad("%s wants the name of a file, not '%s'", option,
                              text);
  return 0;
}

static int parse_folded(void *file, const char *text) {
  return parse_output("--folded", file, text);
}

static int parse_html(void *file, const char *text) {
  return parse_output("--html", file, text);
}

static int parse_pprof(void *file, const char *text) {
  return parse_output("--pprof", file, text);
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

static int parse_call_graph(void *arg, const char *text) {
  profile_options_t *options = arg;

  options->stack_bytes = 0;
  options->no_stacks = strcmp(text, "none") == 0;
  if (strncmp(text, "dwarf", 5) == 0 && (text[5] == '\0' || text[5] == ','))
    return parse_dwarf(options, text + 5);
  if (!options->no_stacks && strcmp(text, "fp") != 0)
    return common_options_bad(
        "--call-graph wants fp, dwarf[,SIZE] or none, not '%s'", text);
  return 0;
}

#define AT(field) .offset = offsetof(profile_options_t, field)

static const common_option_t list[] = {
    {'a', NULL, COMMON_FLAG, AT(all)},
    {0, "by", COMMON_CALL, AT(view.by), parse_by},
    {0, "call-graph", COMMON_CALL, .parse = parse_call_graph},
    {'G', "cgroup", COMMON_CGROUPS, AT(cgroups)},
    {'C', "cpu", COMMON_CPUS, AT(cpus)},
    {'d', "duration", COMMON_SECONDS, AT(duration_ms)},
    {0, "event", COMMON_TEXT, AT(event)},
    {'F', NULL, COMMON_NUMBER, AT(frequency_hz), .what = "samples per second",
     .max = MAX_HZ},
    {0, "folded", COMMON_CALL, AT(outputs[PROFILE_FOLDED]), parse_folded},
    {'g', .kind = COMMON_IGNORED},
    {0, "html", COMMON_CALL, AT(outputs[PROFILE_HTML]), parse_html},
    {0, "inline", COMMON_FLAG, AT(inlined)},
    {0, "input", COMMON_TEXT, AT(input)},
    {'m', NULL, COMMON_RING, AT(ring_bytes)},
    {0, "names-time", COMMON_SECONDS, AT(names_ms)},
    {0, "off-cpu", COMMON_FLAG, AT(off_cpu)},
    {'p', "pid", COMMON_IDS, AT(pids)},
    {0, "pprof", COMMON_CALL, AT(outputs[PROFILE_PPROF]), parse_pprof},
    {'q', "quiet", COMMON_FLAG, AT(quiet)},
    {0, "rows", COMMON_NUMBER, AT(view.rows), .what = "a number",
     .max = MAX_ROWS},
    {0, "self", COMMON_FLAG, AT(self)},
    {0, "sort", COMMON_CALL, AT(view.sort), parse_sort},
    {0, "symfs", COMMON_CALL, AT(symfs), parse_symfs},
    {'t', "tid", COMMON_IDS, AT(tids)},
    {0, "top", COMMON_FLAG, AT(top)},
};

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
  static const common_options_t of = {list, sizeof(list) / sizeof(*list),
                                      profile_help, 0};
  int rc;

  memset(options, 0, sizeof(*options));
  options->view.rows = ROWS;
  rc = common_options_parse(&of, options, argc, argv, &options->command);
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
