/* SPDX-License-Identifier: MIT */
/* Formats the output of the BPF program as lines of text or of JSON. Each
 * function adds a line, with its end, to a buffer. */
#ifndef BPF_OUTPUT_LINE_H
#define BPF_OUTPUT_LINE_H

#include <stddef.h>
#include <stdint.h>

#include "common/buffer.h"

/* Adds the names of the columns; JSON has none. */
void bpf_output_line_head(common_buffer_t *buffer, int json);

/* Adds an exec; `data` may have any alignment. Returns 0, or -1 and adds no
 * line if the data is invalid. */
int bpf_output_line_exec(common_buffer_t *buffer, int json, int32_t cpu,
                         const void *data, size_t size);

/* Adds the number of execs that were lost on a CPU, at a time in ns. */
void bpf_output_line_lost(common_buffer_t *buffer, int json, int32_t cpu,
                          uint64_t time, uint64_t lost);

/* Adds the last line of JSON; text has none. */
void bpf_output_line_end(common_buffer_t *buffer, int json, uint64_t time,
                         uint64_t execs, uint64_t lost);

#endif
