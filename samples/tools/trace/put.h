/* SPDX-License-Identifier: MIT */
/* Parts of lines. Each function adds to a buffer. */
#ifndef TRACE_PUT_H
#define TRACE_PUT_H

#include <stdint.h>

#include "common/buffer.h"

/* Adds the start of a line of text: "12.345678 [003] ". */
void trace_put_begin(common_buffer_t *buffer, uint64_t time, uint32_t cpu);

/* Adds a thread: "sh 12". It is "node 12/13" if the thread is not the first of
 * its process, and "? 12" if the name is not known (""). UINT32_MAX, the id of
 * a thread that has exited, is written as -1. */
void trace_put_task(common_buffer_t *buffer, const char *comm, uint32_t pid,
                    uint32_t tid);

/* Adds "lost 25 records" and a newline. */
void trace_put_lost(common_buffer_t *buffer, uint64_t lost);

/* The first function adds the start of a JSON object, with all digits of the
 * time. The others add a member to the object: a number, an id. */
void trace_put_json(common_buffer_t *buffer, uint64_t time, const char *type);
void trace_put_json_number(common_buffer_t *buffer, const char *key,
                           uint64_t number);
void trace_put_json_id(common_buffer_t *buffer, const char *key, uint32_t id);

#endif
