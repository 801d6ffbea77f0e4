/* SPDX-License-Identifier: MIT */
/* Reads lists such as "0-7,32-35" a range at a time. Keeps no state. The
 * callers know the meaning of the numbers. */
#include "util/range_list.h"

#include <errno.h>
#include <string.h>

static void skip_space(const char **at) {
  *at += strspn(*at, " \t\n");
}

/* strtoul(3) is not used because it accepts signs. The bound is checked after
 * each digit, so that no number overflows. */
static int take_number(const char **at, unsigned int most,
                       unsigned int *number) {
  skip_space(at);
  if (**at < '0' || **at > '9')
    return -EINVAL;
  for (*number = 0; **at >= '0' && **at <= '9'; *at += 1) {
    *number = *number * 10 + (unsigned int)(**at - '0');
    if (*number > most)
      return -EINVAL;
  }
  skip_space(at);
  return 0;
}

int uvperf__range_next(const char **at, unsigned int most, unsigned int *first,
                       unsigned int *last) {
  if (take_number(at, most, first) != 0)
    return -EINVAL;
  *last = *first;
  if (**at == '-') {
    *at += 1;
    if (take_number(at, most, last) != 0 || *last < *first)
      return -EINVAL;
  }
  if (**at == '\0')
    return 0;
  if (**at != ',')
    return -EINVAL;
  *at += 1;
  return 1;
}
