/* SPDX-License-Identifier: MIT */
/* Parses the command line and explains errors in it. */
#include "doctor/options.h"

#include <stdio.h>
#include <string.h>

static const char help_text[] =
    "Usage: uvperf-doctor [--json]\n"
    "\n"
    "Tells what this process may measure, and with which rings: run it as the\n"
    "user, in the container and on the machine that is to measure.\n"
    "\n"
    "  --json         one JSON object\n"
    "  -h, --help     show this\n"
    "\n"
    "Each question is answered by opening such an event, which is closed at\n"
    "once: nothing is measured, no setting is changed, nothing stays behind.\n"
    "\n"
    "  yes  the kernel opens such an event, or maps such a ring\n"
    "  no   it does not: with the reason, and what would help\n"
    "  ?    it could not be tried, and why\n"
    "\n"
    "With --json the object has a member for each group, and that one for "
    "each\n"
    "line of it: a number, a string or null (not known) where the line has no\n"
    "answer, else an object with\n"
    "  result         yes, no or unknown\n"
    "  value          where there is one\n"
    "and, but for a yes, code (negative), errno, cause, reason and remedy.\n"
    "Sizes are in bytes, but for perf_event_mlock_kb.\n"
    "\n"
    "Exit status: 0, whatever was found; 1 if doctor itself failed; 2 for a "
    "bad\n"
    "command line.\n";

static const struct option names[] = {
    {"json", no_argument, NULL, 'j'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

int doctor_options_parse(doctor_options_t *options, int argc, char **argv) {
  int option;

  memset(options, 0, sizeof(*options));
  opterr = 0;
  while ((option = getopt_long(argc, argv, "+:h", names, NULL)) != -1) {
    switch (option) {
      case 'j':
        options->json = 1;
        break;
      case 'h':
        options->help = 1;
        return 0;
      default:
        return common_options_refused(option, names, argv);
    }
  }
  if (optind < argc)
    return common_options_bad("unknown argument '%s'", argv[optind]);
  return 0;
}

void doctor_options_help(void) {
  fputs(help_text, stdout);
}
