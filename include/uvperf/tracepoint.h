/* SPDX-License-Identifier: MIT */
/* Reads fields of tracepoints by their names. The fields are in the
 * PERF_SAMPLE_RAW data of a record. The tracepoint's `format` file in tracefs
 * describes them. This is a component of its own: uvperf.h does not include
 * this header, and a program must link uvperf_tracepoint too. Needs no libuv.
 *
 *     uvperf_tracepoint_new(&tracepoint, "sched:sched_switch", &error);
 *     next_pid = uvperf_tracepoint_find(tracepoint, "next_pid");
 *     …
 *     uvperf_field_value(next_pid, record->sample.raw.data,
 *                        record->sample.raw.size, &pid);
 *
 * The functions for fields never read outside of the record, whatever its bytes
 * are. These functions use this machine's byte order and size of `long`. The
 * component allocates memory with malloc(3), and not with the allocator of
 * uvperf_replace_allocator.
 *
 * Functions with a const pointer to a tracepoint do not change it, so any
 * number of threads may call them at once. Functions that return int return 0
 * or a negative errno, the same value as libuv's UV_E*, unless their comment
 * says otherwise. */
#ifndef UVPERF_TRACEPOINT_H
#define UVPERF_TRACEPOINT_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "uvperf/error.h"
#include "uvperf/version.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The kinds of a field, as bits. */
enum uvperf_field_flag {
  /* An integer, bool, enum or pointer of 1, 2, 4 or 8 bytes, for
   * uvperf_field_value. */
  UVPERF_FIELD_VALUE = 1,
  /* The value, or each element, is signed. */
  UVPERF_FIELD_SIGNED = 2,
  /* An array of char, for uvperf_field_string. */
  UVPERF_FIELD_STRING = 4,
  /* An array, strings included. */
  UVPERF_FIELD_ARRAY = 8,
  /* __data_loc or __rel_loc. The field itself only says where in the record its
   * bytes are, and how many. */
  UVPERF_FIELD_DYNAMIC = 16,
  /* __rel_loc. UVPERF_FIELD_DYNAMIC is set too. The place is counted from the
   * end of the field. */
  UVPERF_FIELD_RELATIVE = 32,
  /* A pointer, or an array of pointers, to memory of the kernel or of the
   * traced task. The memory is not in the record. */
  UVPERF_FIELD_POINTER = 64,
  /* A field that every tracepoint has, such as common_pid. */
  UVPERF_FIELD_COMMON = 128
};

/* A field. The field and its texts belong to its tracepoint. */
typedef struct uvperf_field_s {
  const char *name; /* for example "prev_pid" */
  /* The type in the format file, with brackets at the end: "char[16]",
   * "__data_loc char[]", "const char *". */
  const char *type;
  /* offset is in bytes, from the start of the raw data. size is the
   * number of bytes there. A dynamic field has 4 bytes there, which point to
   * its data. */
  uint32_t offset;
  uint32_t size;
  /* Bytes of one element of an array. The same as size if the field is not an
   * array. 0 if unknown. */
  uint32_t element_size;
  /* The number of elements of an array. 1 if the field is not an array. 0 if
   * unknown, or if each record has its own number (dynamic). */
  uint32_t count;
  /* enum uvperf_field_flag. */
  uint32_t flags;
  uint32_t reserved32;
  uint64_t reserved[3];
} uvperf_field_t;

/* A tracepoint and its fields. Opaque. */
typedef struct uvperf_tracepoint_s uvperf_tracepoint_t;

/** Looks up a tracepoint of this machine in tracefs.
 *  @param tracepoint  Receives the tracepoint, NULL on error. Free it with
 *    uvperf_tracepoint_free.
 *  @param name        "category:event", such as "sched:sched_switch".
 *  @param error       May be NULL.
 *  @return 0, or
 *    -ENOENT  there is no such tracepoint;
 *    -EACCES  this process may not read tracefs. By default only root may;
 *    -ENODEV  tracefs is not mounted;
 *    -EINVAL  an argument is NULL, or the name does not have that form;
 *    -EPROTO  the format file does not have the kernel's form;
 *    -EFBIG   the file has more than 256 KiB;
 *    -ENOMEM  out of memory;
 *    another  the error of reading tracefs.
 *  Source: Documentation/trace/events.rst of Linux, "Event formats". */
UVPERF_EXTERN int uvperf_tracepoint_new(uvperf_tracepoint_t **tracepoint,
                                        const char *name,
                                        uvperf_error_t *error);

/** Makes a tracepoint from the text of a format file, for records of another
 *  machine or another time.
 *  @param tracepoint  Receives the tracepoint, NULL on error. Free it with
 *    uvperf_tracepoint_free.
 *  @param category    For uvperf_tracepoint_info_t; copied. NULL means "".
 *  @param text        Copied; it need not end in NUL.
 *  @param bytes       Bytes of text, at most 256 KiB.
 *  @param error       May be NULL. `column` is the first wrong byte of the
 *    text, from 1.
 *  @return 0, or
 *    -EPROTO  the text does not have the kernel's form;
 *    -EFBIG   the text is too long;
 *    -EINVAL  tracepoint or text is NULL;
 *    -ENOMEM  out of memory.
 *  Source: kernel/trace/trace_events.c, f_show. */
UVPERF_EXTERN int
uvperf_tracepoint_new_from_format(uvperf_tracepoint_t **tracepoint,
                                  const char *category, const char *text,
                                  size_t bytes, uvperf_error_t *error);

/** Frees a tracepoint and its fields.
 *  @param tracepoint  May be NULL. */
UVPERF_EXTERN void uvperf_tracepoint_free(uvperf_tracepoint_t *tracepoint);

/* What a format file says of its tracepoint. */
typedef struct uvperf_tracepoint_info_s {
  uint64_t id;          /* for attr.config (see uvperf_attr_tracepoint) */
  const char *name;     /* the part after the colon, such as "sched_switch" */
  const char *category; /* the part before the colon; "" without a category */
  /* In the order of the format file, including the fields that every tracepoint
   * has. */
  const uvperf_field_t *fields;
  size_t nr_fields;
  uint64_t reserved[4];
} uvperf_tracepoint_info_t;

/** Describes a tracepoint.
 *  @param tracepoint  The tracepoint.
 *  @return the description, owned by the tracepoint and valid as long as it. */
UVPERF_EXTERN const uvperf_tracepoint_info_t *
uvperf_tracepoint_info(const uvperf_tracepoint_t *tracepoint);

/** Finds a field by its name. Do this once, not for each record.
 *  @param tracepoint  The tracepoint.
 *  @param name        For example "prev_comm".
 *  @return the field, valid as long as the tracepoint; NULL if there is no such
 *    field. */
UVPERF_EXTERN const uvperf_field_t *
uvperf_tracepoint_find(const uvperf_tracepoint_t *tracepoint, const char *name);

/** Returns whether raw data is a record of this tracepoint, with all of its
 *  fields. If the raw data is such a record, uvperf_field_load may be used.
 *  @param tracepoint  The tracepoint.
 *  @param raw         record->sample.raw.data; may be NULL.
 *  @param raw_size    Bytes: record->sample.raw.size.
 *  @return 1 or 0. */
UVPERF_EXTERN int uvperf_tracepoint_fits(const uvperf_tracepoint_t *tracepoint,
                                         const void *raw, size_t raw_size);

/** Writes the text that the kernel prints for a record: the "print fmt" of the
 *  format file, with the record's values. A function (%pS), and a string that
 *  the record only points to, are printed as addresses. %p prints the pointer
 *  as perf script does, and not a hash of it. Any format and any record are
 *  safe. If only the kernel can evaluate the "print fmt", for example a call of
 *  its functions, the result is -ENOTSUP: print the fields instead.
 *  @param tracepoint  The tracepoint. The first call for it takes more time.
 *  @param raw         record->sample.raw.data.
 *  @param raw_size    Bytes: record->sample.raw.size.
 *  @param text        Caller's; receives the terminated text. May be NULL if
 *    *size is 0.
 *  @param size        Bytes of `text`; receives the number of bytes needed,
 *    including the ending NUL.
 *  @return 0, or, with `text` and *size unchanged (except by -ENOBUFS),
 *    -ENOBUFS  `text` is too small: *size is the size it needs;
 *    -EPROTO   the raw data does not fit (see uvperf_tracepoint_fits), a
 *      dynamic field is outside of it, or no kernel writes such a record: the
 *      text would divide by zero, read outside of a field, or be too long;
 *    -ENOTSUP  the "print fmt" is missing or cannot be evaluated here;
 *    -EINVAL   a pointer is NULL;
 *    -ENOMEM   out of memory.
 *  Source: kernel/trace/trace_output.c and lib/vsprintf.c of Linux. */
UVPERF_EXTERN int uvperf_tracepoint_print(uvperf_tracepoint_t *tracepoint,
                                          const void *raw, size_t raw_size,
                                          char *text, size_t *size);

/** Reads a value with one load and without checks.
 *  @param field  A field with UVPERF_FIELD_VALUE. For other fields the result
 *    means nothing.
 *  @param raw    Raw data that uvperf_tracepoint_fits accepts, with any
 *    alignment.
 *  @return the value; a signed value is sign-extended. */
static inline uint64_t uvperf_field_load(const uvperf_field_t *field,
                                         const void *raw) {
  const unsigned char *at = (const unsigned char *)raw + field->offset;
  int is_signed = (field->flags & UVPERF_FIELD_SIGNED) != 0;
  uint64_t u64;
  uint32_t u32;
  uint16_t u16;

  switch (field->size) {
    case 8:
      memcpy(&u64, at, sizeof(u64));
      return u64;
    case 4:
      memcpy(&u32, at, sizeof(u32));
      return is_signed ? (uint64_t)(int64_t)(int32_t)u32 : u32;
    case 2:
      memcpy(&u16, at, sizeof(u16));
      return is_signed ? (uint64_t)(int64_t)(int16_t)u16 : u16;
    case 1:
      return is_signed ? (uint64_t)(int64_t)(int8_t)at[0] : at[0];
    default:
      return 0;
  }
}

/** Reads a value.
 *  @param field     The field.
 *  @param raw       record->sample.raw.data, with any alignment.
 *  @param raw_size  Bytes: record->sample.raw.size.
 *  @param value     Receives the value, unchanged on error. A signed value is
 *    sign-extended: cast it to int64_t.
 *  @return 0, or
 *    -EINVAL  the field is not a value (UVPERF_FIELD_VALUE);
 *    -EPROTO  the raw data ends before the field does. */
static inline int uvperf_field_value(const uvperf_field_t *field,
                                     const void *raw, size_t raw_size,
                                     uint64_t *value) {
  if ((field->flags & UVPERF_FIELD_VALUE) == 0)
    return -EINVAL;
  if (raw_size < (uint64_t)field->offset + field->size)
    return -EPROTO;
  *value = uvperf_field_load(field, raw);
  return 0;
}

/** Finds the bytes of a field. For a dynamic field these are the bytes that it
 *  points to.
 *  @param field     A field of any kind.
 *  @param raw       record->sample.raw.data.
 *  @param raw_size  Bytes: record->sample.raw.size.
 *  @param bytes     Receives the address of the bytes in raw, with any
 *    alignment.
 *  @param size      Receives the number of bytes, which may be 0.
 *  @return 0, or
 *    -EPROTO  the field or its bytes are outside of the raw data; *bytes and
 *      *size are unchanged.
 *  Source: include/trace/stages/stage1_struct_define.h, __data_loc, __rel_loc.
 */
UVPERF_EXTERN int uvperf_field_bytes(const uvperf_field_t *field,
                                     const void *raw, size_t raw_size,
                                     const void **bytes, size_t *size);

/** Finds a string: the bytes of an array of char up to the first NUL, or all
 *  bytes without a NUL.
 *  @param field     The field.
 *  @param raw       record->sample.raw.data.
 *  @param raw_size  Bytes: record->sample.raw.size.
 *  @param text      Receives the address of the string in raw. The string need
 *    not be terminated.
 *  @param length    Receives the length in bytes, without a NUL.
 *  @return 0, or, with *text and *length unchanged,
 *    -EINVAL  the field is not a string (UVPERF_FIELD_STRING), for example
 *      because it is a pointer to a string;
 *    -EPROTO  as uvperf_field_bytes. */
UVPERF_EXTERN int uvperf_field_string(const uvperf_field_t *field,
                                      const void *raw, size_t raw_size,
                                      const char **text, size_t *length);

/** Reads an element of an array of integers or pointers. A value is an array
 *  with one element.
 *  @param field     The field.
 *  @param raw       record->sample.raw.data.
 *  @param raw_size  Bytes: record->sample.raw.size.
 *  @param index     From 0.
 *  @param value     Receives the element, unchanged on error. A signed element
 *    is sign-extended.
 *  @return 0, or
 *    -ENOENT  the array has no such element;
 *    -EINVAL  the size of elements is unknown, or not 1, 2, 4 or 8 bytes;
 *    -EPROTO  as uvperf_field_bytes. */
UVPERF_EXTERN int uvperf_field_element(const uvperf_field_t *field,
                                       const void *raw, size_t raw_size,
                                       size_t index, uint64_t *value);

#ifdef __cplusplus
}
#endif

#endif
