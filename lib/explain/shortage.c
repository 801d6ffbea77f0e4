/* SPDX-License-Identifier: MIT */
/* Why there is no fd or no memory, for whatever was tried. Those of events
 * themselves, and of their rings, are explain_open.c's and explain_map.c's. */
#include "explain/explain.h"

#include <errno.h>

#include "util/file.h"

int uvperf__explain_shortage(uvperf_error_t *error, int code,
                             const char *what) {
  uvperf__fd_limits_t fds;

  if (code == -ENOMEM)
    return uvperf__explain(error, code, UVPERF_CAUSE_MEMORY,
                           "%s: memory ran out", what);
  if (code == -ENFILE)
    return uvperf__explain(error, code, UVPERF_CAUSE_FILES,
                           "%s: the system's table of open files is full: "
                           "raise fs.file-max",
                           what);
  uvperf__fd_limits(&fds);
  uvperf__explain(error, code, UVPERF_CAUSE_FILES,
                  "%s: all %llu fds that RLIMIT_NOFILE allows are open: raise "
                  "it",
                  what, (unsigned long long)fds.soft);
  if (error != NULL) {
    error->limit = fds.soft;
    error->needed = fds.needed;
  }
  return code;
}

int uvperf__is_explained_shortage(const uvperf_error_t *error) {
  return uvperf__is_shortage(error->code) &&
         (error->cause == UVPERF_CAUSE_FILES ||
          error->cause == UVPERF_CAUSE_MEMORY);
}
