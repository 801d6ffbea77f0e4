/* SPDX-License-Identifier: MIT */
#include "common/files.h"

#include <string.h>

void common_files_raise(struct rlimit *before) {
  struct rlimit limit;

  if (before != NULL)
    memset(before, 0, sizeof(*before));
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return;
  if (before != NULL)
    *before = limit;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

void common_files_restore(const struct rlimit *before) {
  if (before->rlim_max != 0)
    setrlimit(RLIMIT_NOFILE, before);
}
