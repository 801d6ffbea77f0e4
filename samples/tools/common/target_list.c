/* SPDX-License-Identifier: MIT */
#include "common/target_list.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

uvperf_target_t *shared_target_list_add(shared_target_list_t *list,
                                        uint32_t type) {
  static const uvperf_target_t init = UVPERF_TARGET_INIT;
  uvperf_target_t *target;

  if (list->nr == list->capacity)
    list->targets =
        shared_grow(list->targets, &list->capacity, sizeof(*list->targets));
  target = &list->targets[list->nr++];
  *target = init;
  target->type = type;
  return target;
}

void shared_target_list_add_ids(shared_target_list_t *list,
                                const shared_ids_t *ids, uint32_t type,
                                uint32_t flags) {
  uvperf_target_t *target;
  size_t i;

  for (i = 0; i < ids->nr; i++) {
    target = shared_target_list_add(list, type);
    target->pid = ids->ids[i];
    target->flags = flags;
  }
}

void shared_target_list_free(shared_target_list_t *list) {
  free(list->targets);
  memset(list, 0, sizeof(*list));
}
