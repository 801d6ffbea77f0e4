/* SPDX-License-Identifier: MIT */
/* Checks which targets may be measured: this user's tasks, tasks of others,
 * CPUs, cgroups. */
#include "doctor/check.h"

#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <string.h>
#include <sys/stat.h>

static doctor_result_t own_thread(doctor_try_t *try) {
  try->attr.exclude_kernel = !try->check->arg;
  try->attr.exclude_hv = !try->check->arg;
  return DOCTOR_YES;
}

static doctor_result_t own_process(doctor_try_t *try) {
  try->options.pid = try->machine->child;
  if (try->machine->child != 0)
    return DOCTOR_YES;
  return doctor_cannot(try->item, DOCTOR_UNKNOWN, try->machine->child_code,
                       UVPERF_CAUSE_UNKNOWN,
                       "there is no child to try: fork(2) failed");
}

/* Process 1, which in a container may belong to the same user. */
static doctor_result_t process_1(doctor_try_t *try) {
  struct stat about;

  try->options.pid = 1;
  if (stat("/proc/1", &about) == 0)
    doctor_item_text(try->item, "of uid %u", (unsigned int)about.st_uid);
  return DOCTOR_YES;
}

static doctor_result_t cpu(doctor_try_t *try) {
  try->options.pid = -1;
  try->options.cpu = try->machine->cpus.ids[0];
  try->options.flags |= UVPERF_EVENT_CPU;
  doctor_item_text(try->item, "CPU %d", try->machine->cpus.ids[0]);
  return DOCTOR_YES;
}

/* Opens the top cgroup of the hierarchy with perf_event: v1 if it is mounted,
 * otherwise v2. Returns the fd, -ENODEV if neither is mounted, or another
 * -errno. */
static int open_cgroup(doctor_item_t *item) {
  FILE *mounts = setmntent("/proc/self/mounts", "re");
  struct mntent *mount;
  int is_v1 = 0, fd;

  if (mounts == NULL)
    return -errno;
  while (!is_v1 && (mount = getmntent(mounts)) != NULL) {
    is_v1 = strcmp(mount->mnt_type, "cgroup") == 0 &&
            hasmntopt(mount, "perf_event") != NULL;
    if (is_v1 || strcmp(mount->mnt_type, "cgroup2") == 0)
      doctor_item_text(item, "%s", mount->mnt_dir);
  }
  endmntent(mounts);
  if (item->text[0] == '\0')
    return -ENODEV;
  fd = open(item->text, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return fd >= 0 ? fd : -errno;
}

/* doctor_checks_run closes the fd. */
static doctor_result_t cgroup(doctor_try_t *try) {
  int fd = open_cgroup(try->item);

  try->options.cgroup = fd;
  try->options.cpu = try->machine->cpus.ids[0];
  try->options.flags |= UVPERF_EVENT_CPU | UVPERF_EVENT_CGROUP;
  if (fd >= 0)
    return DOCTOR_YES;
  if (fd != -ENODEV)
    return doctor_unreadable(
        try->item, try->machine, fd,
        try->item->text[0] == '\0' ? "/proc/self/mounts"
                                   : "the cgroup's directory",
        try->item->text[0] == '\0' ? DOCTOR_MOUNT_PROC : "");
  snprintf(try->item->remedy, sizeof(try->item->remedy),
           "as root: mount -t cgroup2 cgroup2 /sys/fs/cgroup");
  return doctor_cannot(try->item, DOCTOR_UNKNOWN, fd, UVPERF_CAUSE_UNKNOWN,
                       "neither cgroup v2 nor a hierarchy with perf_event is "
                       "mounted");
}

static const doctor_check_t checks[] = {
    DOCTOR_OWN("own_user", "own thread, user side", own_thread, 0),
    {"own_kernel", "own thread, kernel side", own_thread, 1, DOCTOR_NEED_KERNEL,
     NULL},
    DOCTOR_OWN("own_process", "another process of this user", own_process, 0),
    {"process_1", "process 1", process_1, 0, DOCTOR_NEED_OWNER, NULL},
    {"cpu", "every task on a CPU", cpu, 0, DOCTOR_NEED_CPU, NULL},
    {"cgroup", "a cgroup", cgroup, 0, DOCTOR_NEED_CPU, NULL},
};

void doctor_targets(doctor_report_t *report, doctor_machine_t *machine) {
  doctor_checks_run(report, machine, "targets", checks,
                    sizeof(checks) / sizeof(checks[0]));
}
