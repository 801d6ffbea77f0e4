/* SPDX-License-Identifier: MIT */
/* Opens events to find out which events this machine has. */
#include "list/names.h"

#include <string.h>

#include "common/loop.h"
#include "common/memory.h"
#include "common/remedies.h"

/* Checks whether the machine has the event; privileges do not matter. So
 * opening the user side is enough, and an event that is busy or not permitted
 * counts as existing. */
static void try_one(uv_loop_t *loop, list_name_t *name) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr = name->attr;
  uvperf_error_t error;
  uvperf_event_t event;
  int rc;

  options.flags = UVPERF_EVENT_NO_RING;
  attr.exclude_kernel = attr.exclude_hv = 1;
  rc = uvperf_event_init(loop, &event, &attr, &options, &error);
  if (rc == 0)
    uvperf_close(&event.handle, NULL);
  uv_run(loop, UV_RUN_DEFAULT);
  if (rc == 0 || (error.cause != UVPERF_CAUSE_NO_EVENT &&
                  error.cause != UVPERF_CAUSE_NOT_SUPPORTED &&
                  error.cause != UVPERF_CAUSE_ARGUMENT))
    return;
  name->is_absent = 1;
  common_remedies_for_users(error.reason, 0);
  name->reason = common_copy_text(error.reason);
}

int list_names_try(list_names_t *names) {
  uv_loop_t loop;
  size_t i;

  if (common_loop_init(&loop) != 0)
    return 1;
  for (i = 0; i < names->nr; i++) {
    if (names->names[i].event.kind & (UVPERF_NAME_HARDWARE | UVPERF_NAME_CACHE))
      try_one(&loop, &names->names[i]);
  }
  return uv_loop_close(&loop) != 0;
}
