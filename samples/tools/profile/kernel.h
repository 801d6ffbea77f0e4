/* SPDX-License-Identifier: MIT */
/* Checks whether a recording's kernel is the kernel that runs here. If it is
 * the same kernel, /proc/kallsyms has the names of its functions. The addresses
 * may still differ (KASLR). */
#ifndef PROFILE_KERNEL_H
#define PROFILE_KERNEL_H

#include <stdint.h>

#include "common/recording/recording.h"
#include "profile/account.h"
#include "profile/modules.h"

typedef struct profile_kernel_s {
  int is_known; /* the file has its mapping */
  uint64_t start, end;
  char symbol[16];  /* "_text" or "_stext" */
  uint64_t address; /* of that symbol, as recorded */
  unsigned char build_id[20];
  size_t build_id_bytes;
  profile_modules_t modules; /* of this machine */
  /* Mappings of modules that have the same name, size and address here. */
  profile_map_t *same;
  size_t nr_same, same_capacity;
} profile_kernel_t;

void profile_kernel_free(profile_kernel_t *kernel);

/* Processes a mapping of the kernel or a module; ignores other records. */
void profile_kernel_see(profile_kernel_t *kernel,
                        const uvperf_record_t *record);

/* Call it before the first sample. Sets the kernel's fields in the account and
 * in the options of symbols. Returns NULL, or the reason why kernel functions
 * have no names. */
const char *profile_kernel_decide(const profile_kernel_t *kernel,
                                  recording_t *recording,
                                  profile_account_t *account,
                                  symbols_options_t *options);

#endif
