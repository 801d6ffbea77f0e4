/* SPDX-License-Identifier: MIT */
/* Opens the files of other processes: what was mapped and nothing else. Blocks:
 * for libuv's pool. */
#ifndef SYMBOLS_OPEN_H
#define SYMBOLS_OPEN_H

#include <stddef.h>

#include "common/symbols/symbols.h"
#include "common/symbols/worker.h"

/* The file of a mapping: an fd, or -1 with the reason. A regular file that is
 * the mapped one, as far as the mapping has an inode or a build id; the build
 * id is compared by who reads it. */
int symbols_open_file(const symbols_mapping_t *mapping,
                      char reason[SYMBOLS_REASON_BYTES]);

/* A copy of this process's own vdso, if the mapping is of the same. */
int symbols_open_vdso(const symbols_mapping_t *mapping,
                      char reason[SYMBOLS_REASON_BYTES]);

/* The directory /proc/PID, which stays that of this process when its number is
 * used again; -1 if it has ended. */
int symbols_open_process(uint32_t pid);

/* The process's /tmp/perf-PID.map, if it is a regular file of its user. */
int symbols_open_perf_map(int process, char reason[SYMBOLS_REASON_BYTES]);

#endif
