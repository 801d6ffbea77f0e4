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
#define LEAST   offsetof(bpf_numbered_state_t, least)
#define SPAN    offsetof(bpf_numbered_state_t, span)
#define PAYLOAD offsetof(bpf_numbered_state_t, payload)

uint8_t bpf_numbered_byte(size_t index) {
  return (uint8_t)(index * 31 + index / 256 + 7);
}

uint64_t bpf_numbered_check(const void *data, size_t size, uint32_t cpu) {
  const uint8_t *bytes = data;
  bpf_numbered_payload_t head;
  size_t i;

  if (size < BPF_NUMBERED_LEAST)
    return UINT64_MAX;
  memcpy(&head, data, BPF_NUMBERED_LEAST);
  /* perf_sample_save_raw_data() of the kernel pads the data to 4 below a
   * multiple of 8. */
  if (head.cpu != cpu || head.size > size || size - head.size >= 8)
    return UINT64_MAX;
  for (i = BPF_NUMBERED_LEAST; i < head.size; i++)
    if (bytes[i] != bpf_numbered_byte(i - BPF_NUMBERED_LEAST))
      return UINT64_MAX;
  return head.number;
}

/* -- the program ---------------------------------------------------------- */

/* r6 is the context, r7 the state of this CPU, r8 the number, r9 the size: the
 * payload is ready. Without a state, or with an invalid size, r0 is 0 and the
 * program ends. */
static size_t take_number(struct bpf_insn *insns, int state) {
  const struct bpf_insn take[] = {
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
      {BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_8, BPF_REG_7, NEXT, 0},
      {BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_1, BPF_REG_8, 0, 0},
      {BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_1, 0, 0, 1},
      {BPF_STX | BPF_MEM | BPF_DW, BPF_REG_7, BPF_REG_1, NEXT, 0},
      /* The size: least + number * 7919 % span. */
      {BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_9, BPF_REG_8, 0, 0},
      {BPF_ALU64 | BPF_MUL | BPF_K, BPF_REG_9, 0, 0, 7919},
      {BPF_LDX | BPF_MEM | BPF_W, BPF_REG_1, BPF_REG_7, SPAN, 0},
      {BPF_ALU64 | BPF_MOD | BPF_X, BPF_REG_9, BPF_REG_1, 0, 0},
      {BPF_LDX | BPF_MEM | BPF_W, BPF_REG_1, BPF_REG_7, LEAST, 0},
      {BPF_ALU64 | BPF_ADD | BPF_X, BPF_REG_9, BPF_REG_1, 0, 0},
      /* The verifier must see that the offset is inside of the state. */
      {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0},
      {BPF_JMP | BPF_JLE | BPF_K, BPF_REG_9, 0, 1, BPF_NUMBERED_MOST},
      {BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
      {BPF_LDX | BPF_MEM | BPF_W, BPF_REG_1, BPF_REG_10, -4, 0},
      {BPF_STX | BPF_MEM | BPF_DW, BPF_REG_7, BPF_REG_8, PAYLOAD, 0},
      {BPF_STX | BPF_MEM | BPF_W, BPF_REG_7, BPF_REG_1, PAYLOAD + 8, 0},
      {BPF_STX | BPF_MEM | BPF_W, BPF_REG_7, BPF_REG_9, PAYLOAD + 12, 0},
  };

  memcpy(insns, take, sizeof(take));
  return COUNT_OF(take);
}

/* Writes the payload into one map, and counts the result. */
static size_t hand_out(struct bpf_insn *insns, int map, size_t index) {
  int16_t full = (int16_t)(offsetof(bpf_numbered_state_t, to) +
                           index * sizeof(((bpf_numbered_state_t *)0)->to[0]));
  int16_t refused = (int16_t)(full + 8);
  int16_t code = (int16_t)(full + 16);
  const struct bpf_insn hand[] = {
      {BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_1, BPF_REG_6, 0, 0},
      {BPF_LD | BPF_IMM | BPF_DW, BPF_REG_2, BPF_PSEUDO_MAP_FD, 0, map},
      {0, 0, 0, 0, 0},
      {BPF_ALU | BPF_MOV | BPF_K, BPF_REG_3, 0, 0, -1}, /* BPF_F_CURRENT_CPU */
      {BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_4, BPF_REG_7, 0, 0},
      {BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_4, 0, 0, PAYLOAD},
      {BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_5, BPF_REG_9, 0, 0},
      {BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_perf_event_output},
      {BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 9, 0},
      {BPF_JMP | BPF_JNE | BPF_K, BPF_REG_0, 0, 4, -ENOSPC},
      {BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_1, BPF_REG_7, full, 0},
      {BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_1, 0, 0, 1},
      {BPF_STX | BPF_MEM | BPF_DW, BPF_REG_7, BPF_REG_1, full, 0},
      {BPF_JMP | BPF_JA, 0, 0, 4, 0},
      {BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_1, BPF_REG_7, refused, 0},
      {BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_1, 0, 0, 1},
      {BPF_STX | BPF_MEM | BPF_DW, BPF_REG_7, BPF_REG_1, refused, 0},
      {BPF_STX | BPF_MEM | BPF_DW, BPF_REG_7, BPF_REG_0, code, 0},
  };

  memcpy(insns, hand, sizeof(hand));
  return COUNT_OF(hand);
}

static int load(bpf_numbered_t *numbered) {
  const struct bpf_insn end[] = {
      {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0},
      {BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
  };
  struct bpf_insn insns[128];
  size_t nr = take_number(insns, numbered->state);
  size_t i;

  for (i = 0; i < numbered->nr_maps; i++)
    nr += hand_out(insns + nr, numbered->maps[i], i);
  memcpy(insns + nr, end, sizeof(end));
  nr += COUNT_OF(end);
  return bpf_prog_load(BPF_PROG_TYPE_SCHED_CLS, NULL, "GPL", insns, nr, NULL);
}

/* -- the maps ------------------------------------------------------------- */

static int map_states(bpf_numbered_t *numbered, uint32_t least, uint32_t most) {
  bpf_numbered_state_t *state;
  size_t i, at;

  numbered->states =
      mmap(NULL, numbered->nr_states * sizeof(numbered->states[0]),
           PROT_READ | PROT_WRITE, MAP_SHARED, numbered->state, 0);
  if (numbered->states == MAP_FAILED) {
    numbered->states = NULL;
    return -errno;
  }
  for (i = 0; i < numbered->nr_states; i++) {
    state = &numbered->states[i];
    state->least = least;
    state->span = most - least + 1;
    for (at = 0; at < sizeof(state->payload.bytes); at++)
      state->payload.bytes[at] = bpf_numbered_byte(at);
  }
  return 0;
}

static int make(bpf_numbered_t *numbered, uint32_t entries, uint32_t least,
                uint32_t most) {
  struct bpf_map_create_opts mmapable;
  int cpus = libbpf_num_possible_cpus();
  size_t i;
  int code;

  /* Like LIBBPF_OPTS, which is not C11. The padding must be 0 too. */
  memset(&mmapable, 0, sizeof(mmapable));
  mmapable.sz = sizeof(mmapable);
  mmapable.map_flags = BPF_F_MMAPABLE;
  if (cpus < 0)
    return cpus;
  if (entries == 0)
    entries = (uint32_t)cpus;
  for (i = 0; i < numbered->nr_maps; i++) {
    numbered->maps[i] = bpf_map_create(BPF_MAP_TYPE_PERF_EVENT_ARRAY, NULL, 4,
                                       4, entries, NULL);
    if (numbered->maps[i] < 0)
      return numbered->maps[i];
  }
  numbered->nr_states = (size_t)cpus;
  numbered->state =
      bpf_map_create(BPF_MAP_TYPE_ARRAY, NULL, 4, sizeof(bpf_numbered_state_t),
                     (uint32_t)cpus, &mmapable);
  if (numbered->state < 0)
    return numbered->state;
  code = map_states(numbered, least, most);
  if (code != 0)
    return code;
  numbered->prog = load(numbered);
  return numbered->prog < 0 ? numbered->prog : 0;
}

int bpf_numbered_open(bpf_numbered_t *numbered, size_t nr_maps,
                      uint32_t entries, uint32_t least, uint32_t most) {
  int code;

  memset(numbered, 0, sizeof(*numbered));
  numbered->nr_maps = nr_maps;
  numbered->maps[0] = numbered->maps[1] = -1;
  numbered->state = numbered->prog = -1;
  if (nr_maps > BPF_NUMBERED_MAPS || least < BPF_NUMBERED_LEAST ||
      least > most || most > BPF_NUMBERED_MOST)
    return -EINVAL;
  code = make(numbered, entries, least, most);
  if (code != 0)
    bpf_numbered_close(numbered);
  return code;
}

void bpf_numbered_close(bpf_numbered_t *numbered) {
  const int fds[] = {numbered->prog, numbered->state, numbered->maps[0],
                     numbered->maps[1]};
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
