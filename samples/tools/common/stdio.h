/* SPDX-License-Identifier: MIT */
/* The standard streams of a tool. */
#ifndef COMMON_STDIO_H
#define COMMON_STDIO_H

#include <stdio.h>

/* To be called first: makes that stdin, stdout and stderr are all open, so that
 * writing to one that was closed fails, and that a reader who goes away, and a
 * file that may grow no more, is a failed write and not a signal. */
void common_stdio_init(void);

/* Whether stdout was open at the start; a message if not. */
int common_stdio_has_stdout(void);

/* Closes a file; 1, after a message, if something in it could not be written,
 * else 0. A reader who went away has what he wants: that is no failure. */
int common_stdio_close(FILE *file, const char *name);

#endif
