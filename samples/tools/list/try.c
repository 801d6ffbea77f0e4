/* SPDX-License-Identifier: MIT */
/* Opens events to find out which events this machine has, and which of them
 * this process may measure. */
#include "list/names.h"

#include <stdlib.h>
#include <string.h>

#include "common/loop.h"
#include "common/memory.h"
#include "common/remedies.h"
#include "common/say.h"

/* The time to open and close a tracepoint. The time is long because the kernel
 * waits for all CPUs. */
#define MS_OF_A_TRACEPOINT 60

/* Trying more tracepoints than this is announced. */
#define SILENT_TRACEPOINTS 50

/* The target is the calling thread. Only a PMU that counts for several CPUs is
 * opened on the first of its CPUs, for all tasks. */
static void choose_target(const uvperf_event_name_t *event,
                          uvperf_event_options_t *options) {
  options->flags = UVPERF_EVENT_NO_RING;
  if (event->cpus == NULL)
    return;
  options->pid = -1;
  options->cpu = (int32_t)strtol(event->cpus, NULL, 10);
  options->flags |= UVPERF_EVENT_CPU;
}

static int try_open(uv_loop_t *loop, const list_name_t *name, int user_only,
                    uvperf_error_t *error) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr = name->attr;
  uvperf_event_t event;
  int rc;

  choose_target(&name->event, &options);
  attr.exclude_kernel = attr.exclude_hv = user_only != 0;
  rc = uvperf_event_init(loop, &event, &attr, &options, error);
  if (rc == 0)
    uvperf_close(&event.handle, NULL);
  uv_run(loop, UV_RUN_DEFAULT);
  return rc;
}

/* Returns 1 if the event counts anything on the user side alone. Tracepoints
 * are hit in the kernel. If tracepoints are opened for the user side only, they
 * count nothing. Only the tracepoints of system calls have the user's
 * registers, so they count. */
static int has_user_side(const uvperf_event_name_t *event) {
  return event->kind != UVPERF_NAME_TRACEPOINT ||
         strncmp(event->name, "syscalls:", strlen("syscalls:")) == 0;
}

static void try_one(uv_loop_t *loop, list_name_t *name) {
  uvperf_error_t error;
  const char *why;

  if (!name->has_attr) {
    why = name->event.needs_value ? "one of its terms needs a value"
                                  : "its terms cannot be parsed";
    name->answer = LIST_UNKNOWN;
    name->reason = common_copy(why, strlen(why));
    return;
  }
  name->answer = LIST_YES;
  name->code = try_open(loop, name, 0, &error);
  if (name->code == 0)
    return;
  common_remedies_for_users(error.reason, 0);
  name->reason = common_copy(error.reason, strlen(error.reason));
  name->answer = LIST_NO;
  if (name->code == UV_EACCES && has_user_side(&name->event) &&
      try_open(loop, name, 1, NULL) == 0)
    name->answer = LIST_USER;
}

/* Checks whether the machine has the event; privileges do not matter. So
 * opening the user side is enough, and an event that is busy or not permitted
 * counts as existing. */
static void try_hardware(uv_loop_t *loop, list_name_t *name) {
  uvperf_error_t error;

  if ((name->event.kind & (UVPERF_NAME_HARDWARE | UVPERF_NAME_CACHE)) == 0)
    return;
  name->code = try_open(loop, name, 1, &error);
  if (name->code == 0 || (error.cause != UVPERF_CAUSE_NO_EVENT &&
                          error.cause != UVPERF_CAUSE_NOT_SUPPORTED &&
                          error.cause != UVPERF_CAUSE_ARGUMENT))
    return;
  name->answer = LIST_NO;
  common_remedies_for_users(error.reason, 0);
  name->reason = common_copy(error.reason, strlen(error.reason));
}

static void announce(const list_names_t *names) {
  size_t nr = 0, i;

  for (i = 0; i < names->nr; i++)
    nr += names->names[i].event.kind == UVPERF_NAME_TRACEPOINT;
  if (nr > SILENT_TRACEPOINTS)
    common_say("trying %zu tracepoints takes about %zu s; a pattern reduces "
               "their number\n",
               nr, (nr * MS_OF_A_TRACEPOINT + 999) / 1000);
}

int list_names_try(list_names_t *names) {
  uv_loop_t loop;
  size_t i;

  if (common_loop_init(&loop) != 0)
    return 1;
  if (names->options->available)
    announce(names);
  for (i = 0; i < names->nr; i++) {
    if (names->options->available)
      try_one(&loop, &names->names[i]);
    else
      try_hardware(&loop, &names->names[i]);
  }
  return uv_loop_close(&loop) != 0;
}
