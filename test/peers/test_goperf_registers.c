/* SPDX-License-Identifier: MIT */
/* Live: the checks of go-perf's TestSampleUserRegisters and
 * TestReadRecord/SampleTracepointStack: registers and call chains at system
 * calls. */
#include "live.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

#include <asm/perf_regs.h>

/* -- TestSampleUserRegisters ---------------------------------------------- */

#if defined(__x86_64__)
static const unsigned int arguments[] = {PERF_REG_X86_DI, PERF_REG_X86_SI,
                                         PERF_REG_X86_DX};
#define RESULT PERF_REG_X86_AX
#elif defined(__aarch64__)
static const unsigned int arguments[] = {PERF_REG_ARM64_X0, PERF_REG_ARM64_X1,
                                         PERF_REG_ARM64_X2};
#define RESULT PERF_REG_ARM64_X0
#endif

#ifdef RESULT
#define ARGUMENTS 3

typedef struct write_s {
  uint64_t arguments[ARGUMENTS];
  int64_t result;
} write_t;

static uint64_t mask_of_arguments(void) {
  uint64_t mask = 0;
  int i;

  for (i = 0; i < ARGUMENTS; i++)
    mask |= UINT64_C(1) << arguments[i];
  return mask;
}

/* Expects exactly the requested registers. */
static void assert_regs(const uvperf_record_t *record, uint64_t mask, int nr) {
  const uvperf_regs_t *regs = &record->sample.regs_user;
  unsigned int bit;
  uint64_t value;

  assert_int_equal(record->type, PERF_RECORD_SAMPLE);
  assert_true(record->present == PERF_SAMPLE_REGS_USER);
  assert_int_equal(regs->abi, PERF_SAMPLE_REGS_ABI_64);
  assert_int_equal(regs->nr, nr);
  assert_true(regs->mask == mask);
  for (bit = 0; bit < 64; bit++)
    assert_int_equal(uvperf_sample_regs_get(regs, bit, &value),
                     mask >> bit & 1 ? 0 : UV_ENOENT);
}

static void check_entry(live_collector_t *collector,
                        const uvperf_record_t *record) {
  const write_t *writes = collector->hook_data;
  const write_t *write = &writes[collector->records];
  uint64_t value;
  int i;

  assert_regs(record, mask_of_arguments(), ARGUMENTS);
  for (i = 0; i < ARGUMENTS; i++) {
    assert_int_equal(
        uvperf_sample_regs_get(&record->sample.regs_user, arguments[i], &value),
        0);
    assert_true(value == write->arguments[i]);
  }
}

static void check_exit(live_collector_t *collector,
                       const uvperf_record_t *record) {
  const write_t *writes = collector->hook_data;
  uint64_t value;

  assert_regs(record, UINT64_C(1) << RESULT, 1);
  assert_int_equal(
      uvperf_sample_regs_get(&record->sample.regs_user, RESULT, &value), 0);
  assert_true((int64_t)value == writes[collector->records].result);
}

static void begin_regs(uv_loop_t *loop, live_collector_t *collector,
                       uint64_t tracepoint, uint64_t mask,
                       void (*check)(live_collector_t *,
                                     const uvperf_record_t *),
                       write_t *writes) {
  struct perf_event_attr attr;

  live_syscall_attr(&attr, tracepoint, PERF_SAMPLE_REGS_USER);
  attr.sample_regs_user = mask;
  live_begin(loop, collector, &attr, NULL, check, writes);
}

static void do_write(write_t *write, int fd, const char *bytes, size_t size) {
  long result;

  result = syscall(SYS_write, fd, bytes, size);
  write->arguments[0] = (uint64_t)fd;
  write->arguments[1] = (uintptr_t)bytes;
  write->arguments[2] = size;
  write->result = result < 0 ? -errno : result;
}

/* go-perf TestSampleUserRegisters: two events sample the arguments of write(2)
 * at its entry and its result at its exit. Each event has its own mask, and its
 * records are decoded with this mask. One write fails. */
static void registers_of_a_system_call_are_its_arguments(void **state) {
  live_collector_t entry;
  live_collector_t exit_;
  uint64_t ids[2];
  write_t writes[3];
  char bytes[64] = "";
  int null;

  ids[0] = support_need_tracepoint(__func__, "syscalls:sys_enter_write");
  ids[1] = support_need_tracepoint(__func__, "syscalls:sys_exit_write");
  null = open("/dev/null", O_WRONLY | O_CLOEXEC);
  assert_true(null >= 0);
  begin_regs(*state, &entry, ids[0], mask_of_arguments(), check_entry, writes);
  begin_regs(*state, &exit_, ids[1], UINT64_C(1) << RESULT, check_exit, writes);
  do_write(&writes[0], null, bytes, 8);
  do_write(&writes[1], null, bytes + 3, sizeof(bytes) - 3);
  do_write(&writes[2], 4000000, bytes, 1);
  assert_int_equal(uvperf_disable(&entry.event.handle, 0, NULL), 0);
  assert_int_equal(uvperf_disable(&exit_.event.handle, 0, NULL), 0);
  assert_int_equal(writes[0].result, 8);
  assert_int_equal(writes[1].result, sizeof(bytes) - 3);
  assert_int_equal(writes[2].result, -EBADF);
  live_end(&entry, 3);
  live_end(&exit_, 3);
  close(null);
}

/* -- TestReadRecord/SampleTracepointStack --------------------------------- */

#define DEPTH 6
/* The frames of DEPTH calls of down(), and of the test itself. */
#define OWN_FRAMES  (DEPTH + 1)
#define MOST_FRAMES 64

typedef struct chain_s {
  uint64_t frames[MOST_FRAMES]; /* of the unwinder, innermost first */
  uint64_t nr;
} chain_t;

static _Unwind_Reason_Code note_frame(struct _Unwind_Context *context,
                                      void *arg) {
  chain_t *chain = arg;

  if (chain->nr == MOST_FRAMES)
    return _URC_END_OF_STACK;
  chain->frames[chain->nr++] = _Unwind_GetIP(context);
  return _URC_NO_REASON;
}

/* Makes the system call without libc's syscall(). That function has no frame of
 * its own, so a walk by frame pointers would miss its caller. */
#if defined(__x86_64__)
static void call_here(void) {
  long result = SYS_getpgid;

  __asm__ volatile("syscall"
                   : "+a"(result)
                   : "D"((long)LIVE_PGID)
                   : "rcx", "r11", "memory");
}
#else
static void call_here(void) {
  register long number __asm__("x8") = SYS_getpgid;
  register long result __asm__("x0") = LIVE_PGID;

  __asm__ volatile("svc #0" : "+r"(result) : "r"(number) : "memory");
}
#endif

__attribute__((noinline)) static void down(chain_t *chain, int depth) {
  if (depth > 1) {
    down(chain, depth - 1);
  } else {
    _Unwind_Backtrace(note_frame, chain);
    call_here();
  }
  __asm__ volatile("" : : : "memory"); /* prevents a tail call */
}

/* Both chains begin with the function that makes the system call. There they
 * have different addresses: of the system call, and of the call of the
 * unwinder. */
static void check_chain(live_collector_t *collector,
                        const uvperf_record_t *record) {
  const chain_t *chain = collector->hook_data;
  const uint64_t *ips = record->sample.callchain.ips;
  uint64_t nr = record->sample.callchain.nr;
  uint64_t user;
  uint64_t i;

  for (user = 0; user < nr && ips[user] != (uint64_t)PERF_CONTEXT_USER; user++)
    continue;
  assert_in_range(nr - user, 1 + OWN_FRAMES, 128);
  assert_true(ips[user + 1] == record->ip);
  assert_in_range(chain->nr, OWN_FRAMES, MOST_FRAMES);
  for (i = 1; i < OWN_FRAMES; i++)
    assert_true(ips[user + 1 + i] == chain->frames[i]);
}

/* go-perf TestReadRecord/SampleTracepointStack: the kernel's walk by frame
 * pointers and the unwinder's by tables find the same callers. */
static void callchain_of_a_system_call_is_the_unwinders(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;
  chain_t chain = {{0}, 0};
  uint64_t id;

  id = support_need_tracepoint(__func__, LIVE_SYSCALL);
  live_syscall_attr(&attr, id, PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN);
  live_begin(*state, &collector, &attr, NULL, check_chain, &chain);
  down(&chain, DEPTH);
  live_end(&collector, 1);
}
#else
static void registers_of_a_system_call_are_its_arguments(void **state) {
  (void)state;
  support_skip(__func__, "x86-64 or aarch64, whose registers it knows");
}

static void callchain_of_a_system_call_is_the_unwinders(void **state) {
  (void)state;
  support_skip(__func__, "x86-64 or aarch64, whose system calls it knows");
}
#endif

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(registers_of_a_system_call_are_its_arguments),
      support_loop_test(callchain_of_a_system_call_is_the_unwinders),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
