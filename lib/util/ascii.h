/* SPDX-License-Identifier: MIT */
/* The characters of ASCII, whatever the locale. */
#ifndef UVPERF_LIB_UTIL_ASCII_H
#define UVPERF_LIB_UTIL_ASCII_H

/* Not tolower(3): in a Turkish locale "I" would not be "i". */
static inline char uvperf__lower(char c) {
  return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* What may be shown for a byte of a text that anybody may have written: a
 * terminal would heed control characters. */
static inline char uvperf__visible(char c) {
  return (char)(c >= ' ' && c < 0x7f ? c : '?');
}

#endif
