/* SPDX-License-Identifier: MIT */
/* Opens the events of a reader on a thread of libuv's pool. Only that thread
 * uses the outputs meanwhile. */
#include "bpf/internal.h"

#include <stdatomic.h>

#include "util/alloc.h"
#include "util/error.h"

struct reader_opening_s {
  uvperf__job_t job;
  reader_t *impl;
  atomic_int is_cancelled;
  uvperf_bpf_reader_open_cb cb;
};

static int open_next(uvperf__job_t *job) {
  reader_opening_t *opening = (reader_opening_t *)job;

  return uvperf__bpf_outputs_open_next(opening->impl->outputs,
                                       atomic_load(&opening->is_cancelled));
}

static void on_opened(uvperf__job_t *job) {
  reader_opening_t *opening = (reader_opening_t *)job;
  reader_t *impl = opening->impl;
  uvperf_bpf_reader_open_cb cb = opening->cb;
  int was_closing = impl->closing;
  uvperf_error_t error;
  int rc;

  impl->opening = NULL;
  uvperf__free(opening);
  rc = uvperf__bpf_outputs_end(&impl->outputs, &error);
  impl->has_failed = rc != 0;
  if (rc == 0)
    uvperf__bpf_reader_take_outputs(impl);
  if (was_closing)
    rc = uvperf__error_cancelled(&error, "reader");
  cb(impl->handle, rc, rc == 0 ? NULL : &error);
  if (!was_closing)
    return;
  uvperf__bpf_reader_leave_outputs(impl);
  uvperf__teardown_closed(&impl->teardown);
}

int uvperf__bpf_reader_begin_opening(reader_t *impl, uv_loop_t *loop,
                                     uvperf_bpf_reader_open_cb cb,
                                     uvperf_error_t *error) {
  reader_opening_t *opening = uvperf__calloc(1, sizeof(*opening));
  int rc;

  if (opening == NULL)
    return uvperf__error_shortage(error, UV_ENOMEM, "cannot open the reader");
  opening->job.step = open_next;
  opening->job.done = on_opened;
  opening->impl = impl;
  opening->cb = cb;
  rc = uvperf__job_begin_or(loop, &opening->job, "uvperf_bpf_reader_init",
                            error);
  if (rc != 0) {
    uvperf__free(opening);
    return rc;
  }
  impl->opening = opening;
  return 0;
}

void uvperf__bpf_reader_cancel_opening(reader_t *impl) {
  atomic_store(&impl->opening->is_cancelled, 1);
  uvperf__teardown_expect(&impl->teardown);
}
