/* SPDX-License-Identifier: MIT */
#include "common/cpu.h"

#include "common/say.h"

void common_cpu_note(uvperf_handle_t *handle, int cpu, int status,
                     const uvperf_error_t *error) {
  (void)handle;
  if (status == UV_ENODEV && error == NULL)
    common_say("CPU %d went offline\n", cpu);
  else if (status == 0)
    common_say("CPU %d came online\n", cpu);
  else
    common_say("CPU %d came online but is not measured: %s\n", cpu,
               error != NULL ? error->reason : uv_strerror(status));
}
