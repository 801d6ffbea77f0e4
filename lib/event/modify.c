/* SPDX-License-Identifier: MIT */
/* Changes the attr of an open breakpoint, and keeps it running or stopped, as
 * it was. */
#include "event/internal.h"

#include <string.h>

#include <sys/ioctl.h>

#include "attr/attr.h"
#include "explain/explain.h"
#include "sys/sys.h"
#include "util/alloc.h"
#include "util/error.h"

static int is_zero(const void *bytes, size_t size) {
  const uint8_t *byte = bytes;
  size_t i;

  for (i = 0; i < size && byte[i] == 0; i++)
    continue;
  return i == size;
}

/* Gives the attr the size of the one that was opened, as the kernel compares
 * that too (modify_user_hw_breakpoint_check). One that holds more than that is
 * left as it is, for the kernel to refuse. */
static int resize(struct perf_event_attr **attr, uint32_t size) {
  uint32_t old_size = (*attr)->size;
  struct perf_event_attr *larger;

  if (old_size < size) {
    larger = uvperf__calloc(1, size > sizeof(**attr) ? size : sizeof(**attr));
    if (larger == NULL)
      return UV_ENOMEM;
    memcpy(larger, *attr, old_size);
    uvperf__free(*attr);
    *attr = larger;
  } else if (!is_zero((const uint8_t *)*attr + size, old_size - size)) {
    return 0;
  }
  (*attr)->size = size;
  return 0;
}

/* The kernel has disabled the breakpoint, whether it took the new attr or not,
 * and enables it by attr.disabled of the new one, or of the old one if it
 * refused (perf_event_modify_breakpoint). That is always 1 here, so that it
 * never runs where it should not. */
static int restart(event_t *impl) {
  int rc;

  if (!impl->enabled)
    return 0;
  rc = uvperf__event_enable_alone(impl);
  if (rc == 0)
    uvperf__event_unstick(impl);
  return rc;
}

/* perf_event_modify_attr copies sig_data before it looks whether it can take
 * the rest. */
static void restore_sig_data(event_t *impl,
                             const struct perf_event_attr *wanted) {
  if (uvperf__attr_value(wanted, UVPERF_ATTR_SIG_DATA) !=
      uvperf__attr_value(impl->attr, UVPERF_ATTR_SIG_DATA))
    uvperf__sys_ioctl_ptr(impl->fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES,
                          impl->attr);
}

static int modify(event_t *impl, struct perf_event_attr *wanted,
                  uvperf_error_t *error) {
  uvperf__control_t control = {PERF_EVENT_IOC_MODIFY_ATTRIBUTES, impl->attr, 0,
                               NULL, wanted};
  int started = 0;
  int rc;

  rc =
      uvperf__sys_ioctl_ptr(impl->fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, wanted);
  if (rc < 0)
    uvperf__explain_control(error, rc, "", &control);
  if (impl->attr->type == PERF_TYPE_BREAKPOINT) {
    if (rc < 0)
      restore_sig_data(impl, wanted);
    started = restart(impl);
  }
  if (rc < 0)
    return rc;
  memcpy(impl->attr, wanted, impl->attr->size);
  uvperf__event_attr_changed(impl);
  if (started >= 0)
    return 0;
  impl->enabled = 0;
  control.request = PERF_EVENT_IOC_ENABLE;
  return uvperf__explain_control(error, started, "", &control);
}

int uvperf_event_modify(uvperf_event_t *event,
                        const struct perf_event_attr *attr,
                        uvperf_error_t *error) {
  event_t *impl = uvperf__event_impl(event);
  struct perf_event_attr *wanted;
  int rc = uvperf__event_check_process(impl, error);

  if (rc != 0)
    return rc;
  if (attr == NULL)
    return uvperf__error_set(error, UV_EINVAL, UVPERF_CAUSE_ARGUMENT,
                             "attr must not be NULL");
  rc = uvperf__event_attr_copy(&wanted, attr, impl->flags, error);
  if (rc != 0)
    return rc;
  rc = resize(&wanted, impl->attr->size);
  if (rc != 0)
    uvperf__error_set(error, rc, UVPERF_CAUSE_MEMORY,
                      "no memory for the changed attr");
  else
    rc = modify(impl, wanted, error);
  uvperf__free(wanted);
  return rc;
}
