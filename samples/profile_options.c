/* SPDX-License-Identifier: MIT */
/* Reads the command line and explains what is wrong with it. Does not look at
 * the machine: whether a target can be measured is found out by opening it. */
#include "profile_options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_HZ     99
#define MAX_HZ         1000000
#define MAX_DURATION_S 1e7

static const char help_text[] =
    "Usage: profile [-F hz] [-d seconds] [--folded FILE]\n"
    "               [-p PID | -a | -- command...]\n"
    "\n"
    "Shows where CPU time goes, by sampling.\n"
    "\n"
    "  -- command...  run a command and profile it and its children\n"
    "  -p PID         profile a running process, its threads and their "
    "children\n"
    "  -a             profile the whole machine (needs root, CAP_PERFMON or\n"
    "                 kernel.perf_event_paranoid <= 0); the default if "
    "allowed\n"
    "  -F hz          samples a second and CPU, 99 by default\n"
    "  -d seconds     stop after so long, 0.5 for example; by default with\n"
    "                 Ctrl-C or the end of the command or process. A command\n"
    "                 that still runs then is terminated.\n"
    "  --folded FILE  write call stacks for flame graphs, one a line:\n"
    "                 command;outer;...;inner count. User stacks are complete\n"
    "                 only in programs built with frame pointers.\n"
    "  -h, --help     show this\n"
    "\n"
    "Without hardware cycles a process that lives for less than 1/hz seconds "
    "is\n"
    "not seen unless with -a: raise -F for a script of many small commands.\n"
    "\n"
    "A table of the hottest places comes on stdout at the end; all else goes\n"
    "to stderr. A place is a kernel function, or a file and the offset of an\n"
    "instruction in it: 'objdump -d -F' shows the same offsets, and addr2line\n"
    "takes them for shared objects and position-independent programs.\n"
    "\n"
    "Exit status: 0; 1 if the profile failed; 2 for a bad command line; 127 "
    "if\n"
    "the command could not be run.\n";

static int bad(const char *format, ...) __attribute__((format(printf, 1, 2)));

static int bad(const char *format, ...) {
  va_list args;

  fputs("profile: ", stderr);
  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
  fputs("\nTry 'profile --help'.\n", stderr);
  return PROFILE_EXIT_USAGE;
}

/* strtoul takes signs, spaces and an empty string, so the first character is
 * looked at here. */
static int parse_number(const char *text, unsigned long max,
                        unsigned long *number) {
  char *end;

  if (text[0] < '0' || text[0] > '9')
    return -1;
  errno = 0;
  *number = strtoul(text, &end, 10);
  if (errno != 0 || *end != '\0' || *number == 0 || *number > max)
    return -1;
  return 0;
}

static int parse_frequency(profile_options_t *options, const char *text) {
  unsigned long number;

  if (parse_number(text, MAX_HZ, &number) != 0)
    return bad("-F wants samples a second, 1 to %d, not '%s'", MAX_HZ, text);
  options->frequency_hz = number;
  return 0;
}

static int parse_duration(profile_options_t *options, const char *text) {
  char *end;
  double seconds;

  errno = 0;
  seconds = strtod(text, &end);
  if (errno != 0 || end == text || *end != '\0' || !isfinite(seconds) ||
      seconds < 0.001 || seconds > MAX_DURATION_S)
    return bad("-d wants seconds, 0.001 to %.0f, not '%s'", MAX_DURATION_S,
               text);
  options->duration_ms = (uint64_t)(seconds * 1000.0 + 0.5);
  return 0;
}

static int parse_pid(profile_options_t *options, const char *text) {
  unsigned long number;

  if (parse_number(text, INT32_MAX, &number) != 0)
    return bad("-p wants the id of a process, not '%s'", text);
  options->pid = (int32_t)number;
  return 0;
}

static int parse_option(profile_options_t *options, int option, char **argv) {
  switch (option) {
    case 'F':
      return parse_frequency(options, optarg);
    case 'd':
      return parse_duration(options, optarg);
    case 'p':
      return parse_pid(options, optarg);
    case 'a':
      options->all = 1;
      return 0;
    case 'f':
      options->folded = optarg;
      return optarg[0] != '\0' ? 0 : bad("--folded wants the name of a file");
    case 'h':
      options->help = 1;
      return 0;
    case ':':
      return bad("option '%s' wants a value", argv[optind - 1]);
    default:
      if (optopt == 'h') /* Only --help=value comes here. */
        return bad("option '--help' takes no value");
      if (optopt != 0)
        return bad("unknown option '-%c'", optopt);
      return bad("unknown option '%s'", argv[optind - 1]);
  }
}

static int check_targets(profile_options_t *options) {
  int targets = (options->pid != 0) + options->all + (options->command != NULL);

  if (targets > 1)
    return bad("choose one of -a, -p and a command");
  if (targets == 0)
    options->all = options->all_by_default = 1;
  return 0;
}

int profile_options_parse(profile_options_t *options, int argc, char **argv) {
  static const struct option names[] = {
      {"folded", required_argument, NULL, 'f'},
      {"help", no_argument, NULL, 'h'},
      {NULL, 0, NULL, 0},
  };
  int option, rc;

  memset(options, 0, sizeof(*options));
  options->frequency_hz = DEFAULT_HZ;
  opterr = 0;
  /* The + ends the options with the first word that is none: all that follows
   * belongs to the command, with or without a -- before it. */
  while ((option = getopt_long(argc, argv, "+:F:d:p:ah", names, NULL)) != -1) {
    rc = parse_option(options, option, argv);
    if (rc != 0)
      return rc;
    if (options->help)
      return 0;
  }
  if (optind < argc)
    options->command = argv + optind;
  else if (optind > 1 && strcmp(argv[optind - 1], "--") == 0)
    return bad("a command is missing after --");
  return check_targets(options);
}

void profile_options_help(void) {
  fputs(help_text, stdout);
}
