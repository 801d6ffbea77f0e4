/* SPDX-License-Identifier: MIT */
#include "common/cpu.h"

#include <errno.h>
#include <stdio.h>

void common_cpu_tell(int cpu, int status, const uvperf_error_t *error) {
  const char *program = program_invocation_short_name;

  if (status == UV_ENODEV && error == NULL)
    fprintf(stderr, "%s: CPU %d went offline\n", program, cpu);
  else if (status == 0)
    fprintf(stderr, "%s: CPU %d came online\n", program, cpu);
  else
    fprintf(stderr, "%s: CPU %d came online and is left out: %s\n", program,
            cpu, error != NULL ? error->reason : uv_strerror(status));
}

void common_cpu_note(uvperf_set_t *set, int cpu, int status,
                     const uvperf_error_t *error) {
  (void)set;
  common_cpu_tell(cpu, status, error);
}
