/* SPDX-License-Identifier: MIT */
/* Reads the properties of the machine, and starts a child as a target. Opens no
 * events. */
#include "doctor/machine.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/loop.h"
#include "common/memory.h"

/* Starts a child that only waits. The child ends when this process ends,
 * however that happens. */
static pid_t fork_waiter(void) {
  pid_t parent = getpid(), child = fork();

  if (child != 0)
    return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  while (getppid() == parent)
    pause();
  _exit(0);
}

static int add_pmu(const uvperf_pmu_t *pmu, void *arg) {
  doctor_machine_t *machine = arg;
  doctor_pmu_t *added;

  added = COMMON_ADD(machine->pmus, machine->nr_pmus, machine->pmu_capacity);
  snprintf(added->name, sizeof(added->name), "%s", pmu->name);
  added->type = pmu->type;
  return 0;
}

int doctor_machine_pmu(const doctor_machine_t *machine, const char *name,
                       uint32_t *type) {
  size_t i;

  for (i = 0; i < machine->nr_pmus; i++) {
    if (strcmp(machine->pmus[i].name, name) != 0)
      continue;
    *type = machine->pmus[i].type;
    return 0;
  }
  return -ENOENT;
}

/* Reads the mode from /proc/self/status. */
static int seccomp_mode(void) {
  FILE *status = fopen("/proc/self/status", "re");
  char line[256];
  int mode = -1;

  if (status == NULL)
    return -1;
  while (mode < 0 && fgets(line, sizeof(line), status) != NULL) {
    if (strncmp(line, "Seccomp:", 8) == 0)
      mode = (int)strtol(line + 8, NULL, 10);
  }
  fclose(status);
  return mode;
}

static int is_read_only(const char *path) {
  struct statvfs about;

  return statvfs(path, &about) == 0 && (about.f_flag & ST_RDONLY) != 0;
}

/* Counts the open fds, except the fd that this function opens. */
static int64_t count_fds(void) {
  DIR *directory = opendir("/proc/self/fd");
  struct dirent *entry;
  int64_t nr = -1;

  if (directory == NULL)
    return UVPERF_LIMIT_UNKNOWN;
  while ((entry = readdir(directory)) != NULL)
    nr += entry->d_name[0] != '.';
  closedir(directory);
  return nr;
}

/* Without /sys and /proc, uses the CPUs on which this process may run. */
static void find_cpus(doctor_machine_t *machine) {
  cpu_set_t ours;
  int cpu;

  machine->cpus_code = common_cpus_list(&machine->cpus, NULL);
  if (machine->cpus.nr > 0)
    return;
  CPU_ZERO(&ours);
  sched_getaffinity(0, sizeof(ours), &ours);
  for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
    if (CPU_ISSET((size_t)cpu, &ours))
      common_ids_add(&machine->cpus, cpu);
  if (machine->cpus.nr == 0)
    common_ids_add(&machine->cpus, 0);
}

int doctor_machine_init(doctor_machine_t *machine) {
  int rc;

  memset(machine, 0, sizeof(*machine));
  uvperf_system_limits(&machine->limits);
  machine->pmus_code = uvperf_pmu_walk(add_pmu, machine);
  machine->seccomp = seccomp_mode();
  machine->is_contained = is_read_only("/proc/sys/kernel");
  find_cpus(machine);
  machine->child = fork_waiter();
  if (machine->child < 0) {
    machine->child_code = -errno;
    machine->child = 0;
  }
  rc = common_loop_init(&machine->loop);
  machine->fds_open = count_fds();
  return rc;
}

void doctor_machine_free(doctor_machine_t *machine) {
  common_ids_free(&machine->cpus);
  free(machine->pmus);
  if (machine->child == 0)
    return;
  kill(machine->child, SIGKILL);
  waitpid(machine->child, NULL, 0);
  machine->child = 0;
}
