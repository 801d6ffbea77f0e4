/* SPDX-License-Identifier: MIT */
#include "bpf_program.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/bpf.h>

#include "support.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static int load(const char *test, uint32_t type, const struct bpf_insn *code,
                uint32_t nr) {
  union bpf_attr attr;
  long fd;

  memset(&attr, 0, sizeof(attr));
  attr.prog_type = type;
  attr.insns = (uintptr_t)code;
  attr.insn_cnt = nr;
  attr.license = (uintptr_t) "GPL";
  fd = syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
  if (fd < 0 && (errno == EPERM || errno == ENOSYS))
    support_skip(test, "to load BPF programs (CAP_BPF and CAP_PERFMON)");
  if (fd < 0)
    fail_msg("BPF_PROG_LOAD: %s", strerror(errno));
  return (int)fd;
}

int bpf_program_constant(const char *test, uint32_t type, int32_t verdict) {
  const struct bpf_insn code[] = {
      {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, verdict},
      {BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
  };

  return load(test, type, code, COUNT_OF(code));
}

int bpf_program_by_argument(const char *test, int nth, int32_t argument,
                            int32_t verdict) {
  /* The context is struct syscall_tp_t of kernel/trace/trace_syscalls.c: a word
   * of the kernel's own, the call's number, and its arguments. */
  const struct bpf_insn code[] = {
      {BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_2, BPF_REG_1,
       (int16_t)(16 + 8 * nth), 0},
      {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, verdict},
      {BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_2, 0, 1, argument},
      {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 1},
      {BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
  };

  return load(test, BPF_PROGRAM_TRACEPOINT, code, COUNT_OF(code));
}

uint32_t bpf_program_id(int fd) {
  struct bpf_prog_info info;
  union bpf_attr attr;

  memset(&info, 0, sizeof(info));
  memset(&attr, 0, sizeof(attr));
  attr.info.bpf_fd = (uint32_t)fd;
  attr.info.info_len = sizeof(info);
  attr.info.info = (uintptr_t)&info;
  assert_int_equal(
      syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr)), 0);
  return info.id;
}
