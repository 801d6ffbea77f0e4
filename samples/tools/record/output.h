/* SPDX-License-Identifier: MIT */
/* Opens files and pipes, and writes bytes to a file completely. */
#ifndef RECORD_OUTPUT_H
#define RECORD_OUTPUT_H

#include <stddef.h>
#include <stdint.h>

/* Writes bytes at an offset of a file. Returns 0, or -errno. *done is the
 * number of bytes that were written. */
int record_output_at(int fd, uint64_t offset, const void *bytes, size_t size,
                     size_t *done);

/* Opens the file to write to, see record_file_open. Returns an fd, or -1 after
 * a message. */
int record_output_open(const char *path, int *is_pipe);

#endif
