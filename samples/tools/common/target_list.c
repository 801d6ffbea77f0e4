/* SPDX-License-Identifier: MIT */
#include "common/target_list.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

uvperf_target_t *common_target_list_add(common_target_list_t *list,
                                        uint32_t type) {
  static const uvperf_target_t init = UVPERF_TARGET_INIT;
  uvperf_target_t *target;

  target = COMMON_ADD(list->targets, list->nr, list->capacity);
  *target = init;
  target->type = type;
  return target;
}

void common_target_list_add_ids(common_target_list_t *list,
                                const common_ids_t *ids, uint32_t type,
                                uint32_t flags) {
  uvperf_target_t *target;
  size_t i;

  for (i = 0; i < ids->nr; i++) {
    target = common_target_list_add(list, type);
    target->pid = ids->ids[i];
    target->flags = flags;
  }
}

void common_target_list_add_cgroups(common_target_list_t *list,
                                    const common_texts_t *cgroups,
                                    const char *cpus) {
  uvperf_target_t *target;
  size_t i;

  for (i = 0; i < cgroups->nr; i++) {
    target = common_target_list_add(list, UVPERF_TARGET_CGROUP);
    target->cgroup = cgroups->texts[i];
    target->cpus = cpus;
  }
}

void common_target_list_free(common_target_list_t *list) {
  free(list->targets);
  memset(list, 0, sizeof(*list));
}
