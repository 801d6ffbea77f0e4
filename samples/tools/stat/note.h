/* SPDX-License-Identifier: MIT */
/* Notes that explain what is wrong with a count. */
#ifndef STAT_NOTE_H
#define STAT_NOTE_H

#include "stat/report.h"

/* Room for a note. */
#define STAT_NOTE_BYTES 512

/* Writes how many of the counts in a sum are missing: "1 of 3 missing". Returns
 * 1, or 0 and an empty text if none are missing. */
int stat_note_missing(const stat_line_t *line, char text[STAT_NOTE_BYTES]);

/* Writes why a value is missing or incomplete. Returns 1, or 0 and an empty
 * text if nothing is missing or the reason is not known. */
int stat_note_why(const stat_line_t *line, char text[STAT_NOTE_BYTES]);

/* Prints each reason once, after the events that it applies to. */
void stat_note_print(FILE *file, const stat_report_t *report);

#endif
