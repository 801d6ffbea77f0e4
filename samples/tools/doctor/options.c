/* SPDX-License-Identifier: MIT */
/* Parses the command line and explains errors in it. */
#include "doctor/options.h"

#include <stddef.h>
#include <string.h>

static const char help_text[] =
    "Usage: uvperf-doctor [--json]\n"
    "\n"
    "Checks what this process may measure, and with which rings. Run it as\n"
    "the user, in the container and on the machine that will measure.\n"
    "\n"
    "Examples:\n"
    "\n"
    "  uvperf-doctor\n"
    "  uvperf-doctor --json\n"
    "\n"
    "Options:\n"
    "\n"
    "  --json         print one JSON object\n"
    "  -h, --help     print this help\n"
    "  --version      print the version\n"
    "\n"
    "Each check opens an event and closes it at once. Nothing is measured, no\n"
    "setting is changed and nothing remains.\n"
    "\n"
    "  yes  the kernel opens such an event, or maps such a ring\n"
    "  no   it does not; the reason and a remedy follow\n"
    "  ?    this could not be tried; the reason follows\n"
    "\n"
    "With --json the object has a member for each group, and each group has a\n"
    "member for each line. A line without a check is a number, a string or\n"
    "null (not known). The others are objects:\n"
    "\n"
    "  result         yes, no or unknown\n"
    "  value          if there is one\n"
    "\n"
    "If the result is not yes, the object also has code (negative), errno,\n"
    "cause, reason and remedy. Sizes are in bytes, except "
    "perf_event_mlock_kb.\n"
    "\n"
    "Exit status: 0, whatever the results are; 1 if doctor itself failed; 2\n"
    "for a wrong command line.\n";

static const common_option_t list[] = {
    {0, "json", COMMON_FLAG, offsetof(doctor_options_t, json), NULL},
};

int doctor_options_parse(doctor_options_t *options, int argc, char **argv) {
  static const char *const help[] = {help_text, NULL};
  static const common_options_t of = {list, sizeof(list) / sizeof(*list), help,
                                      NULL, 0};
  int rc;

  memset(options, 0, sizeof(*options));
  rc = common_options_parse(&of, options, argc, argv, NULL);
  if (rc == 0 && optind < argc)
    rc = common_options_bad("unknown argument '%s'", argv[optind]);
  return rc;
}
