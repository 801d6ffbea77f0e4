/* SPDX-License-Identifier: MIT */
/* Messages on stderr, each with the program's name before it. */
#ifndef COMMON_SAY_H
#define COMMON_SAY_H

/* Like fprintf, also without a newline of its own, but in one write, so that
 * output of a command does not come in between. Fields and flags of the
 * library's API become options: see remedies.h. */
void common_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
