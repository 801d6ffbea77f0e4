/* SPDX-License-Identifier: MIT */
/* Why an ioctl on an open event failed. */
#include "explain.h"

#include <errno.h>
#include <sys/ioctl.h>

#include "describe.h"

int uvperf__explain_control(uvperf_error_t *error, int code, const char *root,
                            const uvperf__control_t *control) {
  char event[UVPERF__DESCRIBE_BYTES];

  if (error == NULL)
    return code;
  uvperf__describe_event(event, sizeof(event), root, control->attr);
  return uvperf__explain(error, code, UVPERF_CAUSE_UNKNOWN,
                         "ioctl 0x%lx on %s gave errno %d", control->request,
                         event, -code);
}
