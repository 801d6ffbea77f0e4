/* SPDX-License-Identifier: MIT */
/* Live: a program in a timer's interrupt writes into the ring of the CPU while
 * another program is writing there, and all samples of both arrive. */
#include "live_bpf_reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "live_bpf.h"
#include "live_storm.h"
#include "sys/sys.h"

#define MOST_NS  UINT64_C(20000000000)
#define MAGIC    0x5a5a5a5a
#define CPU_IDS  4096
#define PER_CPU  500 /* interrupts that must be received on each CPU */
#define NR_CALLS 200

/* The state of the interrupts' program on a CPU. */
typedef struct interrupts_s {
  uint64_t number; /* of the next one */
  uint64_t taken;
  uint64_t refused;
} interrupts_t;

typedef struct fixture_s {
  live_storm_t storm; /* the interrupted programs */
  uvperf_bpf_reader_t reader;
  int interrupts; /* the map of interrupts_t */
  int prog;
  int clocks[LIVE_STORM_WRITERS];
  /* Samples received, by writer. */
  uint64_t payloads[LIVE_STORM_WRITERS];
  uint64_t next_payload[LIVE_STORM_WRITERS];
  uint64_t ticks[LIVE_STORM_WRITERS];
  uint64_t next_tick[LIVE_STORM_WRITERS];
  uint64_t lost;
  char wrong[128]; /* the first unexpected sample */
} fixture_t;

/* -- the program in the interrupt ----------------------------------------- */

#define INSN(code, to, from, offset, number)                                   \
  { (uint8_t)(code), (to), (from), (offset), (number) }
#define LOAD        (BPF_LDX | BPF_MEM | BPF_DW)
#define STORE       (BPF_STX | BPF_MEM | BPF_DW)
#define MOVE        (BPF_ALU64 | BPF_MOV | BPF_X)
#define MOVE_NUMBER (BPF_ALU64 | BPF_MOV | BPF_K)
#define ADD_NUMBER  (BPF_ALU64 | BPF_ADD | BPF_K)
#define CALL        (BPF_JMP | BPF_CALL)
#define LOAD_MAP    (BPF_LD | BPF_IMM | BPF_DW)

/* Hands out {number, MAGIC, number as 32 bits}, 20 bytes. */
static int load_interrupt(int array, int interrupts) {
  const struct bpf_insn insns[] = {
      INSN(MOVE, 6, 1, 0, 0),
      INSN(CALL, 0, 0, 0, BPF_FUNC_get_smp_processor_id),
      INSN(BPF_STX | BPF_MEM | BPF_W, 10, 0, -4, 0),
      INSN(LOAD_MAP, 1, BPF_PSEUDO_MAP_FD, 0, interrupts),
      INSN(0, 0, 0, 0, 0),
      INSN(MOVE, 2, 10, 0, 0),
      INSN(ADD_NUMBER, 2, 0, 0, -4),
      INSN(CALL, 0, 0, 0, BPF_FUNC_map_lookup_elem),
      INSN(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 23, 0),
      INSN(MOVE, 7, 0, 0, 0),
      INSN(LOAD, 1, 7, 0, 0),
      INSN(STORE, 10, 1, -32, 0),
      INSN(BPF_ST | BPF_MEM | BPF_DW, 10, 0, -24, MAGIC),
      INSN(BPF_STX | BPF_MEM | BPF_W, 10, 1, -16, 0),
      INSN(ADD_NUMBER, 1, 0, 0, 1),
      INSN(STORE, 7, 1, 0, 0),
      INSN(MOVE, 1, 6, 0, 0),
      INSN(LOAD_MAP, 2, BPF_PSEUDO_MAP_FD, 0, array),
      INSN(0, 0, 0, 0, 0),
      INSN(BPF_ALU | BPF_MOV | BPF_K, 3, 0, 0, -1), /* BPF_F_CURRENT_CPU */
      INSN(MOVE, 4, 10, 0, 0),
      INSN(ADD_NUMBER, 4, 0, 0, -32),
      INSN(MOVE_NUMBER, 5, 0, 0, 20),
      INSN(CALL, 0, 0, 0, BPF_FUNC_perf_event_output),
      INSN(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 4, 0),
      INSN(LOAD, 1, 7, 16, 0),
      INSN(ADD_NUMBER, 1, 0, 0, 1),
      INSN(STORE, 7, 1, 16, 0),
      INSN(BPF_JMP | BPF_JA, 0, 0, 3, 0),
      INSN(LOAD, 1, 7, 8, 0),
      INSN(ADD_NUMBER, 1, 0, 0, 1),
      INSN(STORE, 7, 1, 8, 0),
      INSN(MOVE_NUMBER, 0, 0, 0, 0),
      INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
  };
  live_bpf_t program;

  live_bpf_load(&program, BPF_PROG_TYPE_PERF_EVENT, "", insns,
                sizeof(insns) / sizeof(insns[0]));
  return program.fd;
}

static int make_interrupts(void) {
  union bpf_attr attr;

  memset(&attr, 0, sizeof(attr));
  attr.map_type = BPF_MAP_TYPE_ARRAY;
  attr.key_size = sizeof(uint32_t);
  attr.value_size = sizeof(interrupts_t);
  attr.max_entries = CPU_IDS;
  return live_bpf_call(BPF_MAP_CREATE, &attr);
}

static interrupts_t interrupts_of(const fixture_t *fixture, int cpu) {
  uint32_t key = (uint32_t)cpu;
  interrupts_t interrupts;
  union bpf_attr attr;

  memset(&attr, 0, sizeof(attr));
  attr.map_fd = (uint32_t)fixture->interrupts;
  attr.key = (uintptr_t)&key;
  attr.value = (uintptr_t)&interrupts;
  assert_int_equal(live_bpf_call(BPF_MAP_LOOKUP_ELEM, &attr), 0);
  return interrupts;
}

/* A timer's interrupt runs it, 50 us after the last. */
static int open_clock(int cpu, int prog) {
  struct perf_event_attr attr;
  int fd;

  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  attr.sample_period = 50000;
  attr.disabled = 1;
  fd = uvperf__sys_open(&attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
  assert_true(fd >= 0);
  assert_int_equal(ioctl(fd, PERF_EVENT_IOC_SET_BPF, prog), 0);
  assert_int_equal(ioctl(fd, PERF_EVENT_IOC_ENABLE, 0), 0);
  return fd;
}

/* -- delivery ------------------------------------------------------------- */

static void note_wrong(fixture_t *fixture, const char *what, uint64_t a,
                       uint64_t b) {
  if (fixture->wrong[0] == '\0')
    snprintf(fixture->wrong, sizeof(fixture->wrong),
             "%s: %" PRIu64 ", %" PRIu64, what, a, b);
}

/* Some are missing if the ring was full. */
static void note(fixture_t *fixture, uint64_t number, uint64_t *next,
                 uint64_t *nr) {
  if (number < *next)
    note_wrong(fixture, "a number before the next", number, *next);
  *next = number + 1;
  *nr += 1;
}

static int is_tick(const uvperf_record_t *sample, uint64_t *number) {
  uint64_t words[2];
  uint32_t again;

  if (sample->sample.raw.size != sizeof(words) + sizeof(again))
    return 0;
  memcpy(words, sample->sample.raw.data, sizeof(words));
  memcpy(&again, (const uint8_t *)sample->sample.raw.data + sizeof(words),
         sizeof(again));
  *number = words[0];
  return words[1] == MAGIC && again == (uint32_t)words[0];
}

static void on_sample(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *sample) {
  fixture_t *fixture = handle->data;
  uint64_t number;
  size_t i;

  if (status != 0 || sample->type == UVPERF_RECORD_NONE) {
    note_wrong(fixture, "a status", (uint64_t)-status, 0);
    return;
  }
  fixture->lost += uvperf_record_lost(sample);
  if (sample->type == PERF_RECORD_LOST)
    return;
  for (i = 0; i < fixture->storm.nr_writers; i++)
    if (fixture->storm.writers[i].cpu == (int)sample->cpu)
      break;
  if (i == fixture->storm.nr_writers)
    note_wrong(fixture, "a CPU without a writer", (uint64_t)sample->cpu, 0);
  else if (is_tick(sample, &number))
    note(fixture, number, &fixture->next_tick[i], &fixture->ticks[i]);
  else if (live_bpf_producer_check(&fixture->storm.producer, (int)sample->cpu,
                                   sample->sample.raw.data,
                                   sample->sample.raw.size, &number))
    note(fixture, number, &fixture->next_payload[i], &fixture->payloads[i]);
  else
    note_wrong(fixture, "a payload of a CPU, bytes", (uint64_t)sample->cpu,
               sample->sample.raw.size);
}

/* -- the fixture ---------------------------------------------------------- */

static void open_fixture(uv_loop_t *loop, fixture_t *fixture, const char *test,
                         uint32_t least, uint32_t most, size_t ring_bytes) {
  uvperf_bpf_reader_options_t options = UVPERF_BPF_READER_OPTIONS_INIT;
  uvperf_error_t error;
  size_t i;

  memset(fixture, 0, sizeof(*fixture));
  live_bpf_need(test, BPF_PROG_TYPE_PERF_EVENT);
  live_storm_open(&fixture->storm, test, least, most);
  fixture->interrupts = make_interrupts();
  assert_true(fixture->interrupts >= 0);
  fixture->prog = load_interrupt(fixture->storm.array, fixture->interrupts);
  options.ring_bytes = ring_bytes;
  if (uvperf_bpf_reader_init(loop, &fixture->reader, fixture->storm.array,
                             &options, &error) != 0)
    fail_msg("%s", error.reason);
  fixture->reader.handle.data = fixture;
  if (uvperf_start(&fixture->reader.handle, NULL, on_sample, &error) != 0)
    fail_msg("%s", error.reason);
  for (i = 0; i < fixture->storm.nr_writers; i++)
    fixture->clocks[i] =
        open_clock(fixture->storm.writers[i].cpu, fixture->prog);
}

static void close_fixture(uv_loop_t *loop, fixture_t *fixture) {
  uvperf_close(&fixture->reader.handle, NULL);
  uv_run(loop, UV_RUN_DEFAULT);
  assert_int_equal(close(fixture->prog), 0);
  assert_int_equal(close(fixture->interrupts), 0);
  live_storm_close(&fixture->storm);
}

static int is_enough(const fixture_t *fixture) {
  size_t i;

  for (i = 0; i < fixture->storm.nr_writers; i++)
    if (interrupts_of(fixture, fixture->storm.writers[i].cpu).taken < PER_CPU)
      return 0;
  return 1;
}

static void write_until_enough(uv_loop_t *loop, fixture_t *fixture) {
  uint64_t start = live_now();

  live_storm_begin(&fixture->storm, UINT64_MAX);
  while (
      live_now() - start < MOST_NS &&
      (!is_enough(fixture) || live_storm_written(&fixture->storm) < NR_CALLS))
    uv_run(loop, UV_RUN_ONCE);
  live_storm_end(&fixture->storm);
  assert_true(is_enough(fixture));
}

/* The other writers have ended. One more sample makes the kernel report the
 * losses before it. */
static void collect_losses(fixture_t *fixture) {
  size_t i;

  for (i = 0; i < fixture->storm.nr_writers; i++)
    assert_int_equal(close(fixture->clocks[i]), 0);
  assert_int_equal(uvperf_flush(&fixture->reader.handle), 0);
  live_storm_one_more(&fixture->storm);
  assert_int_equal(uvperf_flush(&fixture->reader.handle), 0);
}

static void expect_all(const fixture_t *fixture) {
  const live_bpf_producer_t *producer = &fixture->storm.producer;
  uint64_t refused = 0;
  interrupts_t interrupts;
  size_t i;
  int cpu;

  assert_string_equal(fixture->wrong, "");
  for (i = 0; i < fixture->storm.nr_writers; i++) {
    cpu = fixture->storm.writers[i].cpu;
    interrupts = interrupts_of(fixture, cpu);
    assert_int_equal(fixture->ticks[i], interrupts.taken);
    assert_int_equal(fixture->payloads[i],
                     live_bpf_producer_gave(producer, cpu, 0));
    refused +=
        interrupts.refused + live_bpf_producer_gave(producer, cpu, -ENOSPC);
  }
  assert_int_equal(fixture->lost, refused);
}

static void run_nested(uv_loop_t *loop, const char *test, uint32_t least,
                       uint32_t most, size_t ring_bytes) {
  static fixture_t fixture;

  open_fixture(loop, &fixture, test, least, most, ring_bytes);
  write_until_enough(loop, &fixture);
  collect_losses(&fixture);
  expect_all(&fixture);
  close_fixture(loop, &fixture);
}

/* Such a copy takes microseconds, and most interrupts hit it. */
static void interrupts_in_large_payloads_are_accounted_for(void **state) {
  run_nested(*state, __func__, 20000, LIVE_BPF_MOST, 1 << 20);
}

/* An older kernel loads the tail first, then the head. If an interrupt between
 * the two fills the ring, the ring seems empty, and unread records are
 * overwritten (__perf_output_begin, kernel/events/ring_buffer.c). */
static void need_ring_that_is_not_overrun(const char *test) {
  struct utsname name;
  int major, minor;

  assert_int_equal(uname(&name), 0);
  assert_int_equal(sscanf(name.release, "%d.%d", &major, &minor), 2);
  if (major < 6 || (major == 6 && minor < 6))
    support_skip(test, "Linux 6.6, where writers do not overrun a ring");
}

static void interrupts_in_a_ring_that_is_full_are_accounted_for(void **state) {
  need_ring_that_is_not_overrun(__func__);
  run_nested(*state, __func__, 24, 2000, support_page_bytes());
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(interrupts_in_large_payloads_are_accounted_for),
      support_loop_test(interrupts_in_a_ring_that_is_full_are_accounted_for),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
