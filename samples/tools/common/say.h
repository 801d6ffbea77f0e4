/* SPDX-License-Identifier: MIT */
/* Messages on stderr, each with the program's name before it. */
#ifndef COMMON_SAY_H
#define COMMON_SAY_H

/* As fprintf, which puts no end of line either, and in one write, so that what
 * a command says meanwhile does not come between. */
void common_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
