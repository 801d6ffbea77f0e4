/* SPDX-License-Identifier: MIT */
#include "check_fallback.h"

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

void fallback_changed(const uvperf__fallback_t *fallback, size_t nth,
                      uint32_t which, uint32_t field, uint64_t from,
                      uint64_t to) {
  assert_true(nth < fallback->nr);
  fallback_is(&fallback->changes[nth], which, field, from, to);
}
