/* SPDX-License-Identifier: MIT */
/* Parts of lines that several tools print. Each function adds to a buffer. */
#ifndef COMMON_LINE_H
#define COMMON_LINE_H

#include <stdint.h>

#include "common/buffer.h"

/* Adds the start of a line of text: "12.345678 [003] ". */
void common_line_begin(common_buffer_t *buffer, uint64_t time, uint32_t cpu);

/* Adds a time in seconds, with microseconds. With nanoseconds it would have too
 * many digits to read. */
void common_line_time(common_buffer_t *buffer, uint64_t time);

/* Adds a thread: "sh 12". It is "node 12/13" if the thread is not the first of
 * its process, and "? 12" if the name is not known (""). UINT32_MAX, the id of
 * a thread that has exited, is written as -1. */
void common_line_task(common_buffer_t *buffer, const char *comm, uint32_t pid,
                      uint32_t tid);

/* Adds "lost 25 records" and a newline. */
void common_line_lost(common_buffer_t *buffer, uint64_t lost);

/* The first function adds the start of a JSON object, with all digits of the
 * time. The others add a member to the object: a time, a number, an id. */
void common_line_json(common_buffer_t *buffer, uint64_t time, const char *type);
void common_line_json_time(common_buffer_t *buffer, const char *key,
                           uint64_t time);
void common_line_json_number(common_buffer_t *buffer, const char *key,
                             uint64_t number);
void common_line_json_id(common_buffer_t *buffer, const char *key, uint32_t id);

#endif
