/* SPDX-License-Identifier: MIT */
/* How many files a tool may have open: each event takes an fd. */
#ifndef COMMON_FILES_H
#define COMMON_FILES_H

#include <sys/resource.h>

/* Allows as many as the user may have. *before, unless it is NULL, receives the
 * limit that was, for common_files_restore: a command is not to get another
 * than it would have without us. */
void common_files_raise(struct rlimit *before);
void common_files_restore(const struct rlimit *before);

#endif
