/* SPDX-License-Identifier: MIT */
/* The component uvperf_tracepoint: writes numbers, strings and addresses as the
 * kernel's vsnprintf() does (lib/vsprintf.c), which is not always as C does:
 * "%#x" of 0 is "0x0". */
#ifndef UVPERF_LIB_TRACEPOINT_SPELL_H
#define UVPERF_LIB_TRACEPOINT_SPELL_H

#include <stddef.h>
#include <stdint.h>

/* A text that grows. After an error nothing more is written. */
typedef struct uvperf__writer_s {
  char *text; /* not terminated; free(3) it */
  size_t size;
  size_t room;
  int rc; /* 0; -ENOMEM; -EPROTO: longer than any text of the kernel */
} uvperf__writer_t;

enum uvperf__spell_flag {
  UVPERF__SPELL_LEFT = 1,
  UVPERF__SPELL_ZERO = 2,
  UVPERF__SPELL_PLUS = 4,
  UVPERF__SPELL_SPACE = 8,
  UVPERF__SPELL_PREFIX = 16
};

/* "%-8.3d" and similar. */
typedef struct uvperf__spelling_s {
  unsigned flags;
  int width;     /* 0: none */
  int precision; /* -1: none */
  char letter;
} uvperf__spelling_t;

void uvperf__spell_bytes(uvperf__writer_t *writer, const void *bytes,
                         size_t size);
void uvperf__spell_text(uvperf__writer_t *writer, const char *text);

/* Writes "0x1f", or a number of digits. */
void uvperf__spell_hex(uvperf__writer_t *writer, uint64_t value);
void uvperf__spell_digits(uvperf__writer_t *writer, uint64_t value, int digits);

/* Writes a number by the letters d, u, x, X or o. For d it is signed. */
void uvperf__spell_number(uvperf__writer_t *writer,
                          const uvperf__spelling_t *spelling, uint64_t value);

/* Cuts and pads what was written since `begin`, as %s does. */
void uvperf__spell_fit(uvperf__writer_t *writer, size_t begin,
                       const uvperf__spelling_t *spelling);

/* Writes the bytes of a buffer by what follows %p: "M", "I4", "ISpc", "U".
 * Sets rc to -EPROTO if there are too few bytes. */
void uvperf__spell_address(uvperf__writer_t *writer, const char *extension,
                           const unsigned char *bytes, size_t size);

/* Whether uvperf__spell_address knows the extension. */
int uvperf__spell_is_address(const char *extension);

/* Writes each byte as two digits, with a text between two bytes. */
void uvperf__spell_dump(uvperf__writer_t *writer, const char *between,
                        const unsigned char *bytes, size_t size);

#endif
