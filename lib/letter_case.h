/* SPDX-License-Identifier: MIT */
/* Layer 0: upper and lower case of ASCII, whatever the locale. */
#ifndef UVPERF_LIB_LETTER_CASE_H
#define UVPERF_LIB_LETTER_CASE_H

/* Not tolower(3): in a Turkish locale "I" would not be "i". */
static inline char uvperf__lower(char c) {
  return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

#endif
