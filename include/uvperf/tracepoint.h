/* SPDX-License-Identifier: MIT */
/* Fields of a tracepoint by name: reads the PERF_SAMPLE_RAW data of a record by
 * what the tracepoint's `format` file in tracefs says of it. A component of its
 * own, which uvperf.h does not include: link uvperf_tracepoint too. Needs no
 * libuv, and no header of libtraceevent.
 *
 *     uvperf_tracepoint_new(&tracepoint, "sched:sched_switch", &error);
 *     next_pid = uvperf_tracepoint_find(tracepoint, "next_pid");
 *     …
 *     uvperf_field_value(next_pid, record->sample.raw.data,
 *                        record->sample.raw.size, &pid);
 *
 * No bytes of a record make the functions of fields read outside of it. Records
 * are read in the byte order and with the size of `long` of this machine. What
 * is allocated here comes from malloc(3), not from the functions given to
 * uvperf_replace_allocator: libtraceevent takes its memory from there as well.
 *
 * A tracepoint is not changed by what takes a const pointer to it, which any
 * number of threads may do at once. Functions that return int return 0 or a
 * negative errno, the same value as libuv's UV_E*, unless they say
 * otherwise. */
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

/* What a field is. */
enum uvperf_field_flag {
  /* An integer, bool, enum or pointer of 1, 2, 4 or 8 bytes, which
   * uvperf_field_value reads. */
  UVPERF_FIELD_VALUE = 1,
  /* Its value, or each of its elements, is signed. */
  UVPERF_FIELD_SIGNED = 2,
  /* An array of char, which uvperf_field_string reads. */
  UVPERF_FIELD_STRING = 4,
  /* An array, strings included. */
  UVPERF_FIELD_ARRAY = 8,
  /* __data_loc and __rel_loc: the field itself only tells where in the record
   * its bytes are, and how many. */
  UVPERF_FIELD_DYNAMIC = 16,
  /* __rel_loc, beside UVPERF_FIELD_DYNAMIC: the place is counted from the end
   * of the field. */
  UVPERF_FIELD_RELATIVE = 32,
  /* A pointer, or an array of pointers: addresses of the kernel or of the
   * traced task. What they point to is not in the record. */
  UVPERF_FIELD_POINTER = 64,
  /* One of those that every tracepoint has, such as common_pid. */
  UVPERF_FIELD_COMMON = 128
};

/* A field, which belongs to its tracepoint, as do its texts. */
typedef struct uvperf_field_s {
  const char *name; /* "prev_pid" */
  /* As the format file has it, brackets behind it: "char[16]", "__data_loc
   * char[]", "const char *". */
  const char *type;
  /* Bytes from the start of the raw data, and in it. A dynamic field has 4
   * there, which tell where its bytes are. */
  uint32_t offset;
  uint32_t size;
  /* Bytes of an element of an array, the size of what is no array; 0: not
   * known. */
  uint32_t element_size;
  /* Elements of an array, 1 of what is no array; 0: not known, or told by each
   * record (dynamic). */
  uint32_t count;
  /* enum uvperf_field_flag. */
  uint32_t flags;
  uint32_t reserved32;
  uint64_t reserved[3];
} uvperf_field_t;

/* A tracepoint and its fields. Opaque. */
typedef struct uvperf_tracepoint_s uvperf_tracepoint_t;

/** Looks a tracepoint of this machine up in tracefs.
 *  @param tracepoint  Receives the tracepoint, to be freed by
 *    uvperf_tracepoint_free; NULL on error.
 *  @param name        "category:event", as in "sched:sched_switch".
 *  @param error       May be NULL.
 *  @return 0, or
 *    -EINVAL  an argument is NULL, or the name is not of that form;
 *    -ENODEV  tracefs is not mounted;
 *    -EACCES  tracefs may not be read, which only root may by default;
 *    -ENOENT  there is no such tracepoint;
 *    -EPROTO  its format file is not of the form that the kernel gives it;
 *    -EFBIG   it is of more than 256 KiB;
 *    -ENOMEM  no memory;
 *    another -errno with which tracefs could not be read.
 *  Source: Documentation/trace/events.rst of Linux, "Event formats". */
UVPERF_EXTERN int uvperf_tracepoint_new(uvperf_tracepoint_t **tracepoint,
                                        const char *name,
                                        uvperf_error_t *error);

/** Makes a tracepoint of the text of a format file, for records of another
 *  machine or of another time.
 *  @param tracepoint  Receives the tracepoint, to be freed by
 *    uvperf_tracepoint_free; NULL on error.
 *  @param category    What uvperf_tracepoint_category gives; NULL is "".
 *  @param text        Is copied; need not end in NUL.
 *  @param bytes       Bytes of text, at most 256 KiB.
 *  @param error       May be NULL. Its column is the byte of the text at which
 *    the text went wrong, counted from 1.
 *  @return 0, or
 *    -EINVAL  tracepoint or text is NULL;
 *    -EPROTO  the text is not of the form that the kernel gives it;
 *    -EFBIG   it is too long;
 *    -ENOMEM  no memory.
 *  Source: kernel/trace/trace_events.c, f_show. */
UVPERF_EXTERN int
uvperf_tracepoint_new_from_format(uvperf_tracepoint_t **tracepoint,
                                  const char *category, const char *text,
                                  size_t bytes, uvperf_error_t *error);

/** Frees a tracepoint with its fields.
 *  @param tracepoint  May be NULL. */
UVPERF_EXTERN void uvperf_tracepoint_free(uvperf_tracepoint_t *tracepoint);

/** The number that attr.config wants (see uvperf_attr_tracepoint).
 *  @param tracepoint  Whose.
 *  @return the id that the format file tells. */
UVPERF_EXTERN uint64_t
uvperf_tracepoint_id(const uvperf_tracepoint_t *tracepoint);

/** The name behind the colon.
 *  @param tracepoint  Whose.
 *  @return the name that the format file tells, as "sched_switch"; lives as
 *    long as the tracepoint. */
UVPERF_EXTERN const char *
uvperf_tracepoint_name(const uvperf_tracepoint_t *tracepoint);

/** The name before the colon.
 *  @param tracepoint  Whose.
 *  @return for example "sched", "" if none was given; lives as long as the
 *    tracepoint. */
UVPERF_EXTERN const char *
uvperf_tracepoint_category(const uvperf_tracepoint_t *tracepoint);

/** How many fields it has, those that every tracepoint has included.
 *  @param tracepoint  Whose.
 *  @return their number. */
UVPERF_EXTERN size_t
uvperf_tracepoint_count(const uvperf_tracepoint_t *tracepoint);

/** One field after the other, in the order of the format file.
 *  @param tracepoint  Whose.
 *  @param index       From 0.
 *  @return the field, which lives as long as the tracepoint; NULL from the
 *    number of fields on. */
UVPERF_EXTERN const uvperf_field_t *
uvperf_tracepoint_field(const uvperf_tracepoint_t *tracepoint, size_t index);

/** Finds a field by its name. Do it once, not for each record.
 *  @param tracepoint  Whose.
 *  @param name        As "prev_comm", terminated.
 *  @return the field, which lives as long as the tracepoint; NULL: it has none
 *    of that name. */
UVPERF_EXTERN const uvperf_field_t *
uvperf_tracepoint_find(const uvperf_tracepoint_t *tracepoint, const char *name);

/** Whether raw data is of this tracepoint, and long enough for each of its
 *  fields: then uvperf_field_load may be used.
 *  @param tracepoint  Whose.
 *  @param raw         record->sample.raw.data; may be NULL.
 *  @param raw_size    Bytes: record->sample.raw.size.
 *  @return 1 or 0. */
UVPERF_EXTERN int uvperf_tracepoint_fits(const uvperf_tracepoint_t *tracepoint,
                                         const void *raw, size_t raw_size);

/** Writes what perf script prints of a record behind the name of its event: the
 *  "print fmt" of the format file, filled in by libtraceevent without plug-ins.
 *  libtraceevent trusts what it reads: both the format and the record must be
 *  of a kernel. (Of the record only the fixed fields and the places of the
 *  dynamic ones are checked, not the numbers that the "print fmt" takes for the
 *  length of something.) Neither is it written for several threads: call this
 *  from one at a time, whatever the tracepoint.
 *  @param tracepoint  Whose; its first text takes some time.
 *  @param raw         record->sample.raw.data.
 *  @param raw_size    Bytes: record->sample.raw.size.
 *  @param text        Caller's; receives the text, terminated. May be NULL if
 *    *size is 0.
 *  @param size        Bytes of `text`; receives the bytes needed, with the
 *    ending NUL.
 *  @return 0, or, with `text` and, but for -ENOBUFS, *size left alone,
 *    -ENOBUFS  `text` is too small: *size is what it needs;
 *    -EPROTO   the raw data does not fit (see uvperf_tracepoint_fits), or a
 *      dynamic field lies outside of it;
 *    -EINVAL   a pointer is NULL;
 *    -ENOMEM   no memory.
 *    A "print fmt" that libtraceevent does not understand is no error: its text
 *    begins with " [FAILED TO PARSE]" and gives each field.
 *  Source: tep_print_event(3). */
UVPERF_EXTERN int uvperf_tracepoint_print(uvperf_tracepoint_t *tracepoint,
                                          const void *raw, size_t raw_size,
                                          char *text, size_t *size);

/** Reads a value without looking whether it is there: one load.
 *  @param field  With UVPERF_FIELD_VALUE; of others the result is of no use.
 *  @param raw    Raw data that uvperf_tracepoint_fits; of any alignment.
 *  @return the value; a signed one is sign-extended. */
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
 *  @param field     What to read.
 *  @param raw       record->sample.raw.data; of any alignment.
 *  @param raw_size  Bytes: record->sample.raw.size.
 *  @param value     Receives the value, a signed one sign-extended: cast it to
 *    int64_t. Unchanged on error.
 *  @return 0, or
 *    -EINVAL  the field is no value (UVPERF_FIELD_VALUE);
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

/** Reads the bytes of a field; of a dynamic one those that it tells of.
 *  @param field     What to read, of any kind.
 *  @param raw       record->sample.raw.data.
 *  @param raw_size  Bytes: record->sample.raw.size.
 *  @param bytes     Receives where they are in raw, of any alignment.
 *  @param size      Receives their number, which may be 0.
 *  @return 0, or
 *    -EPROTO  the field or its bytes lie outside of the raw data; *bytes and
 *      *size are unchanged.
 *  Source: include/trace/stages/stage1_struct_define.h, __data_loc, __rel_loc.
 */
UVPERF_EXTERN int uvperf_field_bytes(const uvperf_field_t *field,
                                     const void *raw, size_t raw_size,
                                     const void **bytes, size_t *size);

/** Reads a string: the bytes of an array of char up to the first NUL, or all if
 *  there is none.
 *  @param field     What to read.
 *  @param raw       record->sample.raw.data.
 *  @param raw_size  Bytes: record->sample.raw.size.
 *  @param text      Receives where it is in raw. Not always terminated.
 *  @param length    Receives its bytes, a NUL not counted.
 *  @return 0, or
 *    -EINVAL  the field is no string (UVPERF_FIELD_STRING), as a pointer to
 *      one;
 *    -EPROTO  as of uvperf_field_bytes. *text and *length are unchanged on
 *      error. */
UVPERF_EXTERN int uvperf_field_string(const uvperf_field_t *field,
                                      const void *raw, size_t raw_size,
                                      const char **text, size_t *length);

/** Reads an element of an array of integers or pointers; of a value the element
 *  0.
 *  @param field     What to read.
 *  @param raw       record->sample.raw.data.
 *  @param raw_size  Bytes: record->sample.raw.size.
 *  @param index     From 0.
 *  @param value     Receives the element, a signed one sign-extended. Unchanged
 *    on error.
 *  @return 0, or
 *    -EINVAL  its elements are not known to be of 1, 2, 4 or 8 bytes;
 *    -ENOENT  the array has no such element;
 *    -EPROTO  as of uvperf_field_bytes. */
UVPERF_EXTERN int uvperf_field_element(const uvperf_field_t *field,
                                       const void *raw, size_t raw_size,
                                       size_t index, uint64_t *value);

#ifdef __cplusplus
}
#endif

#endif
