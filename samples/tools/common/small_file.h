/* SPDX-License-Identifier: MIT */
/* Files of /proc and /sys, which are read anew each time they are opened and do
 * not tell their size. */
#ifndef COMMON_SMALL_FILE_H
#define COMMON_SMALL_FILE_H

#include <stddef.h>
#include <stdint.h>

/* All of a file with a NUL behind it, for free(), and its size; NULL with errno
 * set if it cannot be read. */
char *common_file_read(const char *path, size_t *size);

/* The first line, without its newline, cut to fit: 0, or -1 if there is none.
 */
int common_file_line(const char *path, char *line, size_t size);

/* A number in decimal: 0, or -1. */
int common_file_number(const char *path, int64_t *number);

#endif
