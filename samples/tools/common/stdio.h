/* SPDX-License-Identifier: MIT */
/* The standard streams of a tool. */
#ifndef COMMON_STDIO_H
#define COMMON_STDIO_H

#include <stdio.h>

/* Call it first. If stdin, stdout or stderr is closed, opens it so that writing
 * to it fails. Ignores SIGPIPE and SIGXFSZ. So if a reader is gone or a file
 * may not grow, a write fails and no signal comes. */
void common_stdio_init(void);

/* Returns 1 if stdout was open at the start, otherwise 0 after a message. */
int common_stdio_has_stdout(void);

/* Closes a file. Returns 0, or 1 after a message if something could not be
 * written. If the reader is gone, it has read all that it wanted, so this is
 * not a failure. */
int common_stdio_close(FILE *file, const char *name);

#endif
