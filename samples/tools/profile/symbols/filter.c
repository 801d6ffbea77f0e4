/* SPDX-License-Identifier: MIT */
/* To allow a system call that a libc or a sanitizer needs, add it to `allowed`
 * if it only concerns the calling process and the files that it has open. */
#include "profile/symbols/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#if defined(__x86_64__) && defined(__LP64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__) && defined(__AARCH64EL__) && defined(__LP64__)
#define ARCH AUDIT_ARCH_AARCH64
#endif

#ifdef ARCH

#define LOAD(field)                                                            \
  BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define IF_EQUAL(value, yes, no)                                               \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), (yes), (no))
#define IF_ANY_BIT(bits, yes, no)                                              \
  BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bits), (yes), (no))
#define RETURN(value) BPF_STMT(BPF_RET | BPF_K, (value))

static const struct sock_filter begin[] = {
    LOAD(arch),
    IF_EQUAL(ARCH, 1, 0),
    RETURN(SECCOMP_RET_KILL_PROCESS),
    LOAD(nr),
#ifdef SYS_open /* musl calls it; its flags are another argument */
    IF_EQUAL(SYS_open, 0, 2),
    LOAD(args[1]),
    IF_ANY_BIT(O_ACCMODE | O_CREAT | O_TRUNC, 3, 4),
#endif
    IF_EQUAL(SYS_openat, 0, 4),
    LOAD(args[2]),
    IF_ANY_BIT(O_ACCMODE | O_CREAT | O_TRUNC, 0, 1),
    RETURN(SECCOMP_RET_ERRNO | EACCES),
    RETURN(SECCOMP_RET_ALLOW),
    /* Flags can be read. But an fd cannot be made to send signals. */
    IF_EQUAL(SYS_fcntl, 0, 5),
    LOAD(args[1]),
    IF_EQUAL(F_GETFD, 2, 0),
    IF_EQUAL(F_GETFL, 1, 0),
    RETURN(SECCOMP_RET_ERRNO | EPERM),
    RETURN(SECCOMP_RET_ALLOW),
};

/* These fail with EPERM, and libraries go on. libdw prepares curl for downloads
 * even if it makes none. */
static const uint32_t refused[] = {
    SYS_ioctl,      SYS_prctl,    SYS_prlimit64,
    SYS_socketpair, SYS_eventfd2, SYS_pipe2,
#ifdef SYS_pipe
    SYS_pipe,
#endif
};

static const uint32_t allowed[] = {
    /* files that are open, and properties of others */
    SYS_read,
    SYS_readv,
    SYS_pread64,
    SYS_write,
    SYS_writev,
    SYS_lseek,
    SYS_close,
    SYS_dup,
    SYS_fstat,
    SYS_newfstatat,
    SYS_statx,
    SYS_faccessat,
    SYS_readlinkat,
    SYS_getcwd,
    SYS_ppoll,
    SYS_sendmsg,
    SYS_recvmsg,
#ifdef SYS_open
    SYS_stat,
    SYS_lstat,
    SYS_access,
    SYS_readlink,
    SYS_poll,
#endif
    /* memory */
    SYS_brk,
    SYS_mmap,
    SYS_munmap,
    SYS_mremap,
    SYS_mprotect,
    SYS_madvise,
    /* this process and the machine */
    SYS_futex,
    SYS_getpid,
    SYS_gettid,
    SYS_getrandom,
    SYS_clock_gettime,
    SYS_gettimeofday,
    SYS_sysinfo,
    SYS_uname,
    SYS_sched_yield,
    SYS_sched_getaffinity,
    SYS_sigaltstack,
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_restart_syscall,
    SYS_exit,
    SYS_exit_group,
};

static struct sock_filter *add_calls(struct sock_filter *code,
                                     const uint32_t *calls, size_t nr,
                                     uint32_t action) {
  const struct sock_filter end = RETURN(action);
  size_t i;

  for (i = 0; i < nr; i++) {
    const struct sock_filter is_it = IF_EQUAL(calls[i], 0, 1);

    *code++ = is_it;
    *code++ = end;
  }
  return code;
}

int symbols_filter_install(void) {
  enum {
    BEGIN = sizeof(begin) / sizeof(begin[0]),
    REFUSED = sizeof(refused) / sizeof(refused[0]),
    ALLOWED = sizeof(allowed) / sizeof(allowed[0])
  };
  const struct sock_filter end = RETURN(SECCOMP_RET_KILL_PROCESS);
  struct sock_filter code[BEGIN + 2 * (REFUSED + ALLOWED) + 1], *at = code;
  const struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

  memcpy(code, begin, sizeof(begin));
  at = add_calls(at + BEGIN, refused, REFUSED, SECCOMP_RET_ERRNO | EPERM);
  at = add_calls(at, allowed, ALLOWED, SECCOMP_RET_ALLOW);
  *at = end;
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0)
    return 0;
  return -errno;
}

const char *symbols_filter_lack(void) {
  /* Without a program, a kernel that has filters returns EFAULT. */
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0) != 0 &&
      errno == EFAULT)
    return NULL;
  return "this kernel has no seccomp filters";
}

#else

int symbols_filter_install(void) {
  return -ENOSYS;
}

const char *symbols_filter_lack(void) {
  return "seccomp filters are made for x86-64 and aarch64 only";
}

#endif
