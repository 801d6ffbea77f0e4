/* SPDX-License-Identifier: MIT */
/* Matches names against patterns. glibc's fnmatch(3) is not used: in locales
 * with multibyte characters it calls malloc for a long pattern, and not the
 * allocator that the user chose. */
#include "util/glob.h"

#include <string.h>

/* Checks whether a byte is among the members of a bracket, which begin at
 * `member` and end before the closing bracket. *end is set after the closing
 * bracket. A ] at the first place is a member. A - at the last place is a
 * member too. */
static int is_member(const char *member, unsigned char byte, const char **end) {
  int found = 0;

  do {
    unsigned char first = (unsigned char)*member++;
    unsigned char last = first;

    if (member[0] == '-' && member[1] != ']') {
      last = (unsigned char)member[1];
      member += 2;
    }
    found |= byte >= first && byte <= last;
  } while (*member != ']');
  *end = member + 1;
  return found;
}

/* Whether one byte matches the first element of the pattern, which is not a
 * star. *next is set after that element. last_closing is the pattern's last ],
 * or NULL. With a search for the ] at every [, the time could grow with the
 * cube of the length. */
static int match_one(const char *pattern, const char *last_closing,
                     unsigned char byte, const char **next) {
  const char *member = pattern + 1;
  int is_negated;

  *next = member;
  if (*pattern == '?')
    return 1;
  if (*pattern != '[')
    return (unsigned char)*pattern == byte;
  is_negated = *member == '!' || *member == '^';
  member += is_negated;
  if (last_closing == NULL || last_closing <= member)
    return byte == '[';
  return is_member(member, byte, next) != is_negated;
}

int uvperf__glob_match(const char *pattern, const char *text) {
  const char *last_closing = strrchr(pattern, ']');
  const char *after_star = NULL; /* the pattern after the last star */
  const char *retry = NULL;      /* where in the text it was last tried */

  /* It is enough to go back to the last star: if an earlier star matched more
   * bytes, fewer bytes would be left for the stars after it. */
  for (;;) {
    const char *next;

    if (*pattern == '*') {
      after_star = ++pattern;
      retry = text;
    } else if (*text == '\0' && *pattern == '\0') {
      return 1;
    } else if (*text != '\0' && *pattern != '\0' &&
               match_one(pattern, last_closing, (unsigned char)*text, &next)) {
      pattern = next;
      text += 1;
    } else if (after_star != NULL && *retry != '\0') {
      pattern = after_star;
      text = ++retry;
    } else {
      return 0;
    }
  }
}

int uvperf__glob_is_pattern(const char *text) {
  return strpbrk(text, "*?[") != NULL;
}
