/* SPDX-License-Identifier: MIT */
#include "live_bpf_ring.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "live_bpf.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static int make_map(uint32_t type, uint32_t key, uint32_t value, uint32_t nr,
                    uint32_t flags) {
  union bpf_attr attr;

  memset(&attr, 0, sizeof(attr));
  attr.map_type = type;
  attr.key_size = key;
  attr.value_size = value;
  attr.max_entries = nr;
  attr.map_flags = flags;
  return live_bpf_call(BPF_MAP_CREATE, &attr);
}

int live_bpf_ring_make(const char *test, uint32_t bytes) {
  int fd;

  live_bpf_need(test, BPF_PROG_TYPE_SCHED_CLS);
  fd = make_map(BPF_MAP_TYPE_RINGBUF, 0, 0, bytes, 0);
  if (fd >= 0)
    return fd;
  if (errno != EPERM && errno != EINVAL)
    fail_msg("BPF_MAP_CREATE: %s", strerror(errno));
  support_skip(test, "BPF_MAP_TYPE_RINGBUF");
  return -1;
}

#define AT(field) ((int16_t)offsetof(struct live_bpf_reserve_state_s, field))
#define MOVE(to, from)                                                         \
  { BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0 }
#define NUMBER(to, number)                                                     \
  { BPF_ALU64 | BPF_MOV | BPF_K, to, 0, 0, number }
#define ADD(to, number)                                                        \
  { BPF_ALU64 | BPF_ADD | BPF_K, to, 0, 0, number }
#define LOAD(to, from, at)                                                     \
  { BPF_LDX | BPF_MEM | BPF_DW, to, from, at, 0 }
#define STORE(to, from, at)                                                    \
  { BPF_STX | BPF_MEM | BPF_DW, to, from, at, 0 }
#define CALL(function)                                                         \
  { BPF_JMP | BPF_CALL, 0, 0, 0, function }
#define MAP(to, fd)                                                            \
  {BPF_LD | BPF_IMM | BPF_DW, to, BPF_PSEUDO_MAP_FD, 0, fd}, {                 \
    0, 0, 0, 0, 0                                                              \
  }
#define JUMP(code, to, from, number, by)                                       \
  { BPF_JMP | (code), to, from, by, number }
#define EXIT                                                                   \
  { BPF_JMP | BPF_EXIT, 0, 0, 0, 0 }

/* Some kernels refuse a loop while a record is reserved. */
static int is_accepted(const struct bpf_insn *insns, uint32_t nr) {
  union bpf_attr attr;
  int fd;

  memset(&attr, 0, sizeof(attr));
  attr.prog_type = BPF_PROG_TYPE_SCHED_CLS;
  attr.insns = (uintptr_t)insns;
  attr.insn_cnt = nr;
  attr.license = (uintptr_t) "GPL";
  fd = live_bpf_call(BPF_PROG_LOAD, &attr);
  if (fd >= 0)
    close(fd);
  return fd >= 0;
}

/* r6 is the state, r7 the number, r8 the record, r9 how often it still reads
 * the clock. */
void live_bpf_reserve_open(live_bpf_reserve_t *reserve, int ring, int32_t size,
                           int can_spin) {
  int map = make_map(BPF_MAP_TYPE_ARRAY, 4, sizeof(*reserve->state), 1,
                     BPF_F_MMAPABLE);
  struct bpf_insn insns[] = {
      /* 0 */ {BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, -4, 0},
      /* 1 */ MAP(BPF_REG_1, map),
      /* 3 */ MOVE(BPF_REG_2, BPF_REG_10),
      /* 4 */ ADD(BPF_REG_2, -4),
      /* 5 */ CALL(BPF_FUNC_map_lookup_elem),
      /* 6 */ JUMP(BPF_JEQ | BPF_K, BPF_REG_0, 0, 0, 31),
      /* 7 */ MOVE(BPF_REG_6, BPF_REG_0),
      /* 8 */ LOAD(BPF_REG_7, BPF_REG_6, AT(number)),
      /* 9 */ MOVE(BPF_REG_1, BPF_REG_7),
      /* 10 */ ADD(BPF_REG_1, 1),
      /* 11 */ STORE(BPF_REG_6, BPF_REG_1, AT(number)),
      /* 12 */ MAP(BPF_REG_1, ring),
      /* 14 */ NUMBER(BPF_REG_2, size),
      /* 15 */ NUMBER(BPF_REG_3, 0),
      /* 16 */ CALL(BPF_FUNC_ringbuf_reserve),
      /* 17 */ JUMP(BPF_JEQ | BPF_K, BPF_REG_0, 0, 0, 17),
      /* 18 */ MOVE(BPF_REG_8, BPF_REG_0),
      /* 19 */ STORE(BPF_REG_8, BPF_REG_7, 0),
      /* 20 */ LOAD(BPF_REG_9, BPF_REG_6, AT(spin)),
      /* 21 */ JUMP(BPF_JGT | BPF_K, BPF_REG_9, 0, LIVE_BPF_SPIN, 4),
      /* 22 */ JUMP(BPF_JEQ | BPF_K, BPF_REG_9, 0, 0, 3),
      /* 23 */ CALL(BPF_FUNC_ktime_get_ns),
      /* 24 */ ADD(BPF_REG_9, -1),
      /* 25 */ JUMP(BPF_JA, 0, 0, 0, -4),
      /* 26 */ MOVE(BPF_REG_1, BPF_REG_8),
      /* 27 */ LOAD(BPF_REG_2, BPF_REG_6, AT(flags)),
      /* 28 */ LOAD(BPF_REG_3, BPF_REG_6, AT(discard)),
      /* 29 */ {BPF_ALU64 | BPF_AND | BPF_X, BPF_REG_3, BPF_REG_7, 0, 0},
      /* 30 */ JUMP(BPF_JNE | BPF_K, BPF_REG_3, 0, 0, 2),
      /* 31 */ CALL(BPF_FUNC_ringbuf_submit),
      /* 32 */ JUMP(BPF_JA, 0, 0, 0, 5),
      /* 33 */ CALL(BPF_FUNC_ringbuf_discard),
      /* 34 */ JUMP(BPF_JA, 0, 0, 0, 3),
      /* 35 */ LOAD(BPF_REG_1, BPF_REG_6, AT(refused)),
      /* 36 */ ADD(BPF_REG_1, 1),
      /* 37 */ STORE(BPF_REG_6, BPF_REG_1, AT(refused)),
      /* 38 */ NUMBER(BPF_REG_0, 0),
      /* 39 */ EXIT,
  };
  const struct bpf_insn nothing = JUMP(BPF_JA, 0, 0, 0, 0);
  live_bpf_t program;
  size_t i;

  assert_true(map >= 0 && size >= 8);
  if (!can_spin || !is_accepted(insns, COUNT_OF(insns)))
    for (i = 21; i <= 25; i++)
      insns[i] = nothing;
  live_bpf_load(&program, BPF_PROG_TYPE_SCHED_CLS, "", insns, COUNT_OF(insns));
  reserve->prog = program.fd;
  reserve->map = map;
  reserve->state = mmap(NULL, support_page_bytes(), PROT_READ | PROT_WRITE,
                        MAP_SHARED, map, 0);
  assert_true(reserve->state != MAP_FAILED);
}

void live_bpf_reserve_close(live_bpf_reserve_t *reserve) {
  assert_int_equal(
      munmap((void *)(uintptr_t)reserve->state, support_page_bytes()), 0);
  assert_int_equal(close(reserve->map), 0);
  assert_int_equal(close(reserve->prog), 0);
}

/* See `run` in live_bpf_array.c. */
int live_bpf_reserve_run(const live_bpf_reserve_t *reserve, uint32_t nr) {
  static const uint8_t packet[64];
  union bpf_attr attr;

  memset(&attr, 0, sizeof(attr));
  attr.test.prog_fd = (uint32_t)reserve->prog;
  attr.test.data_in = (uintptr_t)packet;
  attr.test.data_size_in = sizeof(packet);
  attr.test.repeat = nr;
  return live_bpf_call(BPF_PROG_TEST_RUN, &attr) == 0 ? 0 : -errno;
}
