/* SPDX-License-Identifier: MIT */
/* Prints the text of a record by the "print fmt" of its format file. The text
 * is parsed once into pieces: literal texts, and conversions such as "%d" with
 * their arguments. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tracepoint/expression.h"
#include "tracepoint/handle.h"
#include "tracepoint/spell.h"

/* Linux has widths of up to 30. */
#define MAX_WIDTH 255

typedef struct piece_s {
  const char *literal; /* not NULL: only this is written */
  size_t length;
  uvperf__spelling_t spelling;
  uvperf__number_t type; /* of the number that the conversion takes */
  char extension[8];     /* after %p */
  uvperf__node_t *width; /* of "%*d"; NULL: none */
  uvperf__node_t *precision;
  uvperf__node_t *argument;
} piece_t;

struct uvperf__program_s {
  piece_t *pieces;
  size_t nr_pieces;
  uvperf__node_t *nodes;
  char *texts; /* of the literals */
};

/* -- the conversions ------------------------------------------------------- */

static const char *take_flags(const char *at, uvperf__spelling_t *spelling) {
  static const struct {
    char byte;
    unsigned flag;
  } flags[] = {
      {'-', UVPERF__SPELL_LEFT},   {'0', UVPERF__SPELL_ZERO},
      {'+', UVPERF__SPELL_PLUS},   {' ', UVPERF__SPELL_SPACE},
      {'#', UVPERF__SPELL_PREFIX},
  };
  size_t i = 0;

  while (i < sizeof(flags) / sizeof(flags[0])) {
    if (*at == flags[i].byte) {
      spelling->flags |= flags[i].flag;
      at += 1;
      i = 0;
    } else {
      i += 1;
    }
  }
  return at;
}

/* Takes a width or a precision, which may be empty. Returns NULL if it is too
 * large. */
static const char *take_width(const char *at, int *width) {
  *width = 0;
  for (; *at >= '0' && *at <= '9'; at++) {
    *width = *width * 10 + (*at - '0');
    if (*width > MAX_WIDTH)
      return NULL;
  }
  return at;
}

static const char *take_length(const char *at, uint32_t *size) {
  static const struct {
    const char *modifier;
    uint32_t size;
  } lengths[] = {
      {"hh", 1},
      {"h", 2},
      {"ll", 8},
      {"l", sizeof(long)},
      {"L", 8},
      {"z", sizeof(long)},
      {"Z", sizeof(long)},
      {"t", sizeof(long)},
      {"", 4},
  };
  size_t i = 0;

  while (strncmp(at, lengths[i].modifier, strlen(lengths[i].modifier)) != 0)
    i += 1;
  *size = lengths[i].size;
  return at + strlen(lengths[i].modifier);
}

/* The kernel takes all letters and digits after %p. */
static const char *take_extension(const char *at, char *extension,
                                  size_t size) {
  size_t i = 0;

  while ((*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'z') ||
         (*at >= 'A' && *at <= 'Z')) {
    if (i + 1 == size)
      return NULL;
    extension[i++] = *at++;
  }
  extension[i] = '\0';
  return at;
}

static uvperf__node_t *take_argument(uvperf__parser_t *parser) {
  if (uvperf__expression_take(parser, ","))
    return uvperf__expression_parse(parser);
  parser->rc = -ENOTSUP;
  return NULL;
}

static uvperf__node_t *take_number(uvperf__parser_t *parser) {
  uvperf__node_t *node = take_argument(parser);

  if (node != NULL && uvperf__expression_is_number(node))
    return node;
  if (parser->rc == 0)
    parser->rc = -ENOTSUP;
  return NULL;
}

/* Takes the part of a conversion before its letter, without the '%'. */
static const char *take_sizes(uvperf__parser_t *parser, const char *at,
                              piece_t *piece) {
  uvperf__spelling_t *spelling = &piece->spelling;

  at = take_flags(at, spelling);
  spelling->precision = -1;
  if (*at == '*') {
    piece->width = take_number(parser);
    at += 1;
  } else {
    at = take_width(at, &spelling->width);
  }
  if (at != NULL && *at == '.') {
    at += 1;
    if (*at == '*') {
      piece->precision = take_number(parser);
      at += 1;
    } else {
      at = take_width(at, &spelling->precision);
    }
  }
  return at != NULL && parser->rc == 0 ? take_length(at, &piece->type.size)
                                       : NULL;
}

static int is_dump(const piece_t *piece) {
  static const char *const dumps[] = {"h", "hC", "hD", "hN"};
  size_t i;

  for (i = 0; i < sizeof(dumps) / sizeof(dumps[0]); i++)
    if (strcmp(piece->extension, dumps[i]) == 0)
      return 1;
  return 0;
}

/* The names of functions are not known here: they are printed as addresses. */
static int is_plain_pointer(const piece_t *piece) {
  static const char *const plain[] = {"", "x", "K", "S", "s", "F", "f", "B"};
  size_t i;

  for (i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
    if (strcmp(piece->extension, plain[i]) == 0)
      return 1;
  return 0;
}

static int accepts_pointer(const piece_t *piece) {
  int is_bytes = piece->argument->kind == UVPERF__NODE_BYTES;

  if (is_dump(piece))
    return is_bytes && piece->spelling.flags == 0 &&
           piece->spelling.precision < 0;
  if (piece->width != NULL || piece->spelling.width != 0 ||
      piece->spelling.flags != 0 || piece->spelling.precision >= 0)
    return 0;
  return is_plain_pointer(piece)
             ? uvperf__expression_is_number(piece->argument)
             : is_bytes && uvperf__spell_is_address(piece->extension);
}

/* Whether the conversion can print its argument. */
static int piece_accepts(piece_t *piece) {
  switch (piece->spelling.letter) {
    case 'i':
      piece->spelling.letter = 'd';
      /* fall through */
    case 'd':
      piece->type.is_signed = 1;
      /* fall through */
    case 'u':
    case 'x':
    case 'X':
    case 'o':
      return uvperf__expression_is_number(piece->argument);
    case 'c':
      return piece->type.size == 4 &&
             uvperf__expression_is_number(piece->argument);
    case 's':
      return piece->type.size == 4 &&
             uvperf__expression_is_text(piece->argument);
    default: /* 'p' */
      return piece->type.size == 4 && accepts_pointer(piece);
  }
}

/* Takes a conversion after its '%', and its arguments. */
static const char *take_conversion(uvperf__parser_t *parser, const char *at,
                                   piece_t *piece) {
  at = take_sizes(parser, at, piece);
  if (at == NULL || *at == '\0' || strchr("diuxXocsp", *at) == NULL)
    return NULL;
  piece->spelling.letter = *at++;
  if (piece->spelling.letter == 'p')
    at = take_extension(at, piece->extension, sizeof(piece->extension));
  if (at == NULL)
    return NULL;
  piece->argument = take_argument(parser);
  return piece->argument != NULL && piece_accepts(piece) ? at : NULL;
}

/* -- the program ----------------------------------------------------------- */

static void take_pieces(uvperf__parser_t *parser,
                        struct uvperf__program_s *program, const char *at) {
  while (at != NULL && *at != '\0') {
    piece_t *piece = &program->pieces[program->nr_pieces++];

    if (at[0] == '%' && at[1] != '%') {
      at = take_conversion(parser, at + 1, piece);
      continue;
    }
    at += at[0] == '%';
    piece->literal = at;
    piece->length = 1 + strcspn(at + 1, "%");
    at += piece->length;
  }
  uvperf__expression_take(parser, "");
  if (parser->rc == 0 && (at == NULL || parser->at != parser->end))
    parser->rc = -ENOTSUP;
}

static size_t count_pieces(const char *text) {
  size_t nr = 1;

  for (; *text != '\0'; text++)
    nr += *text == '%' ? 2 : 0;
  return nr;
}

static int program_parse(struct uvperf__program_s *program,
                         const uvperf_tracepoint_t *tracepoint) {
  uvperf__parser_t parser = {0};
  const char *format = NULL;

  parser.tracepoint = tracepoint;
  parser.at = tracepoint->text + tracepoint->format.end;
  parser.end = tracepoint->text + tracepoint->bytes;
  /* Each literal has two quotes, and takes one byte more than its text. */
  program->texts = malloc((size_t)(parser.end - parser.at) + 1);
  parser.texts = program->texts;
  if (program->texts == NULL)
    return -ENOMEM;
  if (uvperf__expression_take(&parser, "print fmt:"))
    format = uvperf__expression_literal(&parser);
  if (format == NULL)
    return -ENOTSUP;
  program->pieces = calloc(count_pieces(format), sizeof(*program->pieces));
  if (program->pieces == NULL)
    return -ENOMEM;
  take_pieces(&parser, program, format);
  program->nodes = parser.nodes;
  return parser.rc;
}

void uvperf__print_free(struct uvperf__program_s *program) {
  if (program == NULL)
    return;
  uvperf__expression_free(program->nodes);
  free(program->pieces);
  free(program->texts);
  free(program);
}

static int make_program(uvperf_tracepoint_t *tracepoint) {
  struct uvperf__program_s *program;
  int rc;

  if (tracepoint->is_refused)
    return -ENOTSUP;
  program = calloc(1, sizeof(*program));
  if (program == NULL)
    return -ENOMEM;
  rc = program_parse(program, tracepoint);
  if (rc == 0) {
    tracepoint->program = program;
    return 0;
  }
  tracepoint->is_refused = rc == -ENOTSUP;
  uvperf__print_free(program);
  return rc;
}

/* -- the text of a record -------------------------------------------------- */

/* The kernel's `unsigned long`, which its names and masks are. */
static uint64_t long_of(uint64_t value) {
  return (unsigned long)value;
}

static int print_flags(uvperf__writer_t *writer, const uvperf__node_t *node,
                       uvperf__raw_t raw) {
  const uvperf__node_t *pair;
  uint64_t value, mask;
  int is_first = 1;
  int rc = uvperf__value(node->left, raw, &value);

  value = long_of(value);
  for (pair = node->right;
       rc == 0 && pair != NULL && pair->text != NULL && value != 0;
       pair = pair->right) {
    rc = uvperf__value(pair->left, raw, &mask);
    if (rc != 0 || (value & long_of(mask)) != long_of(mask))
      continue;
    uvperf__spell_text(writer, is_first ? "" : node->text);
    uvperf__spell_text(writer, pair->text);
    value &= ~long_of(mask);
    is_first = 0;
  }
  if (rc == 0 && value != 0) {
    uvperf__spell_text(writer, is_first ? "" : node->text);
    uvperf__spell_hex(writer, value);
  }
  return rc;
}

static int print_symbolic(uvperf__writer_t *writer, const uvperf__node_t *node,
                          uvperf__raw_t raw) {
  const uvperf__node_t *pair;
  uint64_t value, number;
  int rc = uvperf__value(node->left, raw, &value);

  for (pair = node->right; rc == 0 && pair != NULL && pair->text != NULL;
       pair = pair->right) {
    rc = uvperf__value(pair->left, raw, &number);
    if (rc == 0 && long_of(value) == long_of(number)) {
      uvperf__spell_text(writer, pair->text);
      return 0;
    }
  }
  if (rc == 0)
    uvperf__spell_hex(writer, long_of(value));
  return rc;
}

/* Finds the bytes and the elements of HEX and ARRAY. Returns 0, or -EPROTO if
 * the elements are not all in the field. */
static int find_elements(const uvperf__node_t *node, uvperf__raw_t raw,
                         const unsigned char **bytes, size_t *count,
                         uint32_t *size) {
  uint64_t number, bytes_each = 1;
  size_t room;
  int rc = uvperf__value_bytes(node->left, raw, bytes, &room);

  if (rc == 0)
    rc = uvperf__value(node->right, raw, &number);
  if (rc == 0 && node->third != NULL)
    rc = uvperf__value(node->third, raw, &bytes_each);
  if (rc != 0)
    return rc;
  if ((bytes_each != 1 && bytes_each != 2 && bytes_each != 4 &&
       bytes_each != 8) ||
      number > room / bytes_each)
    return -EPROTO;
  *count = (size_t)number;
  *size = (uint32_t)bytes_each;
  return 0;
}

static int print_array(uvperf__writer_t *writer, const uvperf__node_t *node,
                       uvperf__raw_t raw) {
  uvperf__number_t type = {0, 0, 0};
  const unsigned char *bytes;
  size_t count, i;
  int rc = find_elements(node, raw, &bytes, &count, &type.size);

  if (rc != 0)
    return rc;
  if (node->kind == UVPERF__NODE_HEX) {
    uvperf__spell_dump(writer, node->text, bytes, count);
    return 0;
  }
  uvperf__spell_text(writer, "{");
  for (i = 0; i < count; i++) {
    uvperf__spell_text(writer, i > 0 ? "," : "");
    uvperf__spell_hex(writer, uvperf__value_load(bytes + i * type.size, type));
  }
  uvperf__spell_text(writer, "}");
  return 0;
}

/* Writes words of 32 bits, the highest one first. A bitmask is an array of
 * long. */
static int print_bitmask(uvperf__writer_t *writer, const uvperf__node_t *node,
                         uvperf__raw_t raw) {
  const unsigned char *bytes;
  size_t size, i;
  int shift;
  int rc = uvperf__value_bytes(node->left, raw, &bytes, &size);

  if (rc == 0 && (size == 0 || size % sizeof(long) != 0))
    rc = -EPROTO;
  for (i = size; rc == 0 && i > 0; i -= sizeof(long)) {
    unsigned long word;

    memcpy(&word, bytes + i - sizeof(word), sizeof(word));
    for (shift = 8 * (int)sizeof(long) - 32; shift >= 0; shift -= 32) {
      if (i < size || shift < 8 * (int)sizeof(long) - 32)
        uvperf__spell_text(writer, ",");
      uvperf__spell_digits(writer, (uint32_t)(word >> shift), 8);
    }
  }
  return rc;
}

static int print_string(uvperf__writer_t *writer, const uvperf__node_t *node,
                        uvperf__raw_t raw) {
  const unsigned char *bytes, *nul;
  size_t size;
  int rc = uvperf__value_bytes(node, raw, &bytes, &size);

  if (rc != 0)
    return rc;
  nul = size > 0 ? memchr(bytes, '\0', size) : NULL;
  uvperf__spell_bytes(writer, bytes,
                      nul != NULL ? (size_t)(nul - bytes) : size);
  return 0;
}

/* Writes what %s prints, without its width. */
static int print_text(uvperf__writer_t *writer, const uvperf__node_t *node,
                      uvperf__raw_t raw) {
  uint64_t value;
  int rc;

  switch (node->kind) {
    case UVPERF__NODE_LITERAL:
      uvperf__spell_text(writer, node->text);
      return 0;
    case UVPERF__NODE_BYTES:
      return print_string(writer, node, raw);
    case UVPERF__NODE_FLAGS:
      return print_flags(writer, node, raw);
    case UVPERF__NODE_SYMBOLIC:
      return print_symbolic(writer, node, raw);
    case UVPERF__NODE_HEX:
    case UVPERF__NODE_ARRAY:
      return print_array(writer, node, raw);
    case UVPERF__NODE_BITMASK:
      return print_bitmask(writer, node, raw);
    case UVPERF__NODE_CONDITION:
      rc = uvperf__value(node->left, raw, &value);
      if (rc != 0)
        return rc;
      return print_text(writer, value != 0 ? node->right : node->third, raw);
    default: /* a pointer to a string that is not in the record */
      rc = uvperf__value(node, raw, &value);
      if (value == 0)
        uvperf__spell_text(writer, "(null)");
      else
        uvperf__spell_hex(writer, value);
      return rc;
  }
}

static int print_dump(uvperf__writer_t *writer, const piece_t *piece, int width,
                      uvperf__raw_t raw) {
  const unsigned char *bytes;
  size_t size, wanted = width > 64 ? 64 : (size_t)width;
  int rc = uvperf__value_bytes(piece->argument, raw, &bytes, &size);

  if (piece->width == NULL && piece->spelling.width == 0)
    wanted = 1;
  if (rc == 0 && wanted > size)
    rc = -EPROTO;
  if (rc == 0)
    uvperf__spell_dump(writer,
                       piece->extension[1] == 'C'   ? ":"
                       : piece->extension[1] == 'D' ? "-"
                       : piece->extension[1] == 'N' ? ""
                                                    : " ",
                       bytes, wanted);
  return rc;
}

static int print_pointer(uvperf__writer_t *writer, const piece_t *piece,
                         uvperf__raw_t raw) {
  const unsigned char *bytes;
  uint64_t value;
  size_t size;
  int rc;

  if (!is_plain_pointer(piece)) {
    rc = uvperf__value_bytes(piece->argument, raw, &bytes, &size);
    if (rc == 0)
      uvperf__spell_address(writer, piece->extension, bytes, size);
    return rc;
  }
  rc = uvperf__value(piece->argument, raw, &value);
  if (long_of(value) == 0 && (piece->extension[0] == '\0' ||
                              strchr("xK", piece->extension[0]) != NULL))
    uvperf__spell_text(writer, "(nil)");
  else
    uvperf__spell_hex(writer, long_of(value));
  return rc;
}

/* Sets the width and the precision that are arguments. */
static int find_sizes(const piece_t *piece, uvperf__raw_t raw,
                      uvperf__spelling_t *spelling) {
  static const uvperf__number_t type_int = {4, 1, 0};
  uint64_t value;
  int64_t width = spelling->width;
  int64_t precision = spelling->precision;
  int rc = 0;

  if (piece->width != NULL) {
    rc = uvperf__value(piece->width, raw, &value);
    width = (int64_t)uvperf__value_cut(value, type_int);
  }
  if (rc == 0 && piece->precision != NULL) {
    rc = uvperf__value(piece->precision, raw, &value);
    precision = (int64_t)uvperf__value_cut(value, type_int);
  }
  if (width < 0 && spelling->letter != 'p') {
    spelling->flags |= UVPERF__SPELL_LEFT;
    width = -width;
  }
  if (rc != 0)
    return rc;
  if (width < 0 || (width > MAX_WIDTH && spelling->letter != 'p') ||
      (precision > MAX_WIDTH && spelling->letter != 's'))
    return -EPROTO;
  spelling->width = (int)width;
  spelling->precision = precision < 0 ? -1 : (int)precision;
  return 0;
}

static int print_piece(uvperf__writer_t *writer, const piece_t *piece,
                       uvperf__raw_t raw) {
  uvperf__spelling_t spelling = piece->spelling;
  size_t begin = writer->size;
  uint64_t value;
  char byte;
  int rc = find_sizes(piece, raw, &spelling);

  if (rc != 0)
    return rc;
  switch (spelling.letter) {
    case 's':
      rc = print_text(writer, piece->argument, raw);
      uvperf__spell_fit(writer, begin, &spelling);
      return rc;
    case 'p':
      return is_dump(piece) ? print_dump(writer, piece, spelling.width, raw)
                            : print_pointer(writer, piece, raw);
    case 'c':
      rc = uvperf__value(piece->argument, raw, &value);
      byte = (char)value;
      /* A NUL would end the text. */
      uvperf__spell_bytes(writer, &byte, byte != '\0');
      spelling.precision = -1;
      uvperf__spell_fit(writer, begin, &spelling);
      return rc;
    default:
      rc = uvperf__value(piece->argument, raw, &value);
      uvperf__spell_number(writer, &spelling,
                           uvperf__value_cut(value, piece->type));
      return rc;
  }
}

static int print_pieces(const struct uvperf__program_s *program,
                        uvperf__raw_t raw, uvperf__writer_t *writer) {
  int rc = 0;
  size_t i;

  for (i = 0; rc == 0 && i < program->nr_pieces; i++) {
    const piece_t *piece = &program->pieces[i];

    if (piece->literal != NULL)
      uvperf__spell_bytes(writer, piece->literal, piece->length);
    else
      rc = print_piece(writer, piece, raw);
    if (rc == 0)
      rc = writer->rc;
  }
  if (rc == 0)
    uvperf__spell_bytes(writer, "", 1);
  return rc != 0 ? rc : writer->rc;
}

static int is_whole(const uvperf_tracepoint_t *tracepoint, uvperf__raw_t raw) {
  const void *bytes;
  size_t size;
  size_t i;

  if (!uvperf_tracepoint_fits(tracepoint, raw.bytes, raw.size))
    return 0;
  for (i = 0; i < tracepoint->format.nr_fields; i++)
    if (uvperf_field_bytes(&tracepoint->format.fields[i], raw.bytes, raw.size,
                           &bytes, &size) != 0)
      return 0;
  return 1;
}

/* Prints a copy, because the data may change: see uvperf_record_t. */
static int print_copy(const uvperf_tracepoint_t *tracepoint, uvperf__raw_t raw,
                      char *text, size_t *size) {
  uvperf__writer_t writer = {0};
  int rc;

  if (!is_whole(tracepoint, raw))
    return -EPROTO;
  rc = print_pieces(tracepoint->program, raw, &writer);
  if (rc == 0) {
    if (writer.size > *size)
      rc = -ENOBUFS;
    else
      memcpy(text, writer.text, writer.size);
    *size = writer.size;
  }
  free(writer.text);
  return rc;
}

int uvperf_tracepoint_print(uvperf_tracepoint_t *tracepoint, const void *raw,
                            size_t raw_size, char *text, size_t *size) {
  uvperf__raw_t copied;
  void *copy;
  int rc;

  if (size == NULL || tracepoint == NULL || raw == NULL ||
      (text == NULL && *size != 0))
    return -EINVAL;
  /* raw_size is limited because the header of a record has 16 bits for the
   * size. */
  if (raw_size > UINT16_MAX)
    return -EPROTO;
  if (tracepoint->program == NULL) {
    rc = make_program(tracepoint);
    if (rc != 0)
      return rc;
  }
  copy = malloc(raw_size + 1);
  if (copy == NULL)
    return -ENOMEM;
  memcpy(copy, raw, raw_size);
  copied.bytes = copy;
  copied.size = raw_size;
  rc = print_copy(tracepoint, copied, text, size);
  free(copy);
  return rc;
}
