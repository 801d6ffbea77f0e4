/* SPDX-License-Identifier: MIT */
/* Parses the C declaration of a field: whether the field is an array, a string
 * or a pointer, and how large its elements are. The kernel prints the type as
 * it is written in the source of the tracepoint, so only the type's name shows
 * the size of an element. Offsets and sizes are in the rest of the line: see
 * format.c. */
#include "tracepoint/declaration.h"

#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static const char data_loc[] = "__data_loc ";
static const char rel_loc[] = "__rel_loc ";

static int is_name_byte(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
         (byte >= '0' && byte <= '9') || byte == '_';
}

static size_t without_spaces(const char *text, size_t length) {
  while (length > 0 && text[length - 1] == ' ')
    length -= 1;
  return length;
}

/* Returns the start of the brackets at the end of the text. Returns the text's
 * length if it does not end with brackets or they are not balanced. */
static size_t find_brackets(const char *text, size_t length) {
  size_t depth = 0;
  size_t i;

  if (length == 0 || text[length - 1] != ']')
    return length;
  for (i = length; i > 0; i--) {
    if (text[i - 1] == ']')
      depth += 1;
    else if (text[i - 1] == '[')
      depth -= 1;
    if (depth == 0)
      return i - 1;
  }
  return length;
}

int uvperf__declaration_split(uvperf__declaration_t *declaration,
                              const char *text, size_t length) {
  size_t end = without_spaces(text, length);
  size_t begin = end;
  size_t type_end;
  size_t from;

  /* One pass for each dimension. */
  for (from = find_brackets(text, begin); from != begin;
       from = find_brackets(text, begin))
    begin = from;
  declaration->brackets.text = text + begin;
  declaration->brackets.length = end - begin;
  end = without_spaces(text, begin);
  begin = end;
  while (begin > 0 && is_name_byte(text[begin - 1]))
    begin -= 1;
  declaration->name.text = text + begin;
  declaration->name.length = end - begin;
  type_end = without_spaces(text, begin);
  declaration->type.text = text;
  declaration->type.length = type_end;
  return end > begin && (text[begin] < '0' || text[begin] > '9') &&
         type_end > 0;
}

static int begins_with(const uvperf__text_t *span, const char *word) {
  size_t length = strlen(word);

  return span->length >= length && memcmp(span->text, word, length) == 0;
}

static void span_skip(uvperf__text_t *span, size_t bytes) {
  span->text += bytes;
  span->length -= bytes;
}

/* Finds a number's type by its name. The size is 0 if the type is not known.
 * Whether a char is signed depends on the architecture and the kernel; a bool
 * is not cut, but compared with 0. */
static uvperf__number_t named_type(uvperf__text_t type) {
  static const struct {
    const char *name;
    uvperf__number_t number;
  } types[] = {
      {"char", {1, -1, 0}},
      {"bool", {1, -1, 0}},
      {"_Bool", {1, -1, 0}},
      {"u8", {1, 0, 0}},
      {"s8", {1, 1, 0}},
      {"__u8", {1, 0, 0}},
      {"__s8", {1, 1, 0}},
      {"uint8_t", {1, 0, 0}},
      {"int8_t", {1, 1, 0}},
      {"short", {2, 1, 0}},
      {"short int", {2, 1, 0}},
      {"u16", {2, 0, 0}},
      {"s16", {2, 1, 0}},
      {"__u16", {2, 0, 0}},
      {"__s16", {2, 1, 0}},
      {"__le16", {2, 0, 0}},
      {"__be16", {2, 0, 0}},
      {"uint16_t", {2, 0, 0}},
      {"int16_t", {2, 1, 0}},
      {"umode_t", {2, 0, 0}},
      {"int", {4, 1, 0}},
      {"unsigned", {4, 0, 0}},
      {"uint", {4, 0, 0}},
      {"u32", {4, 0, 0}},
      {"s32", {4, 1, 0}},
      {"__u32", {4, 0, 0}},
      {"__s32", {4, 1, 0}},
      {"__le32", {4, 0, 0}},
      {"__be32", {4, 0, 0}},
      {"uint32_t", {4, 0, 0}},
      {"int32_t", {4, 1, 0}},
      {"pid_t", {4, 1, 0}},
      {"dev_t", {4, 0, 0}},
      {"gfp_t", {4, 0, 0}},
      {"long long", {8, 1, 0}},
      {"u64", {8, 0, 0}},
      {"s64", {8, 1, 0}},
      {"__u64", {8, 0, 0}},
      {"__s64", {8, 1, 0}},
      {"__le64", {8, 0, 0}},
      {"__be64", {8, 0, 0}},
      {"uint64_t", {8, 0, 0}},
      {"int64_t", {8, 1, 0}},
      {"loff_t", {8, 1, 0}},
      {"long", {sizeof(long), 1, 0}},
      {"long int", {sizeof(long), 1, 0}},
      {"size_t", {sizeof(long), 0, 0}},
      {"ssize_t", {sizeof(long), 1, 0}},
      {"uintptr_t", {sizeof(long), 0, 0}},
      {"cpumask_t", {sizeof(long), 0, 0}}, /* the words of __cpumask */
  };
  uvperf__number_t number = {0, 0, 0};
  int sign = -1;
  size_t i;

  if (begins_with(&type, "const "))
    span_skip(&type, 6);
  if (begins_with(&type, "unsigned ")) {
    sign = 0;
    span_skip(&type, 9);
  } else if (begins_with(&type, "signed ")) {
    sign = 1;
    span_skip(&type, 7);
  }
  for (i = 0; i < COUNT_OF(types); i++)
    if (type.length == strlen(types[i].name) &&
        begins_with(&type, types[i].name))
      number = types[i].number;
  if (sign >= 0)
    number.is_signed = sign;
  return number;
}

uvperf__number_t uvperf__declaration_number(uvperf__text_t type) {
  return named_type(type);
}

static uint32_t type_size(uvperf__text_t type) {
  if (begins_with(&type, "const "))
    span_skip(&type, 6);
  return begins_with(&type, "enum ") ? 4 : named_type(type).size;
}

/* Returns the number in "[16]", or 0 if there is no number, or more than
 * one. */
static uint32_t array_dimension(const uvperf__text_t *brackets) {
  uint32_t number = 0;
  size_t i;

  for (i = 1; i + 1 < brackets->length; i++) {
    char byte = brackets->text[i];

    if (byte < '0' || byte > '9' || i > 8)
      return 0;
    number = number * 10 + (uint32_t)(byte - '0');
  }
  return number;
}

static void set_elements(uvperf_field_t *field, uint32_t number,
                         uint32_t known_size) {
  field->element_size = 0;
  field->count = 0;
  if ((field->flags & UVPERF_FIELD_DYNAMIC) != 0) {
    field->element_size = known_size;
  } else if (number != 0 && field->size % number == 0) {
    field->element_size = field->size / number;
    field->count = number;
  } else if (known_size != 0 && field->size % known_size == 0) {
    field->element_size = known_size;
    field->count = field->size / known_size;
  }
}

static int is_number_size(uint32_t size) {
  return size == 1 || size == 2 || size == 4 || size == 8;
}

/* unsigned char and u8 are not characters but bytes, for example of a hardware
 * address. */
static int is_char(uvperf__text_t type) {
  if (begins_with(&type, "const "))
    span_skip(&type, 6);
  if (begins_with(&type, "signed "))
    span_skip(&type, 7);
  return type.length == 4 && begins_with(&type, "char");
}

/* Removes the parts of the type that mark a dynamic field or an array, and sets
 * the flags. */
static void type_strip(uvperf__text_t *type, uvperf_field_t *field) {
  size_t from;

  if (begins_with(type, data_loc)) {
    field->flags |= UVPERF_FIELD_DYNAMIC;
    span_skip(type, strlen(data_loc));
  } else if (begins_with(type, rel_loc)) {
    field->flags |= UVPERF_FIELD_DYNAMIC | UVPERF_FIELD_RELATIVE;
    span_skip(type, strlen(rel_loc));
  }
  from = find_brackets(type->text, type->length);
  if (from != type->length)
    field->flags |= UVPERF_FIELD_ARRAY;
  type->length = without_spaces(type->text, from);
}

void uvperf__declaration_apply(const uvperf__declaration_t *declaration,
                               uvperf_field_t *field) {
  uvperf__text_t type = declaration->type;
  int is_struct;

  if (declaration->brackets.length > 0)
    field->flags |= UVPERF_FIELD_ARRAY;
  type_strip(&type, field);
  if (memchr(type.text, '*', type.length) != NULL)
    field->flags |= UVPERF_FIELD_POINTER;
  if ((field->flags & (UVPERF_FIELD_ARRAY | UVPERF_FIELD_DYNAMIC)) == 0) {
    is_struct = (field->flags & UVPERF_FIELD_POINTER) == 0 &&
                (begins_with(&type, "struct ") || begins_with(&type, "union "));
    field->element_size = field->size;
    field->count = 1;
    if (!is_struct && is_number_size(field->size))
      field->flags |= UVPERF_FIELD_VALUE;
    return;
  }
  set_elements(field, array_dimension(&declaration->brackets),
               (field->flags & UVPERF_FIELD_POINTER) != 0 ? sizeof(void *)
                                                          : type_size(type));
  if ((field->flags & UVPERF_FIELD_ARRAY) != 0 && is_char(type))
    field->flags |= UVPERF_FIELD_STRING;
}
