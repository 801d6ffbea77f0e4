/* SPDX-License-Identifier: MIT */
/* A list of targets for a set. */
#ifndef COMMON_TARGET_LIST_H
#define COMMON_TARGET_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "common/targets.h"
#include "uvperf.h"

typedef struct common_target_list_s {
  uvperf_target_t *targets;
  size_t nr;
  size_t capacity;
} common_target_list_t;

/* Adds a target of a type (enum uvperf_target_type). The list owns the target.
 * The pointer is valid until the next target is added. */
uvperf_target_t *common_target_list_add(common_target_list_t *list,
                                        uint32_t type);

/* Adds a target for each id. */
void common_target_list_add_ids(common_target_list_t *list,
                                const common_ids_t *ids, uint32_t type,
                                uint32_t flags);

/* Adds a target for each cgroup. The list points to the strings. */
void common_target_list_add_cgroups(common_target_list_t *list,
                                    const common_texts_t *cgroups,
                                    const char *cpus);

void common_target_list_free(common_target_list_t *list);

#endif
