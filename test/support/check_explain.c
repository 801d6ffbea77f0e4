/* SPDX-License-Identifier: MIT */
#include "check_explain.h"

#include <fcntl.h>
#include <grp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include "host/system.h"
#include "check_reason.h"
#include "sys/sys.h"

void explain_user_clock(struct perf_event_attr *attr) {
  uvperf_attr_software(attr, PERF_COUNT_SW_CPU_CLOCK);
  attr->exclude_kernel = 1;
}

void explain_user_dummy(struct perf_event_attr *attr) {
  uvperf_attr_software(attr, PERF_COUNT_SW_DUMMY);
  attr->exclude_kernel = 1;
}

uvperf__open_call_t explain_open_call(uvperf_error_t *error, int code,
                                      const struct perf_event_attr *attr,
                                      int pid, int cpu) {
  uvperf__open_call_t call = {
      .error = error,
      .attr = attr,
      .asked_size = attr->size,
      .code = code,
      .pid = pid,
      .cpu = cpu,
      .cgroup = -1,
  };

  memset(error, 0xff, sizeof(*error));
  return call;
}

void explain_check(const uvperf_error_t *error, int code, int cause,
                   const char *piece) {
  const char *fault;

  if (error->code != code || error->cause != cause ||
      strstr(error->reason, piece) == NULL)
    fail_msg("not \"%s\" but %d, %s: %s", piece, error->code,
             uvperf_cause_name(error->cause), error->reason);
  fault = check_reason_fault(error->reason);
  if (fault != NULL)
    fail_msg("%s: %s", fault, error->reason);
  assert_int_equal(error->attr_index, 0);
  assert_int_equal(error->target_index, 0);
}

int explain_try(uvperf_error_t *error, struct perf_event_attr *attr, int pid,
                int cpu, int group) {
  uvperf__open_call_t call = explain_open_call(error, 0, attr, pid, cpu);

  error->code = 0;
  call.code = uvperf__sys_open(attr, pid, cpu, group, PERF_FLAG_FD_CLOEXEC);
  return call.code < 0 ? uvperf__explain_open(&call) : call.code;
}

int explain_try_cgroup(uvperf_error_t *error, struct perf_event_attr *attr,
                       int cgroup, int cpu, int group) {
  uvperf__open_call_t call = explain_open_call(error, 0, attr, 0, cpu);

  error->code = 0;
  call.cgroup = cgroup;
  call.code = uvperf__sys_open(attr, cgroup, cpu, group,
                               PERF_FLAG_FD_CLOEXEC | PERF_FLAG_PID_CGROUP);
  return call.code < 0 ? uvperf__explain_open(&call) : call.code;
}

typedef struct errand_s {
  explain_provoke_cb provoke;
  int out;
} errand_t;

static int run(void *arg) {
  errand_t *errand = arg;
  uvperf_error_t error;

  memset(&error, 0, sizeof(error));
  errand->provoke(&error);
  return write(errand->out, &error, sizeof(error)) != sizeof(error);
}

uvperf_error_t explain_in_child(explain_provoke_cb provoke) {
  uvperf_error_t error;
  errand_t errand = {provoke, -1};
  int ends[2];
  pid_t child;

  assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
  errand.out = ends[1];
  child = support_fork(run, &errand);
  close(ends[1]);
  if (read(ends[0], &error, sizeof(error)) != sizeof(error))
    error.code = INT32_MAX;
  close(ends[0]);
  assert_int_equal(support_wait(child), 0);
  assert_int_not_equal(error.code, INT32_MAX);
  return error;
}

void explain_expect(explain_provoke_cb provoke, int code, int cause,
                    const char *piece) {
  uvperf_error_t error = explain_in_child(provoke);

  explain_check(&error, code, cause, piece);
}

void explain_set_capabilities(uint64_t capabilities) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct caps[2];
  size_t i;

  for (i = 0; i < 2; i++) {
    caps[i].permitted = (uint32_t)(capabilities >> 32 * i);
    caps[i].effective = caps[i].inheritable = caps[i].permitted;
  }
  if (syscall(SYS_capset, &header, caps) != 0)
    _exit(1);
}

void explain_drop_privileges(void) {
  if (geteuid() != 0)
    return;
  /* A user namespace may have no other user. */
  if (uvperf__system_is_user_namespace() == 1) {
    explain_set_capabilities(0);
    return;
  }
  if (setgroups(0, NULL) != 0 ||
      setresgid(EXPLAIN_NOBODY, EXPLAIN_NOBODY, EXPLAIN_NOBODY) != 0 ||
      setresuid(EXPLAIN_NOBODY, EXPLAIN_NOBODY, EXPLAIN_NOBODY) != 0 ||
      prctl(PR_SET_DUMPABLE, 1) != 0)
    _exit(1);
}

void explain_drop_all_but(uint64_t capabilities) {
  unsigned long nr;

  if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) != 0)
    _exit(1);
  explain_drop_privileges();
  explain_set_capabilities(capabilities);
  for (nr = 0; nr < 64; nr++)
    if (capabilities >> nr & 1 &&
        prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, nr, 0, 0) != 0)
      _exit(1);
}

void explain_drop_all_but_perfmon(void) {
  explain_drop_all_but(UINT64_C(1) << UVPERF__CAP_PERFMON);
}

static uint32_t action_of(int code) {
  if (code == EXPLAIN_FILTER_KILLS)
    return SECCOMP_RET_KILL_PROCESS;
  return code == 0 ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | (unsigned int)code;
}

static void filter_two(uint32_t call, uint32_t other, int code) {
  struct sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, other, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, action_of(code)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {COUNT_OF(steps), steps};

  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    _exit(1);
}

void explain_filter(int code) {
  filter_two(SYS_perf_event_open, SYS_bpf, code);
}

void explain_filter_call(long call, int code) {
  filter_two((uint32_t)call, (uint32_t)call, code);
}

void explain_need_paranoid(const char *test, int least, int most) {
  int64_t level = 0;
  char what[128];

  if (uvperf__sys_open(NULL, 0, -1, -1, 0) == -EPERM ||
      uvperf__sys_open(NULL, 0, -1, -1, 0) == -ENOSYS)
    support_skip(test, "perf_event_open(2), which a filter forbids");
  if (uvperf__system_number(UVPERF__PARANOID, &level) == 0 && level >= least &&
      level <= most && (geteuid() == 0 || uvperf__system_is_perfmon() == 0))
    return;
  snprintf(what, sizeof(what),
           "kernel.perf_event_paranoid %d to %d, and a process that has, or "
           "can drop to, no privileges",
           least, most);
  support_skip(test, what);
}
