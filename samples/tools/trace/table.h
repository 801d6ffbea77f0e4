/* SPDX-License-Identifier: MIT */
/* Formats the summary of -s, as tables or as JSON. */
#ifndef TRACE_TABLE_H
#define TRACE_TABLE_H

#include "common/buffer.h"
#include "trace/calls.h"

/* Adds a table for each group. */
void trace_table_text(common_buffer_t *buffer, const trace_calls_t *calls);

/* Adds a line for each call of each group. */
void trace_table_json(common_buffer_t *buffer, const trace_calls_t *calls,
                      uint64_t time);

#endif
