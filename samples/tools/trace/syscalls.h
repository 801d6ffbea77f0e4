/* SPDX-License-Identifier: MIT */
/* Names of system calls by their numbers. */
#ifndef TRACE_SYSCALLS_H
#define TRACE_SYSCALLS_H

#include <stdint.h>

/* Returns the name of a system call on the architecture of this program, or
 * NULL if the headers of the build do not have this number. */
const char *trace_syscalls_name(int64_t nr);

/* Returns 1 if the names are valid for a machine, which is named as `uname -m`
 * prints it. */
int trace_syscalls_are_of(const char *machine);

#endif
