/* SPDX-License-Identifier: MIT */
/* The standard streams of a tool. */
#ifndef COMMON_STDIO_H
#define COMMON_STDIO_H

#include <stdio.h>

/* To be called first: makes that stdin, stdout and stderr are all open, and
 * that a reader who goes away, and a file that may grow no more, is a failed
 * write and not a signal. */
void common_stdio_init(void);

/* Closes a file; 1, after a message, if something in it could not be written,
 * else 0. */
int common_stdio_close(FILE *file, const char *name);

#endif
