/* SPDX-License-Identifier: MIT */
#include "profile/modules.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/small_file.h"

/* A line is "xfs 2109440 1 - Live 0xffffffffc0a00000", proc(5). A kernel
 * without modules has no such file. */
static void read_list(profile_modules_t *modules) {
  profile_module_t module;
  char *text, *line, *rest;
  size_t size;

  text = common_file_read(modules->path, &size);
  for (line = text == NULL ? NULL : strtok_r(text, "\n", &rest); line != NULL;
       line = strtok_r(NULL, "\n", &rest)) {
    memset(&module, 0, sizeof(module));
    if (sscanf(line, "%63s %" SCNu64 " %*s %*s %*s %" SCNx64, module.name,
               &module.size, &module.start) != 3)
      continue;
    *COMMON_ADD(modules->modules, modules->nr, modules->capacity) = module;
  }
  free(text);
}

void profile_modules_init(profile_modules_t *modules, const char *path) {
  memset(modules, 0, sizeof(*modules));
  modules->path = path;
  read_list(modules);
}

void profile_modules_free(profile_modules_t *modules) {
  free(modules->modules);
  memset(modules, 0, sizeof(*modules));
}

int profile_modules_has(const profile_modules_t *modules,
                        const profile_module_t *module) {
  size_t i;

  for (i = 0; i < modules->nr; i++) {
    if (memcmp(&modules->modules[i], module, sizeof(*module)) == 0)
      return 1;
  }
  return 0;
}

static void forget(profile_account_t *account, const profile_module_t *module) {
  const profile_map_t map = {.start = module->start,
                             .end = module->start + module->size,
                             .pgoff = module->start,
                             .object = PROFILE_OBJECT_OUTSIDE};

  profile_account_kernel_map(account, &map);
  symbols_kernel_gone(account->symbols, map.start, map.end);
}

void profile_modules_check(profile_modules_t *modules,
                           profile_account_t *account) {
  profile_modules_t before = *modules;
  size_t i;

  if (modules->path == NULL)
    return;
  profile_modules_init(modules, before.path);
  for (i = 0; i < before.nr; i++) {
    if (!profile_modules_has(modules, &before.modules[i]))
      forget(account, &before.modules[i]);
  }
  for (i = 0; i < modules->nr; i++) {
    if (!profile_modules_has(&before, &modules->modules[i])) {
      symbols_kernel_changed(account->symbols);
      break;
    }
  }
  profile_modules_free(&before);
}
