/* SPDX-License-Identifier: MIT */
#include "live_bpffs.h"

#include <stdlib.h>
#include <sys/mount.h>
#include <unistd.h>

#include "live_bpf.h"

int live_bpffs_mount(live_bpffs_t *bpffs) {
  strcpy(bpffs->directory, "/tmp/uvperf-bpffs-XXXXXX");
  assert_non_null(mkdtemp(bpffs->directory));
  snprintf(bpffs->path, sizeof(bpffs->path), "%s/pinned", bpffs->directory);
  if (mount("uvperf", bpffs->directory, "bpf", 0, NULL) == 0)
    return 1;
  rmdir(bpffs->directory);
  return 0;
}

int live_bpffs_pin(const live_bpffs_t *bpffs, int fd) {
  union bpf_attr attr;

  memset(&attr, 0, sizeof(attr));
  attr.pathname = (uintptr_t)bpffs->path;
  attr.bpf_fd = (uint32_t)fd;
  return live_bpf_call(BPF_OBJ_PIN, &attr);
}

void live_bpffs_umount(const live_bpffs_t *bpffs) {
  assert_int_equal(umount2(bpffs->directory, MNT_DETACH), 0);
  assert_int_equal(rmdir(bpffs->directory), 0);
}
