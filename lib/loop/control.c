/* SPDX-License-Identifier: MIT */
/* Operations on the events of a handle: enable, disable, reset, and changes of
 * an attr. Each kind of handle has its own functions for them. */
#include "loop/handle.h"

#include "util/error.h"

/* Checks the handle and the attr. Returns 0 and the operations, or a code and
 * the error. `is_whole`: the operation may be for all attrs. */
static int control_begin(const uvperf_handle_t *handle, size_t attr,
                         int is_whole, const uvperf__control_ops_t **ops,
                         uvperf_error_t *error) {
  const uvperf__handle_t *self = uvperf__handle_impl(handle);
  int rc = uvperf__handle_check(self, error);

  if (rc != 0)
    return rc;
  *ops = self->kind->control;
  if (*ops == NULL)
    return uvperf__error_argument(
        error, "the %s has no such control; start it, or publish its events",
        self->kind->noun);
  return (*ops)->check(attr, is_whole, error);
}

/* A start does not enable the events any more. */
static int control_end(const uvperf_handle_t *handle, int rc) {
  uvperf__handle_t *self = handle->impl;

  self->was_switched |= rc == 0;
  return rc;
}

int uvperf_enable(uvperf_handle_t *handle, size_t attr, uvperf_error_t *error) {
  const uvperf__control_ops_t *ops;
  int rc = control_begin(handle, attr, 1, &ops, error);

  return rc != 0 ? rc
                 : control_end(handle, ops->enable(handle->impl, attr, error));
}

int uvperf_disable(uvperf_handle_t *handle, size_t attr,
                   uvperf_error_t *error) {
  const uvperf__control_ops_t *ops;
  int rc = control_begin(handle, attr, 1, &ops, error);

  return rc != 0 ? rc
                 : control_end(handle, ops->disable(handle->impl, attr, error));
}

int uvperf_reset(uvperf_handle_t *handle, size_t attr, uvperf_error_t *error) {
  const uvperf__control_ops_t *ops;
  int rc = control_begin(handle, attr, 1, &ops, error);

  return rc != 0 ? rc : ops->reset(handle->impl, attr, error);
}

int uvperf_change_period(uvperf_handle_t *handle, size_t attr, uint64_t period,
                         uvperf_error_t *error) {
  const uvperf__control_ops_t *ops;
  int rc = control_begin(handle, attr, 0, &ops, error);

  return rc != 0 ? rc : ops->change_period(handle->impl, attr, period, error);
}

int uvperf_apply_filter(uvperf_handle_t *handle, size_t attr,
                        const char *filter, uvperf_error_t *error) {
  const uvperf__control_ops_t *ops;
  int rc = control_begin(handle, attr, 0, &ops, error);

  if (rc == 0 && filter == NULL)
    return uvperf__error_argument(error, "filter must not be NULL");
  return rc != 0 ? rc : ops->apply_filter(handle->impl, attr, filter, error);
}

int uvperf_attach_bpf(uvperf_handle_t *handle, size_t attr, int prog_fd,
                      uint64_t cookie, uvperf_error_t *error) {
  const uvperf__control_ops_t *ops;
  int rc = control_begin(handle, attr, 0, &ops, error);

  return rc != 0 ? rc
                 : ops->attach_bpf(handle->impl, attr, prog_fd, cookie, error);
}

int uvperf_query_bpf(uvperf_handle_t *handle, size_t attr, uint32_t *ids,
                     size_t *nr, uvperf_error_t *error) {
  const uvperf__control_ops_t *ops;
  int rc = control_begin(handle, attr, 0, &ops, error);

  if (rc == 0 && (nr == NULL || (ids == NULL && *nr != 0)))
    return uvperf__error_argument(
        error, "nr must not be NULL, nor ids unless *nr is 0");
  return rc != 0 ? rc : ops->query_bpf(handle->impl, attr, ids, nr, error);
}

const uvperf_change_t *uvperf_changes(const uvperf_handle_t *handle,
                                      size_t attr, size_t *nr) {
  const uvperf__handle_t *self = uvperf__handle_impl(handle);

  *nr = 0;
  return self->kind->control == NULL
             ? NULL
             : self->kind->control->changes(self, attr, nr);
}

const struct perf_event_attr *uvperf_handle_attr(const uvperf_handle_t *handle,
                                                 size_t attr) {
  const uvperf__handle_t *self = uvperf__handle_impl(handle);

  return self->kind->attr(self, attr);
}
