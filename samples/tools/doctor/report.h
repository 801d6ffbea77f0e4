/* SPDX-License-Identifier: MIT */
/* The results, in the order in which they are printed. */
#ifndef DOCTOR_REPORT_H
#define DOCTOR_REPORT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "uvperf.h"

typedef enum doctor_result_e {
  DOCTOR_YES,
  DOCTOR_NO,
  DOCTOR_UNKNOWN, /* it could not be tried */
  DOCTOR_FACT     /* a value, without a check */
} doctor_result_t;

typedef struct doctor_item_s {
  const char *group; /* static, as the next two; the keys of JSON */
  const char *key;
  const char *title;
  doctor_result_t result;
  /* The value, if any: a number with a unit ("" for none), or text. */
  int has_number;
  int64_t number;
  const char *unit;
  char text[512];
  /* For NO and UNKNOWN. */
  uvperf_error_t error;
  char remedy[192];
} doctor_item_t;

typedef struct doctor_report_s {
  doctor_item_t *items;
  size_t nr;
  size_t capacity;
} doctor_report_t;

/* Adds an item without a value. The pointer is valid until the next item is
 * added. */
doctor_item_t *doctor_report_add(doctor_report_t *report, const char *group,
                                 const char *key, const char *title,
                                 doctor_result_t result);

/* Set the value of an item. */
void doctor_item_number(doctor_item_t *item, int64_t number, const char *unit);
void doctor_item_text(doctor_item_t *item, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void doctor_report_free(doctor_report_t *report);

/* Prints the report as text: a line for each item, and the reason for each
 * no. */
void doctor_report_print_text(const doctor_report_t *report, FILE *file);

/* The same as one object of JSON. */
void doctor_report_print_json(const doctor_report_t *report, FILE *file);

#endif
