/* SPDX-License-Identifier: MIT */
/* Parses the command line and explains errors in it. */
#include "doctor/options.h"

#include <stddef.h>
#include <string.h>

static const common_option_t list[] = {
    {0, "json", COMMON_FLAG, .offset = offsetof(doctor_options_t, json)},
};

int doctor_options_parse(doctor_options_t *options, int argc, char **argv) {
  static const common_options_t of = {list, sizeof(list) / sizeof(*list),
                                      doctor_help, 0};
  int rc;

  memset(options, 0, sizeof(*options));
  rc = common_options_parse(&of, options, argc, argv, NULL);
  if (rc == 0 && optind < argc)
    rc = common_options_bad("unknown argument '%s'", argv[optind]);
  return rc;
}
