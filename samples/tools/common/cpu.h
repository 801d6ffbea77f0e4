/* SPDX-License-Identifier: MIT */
/* Messages about CPUs that go offline or come online while they are
 * measured. */
#ifndef COMMON_CPU_H
#define COMMON_CPU_H

#include "uvperf.h"

/* Prints the message. It is a callback for uvperf_on_cpu. */
void common_cpu_note(uvperf_handle_t *handle, int cpu, int status,
                     const uvperf_error_t *error);

#endif
