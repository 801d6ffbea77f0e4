/* SPDX-License-Identifier: MIT */
/* A seccomp filter for the worker that reads files. The worker may read files,
 * allocate memory and answer. Any other system call ends it by SIGSYS. So a
 * file that has taken over the worker cannot write files, start programs, use
 * the network or send signals. */
#ifndef SYMBOLS_FILTER_H
#define SYMBOLS_FILTER_H

/* Returns NULL, or why there is no such filter here. */
const char *symbols_filter_lack(void);

/* Installs the filter for the rest of this process, which must have set
 * PR_SET_NO_NEW_PRIVS. Returns 0 or -errno. */
int symbols_filter_install(void);

#endif
