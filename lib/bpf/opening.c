/* SPDX-License-Identifier: MIT */
/* Opens the events of a reader on a thread of libuv's pool. Only that thread
 * uses the outputs meanwhile. */
#include "bpf/internal.h"

#include "util/alloc.h"
#include "util/error.h"

typedef struct reader_opening_s {
  uvperf__handle_job_t base;
  uvperf__bpf_outputs_t *outputs; /* the reader's, unless is_late is set */
  uvperf_open_cb cb;
} reader_opening_t;

static int open_next(uvperf__job_t *job) {
  reader_opening_t *opening = (reader_opening_t *)job;

  return uvperf__bpf_outputs_open_next(
      opening->outputs, atomic_load(&opening->base.is_cancelled));
}

static void on_opened(uvperf__handle_job_t *job, int rc,
                      uvperf_error_t *error) {
  reader_t *impl = (reader_t *)job->owner;
  int opened = rc;

  if (job->is_late)
    impl->outputs = NULL;
  else
    opened = uvperf__bpf_outputs_end(&impl->outputs, rc == 0 ? error : NULL);
  impl->base.code = opened == 0 ? 0 : UV_EBADF;
  if (opened == 0)
    uvperf__bpf_reader_take_outputs(impl);
  if (rc == 0)
    rc = opened;
  ((reader_opening_t *)job)->cb(impl->base.handle, rc, rc == 0 ? NULL : error);
}

static void free_opening(uvperf__handle_job_t *job) {
  if (job->is_late)
    uvperf__bpf_outputs_free(((reader_opening_t *)job)->outputs);
  uvperf__free(job);
}

int uvperf__bpf_reader_begin_opening(reader_t *impl, uvperf_open_cb cb,
                                     uvperf_error_t *error) {
  reader_opening_t *opening = uvperf__calloc(1, sizeof(*opening));
  int rc;

  if (opening == NULL)
    return uvperf__error_shortage(error, UV_ENOMEM, "cannot open the reader");
  opening->base.job.step = open_next;
  opening->base.done = on_opened;
  opening->base.free = free_opening;
  opening->outputs = impl->outputs;
  opening->cb = cb;
  impl->base.code = UV_EBUSY;
  rc =
      uvperf__handle_job_begin(&impl->base, &opening->base,
                               uvperf__bpf_outputs_calls(impl->outputs), error);
  if (rc != 0)
    uvperf__free(opening);
  return rc;
}
