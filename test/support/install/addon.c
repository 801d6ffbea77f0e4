/* SPDX-License-Identifier: MIT */
/* An add-on of Node.js: it watches its own renamings on node's loop.
 * start(done) calls done(0) when the records came and the event is closed. */
#include <stdio.h>
#include <string.h>

#include <sys/prctl.h>

#include <node_api.h>
#include <uvperf.h>

#define RENAMINGS 100

static uvperf_event_t event;
static unsigned comms;
static napi_env env;
static napi_ref done;

static void call_done(int code) {
  napi_handle_scope scope;
  napi_value function;
  napi_value global;
  napi_value number;

  napi_open_handle_scope(env, &scope);
  napi_get_reference_value(env, done, &function);
  napi_get_global(env, &global);
  napi_create_int32(env, code, &number);
  napi_call_function(env, global, function, 1, &number, NULL);
  napi_delete_reference(env, done);
  napi_close_handle_scope(env, scope);
}

static void on_close(uvperf_event_t *closed) {
  (void)closed;
  call_done(comms == RENAMINGS ? 0 : 2);
}

static void on_record(uvperf_event_t *from, int status,
                      const uvperf_record_t *record) {
  if (status == 0 && record->type == PERF_RECORD_COMM &&
      strcmp(record->comm.comm, "renamed") == 0)
    comms += 1;
  if (status != 0 || comms == RENAMINGS)
    uvperf_event_close(from, on_close);
}

static int start(void) {
  struct perf_event_attr attr;
  uvperf_error_t error;
  uv_loop_t *loop;
  int i;

  if (napi_get_uv_event_loop(env, &loop) != napi_ok ||
      uvperf_version() != UVPERF_VERSION_HEX)
    return 3;
  uvperf_attr_software(&attr, PERF_COUNT_SW_DUMMY);
  attr.comm = 1;
  attr.exclude_kernel = 1;
  uvperf_attr_set_wakeup_bytes(&attr, 1);
  if (uvperf_event_init(loop, &event, &attr, NULL, &error) != 0) {
    printf("%s: %s\n", uvperf_cause_name(error.cause), error.reason);
    call_done(error.cause != UVPERF_CAUSE_PERMISSION &&
              error.cause != UVPERF_CAUSE_NO_PERF);
    return 0;
  }
  if (uvperf_event_start(&event, NULL, on_record, &error) != 0)
    return 4;
  for (i = 0; i < RENAMINGS; i++)
    prctl(PR_SET_NAME, "renamed");
  return 0;
}

static napi_value on_start(napi_env caller, napi_callback_info info) {
  napi_value function;
  size_t nr = 1;
  int rc;

  env = caller;
  napi_get_cb_info(env, info, &nr, &function, NULL, NULL);
  napi_create_reference(env, function, 1, &done);
  rc = start();
  if (rc != 0)
    call_done(rc);
  return NULL;
}

NAPI_MODULE_INIT() {
  napi_value function;

  napi_create_function(env, "start", NAPI_AUTO_LENGTH, on_start, NULL,
                       &function);
  napi_set_named_property(env, exports, "start", function);
  return exports;
}
