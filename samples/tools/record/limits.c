/* SPDX-License-Identifier: MIT */
/* Parses sizes and times as perf(1) does, each with a unit. */
#include "record/limits.h"

#include <stdio.h>
#include <string.h>

#include "common/options.h"

/* Parses a whole number and a letter. The letter units[n] multiplies the number
 * by factors[n]. Returns 0, or -1. */
static int parse_unit(const char *text, const char *units,
                      const uint64_t *factors, uint64_t max, uint64_t *value) {
  size_t size = strlen(text);
  const char *unit;
  char digits[24];

  unit = size == 0 ? NULL : strchr(units, text[size - 1]);
  if (unit == NULL || size > sizeof(digits))
    return -1;
  snprintf(digits, sizeof(digits), "%.*s", (int)size - 1, text);
  if (common_options_number(digits, max / factors[unit - units], value) != 0)
    return -1;
  *value *= factors[unit - units];
  return 0;
}

static int parse_size(const char *text, uint64_t *bytes) {
  static const uint64_t factors[] = {1, 1u << 10, 1u << 20, 1u << 30};

  return parse_unit(text, "BKMG", factors, INT64_MAX, bytes);
}

static int parse_time(const char *text, uint64_t *ms) {
  static const uint64_t factors[] = {1000, 60000, 3600000, 86400000};

  return parse_unit(text, "smhd", factors, UINT64_C(10000000000), ms);
}

int record_limits_max_size(void *arg, const char *text) {
  record_limits_t *limits = arg;

  if (parse_size(text, &limits->max_bytes) == 0)
    return 0;
  return common_options_bad("--max-size wants a size with a unit, such as "
                            "100K, 20M or 1G, not '%s'",
                            text);
}

int record_limits_switch(void *arg, const char *text) {
  record_limits_t *limits = arg;

  limits->switches = limits->has_stamp = 1;
  limits->switch_signal = 0;
  limits->switch_bytes = limits->switch_ms = 0;
  if (text == NULL || strcmp(text, "signal") == 0) {
    limits->switch_signal = 1;
    return 0;
  }
  if (parse_size(text, &limits->switch_bytes) == 0 ||
      parse_time(text, &limits->switch_ms) == 0)
    return 0;
  return common_options_bad("--switch-output wants signal, a size such as 100M "
                            "(B, K, M, G) or a time such as 30s (s, m, h, d), "
                            "not '%s'",
                            text);
}

int record_limits_check(const record_limits_t *limits, const char *file) {
  if (limits->max_files > 0 && !limits->switches)
    return common_options_bad("--switch-max-files needs --switch-output");
  if (limits->overwrites && limits->max_bytes > 0)
    return common_options_bad(
        "--max-size is not for --overwrite: -m limits how "
        "much that keeps");
  if (limits->overwrites && limits->switch_bytes > 0)
    return common_options_bad("with --overwrite, --switch-output wants signal "
                              "or a time: the file does not grow meanwhile");
  if (limits->has_stamp && strcmp(file, "-") == 0)
    return common_options_bad("%s wants a file, not -o -",
                              limits->switches ? "--switch-output"
                                               : "--timestamp-filename");
  return 0;
}
