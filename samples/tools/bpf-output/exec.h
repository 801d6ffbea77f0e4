/* SPDX-License-Identifier: MIT */
/* The data that exec.bpf.c outputs for each exec. Both sides include their own
 * types of fixed size first. */
#ifndef BPF_OUTPUT_EXEC_H
#define BPF_OUTPUT_EXEC_H

/* TASK_COMM_LEN of the kernel. */
#define EXEC_COMM_BYTES 16

/* PATH_MAX plus the prefix "/dev/fd/2147483647/", which execveat(2) adds to a
 * path that is relative to a directory (alloc_bprm() in fs/exec.c). */
#define EXEC_FILENAME_BYTES 4352

struct exec_head {
  __u64 time; /* ns of CLOCK_MONOTONIC */
  __u32 pid;
  __u32 ppid;
  char comm[EXEC_COMM_BYTES];
  /* Bytes of the filename, including the final 0: how many follow here, and how
   * many the whole filename has. The size of the sample does not show this,
   * because the kernel pads it. */
  __u32 filename_bytes;
  __u32 filename_bytes_all;
};

/* Only the first filename_bytes of the filename are output. */
struct exec_event {
  struct exec_head head;
  char filename[EXEC_FILENAME_BYTES];
};

#endif
