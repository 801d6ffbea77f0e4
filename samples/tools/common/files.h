/* SPDX-License-Identifier: MIT */
/* The limit of open files. Each event takes an fd. */
#ifndef COMMON_FILES_H
#define COMMON_FILES_H

#include <sys/resource.h>

/* Raises the limit as far as the user may. *before receives the old limit for
 * common_files_restore; `before` may be NULL. So a command gets the limit that
 * it would have without the tool. */
void common_files_raise(struct rlimit *before);
void common_files_restore(const struct rlimit *before);

#endif
