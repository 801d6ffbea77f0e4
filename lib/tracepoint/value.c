/* SPDX-License-Identifier: MIT */
/* Evaluates the expressions of a "print fmt" for a record, with the types and
 * the order of evaluation of C: the side of `?:`, `&&` and `||` that C does not
 * evaluate is not evaluated. Reads nothing outside of the fields. */
#include "tracepoint/expression.h"

#include <errno.h>
#include <string.h>

#include "tracepoint/handle.h"

uint64_t uvperf__value_cut(uint64_t value, uvperf__number_t type) {
  switch (type.size) {
    case 1:
      return type.is_signed ? (uint64_t)(int64_t)(int8_t)value : (uint8_t)value;
    case 2:
      return type.is_signed ? (uint64_t)(int64_t)(int16_t)value
                            : (uint16_t)value;
    case 4:
      return type.is_signed ? (uint64_t)(int64_t)(int32_t)value
                            : (uint32_t)value;
    default:
      return value;
  }
}

uint64_t uvperf__value_load(const unsigned char *bytes, uvperf__number_t type) {
  uvperf_field_t field = {0};

  field.size = type.size;
  field.flags = type.is_signed ? (uint32_t)UVPERF_FIELD_SIGNED : 0;
  return uvperf_field_load(&field, bytes);
}

int uvperf__value_bytes(const uvperf__node_t *node, uvperf__raw_t raw,
                        const unsigned char **bytes, size_t *size) {
  const void *found;
  int rc = uvperf_field_bytes(node->field, raw.bytes, raw.size, &found, size);

  if (rc == 0)
    *bytes = found;
  return rc;
}

static int value_index(const uvperf__node_t *node, uvperf__raw_t raw,
                       uint64_t *value) {
  const unsigned char *bytes;
  uint64_t index;
  size_t size;
  int rc = uvperf__value(node->right, raw, &index);

  if (rc == 0)
    rc = uvperf__value_bytes(node->left, raw, &bytes, &size);
  if (rc == 0 && index >= size / node->type.size)
    rc = -EPROTO;
  if (rc == 0)
    *value = uvperf__value_load(bytes + index * node->type.size, node->type);
  return rc;
}

/* C does not define a division by zero, nor INT_MIN / -1, nor shifts by a
 * negative number or by all bits of the type. */
static int value_divide(uvperf__operator_t op, uvperf__number_t type,
                        uint64_t left, uint64_t right, uint64_t *value) {
  int is_division = op == UVPERF__OP_DIVIDE;

  if (right == 0)
    return -EPROTO;
  if (!type.is_signed) {
    *value = is_division ? left / right : left % right;
    return 0;
  }
  if (right == UINT64_MAX && left != 0 &&
      left == uvperf__value_cut(0 - left, type))
    return -EPROTO;
  *value = (uint64_t)(is_division ? (int64_t)left / (int64_t)right
                                  : (int64_t)left % (int64_t)right);
  return 0;
}

static int value_shift(uvperf__operator_t op, uvperf__number_t type,
                       uint64_t left, uint64_t right, uint64_t *value) {
  if (right >= 8 * type.size)
    return -EPROTO;
  if (op == UVPERF__OP_SHIFT_LEFT)
    *value = left << right;
  else if (type.is_signed && left >> 63 != 0)
    *value = ~(~left >> right);
  else
    *value = left >> right;
  return 0;
}

static int value_is_less(uvperf__number_t type, uint64_t left, uint64_t right) {
  return type.is_signed ? (int64_t)left < (int64_t)right : left < right;
}

/* In the type to which C converts both. The comparison itself is an int. */
static int value_compare(const uvperf__node_t *node, uint64_t left,
                         uint64_t right) {
  uvperf__number_t type =
      uvperf__expression_common(node->left->type, node->right->type);

  left = uvperf__value_cut(left, type);
  right = uvperf__value_cut(right, type);
  switch (node->op) {
    case UVPERF__OP_EQUAL:
      return left == right;
    case UVPERF__OP_UNEQUAL:
      return left != right;
    case UVPERF__OP_LESS:
      return value_is_less(type, left, right);
    case UVPERF__OP_GREATER:
      return value_is_less(type, right, left);
    case UVPERF__OP_LESS_EQUAL:
      return !value_is_less(type, right, left);
    default:
      return !value_is_less(type, left, right);
  }
}

/* Of two numbers that were converted to the type of the result. The kernel is
 * built so that signed numbers wrap. */
static int value_combine(const uvperf__node_t *node, uint64_t left,
                         uint64_t right, uint64_t *value) {
  switch (node->op) {
    case UVPERF__OP_BIT_OR:
      *value = left | right;
      return 0;
    case UVPERF__OP_BIT_XOR:
      *value = left ^ right;
      return 0;
    case UVPERF__OP_BIT_AND:
      *value = left & right;
      return 0;
    case UVPERF__OP_ADD:
      *value = left + right;
      return 0;
    case UVPERF__OP_SUBTRACT:
      *value = left - right;
      return 0;
    case UVPERF__OP_MULTIPLY:
      *value = left * right;
      return 0;
    default:
      return value_divide(node->op, node->type, left, right, value);
  }
}

static int value_binary(const uvperf__node_t *node, uvperf__raw_t raw,
                        uint64_t *value) {
  uint64_t left, right;
  int rc = uvperf__value(node->left, raw, &left);

  if (rc != 0)
    return rc;
  if ((node->op == UVPERF__OP_AND && left == 0) ||
      (node->op == UVPERF__OP_OR && left != 0)) {
    *value = left != 0;
    return 0;
  }
  rc = uvperf__value(node->right, raw, &right);
  if (rc != 0)
    return rc;
  if (node->op == UVPERF__OP_AND || node->op == UVPERF__OP_OR) {
    *value = right != 0;
    return 0;
  }
  if (node->op >= UVPERF__OP_EQUAL && node->op <= UVPERF__OP_GREATER) {
    *value = (uint64_t)value_compare(node, left, right);
    return 0;
  }
  left = uvperf__value_cut(left, node->type);
  if (node->op == UVPERF__OP_SHIFT_LEFT || node->op == UVPERF__OP_SHIFT_RIGHT)
    return value_shift(node->op, node->type, left, right, value);
  right = uvperf__value_cut(right, node->type);
  return value_combine(node, left, right, value);
}

static int value_unary(const uvperf__node_t *node, uvperf__raw_t raw,
                       uint64_t *value) {
  uint64_t left;
  int rc = uvperf__value(node->left, raw, &left);

  if (rc != 0)
    return rc;
  if (node->op == UVPERF__OP_NOT)
    *value = left == 0;
  else
    *value = node->op == UVPERF__OP_COMPLEMENT ? ~left : 0 - left;
  return 0;
}

static int value_of(const uvperf__node_t *node, uvperf__raw_t raw,
                    uint64_t *value) {
  const unsigned char *bytes;
  uint64_t left;
  size_t size;
  int rc;

  switch (node->kind) {
    case UVPERF__NODE_NUMBER:
      *value = node->value;
      return 0;
    case UVPERF__NODE_FIELD:
      *value = uvperf_field_load(node->field, raw.bytes);
      return 0;
    case UVPERF__NODE_UNARY:
      return value_unary(node, raw, value);
    case UVPERF__NODE_BINARY:
      return value_binary(node, raw, value);
    case UVPERF__NODE_CAST:
      return uvperf__value(node->left, raw, value);
    case UVPERF__NODE_INDEX:
      return value_index(node, raw, value);
    case UVPERF__NODE_LENGTH:
      rc = uvperf__value_bytes(node, raw, &bytes, &size);
      *value = rc == 0 ? size : 0;
      return rc;
    default: /* UVPERF__NODE_CONDITION */
      rc = uvperf__value(node->left, raw, &left);
      if (rc != 0)
        return rc;
      return uvperf__value(left != 0 ? node->right : node->third, raw, value);
  }
}

int uvperf__value(const uvperf__node_t *node, uvperf__raw_t raw,
                  uint64_t *value) {
  int rc;

  *value = 0;
  rc = value_of(node, raw, value);
  *value = uvperf__value_cut(*value, node->type);
  return rc;
}
