/* SPDX-License-Identifier: MIT */
/* Reads a file for each id. The name of a link, cpuN/nodeM, has the node. */
#include "common/topology.h"

#include <dirent.h>
#include <stdio.h>

#include "common/small_file.h"

int32_t common_topology_id(int cpu, const char *name) {
  char path[128];
  int64_t id;

  snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/%s", cpu,
           name);
  return common_file_number(path, &id) == 0 ? (int32_t)id : -1;
}

int32_t common_topology_node(int cpu) {
  struct dirent *entry;
  int32_t node = 0;
  char path[64];
  DIR *dir;

  snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d", cpu);
  dir = opendir(path);
  if (dir == NULL)
    return 0;
  while ((entry = readdir(dir)) != NULL) {
    if (sscanf(entry->d_name, "node%d", &node) == 1)
      break;
  }
  closedir(dir);
  return node;
}
