/* SPDX-License-Identifier: MIT */
#include "bpf_numbered.h"

#include <errno.h>
#include <linux/bpf.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#define NEXT    offsetof(bpf_numbered_state_t, next)
#define FULL    offsetof(bpf_numbered_state_t, full)
#define PAYLOAD offsetof(bpf_numbered_state_t, payload)

/* r6 is the context, r7 the state of this CPU. Without a state r0 is 0, and the
 * program ends. */
static int load(int map, int state, int is_ring) {
  struct bpf_insn insns[] = {
      {BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_6, BPF_REG_1, 0, 0},
      {BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_get_smp_processor_id},
      {BPF_STX | BPF_MEM | BPF_W, BPF_REG_10, BPF_REG_0, -4, 0},
      {BPF_LD | BPF_IMM | BPF_DW, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, state},
      {0, 0, 0, 0, 0},
      {BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_2, BPF_REG_10, 0, 0},
      {BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_2, 0, 0, -4},
      {BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_map_lookup_elem},
      {BPF_JMP | BPF_JNE | BPF_K, BPF_REG_0, 0, 1, 0},
      {BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
      {BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_7, BPF_REG_0, 0, 0},
      /* The number. */
      {BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_1, BPF_REG_7, NEXT, 0},
      {BPF_STX | BPF_MEM | BPF_DW, BPF_REG_7, BPF_REG_1, PAYLOAD, 0},
      {BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_1, 0, 0, 1},
      {BPF_STX | BPF_MEM | BPF_DW, BPF_REG_7, BPF_REG_1, NEXT, 0},
  /* The payload. */
#define CALL 15
      {BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_1, BPF_REG_6, 0, 0},
      {BPF_LD | BPF_IMM | BPF_DW, BPF_REG_2, BPF_PSEUDO_MAP_FD, 0, map},
      {0, 0, 0, 0, 0},
      {BPF_ALU | BPF_MOV | BPF_K, BPF_REG_3, 0, 0, -1}, /* BPF_F_CURRENT_CPU */
      {BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_4, BPF_REG_7, 0, 0},
      {BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_4, 0, 0, PAYLOAD},
      {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_5, 0, 0, BPF_NUMBERED_BYTES},
      {BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_perf_event_output},
      {BPF_JMP | BPF_JNE | BPF_K, BPF_REG_0, 0, 3, -ENOSPC},
      {BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_1, BPF_REG_7, FULL, 0},
      {BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_1, 0, 0, 1},
      {BPF_STX | BPF_MEM | BPF_DW, BPF_REG_7, BPF_REG_1, FULL, 0},
      {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0},
      {BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
  };

  /* Of a ring buffer. It does not lose a record for another reason. */
  const struct bpf_insn call[] = {
      {BPF_LD | BPF_IMM | BPF_DW, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, map},
      {0, 0, 0, 0, 0},
      {BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_2, BPF_REG_7, 0, 0},
      {BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_2, 0, 0, PAYLOAD},
      {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_3, 0, 0, BPF_NUMBERED_BYTES},
      {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_4, 0, 0, 0},
      {BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_ringbuf_output},
      {BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 4, 0},
      {BPF_JMP | BPF_JA, 0, 0, 0, 0},
  };

  if (is_ring)
    memcpy(&insns[CALL], call, sizeof(call));
  return bpf_prog_load(BPF_PROG_TYPE_SCHED_CLS, NULL, "GPL", insns,
                       COUNT_OF(insns), NULL);
}

/* -- the maps ------------------------------------------------------------- */

static int make(bpf_numbered_t *numbered, uint32_t ring_bytes) {
  struct bpf_map_create_opts mmapable;
  int cpus = libbpf_num_possible_cpus();

  /* Like LIBBPF_OPTS, which is not C11. The padding must be 0 too. */
  memset(&mmapable, 0, sizeof(mmapable));
  mmapable.sz = sizeof(mmapable);
  mmapable.map_flags = BPF_F_MMAPABLE;
  if (cpus < 0)
    return cpus;
  numbered->map =
      ring_bytes != 0
          ? bpf_map_create(BPF_MAP_TYPE_RINGBUF, NULL, 0, 0, ring_bytes, NULL)
          : bpf_map_create(BPF_MAP_TYPE_PERF_EVENT_ARRAY, NULL, 4, 4,
                           (uint32_t)cpus, NULL);
  if (numbered->map < 0)
    return numbered->map;
  numbered->nr_states = (size_t)cpus;
  numbered->state =
      bpf_map_create(BPF_MAP_TYPE_ARRAY, NULL, 4, sizeof(bpf_numbered_state_t),
                     (uint32_t)cpus, &mmapable);
  if (numbered->state < 0)
    return numbered->state;
  numbered->states =
      mmap(NULL, numbered->nr_states * sizeof(numbered->states[0]),
           PROT_READ | PROT_WRITE, MAP_SHARED, numbered->state, 0);
  if (numbered->states == MAP_FAILED) {
    numbered->states = NULL;
    return -errno;
  }
  numbered->prog = load(numbered->map, numbered->state, ring_bytes != 0);
  return numbered->prog < 0 ? numbered->prog : 0;
}

int bpf_numbered_open(bpf_numbered_t *numbered, uint32_t ring_bytes) {
  int code;

  memset(numbered, 0, sizeof(*numbered));
  numbered->map = numbered->state = numbered->prog = -1;
  code = make(numbered, ring_bytes);
  if (code != 0)
    bpf_numbered_close(numbered);
  return code;
}

void bpf_numbered_close(bpf_numbered_t *numbered) {
  const int fds[] = {numbered->prog, numbered->state, numbered->map};
  size_t i;

  if (numbered->states != NULL)
    munmap(numbered->states, numbered->nr_states * sizeof(numbered->states[0]));
  for (i = 0; i < COUNT_OF(fds); i++)
    if (fds[i] >= 0)
      close(fds[i]);
}

/* Runs it `times` times. Returns 0, or -EINTR if a signal came first. */
static int run_program(const bpf_numbered_t *numbered, uint64_t times) {
  static const char packet[64];
  struct bpf_test_run_opts options;

  memset(&options, 0, sizeof(options));
  options.sz = sizeof(options);
  options.data_in = packet;
  options.data_size_in = sizeof(packet);
  options.repeat = (int)times;
  return bpf_prog_test_run_opts(numbered->prog, &options);
}

/* A pending signal ends BPF_PROG_TEST_RUN after any run but the last, so the
 * program's own count shows how many runs are left. libuv's io_uring wakes its
 * thread in a way that the kernel treats as a signal. */
int bpf_numbered_send(const bpf_numbered_t *numbered, uint32_t nr) {
  int cpu = sched_getcpu();
  const uint64_t *next;
  uint64_t end;
  int code = 0;

  if (cpu < 0 || (size_t)cpu >= numbered->nr_states)
    return -EINVAL;
  next = &numbered->states[cpu].next;
  end = __atomic_load_n(next, __ATOMIC_RELAXED) + nr;
  do {
    nr = (uint32_t)(end - __atomic_load_n(next, __ATOMIC_RELAXED));
    if (nr > 0)
      code = run_program(numbered, nr);
  } while (code == -EINTR);
  return code;
}
