/* SPDX-License-Identifier: MIT */
/* An add-on of Node.js that counts and samples on node's own loop:
 *
 *   count(events, [options], [callback])  -> Promise of a handle
 *   sample(events, [options], callback)   -> Promise of a handle
 *   symbol(address)                       -> the function of this process there
 *
 * README.md describes count and sample. There is no global state: each open
 * handle has a hook. Node waits for these hooks before it ends an environment,
 * also the environment of a worker. */
#define _GNU_SOURCE  1 /* dladdr(3) */
#define NAPI_VERSION 8
#include <dlfcn.h>
#include <node_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <uvperf.h>

typedef struct handle_s {
  uvperf_set_t set;
  napi_env env;
  napi_deferred opening; /* the promise of count() or sample() */
  napi_ref object;       /* strong while the set calls back, else weak */
  napi_ref callback;     /* NULL: none */
  napi_async_context context;
  napi_async_cleanup_hook_handle hook;
  int holders; /* the object, and the set until it is closed */
  int is_held; /* the object is strong */
  int env_ends;
  int samples;
  uint32_t interval; /* ms */
  /* The scope of the samples of this slice. It ends with the slice. */
  napi_handle_scope batch_scope;
  napi_value batch; /* NULL: no samples */
  uint32_t batch_size;
  uint64_t lost; /* reported until now */
} handle_t;

static const napi_type_tag handle_tag = {0x6e2f8a41c7b04d93,
                                         0x9d51e0c2f3a8b746};

/* -- values ---------------------------------------------------------------- */

static void set_text(napi_env env, napi_value object, const char *name,
                     const char *text) {
  napi_value value;

  napi_create_string_utf8(env, text, NAPI_AUTO_LENGTH, &value);
  napi_set_named_property(env, object, name, value);
}

static void set_number(napi_env env, napi_value object, const char *name,
                       double number) {
  napi_value value;

  napi_create_double(env, number, &value);
  napi_set_named_property(env, object, name, value);
}

static napi_value bigint(napi_env env, uint64_t number) {
  napi_value value;

  napi_create_bigint_uint64(env, number, &value);
  return value;
}

/* Returns an Error as node's own modules make it. */
static napi_value error_of(napi_env env, int code, const char *reason) {
  char name[32];
  napi_value error;
  napi_value text;

  napi_create_string_utf8(env, reason, NAPI_AUTO_LENGTH, &text);
  napi_create_error(env, NULL, text, &error);
  set_text(env, error, "code", uv_err_name_r(code, name, sizeof(name)));
  set_number(env, error, "errno", code);
  return error;
}

static int throw_type(napi_env env, const char *reason) {
  napi_throw_type_error(env, "ERR_INVALID_ARG_TYPE", reason);
  return -1;
}

/* -- calling JavaScript ---------------------------------------------------- */

/* Calls back with (null, result, number), or with an error and no result. If
 * the callback throws, this is an 'uncaughtException', as in a timer. */
static void call(handle_t *handle, int code, napi_value result, double number) {
  napi_env env = handle->env;
  napi_value args[3] = {NULL, result, NULL};
  napi_value callback, exception, object;
  char reason[128];

  if (result != NULL)
    napi_get_null(env, &args[0]);
  else
    args[0] = error_of(env, code, uv_strerror_r(code, reason, sizeof(reason)));
  napi_create_double(env, number, &args[2]);
  napi_get_reference_value(env, handle->object, &object);
  napi_get_reference_value(env, handle->callback, &callback);
  if (napi_make_callback(env, handle->context, object, callback,
                         result != NULL ? 3 : 1, args,
                         NULL) == napi_pending_exception &&
      napi_get_and_clear_last_exception(env, &exception) == napi_ok)
    napi_fatal_exception(env, exception);
}

/* -- closing --------------------------------------------------------------- */

static void drop(handle_t *handle) {
  if (--handle->holders == 0)
    free(handle);
}

static void hold_object(handle_t *handle, int is_held) {
  if (handle->is_held && !is_held)
    napi_reference_unref(handle->env, handle->object, NULL);
  else if (!handle->is_held && is_held)
    napi_reference_ref(handle->env, handle->object, NULL);
  handle->is_held = is_held;
}

static void on_closed(uvperf_handle_t *base) {
  handle_t *handle = base->data;
  napi_handle_scope scope;

  napi_open_handle_scope(handle->env, &scope);
  if (handle->callback != NULL)
    napi_delete_reference(handle->env, handle->callback);
  napi_async_destroy(handle->env, handle->context);
  hold_object(handle, 0);
  napi_close_handle_scope(handle->env, scope);
  napi_remove_async_cleanup_hook(handle->hook);
  drop(handle);
}

static void close_set(handle_t *handle) {
  if (!uvperf_is_closing(&handle->set.handle))
    uvperf_close(&handle->set.handle, on_closed);
}

static void on_env_end(napi_async_cleanup_hook_handle hook, void *arg) {
  handle_t *handle = arg;

  (void)hook;
  handle->env_ends = 1;
  close_set(handle);
}

static void on_collected(napi_env env, void *data, void *hint) {
  handle_t *handle = data;

  (void)hint;
  napi_delete_reference(env, handle->object);
  if (handle->holders == 2)
    close_set(handle);
  drop(handle);
}

/* -- counts ---------------------------------------------------------------- */

static napi_value count_of(handle_t *handle, const uvperf_reading_t *reading,
                           size_t attr, const uvperf_event_item_t *item) {
  const uvperf_set_failure_t *failures;
  napi_env env = handle->env;
  uvperf_count_t count;
  napi_value object;
  napi_value unknown;
  size_t nr;

  uvperf_reading_total(reading, attr, &count);
  napi_create_object(env, &object);
  set_text(env, object, "name", item->label);
  napi_get_null(env, &unknown);
  if (count.nr_counts == 0) /* no count is not a count of 0 */
    napi_set_named_property(env, object, "value", unknown);
  else
    set_number(env, object, "value", (double)count.scaled * item->scale);
  set_text(env, object, "unit", item->unit);
  set_text(env, object, "state", uvperf_count_state_name(count.state));
  set_number(env, object, "ratio", count.ratio);
  failures = uvperf_set_failures(&handle->set, &nr);
  for (; nr > 0; nr--, failures++)
    if (failures->error.attr_index == attr)
      set_text(env, object, "reason", failures->error.reason);
  return object;
}

static napi_value counts_of(handle_t *handle, const uvperf_reading_t *reading) {
  size_t nr = uvperf_set_nr_attrs(&handle->set);
  const uvperf_event_item_t *item;
  napi_value counts;
  uint32_t used = 0;
  size_t i;

  napi_create_array(handle->env, &counts);
  for (i = 0; i < nr; i++) {
    item = uvperf_set_item(&handle->set, i);
    if (item->first == i) /* else a part of an event that was counted above */
      napi_set_element(handle->env, counts, used++,
                       count_of(handle, reading, i, item));
  }
  return counts;
}

static void on_reading(uvperf_set_t *set, int status,
                       const uvperf_reading_t *reading,
                       const uvperf_reading_t *delta) {
  handle_t *handle = set->handle.data;
  napi_handle_scope scope;

  (void)reading;
  napi_open_handle_scope(handle->env, &scope);
  if (status == 0)
    call(handle, 0, counts_of(handle, delta),
         (double)uvperf_reading_info(delta)->interval / 1e9);
  else
    call(handle, status, NULL, 0);
  napi_close_handle_scope(handle->env, scope);
}

static napi_value read_now(handle_t *handle) {
  uvperf_error_t error = {.code = UV_ENOMEM, .reason = "out of memory"};
  uvperf_reading_t *reading = NULL;
  napi_value counts = NULL;

  if (uvperf_is_closing(&handle->set.handle))
    napi_throw(handle->env,
               error_of(handle->env, UV_EBADF, "the handle is closed"));
  else if (uvperf_reading_new(&reading) != 0 ||
           uvperf_set_read(&handle->set, reading, &error) != 0)
    napi_throw(handle->env, error_of(handle->env, error.code, error.reason));
  else
    counts = counts_of(handle, reading);
  uvperf_reading_free(reading);
  return counts;
}

/* -- samples --------------------------------------------------------------- */

/* Returns a stack, innermost first, without the marks between kernel and
 * user. */
static napi_value stack_of(napi_env env, const uvperf_sample_t *sample) {
  napi_value stack;
  uint32_t used = 0;
  uint64_t i;

  napi_create_array(env, &stack);
  for (i = 0; i < sample->callchain.nr; i++)
    if (sample->callchain.ips[i] < (uint64_t)PERF_CONTEXT_MAX)
      napi_set_element(env, stack, used++,
                       bigint(env, sample->callchain.ips[i]));
  return stack;
}

static void begin_batch(handle_t *handle) {
  if (handle->batch != NULL)
    return;
  napi_open_handle_scope(handle->env, &handle->batch_scope);
  napi_create_array(handle->env, &handle->batch);
  handle->batch_size = 0;
}

static void add_sample(handle_t *handle, const uvperf_record_t *record) {
  napi_env env = handle->env;
  napi_handle_scope scope;
  napi_value object;

  begin_batch(handle);
  napi_open_handle_scope(env, &scope);
  napi_create_object(env, &object);
  napi_set_named_property(env, object, "ip", bigint(env, record->ip));
  napi_set_named_property(env, object, "time", bigint(env, record->time));
  set_number(env, object, "pid", record->pid);
  set_number(env, object, "tid", record->tid);
  set_number(env, object, "cpu", record->cpu);
  set_number(env, object, "period", (double)record->period);
  if (record->source != NULL)
    set_number(env, object, "event", record->source->attr_index);
  if (record->present & PERF_SAMPLE_CALLCHAIN)
    napi_set_named_property(env, object, "stack",
                            stack_of(env, &record->sample));
  napi_set_element(env, handle->batch, handle->batch_size++, object);
  napi_close_handle_scope(env, scope);
}

static void end_batch(handle_t *handle) {
  napi_value batch;
  uvperf_stats_t stats;
  double lost;

  uvperf_stats(&handle->set.handle, &stats);
  lost = (double)(stats.lost_records - handle->lost);
  if (handle->batch == NULL && lost == 0)
    return;
  begin_batch(handle);
  batch = handle->batch;
  handle->batch = NULL;
  handle->lost = stats.lost_records;
  call(handle, 0, batch, lost);
  napi_close_handle_scope(handle->env, handle->batch_scope);
}

static void on_record(uvperf_handle_t *base, int status,
                      const uvperf_record_t *record) {
  handle_t *handle = base->data;
  napi_handle_scope scope;

  if (record->type != UVPERF_RECORD_NONE) {
    if (status == 0 && record->type == PERF_RECORD_SAMPLE)
      add_sample(handle, record);
    return;
  }
  end_batch(handle); /* the end of a slice, or an error */
  if (status == 0 || uvperf_is_closing(base))
    return;
  napi_open_handle_scope(handle->env, &scope);
  call(handle, status, NULL, 0);
  napi_close_handle_scope(handle->env, scope);
  if (status == UV_EOF)
    close_set(handle);
}

/* -- opening --------------------------------------------------------------- */

static int start(handle_t *handle, uvperf_error_t *error) {
  uvperf_stream_options_t stream = UVPERF_STREAM_OPTIONS_INIT;

  stream.flush_ms = (int32_t)handle->interval;
  stream.flags = UVPERF_START_SLICE_END;
  if (handle->callback == NULL)
    return 0;
  if (handle->samples)
    return uvperf_start(&handle->set.handle, &stream, on_record, error);
  return uvperf_set_read_start(&handle->set, handle->interval, on_reading,
                               error);
}

static void on_open(uvperf_handle_t *base, int status,
                    const uvperf_error_t *failure) {
  handle_t *handle = base->data;
  napi_env env = handle->env;
  napi_callback_scope callback_scope;
  napi_handle_scope scope;
  uvperf_error_t error;
  napi_value object;

  if (handle->env_ends) /* no JavaScript runs any more */
    return;
  napi_open_handle_scope(env, &scope);
  napi_get_reference_value(env, handle->object, &object);
  napi_open_callback_scope(env, object, handle->context, &callback_scope);
  if (status != 0)
    error = *failure;
  else
    status = start(handle, &error);
  if (status == 0) {
    napi_resolve_deferred(env, handle->opening, object);
    hold_object(handle, handle->callback != NULL);
  } else {
    napi_reject_deferred(env, handle->opening,
                         error_of(env, error.code, error.reason));
    close_set(handle);
  }
  napi_close_callback_scope(env, callback_scope); /* runs microtasks */
  napi_close_handle_scope(env, scope);
}

/* Any method of a handle. The function's data says which method it is. */
static napi_value on_method(napi_env env, napi_callback_info info) {
  handle_t *handle = NULL;
  bool is_handle = false;
  napi_value object;
  void *name;

  napi_get_cb_info(env, info, NULL, NULL, &object, &name);
  napi_check_object_type_tag(env, object, &handle_tag, &is_handle);
  if (!is_handle || napi_unwrap(env, object, (void **)&handle) != napi_ok) {
    throw_type(env, "`this` is not a handle of uvperf");
    return NULL;
  }
  switch (*(const char *)name) {
    case 'r':
      return read_now(handle);
    case '+':
      uvperf_ref(&handle->set.handle);
      break;
    case '-':
      uvperf_unref(&handle->set.handle);
      break;
    default:
      close_set(handle);
  }
  return object;
}

static void make_object(handle_t *handle) {
  static char names[] = "rc+-";
  const napi_property_attributes method = napi_default_method;
  const napi_property_descriptor methods[] = {
      {"read", NULL, on_method, NULL, NULL, NULL, method, names},
      {"close", NULL, on_method, NULL, NULL, NULL, method, names + 1},
      {"ref", NULL, on_method, NULL, NULL, NULL, method, names + 2},
      {"unref", NULL, on_method, NULL, NULL, NULL, method, names + 3}};
  napi_env env = handle->env;
  napi_value object;
  napi_value name;

  napi_create_object(env, &object);
  napi_define_properties(env, object, 4, methods);
  napi_type_tag_object(env, object, &handle_tag);
  napi_wrap(env, object, handle, on_collected, NULL, &handle->object);
  hold_object(handle, 1);
  napi_create_string_utf8(env, "UVPERF", NAPI_AUTO_LENGTH, &name);
  napi_async_init(env, object, name, &handle->context);
  napi_add_async_cleanup_hook(env, on_env_end, handle, &handle->hook);
}

/* These return -1 with an exception pending. */

static int get_option(napi_env env, napi_value options, const char *name,
                      int64_t least, int64_t *value) {
  char reason[96];
  napi_valuetype type;
  napi_value property;
  double given;

  if (napi_get_named_property(env, options, name, &property) != napi_ok)
    return -1;
  napi_typeof(env, property, &type);
  if (type == napi_undefined)
    return 0;
  if (napi_coerce_to_number(env, property, &property) != napi_ok)
    return -1;
  napi_get_value_double(env, property, &given);
  snprintf(reason, sizeof(reason),
           "options.%s must be a whole number, %d to %d", name, (int)least,
           INT32_MAX);
  if (!(given >= (double)least && given <= INT32_MAX) ||
      given != (double)(int64_t)given)
    return throw_type(env, reason);
  *value = (int64_t)given;
  return 0;
}

static int get_events(napi_env env, napi_value value,
                      uvperf_event_list_t **events) {
  char names[4096];
  uvperf_error_t error;
  size_t length;

  if (napi_get_value_string_utf8(env, value, NULL, 0, &length) != napi_ok ||
      length >= sizeof(names))
    return throw_type(env, "events must be a string of less than 4096 bytes");
  napi_get_value_string_utf8(env, value, names, sizeof(names), &length);
  if (uvperf_event_list_parse(events, names, &error) == 0)
    return 0;
  napi_throw(env, error_of(env, error.code, error.reason));
  return -1;
}

/* The last of two or three arguments is the callback. */
static int open_set(napi_env env, napi_deferred opening, napi_value *args,
                    int samples) {
  uvperf_set_options_t set = UVPERF_SET_OPTIONS_INIT;
  uvperf_target_t target = UVPERF_TARGET_INIT;
  struct perf_event_attr sample;
  uvperf_event_list_t *events = NULL;
  int64_t pid = getpid(), tid = -1, interval = 1000;
  int64_t frequency = 0, period = 0, stacks = 0;
  napi_valuetype options_type, callback_type;
  napi_value options = args[1], callback = args[2];
  uvperf_error_t error = {.code = UV_ENOMEM, .reason = "out of memory"};
  handle_t *handle;
  uv_loop_t *loop;

  napi_typeof(env, options, &options_type);
  if (options_type == napi_function)
    callback = options;
  napi_typeof(env, callback, &callback_type);
  if (options_type != napi_object)
    napi_create_object(env, &options);
  if (options_type != napi_object && options_type != napi_function &&
      options_type != napi_undefined && options_type != napi_null)
    return throw_type(env, "options must be an object");
  if (callback_type != napi_function &&
      (samples || callback_type != napi_undefined))
    return throw_type(env, "callback must be a function");
  if (get_option(env, options, "pid", 1, &pid) != 0 ||
      get_option(env, options, "tid", 0, &tid) != 0 ||
      get_option(env, options, "interval", 1, &interval) != 0 ||
      get_option(env, options, "frequency", 1, &frequency) != 0 ||
      get_option(env, options, "period", 1, &period) != 0 ||
      get_option(env, options, "stacks", 0, &stacks) != 0 ||
      get_events(env, args[0], &events) != 0)
    return -1;

  target.type = tid > 0    ? UVPERF_TARGET_THREAD
                : tid == 0 ? UVPERF_TARGET_SELF
                           : UVPERF_TARGET_PROCESS;
  target.pid = (int32_t)(tid < 0 ? pid : tid);
  set.targets = &target;
  set.nr_targets = 1;
  set.events = events;
  set.flags = UVPERF_SET_ENABLED;
  if (samples) {
    set.flags = UVPERF_SET_RECORDS | UVPERF_SET_TIME_ORDER;
    uvperf_attr_init(&sample, 0, 0);
    if (period != 0 && frequency != 0) {
      uvperf_event_list_free(events);
      return throw_type(env, "period and frequency exclude each other");
    }
    if (period != 0)
      uvperf_attr_set_period(&sample, (uint64_t)period);
    else
      uvperf_attr_set_frequency(&sample,
                                frequency != 0 ? (uint64_t)frequency : 99);
    sample.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                         PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
    if (stacks)
      sample.sample_type |= PERF_SAMPLE_CALLCHAIN;
    set.sample = &sample;
  }
  napi_get_uv_event_loop(env, &loop);
  handle = calloc(1, sizeof(*handle));
  set.open_cb = on_open;
  if (handle == NULL ||
      uvperf_set_init(loop, &handle->set, &set, &error) != 0) {
    uvperf_event_list_free(events);
    free(handle);
    napi_throw(env, error_of(env, error.code, error.reason));
    return -1;
  }
  uvperf_event_list_free(events);
  handle->set.handle.data = handle;
  handle->env = env;
  handle->opening = opening;
  handle->samples = samples;
  handle->interval = (uint32_t)interval;
  handle->holders = 2;
  if (callback_type == napi_function)
    napi_create_reference(env, callback, 1, &handle->callback);
  make_object(handle);
  return 0;
}

/* count(), or sample() if the function has data. */
static napi_value on_call(napi_env env, napi_callback_info info) {
  napi_deferred opening;
  napi_value args[3], exception, promise;
  size_t nr = 3;
  void *samples;

  napi_get_cb_info(env, info, &nr, args, NULL, &samples);
  napi_create_promise(env, &opening, &promise);
  if (open_set(env, opening, args, samples != NULL) != 0) {
    napi_get_and_clear_last_exception(env, &exception);
    napi_reject_deferred(env, opening, exception);
  }
  return promise;
}

/* symbol(): asks the dynamic linker, which does not know JavaScript
 * functions. */
static napi_value on_symbol(napi_env env, napi_callback_info info) {
  const char *name;
  napi_value text = NULL;
  napi_value arg;
  size_t nr = 1;
  uint64_t address;
  bool is_exact;
  Dl_info found;

  napi_get_cb_info(env, info, &nr, &arg, NULL, NULL);
  if (napi_get_value_bigint_uint64(env, arg, &address, &is_exact) != napi_ok) {
    throw_type(env, "address must be a BigInt");
    return NULL;
  }
  /* dladdr(3) only compares it. */
  if (dladdr((const void *)(uintptr_t)address, &found) == 0)
    return NULL;
  name = found.dli_sname != NULL ? found.dli_sname : found.dli_fname;
  napi_create_string_utf8(env, name, NAPI_AUTO_LENGTH, &text);
  return text;
}

NAPI_MODULE_INIT() {
  static char samples;
  const napi_property_descriptor functions[] = {
      {"count", NULL, on_call, NULL, NULL, NULL, napi_enumerable, NULL},
      {"sample", NULL, on_call, NULL, NULL, NULL, napi_enumerable, &samples},
      {"symbol", NULL, on_symbol, NULL, NULL, NULL, napi_enumerable, NULL}};

  napi_define_properties(env, exports, 3, functions);
  return exports;
}
