/* SPDX-License-Identifier: MIT */
/* An add-on of Node.js: an event and a set watch node's own renamings on node's
 * loop, and the set counts every millisecond.
 * start(done) calls done(0) when all came and both handles are closed; start()
 * leaves them open until node ends the environment, which waits for that. */
#include <stdio.h>
#include <string.h>

#include <sys/prctl.h>

#include <node_api.h>
#include <uvperf.h>

#define RENAMINGS 100

static uvperf_event_t event;
static uvperf_set_t set;
static unsigned nr_open;
static unsigned comms;
static unsigned set_comms;
static unsigned readings;
static napi_env env;
static napi_ref done; /* NULL: of start() */
static napi_async_cleanup_hook_handle hook;

static void call_done(int code) {
  napi_handle_scope scope;
  napi_value function;
  napi_value global;
  napi_value number;

  if (done == NULL)
    return;
  napi_open_handle_scope(env, &scope);
  napi_get_reference_value(env, done, &function);
  napi_get_global(env, &global);
  napi_create_int32(env, code, &number);
  napi_call_function(env, global, function, 1, &number, NULL);
  napi_delete_reference(env, done);
  napi_close_handle_scope(env, scope);
}

static int has_all(void) {
  return done != NULL && comms == RENAMINGS && set_comms == RENAMINGS &&
         readings > 0;
}

static void on_close(void) {
  if (--nr_open > 0)
    return;
  napi_remove_async_cleanup_hook(hook);
  call_done(has_all() ? 0 : 2);
}

static void on_event_close(uvperf_event_t *closed) {
  (void)closed;
  on_close();
}

static void on_set_close(uvperf_set_t *closed) {
  (void)closed;
  on_close();
}

static void close_when(int is_done) {
  if (!is_done || uvperf_event_is_closing(&event))
    return;
  uvperf_event_close(&event, on_event_close);
  uvperf_set_close(&set, on_set_close);
}

static void on_cleanup(napi_async_cleanup_hook_handle handle, void *arg) {
  (void)handle;
  (void)arg;
  close_when(1);
}

static unsigned is_renaming(const uvperf_record_t *record) {
  return record->type == PERF_RECORD_COMM &&
         strcmp(record->comm.comm, "renamed") == 0;
}

static void on_record(uvperf_event_t *from, int status,
                      const uvperf_record_t *record) {
  (void)from;
  if (status == 0)
    comms += is_renaming(record);
  close_when(status != 0 || has_all());
}

static void on_set_record(uvperf_set_t *from, int status,
                          const uvperf_record_t *record) {
  (void)from;
  if (status == 0)
    set_comms += is_renaming(record);
  close_when(status != 0 || has_all());
}

static void on_reading(uvperf_set_t *from, int status,
                       const uvperf_reading_t *reading,
                       const uvperf_reading_t *delta) {
  uvperf_count_t clock;

  (void)from;
  (void)delta;
  if (status == 0 && uvperf_reading_total(reading, 1, &clock) == 0)
    readings += clock.value > 0;
  close_when(status != 0 || has_all());
}

static int refused(const uvperf_error_t *error) {
  printf("%s: %s\n", uvperf_cause_name(error->cause), error->reason);
  return error->cause != UVPERF_CAUSE_PERMISSION &&
         error->cause != UVPERF_CAUSE_NO_PERF;
}

static int start_set(uv_loop_t *loop, const struct perf_event_attr *renamings) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_target_t self = UVPERF_TARGET_INIT;
  const struct perf_event_attr *attrs[2];
  struct perf_event_attr clock;
  uvperf_error_t error;

  uvperf_attr_software(&clock, PERF_COUNT_SW_TASK_CLOCK);
  clock.exclude_kernel = 1;
  attrs[0] = renamings;
  attrs[1] = &clock;
  self.type = UVPERF_TARGET_SELF;
  options.attrs = attrs;
  options.nr_attrs = 2;
  options.targets = &self;
  options.nr_targets = 1;
  options.flags = UVPERF_SET_RECORDS | UVPERF_SET_TIME_ORDER;
  options.wakeup_bytes = 1;
  if (uvperf_set_init(loop, &set, &options, &error) != 0 ||
      uvperf_set_start(&set, NULL, on_set_record, &error) != 0 ||
      uvperf_set_read_start(&set, 1, on_reading, NULL) != 0)
    return 5;
  nr_open += 1;
  return napi_add_async_cleanup_hook(env, on_cleanup, NULL, &hook) != napi_ok;
}

static int start(void) {
  struct perf_event_attr attr;
  uvperf_error_t error;
  uv_loop_t *loop;
  int rc;
  int i;

  if (napi_get_uv_event_loop(env, &loop) != napi_ok ||
      uvperf_version() != UVPERF_VERSION_HEX)
    return 3;
  uvperf_attr_software(&attr, PERF_COUNT_SW_DUMMY);
  attr.comm = 1;
  attr.exclude_kernel = 1;
  uvperf_attr_set_wakeup_bytes(&attr, 1);
  if (uvperf_event_init(loop, &event, &attr, NULL, &error) != 0) {
    call_done(refused(&error));
    return 0;
  }
  nr_open += 1;
  if (uvperf_event_start(&event, NULL, on_record, &error) != 0)
    return 4;
  rc = start_set(loop, &attr);
  if (rc != 0)
    return rc;
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
  if (nr > 0)
    napi_create_reference(env, function, 1, &done);
  rc = start();
  if (rc != 0)
    napi_throw_error(caller, NULL, "an add-on that does not start");
  return NULL;
}

NAPI_MODULE_INIT() {
  napi_value function;

  napi_create_function(env, "start", NAPI_AUTO_LENGTH, on_start, NULL,
                       &function);
  napi_set_named_property(env, exports, "start", function);
  return exports;
}
