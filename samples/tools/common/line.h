/* SPDX-License-Identifier: MIT */
/* Parts of lines that several tools print. Each function adds to a buffer. */
#ifndef COMMON_LINE_H
#define COMMON_LINE_H

#include <stdint.h>

#include "common/buffer.h"

/* The start of a line of text: "12.345678 [003] ". */
void common_line_begin(common_buffer_t *buffer, uint64_t time, uint32_t cpu);

/* Seconds with microseconds; nanoseconds are too many digits to read. */
void common_line_time(common_buffer_t *buffer, uint64_t time);

/* A thread: "sh 12", "node 12/13" if it is not the first of its process, "? 12"
 * if its name is not known (""). The id UINT32_MAX, of a thread that has
 * exited, is -1. */
void common_line_task(common_buffer_t *buffer, const char *comm, uint32_t pid,
                      uint32_t tid);

/* "lost 25 records" and a newline. */
void common_line_lost(common_buffer_t *buffer, uint64_t lost);

/* The start of a JSON object, with all digits of the time; and members of it: a
 * time, a number, an id. */
void common_line_json(common_buffer_t *buffer, uint64_t time, const char *type);
void common_line_json_time(common_buffer_t *buffer, const char *key,
                           uint64_t time);
void common_line_json_number(common_buffer_t *buffer, const char *key,
                             uint64_t number);
void common_line_json_id(common_buffer_t *buffer, const char *key, uint32_t id);

#endif
