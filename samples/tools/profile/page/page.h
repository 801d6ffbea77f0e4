/* SPDX-License-Identifier: MIT */
/* Writes a profile as one HTML page that needs no network: a flame graph with
 * search, zoom and a table. */
#ifndef PAGE_PAGE_H
#define PAGE_PAGE_H

#include <stdio.h>

#include "profile/stacks/stacks.h"

/* `title` is plain text, such as "uvperf-profile -a on host". It need not be
 * trusted. Returns 0, or -errno if writing failed. */
int page_write(FILE *file, const stacks_t *stacks, const char *title);

#endif
