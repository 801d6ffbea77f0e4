/* SPDX-License-Identifier: MIT */
/* Whether the kernel of a recording is the one that runs here: only then are
 * its functions those of /proc/kallsyms, perhaps moved (KASLR). */
#ifndef PROFILE_KERNEL_H
#define PROFILE_KERNEL_H

#include <stdint.h>

#include "common/recording/recording.h"
#include "profile/account.h"

typedef struct profile_kernel_s {
  int is_known; /* the file has its mapping */
  uint64_t start, end;
  char symbol[16];  /* "_text" or "_stext" */
  uint64_t address; /* of that symbol, as recorded */
  unsigned char build_id[20];
  size_t build_id_bytes;
  int has_moved_modules; /* one lies elsewhere now */
  char *modules;         /* /proc/modules */
} profile_kernel_t;

void profile_kernel_free(profile_kernel_t *kernel);

/* Looks at a mapping of the kernel itself; others are ignored. */
void profile_kernel_see(profile_kernel_t *kernel,
                        const uvperf_record_t *record);

/* To be called before the first sample: sets what the account has to know, and
 * the options of symbols. NULL, or why there are no names. */
const char *profile_kernel_decide(const profile_kernel_t *kernel,
                                  recording_t *recording,
                                  profile_account_t *account,
                                  symbols_options_t *options);

#endif
