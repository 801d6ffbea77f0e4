/* SPDX-License-Identifier: MIT */
/* Writes numbers, strings and addresses as the kernel does. */
#include "tracepoint/spell.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* The kernel drops texts of more than two pages. Three bytes for each byte of
 * the longest record fit. */
#define MAX_TEXT ((size_t)256 << 10)

static char *spell_room(uvperf__writer_t *writer, size_t size) {
  size_t room = writer->room;
  char *text;

  if (writer->rc != 0)
    return NULL;
  if (size > MAX_TEXT - writer->size) {
    writer->rc = -EPROTO;
    return NULL;
  }
  if (size > room - writer->size) {
    room = (writer->size + size) * 2 + 256;
    text = realloc(writer->text, room);
    if (text == NULL) {
      writer->rc = -ENOMEM;
      return NULL;
    }
    writer->text = text;
    writer->room = room;
  }
  text = writer->text + writer->size;
  writer->size += size;
  return text;
}

void uvperf__spell_bytes(uvperf__writer_t *writer, const void *bytes,
                         size_t size) {
  char *room = size > 0 ? spell_room(writer, size) : NULL;

  if (room != NULL)
    memcpy(room, bytes, size);
}

void uvperf__spell_text(uvperf__writer_t *writer, const char *text) {
  uvperf__spell_bytes(writer, text, strlen(text));
}

static void spell_fill(uvperf__writer_t *writer, char byte, int count) {
  char *room = count > 0 ? spell_room(writer, (size_t)count) : NULL;

  if (room != NULL)
    memset(room, byte, (size_t)count);
}

/* -- numbers --------------------------------------------------------------- */

/* Writes the sign and "0x" into `prefix`. Returns their length. */
static int spell_prefix(char *prefix, const uvperf__spelling_t *spelling,
                        uint64_t value) {
  int length = 0;

  if (spelling->letter == 'd') {
    if (value >> 63 != 0)
      prefix[length++] = '-';
    else if ((spelling->flags & UVPERF__SPELL_PLUS) != 0)
      prefix[length++] = '+';
    else if ((spelling->flags & UVPERF__SPELL_SPACE) != 0)
      prefix[length++] = ' ';
    return length;
  }
  if ((spelling->flags & UVPERF__SPELL_PREFIX) == 0 || spelling->letter == 'u')
    return 0;
  if (spelling->letter != 'o' || value != 0)
    prefix[length++] = '0';
  if (spelling->letter != 'o')
    prefix[length++] = spelling->letter;
  return length;
}

/* The kernel pads with zeros after the sign also if there is a precision, and
 * 0 always has a digit. */
void uvperf__spell_number(uvperf__writer_t *writer,
                          const uvperf__spelling_t *spelling, uint64_t value) {
  const char *names =
      spelling->letter == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
  unsigned base = spelling->letter == 'x' || spelling->letter == 'X' ? 16
                  : spelling->letter == 'o'                          ? 8
                                                                     : 10;
  char digits[24], prefix[2];
  int prefix_length = spell_prefix(prefix, spelling, value);
  int at = sizeof(digits);
  int length, precision, pad;

  if (spelling->letter == 'd' && value >> 63 != 0)
    value = 0 - value;
  do {
    digits[--at] = names[value % base];
    value /= base;
  } while (value != 0);
  length = (int)sizeof(digits) - at;
  precision = spelling->precision > length ? spelling->precision : length;
  pad = spelling->width - prefix_length - precision;
  if ((spelling->flags & (UVPERF__SPELL_LEFT | UVPERF__SPELL_ZERO)) == 0)
    spell_fill(writer, ' ', pad);
  uvperf__spell_bytes(writer, prefix, (size_t)prefix_length);
  if ((spelling->flags & UVPERF__SPELL_LEFT) == 0 &&
      (spelling->flags & UVPERF__SPELL_ZERO) != 0)
    spell_fill(writer, '0', pad);
  spell_fill(writer, '0', precision - length);
  uvperf__spell_bytes(writer, digits + at, (size_t)length);
  if ((spelling->flags & UVPERF__SPELL_LEFT) != 0)
    spell_fill(writer, ' ', pad);
}

void uvperf__spell_hex(uvperf__writer_t *writer, uint64_t value) {
  static const uvperf__spelling_t hex = {UVPERF__SPELL_PREFIX, 0, -1, 'x'};

  uvperf__spell_number(writer, &hex, value);
}

void uvperf__spell_digits(uvperf__writer_t *writer, uint64_t value,
                          int digits) {
  uvperf__spelling_t hex = {0, 0, digits, 'x'};

  uvperf__spell_number(writer, &hex, value);
}

static void spell_decimal(uvperf__writer_t *writer, unsigned value,
                          int digits) {
  uvperf__spelling_t decimal = {0, 0, digits, 'u'};

  uvperf__spell_number(writer, &decimal, value);
}

/* -- strings --------------------------------------------------------------- */

void uvperf__spell_fit(uvperf__writer_t *writer, size_t begin,
                       const uvperf__spelling_t *spelling) {
  size_t length = writer->size - begin;
  size_t pad;

  if (writer->rc != 0)
    return;
  if (spelling->precision >= 0 && length > (size_t)spelling->precision) {
    length = (size_t)spelling->precision;
    writer->size = begin + length;
  }
  if ((size_t)spelling->width <= length)
    return;
  pad = (size_t)spelling->width - length;
  spell_fill(writer, ' ', (int)pad);
  if (writer->rc != 0 || (spelling->flags & UVPERF__SPELL_LEFT) != 0)
    return;
  memmove(writer->text + begin + pad, writer->text + begin, length);
  memset(writer->text + begin, ' ', pad);
}

void uvperf__spell_dump(uvperf__writer_t *writer, const char *between,
                        const unsigned char *bytes, size_t size) {
  size_t i;

  for (i = 0; i < size; i++) {
    if (i > 0)
      uvperf__spell_text(writer, between);
    uvperf__spell_digits(writer, bytes[i], 2);
  }
}

/* -- addresses ------------------------------------------------------------- */

static void spell_mac(uvperf__writer_t *writer, const char *extension,
                      const unsigned char *bytes) {
  static const int forward[] = {0, 1, 2, 3, 4, 5};
  static const int backward[] = {5, 4, 3, 2, 1, 0};
  const int *order = strchr(extension, 'R') != NULL ? backward : forward;
  const char *between = extension[0] == 'm'   ? ""
                        : extension[1] == 'F' ? "-"
                                              : ":";
  int i;

  for (i = 0; i < 6; i++) {
    if (i > 0)
      uvperf__spell_text(writer, between);
    uvperf__spell_digits(writer, bytes[order[i]], 2);
  }
}

static void spell_uuid(uvperf__writer_t *writer, const char *extension,
                       const unsigned char *bytes) {
  static const int straight[] = {0, 1, 2,  3,  4,  5,  6,  7,
                                 8, 9, 10, 11, 12, 13, 14, 15};
  static const int little[] = {3, 2, 1,  0,  5,  4,  7,  6,
                               8, 9, 10, 11, 12, 13, 14, 15};
  int is_little = extension[1] == 'l' || extension[1] == 'L';
  const int *order = is_little ? little : straight;
  uvperf__spelling_t hex = {0, 0, 2, 'x'};
  int i;

  if (extension[1] == 'L' || extension[1] == 'B')
    hex.letter = 'X';
  for (i = 0; i < 16; i++) {
    if (i == 4 || i == 6 || i == 8 || i == 10)
      uvperf__spell_text(writer, "-");
    uvperf__spell_number(writer, &hex, bytes[order[i]]);
  }
}

static void spell_ip4(uvperf__writer_t *writer, const unsigned char *bytes,
                      int digits) {
  int i;

  for (i = 0; i < 4; i++) {
    if (i > 0)
      uvperf__spell_text(writer, ".");
    spell_decimal(writer, bytes[i], digits);
  }
}

static void spell_ip6(uvperf__writer_t *writer, const unsigned char *bytes,
                      const char *between) {
  int i;

  for (i = 0; i < 16; i++) {
    if (i > 0 && i % 2 == 0)
      uvperf__spell_text(writer, between);
    uvperf__spell_digits(writer, bytes[i], 2);
  }
}

static unsigned word_at(const unsigned char *bytes, int i) {
  return (unsigned)bytes[2 * i] << 8 | bytes[2 * i + 1];
}

/* Finds the longest run of two or more words that are 0. Returns its length. */
static int longest_zeros(const unsigned char *bytes, int words, int *begin) {
  int longest = 1, i, j;

  *begin = -1;
  for (i = 0; i < words; i++) {
    for (j = i; j < words && word_at(bytes, j) == 0; j++)
      ;
    if (j - i > longest) {
      longest = j - i;
      *begin = i;
    }
  }
  return longest;
}

/* The kernel writes the last 4 bytes as IPv4 for addresses that are mapped
 * (::ffff:0:0/96) and of ISATAP (…:0:5efe:…, …:200:5efe:…). */
static void spell_ip6_short(uvperf__writer_t *writer,
                            const unsigned char *bytes) {
  static const unsigned char mapped[12] = {0, 0, 0, 0, 0,    0,
                                           0, 0, 0, 0, 0xff, 0xff};
  int has_ip4 =
      memcmp(bytes, mapped, sizeof(mapped)) == 0 ||
      ((word_at(bytes, 4) | 0x200) == 0x200 && word_at(bytes, 5) == 0x5efe);
  int words = has_ip4 ? 6 : 8;
  int begin, i, length = longest_zeros(bytes, words, &begin);

  for (i = 0; i < words; i++) {
    if (i == begin) {
      uvperf__spell_text(writer, "::");
      i += length - 1;
      continue;
    }
    if (i > 0 && i != begin + length)
      uvperf__spell_text(writer, ":");
    uvperf__spell_digits(writer, word_at(bytes, i), 1);
  }
  if (!has_ip4)
    return;
  if (begin < 0 || begin + length != words)
    uvperf__spell_text(writer, ":");
  spell_ip4(writer, bytes + 12, 1);
}

/* "%pISpc" of a struct sockaddr: p adds the port, c writes IPv6 shortly. */
static void spell_sockaddr(uvperf__writer_t *writer, const char *extension,
                           const unsigned char *bytes, size_t size) {
  int has_port = strchr(extension, 'p') != NULL;
  sa_family_t family;

  memcpy(&family, bytes, sizeof(family));
  if ((family == AF_INET && size < 8) || (family == AF_INET6 && size < 24)) {
    writer->rc = -EPROTO;
    return;
  }
  if (family == AF_INET) {
    spell_ip4(writer, bytes + 4, 1);
  } else if (family == AF_INET6) {
    uvperf__spell_text(writer, has_port ? "[" : "");
    if (strchr(extension, 'c') != NULL)
      spell_ip6_short(writer, bytes + 8);
    else
      spell_ip6(writer, bytes + 8, ":");
    uvperf__spell_text(writer, has_port ? "]" : "");
  } else {
    uvperf__spell_text(writer, "(einval)");
    return;
  }
  if (has_port) {
    uvperf__spell_text(writer, ":");
    spell_decimal(writer, word_at(bytes, 1), 1);
  }
}

static const struct {
  const char *extension;
  size_t size; /* the bytes that it reads at least */
} addresses[] = {
    {"M", 6},  {"MR", 6},  {"MF", 6},  {"m", 6},    {"mR", 6},
    {"U", 16}, {"Ub", 16}, {"UB", 16}, {"Ul", 16},  {"UL", 16},
    {"I4", 4}, {"i4", 4},  {"I6", 16}, {"i6", 16},  {"I6c", 16},
    {"IS", 2}, {"ISc", 2}, {"ISp", 2}, {"ISpc", 2},
};

static size_t address_size(const char *extension) {
  size_t i;

  for (i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++)
    if (strcmp(addresses[i].extension, extension) == 0)
      return addresses[i].size;
  return 0;
}

int uvperf__spell_is_address(const char *extension) {
  return address_size(extension) != 0;
}

void uvperf__spell_address(uvperf__writer_t *writer, const char *extension,
                           const unsigned char *bytes, size_t size) {
  if (writer->rc != 0)
    return;
  if (size < address_size(extension))
    writer->rc = -EPROTO;
  else if (extension[0] == 'U')
    spell_uuid(writer, extension, bytes);
  else if (extension[0] == 'M' || extension[0] == 'm')
    spell_mac(writer, extension, bytes);
  else if (extension[1] == 'S')
    spell_sockaddr(writer, extension, bytes, size);
  else if (extension[1] == '4')
    spell_ip4(writer, bytes, extension[0] == 'i' ? 3 : 1);
  else if (extension[2] == 'c')
    spell_ip6_short(writer, bytes);
  else
    spell_ip6(writer, bytes, extension[0] == 'i' ? "" : ":");
}
