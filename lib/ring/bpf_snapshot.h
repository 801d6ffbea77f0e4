/* SPDX-License-Identifier: MIT */
/* Snapshots of a BPF ring buffer that overwrites its oldest records. */
#ifndef UVPERF_LIB_RING_BPF_SNAPSHOT_H
#define UVPERF_LIB_RING_BPF_SNAPSHOT_H

#include "ring/snapshot.h"

/* Does the second step of snapshot.h for such a ring. The records from the last
 * snapshot on, up to the first that is busy, are in the image. With
 * UVPERF_SNAPSHOT_ALL these are all that are left. Returns 0, or -ENOMEM. */
int uvperf__bpf_snapshot_copy(uvperf__snapshot_t *snapshot, uint32_t flags);

#endif
