/* SPDX-License-Identifier: MIT */
/* Bytes to a file, all of them; and what files and pipes are opened by. */
#ifndef RECORD_OUTPUT_H
#define RECORD_OUTPUT_H

#include <stddef.h>
#include <stdint.h>

/* At an offset of a file: 0, or -errno and in *done how many were written. */
int record_output_at(int fd, uint64_t offset, const void *bytes, size_t size,
                     size_t *done);

/* Opens the file to write to, see record_file_open: an fd, or -1 after a
 * message. */
int record_output_open(const char *path, int *is_pipe);

#endif
