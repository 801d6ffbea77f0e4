/* SPDX-License-Identifier: MIT */
/* Places where work is done: one CPU, a child that works on request, a
 * cgroup. */
#include "live.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

void live_pin(int cpu, cpu_set_t *old) {
  cpu_set_t set;

  assert_int_equal(sched_getaffinity(0, sizeof(*old), old), 0);
  CPU_ZERO(&set);
  CPU_SET((size_t)cpu, &set);
  assert_int_equal(sched_setaffinity(0, sizeof(set), &set), 0);
}

void live_unpin(const cpu_set_t *old) {
  assert_int_equal(sched_setaffinity(0, sizeof(*old), old), 0);
}

size_t live_cpus(int *cpus, size_t most) {
  cpu_set_t set;
  size_t count = 0;
  int cpu;

  assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
  for (cpu = 0; cpu < CPU_SETSIZE && count < most; cpu++)
    if (CPU_ISSET((size_t)cpu, &set))
      cpus[count++] = cpu;
  assert_true(count > 0);
  return count;
}

int live_last_cpu(void) {
  int cpus[CPU_SETSIZE];

  return cpus[live_cpus(cpus, CPU_SETSIZE) - 1];
}

/* The pipes are close-on-exec, so that an exec ends the work too. */
static void work_on_request(int go, int done, void (*work)(void *), void *arg) {
  char byte;

  while (read(go, &byte, 1) == 1 && byte == 'w') {
    work(arg);
    if (write(done, "", 1) != 1)
      _exit(1);
  }
  _exit(0);
}

void live_worker_fork(live_worker_t *worker, void (*work)(void *), void *arg) {
  int go[2];
  int done[2];

  assert_int_equal(pipe2(go, O_CLOEXEC), 0);
  assert_int_equal(pipe2(done, O_CLOEXEC), 0);
  fflush(NULL);
  worker->pid = fork();
  assert_true(worker->pid >= 0);
  if (worker->pid == 0) {
    close(go[1]);
    close(done[0]);
    work_on_request(go[0], done[1], work, arg);
  }
  close(go[0]);
  close(done[1]);
  worker->go = go[1];
  worker->done = done[0];
}

void live_worker_do(live_worker_t *worker) {
  ssize_t size;
  char byte;

  assert_int_equal(write(worker->go, "w", 1), 1);
  do
    size = read(worker->done, &byte, 1);
  while (size < 0 && errno == EINTR);
  assert_true(size >= 0);
}

void live_worker_end(live_worker_t *worker) {
  void (*old)(int) = signal(SIGPIPE, SIG_IGN);

  /* End of file is not enough: a worker that was forked later has the pipe too.
   * A worker that has executed another program reads nothing. */
  if (write(worker->go, "e", 1) != 1)
    assert_int_equal(errno, EPIPE);
  signal(SIGPIPE, old);
  close(worker->go);
  close(worker->done);
  assert_int_equal(support_wait(worker->pid), 0);
}

/* Where the v2 hierarchy is mounted. */
static int find_hierarchy(char *path, size_t size) {
  char line[1024];
  char where[256];
  char type[64];
  FILE *mounts;
  int found = 0;

  mounts = fopen("/proc/mounts", "r");
  assert_non_null(mounts);
  while (!found && fgets(line, sizeof(line), mounts) != NULL) {
    if (sscanf(line, "%*s %255s %63s", where, type) != 2 ||
        strcmp(type, "cgroup2") != 0)
      continue;
    snprintf(path, size, "%s", where);
    found = 1;
  }
  fclose(mounts);
  return found;
}

uint64_t live_cgroup_id(const char *path) {
  union {
    struct file_handle handle;
    char space[sizeof(struct file_handle) + sizeof(uint64_t)];
  } file;
  uint64_t id;
  int mount;

  memset(&file, 0, sizeof(file));
  file.handle.handle_bytes = sizeof(id);
  assert_int_equal(name_to_handle_at(AT_FDCWD, path, &file.handle, &mount, 0),
                   0);
  assert_int_equal(file.handle.handle_bytes, sizeof(id));
  memcpy(&id, file.handle.f_handle, sizeof(id));
  return id;
}

void live_cgroup_make(const char *test, live_cgroup_t *cgroup) {
  char hierarchy[256];

  if (!find_hierarchy(hierarchy, sizeof(hierarchy)))
    support_skip(test, "a cgroup v2 hierarchy");
  snprintf(cgroup->path, sizeof(cgroup->path), "%s/uvperf-%d", hierarchy,
           (int)getpid());
  rmdir(cgroup->path); /* a test with this pid was killed */
  if (mkdir(cgroup->path, 0700) != 0)
    support_skip(test, "a cgroup v2 hierarchy that may be written to");
  cgroup->fd = open(cgroup->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  assert_true(cgroup->fd >= 0);
  cgroup->id = live_cgroup_id(cgroup->path);
}

void live_cgroup_add(const live_cgroup_t *cgroup, pid_t pid) {
  char path[600];
  FILE *file;

  snprintf(path, sizeof(path), "%s/cgroup.procs", cgroup->path);
  file = fopen(path, "w");
  assert_non_null(file);
  assert_true(fprintf(file, "%d\n", (int)pid) > 0);
  assert_int_equal(fclose(file), 0);
}

void live_cgroup_remove(live_cgroup_t *cgroup) {
  assert_int_equal(close(cgroup->fd), 0);
  assert_int_equal(rmdir(cgroup->path), 0);
}

uint64_t live_cgroup_own(const char *test) {
  char hierarchy[256];
  char own[512] = "";
  char path[800];
  char line[600];
  FILE *file;

  if (!find_hierarchy(hierarchy, sizeof(hierarchy)))
    support_skip(test, "a cgroup v2 hierarchy");
  file = fopen("/proc/self/cgroup", "r");
  assert_non_null(file);
  while (fgets(line, sizeof(line), file) != NULL)
    sscanf(line, "0::%511[^\n]", own);
  fclose(file);
  snprintf(path, sizeof(path), "%s%s", hierarchy, own);
  return live_cgroup_id(path);
}
