/* SPDX-License-Identifier: MIT */
/* Writes a profile as pprof's profile.proto in gzip: for `go tool pprof`, and
 * for other programs that read the format. */
#ifndef PPROF_PPROF_H
#define PPROF_PPROF_H

#include <stdio.h>

#include "profile/stacks/stacks.h"

/* Returns 0, or -errno if writing failed. */
int pprof_write(FILE *file, const stacks_t *stacks);

#endif
