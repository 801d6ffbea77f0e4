/* SPDX-License-Identifier: MIT */
/* What exec.bpf.c hands out of each exec, and its reader reads. Both sides
 * include their own types of fixed size first. */
#ifndef BPF_OUTPUT_EXEC_H
#define BPF_OUTPUT_EXEC_H

/* TASK_COMM_LEN of the kernel. */
#define EXEC_COMM_BYTES 16

/* PATH_MAX, and what execveat(2) puts before a path that is relative to a
 * directory: "/dev/fd/2147483647/" (alloc_bprm() in fs/exec.c). */
#define EXEC_FILENAME_BYTES 4352

struct exec_head {
  __u64 time; /* ns of CLOCK_MONOTONIC */
  __u32 pid;
  __u32 ppid;
  char comm[EXEC_COMM_BYTES];
  /* Bytes of the filename with its end: how many follow, and how many it has.
   * The size of a sample does not tell, as the kernel pads it. */
  __u32 filename_bytes;
  __u32 filename_bytes_all;
};

/* Only the first filename_bytes of the filename are handed out. */
struct exec_event {
  struct exec_head head;
  char filename[EXEC_FILENAME_BYTES];
};

#endif
