/* SPDX-License-Identifier: MIT */
/* The way to print each field is determined once, not for each hit. */
#include "trace/fields_named.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/name.h"

/* The limit for a format from a file. Linux has formats of up to about 60. */
#define MAX_FIELDS 256

typedef enum field_kind_e {
  FIELD_NUMBER,
  FIELD_ADDRESS,
  FIELD_STRING,
  FIELD_NUMBERS,
  FIELD_ADDRESSES,
  FIELD_BYTES
} field_kind_t;

typedef struct field_plan_s {
  const uvperf_field_t *field;
  field_kind_t kind;
  int is_signed;
  unsigned bits; /* the low bits of a number that have a meaning; 64: all */
} field_plan_t;

struct trace_fields_s {
  uvperf_tracepoint_t *tracepoint; /* NULL: print bytes */
  field_plan_t *plan;
  size_t nr;
  common_buffer_t string; /* a terminated copy */
};

/* The arguments of a system call are registers, and the format file calls all
 * of them unsigned (kernel/trace/trace_syscalls.c,
 * syscall_enter_define_fields). If the argument is smaller than the register,
 * the register's upper bits mean nothing. */
static const struct {
  const char *type;
  unsigned bits;
  int is_signed;
} arguments[] = {
    {"int", 32, 1},          {"pid_t", 32, 1},
    {"key_t", 32, 1},        {"mqd_t", 32, 1},
    {"qid_t", 32, 1},        {"timer_t", 32, 1},
    {"rwf_t", 32, 1},        {"const clockid_t", 32, 1},
    {"clockid_t", 32, 1},    {"key_serial_t", 32, 1},
    {"long", 64, 1},         {"loff_t", 64, 1},
    {"off_t", 64, 1},        {"ssize_t", 64, 1},
    {"unsigned int", 32, 0}, {"unsigned", 32, 0},
    {"uint", 32, 0},         {"u32", 32, 0},
    {"__u32", 32, 0},        {"uint32_t", 32, 0},
    {"uid_t", 32, 0},        {"gid_t", 32, 0},
    {"umode_t", 16, 0},
};

static int has_elements(const uvperf_field_t *field) {
  return field->element_size == 2 || field->element_size == 4 ||
         field->element_size == 8;
}

static field_kind_t kind_of(const uvperf_field_t *field) {
  int is_pointer = (field->flags & UVPERF_FIELD_POINTER) != 0;

  if ((field->flags & UVPERF_FIELD_STRING) != 0)
    return FIELD_STRING;
  if ((field->flags & UVPERF_FIELD_VALUE) != 0)
    return is_pointer ? FIELD_ADDRESS : FIELD_NUMBER;
  if ((field->flags & UVPERF_FIELD_ARRAY) != 0 && has_elements(field))
    return is_pointer ? FIELD_ADDRESSES : FIELD_NUMBERS;
  return FIELD_BYTES;
}

static void plan_argument(field_plan_t *plan) {
  size_t i;

  for (i = 0; i < sizeof(arguments) / sizeof(arguments[0]); i++) {
    if (strcmp(plan->field->type, arguments[i].type) == 0) {
      plan->bits = arguments[i].bits;
      plan->is_signed = arguments[i].is_signed;
      return;
    }
  }
}

/* Leaves out two kinds of fields: the fields that each tracepoint has, because
 * the record has them too, and the number of the system call, because the
 * event's name shows it. */
static int is_wanted(const uvperf_field_t *field) {
  return (field->flags & UVPERF_FIELD_COMMON) == 0 &&
         strcmp(field->name, "__syscall_nr") != 0;
}

static void make_plan(trace_fields_t *fields) {
  size_t i, nr = uvperf_tracepoint_info(fields->tracepoint)->nr_fields;
  const uvperf_field_t *field;
  field_plan_t *plan;
  int is_call = strncmp(uvperf_tracepoint_info(fields->tracepoint)->name,
                        "sys_enter_", strlen("sys_enter_")) == 0;

  fields->plan = common_calloc(nr + 1, sizeof(*fields->plan));
  for (i = 0; i < nr; i++) {
    field = &uvperf_tracepoint_info(fields->tracepoint)->fields[i];
    if (!is_wanted(field))
      continue;
    plan = &fields->plan[fields->nr++];
    plan->field = field;
    plan->kind = kind_of(field);
    plan->bits = 64;
    plan->is_signed = (field->flags & UVPERF_FIELD_SIGNED) != 0;
    if (is_call && field->size == sizeof(uint64_t))
      plan_argument(plan);
  }
}

trace_fields_t *trace_fields_of(uvperf_tracepoint_t *tracepoint) {
  trace_fields_t *fields = common_calloc(1, sizeof(*fields));

  fields->tracepoint = tracepoint;
  make_plan(fields);
  return fields;
}

int trace_fields_new(trace_fields_t **fields, const char *name,
                     uvperf_error_t *error) {
  uvperf_tracepoint_t *tracepoint;
  int rc = uvperf_tracepoint_new(&tracepoint, name, error);

  *fields = rc == 0 ? trace_fields_of(tracepoint) : NULL;
  return rc;
}

/* Limits the number of fields, because each field can be as long as a record,
 * and fields can overlap. */
void trace_fields_of_text(trace_fields_t **fields, const char *text,
                          size_t bytes, uvperf_error_t *error) {
  uvperf_tracepoint_t *tracepoint = NULL;

  if (text != NULL &&
      uvperf_tracepoint_new_from_format(&tracepoint, NULL, text, bytes,
                                        error) == 0 &&
      uvperf_tracepoint_info(tracepoint)->nr_fields > MAX_FIELDS) {
    snprintf(error->reason, sizeof(error->reason), "more than %d fields",
             MAX_FIELDS);
    uvperf_tracepoint_free(tracepoint);
    tracepoint = NULL;
  }
  *fields = tracepoint != NULL ? trace_fields_of(tracepoint)
                               : common_calloc(1, sizeof(**fields));
}

void trace_fields_free(trace_fields_t *fields) {
  if (fields == NULL)
    return;
  uvperf_tracepoint_free(fields->tracepoint);
  free(fields->plan);
  common_buffer_free(&fields->string);
  free(fields);
}

const struct uvperf_field_s *trace_fields_find(const trace_fields_t *fields,
                                               const char *name) {
  return fields->tracepoint == NULL
             ? NULL
             : uvperf_tracepoint_find(fields->tracepoint, name);
}

static void put_number(common_buffer_t *buffer, const field_plan_t *plan,
                       uint64_t value) {
  if (plan->bits < 64)
    value &= (UINT64_C(1) << plan->bits) - 1;
  if (plan->bits == 32 && plan->is_signed)
    value = (uint64_t)(int64_t)(int32_t)value;
  if (plan->is_signed && (int64_t)value < 0) {
    common_buffer_text(buffer, "-");
    value = 0 - value;
  }
  common_buffer_number(buffer, value, 1);
}

static void put_address(common_buffer_t *buffer, uint64_t value, int json) {
  common_buffer_text(buffer, json ? "\"0x" : "0x");
  common_buffer_hex(buffer, value);
  if (json)
    common_buffer_text(buffer, "\"");
}

static void put_elements(common_buffer_t *buffer, const field_plan_t *plan,
                         const void *raw, size_t size, int json) {
  uint64_t value;
  size_t i;

  common_buffer_add(buffer, "[", 1);
  for (i = 0; uvperf_field_element(plan->field, raw, size, i, &value) == 0;
       i++) {
    if (i > 0)
      common_buffer_add(buffer, ",", 1);
    if (plan->kind == FIELD_ADDRESSES)
      put_address(buffer, value, json);
    else
      put_number(buffer, plan, value);
  }
  common_buffer_add(buffer, "]", 1);
}

/* Returns "" if the string is outside of the record. */
static const char *string_of(trace_fields_t *fields, const field_plan_t *plan,
                             const void *raw, size_t size) {
  const char *text;
  size_t length;

  fields->string.used = 0;
  if (uvperf_field_string(plan->field, raw, size, &text, &length) == 0)
    common_buffer_add(&fields->string, text, length);
  common_buffer_add(&fields->string, "", 1);
  return fields->string.text;
}

/* Adds a value that is not a string. */
static void put_value(const field_plan_t *plan, common_buffer_t *buffer,
                      const void *raw, size_t size, int json) {
  const char *quote = json ? "\"" : "";
  const void *bytes;
  size_t nr;

  switch (plan->kind) {
    case FIELD_NUMBER:
      put_number(buffer, plan, uvperf_field_load(plan->field, raw));
      break;
    case FIELD_ADDRESS:
      put_address(buffer, uvperf_field_load(plan->field, raw), json);
      break;
    case FIELD_NUMBERS:
    case FIELD_ADDRESSES:
      put_elements(buffer, plan, raw, size, json);
      break;
    default:
      common_buffer_text(buffer, quote);
      if (uvperf_field_bytes(plan->field, raw, size, &bytes, &nr) == 0)
        common_buffer_bytes(buffer, bytes, nr);
      common_buffer_text(buffer, quote);
      break;
  }
}

static void put_text(trace_fields_t *fields, const field_plan_t *plan,
                     common_buffer_t *buffer, const void *raw, size_t size) {
  common_buffer_text(buffer, " ");
  common_buffer_text(buffer, plan->field->name);
  common_buffer_text(buffer, "=");
  if (plan->kind == FIELD_STRING)
    common_name_quoted(buffer, string_of(fields, plan, raw, size));
  else
    put_value(plan, buffer, raw, size, 0);
}

static void put_json(trace_fields_t *fields, const field_plan_t *plan,
                     common_buffer_t *buffer, const void *raw, size_t size) {
  if (plan->kind == FIELD_STRING) {
    common_name_json(buffer, plan->field->name,
                     string_of(fields, plan, raw, size));
    return;
  }
  common_buffer_text(buffer, ",\"");
  common_buffer_text(buffer, plan->field->name);
  common_buffer_text(buffer, "\":");
  put_value(plan, buffer, raw, size, 1);
}

static int fits(const trace_fields_t *fields, const void *raw, size_t size) {
  return fields->tracepoint != NULL &&
         uvperf_tracepoint_fits(fields->tracepoint, raw, size);
}

void trace_fields_text(trace_fields_t *fields, common_buffer_t *buffer,
                       const void *raw, size_t size) {
  size_t i;

  if (!fits(fields, raw, size)) {
    common_buffer_text(buffer, " raw=");
    common_buffer_bytes(buffer, raw, size);
    return;
  }
  for (i = 0; i < fields->nr; i++)
    put_text(fields, &fields->plan[i], buffer, raw, size);
}

void trace_fields_json(trace_fields_t *fields, common_buffer_t *buffer,
                       const void *raw, size_t size) {
  size_t i, first;

  if (!fits(fields, raw, size)) {
    common_buffer_text(buffer, ",\"raw\":\"");
    common_buffer_bytes(buffer, raw, size);
    common_buffer_text(buffer, "\"");
    return;
  }
  common_buffer_text(buffer, ",\"fields\":");
  first = buffer->used;
  for (i = 0; i < fields->nr; i++)
    put_json(fields, &fields->plan[i], buffer, raw, size);
  /* The comma of the first member becomes the brace before it. */
  if (fields->nr == 0)
    common_buffer_text(buffer, "{");
  else
    buffer->text[first] = '{';
  common_buffer_text(buffer, "}");
}

int trace_fields_print(trace_fields_t *fields, common_buffer_t *buffer,
                       const void *raw, size_t size) {
  size_t room;
  int rc;

  do {
    room = buffer->capacity;
    rc = uvperf_tracepoint_print(fields->tracepoint, raw, size, buffer->text,
                                 &room);
    if (rc == -ENOBUFS)
      common_buffer_reserve(buffer, room);
  } while (rc == -ENOBUFS);
  if (rc == 0)
    buffer->used = room;
  return rc;
}
