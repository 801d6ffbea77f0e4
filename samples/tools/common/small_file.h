/* SPDX-License-Identifier: MIT */
/* Files of /proc and /sys, whose size is not known before they are read. */
#ifndef COMMON_SMALL_FILE_H
#define COMMON_SMALL_FILE_H

#include <stddef.h>
#include <stdint.h>

/* Returns the contents of a file, with a NUL after them, and their size. Free
 * them with free(). Returns NULL and sets errno if the file cannot be read. */
char *common_file_read(const char *path, size_t *size);

/* Reads the first line, without its newline, cut to fit. Returns 0, or -1 if
 * the file cannot be read. */
int common_file_line(const char *path, char *line, size_t size);

/* Reads a decimal number. Returns 0 or -1. */
int common_file_number(const char *path, int64_t *number);

#endif
