/* SPDX-License-Identifier: MIT */
/* Files that a tool writes, often as root and in a directory such as /tmp,
 * where other users can put links and files before. */
#ifndef COMMON_OUT_FILE_H
#define COMMON_OUT_FILE_H

#define COMMON_OUT_REASON 128

enum common_out_mode {
  COMMON_OUT_TRUNCATE,
  COMMON_OUT_APPEND,
  COMMON_OUT_KEEP, /* the caller truncates it later */
  /* Renames an existing file that is not empty to NAME.old, as perf record
   * does. */
  COMMON_OUT_RENAME,
  /* Does not create a file. Opens for reading too, and does not wait for the
   * other end of a FIFO. */
  COMMON_OUT_EXISTING
};

/* Opens a file to write to. Returns an fd, or -1 and the reason.
 *
 * - A new file is for its owner alone (mode 0600). The mode of an existing file
 *   does not change.
 * - No link of another user is followed.
 * - A regular file of another user is refused to root. A regular file or a FIFO
 *   of another user in a directory with the sticky bit is refused to all users.
 *   COMMON_OUT_EXISTING does not check this.
 *
 * Other FIFOs, devices, /dev/stdout and /dev/fd/N are opened as they are. */
int common_out_file_open(const char *path, enum common_out_mode mode,
                         char reason[COMMON_OUT_REASON]);

#endif
