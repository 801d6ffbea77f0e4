/* SPDX-License-Identifier: MIT */
/* The standard streams of a tool. */
#ifndef COMMON_STDIO_H
#define COMMON_STDIO_H

#include <stdio.h>

/* Call it first. Opens stdin, stdout or stderr if it is closed, so that writing
 * to them fails. Ignores SIGPIPE and SIGXFSZ, so that a reader that is gone,
 * and a file that may not grow, is a failed write and not a signal. */
void common_stdio_init(void);

/* Returns 1 if stdout was open at the start; else 0 after a message. */
int common_stdio_has_stdout(void);

/* Closes a file. Returns 0, or 1 after a message if something could not be
 * written. A reader that is gone has what it wanted, so that is no failure. */
int common_stdio_close(FILE *file, const char *name);

#endif
