/* SPDX-License-Identifier: MIT */
/* Opens the mapped files of other processes, and no other files. Blocks, so
 * call it on libuv's pool. */
#ifndef SYMBOLS_OPEN_H
#define SYMBOLS_OPEN_H

#include <stddef.h>

#include "profile/symbols/symbols.h"
#include "profile/symbols/worker.h"

/* Opens the file of a mapping. Returns an fd, or -1 with the reason. The file
 * is a regular ELF file. It is the mapped file as far as the mapping's device
 * and inode show this. They do not show it for certain, so the reader of the
 * file compares the build id, if there is one. A mapping with neither an inode
 * nor a build id names no file: otherwise a recording could name any file. */
int symbols_open_file(const symbols_mapping_t *mapping,
                      char reason[SYMBOLS_REASON_BYTES]);

/* Returns when a file was changed last, in nanoseconds since 1970; or 0. Sets
 * *inode, which may be NULL. */
uint64_t symbols_open_change(int fd, uint64_t *inode);

/* Opens perf's copy of a file, as it was before it was stripped: the copy has
 * the build id and is larger than the file `fd`. Returns -1 if there is none.
 */
int symbols_open_whole(int fd, const unsigned char *build_id, size_t bytes);

/* Opens a copy of this process's own vdso, if the mapping is of the same
 * vdso. */
int symbols_open_vdso(const symbols_mapping_t *mapping,
                      char reason[SYMBOLS_REASON_BYTES]);

/* Opens the directory /proc/PID. Returns -1 if the process has ended. The fd
 * never refers to another process with the same number. */
int symbols_open_process(uint32_t pid);

/* Opens the process's /tmp/perf-PID.map, if it is a regular file of its
 * user. */
int symbols_open_perf_map(int process, char reason[SYMBOLS_REASON_BYTES]);

/* Opens /tmp/perf-PID.map of a process that has ended, as perf report does, if
 * it is a regular file of this user or of root. */
int symbols_open_recorded_map(uint32_t pid, char reason[SYMBOLS_REASON_BYTES]);

#endif
