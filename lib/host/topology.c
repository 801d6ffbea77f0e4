/* SPDX-License-Identifier: MIT */
/* Reads /sys/devices/system/cpu/cpuN/topology. */
#include "host/topology.h"

#include <errno.h>
#include <stdio.h>

#include "host/system.h"

static int read_id(const char *root, int cpu, const char *name, uint32_t *id) {
  int64_t number;
  char path[80];
  int rc;

  snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/%s", cpu,
           name);
  rc = uvperf__system_number(root, path, &number);
  *id = rc == 0 && number > 0 ? (uint32_t)number : 0;
  return rc;
}

int uvperf__cpu_package(const char *root, int cpu, uint64_t *package) {
  uint32_t socket, die;
  int rc = read_id(root, cpu, "physical_package_id", &socket);

  *package = 0;
  if (rc != 0)
    return rc;
  rc = read_id(root, cpu, "die_id", &die);
  if (rc != 0 && rc != -ENOENT)
    return rc;
  *package = (uint64_t)socket << 32 | die;
  return 0;
}
