/* SPDX-License-Identifier: MIT */
/* Follows the kernel's modules, which come and go without records. */
#ifndef PROFILE_MODULES_H
#define PROFILE_MODULES_H

#include "profile/account.h"

typedef struct profile_module_s {
  char name[64];
  uint64_t start, size;
} profile_module_t;

typedef struct profile_modules_s {
  const char *path; /* NULL: modules are not followed */
  profile_module_t *modules;
  size_t nr, capacity;
} profile_modules_t;

/* Reads the list that all later ones are compared with: /proc/modules, or
 * another file like it. `path` must stay valid. */
void profile_modules_init(profile_modules_t *modules, const char *path);
void profile_modules_free(profile_modules_t *modules);

/* Returns 1 if a module is in the list. The bytes after its name are 0. */
int profile_modules_has(const profile_modules_t *modules,
                        const profile_module_t *module);

/* Reads the list again; call it each second. Names of new modules are looked
 * up. If a module has gone, no name is looked up at its addresses any more, and
 * later samples there stand alone. A module that came and went between two
 * calls is not seen. */
void profile_modules_check(profile_modules_t *modules,
                           profile_account_t *account);

#endif
