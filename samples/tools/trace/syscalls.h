/* SPDX-License-Identifier: MIT */
/* Names of system calls by their numbers. */
#ifndef TRACE_SYSCALLS_H
#define TRACE_SYSCALLS_H

#include <stdint.h>

/* The name on the architecture that this program was built for, by the headers
 * it was built with; NULL if they do not have the number. */
const char *trace_syscalls_name(int64_t nr);

/* Whether the names are those of a machine: what `uname -m` says there. */
int trace_syscalls_are_of(const char *machine);

#endif
