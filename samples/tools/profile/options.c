/* SPDX-License-Identifier: MIT */
/* Reads the command line and explains what is wrong with it. Does not look at
 * the machine: whether a target can be measured is found out by opening it. */
#include "profile/options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_HZ 99
#define MAX_HZ     1000000

static const char help_text[] =
    "Usage: uvperf-profile [-F hz] [-d seconds] [--folded FILE]\n"
    "                      [-p PID | -a | -- command...]\n"
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

static int parse_frequency(profile_options_t *options, const char *text) {
  uint64_t number;

  if (common_options_number(text, MAX_HZ, &number) != 0)
    return common_options_bad("-F wants samples a second, 1 to %d, not '%s'",
                              MAX_HZ, text);
  options->frequency_hz = number;
  return 0;
}

static const struct option names[] = {
    {"folded", required_argument, NULL, 'f'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static int parse_option(profile_options_t *options, int option, char **argv) {
  switch (option) {
    case 'F':
      return parse_frequency(options, optarg);
    case 'd':
      return common_options_seconds("-d", optarg, &options->duration_ms);
    case 'p':
      return common_options_pid(optarg, &options->pid);
    case 'a':
      options->all = 1;
      return 0;
    case 'f':
      options->folded = optarg;
      return optarg[0] != '\0'
                 ? 0
                 : common_options_bad("--folded wants the name of a file");
    case 'h':
      options->help = 1;
      return 0;
    default:
      return common_options_refused(option, names, argv);
  }
}

static int check_targets(profile_options_t *options) {
  int targets = (options->pid != 0) + options->all + (options->command != NULL);

  if (targets > 1)
    return common_options_bad("choose one of -a, -p and a command");
  if (targets == 0)
    options->all = options->all_by_default = 1;
  return 0;
}

int profile_options_parse(profile_options_t *options, int argc, char **argv) {
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
  rc = common_options_command(argc, argv, &options->command);
  return rc != 0 ? rc : check_targets(options);
}

void profile_options_help(void) {
  fputs(help_text, stdout);
}
