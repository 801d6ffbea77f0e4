/* SPDX-License-Identifier: MIT */
/* ASCII characters, independent of the locale. */
#ifndef UVPERF_LIB_UTIL_ASCII_H
#define UVPERF_LIB_UTIL_ASCII_H

/* tolower(3) is not used: in a Turkish locale "I" would not become "i". */
static inline char uvperf__lower(char c) {
  return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Replaces control characters and bytes outside ASCII by '?', for showing text
 * from an untrusted writer: a terminal would obey control characters. */
static inline char uvperf__visible(char c) {
  return (char)(c >= ' ' && c < 0x7f ? c : '?');
}

#endif
