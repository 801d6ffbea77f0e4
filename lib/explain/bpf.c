/* SPDX-License-Identifier: MIT */
/* Why a command of bpf(2) was refused, whatever it was for. */
#include "explain/explain.h"
#include "util/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/system.h"
#include "util/file.h"

/* SECCOMP_MODE_FILTER, proc(5). */
static int has_filter(const char *root) {
  char text[16];

  return uvperf__system_line(root, "/proc/self/status", "Seccomp:", text,
                             sizeof(text)) == 0 &&
         atoi(text) == 2;
}

/* Before Linux 5.8 CAP_SYS_ADMIN stands for it, and does so still. */
static int may_use_bpf(const char *root) {
  return uvperf__system_has_capability(root, UVPERF__CAP_BPF) == 1 ||
         uvperf__system_has_capability(root, UVPERF__CAP_SYS_ADMIN) == 1;
}

/* Where kernel.unprivileged_bpf_disabled is not 0 bpf(2) wants the capability,
 * up to Linux 5.18 for every command (__sys_bpf in kernel/bpf/syscall.c), and
 * some commands always do. */
static int explain_denied(uvperf_error_t *error, int code, const char *root,
                          const char *what) {
  int64_t level = 0;

  uvperf__system_number(root, "/proc/sys/kernel/unprivileged_bpf_disabled",
                        &level);
  if (!may_use_bpf(root))
    return uvperf__error_set(
        error, code, UVPERF_CAUSE_PERMISSION,
        "%s: bpf(2) needs CAP_BPF, before Linux 5.8 CAP_SYS_ADMIN "
        "(kernel.unprivileged_bpf_disabled is %lld)%s",
        what, (long long)level,
        has_filter(root) ? ", or a seccomp filter forbids it" : "");
  if (has_filter(root))
    return uvperf__error_set(error, code, UVPERF_CAUSE_PERMISSION,
                             "%s: this process has a seccomp filter: let the "
                             "container's profile allow bpf",
                             what);
  return uvperf__error_set(error, code, UVPERF_CAUSE_PERMISSION,
                           "%s: denied in spite of CAP_BPF: by a security "
                           "module? See the audit log",
                           what);
}

int uvperf__explain_bpf(uvperf_error_t *error, int code, const char *root,
                        const char *what) {
  if (error == NULL)
    return code;
  if (uvperf__is_shortage(code))
    return uvperf__error_shortage(error, code, what);
  switch (code) {
    case -EPERM:
    case -EACCES:
      return explain_denied(error, code, root, what);
    case -ENOSYS:
      return uvperf__error_set(error, code, UVPERF_CAUSE_NOT_SUPPORTED,
                               "%s: this kernel has no bpf(2): it needs "
                               "CONFIG_BPF_SYSCALL",
                               what);
    default:
      return uvperf__error_set(error, code, UVPERF_CAUSE_UNKNOWN,
                               "%s: bpf(2) gave errno %d", what, -code);
  }
}
