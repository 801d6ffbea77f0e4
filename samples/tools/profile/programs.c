/* SPDX-License-Identifier: MIT */
#include "profile/programs.h"

#include <string.h>

#include "common/bpf_programs.h"

static int add(void *arg, const common_bpf_function_t *function) {
  const uvperf_ksymbol_t ksymbol = {.addr = function->addr,
                                    .len = function->len,
                                    .name = function->name,
                                    .name_size = strlen(function->name)};

  profile_account_function(arg, &ksymbol, function->id);
  return 0;
}

void profile_programs_read(profile_account_t *account) {
  common_bpf_walk(add, account);
}

static int mark(void *arg, const common_bpf_function_t *function) {
  const profile_objects_t *objects = arg;
  profile_object_t *object;
  size_t i;

  for (i = PROFILE_OBJECTS_FIXED; i < objects->nr; i++) {
    object = profile_objects_get(objects, (uint32_t)i);
    if (object->is_function && object->inode == function->id)
      object->is_gone = 0;
  }
  return 0;
}

void profile_programs_check(const profile_account_t *account) {
  profile_objects_t objects = account->objects;
  profile_object_t *object;
  size_t i, nr = 0;

  for (i = PROFILE_OBJECTS_FIXED; i < objects.nr; i++) {
    object = profile_objects_get(&objects, (uint32_t)i);
    if (object->is_function && object->inode != 0) {
      object->is_gone = 1;
      nr++;
    }
  }
  if (nr > 0)
    common_bpf_walk(mark, &objects);
}
