/* SPDX-License-Identifier: MIT */
#include "live_bpf_array.h"

#include <sys/mman.h>
#include <unistd.h>

#include "live.h"
#include "live_bpf.h"
#include "sys/bpf.h"

/* -- maps ----------------------------------------------------------------- */

/* All CPU ids, now and later, are below it. */
static uint32_t cpu_ids(void) {
  size_t nr = 0;
  uint32_t ids;
  int *cpus;

  assert_int_equal(uvperf_cpus(UVPERF_CPUS_POSSIBLE, NULL, &nr), UV_ENOBUFS);
  cpus = calloc(nr, sizeof(*cpus));
  assert_non_null(cpus);
  assert_int_equal(uvperf_cpus(UVPERF_CPUS_POSSIBLE, cpus, &nr), 0);
  ids = (uint32_t)cpus[nr - 1] + 1;
  free(cpus);
  return ids;
}

static int make_map(uint32_t type, size_t value_bytes, uint32_t entries,
                    uint32_t flags) {
  union bpf_attr attr;

  memset(&attr, 0, sizeof(attr));
  attr.map_type = type;
  attr.key_size = sizeof(uint32_t);
  attr.value_size = (uint32_t)value_bytes;
  attr.max_entries = entries;
  attr.map_flags = flags;
  return live_bpf_call(BPF_MAP_CREATE, &attr);
}

int live_bpf_array_make(const char *test, uint32_t entries) {
  int fd;

  live_bpf_need(test, BPF_PROG_TYPE_SCHED_CLS);
  support_need_cpu_wide(test);
  fd = make_map(BPF_MAP_TYPE_PERF_EVENT_ARRAY, sizeof(uint32_t),
                entries != 0 ? entries : cpu_ids(), 0);
  if (fd >= 0)
    return fd;
  if (errno != EPERM && errno != EINVAL)
    fail_msg("BPF_MAP_CREATE: %s", strerror(errno));
  support_skip(test, "BPF_MAP_TYPE_PERF_EVENT_ARRAY");
  return -1;
}

void live_bpf_array_need_files(const char *test) {
  int array = live_bpf_array_make(test, 1);
  uvperf__bpf_map_info_t info;
  int other;

  assert_int_equal(uvperf__sys_bpf_info(array, &info), 0);
  other = uvperf__sys_bpf_map_by_id(info.id, 0);
  close(array);
  if (other == -EPERM)
    support_skip(test, "CAP_SYS_ADMIN");
  assert_true(other >= 0);
  close(other);
}

static int change_entry(int command, int array, uint32_t index, int fd) {
  union bpf_attr attr;
  uint32_t value = (uint32_t)fd;

  memset(&attr, 0, sizeof(attr));
  attr.map_fd = (uint32_t)array;
  attr.key = (uintptr_t)&index;
  if (command == BPF_MAP_UPDATE_ELEM)
    attr.value = (uintptr_t)&value;
  return live_bpf_call(command, &attr) == 0 ? 0 : -errno;
}

int live_bpf_array_put(int array, uint32_t index, int fd) {
  return change_entry(BPF_MAP_UPDATE_ELEM, array, index, fd);
}

int live_bpf_array_take(int array, uint32_t index) {
  return change_entry(BPF_MAP_DELETE_ELEM, array, index, -1);
}

/* -- programs ------------------------------------------------------------- */

#define MOST_INSNS 96
/* The offset of a jump to the end of the program; no real offset has this
 * value. */
#define TO_THE_END INT16_MAX

#define LOAD_WORD   (BPF_LDX | BPF_MEM | BPF_W)
#define LOAD        (BPF_LDX | BPF_MEM | BPF_DW)
#define STORE_WORD  (BPF_STX | BPF_MEM | BPF_W)
#define STORE       (BPF_STX | BPF_MEM | BPF_DW)
#define MOVE        (BPF_ALU64 | BPF_MOV | BPF_X)
#define MOVE_NUMBER (BPF_ALU64 | BPF_MOV | BPF_K)
#define ADD         (BPF_ALU64 | BPF_ADD | BPF_X)
#define ADD_NUMBER  (BPF_ALU64 | BPF_ADD | BPF_K)

/* A program that is being written. */
typedef struct text_s {
  struct bpf_insn insns[MOST_INSNS];
  uint32_t nr;
} text_t;

static void emit(text_t *text, int code, int to, int from, int offset,
                 int32_t number) {
  struct bpf_insn insn;

  memset(&insn, 0, sizeof(insn));
  insn.code = (uint8_t)code;
  insn.dst_reg = (uint8_t)(to & 15);
  insn.src_reg = (uint8_t)(from & 15);
  insn.off = (int16_t)offset;
  insn.imm = number;
  assert_true(text->nr < MOST_INSNS);
  text->insns[text->nr++] = insn;
}

static void emit_map(text_t *text, int to, int map) {
  emit(text, BPF_LD | BPF_IMM | BPF_DW, to, BPF_PSEUDO_MAP_FD, 0, map);
  emit(text, 0, 0, 0, 0, 0);
}

static void emit_call(text_t *text, int32_t function) {
  emit(text, BPF_JMP | BPF_CALL, 0, 0, 0, function);
}

/* From here on r6 is the context and r7 the state of this CPU, whose id lies on
 * the stack. */
#define CPU_ON_STACK -4
static void emit_start(text_t *text, int map) {
  emit(text, MOVE, BPF_REG_6, BPF_REG_1, 0, 0);
  emit_call(text, BPF_FUNC_get_smp_processor_id);
  emit(text, STORE_WORD, BPF_REG_10, BPF_REG_0, CPU_ON_STACK, 0);
  emit_map(text, BPF_REG_1, map);
  emit(text, MOVE, BPF_REG_2, BPF_REG_10, 0, 0);
  emit(text, ADD_NUMBER, BPF_REG_2, 0, 0, CPU_ON_STACK);
  emit_call(text, BPF_FUNC_map_lookup_elem);
  emit(text, BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, TO_THE_END, 0);
  emit(text, MOVE, BPF_REG_7, BPF_REG_0, 0, 0);
}

/* r3 (flags), r4 (payload) and r5 (size) are set. */
static void emit_output(text_t *text, int array) {
  emit(text, MOVE, BPF_REG_1, BPF_REG_6, 0, 0);
  emit_map(text, BPF_REG_2, array);
  emit_call(text, BPF_FUNC_perf_event_output);
}

/* The same for a ring buffer. r4 (payload) and r9 (size) are set. */
static void emit_ring_output(text_t *text, int ring, int flags_offset) {
  emit(text, MOVE, BPF_REG_2, BPF_REG_4, 0, 0);
  emit(text, MOVE, BPF_REG_3, BPF_REG_9, 0, 0);
  emit(text, LOAD, BPF_REG_4, BPF_REG_7, flags_offset, 0);
  emit_map(text, BPF_REG_1, ring);
  emit_call(text, BPF_FUNC_ringbuf_output);
}

static int load_text(text_t *text) {
  uint32_t end = text->nr;
  live_bpf_t program;
  uint32_t i;

  emit(text, MOVE_NUMBER, BPF_REG_0, 0, 0, 0);
  emit(text, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
  for (i = 0; i < end; i++)
    if (text->insns[i].off == TO_THE_END)
      text->insns[i].off = (int16_t)(end - i - 1);
  live_bpf_load(&program, BPF_PROG_TYPE_SCHED_CLS, "", text->insns, text->nr);
  return program.fd;
}

/* The state of each CPU is an entry of one map, which this process has
 * mapped. */
static void open_state(live_bpf_output_t *output, size_t bytes) {
  uint32_t nr = cpu_ids();
  size_t page = support_page_bytes();

  output->map = make_map(BPF_MAP_TYPE_ARRAY, bytes, nr, BPF_F_MMAPABLE);
  if (output->map < 0)
    fail_msg("BPF_MAP_CREATE: %s", strerror(errno));
  output->state_bytes = (bytes * nr + page - 1) / page * page;
  output->state = mmap(NULL, output->state_bytes, PROT_READ | PROT_WRITE,
                       MAP_SHARED, output->map, 0);
  assert_ptr_not_equal(output->state, MAP_FAILED);
}

/* sch_handle: the packet must be an Ethernet header (bpf_prog_test_run_skb in
 * net/bpf/test_run.c). 0 or -errno. */
static int run(int prog, uint32_t times) {
  static const uint8_t packet[64];
  union bpf_attr attr;

  memset(&attr, 0, sizeof(attr));
  attr.test.prog_fd = (uint32_t)prog;
  attr.test.data_in = (uintptr_t)packet;
  attr.test.data_size_in = sizeof(packet);
  attr.test.repeat = times;
  return live_bpf_call(BPF_PROG_TEST_RUN, &attr) == 0 ? 0 : -errno;
}

/* -- single payloads ------------------------------------------------------ */

typedef struct output_state_s {
  uint64_t flags;
  uint64_t size;
  int64_t result;
  uint8_t payload[LIVE_BPF_TOO_MUCH];
} output_state_t;

void live_bpf_output_open(live_bpf_output_t *output, int array) {
  text_t text = {.nr = 0};

  open_state(output, sizeof(output_state_t));
  emit_start(&text, output->map);
  emit(&text, LOAD, BPF_REG_5, BPF_REG_7, offsetof(output_state_t, size), 0);
  emit(&text, BPF_JMP | BPF_JGT | BPF_K, BPF_REG_5, 0, TO_THE_END,
       LIVE_BPF_TOO_MUCH);
  emit(&text, LOAD, BPF_REG_3, BPF_REG_7, offsetof(output_state_t, flags), 0);
  emit(&text, MOVE, BPF_REG_4, BPF_REG_7, 0, 0);
  emit(&text, ADD_NUMBER, BPF_REG_4, 0, 0, offsetof(output_state_t, payload));
  emit_output(&text, array);
  emit(&text, STORE, BPF_REG_7, BPF_REG_0, offsetof(output_state_t, result), 0);
  output->prog = load_text(&text);
}

void live_bpf_output_close(live_bpf_output_t *output) {
  assert_int_equal(munmap(output->state, output->state_bytes), 0);
  assert_int_equal(close(output->map), 0);
  assert_int_equal(close(output->prog), 0);
}

static int hand_out(const live_bpf_output_t *output, uint64_t flags,
                    const void *payload, size_t size) {
  output_state_t *state = output->state;
  int cpu = sched_getcpu();

  assert_true(size <= LIVE_BPF_TOO_MUCH);
  assert_true(cpu >= 0);
  state += cpu;
  state->flags = flags;
  state->size = size;
  state->result = 1; /* never returned by the helper */
  if (size > 0)
    memcpy(state->payload, payload, size);
  assert_int_equal(run(output->prog, 1), 0);
  if (state->result == 1)
    fail_msg("the program ran on another CPU than %d: pin the caller", cpu);
  return (int)state->result;
}

int live_bpf_output(const live_bpf_output_t *output, const void *payload,
                    size_t size) {
  return hand_out(output, BPF_F_CURRENT_CPU, payload, size);
}

int live_bpf_output_to(const live_bpf_output_t *output, uint32_t index,
                       const void *payload, size_t size) {
  return hand_out(output, index, payload, size);
}

int live_bpf_output_on(const live_bpf_output_t *output, int cpu,
                       const void *payload, size_t size) {
  cpu_set_t old;
  int code;

  live_pin(cpu, &old);
  code = live_bpf_output(output, payload, size);
  live_unpin(&old);
  return code;
}

int live_bpf_output_numbers(const live_bpf_output_t *output, unsigned int first,
                            unsigned int nr) {
  unsigned int number = first;
  int attempts = 0;
  int rc;

  while ((rc = live_bpf_output_on(output, 0, &number, sizeof(number))) ==
             -ENOENT &&
         attempts++ < 10000)
    usleep(1000);
  while (rc == 0 && ++number < first + nr)
    rc = live_bpf_output_on(output, 0, &number, sizeof(number));
  return rc != 0;
}

/* -- numbered payloads ---------------------------------------------------- */

/* Payloads are pieces of one long pattern. They begin at one of PLACES places,
 * 8 bytes apart. During the call a piece begins with the header. */
#define PLACES        4096
#define PATTERN_BYTES (8 * (PLACES - 1) + LIVE_BPF_MOST)
#define HEADER_BYTES  sizeof(live_bpf_numbered_t)
#define CODES         128

typedef struct numbered_state_s {
  uint64_t number;
  uint64_t least;
  uint64_t choice; /* how many sizes there are */
  uint64_t flags;  /* for a ring buffer */
  uint64_t gave[CODES];
  uint8_t pattern[PATTERN_BYTES + HEADER_BYTES];
} numbered_state_t;

static uint8_t pattern_byte(size_t at) {
  uint64_t mix = (uint64_t)at * UINT64_C(0x9e3779b97f4a7c15);

  mix ^= mix >> 29;
  mix *= UINT64_C(0xbf58476d1ce4e5b9);
  return (uint8_t)(mix >> 40);
}

/* Chooses the size by the number: a multiplicative hash, in 32 bits both here
 * and in the program. */
#define HASH_FACTOR 0x2545f491
#define HASH_SHIFT  7

uint32_t live_bpf_producer_size(const live_bpf_producer_t *producer,
                                uint64_t number) {
  uint32_t hash = (uint32_t)number * (uint32_t)HASH_FACTOR >> HASH_SHIFT;

  return producer->least + hash % (producer->most - producer->least + 1);
}

/* Sets r8 to the number, r9 to the size, r4 to the start of the payload. */
static void emit_choice(text_t *text) {
  emit(text, LOAD, BPF_REG_8, BPF_REG_7, offsetof(numbered_state_t, number), 0);
  emit(text, MOVE, BPF_REG_1, BPF_REG_8, 0, 0);
  emit(text, ADD_NUMBER, BPF_REG_1, 0, 0, 1);
  emit(text, STORE, BPF_REG_7, BPF_REG_1, offsetof(numbered_state_t, number),
       0);
  emit(text, BPF_ALU | BPF_MOV | BPF_X, BPF_REG_9, BPF_REG_8, 0, 0);
  emit(text, BPF_ALU | BPF_MUL | BPF_K, BPF_REG_9, 0, 0, HASH_FACTOR);
  emit(text, BPF_ALU | BPF_RSH | BPF_K, BPF_REG_9, 0, 0, HASH_SHIFT);
  emit(text, LOAD, BPF_REG_1, BPF_REG_7, offsetof(numbered_state_t, choice), 0);
  emit(text, BPF_ALU | BPF_MOD | BPF_X, BPF_REG_9, BPF_REG_1, 0, 0);
  emit(text, LOAD, BPF_REG_1, BPF_REG_7, offsetof(numbered_state_t, least), 0);
  emit(text, ADD, BPF_REG_9, BPF_REG_1, 0, 0);
  emit(text, BPF_JMP | BPF_JGT | BPF_K, BPF_REG_9, 0, TO_THE_END,
       LIVE_BPF_MOST);
  emit(text, MOVE, BPF_REG_1, BPF_REG_8, 0, 0);
  emit(text, BPF_ALU64 | BPF_AND | BPF_K, BPF_REG_1, 0, 0, PLACES - 1);
  emit(text, BPF_ALU64 | BPF_LSH | BPF_K, BPF_REG_1, 0, 0, 3);
  emit(text, MOVE, BPF_REG_4, BPF_REG_7, 0, 0);
  emit(text, ADD_NUMBER, BPF_REG_4, 0, 0, offsetof(numbered_state_t, pattern));
  emit(text, ADD, BPF_REG_4, BPF_REG_1, 0, 0);
}

/* Puts the header there, and saves the old bytes on the stack. */
#define PLACE_ON_STACK -16
#define SAVED_ON_STACK -32
static void emit_header(text_t *text) {
  int i;

  emit(text, STORE, BPF_REG_10, BPF_REG_4, PLACE_ON_STACK, 0);
  for (i = 0; i < (int)HEADER_BYTES; i += 8) {
    emit(text, LOAD, BPF_REG_1, BPF_REG_4, i, 0);
    emit(text, STORE, BPF_REG_10, BPF_REG_1, SAVED_ON_STACK + i, 0);
  }
  emit(text, STORE, BPF_REG_4, BPF_REG_8, 0, 0);
  emit(text, LOAD_WORD, BPF_REG_1, BPF_REG_10, CPU_ON_STACK, 0);
  emit(text, STORE_WORD, BPF_REG_4, BPF_REG_1,
       offsetof(live_bpf_numbered_t, cpu), 0);
  emit(text, STORE_WORD, BPF_REG_4, BPF_REG_9,
       offsetof(live_bpf_numbered_t, size), 0);
}

static void emit_no_header(text_t *text) {
  int i;

  emit(text, LOAD, BPF_REG_4, BPF_REG_10, PLACE_ON_STACK, 0);
  for (i = 0; i < (int)HEADER_BYTES; i += 8) {
    emit(text, LOAD, BPF_REG_1, BPF_REG_10, SAVED_ON_STACK + i, 0);
    emit(text, STORE, BPF_REG_4, BPF_REG_1, i, 0);
  }
}

/* Counts the code in r0. */
static void emit_count(text_t *text) {
  emit(text, BPF_ALU64 | BPF_NEG, BPF_REG_0, 0, 0, 0);
  emit(text, BPF_JMP | BPF_JLT | BPF_K, BPF_REG_0, 0, 1, CODES);
  emit(text, MOVE_NUMBER, BPF_REG_0, 0, 0, CODES - 1);
  emit(text, BPF_ALU64 | BPF_LSH | BPF_K, BPF_REG_0, 0, 0, 3);
  emit(text, ADD, BPF_REG_7, BPF_REG_0, 0, 0);
  emit(text, LOAD, BPF_REG_1, BPF_REG_7, offsetof(numbered_state_t, gave), 0);
  emit(text, ADD_NUMBER, BPF_REG_1, 0, 0, 1);
  emit(text, STORE, BPF_REG_7, BPF_REG_1, offsetof(numbered_state_t, gave), 0);
}

static void fill_states(live_bpf_producer_t *producer) {
  numbered_state_t *state = producer->output.state;
  uint32_t nr = cpu_ids();
  uint32_t i;

  for (i = 0; i < nr; i++, state++) {
    state->least = producer->least;
    state->choice = producer->most - producer->least + 1;
    memcpy(state->pattern, producer->pattern, PATTERN_BYTES);
  }
}

static void producer_open(live_bpf_producer_t *producer, int map,
                          uint32_t least, uint32_t most) {
  text_t text = {.nr = 0};
  size_t i;

  assert_true(least >= (producer->is_ring ? 1 : 8) && least <= most &&
              most <= LIVE_BPF_MOST);
  producer->least = least;
  producer->most = most;
  producer->pattern = malloc(PATTERN_BYTES);
  assert_non_null(producer->pattern);
  for (i = 0; i < PATTERN_BYTES; i++)
    producer->pattern[i] = pattern_byte(i);
  open_state(&producer->output, sizeof(numbered_state_t));
  fill_states(producer);
  emit_start(&text, producer->output.map);
  emit_choice(&text);
  emit_header(&text);
  if (producer->is_ring) {
    emit_ring_output(&text, map, offsetof(numbered_state_t, flags));
  } else {
    emit(&text, BPF_ALU | BPF_MOV | BPF_K, BPF_REG_3, 0, 0, -1); /* this CPU */
    emit(&text, MOVE, BPF_REG_5, BPF_REG_9, 0, 0);
    emit_output(&text, map);
  }
  emit_no_header(&text);
  emit_count(&text);
  producer->output.prog = load_text(&text);
}

void live_bpf_producer_open(live_bpf_producer_t *producer, int array,
                            uint32_t least, uint32_t most) {
  producer->is_ring = 0;
  producer_open(producer, array, least, most);
}

void live_bpf_producer_open_ring(live_bpf_producer_t *producer, int ring,
                                 uint32_t least, uint32_t most) {
  producer->is_ring = 1;
  producer_open(producer, ring, least, most);
}

void live_bpf_producer_set_flags(const live_bpf_producer_t *producer,
                                 uint64_t flags) {
  numbered_state_t *state = producer->output.state;
  uint32_t nr = cpu_ids();
  uint32_t i;

  for (i = 0; i < nr; i++)
    state[i].flags = flags;
}

void live_bpf_producer_close(live_bpf_producer_t *producer) {
  live_bpf_output_close(&producer->output);
  free(producer->pattern);
}

static numbered_state_t *state_of(const live_bpf_producer_t *producer,
                                  int cpu) {
  numbered_state_t *state = producer->output.state;

  return state + cpu;
}

int live_bpf_producer_run(const live_bpf_producer_t *producer, uint64_t nr) {
  const uint64_t most = 1000000;
  uint64_t times;
  int code = 0;

  for (; nr > 0 && code == 0; nr -= times) {
    times = nr < most ? nr : most;
    code = run(producer->output.prog, (uint32_t)times);
  }
  return code;
}

int live_bpf_producer_run_on(const live_bpf_producer_t *producer, int cpu,
                             uint64_t nr) {
  cpu_set_t old, set;
  int code;

  CPU_ZERO(&set);
  CPU_SET((size_t)cpu, &set);
  if (sched_getaffinity(0, sizeof(old), &old) != 0 ||
      sched_setaffinity(0, sizeof(set), &set) != 0)
    return -errno;
  code = live_bpf_producer_run(producer, nr);
  sched_setaffinity(0, sizeof(old), &old);
  return code;
}

uint64_t live_bpf_producer_runs(const live_bpf_producer_t *producer, int cpu) {
  return __atomic_load_n(&state_of(producer, cpu)->number, __ATOMIC_ACQUIRE);
}

uint64_t live_bpf_producer_gave(const live_bpf_producer_t *producer, int cpu,
                                int code) {
  assert_true(code <= 0 && code > -CODES);
  return __atomic_load_n(&state_of(producer, cpu)->gave[-code],
                         __ATOMIC_ACQUIRE);
}

/* -- checking them -------------------------------------------------------- */

static size_t place_of(uint64_t number) {
  return (size_t)(number % PLACES) * 8;
}

uint8_t live_bpf_byte(uint64_t number, size_t i) {
  return pattern_byte(place_of(number) + i);
}

/* perf_sample_save_raw_data in include/linux/perf_event.h: the 4 bytes of the
 * size and the data are rounded up to 8 together. */
static size_t padded(size_t size) {
  return (size + 4 + 7) / 8 * 8 - 4;
}

int live_bpf_producer_check(const live_bpf_producer_t *producer, int cpu,
                            const void *data, size_t size, uint64_t *number) {
  live_bpf_numbered_t header;
  const uint8_t *bytes = data;
  size_t whole;

  if (size < sizeof(header.number))
    return 0;
  memcpy(&header.number, bytes, sizeof(header.number));
  header.cpu = (uint32_t)cpu;
  if (producer->is_ring && size >= sizeof(header))
    memcpy(&header, bytes, sizeof(header));
  header.size = live_bpf_producer_size(producer, header.number);
  *number = header.number;
  if (size != (producer->is_ring ? header.size : padded(header.size)))
    return 0;
  whole = header.size < HEADER_BYTES ? header.size : HEADER_BYTES;
  if (memcmp(bytes, &header, whole) != 0)
    return 0;
  return memcmp(bytes + whole,
                producer->pattern + place_of(header.number) + whole,
                header.size - whole) == 0;
}
