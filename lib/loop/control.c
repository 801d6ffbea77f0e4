/* SPDX-License-Identifier: MIT */
/* Operations on the events of a handle: enable, disable, reset, and changes of
 * an attr. Each kind of handle has its own functions for them. */
#include "loop/handle.h"

#include "util/error.h"

/* Returns the operations of a handle that can be used, or NULL, a code and the
 * error. */
static const uvperf__control_ops_t *
control_begin(const uvperf__handle_t *self, int *rc, uvperf_error_t *error) {
  *rc = uvperf__handle_check(self, error);
  if (*rc != 0)
    return NULL;
  if (self->kind->control == NULL)
    *rc = uvperf__error_set(error, UV_EINVAL, UVPERF_CAUSE_ARGUMENT,
                            "the %s has no such control; start it, or publish "
                            "its events",
                            self->kind->noun);
  return self->kind->control;
}

int uvperf_enable(uvperf_handle_t *handle, size_t attr, uvperf_error_t *error) {
  uvperf__handle_t *self = uvperf__handle_impl(handle);
  int rc;
  const uvperf__control_ops_t *ops = control_begin(self, &rc, error);

  if (ops == NULL)
    return rc;
  rc = ops->enable(self, attr, error);
  self->was_switched |= rc == 0;
  return rc;
}

int uvperf_disable(uvperf_handle_t *handle, size_t attr,
                   uvperf_error_t *error) {
  uvperf__handle_t *self = uvperf__handle_impl(handle);
  int rc;
  const uvperf__control_ops_t *ops = control_begin(self, &rc, error);

  if (ops == NULL)
    return rc;
  rc = ops->disable(self, attr, error);
  self->was_switched |= rc == 0;
  return rc;
}

int uvperf_reset(uvperf_handle_t *handle, size_t attr, uvperf_error_t *error) {
  uvperf__handle_t *self = uvperf__handle_impl(handle);
  int rc;
  const uvperf__control_ops_t *ops = control_begin(self, &rc, error);

  return ops == NULL ? rc : ops->reset(self, attr, error);
}

int uvperf_change_period(uvperf_handle_t *handle, size_t attr, uint64_t period,
                         uvperf_error_t *error) {
  uvperf__handle_t *self = uvperf__handle_impl(handle);
  int rc;
  const uvperf__control_ops_t *ops = control_begin(self, &rc, error);

  return ops == NULL ? rc : ops->change_period(self, attr, period, error);
}

int uvperf_apply_filter(uvperf_handle_t *handle, size_t attr,
                        const char *filter, uvperf_error_t *error) {
  uvperf__handle_t *self = uvperf__handle_impl(handle);
  int rc;
  const uvperf__control_ops_t *ops = control_begin(self, &rc, error);

  if (ops == NULL)
    return rc;
  if (filter == NULL)
    return uvperf__error_set(error, UV_EINVAL, UVPERF_CAUSE_ARGUMENT,
                             "filter must not be NULL");
  return ops->apply_filter(self, attr, filter, error);
}

int uvperf_attach_bpf(uvperf_handle_t *handle, size_t attr, int prog_fd,
                      uint64_t cookie, uvperf_error_t *error) {
  uvperf__handle_t *self = uvperf__handle_impl(handle);
  int rc;
  const uvperf__control_ops_t *ops = control_begin(self, &rc, error);

  return ops == NULL ? rc : ops->attach_bpf(self, attr, prog_fd, cookie, error);
}

int uvperf_query_bpf(uvperf_handle_t *handle, size_t attr, uint32_t *ids,
                     size_t *nr, uvperf_error_t *error) {
  uvperf__handle_t *self = uvperf__handle_impl(handle);
  int rc;
  const uvperf__control_ops_t *ops = control_begin(self, &rc, error);

  if (ops == NULL)
    return rc;
  if (nr == NULL || (ids == NULL && *nr != 0))
    return uvperf__error_set(error, UV_EINVAL, UVPERF_CAUSE_ARGUMENT,
                             "nr must not be NULL, nor ids unless *nr is 0");
  return ops->query_bpf(self, attr, ids, nr, error);
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
