/* SPDX-License-Identifier: MIT */
/* Parses the expressions of a "print fmt" into trees with the types of C. What
 * cannot be evaluated outside of the kernel is refused: calls of the kernel's
 * functions, names of constants, members of structs, unknown types. */
#include "tracepoint/expression.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tracepoint/handle.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Limits the stack. The deepest expressions of Linux have about 20 levels. */
#define MAX_DEPTH 100

static const uvperf__number_t type_int = {4, 1, 0};
static const uvperf__number_t type_long = {sizeof(long), 1, 0};
static const uvperf__number_t type_pointer = {sizeof(long), 0, 1};

static uvperf__node_t *parse_condition(uvperf__parser_t *parser);
static uvperf__node_t *parse_unary(uvperf__parser_t *parser);

static uvperf__node_t *parser_refuse(uvperf__parser_t *parser) {
  if (parser->rc == 0)
    parser->rc = -ENOTSUP;
  return NULL;
}

static int is_number_kind(const uvperf__node_t *node) {
  return node->kind <= UVPERF__NODE_LENGTH ||
         node->kind == UVPERF__NODE_CONDITION;
}

int uvperf__expression_is_number(const uvperf__node_t *node) {
  return is_number_kind(node) && node->type.size != 0;
}

/* "((void *)0)" */
static int is_null(const uvperf__node_t *node) {
  return node->kind == UVPERF__NODE_CAST && node->type.is_pointer &&
         node->left->kind == UVPERF__NODE_NUMBER && node->left->value == 0;
}

/* A string that the record only points to is printed as its address. */
int uvperf__expression_is_text(const uvperf__node_t *node) {
  if (uvperf__expression_is_number(node))
    return (node->kind == UVPERF__NODE_FIELD && node->type.is_pointer) ||
           is_null(node);
  switch (node->kind) {
    case UVPERF__NODE_CONDITION:
      return uvperf__expression_is_text(node->right) &&
             uvperf__expression_is_text(node->third);
    case UVPERF__NODE_BYTES:
      return node->type.size == 1;
    default:
      return 1;
  }
}

/* -- tokens ---------------------------------------------------------------- */

static void skip_spaces(uvperf__parser_t *parser) {
  while (parser->at < parser->end &&
         (*parser->at == ' ' || *parser->at == '\t' || *parser->at == '\n'))
    parser->at += 1;
}

static int is_next(uvperf__parser_t *parser, const char *token) {
  size_t length = strlen(token);

  skip_spaces(parser);
  return (size_t)(parser->end - parser->at) >= length &&
         memcmp(parser->at, token, length) == 0;
}

int uvperf__expression_take(uvperf__parser_t *parser, const char *token) {
  if (!is_next(parser, token))
    return 0;
  parser->at += strlen(token);
  return 1;
}

static int parser_expect(uvperf__parser_t *parser, const char *token) {
  if (uvperf__expression_take(parser, token))
    return 1;
  parser_refuse(parser);
  return 0;
}

static int is_word_byte(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
         (byte >= '0' && byte <= '9') || byte == '_';
}

static uvperf__text_t take_word(uvperf__parser_t *parser) {
  uvperf__text_t word;

  skip_spaces(parser);
  word.text = parser->at;
  while (parser->at < parser->end && is_word_byte(*parser->at))
    parser->at += 1;
  word.length = (size_t)(parser->at - word.text);
  return word;
}

static int is_word(uvperf__text_t word, const char *wanted) {
  return word.length == strlen(wanted) &&
         memcmp(word.text, wanted, word.length) == 0;
}

/* Takes the byte after a backslash. */
static int take_escape(uvperf__parser_t *parser, char *byte) {
  static const char names[] = "ntr\\\"'";
  static const char bytes[] = "\n\t\r\\\"'";
  const char *found;

  if (parser->at == parser->end || *parser->at == '\0')
    return 0;
  found = strchr(names, *parser->at);
  if (found == NULL)
    return 0;
  *byte = bytes[found - names];
  parser->at += 1;
  return 1;
}

static int take_quoted(uvperf__parser_t *parser, char quote, char *byte) {
  if (parser->at == parser->end || *parser->at == quote || *parser->at == '\0')
    return 0;
  *byte = *parser->at;
  parser->at += 1;
  return *byte != '\\' || take_escape(parser, byte);
}

const char *uvperf__expression_literal(uvperf__parser_t *parser) {
  const char *text = parser->texts;

  if (!is_next(parser, "\"")) {
    parser_refuse(parser);
    return NULL;
  }
  while (uvperf__expression_take(parser, "\"")) {
    while (take_quoted(parser, '"', parser->texts))
      parser->texts += 1;
    if (parser->at == parser->end || *parser->at != '"') {
      parser_refuse(parser);
      return NULL;
    }
    parser->at += 1;
  }
  *parser->texts++ = '\0';
  return text;
}

/* -- nodes ----------------------------------------------------------------- */

static uvperf__node_t *new_node(uvperf__parser_t *parser,
                                uvperf__node_kind_t kind) {
  uvperf__node_t *node = calloc(1, sizeof(*node));

  if (node == NULL) {
    parser->rc = -ENOMEM;
    return NULL;
  }
  node->kind = kind;
  node->made = parser->nodes;
  parser->nodes = node;
  return node;
}

static uint32_t depth_of(const uvperf__node_t *node) {
  return node != NULL ? node->depth : 0;
}

/* Makes a node of operands, which may be NULL except the left one. */
static uvperf__node_t *new_tree(uvperf__parser_t *parser,
                                uvperf__node_kind_t kind, uvperf__node_t *left,
                                uvperf__node_t *right, uvperf__node_t *third) {
  uvperf__node_t *node = new_node(parser, kind);

  if (node == NULL)
    return NULL;
  node->left = left;
  node->right = right;
  node->third = third;
  node->depth = depth_of(left);
  if (depth_of(right) > node->depth)
    node->depth = depth_of(right);
  if (depth_of(third) > node->depth)
    node->depth = depth_of(third);
  node->depth += 1;
  return node->depth <= MAX_DEPTH ? node : parser_refuse(parser);
}

void uvperf__expression_free(uvperf__node_t *nodes) {
  while (nodes != NULL) {
    uvperf__node_t *next = nodes->made;

    free(nodes);
    nodes = next;
  }
}

static uvperf__node_t *new_number(uvperf__parser_t *parser, uint64_t value,
                                  uvperf__number_t type) {
  uvperf__node_t *node = new_node(parser, UVPERF__NODE_NUMBER);

  if (node != NULL) {
    node->value = value;
    node->type = type;
  }
  return node;
}

/* -- types, as in "usual arithmetic conversions" of C ---------------------- */

static uvperf__number_t type_promoted(uvperf__number_t type) {
  return type.size < type_int.size ? type_int : type;
}

uvperf__number_t uvperf__expression_common(uvperf__number_t a,
                                           uvperf__number_t b) {
  a = type_promoted(a);
  b = type_promoted(b);
  if (a.size != b.size)
    return a.size > b.size ? a : b;
  return a.is_signed ? b : a;
}

static int is_arithmetic(const uvperf__node_t *node) {
  return uvperf__expression_is_number(node) && !node->type.is_pointer;
}

static uvperf__node_t *new_unary(uvperf__parser_t *parser,
                                 uvperf__operator_t op, uvperf__node_t *left) {
  uvperf__node_t *node;

  if (op == UVPERF__OP_NOT ? !uvperf__expression_is_number(left)
                           : !is_arithmetic(left))
    return parser_refuse(parser);
  node = new_tree(parser, UVPERF__NODE_UNARY, left, NULL, NULL);
  if (node != NULL) {
    node->op = op;
    node->type = op == UVPERF__OP_NOT ? type_int : type_promoted(left->type);
  }
  return node;
}

/* Pointers are compared, but not added: their elements have an unknown
 * size. */
static uvperf__node_t *new_binary(uvperf__parser_t *parser,
                                  uvperf__operator_t op, uvperf__node_t *left,
                                  uvperf__node_t *right) {
  int is_truth = op <= UVPERF__OP_AND ||
                 (op >= UVPERF__OP_EQUAL && op <= UVPERF__OP_GREATER);
  uvperf__node_t *node;

  if (!uvperf__expression_is_number(left) ||
      !uvperf__expression_is_number(right) ||
      (!is_truth && (!is_arithmetic(left) || !is_arithmetic(right))))
    return parser_refuse(parser);
  node = new_tree(parser, UVPERF__NODE_BINARY, left, right, NULL);
  if (node == NULL)
    return NULL;
  node->op = op;
  if (is_truth)
    node->type = type_int;
  else if (op == UVPERF__OP_SHIFT_LEFT || op == UVPERF__OP_SHIFT_RIGHT)
    node->type = type_promoted(left->type);
  else
    node->type = uvperf__expression_common(left->type, right->type);
  return node;
}

/* -- what an expression begins with ---------------------------------------- */

/* The type of an integer constant: the first that has room for it. */
static uvperf__node_t *parse_number(uvperf__parser_t *parser) {
  uvperf__text_t word = take_word(parser);
  uvperf__number_t type = type_int;
  int is_decimal = word.text[0] != '0';
  char digits[32], *end;
  uint64_t value;
  int longs = 0;

  if (word.length >= sizeof(digits))
    return parser_refuse(parser);
  memcpy(digits, word.text, word.length);
  digits[word.length] = '\0';
  errno = 0;
  value = strtoull(digits, &end, 0);
  if (errno != 0)
    return parser_refuse(parser);
  for (; *end != '\0'; end++) {
    if (*end == 'u' || *end == 'U')
      type.is_signed = 0;
    else if (*end == 'l' || *end == 'L')
      longs += 1;
    else
      return parser_refuse(parser);
  }
  if (longs > 0)
    type.size = longs == 1 ? type_long.size : 8;
  while (type.size < 8 &&
         value >> (8 * type.size - (type.is_signed ? 1 : 0)) != 0) {
    if (type.is_signed && !is_decimal && value >> (8 * type.size) == 0)
      type.is_signed = 0;
    else
      type.size = 8;
  }
  if (type.size == 8 && value >> 63 != 0)
    type.is_signed = 0;
  return new_number(parser, value, type);
}

static uvperf__node_t *parse_character(uvperf__parser_t *parser) {
  char byte;

  parser->at += 1;
  if (!take_quoted(parser, '\'', &byte) || !parser_expect(parser, "'"))
    return parser_refuse(parser);
  return new_number(parser, (uint64_t)(int64_t)byte, type_int);
}

static uvperf__node_t *new_bytes(uvperf__parser_t *parser,
                                 const uvperf_field_t *field) {
  uvperf__node_t *node = new_node(parser, UVPERF__NODE_BYTES);

  if (node == NULL)
    return NULL;
  node->field = field;
  node->type.size = field->element_size;
  node->type.is_signed = (field->flags & UVPERF_FIELD_SIGNED) != 0;
  node->type.is_pointer = (field->flags & UVPERF_FIELD_POINTER) != 0;
  return node;
}

static const uvperf_field_t *take_field_name(uvperf__parser_t *parser) {
  uvperf__text_t word = take_word(parser);
  const uvperf_field_t *field;
  char name[128];

  if (word.length > 0 && word.length < sizeof(name)) {
    memcpy(name, word.text, word.length);
    name[word.length] = '\0';
    field = uvperf_tracepoint_find(parser->tracepoint, name);
    if (field != NULL)
      return field;
  }
  parser_refuse(parser);
  return NULL;
}

/* Parses "->x" after REC. An array without a size ends where the record ends,
 * which the record does not show. */
static uvperf__node_t *parse_field(uvperf__parser_t *parser) {
  const uvperf_field_t *field =
      parser_expect(parser, "->") ? take_field_name(parser) : NULL;
  uvperf__node_t *node;

  if (field == NULL || (field->flags & UVPERF_FIELD_DYNAMIC) != 0 ||
      field->size == 0)
    return parser_refuse(parser);
  if ((field->flags & UVPERF_FIELD_VALUE) == 0)
    return new_bytes(parser, field);
  node = new_node(parser, UVPERF__NODE_FIELD);
  if (node == NULL)
    return NULL;
  node->field = field;
  node->type.size = field->size;
  node->type.is_signed = (field->flags & UVPERF_FIELD_SIGNED) != 0;
  node->type.is_pointer = (field->flags & UVPERF_FIELD_POINTER) != 0;
  return node;
}

/* -- functions ------------------------------------------------------------- */

/* Parses "x)" of "__get_str(x)" and similar. */
static uvperf__node_t *parse_dynamic(uvperf__parser_t *parser) {
  const uvperf_field_t *field = take_field_name(parser);

  if (field == NULL || (field->flags & UVPERF_FIELD_DYNAMIC) == 0 ||
      !parser_expect(parser, ")"))
    return parser_refuse(parser);
  return new_bytes(parser, field);
}

static uvperf__node_t *parse_string(uvperf__parser_t *parser) {
  uvperf__node_t *node = parse_dynamic(parser);

  if (node != NULL)
    node->type = (uvperf__number_t){1, 0, 0};
  return node;
}

static uvperf__node_t *parse_length(uvperf__parser_t *parser) {
  uvperf__node_t *node = parse_dynamic(parser);

  if (node != NULL) {
    node->kind = UVPERF__NODE_LENGTH;
    node->type = (uvperf__number_t){4, 0, 0};
  }
  return node;
}

static uvperf__node_t *parse_bitmask(uvperf__parser_t *parser) {
  uvperf__node_t *bytes = parse_dynamic(parser);

  if (bytes == NULL)
    return NULL;
  return new_tree(parser, UVPERF__NODE_BITMASK, bytes, NULL, NULL);
}

static uvperf__node_t *parse_arithmetic(uvperf__parser_t *parser) {
  uvperf__node_t *node = parse_condition(parser);

  return node == NULL || is_arithmetic(node) ? node : parser_refuse(parser);
}

/* Parses the name of a pair. A pair without a name ends the list. */
static int parse_name(uvperf__parser_t *parser, uvperf__node_t *pair) {
  uvperf__node_t *null;

  if (is_next(parser, "\"")) {
    pair->text = uvperf__expression_literal(parser);
    return pair->text != NULL;
  }
  null = parse_condition(parser);
  if (null != NULL && (is_null(null) ||
                       (null->kind == UVPERF__NODE_NUMBER && null->value == 0)))
    return 1;
  parser_refuse(parser);
  return 0;
}

/* Parses "{ 1, "A" }, { 2, "B" })". A list may have no pairs. */
static int parse_pairs(uvperf__parser_t *parser, uvperf__node_t **link) {
  while (uvperf__expression_take(parser, "{")) {
    uvperf__node_t *mask = parse_arithmetic(parser);
    uvperf__node_t *pair =
        mask != NULL ? new_tree(parser, UVPERF__NODE_PAIR, mask, NULL, NULL)
                     : NULL;

    if (pair == NULL || !parser_expect(parser, ",") ||
        !parse_name(parser, pair) || !parser_expect(parser, "}"))
      return 0;
    *link = pair;
    link = &pair->right;
    if (!uvperf__expression_take(parser, ","))
      break;
  }
  return parser_expect(parser, ")");
}

static uvperf__node_t *parse_names(uvperf__parser_t *parser,
                                   uvperf__node_kind_t kind) {
  uvperf__node_t *value = parse_arithmetic(parser);
  uvperf__node_t *node =
      value != NULL ? new_tree(parser, kind, value, NULL, NULL) : NULL;

  if (node == NULL || !parser_expect(parser, ","))
    return NULL;
  if (kind == UVPERF__NODE_FLAGS) {
    node->text = uvperf__expression_literal(parser);
    if (node->text == NULL || !parser_expect(parser, ","))
      return NULL;
  }
  return parse_pairs(parser, &node->right) ? node : NULL;
}

static uvperf__node_t *parse_flags(uvperf__parser_t *parser) {
  return parse_names(parser, UVPERF__NODE_FLAGS);
}

static uvperf__node_t *parse_symbolic(uvperf__parser_t *parser) {
  return parse_names(parser, UVPERF__NODE_SYMBOLIC);
}

static uvperf__node_t *parse_buffer(uvperf__parser_t *parser,
                                    uvperf__node_kind_t kind) {
  uvperf__node_t *bytes = parse_condition(parser);
  uvperf__node_t *count = NULL, *size = NULL;

  if (bytes == NULL || bytes->kind != UVPERF__NODE_BYTES ||
      !parser_expect(parser, ","))
    return parser_refuse(parser);
  count = parse_arithmetic(parser);
  if (count != NULL && kind == UVPERF__NODE_ARRAY)
    size = parser_expect(parser, ",") ? parse_arithmetic(parser) : NULL;
  if (count == NULL || (kind == UVPERF__NODE_ARRAY && size == NULL) ||
      !parser_expect(parser, ")"))
    return NULL;
  return new_tree(parser, kind, bytes, count, size);
}

static uvperf__node_t *parse_hex(uvperf__parser_t *parser) {
  uvperf__node_t *node = parse_buffer(parser, UVPERF__NODE_HEX);

  if (node != NULL)
    node->text = " ";
  return node;
}

static uvperf__node_t *parse_hex_str(uvperf__parser_t *parser) {
  uvperf__node_t *node = parse_buffer(parser, UVPERF__NODE_HEX);

  if (node != NULL)
    node->text = "";
  return node;
}

static uvperf__node_t *parse_array(uvperf__parser_t *parser) {
  return parse_buffer(parser, UVPERF__NODE_ARRAY);
}

/* Takes a type, up to the parenthesis after it, which is taken too. Returns 1
 * and the number of stars, or 0. */
static int take_type(uvperf__parser_t *parser, uvperf__number_t *type,
                     int *stars) {
  const char *begin;
  uvperf__text_t span;

  *stars = 0;
  skip_spaces(parser);
  begin = parser->at;
  while (parser->at < parser->end &&
         (is_word_byte(*parser->at) || *parser->at == ' '))
    parser->at += 1;
  span.text = begin;
  span.length = (size_t)(parser->at - begin);
  while (span.length > 0 && span.text[span.length - 1] == ' ')
    span.length -= 1;
  while (uvperf__expression_take(parser, "*"))
    *stars += 1;
  *type = uvperf__declaration_number(span);
  return span.length > 0 && uvperf__expression_take(parser, ")");
}

/* Parses the type or field of "sizeof(…)". */
static uvperf__node_t *parse_sizeof(uvperf__parser_t *parser) {
  const char *begin = parser->at;
  uvperf__node_t *field;
  uvperf__number_t type;
  int stars;

  if (is_word(take_word(parser), "REC")) {
    field = parse_field(parser);
    if (field == NULL || !parser_expect(parser, ")"))
      return NULL;
    return new_number(parser, field->field->size,
                      (uvperf__number_t){sizeof(long), 0, 0});
  }
  parser->at = begin;
  if (!take_type(parser, &type, &stars))
    return parser_refuse(parser);
  if (stars > 0)
    type = type_pointer;
  if (type.size == 0)
    return parser_refuse(parser);
  return new_number(parser, type.size, (uvperf__number_t){sizeof(long), 0, 0});
}

static uvperf__node_t *parse_call(uvperf__parser_t *parser,
                                  uvperf__text_t name) {
  static const struct {
    const char *name;
    uvperf__node_t *(*parse)(uvperf__parser_t *parser);
  } functions[] = {
      {"__get_str", parse_string},
      {"__get_rel_str", parse_string},
      {"__print_symbolic", parse_symbolic},
      {"__print_flags", parse_flags},
      {"__print_hex", parse_hex},
      {"__print_hex_str", parse_hex_str},
      {"__print_array", parse_array},
      {"__get_dynamic_array", parse_dynamic},
      {"__get_rel_dynamic_array", parse_dynamic},
      {"__get_sockaddr", parse_dynamic},
      {"__get_rel_sockaddr", parse_dynamic},
      {"__get_dynamic_array_len", parse_length},
      {"__get_rel_dynamic_array_len", parse_length},
      {"__get_bitmask", parse_bitmask},
      {"__get_rel_bitmask", parse_bitmask},
      {"__get_cpumask", parse_bitmask},
      {"__get_rel_cpumask", parse_bitmask},
      {"sizeof", parse_sizeof},
  };
  size_t i;

  for (i = 0; i < COUNT_OF(functions); i++)
    if (is_word(name, functions[i].name) && parser_expect(parser, "("))
      return functions[i].parse(parser);
  return parser_refuse(parser);
}

/* -- operators ------------------------------------------------------------- */

/* A pointer to bytes of the record stays bytes of the record. */
static uvperf__node_t *new_cast(uvperf__parser_t *parser, uvperf__number_t type,
                                int stars, uvperf__node_t *left) {
  uvperf__node_t *node;

  if (left->kind == UVPERF__NODE_BYTES) {
    if (stars != 1)
      return parser_refuse(parser);
    left->type = type;
    return left;
  }
  if (stars > 0)
    type = type_pointer;
  if (type.size == 0 || type.is_signed < 0 ||
      !uvperf__expression_is_number(left))
    return parser_refuse(parser);
  node = new_tree(parser, UVPERF__NODE_CAST, left, NULL, NULL);
  if (node != NULL)
    node->type = type;
  return node;
}

/* Parses a cast, or an expression in parentheses. */
static uvperf__node_t *parse_parentheses(uvperf__parser_t *parser) {
  const char *begin = parser->at;
  uvperf__text_t word = take_word(parser);
  uvperf__number_t type;
  uvperf__node_t *node;
  int stars;

  parser->at = begin;
  if (word.length > 0 && (word.text[0] < '0' || word.text[0] > '9') &&
      !is_word(word, "REC") && take_type(parser, &type, &stars)) {
    node = parse_unary(parser);
    return node != NULL ? new_cast(parser, type, stars, node) : NULL;
  }
  parser->at = begin;
  node = parse_condition(parser);
  return node != NULL && parser_expect(parser, ")") ? node : NULL;
}

static uvperf__node_t *parse_primary(uvperf__parser_t *parser) {
  uvperf__text_t word;
  uvperf__node_t *node;

  if (is_next(parser, "\"")) {
    node = new_node(parser, UVPERF__NODE_LITERAL);
    if (node != NULL)
      node->text = uvperf__expression_literal(parser);
    return parser->rc == 0 ? node : NULL;
  }
  if (is_next(parser, "'"))
    return parse_character(parser);
  if (uvperf__expression_take(parser, "("))
    return parse_parentheses(parser);
  if (parser->at < parser->end && *parser->at >= '0' && *parser->at <= '9')
    return parse_number(parser);
  word = take_word(parser);
  return is_word(word, "REC") ? parse_field(parser) : parse_call(parser, word);
}

static int has_number_elements(const uvperf__node_t *node) {
  uint32_t size = node->type.size;

  return node->type.is_signed >= 0 &&
         (size == 1 || size == 2 || size == 4 || size == 8);
}

static uvperf__node_t *parse_postfix(uvperf__parser_t *parser) {
  uvperf__node_t *node = parse_primary(parser);
  uvperf__node_t *index;

  if (node == NULL || !uvperf__expression_take(parser, "["))
    return node;
  index = parse_arithmetic(parser);
  if (index == NULL || !parser_expect(parser, "]"))
    return NULL;
  if (node->kind != UVPERF__NODE_BYTES || !has_number_elements(node))
    return parser_refuse(parser);
  index = new_tree(parser, UVPERF__NODE_INDEX, node, index, NULL);
  if (index != NULL)
    index->type = node->type;
  return index;
}

/* Parses "&REC->x", which is the bytes of the field. */
static uvperf__node_t *parse_address(uvperf__parser_t *parser) {
  uvperf__node_t *node = parse_postfix(parser);

  if (node == NULL ||
      (node->kind != UVPERF__NODE_FIELD && node->kind != UVPERF__NODE_BYTES))
    return parser_refuse(parser);
  node->kind = UVPERF__NODE_BYTES;
  return node;
}

static uvperf__node_t *parse_operand(uvperf__parser_t *parser) {
  static const struct {
    const char *token;
    uvperf__operator_t op;
  } operators[] = {
      {"!", UVPERF__OP_NOT},
      {"~", UVPERF__OP_COMPLEMENT},
      {"-", UVPERF__OP_NEGATE},
  };
  uvperf__node_t *node;
  size_t i;

  for (i = 0; i < COUNT_OF(operators); i++) {
    if (uvperf__expression_take(parser, operators[i].token)) {
      node = parse_unary(parser);
      return node != NULL ? new_unary(parser, operators[i].op, node) : NULL;
    }
  }
  return uvperf__expression_take(parser, "&") ? parse_address(parser)
                                              : parse_postfix(parser);
}

/* Each level of the parser's own stack passes through here. */
static uvperf__node_t *parse_unary(uvperf__parser_t *parser) {
  uvperf__node_t *node;

  if (parser->depth == MAX_DEPTH)
    return parser_refuse(parser);
  parser->depth += 1;
  node = parse_operand(parser);
  parser->depth -= 1;
  return node;
}

/* A token that another one begins with comes after it. */
static const struct {
  const char *token;
  uvperf__operator_t op;
  int rank; /* a higher one binds first */
} binary[] = {
    {"||", UVPERF__OP_OR, 1},
    {"&&", UVPERF__OP_AND, 2},
    {"|", UVPERF__OP_BIT_OR, 3},
    {"^", UVPERF__OP_BIT_XOR, 4},
    {"&", UVPERF__OP_BIT_AND, 5},
    {"==", UVPERF__OP_EQUAL, 6},
    {"!=", UVPERF__OP_UNEQUAL, 6},
    {"<<", UVPERF__OP_SHIFT_LEFT, 8},
    {">>", UVPERF__OP_SHIFT_RIGHT, 8},
    {"<=", UVPERF__OP_LESS_EQUAL, 7},
    {">=", UVPERF__OP_GREATER_EQUAL, 7},
    {"<", UVPERF__OP_LESS, 7},
    {">", UVPERF__OP_GREATER, 7},
    {"+", UVPERF__OP_ADD, 9},
    {"-", UVPERF__OP_SUBTRACT, 9},
    {"*", UVPERF__OP_MULTIPLY, 10},
    {"/", UVPERF__OP_DIVIDE, 10},
    {"%", UVPERF__OP_REMAINDER, 10},
};

/* Parses operators of at least a rank. Operators of one rank group from the
 * left. */
static uvperf__node_t *parse_binary(uvperf__parser_t *parser, int rank) {
  uvperf__node_t *left = parse_unary(parser);
  uvperf__node_t *right;
  size_t i;

  while (left != NULL) {
    for (i = 0; i < COUNT_OF(binary); i++)
      if (is_next(parser, binary[i].token))
        break;
    if (i == COUNT_OF(binary) || binary[i].rank < rank)
      break;
    uvperf__expression_take(parser, binary[i].token);
    right = parse_binary(parser, binary[i].rank + 1);
    left = right != NULL ? new_binary(parser, binary[i].op, left, right) : NULL;
  }
  return left;
}

static uvperf__node_t *parse_choice(uvperf__parser_t *parser,
                                    uvperf__node_t *left) {
  uvperf__node_t *right = parse_condition(parser);
  uvperf__node_t *third = right != NULL && parser_expect(parser, ":")
                              ? parse_condition(parser)
                              : NULL;
  uvperf__node_t *node =
      third != NULL
          ? new_tree(parser, UVPERF__NODE_CONDITION, left, right, third)
          : NULL;

  if (node == NULL)
    return NULL;
  if (!uvperf__expression_is_number(left))
    return parser_refuse(parser);
  if (uvperf__expression_is_number(right) &&
      uvperf__expression_is_number(third))
    node->type = right->type.is_pointer || third->type.is_pointer
                     ? type_pointer
                     : uvperf__expression_common(right->type, third->type);
  else if (!uvperf__expression_is_text(node))
    return parser_refuse(parser);
  return node;
}

static uvperf__node_t *parse_condition(uvperf__parser_t *parser) {
  uvperf__node_t *node = NULL;

  if (parser->depth == MAX_DEPTH)
    return parser_refuse(parser);
  parser->depth += 1;
  node = parse_binary(parser, 1);
  if (node != NULL && uvperf__expression_take(parser, "?"))
    node = parse_choice(parser, node);
  parser->depth -= 1;
  return node;
}

uvperf__node_t *uvperf__expression_parse(uvperf__parser_t *parser) {
  uvperf__node_t *node = parse_condition(parser);

  return node != NULL ? node : parser_refuse(parser);
}
