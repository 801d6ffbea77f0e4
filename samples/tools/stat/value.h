/* SPDX-License-Identifier: MIT */
/* How a line is shown, in any format. */
#ifndef STAT_VALUE_H
#define STAT_VALUE_H

#include "stat/report.h"

/* Room for a number; longer ones are cut. */
#define STAT_NUMBER_BYTES 400

/* Returns 1 if a line does not exist, because its event is deliberately not
 * measured on this CPU. */
int stat_value_is_none(const stat_report_t *report, const stat_line_t *line);

/* Returns 1 if a line is not shown. */
int stat_value_is_hidden(const stat_report_t *report, const stat_line_t *line);

/* Places are sorted by id. stat_place_find returns NULL if no place has the
 * id. */
int stat_place_compare(const void *left, const void *right);
const stat_place_t *stat_place_find(const stat_place_t *places, size_t nr,
                                    int32_t id);

/* Returns the name of a group of CPUs: "core", "die"…, or NULL for other
 * places. */
const char *stat_value_group(enum stat_by by);

/* Returns the name of a line's core or thread, or "" for none. */
const char *stat_value_place(const stat_report_t *report,
                             const stat_line_t *line);

/* Returns 1 if anything was counted. The count is unknown if the event was
 * never on a counter or its task never ran. */
int stat_value_is_counted(const stat_line_t *line);

/* Returns the word that stands in place of the value, for a line without a
 * count. */
const char *stat_value_word(const stat_line_t *line);

/* These return the value as it is shown, its unit, and its decimals. */
double stat_value(const stat_report_t *report, const stat_line_t *line);
const char *stat_value_unit(const stat_event_t *event);
int stat_value_decimals(const stat_event_t *event);

/* The first function returns 1 if an event counts nanoseconds. The second
 * returns the nanoseconds of a line of such an event. */
int stat_value_is_clock(const stat_event_t *event);
double stat_value_ns(const stat_report_t *report, const stat_line_t *line);

/* These return how long the event was on a counter: in percent, and in
 * nanoseconds per run. */
double stat_value_percent(const stat_line_t *line);
uint64_t stat_value_runtime(const stat_report_t *report,
                            const stat_line_t *line);

/* Writes a number for programs. It always has a decimal point, whatever
 * LC_NUMERIC is. */
void stat_value_print(char text[STAT_NUMBER_BYTES], double value, int decimals);

#endif
