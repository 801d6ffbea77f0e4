/* SPDX-License-Identifier: MIT */
#include "live_bpf.h"

#include <dirent.h>
#include <sys/syscall.h>
#include <unistd.h>

/* r0 = 0; exit. */
static const struct bpf_insn shortest[] = {
    {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0},
    {BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
};

int live_bpf_call(int command, union bpf_attr *attr) {
  return (int)syscall(SYS_bpf, command, attr, sizeof(*attr));
}

/* The verifier stops with EAGAIN if a signal is pending (do_check() in
 * kernel/bpf/verifier.c). A closed loop of libuv 1.45 or newer causes one: the
 * kernel frees its io_uring later, and interrupts the thread for that. */
#define LOAD_ATTEMPTS 5

static int load(uint32_t type, const char *name, const struct bpf_insn *insns,
                uint32_t nr, char *log, uint32_t log_size) {
  union bpf_attr attr;
  int attempts = 0;
  int fd;

  memset(&attr, 0, sizeof(attr));
  attr.prog_type = type;
  attr.insns = (uintptr_t)insns;
  attr.insn_cnt = nr;
  attr.license = (uintptr_t) "GPL"; /* required by many functions */
  snprintf(attr.prog_name, sizeof(attr.prog_name), "%s", name);
  if (log_size > 0) {
    attr.log_level = 1;
    attr.log_buf = (uintptr_t)log;
    attr.log_size = log_size;
  }
  do
    fd = live_bpf_call(BPF_PROG_LOAD, &attr);
  while (fd < 0 && errno == EAGAIN && ++attempts < LOAD_ATTEMPTS);
  return fd;
}

/* A kernel with a shorter or longer struct accepts this one too:
 * bpf_prog_get_info_by_fd() in kernel/bpf/syscall.c. */
static void find_info(live_bpf_t *program) {
  struct bpf_prog_info info;
  union bpf_attr attr;

  memset(&info, 0, sizeof(info));
  info.nr_jited_ksyms = LIVE_BPF_FUNCTIONS;
  info.jited_ksyms = (uintptr_t)program->addr;
  info.nr_jited_func_lens = LIVE_BPF_FUNCTIONS;
  info.jited_func_lens = (uintptr_t)program->len;
  memset(&attr, 0, sizeof(attr));
  attr.info.bpf_fd = (uint32_t)program->fd;
  attr.info.info_len = sizeof(info);
  attr.info.info = (uintptr_t)&info;
  assert_int_equal(live_bpf_call(BPF_OBJ_GET_INFO_BY_FD, &attr), 0);
  program->id = info.id;
  memcpy(program->tag, info.tag, sizeof(program->tag));
  assert_true(info.nr_jited_ksyms <= LIVE_BPF_FUNCTIONS);
  /* Without a JIT it is the interpreter's address, and 0 bytes. */
  if (program->addr[0] != 0 && program->len[0] != 0)
    program->nr_functions = info.nr_jited_ksyms;
}

void live_bpf_need(const char *test, uint32_t type) {
  char what[64];
  int fd;

  fd = load(type, "", shortest, COUNT_OF(shortest), NULL, 0);
  if (fd >= 0) {
    close(fd);
    return;
  }
  if (errno != EPERM && errno != EACCES && errno != ENOSYS && errno != EINVAL)
    fail_msg("probe for BPF: %s", strerror(errno));
  snprintf(what, sizeof(what), "to load BPF programs of type %u",
           (unsigned int)type);
  support_skip(test, what);
}

void live_bpf_load(live_bpf_t *program, uint32_t type, const char *name,
                   const struct bpf_insn *insns, uint32_t nr) {
  char log[4096] = "";
  int code;

  memset(program, 0, sizeof(*program));
  program->fd = load(type, name, insns, nr, NULL, 0);
  if (program->fd < 0) {
    code = errno;
    /* Once more, to get the verifier's log. */
    load(type, name, insns, nr, log, sizeof(log));
    fail_msg("BPF_PROG_LOAD: %s\n%s", strerror(code), log);
  }
  find_info(program);
}

void live_bpf_load_shortest(live_bpf_t *program, uint32_t type,
                            const char *name) {
  live_bpf_load(program, type, name, shortest, COUNT_OF(shortest));
}

static int load_for(const char *test, uint32_t type,
                    const struct bpf_insn *insns, uint32_t nr) {
  live_bpf_t program;

  live_bpf_need(test, type);
  live_bpf_load(&program, type, "", insns, nr);
  return program.fd;
}

int live_bpf_constant(const char *test, uint32_t type, int32_t verdict) {
  const struct bpf_insn insns[] = {
      {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, verdict},
      {BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
  };

  return load_for(test, type, insns, COUNT_OF(insns));
}

/* Loads an argument of a system call. The context is struct syscall_tp_t of
 * kernel/trace/trace_syscalls.c: 8 bytes of the kernel's own, the number of the
 * call, and its arguments, each of these a long. */
#define LOAD_ARGUMENT(nth)                                                     \
  {                                                                            \
    BPF_LDX | BPF_MEM | (sizeof(long) == 8 ? BPF_DW : BPF_W), BPF_REG_2,       \
        BPF_REG_1, (int16_t)(8 + sizeof(long) * (size_t)(1 + (nth))), 0        \
  }

int live_bpf_by_argument(const char *test, int nth, int32_t argument,
                         int32_t verdict) {
  const struct bpf_insn insns[] = {
      LOAD_ARGUMENT(nth),
      {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, verdict},
      {BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_2, 0, 1, argument},
      {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 1},
      {BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
  };

  return load_for(test, BPF_PROG_TYPE_TRACEPOINT, insns, COUNT_OF(insns));
}

/* -- counters ------------------------------------------------------------- */

/* The CPUs for which it counts. */
#define COUNTER_CPUS 1024

static int make_map(uint32_t entries) {
  union bpf_attr attr;

  memset(&attr, 0, sizeof(attr));
  attr.map_type = BPF_MAP_TYPE_ARRAY;
  attr.key_size = sizeof(uint32_t);
  attr.value_size = sizeof(uint64_t);
  attr.max_entries = entries;
  return live_bpf_call(BPF_MAP_CREATE, &attr);
}

void live_bpf_counter_open(const char *test, live_bpf_counter_t *counter,
                           uint32_t type, int32_t argument) {
  struct bpf_insn insns[] = {
      LOAD_ARGUMENT(0), /* or go to the end */
      {BPF_JMP | BPF_JNE | BPF_K, BPF_REG_2, 0, 10, argument},
      {BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_get_smp_processor_id},
      {BPF_STX | BPF_MEM | BPF_W, BPF_REG_10, BPF_REG_0, -4, 0},
      {BPF_LD | BPF_IMM | BPF_DW, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, 0},
      {0, 0, 0, 0, 0},
      {BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_2, BPF_REG_10, 0, 0},
      {BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_2, 0, 0, -4},
      {BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_map_lookup_elem},
      {BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 2, 0},
      {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_1, 0, 0, 1},
      {BPF_STX | BPF_XADD | BPF_DW, BPF_REG_0, BPF_REG_1, 0, 0},
      {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 1},
      {BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
  };
  uint32_t skip = type == BPF_PROG_TYPE_TRACEPOINT ? 0 : 2;
  live_bpf_t program;

  live_bpf_need(test, type);
  counter->map = make_map(COUNTER_CPUS);
  assert_true(counter->map >= 0);
  insns[4].imm = counter->map;
  live_bpf_load(&program, type, "", insns + skip,
                (uint32_t)COUNT_OF(insns) - skip);
  counter->fd = program.fd;
}

static uint64_t look_up(int map, uint32_t key) {
  union bpf_attr attr;
  uint64_t value = 0;

  memset(&attr, 0, sizeof(attr));
  attr.map_fd = (uint32_t)map;
  attr.key = (uintptr_t)&key;
  attr.value = (uintptr_t)&value;
  assert_int_equal(live_bpf_call(BPF_MAP_LOOKUP_ELEM, &attr), 0);
  return value;
}

uint64_t live_bpf_counter_runs(const live_bpf_counter_t *counter, int cpu) {
  uint64_t runs = 0;
  long nr = sysconf(_SC_NPROCESSORS_CONF);
  long i;

  if (cpu >= 0)
    return look_up(counter->map, (uint32_t)cpu);
  for (i = 0; i < nr; i++)
    runs += look_up(counter->map, (uint32_t)i);
  return runs;
}

void live_bpf_cookie_open(const char *test, live_bpf_counter_t *counter,
                          uint32_t type) {
  struct bpf_insn insns[] = {
      {BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_get_attach_cookie},
      {BPF_STX | BPF_MEM | BPF_DW, BPF_REG_10, BPF_REG_0, -16, 0},
      {BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, -4, 0},
      {BPF_LD | BPF_IMM | BPF_DW, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, 0},
      {0, 0, 0, 0, 0},
      {BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_2, BPF_REG_10, 0, 0},
      {BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_2, 0, 0, -4},
      {BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_3, BPF_REG_10, 0, 0},
      {BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_3, 0, 0, -16},
      {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_4, 0, 0, BPF_ANY},
      {BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_map_update_elem},
      {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 1},
      {BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
  };

  live_bpf_need(test, type);
  counter->map = make_map(1);
  assert_true(counter->map >= 0);
  insns[3].imm = counter->map;
  counter->fd = load(type, "", insns, COUNT_OF(insns), NULL, 0);
  if (counter->fd >= 0)
    return;
  close(counter->map);
  support_skip(test, "bpf_get_attach_cookie() (Linux 5.15)");
}

uint64_t live_bpf_cookie(const live_bpf_counter_t *counter) {
  return look_up(counter->map, 0);
}

void live_bpf_counter_close(live_bpf_counter_t *counter) {
  close(counter->fd);
  close(counter->map);
}

/* bpf_link_show_fdinfo in kernel/bpf/syscall.c. */
static int is_link_to(const char *fd, uint32_t id) {
  char path[300], line[128];
  unsigned int found;
  int is_perf = 0;
  int is_of_id = 0;
  FILE *file;

  snprintf(path, sizeof(path), "/proc/self/fdinfo/%s", fd);
  file = fopen(path, "re");
  while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
    is_perf |= strcmp(line, "link_type:\tperf\n") == 0;
    if (sscanf(line, "prog_id: %u", &found) == 1)
      is_of_id = found == id;
  }
  if (file != NULL)
    fclose(file);
  return is_perf && is_of_id;
}

size_t live_bpf_links(int fd) {
  uint32_t id = live_bpf_id(fd);
  DIR *dir = opendir("/proc/self/fdinfo");
  struct dirent *entry;
  size_t nr = 0;

  assert_non_null(dir);
  while ((entry = readdir(dir)) != NULL)
    nr += (size_t)is_link_to(entry->d_name, id);
  closedir(dir);
  return nr;
}

uint32_t live_bpf_id(int fd) {
  live_bpf_t program = {.fd = fd};

  find_info(&program);
  return program.id;
}

int live_bpf_enable_stats(void) {
  union bpf_attr attr;

  memset(&attr, 0, sizeof(attr));
  attr.enable_stats.type = BPF_STATS_RUN_TIME;
  return live_bpf_call(BPF_ENABLE_STATS, &attr);
}

void live_bpf_close(live_bpf_t *program) {
  assert_int_equal(close(program->fd), 0);
  program->fd = -1;
}
