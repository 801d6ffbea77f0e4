/* SPDX-License-Identifier: MIT */
/* How a line is shown, whatever it is written as. */
#ifndef STAT_VALUE_H
#define STAT_VALUE_H

#include "stat/report.h"

/* Room for a number; what does not fit is cut. */
#define STAT_NUMBER_BYTES 400

/* Whether there is no such line: its event is not measured on its CPU, on
 * purpose. */
int stat_value_is_none(const stat_report_t *report, const stat_line_t *line);

/* Whether a line is not to be shown. */
int stat_value_is_hidden(const stat_report_t *report, const stat_line_t *line);

/* Places are sorted by id; NULL for one that is not there. */
int stat_place_compare(const void *left, const void *right);
const stat_place_t *stat_place_find(const stat_place_t *places, size_t nr,
                                    int32_t id);

/* What several CPUs together are called: "core", "die"…; NULL for others. */
const char *stat_value_group(enum stat_by by);

/* The name of a line's core or thread; "" for none. */
const char *stat_value_place(const stat_report_t *report,
                             const stat_line_t *line);

/* Whether anything was counted. Not so for an event that was never on a
 * counter, or whose task never ran: nothing is known then. */
int stat_value_is_counted(const stat_line_t *line);

/* What stands in place of a value, for a line on which nothing was counted. */
const char *stat_value_word(const stat_line_t *line);

/* The value as it is shown, in its unit, with its decimals. */
double stat_value(const stat_report_t *report, const stat_line_t *line);
const char *stat_value_unit(const stat_event_t *event);
int stat_value_decimals(const stat_event_t *event);

/* Whether an event counts nanoseconds, and what a line of it does, in these. */
int stat_value_is_clock(const stat_event_t *event);
double stat_value_ns(const stat_report_t *report, const stat_line_t *line);

/* For how much of the time it was on a counter, and in nanoseconds of a run. */
double stat_value_percent(const stat_line_t *line);
uint64_t stat_value_runtime(const stat_report_t *report,
                            const stat_line_t *line);

/* Writes a number as programs read it, whatever LC_NUMERIC says. */
void stat_value_print(char text[STAT_NUMBER_BYTES], double value, int decimals);

#endif
