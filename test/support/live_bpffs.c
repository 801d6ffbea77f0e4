/* SPDX-License-Identifier: MIT */
#include "live_bpffs.h"

#include <stdlib.h>
#include <sys/mount.h>
#include <unistd.h>

#include "live_bpf.h"
#include "live_bpf_array.h"

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

int live_bpffs_pin_array(live_bpffs_t *bpffs, const char *test,
                         uint32_t entries) {
  int array = live_bpf_array_make(test, entries);

  live_bpf_array_need_files(test);
  if (!live_bpffs_mount(bpffs)) {
    close(array);
    support_skip(test, "mount(2), of a bpffs");
  }
  assert_int_equal(live_bpffs_pin(bpffs, array), 0);
  return array;
}

void live_bpffs_umount(const live_bpffs_t *bpffs) {
  assert_int_equal(umount2(bpffs->directory, MNT_DETACH), 0);
  assert_int_equal(rmdir(bpffs->directory), 0);
}
