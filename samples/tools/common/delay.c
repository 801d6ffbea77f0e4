/* SPDX-License-Identifier: MIT */
/* Parses the values that perf(1) accepts: "100", "-1", and "10-20,30-40". Does
 * not depend on events or timers. */
#include "common/delay.h"

#include <stdlib.h>
#include <string.h>

#include "common/options.h"

/* 1e7 s, as for --duration. */
#define MAX_MS UINT64_C(10000000000)

/* Reads a number. Returns its end, or NULL if there is no number or it is too
 * large. */
static const char *read_number(const char *text, uint64_t *number) {
  size_t digits = strspn(text, "0123456789");

  if (digits == 0 || digits > 11)
    return NULL;
  *number = strtoull(text, NULL, 10);
  return *number <= MAX_MS ? text + digits : NULL;
}

/* Parses "10-20,30-40". Returns 0 or -1. */
static int read_ranges(common_delay_t *delay, const char *text) {
  uint64_t *times;

  for (delay->nr = 0; delay->nr < COMMON_DELAY_TIMES; text++) {
    times = &delay->times[delay->nr];
    text = read_number(text, &times[0]);
    if (text == NULL || *text != '-')
      return -1;
    text = read_number(text + 1, &times[1]);
    if (text == NULL || times[1] <= times[0] ||
        (delay->nr > 0 && times[0] <= times[-1]))
      return -1;
    delay->nr += 2;
    if (*text == '\0')
      return 0;
    if (*text != ',')
      return -1;
  }
  return -1;
}

int common_delay_parse(common_delay_t *delay, const char *text,
                       int has_ranges) {
  const char *end = read_number(text, &delay->times[0]);

  delay->nr = 1;
  delay->is_set = delay->times[0] != 0;
  if (end != NULL && *end == '\0')
    return 0;
  delay->is_set = 1;
  delay->nr = 0;
  if (strcmp(text, "-1") == 0 || (has_ranges && read_ranges(delay, text) == 0))
    return 0;
  return common_options_bad(
      "-D wants milliseconds up to %llu%s, not '%s'",
      (unsigned long long)MAX_MS,
      has_ranges ? ", -1 or ranges such as 10-20,30-40" : " or -1", text);
}
