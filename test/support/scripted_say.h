/* SPDX-License-Identifier: MIT */
/* What a step of a row prints, as a line of text. */
#ifndef UVPERF_TEST_SCRIPTED_SAY_H
#define UVPERF_TEST_SCRIPTED_SAY_H

#include "scripted_step.h"

/* Begins an empty line. */
void say_begin(void);

/* The line, and its length. */
const char *say_line(void);
size_t say_length(void);

__attribute__((format(printf, 1, 2))) void say(const char *format, ...);

/* Begins something new, after ", ". */
void say_next(void);

/* The same, unless the verb is as before: "close e0 e1". */
void say_verb(const char *verb);
void say_verb_ends(void);

void say_number(uint64_t nr); /* large ones are hexadecimal */
void say_pid(int32_t pid);
void say_place(uint32_t target, int pid, int cpu);
void say_error(const uvperf_error_t *error);
void say_count(const uvperf_count_t *count);

/* Fields of an attr, by the words from `first` on. */
void say_fields(const struct perf_event_attr *attr, const step_t *step,
                size_t first);

/* All fields that are not 0, but not the size, which depends on the headers. */
void say_nonzero(const struct perf_event_attr *attr);
void say_changes(const uvperf_change_t *changes, size_t nr);

#endif
