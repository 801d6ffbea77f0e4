/* SPDX-License-Identifier: MIT */
#include "live_container.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/capability.h>

#include "check_explain.h"
#include "host/system.h"

#define CAP(nr) (UINT64_C(1) << (nr))
#define PERFMON CAP(UVPERF__CAP_PERFMON)
#define BPF     CAP(UVPERF__CAP_BPF)

/* The capabilities in moby's oci/caps/defaults.go. */
#define DOCKER_CAPABILITIES                                                    \
  (CAP(CAP_CHOWN) | CAP(CAP_DAC_OVERRIDE) | CAP(CAP_FSETID) |                  \
   CAP(CAP_FOWNER) | CAP(CAP_MKNOD) | CAP(CAP_NET_RAW) | CAP(CAP_SETGID) |     \
   CAP(CAP_SETUID) | CAP(CAP_SETFCAP) | CAP(CAP_SETPCAP) |                     \
   CAP(CAP_NET_BIND_SERVICE) | CAP(CAP_SYS_CHROOT) | CAP(CAP_KILL) |           \
   CAP(CAP_AUDIT_WRITE))

static void must(int succeeds) {
  if (!succeeds)
    _exit(125);
}

/* Root keeps these; execve(2) gives root the bounding set. */
static void keep_as_root(uint64_t capabilities) {
  int nr;

  for (nr = 0; prctl(PR_CAPBSET_READ, nr, 0, 0, 0) >= 0; nr++)
    if (!(capabilities & CAP(nr)))
      must(prctl(PR_CAPBSET_DROP, nr, 0, 0, 0) == 0);
  explain_set_capabilities(capabilities);
}

static void write_text(const char *path, const char *text) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);

  must(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
  close(fd);
}

static void enter_user_namespace(void) {
  char map[32];

  explain_drop_privileges();
  must(unshare(CLONE_NEWUSER) == 0);
  snprintf(map, sizeof(map), "0 %d 1", EXPLAIN_NOBODY);
  write_text("/proc/self/setgroups", "deny");
  write_text("/proc/self/gid_map", map);
  write_text("/proc/self/uid_map", map);
}

static void enter_mount_namespace(void) {
  must(unshare(CLONE_NEWNS) == 0 &&
       mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
}

static void forbid_writing(const char *path) {
  must(mount(NULL, path, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL) == 0 ||
       errno == EINVAL); /* nothing is mounted there */
}

static void make_read_only(void) {
  must(mount("/proc/sys", "/proc/sys", NULL, MS_BIND, NULL) == 0);
  forbid_writing("/proc/sys");
  forbid_writing("/sys");
  forbid_writing("/sys/kernel/tracing");
  forbid_writing("/sys/kernel/debug");
}

static void unmount_tracefs(void) {
  static const char *const places[] = {
      "/sys/kernel/debug/tracing", "/sys/kernel/debug", "/sys/kernel/tracing"};
  size_t i;

  for (i = 0; i < COUNT_OF(places); i++)
    while (umount2(places[i], MNT_DETACH) == 0)
      continue;
}

const char *live_container_name(live_container_setting_t setting) {
  static const char *const names[] = {
      "eperm",   "enosys",    "perfmon",    "perfmon-bpf",
      "user-ns", "read-only", "no-tracefs", "docker",
  };

  return names[setting];
}

live_container_setting_t live_container_find(const char *name) {
  live_container_setting_t setting = LIVE_CONTAINER_EPERM;

  while (setting < LIVE_CONTAINER_SETTINGS &&
         strcmp(live_container_name(setting), name) != 0)
    setting++;
  return setting;
}

void live_container_enter(live_container_setting_t setting) {
  switch (setting) {
    case LIVE_CONTAINER_EPERM:
    case LIVE_CONTAINER_ENOSYS:
      keep_as_root(DOCKER_CAPABILITIES);
      explain_filter(setting == LIVE_CONTAINER_EPERM ? EPERM : ENOSYS);
      break;
    case LIVE_CONTAINER_PERFMON:
      explain_drop_all_but(PERFMON);
      break;
    case LIVE_CONTAINER_PERFMON_BPF:
      explain_drop_all_but(PERFMON | BPF);
      break;
    case LIVE_CONTAINER_USER_NAMESPACE:
      enter_user_namespace();
      break;
    case LIVE_CONTAINER_READ_ONLY:
      enter_mount_namespace();
      make_read_only();
      break;
    case LIVE_CONTAINER_NO_TRACEFS:
      enter_mount_namespace();
      unmount_tracefs();
      break;
    case LIVE_CONTAINER_DOCKER:
      enter_mount_namespace();
      unmount_tracefs();
      make_read_only();
      keep_as_root(DOCKER_CAPABILITIES | PERFMON);
      explain_filter(0);
      break;
    default:
      must(0);
  }
}

static int try_setting(void *arg) {
  live_container_enter(*(live_container_setting_t *)arg);
  return 0;
}

void live_container_need(const char *test, live_container_setting_t setting) {
  support_need_root(test);
  if (support_wait(support_fork(try_setting, &setting)) != 0)
    support_skip(test, "namespaces and capabilities, to make a container");
}
