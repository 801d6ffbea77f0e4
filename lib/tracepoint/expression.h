/* SPDX-License-Identifier: MIT */
/* The component uvperf_tracepoint: the expressions in a "print fmt", which are
 * C with the fields of the record (`REC->x`) and some functions of the kernel.
 * expression.c parses them, value.c evaluates them for a record. */
#ifndef UVPERF_LIB_TRACEPOINT_EXPRESSION_H
#define UVPERF_LIB_TRACEPOINT_EXPRESSION_H

#include <stddef.h>
#include <stdint.h>

#include "tracepoint/declaration.h"

typedef enum uvperf__node_kind_e {
  /* numbers: number.size is not 0 */
  UVPERF__NODE_NUMBER,
  UVPERF__NODE_FIELD,
  UVPERF__NODE_UNARY,
  UVPERF__NODE_BINARY,
  UVPERF__NODE_CAST,
  UVPERF__NODE_INDEX,
  UVPERF__NODE_LENGTH, /* of a dynamic field, in bytes */
  /* bytes of the record, or texts */
  UVPERF__NODE_BYTES,
  UVPERF__NODE_LITERAL,
  UVPERF__NODE_FLAGS,    /* left: the value; right: the first pair */
  UVPERF__NODE_SYMBOLIC, /* the same */
  UVPERF__NODE_PAIR,     /* left: the mask; right: the next pair */
  UVPERF__NODE_HEX,      /* left: BYTES; right: how many */
  UVPERF__NODE_ARRAY,    /* the same; third: the size of an element */
  UVPERF__NODE_BITMASK,  /* left: BYTES */
  /* a number, or a text */
  UVPERF__NODE_CONDITION /* left ? right : third */
} uvperf__node_kind_t;

typedef enum uvperf__operator_e {
  UVPERF__OP_OR,
  UVPERF__OP_AND,
  UVPERF__OP_BIT_OR,
  UVPERF__OP_BIT_XOR,
  UVPERF__OP_BIT_AND,
  UVPERF__OP_EQUAL,
  UVPERF__OP_UNEQUAL,
  UVPERF__OP_LESS_EQUAL,
  UVPERF__OP_GREATER_EQUAL,
  UVPERF__OP_LESS,
  UVPERF__OP_GREATER,
  UVPERF__OP_SHIFT_LEFT,
  UVPERF__OP_SHIFT_RIGHT,
  UVPERF__OP_ADD,
  UVPERF__OP_SUBTRACT,
  UVPERF__OP_MULTIPLY,
  UVPERF__OP_DIVIDE,
  UVPERF__OP_REMAINDER,
  UVPERF__OP_NOT,
  UVPERF__OP_COMPLEMENT,
  UVPERF__OP_NEGATE
} uvperf__operator_t;

typedef struct uvperf__node_s {
  struct uvperf__node_s *made; /* the node that was made before this one */
  uvperf__node_kind_t kind;
  uvperf__operator_t op;
  uvperf__number_t type; /* of a number, or of an element of BYTES */
  uint32_t depth;
  uint64_t value;              /* of a NUMBER */
  const uvperf_field_t *field; /* FIELD, BYTES, LENGTH */
  const char *text;            /* LITERAL; FLAGS: between; PAIR: the name */
  struct uvperf__node_s *left;
  struct uvperf__node_s *right;
  struct uvperf__node_s *third;
} uvperf__node_t;

/* Where a parser is in a "print fmt", and what it has made. */
typedef struct uvperf__parser_s {
  const uvperf_tracepoint_t *tracepoint;
  const char *at;
  const char *end;
  char *texts; /* the room for the next literal */
  uvperf__node_t *nodes;
  unsigned depth;
  int rc; /* 0; -ENOTSUP; -ENOMEM */
} uvperf__parser_t;

/* Parses an expression. Returns NULL and sets rc if there is an expression that
 * cannot be evaluated outside of the kernel, or none. */
uvperf__node_t *uvperf__expression_parse(uvperf__parser_t *parser);

/* Parses strings in quotes. Returns the text, or NULL and sets rc. */
const char *uvperf__expression_literal(uvperf__parser_t *parser);

/* Takes a token, and the spaces before it. Returns 1 or 0. */
int uvperf__expression_take(uvperf__parser_t *parser, const char *token);

/* Whether an expression is a number. Otherwise it is bytes or a text. */
int uvperf__expression_is_number(const uvperf__node_t *node);

/* Whether %s can print the expression. */
int uvperf__expression_is_text(const uvperf__node_t *node);

/* The type to which C converts two numbers to add or compare them. */
uvperf__number_t uvperf__expression_common(uvperf__number_t a,
                                           uvperf__number_t b);

void uvperf__expression_free(uvperf__node_t *nodes);

/* A record; `raw` has no alignment. */
typedef struct uvperf__raw_s {
  const void *bytes;
  size_t size;
} uvperf__raw_t;

/* Evaluates a number as C does. Returns 0, or -EPROTO if C does not define the
 * value, which no kernel's record leads to. */
int uvperf__value(const uvperf__node_t *node, uvperf__raw_t raw,
                  uint64_t *value);

/* Finds the bytes of a BYTES. Returns 0 or -EPROTO. */
int uvperf__value_bytes(const uvperf__node_t *node, uvperf__raw_t raw,
                        const unsigned char **bytes, size_t *size);

/* Cuts a value to a type and extends its sign. */
uint64_t uvperf__value_cut(uint64_t value, uvperf__number_t type);

/* Loads one element of a type that has a size of 1, 2, 4 or 8. */
uint64_t uvperf__value_load(const unsigned char *bytes, uvperf__number_t type);

#endif
