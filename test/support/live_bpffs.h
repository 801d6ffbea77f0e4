/* SPDX-License-Identifier: MIT */
/* A file system of BPF objects that is mounted for a test alone. */
#ifndef UVPERF_TEST_LIVE_BPFFS_H
#define UVPERF_TEST_LIVE_BPFFS_H

#include <stdint.h>

typedef struct live_bpffs_s {
  char directory[32];
  char path[48]; /* of what is pinned in it: room for one */
} live_bpffs_t;

/* 1; or 0 where this process may not mount one, with nothing left. */
int live_bpffs_mount(live_bpffs_t *bpffs);

/* Pins what this fd is of: 0, or -1 and errno. */
int live_bpffs_pin(const live_bpffs_t *bpffs, int fd);

/* Makes a perf event array and pins it: its fd. Skips the test where that is
 * forbidden. */
int live_bpffs_pin_array(live_bpffs_t *bpffs, const char *test,
                         uint32_t entries);

void live_bpffs_umount(const live_bpffs_t *bpffs);

#endif
