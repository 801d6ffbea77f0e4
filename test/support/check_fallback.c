/* SPDX-License-Identifier: MIT */
#include "check_fallback.h"

#include <strings.h>

#include "attr/attr.h"

uvperf__fallback_t fallback_allow(uint32_t allowed) {
  uvperf__fallback_t fallback = {.allowed = allowed};

  return fallback;
}

int fallback_next(uvperf__fallback_t *fallback, struct perf_event_attr *attr,
                  int code, int cause) {
  uvperf_error_t failed;

  memset(&failed, 0, sizeof(failed));
  failed.code = code;
  failed.cause = cause;
  return uvperf__fallback_next(fallback, attr, attr->size, &failed);
}

void fallback_is(const uvperf_change_t *change, uint32_t which, uint32_t field,
                 uint64_t from, uint64_t to) {
  assert_int_equal(change->fallback, which);
  assert_int_equal(change->field, field);
  assert_int_equal(change->from, from);
  assert_int_equal(change->to, to);
  assert_int_equal(change->reserved, 0);
}

void fallback_changed(const uvperf__fallback_t *fallback,
                      const char *expected) {
  static const char *const names[] = {"clock", "user", "precise", "kernel"};
  const uvperf_change_t *change = fallback->changes;
  char text[512] = "";
  size_t i, used = 0;

  for (i = 0; i < fallback->nr; i++, change++) {
    assert_true(change->fallback <= UVPERF_FALLBACK_KERNEL);
    assert_int_equal(change->reserved, 0);
    used += (size_t)snprintf(
        text + used, sizeof(text) - used, "%s%s: %s %llu to %llu",
        i == 0 ? "" : ", ", names[ffs((int)change->fallback) - 1],
        uvperf__attr_field_name(change->field),
        (unsigned long long)change->from, (unsigned long long)change->to);
  }
  assert_string_equal(text, expected);
}
