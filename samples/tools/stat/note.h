/* SPDX-License-Identifier: MIT */
/* What is wrong with a count, in words. */
#ifndef STAT_NOTE_H
#define STAT_NOTE_H

#include "stat/report.h"

/* Room for a note. */
#define STAT_NOTE_BYTES 512

/* How many of the counts that a value is the sum of are missing in it: "1 of 3
 * missing". 0, and an empty text, if none is. */
int stat_note_missing(const stat_line_t *line, char text[STAT_NOTE_BYTES]);

/* Why there is no value, or not all of it. 0, and an empty text, if nothing is
 * missing, or nobody knows why. */
int stat_note_why(const stat_line_t *line, char text[STAT_NOTE_BYTES]);

/* Prints each reason once, behind the events that it is the reason of. */
void stat_note_print(FILE *file, const stat_report_t *report);

#endif
