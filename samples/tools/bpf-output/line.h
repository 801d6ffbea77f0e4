/* SPDX-License-Identifier: MIT */
/* What the BPF program has handed out, as a line of text or of JSON. Each
 * function adds one, with its end, to a buffer. */
#ifndef BPF_OUTPUT_LINE_H
#define BPF_OUTPUT_LINE_H

#include <stddef.h>
#include <stdint.h>

#include "common/buffer.h"

/* The names of the columns; JSON has none. */
void bpf_output_line_head(common_buffer_t *buffer, int json);

/* What an exec has handed out, at any alignment: 0, or -1 and no line if that
 * cannot be right. */
int bpf_output_line_exec(common_buffer_t *buffer, int json, int32_t cpu,
                         const void *data, size_t size);

/* So many were lost on a CPU, by a time in ns. */
void bpf_output_line_lost(common_buffer_t *buffer, int json, int32_t cpu,
                          uint64_t time, uint64_t lost);

/* The last line of JSON; text has none. */
void bpf_output_line_end(common_buffer_t *buffer, int json, uint64_t time,
                         uint64_t execs, uint64_t lost);

#endif
