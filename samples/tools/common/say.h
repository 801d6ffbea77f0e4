/* SPDX-License-Identifier: MIT */
/* Messages on stderr, each with the program's name before it. */
#ifndef COMMON_SAY_H
#define COMMON_SAY_H

struct uvperf_error_s;

/* Like fprintf, and it adds no newline either. It uses one write, so that
 * output of a command does not come in between. Replaces fields and flags of
 * the library's API with options: see remedies.h. */
void common_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Says what failed with this code of libuv. Returns 1, the exit status. */
int common_say_code(const char *what, int code);

/* Says something of an event. */
void common_say_of(const char *label, const char *text);

/* Says the reason of an error. Returns 1, the exit status. */
int common_say_error(const struct uvperf_error_s *error);

#endif
