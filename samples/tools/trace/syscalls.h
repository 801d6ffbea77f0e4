/* SPDX-License-Identifier: MIT */
/* Names of system calls by their numbers. */
#ifndef TRACE_SYSCALLS_H
#define TRACE_SYSCALLS_H

#include <stdint.h>

/* Returns the name on the architecture of this program, or NULL if the headers
 * that it was built with do not have the number. */
const char *trace_syscalls_name(int64_t nr);

/* Whether the names are valid for a machine, as `uname -m` prints it. */
int trace_syscalls_are_of(const char *machine);

#endif
