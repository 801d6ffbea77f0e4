/* SPDX-License-Identifier: MIT */
/* Opens the mapped files of other processes, and no others. Blocks: for libuv's
 * pool. */
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

/* The directory /proc/PID: -1 if the process has ended. It never becomes that
 * of another process with the same number. */
int symbols_open_process(uint32_t pid);

/* The process's /tmp/perf-PID.map, if it is a regular file of its user. */
int symbols_open_perf_map(int process, char reason[SYMBOLS_REASON_BYTES]);

/* /tmp/perf-PID.map of a process that has ended, as perf report takes it: a
 * regular file of this user or of root. */
int symbols_open_recorded_map(uint32_t pid, char reason[SYMBOLS_REASON_BYTES]);

#endif
