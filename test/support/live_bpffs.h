/* SPDX-License-Identifier: MIT */
/* A BPF file system that is mounted for one test. */
#ifndef UVPERF_TEST_LIVE_BPFFS_H
#define UVPERF_TEST_LIVE_BPFFS_H

#include <stdint.h>

typedef struct live_bpffs_s {
  char directory[32];
  char path[48]; /* of the one object pinned in it */
} live_bpffs_t;

/* Returns 1; or 0, with nothing left, if this process may not mount one. */
int live_bpffs_mount(live_bpffs_t *bpffs);

/* Pins the object of this fd. Returns 0, or -1 and sets errno. */
int live_bpffs_pin(const live_bpffs_t *bpffs, int fd);

/* Makes a perf event array, pins it and returns its fd. Skips the test if that
 * is forbidden. */
int live_bpffs_pin_array(live_bpffs_t *bpffs, const char *test,
                         uint32_t entries);

void live_bpffs_umount(const live_bpffs_t *bpffs);

#endif
