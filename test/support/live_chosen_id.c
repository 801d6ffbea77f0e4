/* SPDX-License-Identifier: MIT */
#include "live_chosen_id.h"

#include "support.h"

#include <signal.h>
#include <unistd.h>

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "host/task.h"

/* struct clone_args of <linux/sched.h>, whose set_tid is of Linux 5.5. */
typedef struct clone_args_s {
  uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size;
  uint64_t tls, set_tid, set_tid_size;
} clone_args_t;

pid_t live_chosen_id_begin(const char *test, pid_t id) {
  clone_args_t args;
  long rc;

  memset(&args, 0, sizeof(args));
  args.exit_signal = SIGCHLD;
  if (id != 0) {
    args.set_tid = (uint64_t)(uintptr_t)&id;
    args.set_tid_size = 1;
  }
  rc = syscall(SYS_clone3, &args, sizeof(args));
  if (rc == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;)
      pause();
  }
  if (rc < 0 && (errno == EPERM || errno == ENOSYS || errno == E2BIG))
    support_skip(test, "clone3(2) with set_tid, for root");
  assert_true(rc > 1 && (id == 0 || rc == id));
  return (pid_t)rc;
}

void live_chosen_id_end(pid_t pid) {
  assert_true(pid > 1); /* kill(2) means other processes by a lower number */
  assert_int_equal(kill(pid, SIGKILL), 0);
  assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static uint64_t start_of(pid_t pid) {
  uvperf__task_t task;

  assert_int_equal(uvperf__task_read(pid, &task), 0);
  return task.start;
}

/* Two processes can start in the same tick of the clock. */
void live_chosen_id_replace(const char *test, pid_t pid) {
  uint64_t start = start_of(pid);

  do {
    live_chosen_id_end(pid);
    live_chosen_id_begin(test, pid);
  } while (start_of(pid) == start);
}

void live_chosen_id_need(const char *test) {
  pid_t pid = live_chosen_id_begin(test, 0);

  live_chosen_id_end(pid);
  live_chosen_id_end(live_chosen_id_begin(test, pid));
}
