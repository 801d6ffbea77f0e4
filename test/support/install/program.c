/* SPDX-License-Identifier: MIT */
/* A program of a user, in C and in C++: it watches its own renamings and exits
 * with 0 if the records are as expected. */
#include <stdio.h>
#include <string.h>

#include <sys/prctl.h>

#include <uvperf.h>

#define RENAMINGS 100

static unsigned comms;
static unsigned others;
static int is_closed;

static void on_close(uvperf_handle_t *handle) {
  (void)handle;
  is_closed = 1;
}

static void on_record(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record) {
  if (status == 0 && record->type == PERF_RECORD_COMM &&
      strcmp(record->comm.comm, "renamed") == 0)
    comms += 1;
  else
    others += 1;
  if (comms == RENAMINGS)
    uvperf_close(handle, on_close);
}

/* If the kernel allows no event at all, the test is whether the library
 * explains it. */
static int refused(const uvperf_error_t *error) {
  printf("%s: %s\n", uvperf_cause_name(error->cause), error->reason);
  return error->cause != UVPERF_CAUSE_PERMISSION &&
         error->cause != UVPERF_CAUSE_NO_PERF;
}

int main(void) {
  uv_loop_t *loop = uv_default_loop();
  struct perf_event_attr attr;
  uvperf_error_t error;
  uvperf_event_t event;
  int i;

  if (uvperf_version() != UVPERF_VERSION_HEX)
    return 2;
  uvperf_attr_software(&attr, PERF_COUNT_SW_DUMMY);
  attr.comm = 1;
  attr.exclude_kernel = 1;
  uvperf_attr_set_wakeup_bytes(&attr, 1);
  if (uvperf_event_init(loop, &event, &attr, NULL, &error) != 0)
    return refused(&error);
  if (uvperf_start(&event.handle, NULL, on_record, &error) != 0)
    return refused(&error);
  for (i = 0; i < RENAMINGS; i++)
    prctl(PR_SET_NAME, "renamed");
  uv_run(loop, UV_RUN_DEFAULT);
  printf("version %s, %u records\n", uvperf_version_string(), comms);
  if (comms != RENAMINGS || others != 0 || !is_closed)
    return 3;
  return uv_loop_close(loop) != 0;
}
