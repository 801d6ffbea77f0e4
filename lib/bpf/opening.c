/* SPDX-License-Identifier: MIT */
/* Opens the events of a reader on a thread of libuv's pool. Only that thread
 * uses the outputs meanwhile. */
#include "bpf/internal.h"

#include "util/alloc.h"
#include "util/error.h"

typedef struct reader_opening_s {
  uvperf__handle_job_t base;
  uvperf_open_cb cb;
} reader_opening_t;

static int open_next(uvperf__job_t *job) {
  reader_opening_t *opening = (reader_opening_t *)job;
  reader_t *impl = (reader_t *)opening->base.owner;

  return uvperf__bpf_outputs_open_next(
      impl->outputs, atomic_load(&opening->base.is_cancelled));
}

static void on_opened(uvperf__handle_job_t *job, int was_closing) {
  uvperf_open_cb cb = ((reader_opening_t *)job)->cb;
  reader_t *impl = (reader_t *)job->owner;
  uvperf_error_t error;
  int rc;

  uvperf__free(job);
  rc = uvperf__bpf_outputs_end(&impl->outputs, &error);
  impl->base.code = rc == 0 ? 0 : UV_EBADF;
  if (rc == 0)
    uvperf__bpf_reader_take_outputs(impl);
  if (was_closing)
    rc = uvperf__error_cancelled(&error, "reader");
  cb(impl->base.handle, rc, rc == 0 ? NULL : &error);
  if (was_closing)
    uvperf__bpf_reader_leave_outputs(impl);
}

int uvperf__bpf_reader_begin_opening(reader_t *impl, uvperf_open_cb cb,
                                     uvperf_error_t *error) {
  reader_opening_t *opening = uvperf__calloc(1, sizeof(*opening));
  int rc;

  if (opening == NULL)
    return uvperf__error_shortage(error, UV_ENOMEM, "cannot open the reader");
  opening->base.job.step = open_next;
  opening->base.done = on_opened;
  opening->cb = cb;
  rc = uvperf__handle_job_begin(&impl->base, &opening->base, 1, error);
  if (rc == 0)
    impl->base.code = UV_EBUSY;
  else
    uvperf__free(opening);
  return rc;
}
