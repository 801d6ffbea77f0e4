/* SPDX-License-Identifier: MIT */
#include "profile/symbols/unwind.h"

#include "support.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profile/symbols/open.h"

/* The machines on which stacks are unwound. */
#if (defined(__x86_64__) && defined(__LP64__)) || defined(__aarch64__)
#define COPY      16384
#define MAX_CALLS 200
#define MAX_FILES 32
#define MAX_STEPS 200000

/* A process that is single-stepped, and the calls that were seen. */
typedef struct caller_s {
  uint64_t ip;
  uint64_t sp; /* the call ends when sp is above this; 0: any */
  int is_return;
} caller_t;

typedef struct traced_s {
  pid_t pid;
  uint64_t ip, sp, link;
  uvperf_regs_t regs;
  uint64_t values[64];
  unsigned char copy[COPY];
  size_t bytes;
  size_t nr_callers;
  caller_t callers[MAX_CALLS]; /* the innermost last */
  unwind_process_t *process;
  unwind_file_t *files[MAX_FILES];
  size_t nr_files;
  size_t steps, calls, signals;
  int is_after_syscall;
  uint64_t unwinder, unwinder_end; /* libgcc_s, or 0 */
} traced_t;

static void map(traced_t *traced) {
  char path[512], line[512];
  unwind_mapping_t mappings[MAX_FILES];
  size_t nr = 0;
  snprintf(path, sizeof path, "/proc/%d/maps", traced->pid);
  FILE *maps = fopen(path, "re");
  assert_non_null(maps);
  while (fgets(line, sizeof line, maps) != NULL && nr < MAX_FILES) {
    unsigned long start, end, pgoff;
    char prot[8];
    int at = 0;
    line[strcspn(line, "\n")] = '\0';
    if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %n", &start, &end, prot, &pgoff,
               &at) != 4 ||
        prot[2] != 'x' || strcmp(line + at, "[vsyscall]") == 0)
      continue;
    if (strstr(line + at, "/libgcc_s.so") != NULL) {
      traced->unwinder = start;
      traced->unwinder_end = end;
    }
    symbols_mapping_t vdso = {.end = end};
    char reason[SYMBOLS_REASON_BYTES];
    int fd = strcmp(line + at, "[vdso]") == 0
                 ? symbols_open_vdso(&vdso, reason)
                 : open(line + at, O_RDONLY | O_CLOEXEC);
    unwind_file_t *file = unwind_file_new(fd, unwind_machine(NULL), "", 0);
    assert_non_null(file);
    traced->files[traced->nr_files++] = file;
    mappings[nr++] = (unwind_mapping_t){start, end, pgoff, file};
  }
  fclose(maps);
  assert_int_equal(unwind_process_map(traced->process, mappings, nr), 0);
}

#if defined(__x86_64__)
static uint64_t word_at(const traced_t *traced, uint64_t address) {
  uint64_t word;
  memcpy(&word, traced->copy + (address - traced->sp), sizeof word);
  return word;
}
#endif

static void read_state(traced_t *traced) {
  struct iovec regs, local = {traced->copy, COPY}, remote;
  struct user_regs_struct user;
  regs = (struct iovec){&user, sizeof user};
  assert_int_equal(
      ptrace(PTRACE_GETREGSET, traced->pid, (void *)NT_PRSTATUS, &regs), 0);
#if defined(__x86_64__)
  const uint64_t values[] = {
      user.rax, user.rbx, user.rcx,    user.rdx, user.rsi, user.rdi, user.rbp,
      user.rsp, user.rip, user.eflags, user.cs,  user.ss,  user.r8,  user.r9,
      user.r10, user.r11, user.r12,    user.r13, user.r14, user.r15};
  traced->ip = user.rip;
  traced->sp = user.rsp;
#else
  uint64_t values[33];
  memcpy(values, user.regs, sizeof user.regs);
  values[31] = user.sp;
  values[32] = user.pc;
  traced->ip = user.pc;
  traced->sp = user.sp;
  traced->link = user.regs[30];
#endif
  memcpy(traced->values, values, sizeof values);
  traced->regs = (uvperf_regs_t){.abi = PERF_SAMPLE_REGS_ABI_64,
                                 .mask = unwind_regs_mask(unwind_machine(NULL)),
                                 .nr = sizeof values / sizeof *values,
                                 .regs = traced->values};
  remote = (struct iovec){(void *)traced->sp, COPY};
  ssize_t bytes = process_vm_readv(traced->pid, &local, 1, &remote, 1, 0);
  /* Memory above the stack cannot be read, so try smaller copies that end with
   * a page. */
  for (size_t size = COPY; bytes < 0 && size > 4096; size -= 4096) {
    remote.iov_len = local.iov_len = size - 4096 - ((traced->sp + size) & 4095);
    bytes = process_vm_readv(traced->pid, &local, 1, &remote, 1, 0);
  }
  assert_true(bytes > 0);
  traced->bytes = (size_t)bytes;
}

static void push(traced_t *traced, uint64_t ip, uint64_t sp, int is_return) {
  assert_true(traced->nr_callers < MAX_CALLS);
  traced->callers[traced->nr_callers++] = (caller_t){ip, sp, is_return};
}

static const caller_t *top(const traced_t *traced) {
  return &traced->callers[traced->nr_callers - 1];
}

/* Pushes the frames of a signal: the interrupted function, and the place to
 * which the handler returns. */
static void on_handler(traced_t *traced, uint64_t ip, uint64_t sp) {
  push(traced, ip, sp - 1, 0);
#if defined(__x86_64__)
  push(traced, word_at(traced, traced->sp), traced->sp, 0);
#else
  push(traced, traced->link, traced->sp, 0);
#endif
  traced->signals++;
}

/* Returns 1 if the instruction at ip was a call, judging by its effects. */
static int was_call(const traced_t *traced, uint64_t ip, uint64_t sp,
                    uint64_t *returns_to) {
#if defined(__x86_64__)
  *returns_to = word_at(traced, traced->sp);
  return traced->sp == sp - 8 && *returns_to > ip && *returns_to <= ip + 15;
#else
  *returns_to = traced->link;
  return *returns_to == ip + 4 && traced->ip != ip + 4 && traced->sp == sp;
#endif
}

/* Returns 1 if the previous instruction is a system call. */
static int is_after_syscall(const traced_t *traced) {
#if defined(__x86_64__)
  long word = ptrace(PTRACE_PEEKTEXT, traced->pid, (void *)(traced->ip - 2), 0);
  return (word & 0xffff) == 0x050f;
#else
  long word = ptrace(PTRACE_PEEKTEXT, traced->pid, (void *)(traced->ip - 4), 0);
  return (word & 0xffffffff) == 0xd4000001;
#endif
}

static void pop(traced_t *traced) {
  while (traced->nr_callers != 0 && top(traced)->sp != 0 &&
         traced->sp > top(traced)->sp)
    traced->nr_callers--;
#if defined(__x86_64__)
  const int is_any = 0;
#else
  const int is_any = 1; /* a function without a frame does not move sp */
#endif
  if (traced->nr_callers != 0 && traced->ip == top(traced)->ip &&
      (top(traced)->sp == 0 || (is_any && traced->sp == top(traced)->sp)))
    traced->nr_callers--;
}

/* Steps over one instruction. Returns 0 at the second SIGSTOP. */
static int step(traced_t *traced, int signal_number) {
  uint64_t ip = traced->ip, sp = traced->sp, returns_to;
  int status;
  assert_int_equal(ptrace(PTRACE_SINGLESTEP, traced->pid, NULL,
                          (void *)(uintptr_t)(unsigned)signal_number),
                   0);
  assert_int_equal(waitpid(traced->pid, &status, 0), traced->pid);
  assert_true(WIFSTOPPED(status));
  if (WSTOPSIG(status) == SIGSTOP)
    return 0;
  read_state(traced);
  traced->is_after_syscall = is_after_syscall(traced);
  if (WSTOPSIG(status) != SIGTRAP)
    return WSTOPSIG(status);
  traced->steps++;
  if (signal_number != 0)
    on_handler(traced, ip, sp);
  else if (was_call(traced, ip, sp, &returns_to)) {
    traced->calls++;
    push(traced, returns_to, traced->sp, 1);
  } else
    pop(traced);
  return SIGTRAP;
}

/* Returns 1 if the unwound stack matches the calls that were seen. */
static int is_right(const traced_t *traced, const unwind_stack_t *stack) {
  int is_equal = stack->nr == traced->nr_callers + 1 &&
                 stack->ips[0] == traced->ip &&
                 stack->is_return[0] == traced->is_after_syscall &&
                 stack->end == UNWIND_COMPLETE;
  for (size_t i = 1; is_equal && i < stack->nr; i++) {
    const caller_t *caller = &traced->callers[traced->nr_callers - i];
    is_equal =
        stack->ips[i] == caller->ip && stack->is_return[i] == caller->is_return;
  }
  return is_equal;
}

static void print(const traced_t *traced, const unwind_stack_t *stack) {
  print_message("step %zu, end %d:\n", traced->steps, stack->end);
  for (size_t i = 0; i < stack->nr || i <= traced->nr_callers; i++) {
    const caller_t *caller = i == 0 ? &(caller_t){traced->ip, 0, 0}
                             : i <= traced->nr_callers
                                 ? &traced->callers[traced->nr_callers - i]
                                 : &(caller_t){0};
    print_message("  %#18lx %d %#18lx %d\n", (unsigned long)caller->ip,
                  caller->is_return,
                  i < stack->nr ? (unsigned long)stack->ips[i] : 0,
                  i < stack->nr ? stack->is_return[i] : 0);
  }
}

/* Before libgcc's unwinder jumps to the handler of an exception, it replaces
 * its own saved registers, and its caller cannot be found any more. */
static int is_unwinder_here(const traced_t *traced) {
  for (size_t i = 0; i < traced->nr_callers; i++)
    if (traced->callers[i].ip - traced->unwinder <
        traced->unwinder_end - traced->unwinder)
      return 1;
  return traced->ip - traced->unwinder <
         traced->unwinder_end - traced->unwinder;
}

/* Starts the program and runs it up to its first SIGSTOP. The callers at this
 * point are taken from the unwinder itself. They are part of all later
 * stacks. */
static void start(traced_t *traced, const char *path) {
  int status;
  unwind_stack_t stack;
  traced->pid = fork();
  if (traced->pid == 0) {
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    /* Turns off lazy binding: the CFA of ld.so's _dl_runtime_resolve is in rbx,
     * and libdwfl considers rbx lost after a function that does not save it. */
    setenv("LD_BIND_NOW", "1", 1);
    execl(path, path, (char *)NULL);
    _exit(127);
  }
  assert_int_equal(waitpid(traced->pid, &status, 0), traced->pid);
  assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
  ptrace(PTRACE_SETOPTIONS, traced->pid, NULL, (void *)PTRACE_O_EXITKILL);
  assert_int_equal(ptrace(PTRACE_CONT, traced->pid, NULL, NULL), 0);
  assert_int_equal(waitpid(traced->pid, &status, 0), traced->pid);
  assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
  traced->process = unwind_process_new(unwind_machine(NULL));
  map(traced);
  read_state(traced);
  unwind_stack(traced->process, &traced->regs, traced->copy, traced->bytes, 1,
               &stack);
  assert_int_equal(stack.end, UNWIND_COMPLETE);
  assert_true(stack.nr > 4);
  for (size_t i = stack.nr - 1; i > 0; i--)
    push(traced, stack.ips[i], 0, 1);
}

static void end(traced_t *traced) {
  int status;
  kill(traced->pid, SIGKILL);
  waitpid(traced->pid, &status, 0);
  unwind_process_free(traced->process);
  for (size_t i = 0; i < traced->nr_files; i++)
    unwind_file_free(traced->files[i]);
}

/* A busy machine can stop this process for UNWIND_MS. */
static void unwind(traced_t *traced, unwind_stack_t *stack) {
  int tries = 0;
  do
    unwind_stack(traced->process, &traced->regs, traced->copy, traced->bytes, 1,
                 stack);
  while (stack->end == UNWIND_SLOW && ++tries < 10);
}

static void step_through(const char *path, traced_t *traced) {
  unwind_stack_t stack;
  size_t wrong = 0, between = 0;
  start(traced, path);
  int stopped = SIGTRAP;
  while (stopped != 0 && traced->steps < MAX_STEPS && wrong < 10) {
    stopped = step(traced, stopped == SIGTRAP ? 0 : stopped);
    if (stopped == 0)
      break;
    unwind(traced, &stack);
    if (is_right(traced, &stack))
      continue;
    if (is_unwinder_here(traced)) {
      between++;
      continue;
    }
    print(traced, &stack);
    wrong++;
  }
  end(traced);
  print_message("%zu steps, %zu calls, %zu signals, %zu wrong, %zu between\n",
                traced->steps, traced->calls, traced->signals, wrong, between);
  assert_int_equal(wrong, 0);
  assert_true(between < traced->steps / 50);
  assert_int_equal(stopped, 0);
}

#if defined(__x86_64__)
enum {
  FRAME = 6,
  LINK = 23, /* r15: x86-64 has none */
  STACK = 7,
  CODE = 8
};
#else
enum {
  FRAME = 29,
  LINK = 30,
  STACK = 31,
  CODE = 32
};
#endif

/* Code without unwind information, such as stripped Go. A frame pointer of 0
 * marks the first function of a thread. */
static void chain_of_frame_pointers_ends_with_0(void **state) {
  traced_t traced = {0};
  unwind_stack_t stack;
  start(&traced, UNWIND_TARGET);
  uint64_t top = traced.values[STACK];
  uint64_t frames[] = {top + 16, 0x1234, 0, 0x1238};
  traced.values[CODE] = 0x1230;
  traced.values[LINK] = 0x1232;
  traced.values[FRAME] = top;
  unwind_stack(traced.process, &traced.regs, frames, sizeof frames, 1, &stack);
  assert_int_equal(stack.end, UNWIND_COMPLETE);
  assert_true(stack.nr > 2);
  assert_int_equal(stack.ips[stack.nr - 1], 0x1238);
  /* Here the register has another purpose. */
  traced.values[FRAME] = 0;
  unwind_stack(traced.process, &traced.regs, frames, sizeof frames, 1, &stack);
  assert_int_equal(stack.end, UNWIND_NO_INFO);
  end(&traced);
}

/* Code of a JIT uses the frame pointer for another purpose. */
static void caller_at_a_wrong_address_is_not_cut(void **state) {
  traced_t traced = {0};
  unwind_stack_t stack;
  start(&traced, UNWIND_TARGET);
  traced.values[CODE] = 0x1234;
  traced.values[FRAME] = 0x10;
  unwind_stack(traced.process, &traced.regs, traced.copy, traced.bytes, 1,
               &stack);
  assert_int_equal(stack.end, UNWIND_NO_INFO);
  assert_int_equal(stack.nr, 1);
  end(&traced);
}

static void copy_that_is_too_short_is_reported(void **state) {
  traced_t traced = {0};
  unwind_stack_t whole, cut;
  start(&traced, UNWIND_TARGET);
  unwind_stack(traced.process, &traced.regs, traced.copy, traced.bytes, 1,
               &whole);
  for (size_t bytes = 0; bytes < 64; bytes += 8) {
    unwind_stack(traced.process, &traced.regs, traced.copy, bytes, 0, &cut);
    assert_int_equal(cut.end, UNWIND_NO_INFO);
    unwind_stack(traced.process, &traced.regs, traced.copy, bytes, 1, &cut);
    assert_int_equal(cut.end, UNWIND_CUT);
    assert_true(cut.nr < whole.nr);
    assert_memory_equal(cut.ips, whole.ips, cut.nr * sizeof *cut.ips);
  }
  /* The copy can end with the last word that is needed. */
  size_t bytes = 64;
  do
    unwind_stack(traced.process, &traced.regs, traced.copy, ++bytes, 1, &cut);
  while (cut.end != UNWIND_COMPLETE && bytes < traced.bytes);
  assert_int_equal(cut.end, UNWIND_COMPLETE);
  assert_int_equal(bytes % 8, 0);
  end(&traced);
}

static void stack_is_right_at_every_instruction(void **state) {
  traced_t traced = {0};
  step_through(UNWIND_TARGET, &traced);
  assert_true(traced.steps > 1000 && traced.calls > 50);
  assert_int_equal(traced.signals, 1);
}

static void stack_is_right_at_every_instruction_of_cxx(void **state) {
  traced_t traced = {0};
  char path[] = "/tmp/uvperf-unwind-XXXXXX", command[1024];
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  close(fd);
  snprintf(command, sizeof command,
           "c++ -O2 -fomit-frame-pointer -g -o %s "
           "%s/support/programs/unwind_target.cpp 2>%s",
           path, UVPERF_TEST_DIR, "/dev/null");
  if (system(command) != 0) { /* NOLINT(cert-env33-c) */
    unlink(path);
    support_skip(__func__, "a C++ compiler");
  }
  step_through(path, &traced);
  unlink(path);
  assert_true(traced.steps > 1000 && traced.calls > 50);
}

#else

static void stack_is_right_at_every_instruction(void **state) {
  support_skip(__func__, "x86-64 or aarch64");
}

#endif

static void stack_without_registers_files_or_mappings_ends(void **state) {
  const unwind_mapping_t mapping = {.start = 0x1000, .end = 0x2000};
  uint64_t values[33] = {0};
  uvperf_regs_t regs = {PERF_SAMPLE_REGS_ABI_32, 0xff0fff, 20, values};
  unwind_stack_t stack;
  unwind_process_t *process = unwind_process_new(EM_X86_64);
  unwind_stack(process, &regs, NULL, 0, 1, &stack);
  assert_int_equal(stack.end, UNWIND_ABI);
  assert_int_equal(stack.nr, 0);
  regs = (uvperf_regs_t){PERF_SAMPLE_REGS_ABI_NONE, 0xff0fff, 0, NULL};
  unwind_stack(process, &regs, NULL, 0, 1, &stack);
  assert_int_equal(stack.end, UNWIND_ABI);
  regs = (uvperf_regs_t){PERF_SAMPLE_REGS_ABI_64, 0xff0fff, 20, values};
  values[8] = 0x1234;
  unwind_stack(process, &regs, NULL, 0, 1, &stack);
  assert_int_equal(stack.end, UNWIND_NO_INFO);
  assert_int_equal(stack.nr, 1);
  assert_int_equal(stack.ips[0], 0x1234);
  assert_false(stack.is_without_file);
  assert_int_equal(unwind_process_map(process, &mapping, 1), 0);
  unwind_stack(process, &regs, NULL, 0, 1, &stack);
  assert_int_equal(stack.end, UNWIND_NO_INFO);
  assert_true(stack.is_without_file);
  assert_int_equal(stack.nr, 1);
  unwind_process_free(process);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(stack_without_registers_files_or_mappings_ends),
    cmocka_unit_test(stack_is_right_at_every_instruction),
#if (defined(__x86_64__) && defined(__LP64__)) || defined(__aarch64__)
    cmocka_unit_test(copy_that_is_too_short_is_reported),
    cmocka_unit_test(chain_of_frame_pointers_ends_with_0),
    cmocka_unit_test(caller_at_a_wrong_address_is_not_cut),
    cmocka_unit_test(stack_is_right_at_every_instruction_of_cxx),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
