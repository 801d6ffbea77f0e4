/* SPDX-License-Identifier: MIT */
#include "names.h"

#include "event_name.h"

void names_check_good(const char *root, const names_good_t *good, size_t nr) {
  struct perf_event_attr attr, wanted;
  uvperf_error_t error;
  size_t i;

  for (i = 0; i < nr; i++) {
    memset(&error, 0, sizeof(error));
    memset(&attr, 0xa5, sizeof(attr));
    if (uvperf__attr_parse(root, &attr, sizeof(attr), good[i].name, &error))
      fail_msg("%s: column %u: %s", good[i].name, error.column, error.reason);
    wanted = good[i].attr;
    wanted.size = sizeof(attr);
    if (memcmp(&attr, &wanted, sizeof(attr)) != 0) {
      fprintf(stderr, "%s gives type %u, config %#llx, config1 %#llx\n",
              good[i].name, attr.type, attr.config, attr.config1);
      assert_memory_equal(&attr, &wanted, sizeof(attr));
    }
    assert_int_equal(error.code, 0);
  }
}

void names_check_bad(const char *root, const names_bad_t *bad, size_t nr) {
  struct perf_event_attr attr, before;
  uvperf_error_t error;
  size_t i;
  int rc;

  memset(&before, 0xa5, sizeof(before));
  for (i = 0; i < nr; i++) {
    attr = before;
    memset(&error, 0xa5, sizeof(error));
    rc = uvperf__attr_parse(root, &attr, sizeof(attr), bad[i].name, &error);
    if (rc != bad[i].code || error.code != rc || error.cause != bad[i].cause ||
        error.column != bad[i].column || error.attr_index != 0 ||
        strstr(error.reason, bad[i].text) == NULL)
      fail_msg("%s gives %d: code %d, cause %s, column %u: %s", bad[i].name, rc,
               error.code, uvperf_cause_name(error.cause), error.column,
               error.reason);
    assert_memory_equal(&attr, &before, sizeof(attr));
    assert_int_equal(
        uvperf__attr_parse(root, &attr, sizeof(attr), bad[i].name, NULL), rc);
  }
}
